// Clients that request large responses and do not read them: the data that the server buffers for them is bounded.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { startLlm } from '../e2e/lib/llm.mjs';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';
import { ask, connect, headOf, metric, rss } from './lib/wire.mjs';

const MiB = 1024 * 1024;
let database, llm, server;

setUp(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => { reply.text('done'); reply.end({ input: 1, output: 1 }); });
  server = await new Server({ database, llm, set: [`http.limits.account_unsent_bytes=${8 * MiB}`, `http.limits.unsent_bytes=${64 * MiB}`,
    'http.write_stall_timeout_seconds=20'] }).start();
});
tearDown(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const close = (all) => { for (const s of all) s.destroy(); };
async function upload(user, bytes) {
  const r = await user.start({ prompt: 'keep this', files: [{ name: 'big.bin', data: Buffer.alloc(bytes, 'x') }] });
  assert.equal(r.status, 200, r.text);
  await user.stream(r.json.agent_run_id);
  return r.json.project_id;
}
// Opens connections that request `target` and read only the head of the response.
async function readNothing(user, target, n) {
  const sockets = [], heads = [];
  for (let i = 0; i < n; i++) {
    const s = await connect(server.url);
    s.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${user.token}\r\n\r\n`);
    sockets.push(s);
  }
  for (const s of sockets) heads.push(await headOf(s));
  return { sockets, heads };
}

attack('files are streamed from disk: many stalled readers use no memory', ['file_streaming'], async () => {
  const user = await server.user();
  const project = await upload(user, 9 * MiB);
  const before = rss(server.process.pid);
  const { sockets, heads } = await readNothing(user, `/projects/${project}/files/content?path=uploads/big.bin`, 30);
  try {
    assert.ok(heads.filter((h) => h.status === 200).length >= 20, JSON.stringify(heads.map((h) => h.status)));
    const grown = rss(server.process.pid) - before;
    assert.ok(grown < 60, `${grown} MiB more`);  // 270 if each response is buffered
    assert.ok(await metric(server.url, 'runyard_http_unsent_bytes') <= 8 * MiB);
  } finally {
    close(sockets);
  }
  const whole = await user.get(`/projects/${project}/files/content?path=uploads/big.bin`);
  assert.equal(whole.text.length, 9 * MiB);
  assert.equal(whole.headers.get('x-file-size'), String(9 * MiB));
});

regular('a file that is replaced while it is sent is delivered unchanged', async () => {
  const user = await server.user();
  const project = await upload(user, 9 * MiB);
  const s = await connect(server.url);
  s.write(`GET /projects/${project}/files/content?path=uploads/big.bin HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${user.token}\r\nConnection: close\r\n\r\n`);
  assert.equal((await headOf(s)).status, 200);
  const { readdirSync, renameSync, writeFileSync } = await import('node:fs');
  const path = await import('node:path');
  const data = path.join(server.dir, 'data');
  const found = readdirSync(data, { recursive: true }).find((p) => p.endsWith(`${project}/uploads/big.bin`));
  writeFileSync(path.join(data, `${found}.new`), Buffer.alloc(9 * MiB, 'y'));
  renameSync(path.join(data, `${found}.new`), path.join(data, found));
  let n = 0, other = 0;
  for await (const piece of s) { n += piece.length; if (piece.includes('y')) other++; }
  assert.equal(n, 9 * MiB);
  assert.equal(other, 0);
});

attack('large JSON responses: an account beyond its share gets a 503 with an error code, other accounts are served', ['unsent_bytes'], async () => {
  const user = await server.user(), other = await server.user();
  const big = 'p'.repeat(48 * 1024);
  for (let i = 0; i < 30; i++) {
    const r = await user.post('/agents', { json: { name: `agent ${i}`, system_prompt: big } });
    assert.ok(r.status < 300, r.text);
  }
  const size = (await user.get('/agents?limit=100')).text.length;
  assert.ok(size > MiB, `${size} bytes`);
  const { sockets, heads } = await readNothing(user, '/agents?limit=100', 24);
  try {
    const refused = heads.filter((h) => h.status === 503);
    assert.ok(refused.length > 0, JSON.stringify(heads.map((h) => h.status)));
    assert.match(refused[0].text, /^Retry-After: \d+\r$/m);
    const again = await ask(server.url, 'GET', '/agents?limit=100', { headers: { authorization: `Bearer ${user.token}` } });
    assert.equal(again.status, 503);
    assert.equal(again.json.detail.error_code, 'RESPONSE_BUFFER_LIMIT');
    assert.ok(await metric(server.url, 'runyard_http_unsent_refused_total') > 0);
    assert.ok(await metric(server.url, 'runyard_http_unsent_bytes') <= 8 * MiB);
    assert.equal((await user.get('/account')).status, 200, 'small responses still work');
    assert.equal((await other.get('/agents?limit=100')).status, 200, 'all responses to other accounts still work');
  } finally {
    close(sockets);
  }
  await waitFor('the share to be free again', async () => (await metric(server.url, 'runyard_http_unsent_bytes')) === 0);
  assert.equal((await user.get('/agents?limit=100')).status, 200);
});

attack('without an account, the limit applies to the address', ['unsent_bytes'], async () => {
  const sockets = [];
  let refused = 0;
  const before = await metric(server.url, 'runyard_http_unsent_refused_total');
  try {
    for (let i = 0; i < 80 && refused === 0; i++) {
      const s = await connect(server.url, { from: '127.0.0.9' });
      sockets.push(s);
      s.write('GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(20));
      const { status } = await headOf(s);
      if (status === 503) refused++;
    }
    assert.ok(refused > 0 || await metric(server.url, 'runyard_http_unsent_refused_total') > before);
    assert.equal((await ask(server.url, 'GET', '/openapi.json')).status, 200);
  } finally {
    close(sockets);
  }
});

attack('a reader below the minimum rate is disconnected, a slow one above it is not', ['reader_rate'], async () => {
  const own = await new Server({ database, llm, set: ['http.write_stall_timeout_seconds=1', 'http.read_min_rate_bytes=200000'] }).start();
  let slowReader;
  try {
    const user = await own.user();
    const r = await user.start({ prompt: 'keep this', files: [{ name: 'big.bin', data: Buffer.alloc(9 * MiB, 'x') }] });
    await user.stream(r.json.agent_run_id);
    const get = `GET /projects/${r.json.project_id}/files/content?path=uploads/big.bin HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${user.token}\r\nConnection: close\r\n\r\n`;
    // A client in Node.js would read ahead, and the kernel would enlarge the receive buffer. This client reads 100 bytes at a
    // time.
    slowReader = spawn('bash', ['-c', 'exec 3<>/dev/tcp/127.0.0.1/$PORT; printf %s "$GET" >&3; while read -r -N 100 -u 3 _; do sleep 0.1; done'],
      { env: { ...process.env, LC_ALL: 'C', PORT: new URL(own.url).port, GET: get } });
    const steady = await connect(own.url);
    steady.write(get);
    await headOf(steady);
    let got = 0;
    while (!steady.readableEnded && got < 9 * MiB) {
      const piece = steady.read(Math.min(steady.readableLength, 256 * 1024) || undefined);
      if (piece) got += piece.length;
      await new Promise((r) => setTimeout(r, 20));
    }
    assert.equal(got, 9 * MiB, 'the steady reader receives the complete file');
    await waitFor('the slow reader to be disconnected', async () => (await metric(own.url, 'runyard_http_slow_readers_total')) >= 1);
  } finally {
    slowReader?.kill();
    await own.close();
  }
});
