// A module that breaks the rules beside ones that keep them: what it did stands in the log, under its name unless it did
// so from a thread of its own; its callers get an answer, and nobody else notices.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, Server, build, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const rogues = ['abi_rogue', 'abi_rogue_stays'];
let database, server, user, admin;

before(async () => {
  database = makeDatabase();
  server = await new Server({ database, settings: '[shutdown]\ndrain_seconds = 2\n[accounts.tiers.free]\nconcurrent_runs = 100\n',
    set: [`modules.path=${build}/modules:${path.join(build, 'tests/abi/rogue')}`, ...rogues.map((n) => `modules.${n}.enabled=true`)] }).start();
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
const told = (from, pattern) => waitFor(`${pattern} in the log`, () =>
  server.log.slice(from).split('\n').some((line) => /abi_rogue/.test(line) && pattern.test(line)), 5000);
async function othersAreWell() {
  assert.equal((await user.get('/account')).status, 200);
  assert.equal((await user.start({ prompt: 'Say hello' })).status, 200);
}

test('a request that is answered twice, or answered and then failed, has one answer', async () => {
  for (const fault of ['twice', 'twice_and_error']) {
    const { strikes } = await rogue();
    const from = server.log.length;
    const r = await ask(fault);
    assert.deepEqual([r.status, await r.json()], [200, { answered: true }]);
    await told(from, /module misbehaved/);
    assert.ok((await rogue()).strikes > strikes, fault);
  }
  await othersAreWell();
});

test('answers from a foreign thread count once, and harm nothing when the client is gone', async () => {
  const from = server.log.length;
  assert.deepEqual(await (await ask('late')).json(), { answered: true });
  await told(from, /\[abi_rogue\] module misbehaved.*the handle was ended before/);
  for (let i = 0; i < 20; i++) {
    const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.write('GET /abi_rogue/late HTTP/1.1\r\nHost: x\r\n\r\n', resolve));
    await sleep(5);
    socket.destroy();
  }
  await sleep(600);
  await othersAreWell();
});

test('a request that is never answered is answered by the host in time', async () => {
  const from = server.log.length;
  const began = Date.now();
  const r = await ask('never');
  assert.ok(r.status === 503 || r.status === 504, String(r.status));
  assert.ok(Date.now() - began < 5000);
  assert.ok((await r.json()).detail);
  await told(from, /never|time/);
  await othersAreWell();
});

test('a status that does not exist is an internal error', async () => {
  const r = await ask('garbage');
  assert.equal(r.status, 500);
  assert.ok((await r.json()).detail);
});

test('a header with a line break is refused', async () => {
  const r = await ask('splits');
  assert.equal(r.headers.get('set-cookie'), null);
  assert.ok(r.status >= 400);
});

test('a callback that blocks its loop is counted and told', async () => {
  const { slow_callbacks: before } = await rogue();
  const from = server.log.length;
  await Promise.all([ask('blocks'), ask('blocks'), user.get('/account')]);
  await told(from, /blocked|slow/);
  assert.ok((await rogue()).slow_callbacks > before);
  await othersAreWell();
});

test('streams that are opened and forgotten end with their clients', async () => {
  const descriptors = () => readdirSync(`/proc/${server.process.pid}/fd`).length;
  const before = descriptors();
  for (let i = 0; i < 30; i++) {
    // Not by fetch(), which is held against the document here and would wait for the whole body.
    const r = await new Promise((resolve, reject) => http.get(`${server.url}/abi_rogue/forgets`, resolve).on('error', reject));
    assert.equal(r.statusCode, 200);
    r.on('error', () => {});
    r.destroy();
  }
  await waitFor('the sockets to be closed', () => descriptors() < before + 5, 10000);
  await othersAreWell();
});

test('at the end, whoever does not stop and whoever leaves handles behind is named, and the server ends', async () => {
  const from = server.log.length;
  const began = Date.now();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.ok(Date.now() - began < 20000);
  const lines = server.log.slice(from).split('\n');
  assert.ok(lines.some((l) => /abi_rogue_stays/.test(l) && /did not (stop|end)/.test(l)), server.log.slice(from));
  // The streams that it forgot.
  assert.ok(lines.some((l) => /module=abi_rogue\b/.test(l) && /outstanding/.test(l)), server.log.slice(from));
  assert.ok(!lines.some((l) => /module=(accounts|agents|runs)\b/.test(l) && /did not/.test(l)), server.log.slice(from));
  await server.start();
  user = await server.user();
  await othersAreWell();
});
