// A module that violates the contract, loaded with correct modules: the log contains each violation with the name of
// the module, except for violations in its own threads. Its clients get a response; other clients are not affected.
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, Server, build, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const rogues = ['abi_rogue', 'abi_rogue_stays', 'abi_rogue_in_stop', 'abi_rogue_in_destroy'];
let database, server, user, admin, file;

before(async () => {
  database = makeDatabase();
  server = new Server({ database, settings: '[shutdown]\ndrain_seconds = 2\n[reload]\ndrain_seconds = 2\n[accounts.tiers.free]\nconcurrent_runs = 100\n',
    set: [`modules.path=${build}/modules:${path.join(build, 'tests/abi/rogue')}`, ...rogues.map((n) => `modules.${n}.enabled=true`)] });
  // The path at which newer versions are installed.
  file = path.join(server.dir, 'rogue-1.so');
  copyFileSync(path.join(build, 'tests/abi/rogue/abi_rogue.so'), file);
  server.set.push(`modules.abi_rogue.path=${file}`);
  await server.start();
  user = await server.user();
  admin = new Client(server, server.token({ role: 'admin' }));
});
after(async () => {
  await server?.close();
  database?.drop();
});

const trigger = (fault) => fetch(`${server.url}/abi_rogue/${fault}`, { signal: AbortSignal.timeout(10000) });
const moduleState = async (name = 'abi_rogue') => (await admin.get('/admin/modules')).json.find((m) => m.name === name);
// Waits for a log line about the module after position `from`.
const waitForReport = (from, pattern) => waitFor(`${pattern} in the log`, () =>
  server.log.slice(from).split('\n').some((line) => /abi_rogue/.test(line) && pattern.test(line)), 5000);
// Not with fetch(), which the tests wrap to validate responses and which would wait for the complete body.
async function openForgottenStream() {
  const r = await new Promise((resolve, reject) => http.get(`${server.url}/abi_rogue/forgets`, resolve).on('error', reject));
  assert.equal(r.statusCode, 200);
  r.on('error', () => {});
  r.destroy();
}
async function expectOtherModulesWork() {
  user = await server.user();  // a new account, so that its credits are not used up
  assert.equal((await user.get('/account')).status, 200);
  assert.equal((await user.start({ prompt: 'Say hello' })).status, 200);
}

function defineViolationTests(suffix) {
  test(`a request that is answered twice, or answered and then failed, gets one response${suffix}`, async () => {
    for (const fault of ['twice', 'twice_and_error']) {
      const { violations } = await moduleState();
      const from = server.log.length;
      const r = await trigger(fault);
      assert.deepEqual([r.status, await r.json()], [200, { answered: true }]);
      await waitForReport(from, /module contract violated/);
      assert.ok((await moduleState()).violations > violations, fault);
    }
    await expectOtherModulesWork();
  });

  test(`responses from a foreign thread count once, and are harmless after a disconnect${suffix}`, async () => {
    const from = server.log.length;
    const { violations } = await moduleState();
    assert.deepEqual(await (await trigger('late')).json(), { answered: true });
    await waitForReport(from, /\[abi_rogue\] module contract violated.*the handle was already ended/);
    assert.ok((await moduleState()).violations > violations);
    for (let i = 0; i < 20; i++) {
      const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => {});
      await new Promise((resolve) => socket.write('GET /abi_rogue/late HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', resolve));
      await sleep(5);
      socket.destroy();
    }
    await sleep(600);
    await expectOtherModulesWork();
  });

  test(`the host answers a request that the module never answers${suffix}`, async () => {
    const from = server.log.length;
    const began = Date.now();
    const r = await trigger('never');
    assert.ok(r.status === 503 || r.status === 504, String(r.status));
    assert.ok(Date.now() - began < 5000);
    assert.ok((await r.json()).detail);
    await waitForReport(from, /a request timed out: the module did not respond.*GET \/abi_rogue\/never/);
    await expectOtherModulesWork();
    await waitFor('the violation in the log', () => /\[abi_rogue\] module contract violated.*a request that is never answered.*GET \/abi_rogue\/never/.test(server.log.slice(from)), 20000);
  });

  test(`an invalid status results in an internal error${suffix}`, async () => {
    const r = await trigger('garbage');
    assert.equal(r.status, 500);
    assert.ok((await r.json()).detail);
  });

  test(`a header with a line break is rejected${suffix}`, async () => {
    const from = server.log.length;
    const r = await trigger('splits');
    assert.equal(r.headers.get('set-cookie'), null);
    assert.ok(r.status >= 400);
    await waitForReport(from, /module contract violated.*respond.*HTTP does not allow/);
  });

  test(`a callback that blocks its loop is counted and logged${suffix}`, async () => {
    const { slow_callbacks: before } = await moduleState();
    const from = server.log.length;
    await Promise.all([trigger('blocks'), trigger('blocks'), user.get('/account')]);
    await waitForReport(from, /blocked|slow/);
    assert.ok((await moduleState()).slow_callbacks > before);
    await expectOtherModulesWork();
  });
}

defineViolationTests('');
test('a violating module is swapped like any other module', async () => {
  const { instance } = await moduleState();
  const r = await admin.post('/admin/modules/abi_rogue/reload');
  assert.equal(r.status, 200, r.text);
  const now = await moduleState();
  assert.ok(now.instance > instance);
  assert.equal(now.violations, 0);
});
defineViolationTests(', after a swap');

test('a new version that crashes, exits or hangs on load is refused, and the old version keeps serving', async () => {
  const before = await moduleState();
  const next = {
    load_aborts: 'it crashes while it is loaded (signal 6, Aborted)',
    create_aborts: 'it crashes in create (signal 6, Aborted)',
    create_exits: 'it terminates the process in create (exit code 0)',
    create_hangs: 'it hangs in create (ten seconds)',
    destroy_aborts: 'it crashes in destroy (signal 6, Aborted)',
  };
  for (const [name, message] of Object.entries(next)) {
    copyFileSync(path.join(build, `tests/abi/rogue_next/${name}.so`), file);
    const r = await admin.post('/admin/modules/abi_rogue/reload');
    assert.equal(r.status, 409, `${name}: ${r.text}`);
    assert.equal(r.json.detail, `module "abi_rogue": ${message}.`);
    assert.deepEqual(await (await trigger('twice')).json(), { answered: true });
    assert.equal((await moduleState()).instance, before.instance);
  }
  copyFileSync(path.join(build, 'tests/abi/rogue/abi_rogue.so'), file);
  const r = await admin.post('/admin/modules/abi_rogue/reload');
  assert.equal(r.status, 200, r.text);
  await expectOtherModulesWork();
});

test('streams that the module never ends are closed with their clients', async () => {
  const descriptors = () => readdirSync(`/proc/${server.process.pid}/fd`).length;
  const before = descriptors();
  for (let i = 0; i < 30; i++) await openForgottenStream();
  await waitFor('the sockets to be closed', () => descriptors() < before + 5, 10000);
  await expectOtherModulesWork();
});

test('a module that does not return from stop or destroy is abandoned, and other modules keep working', async () => {
  for (const [name, call] of [['abi_rogue_in_stop', 'stop'], ['abi_rogue_in_destroy', 'destroy']]) {
    const from = server.log.length;
    const r = await admin.post(`/admin/modules/${name}/disable`);
    assert.equal(r.status, 200, r.text);
    const [left] = r.json.left;
    assert.equal(left.outcome, 'retired (still mapped)');
    assert.match(left.reason, new RegExp(`did not return from ${call}`));
    assert.match(server.log.slice(from), new RegExp(`\\[${name}\\] module contract violated.*a call that did not return.*${call}`));
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
    assert.equal((await fetch(`${server.url}/${name}/twice`)).status, 404);
    await expectOtherModulesWork();
  }
  // Modules can still be swapped, even the one whose previous instance is still inside its stop().
  const r = await admin.post('/admin/modules/abi_rogue/reload');
  assert.equal(r.status, 200, r.text);
  assert.match(r.json.left[0].reason, /outstanding/, 'the streams that it never ended');
  assert.deepEqual(await (await trigger('twice')).json(), { answered: true });
  for (const name of ['abi_rogue_in_stop', 'abi_rogue_in_destroy'])
    assert.equal((await admin.post(`/admin/modules/${name}/enable`)).status, 200);
  await expectOtherModulesWork();
});

test('at shutdown, modules that do not stop or leave handles open are logged, and the server exits', async () => {
  await openForgottenStream();
  const from = server.log.length;
  const began = Date.now();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.ok(Date.now() - began < 60000);
  const lines = server.log.slice(from).split('\n');
  for (const [name, pattern] of [['abi_rogue_stays', /did not stop/], ['abi_rogue_in_stop', /did not return from stop/],
    ['abi_rogue_in_destroy', /did not return from destroy/]])
    assert.ok(lines.some((l) => l.includes(`module=${name} `) && pattern.test(l)), server.log.slice(from));
  // The stream that it never ended.
  assert.ok(lines.some((l) => /module=abi_rogue\b/.test(l) && /outstanding/.test(l)), server.log.slice(from));
  assert.ok(!lines.some((l) => /module=(accounts|agents|runs)\b/.test(l) && /did not/.test(l)), server.log.slice(from));
  await server.start();
  user = await server.user();
  await expectOtherModulesWork();
});

test('a crash report names the module, even after a swap or in a thread of the module', async () => {
  for (const [fault, message] of [
    ['crashes', 'runyard: module "abi_rogue" crashed (SIGABRT, Aborted) in route handler\n'],
    ['crashes_alone', 'runyard: module "abi_rogue" crashed (SIGABRT, Aborted)\n'],
  ]) {
    assert.equal((await new Client(server, server.token({ role: 'admin' })).post('/admin/modules/abi_rogue/reload')).status, 200);
    await assert.rejects(trigger(fault));
    assert.deepEqual(await server.exited, { code: null, signal: 'SIGABRT' });
    await waitFor(`${message} in the log`, () => server.log.includes(message), 5000);
    await server.start();
  }
  user = await server.user();
  await expectOtherModulesWork();
});

test('a shutdown while a module is being abandoned makes the server not ready', async () => {
  admin = new Client(server, server.token({ role: 'admin' }));
  const disabling = admin.post('/admin/modules/abi_rogue_in_stop/disable').catch((e) => e);
  await waitFor('the swap to be in progress', () => /module swap requested.*abi_rogue_in_stop.*disable/.test(server.log), 5000);
  const ended = server.stop();
  await waitFor('the server not to be ready', async () => {
    const r = await fetch(`${server.url}/readyz`);
    return r.status === 503 && /draining/.test(await r.text());
  }, 10000);
  assert.deepEqual(await ended, { code: 0, signal: null });
  await disabling;
});
