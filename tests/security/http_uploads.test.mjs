// Bodies that never end: their number, the space that they take, and their time are bounded.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from '../e2e/lib/llm.mjs';
import { Server, makeDatabase, sleep, waitFor } from '../e2e/lib/server.mjs';
import { connect, headOf, metric } from './lib/wire.mjs';

const MiB = 1024 * 1024;
let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => { reply.text('done'); reply.end({ input: 1, output: 1 }); });
  server = await new Server({ database, llm, set: ['http.limits.account_uploads=4', 'http.limits.uploads=10',
    `http.limits.account_upload_bytes=${30 * MiB}`, `http.limits.upload_bytes=${200 * MiB}`] }).start();
});
after(async () => {
  await server?.close();
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

test('one account has so many uploads under way, others have theirs', async () => {
  const user = await server.user(), other = await server.user();
  const held = [];
  try {
    for (let i = 0; i < 4; i++) held.push(await begin(server.url, user.token, 1000));
    await waitFor('they are counted', async () => (await metric(server.url, 'runyard_http_uploads')) === 4);
    const fifth = await begin(server.url, user.token, 1000);
    held.push(fifth);
    const refused = await headOf(fifth);
    assert.equal(refused.status, 429, refused.text);
    assert.match(refused.text, /^Retry-After: \d+\r$/m);
    assert.match(fifth.read()?.toString() ?? '', /UPLOAD_LIMIT/);
    assert.ok(await metric(server.url, 'runyard_http_uploads_refused_total') >= 1);
    // A body that comes at once needs no place.
    assert.equal((await user.post('/agents', { json: { name: 'small' } })).status < 300, true);
    assert.equal((await other.start({ prompt: 'hello', files: [{ name: 'f.bin', data: Buffer.alloc(2 * MiB) }] })).status, 200);
  } finally {
    close(held);
  }
  await waitFor('the places are free', async () => (await metric(server.url, 'runyard_http_uploads')) === 0);
  assert.equal((await user.start({ prompt: 'hello', files: [{ name: 'f.bin', data: Buffer.alloc(2 * MiB) }] })).status, 200);
});

test('JSON bodies count as well', async () => {
  const user = await server.user();
  const held = [];
  try {
    for (let i = 0; i < 5; i++) {
      const s = await connect(server.url);
      s.write(`POST /agents HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${user.token}\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{"name":"`);
      held.push(s);
    }
    const answers = await Promise.all(held.map((s) => headOf(s, 3000)));
    assert.equal(answers.filter((a) => a.status === 429).length, 1, JSON.stringify(answers.map((a) => a.status)));
  } finally {
    close(held);
  }
});

test('the space of one account\'s uploads is bounded, and free again when they end', async () => {
  const user = await server.user(), other = await server.user();
  const held = [];
  try {
    for (let i = 0; i < 4; i++) held.push(await begin(server.url, user.token, 9 * MiB));
    const answers = await Promise.all(held.map((s) => headOf(s, 5000)));
    // How many depends on what of them has arrived when the space is used up; all, if they come at the same pace.
    assert.ok(answers.some((a) => a.status === 429), JSON.stringify(answers.map((a) => a.text)));
    assert.ok(spool() <= 32 * MiB, `${spool()} bytes`);
    assert.ok(await metric(server.url, 'runyard_http_upload_bytes_refused_total') >= 1);
    assert.equal((await other.start({ prompt: 'hello', files: [{ name: 'f.bin', data: Buffer.alloc(2 * MiB) }] })).status, 200);
  } finally {
    close(held);
  }
  await waitFor('nothing is left', async () => spool() === 0 && (await metric(server.url, 'runyard_http_upload_bytes')) === 0);
});

test('bytes that were sent fast buy no silence, and a body has a time in all', { timeout: 90000 }, async () => {
  const own = await new Server({ database, llm, set: ['http.body_timeout_seconds=19', 'http.body_idle_timeout_seconds=30'] }).start();
  try {
    const user = await own.user();
    const fast = await begin(own.url, user.token, 9 * MiB);  // at 512 bytes a second worth five hours
    const steady = await begin(own.url, user.token, 1000);
    const drip = setInterval(() => fast.write('x'), 1000), flow = setInterval(() => steady.write('x'.repeat(2000)), 200);
    const begun = Date.now();
    const ended = async (s) => { const h = await headOf(s, 60000); return { ...h, ms: Date.now() - begun }; };
    const [a, b] = await Promise.all([ended(fast), ended(steady)]);
    clearInterval(drip);
    clearInterval(flow);
    assert.equal(a.status, 408, a.text);
    assert.equal(b.status, 408, b.text);
    assert.ok(b.ms >= 17000, `the steady one after ${b.ms} ms`);
    await sleep(100);
    await waitFor('nothing is left', () => spool(own) === 0);
    close([fast, steady]);
  } finally {
    await own.close();
  }
});
