// A module that violates the contract next to correct ones: the log contains each violation, under its name unless it did
// so from a thread of its own; its callers get an answer, and no other client notices.
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
  // Where newer ones can be put.
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

const ask = (fault) => fetch(`${server.url}/abi_rogue/${fault}`, { signal: AbortSignal.timeout(10000) });
const rogue = async (name = 'abi_rogue') => (await admin.get('/admin/modules')).json.find((m) => m.name === name);
// The lines of the log that were written since, about the module.
const reported = (from, pattern) => waitFor(`${pattern} in the log`, () =>
  server.log.slice(from).split('\n').some((line) => /abi_rogue/.test(line) && pattern.test(line)), 5000);
// Not by fetch(), which is held against the document here and would wait for the whole body.
async function forgotten() {
  const r = await new Promise((resolve, reject) => http.get(`${server.url}/abi_rogue/forgets`, resolve).on('error', reject));
  assert.equal(r.statusCode, 200);
  r.on('error', () => {});
  r.destroy();
}
async function othersAreWell() {
  user = await server.user();  // who has not spent all that a new account is given
  assert.equal((await user.get('/account')).status, 200);
  assert.equal((await user.start({ prompt: 'Say hello' })).status, 200);
}

function breaksRules(when) {
  test(`a request that is answered twice, or answered and then failed, has one answer${when}`, async () => {
    for (const fault of ['twice', 'twice_and_error']) {
      const { strikes } = await rogue();
      const from = server.log.length;
      const r = await ask(fault);
      assert.deepEqual([r.status, await r.json()], [200, { answered: true }]);
      await reported(from, /module misbehaved/);
      assert.ok((await rogue()).strikes > strikes, fault);
    }
    await othersAreWell();
  });

  test(`answers from a foreign thread count once, and harm nothing when the client is gone${when}`, async () => {
    const from = server.log.length;
    const { strikes } = await rogue();
    assert.deepEqual(await (await ask('late')).json(), { answered: true });
    await reported(from, /\[abi_rogue\] module misbehaved.*the handle was ended before/);
    assert.ok((await rogue()).strikes > strikes);
    for (let i = 0; i < 20; i++) {
      const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => {});
      await new Promise((resolve) => socket.write('GET /abi_rogue/late HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', resolve));
      await sleep(5);
      socket.destroy();
    }
    await sleep(600);
    await othersAreWell();
  });

  test(`a request that is never answered is answered by the host in time${when}`, async () => {
    const from = server.log.length;
    const began = Date.now();
    const r = await ask('never');
    assert.ok(r.status === 503 || r.status === 504, String(r.status));
    assert.ok(Date.now() - began < 5000);
    assert.ok((await r.json()).detail);
    await reported(from, /a module did not answer a request in time.*GET \/abi_rogue\/never/);
    await othersAreWell();
    await waitFor('the module to be named', () => /\[abi_rogue\] module misbehaved.*a request that is never answered.*GET \/abi_rogue\/never/.test(server.log.slice(from)), 20000);
  });

  test(`a status that does not exist is an internal error${when}`, async () => {
    const r = await ask('garbage');
    assert.equal(r.status, 500);
    assert.ok((await r.json()).detail);
  });

  test(`a header with a line break is refused${when}`, async () => {
    const from = server.log.length;
    const r = await ask('splits');
    assert.equal(r.headers.get('set-cookie'), null);
    assert.ok(r.status >= 400);
    await reported(from, /module misbehaved.*respond.*HTTP does not allow/);
  });

  test(`a callback that blocks its loop is counted and logged${when}`, async () => {
    const { slow_callbacks: before } = await rogue();
    const from = server.log.length;
    await Promise.all([ask('blocks'), ask('blocks'), user.get('/account')]);
    await reported(from, /blocked|slow/);
    assert.ok((await rogue()).slow_callbacks > before);
    await othersAreWell();
  });
}

breaksRules('');
test('it is swapped like any other', async () => {
  const { generation } = await rogue();
  const r = await admin.post('/admin/modules/abi_rogue/reload');
  assert.equal(r.status, 200, r.text);
  const now = await rogue();
  assert.ok(now.generation > generation);
  assert.equal(now.strikes, 0);
});
breaksRules(', after it was swapped');

test('a new version that crashes, ends the process or hangs where it begins is refused, and the old one serves', async () => {
  const before = await rogue();
  const next = {
    load_aborts: 'it crashes while it is loaded (signal 6, Aborted)',
    create_aborts: 'it crashes in create (signal 6, Aborted)',
    create_exits: 'it ends the process in create (exit code 0)',
    create_hangs: 'it hangs in create (ten seconds)',
    destroy_aborts: 'it crashes in destroy (signal 6, Aborted)',
  };
  for (const [name, sentence] of Object.entries(next)) {
    copyFileSync(path.join(build, `tests/abi/rogue_next/${name}.so`), file);
    const r = await admin.post('/admin/modules/abi_rogue/reload');
    assert.equal(r.status, 409, `${name}: ${r.text}`);
    assert.equal(r.json.detail, `module "abi_rogue": ${sentence}.`);
    assert.deepEqual(await (await ask('twice')).json(), { answered: true });
    assert.equal((await rogue()).generation, before.generation);
  }
  copyFileSync(path.join(build, 'tests/abi/rogue/abi_rogue.so'), file);
  const r = await admin.post('/admin/modules/abi_rogue/reload');
  assert.equal(r.status, 200, r.text);
  await othersAreWell();
});

test('streams that are opened and forgotten end with their clients', async () => {
  const descriptors = () => readdirSync(`/proc/${server.process.pid}/fd`).length;
  const before = descriptors();
  for (let i = 0; i < 30; i++) await forgotten();
  await waitFor('the sockets to be closed', () => descriptors() < before + 5, 10000);
  await othersAreWell();
});

test('a module that does not come back from stop or destroy is left behind, and everything else goes on', async () => {
  for (const [name, call] of [['abi_rogue_in_stop', 'stop'], ['abi_rogue_in_destroy', 'destroy']]) {
    const from = server.log.length;
    const r = await admin.post(`/admin/modules/${name}/disable`);
    assert.equal(r.status, 200, r.text);
    const [left] = r.json.left;
    assert.equal(left.outcome, 'retired (still mapped)');
    assert.match(left.reason, new RegExp(`did not come back from its ${call}`));
    assert.match(server.log.slice(from), new RegExp(`\\[${name}\\] module misbehaved.*does not come back.*${call}`));
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
    assert.equal((await fetch(`${server.url}/${name}/twice`)).status, 404);
    await othersAreWell();
  }
  // Modules still come and go, also the one whose last generation is still inside of its stop.
  const r = await admin.post('/admin/modules/abi_rogue/reload');
  assert.equal(r.status, 200, r.text);
  assert.match(r.json.left[0].reason, /outstanding/, 'the streams that it forgot');
  assert.deepEqual(await (await ask('twice')).json(), { answered: true });
  for (const name of ['abi_rogue_in_stop', 'abi_rogue_in_destroy'])
    assert.equal((await admin.post(`/admin/modules/${name}/enable`)).status, 200);
  await othersAreWell();
});

test('at shutdown, modules that do not stop or leave handles open are named, and the server ends', async () => {
  await forgotten();
  const from = server.log.length;
  const began = Date.now();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.ok(Date.now() - began < 60000);
  const lines = server.log.slice(from).split('\n');
  for (const [name, how] of [['abi_rogue_stays', /did not stop/], ['abi_rogue_in_stop', /did not come back from its stop/],
    ['abi_rogue_in_destroy', /did not come back from its destroy/]])
    assert.ok(lines.some((l) => l.includes(`module=${name} `) && how.test(l)), server.log.slice(from));
  // The stream that it forgot.
  assert.ok(lines.some((l) => /module=abi_rogue\b/.test(l) && /outstanding/.test(l)), server.log.slice(from));
  assert.ok(!lines.some((l) => /module=(accounts|agents|runs)\b/.test(l) && /did not/.test(l)), server.log.slice(from));
  await server.start();
  user = await server.user();
  await othersAreWell();
});

test('a crash says which module it was, also after it was swapped and in a thread of its own', async () => {
  for (const [fault, sentence] of [
    ['crashes', 'runyard: module "abi_rogue" crashed (SIGABRT, Aborted) in route handler\n'],
    ['crashes_alone', 'runyard: module "abi_rogue" crashed (SIGABRT, Aborted)\n'],
  ]) {
    assert.equal((await new Client(server, server.token({ role: 'admin' })).post('/admin/modules/abi_rogue/reload')).status, 200);
    await assert.rejects(ask(fault));
    assert.deepEqual(await server.exited, { code: null, signal: 'SIGABRT' });
    await waitFor(`the log to say: ${sentence}`, () => server.log.includes(sentence), 5000);
    await server.start();
  }
  user = await server.user();
  await othersAreWell();
});

test('a stop during the abandonment of a module makes the server not ready', async () => {
  admin = new Client(server, server.token({ role: 'admin' }));
  const change = admin.post('/admin/modules/abi_rogue_in_stop/disable').catch((e) => e);
  await waitFor('the change to be under way', () => /a change is asked for.*abi_rogue_in_stop.*disable/.test(server.log), 5000);
  const ended = server.stop();
  await waitFor('the server not to be ready', async () => {
    const r = await fetch(`${server.url}/readyz`);
    return r.status === 503 && /draining/.test(await r.text());
  }, 10000);
  assert.deepEqual(await ended, { code: 0, signal: null });
  await change;
});
