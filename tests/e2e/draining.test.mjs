// A restart loses nothing: streams are resumed by event id, new starts get a Retry-After, and runs continue.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { slowWords, watch, words } from './lib/reader.mjs';
import { Client, Server, freePort, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const shared = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
let database, llm, server, port;
let mayEnd = Promise.resolve();  // the model's responses do not end before this resolves

before(async () => {
  database = makeDatabase();
  llm = await startLlm((request, reply) => slowWords(request, { ...reply, end: () => mayEnd.then(() => reply.res.destroyed || reply.end()) }));
  port = await freePort();
  server = await new Server({ database, llm, set: [shared, `http.listen=127.0.0.1:${port}`], settings: '[runs]\ndrain_seconds = 1' }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

test('streams announce the restart and resume by event id without gaps or duplicates', async () => {
  const users = await Promise.all(Array.from({ length: 12 }, () => server.user()));
  let allowEnd;
  mayEnd = new Promise((resolve) => (allowEnd = resolve));
  const runs = await Promise.all(users.map(async (u) => {
    const r = await u.start({ prompt: '[words 100]' });
    assert.equal(r.status, 200, r.text);
    return watch(`${server.url}/agent-run/${r.json.agent_run_id}/stream`, u.token);
  }));
  await waitFor('all runs to progress', () => runs.every((r) => r.events.length > 10));
  const exit = await server.stop();
  assert.equal(exit.code, 0, server.log.slice(-1000));
  assert.ok(runs.every((r) => r.draining === 1), JSON.stringify(runs.map((r) => r.draining)));
  await server.start();
  allowEnd();
  await Promise.all(runs.map((r) => r.ended));
  for (const r of runs) {
    assert.deepEqual(r.events.map((e) => e.sequence), r.events.map((_, i) => i + 1));
    assert.equal(r.events.filter((e) => e.type === 'status' && e.status !== 'running').length, 1);
    assert.equal(r.events.at(-1).status, 'completed');
    assert.equal(r.text, words(100));
  }
});

test('while the server stops, a start gets a 503 with Retry-After, and probes are still answered', async () => {
  const u = await server.user();
  await u.get('/account');
  // An upload in progress delays the exit of the server.
  const socket = net.connect({ host: '127.0.0.1', port });
  socket.write(`POST /agent/start HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${u.token}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 200\r\n\r\n--b\r\n`);
  socket.on('error', () => {});
  await sleep(100);
  const ended = server.stop();
  let accepted = 0;  // starts accepted before the server handled the signal
  const r = await waitFor('the drain', async () => {
    const r = await u.start({ prompt: 'x' }).catch(() => undefined);
    if (r?.status === 200) accepted++;
    if (r?.status === 503) return r;
  });
  assert.equal(r.headers.get('retry-after'), '1');
  assert.deepEqual(r.json, { detail: 'The server is stopping' });
  // Retried, because the server may close a keep-alive connection just when it is used.
  const probe = (path) => waitFor(path, () => new Client(server).get(path).catch(() => undefined));
  assert.equal((await probe('/readyz')).status, 503);
  assert.equal((await probe('/healthz')).status, 200);
  assert.equal(database.sql(`select count(*) from runs.runs where account_id = '${u.id}'`), String(accepted));
  socket.destroy();
  assert.equal((await ended).code, 0);
  await server.start();
});

test('while runs are released, requests get a 503 instead of a refused connection', async () => {
  const u = await server.user();
  const id = (await u.start({ prompt: '[words 400]' })).json.agent_run_id;
  await waitFor('the run to exist', async () => (await u.get(`/agent-run/${id}`)).status === 200);
  const before = Date.now();
  let exited = false, last503 = 0;
  const connectionErrors = [];
  const ended = server.stop().then(() => (exited = true));
  await waitFor('the drain', async () => (await u.start({ prompt: 'x' }).catch(() => ({}))).status === 503);
  while (!exited) {
    const r = await u.start({ prompt: 'x' }).catch((e) => e);
    if (r.status === 503) last503 = Date.now();
    else connectionErrors.push(Date.now());
    await sleep(20);
  }
  await ended;
  // runs.drain_seconds is 1; connections may fail only at the very end of the process.
  assert.ok(last503 - before > 700, `${last503 - before} ms`);
  assert.ok(connectionErrors.every((at) => at >= last503), JSON.stringify({ last503, connectionErrors }));
  await server.start();
  assert.equal((await u.stream(id, { timeout: 60000 })).events.at(-1).status, 'completed');
});

test('with two nodes, streams are resumed on the other node while one stops', async () => {
  const b = new Server({ database, llm, set: [shared] });
  try {
    await b.start();
    const u = await server.user();
    const id = (await u.start({ prompt: '[words 120]' })).json.agent_run_id;
    const other = new Client(b, u.token, u.id);
    const first = u.stream(id);
    await sleep(500);
    const ended = server.stop();
    const received = (await first).events.filter((e) => e.$id !== undefined);
    const rest = await other.stream(id, { headers: { 'last-event-id': String(received.at(-1).sequence) }, timeout: 40000 });
    assert.equal((await ended).code, 0);
    const all = [...received, ...rest.events];
    assert.deepEqual(all.map((e) => e.sequence), all.map((_, i) => i + 1));
    assert.equal(all.at(-1).status, 'completed');
  } finally {
    await b.close();
    await server.start();
  }
});
