// Request bodies that never end: their number, disk space and duration are bounded.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { startLlm } from '../e2e/lib/llm.mjs';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { without } from './lib/protections.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';
import { connect, headOf, metric } from './lib/wire.mjs';

const MiB = 1024 * 1024;
let database, llm, server, slowUploadServer, slowBody;

setUp(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => { reply.text('done'); reply.end({ input: 1, output: 1 }); });
  server = await new Server({ database, llm, set: ['http.limits.account_uploads=4', 'http.limits.uploads=10',
    `http.limits.account_upload_bytes=${30 * MiB}`, `http.limits.upload_bytes=${200 * MiB}`] }).start();
  if (without !== undefined && without !== 'upload_rate') return;
  // Takes half a minute and runs in parallel to the other attacks. At 512 bytes/s its first bytes would allow five
  // hours.
  slowUploadServer = await new Server({ database, llm }).start();
  slowBody = rejectionTime(slowUploadServer, 9 * MiB, 'x', 1000);
  slowBody.catch(() => {});
});
tearDown(async () => {
  await server?.close();
  await slowUploadServer?.close();
  await llm?.close();
  database?.drop();
});

const close = (all) => { for (const s of all) s.destroy(); };
const spool = (of = server) => {
  const dir = path.join(of.dir, 'data/spool');
  return readdirSync(dir).reduce((sum, f) => { try { return sum + statSync(path.join(dir, f)).size; } catch { return sum; } }, 0);
};
const headText = (token, extra = '') => `POST /agent/start HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${extra}` +
  'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99000000\r\n\r\n' +
  '--b\r\nContent-Disposition: form-data; name="files"; filename="a.bin"\r\n\r\n';
async function begin(url, token, bytes) {
  const s = await connect(url);
  s.write(headText(token));
  if (bytes) s.write(Buffer.alloc(bytes, 'x'));
  return s;
}

// Returns the first response to several requests; status 0 if there is none.
const firstResponse = (sockets) => Promise.any(sockets.map(async (s) => { const a = await headOf(s, 10000); assert.ok(a.status); return a; }))
  .catch(() => ({ status: 0, text: 'no response' }));

attack('the number of uploads in progress is limited per account', ['upload_count'], async () => {
  const user = await server.user(), other = await server.user();
  const uploads = [];
  try {
    for (let i = 0; i < 4; i++) uploads.push(await begin(server.url, user.token, 1000));
    await waitFor('the uploads to be counted', async () => (await metric(server.url, 'runyard_http_uploads')) === 4);
    const fifth = await begin(server.url, user.token, 1000);
    uploads.push(fifth);
    const refused = await headOf(fifth);
    assert.equal(refused.status, 429, refused.text);
    assert.match(refused.text, /^Retry-After: \d+\r$/m);
    assert.match(fifth.read()?.toString() ?? '', /UPLOAD_LIMIT/);
    assert.ok(await metric(server.url, 'runyard_http_uploads_refused_total') >= 1);
    // A body that arrives immediately does not count as an upload.
    assert.equal((await user.post('/agents', { json: { name: 'small' } })).status < 300, true);
    assert.equal((await other.start({ prompt: 'hello', files: [{ name: 'f.bin', data: Buffer.alloc(2 * MiB) }] })).status, 200);
  } finally {
    close(uploads);
  }
  await waitFor('the uploads to end', async () => (await metric(server.url, 'runyard_http_uploads')) === 0);
  assert.equal((await user.start({ prompt: 'hello', files: [{ name: 'f.bin', data: Buffer.alloc(2 * MiB) }] })).status, 200);
});

attack('JSON bodies count as uploads', ['upload_count'], async () => {
  const user = await server.user();
  const uploads = [];
  try {
    for (let i = 0; i < 5; i++) {
      const s = await connect(server.url);
      s.write(`POST /agents HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${user.token}\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{"name":"`);
      uploads.push(s);
    }
    const first = await firstResponse(uploads);
    assert.equal(first.status, 429, first.text);
    assert.equal(await metric(server.url, 'runyard_http_uploads'), 4);
  } finally {
    close(uploads);
  }
});

attack('the disk space of one account\'s uploads is bounded, and released when they end', ['upload_space'], async () => {
  const user = await server.user(), other = await server.user();
  const uploads = [];
  try {
    for (let i = 0; i < 4; i++) uploads.push(await begin(server.url, user.token, 9 * MiB));
    // The number of rejected uploads depends on their progress when the space is used up; it is all if they progress
    // equally.
    const first = await firstResponse(uploads);
    assert.equal(first.status, 429, first.text);
    assert.ok(spool() <= 32 * MiB, `${spool()} bytes`);
    assert.ok(await metric(server.url, 'runyard_http_upload_bytes_refused_total') >= 1);
    assert.equal((await other.start({ prompt: 'hello', files: [{ name: 'f.bin', data: Buffer.alloc(2 * MiB) }] })).status, 200);
  } finally {
    close(uploads);
  }
  await waitFor('the spool to be empty', async () => spool() === 0 && (await metric(server.url, 'runyard_http_upload_bytes')) === 0);
});

// Returns the milliseconds until a body that is sent in this way is rejected with 408.
async function rejectionTime(server, sent, piece, pause) {
  const s = await begin(server.url, (await server.user()).token, sent);
  const begun = Date.now(), flow = setInterval(() => s.write(piece), pause);
  const { status, text } = await headOf(s, 60000);
  clearInterval(flow);
  assert.equal(status, 408, text);
  await waitFor('the spool to be empty', () => spool(server) === 0);
  s.destroy();
  return Date.now() - begun;
}

attack('the total time of a body is limited', ['upload_time'], { timeout: 90000 }, async () => {
  const own = await new Server({ database, llm, set: ['http.body_timeout_seconds=3', 'http.body_idle_timeout_seconds=30'] }).start();
  try {
    const ms = await rejectionTime(own, 1000, 'x'.repeat(2000), 200);
    assert.ok(ms >= 2500, `after ${ms} ms`);
  } finally {
    await own.close();
  }
});

attack('fast bytes at the beginning do not permit a slow rest of the body', ['upload_rate'], { timeout: 90000 }, async () => {
  await slowBody;
});

attack('files of rejected starts are removed from the database', ['pending_chunks'], async () => {
  const user = await server.user();
  const stored = () => Number(database.sql('select count(*) from runs.workspace_chunks where refs = 0'));
  const before = stored();
  for (let round = 0; round < 2; round++) {
    // One slot: all concurrent starts but one are rejected, most of them after their files were stored.
    const all = await Promise.all(Array.from({ length: 3 }, () => user.start({ prompt: 'x', files: [{ name: 'a.bin', data: randomBytes(3 * MiB) }] })));
    for (const r of all.filter((x) => x.status === 200)) await user.post(`/agent-run/${r.json.agent_run_id}/stop`);
  }
  await waitFor('no stored bytes without a file', () => stored() <= before, 5000);
});
