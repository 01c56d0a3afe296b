// Files uploaded with a start: limits and their error messages, malformed forms, constant memory use.
import assert from 'node:assert/strict';
import net from 'node:net';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, slow, waitFor } from './lib/server.mjs';

let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => reply.say('read it'));
  server = await new Server({ database, llm }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const MB = 1024 * 1024;
const multipart = (u, boundary, body) =>
  u.post('/agent/start', { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body });
const field = (b, name, value) => `--${b}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

test('exceeded upload limits return 413 with the limit; invalid fields return 400 with their name', async () => {
  const u = await server.user();
  const big = await u.start({ prompt: 'x', files: [{ name: 'big.bin', data: Buffer.alloc(10 * MB + 1) }] });
  assert.equal(big.status, 413, big.text);
  assert.equal(big.json.detail.error_code, 'UPLOAD_TOO_LARGE');
  assert.equal(big.json.detail.limit, 10 * MB);
  assert.match(big.json.detail.message, /10\.0 MB/);
  const many = await u.start({ prompt: 'x', files: Array.from({ length: 11 }, (_, i) => ({ name: `f${i}`, data: 'x' })) });
  assert.equal(many.status, 413, many.text);
  assert.equal(many.json.detail.limit, 10);
  assert.equal(many.json.detail.error_code, 'UPLOAD_TOO_LARGE');
  const pro = await server.user({ tier: 'pro' });
  const larger = await pro.start({ prompt: 'x', files: [{ name: 'big.bin', data: Buffer.alloc(50 * MB + 1) }] });
  assert.equal(larger.status, 413, larger.text);
  assert.equal(larger.json.detail.limit, 50 * MB);

  const long = await u.start({ prompt: 'p'.repeat(MB + 1) });
  assert.equal(long.status, 400, long.text);
  assert.match(long.json.detail, /^prompt is too long: at most 1\.0 MB/);
  for (const [name, body] of [
    ['prompt', field('B', 'prompt', 'a') + field('B', 'prompt', 'b')],
    ['mode', field('B', 'prompt', 'a') + field('B', 'mode', 'chat') + field('B', 'mode', 'code')]]) {
    const twice = await multipart(u, 'B', `${body}--B--\r\n`);
    assert.equal(twice.status, 400, twice.text);
    assert.equal(twice.json.detail, `${name} is given more than once`);
  }
  const asFile = await multipart(u, 'B', '--B\r\nContent-Disposition: form-data; name="prompt"; filename="p.txt"\r\n\r\nhello\r\n--B--\r\n');
  assert.equal(asFile.status, 400, asFile.text);
  assert.equal(asFile.json.detail, 'prompt must not be a file');
  assert.equal(database.sql(`select count(*) from runs.runs where account_id = '${u.id}'`), '0');
});

test('a form larger than the limit is rejected before it is read', async () => {
  const other = await new Server({ database, llm, settings: '[runs]\nupload_total_bytes = 2097152\n' }).start();
  try {
    const u = await other.user();
    const r = await u.start({ prompt: 'x', files: [{ name: 'a', data: Buffer.alloc(3 * MB) }] });
    assert.equal(r.status, 413, r.text);
    assert.equal(r.json.detail.limit, 2 * MB);
    assert.equal(r.json.detail.error_code, 'UPLOAD_TOO_LARGE');
    // Without a Content-Length, the limit is detected while reading.
    const body = new ReadableStream({ start(c) {
      c.enqueue(Buffer.from('--B\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'));
      for (let i = 0; i < 3; i++) c.enqueue(Buffer.alloc(MB));
      c.enqueue(Buffer.from('\r\n--B--\r\n'));
      c.close();
    } });
    const chunked = await fetch(`${other.url}/agent/start`, { method: 'POST', duplex: 'half', body,
      headers: { authorization: `Bearer ${u.token}`, 'content-type': 'multipart/form-data; boundary=B' } });
    assert.equal(chunked.status, 413);
    assert.equal((await chunked.json()).detail.limit, 2 * MB);
  } finally {
    await other.close();
  }
});

test('malformed forms get a clear error, and the server keeps working', async () => {
  const u = await server.user();
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=zzz']) {
    const bad = await u.post('/agent/start', { headers: { 'content-type': type }, body: `${field('B', 'prompt', 'x')}--B--\r\n` });
    assert.equal(bad.status, 400, type + bad.text);
    assert.equal(typeof bad.json.detail, 'string');
  }
  const json = await u.post('/agent/start', { json: { prompt: 'x' } });
  assert.ok([400, 415].includes(json.status), json.text);
  const parts = Array.from({ length: 10000 }, (_, i) => field('B', `f${i}`, 'x')).join('');
  const many = await multipart(u, 'B', `${parts}--B--\r\n`);
  assert.equal(many.status, 400, many.text);
  assert.match(many.json.detail, /too many parts: at most 1000/);
  const unterminated = await multipart(u, 'B', field('B', 'prompt', 'never closed'));
  assert.equal(unterminated.status, 400, unterminated.text);

  // Invalid Content-Type headers of parts are ignored.
  const typeUser = await server.user();
  for (const type of [Buffer.from([0x74, 0x2f, 0xff, 0xfe]), Buffer.from(`t/${'a'.repeat(197)}ä`), Buffer.from('text/plain')]) {
    const body = Buffer.concat([Buffer.from(`${field('B', 'prompt', 'typed')}--B\r\nContent-Disposition: form-data; name="files"; filename="typed.txt"\r\nContent-Type: `),
      type, Buffer.from('\r\n\r\nhello\r\n--B--\r\n')]);
    const typed = await multipart(typeUser, 'B', body);
    assert.equal(typed.status, 200, typed.text);
    await typeUser.stream(typed.json.agent_run_id);
  }
  assert.equal(database.sql(`select string_agg(distinct media_type, ',' order by media_type) from runs.uploads u join runs.runs r on r.id = u.run_id where r.account_id = '${typeUser.id}'`), ',text/plain');

  // A connection that closes in mid-body: no run is stored, and the server keeps working.
  const { hostname, port } = new URL(server.url);
  await new Promise((resolve) => {
    const s = net.connect(Number(port), hostname, () => {
      s.write(`POST /agent/start HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${u.token}\r\n` +
        'Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 100000\r\n\r\n' +
        `${field('B', 'prompt', 'cut')}--B\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhalf`);
      setTimeout(() => { s.destroy(); resolve(); }, 200);
    });
    s.on('error', () => {});
  });
  assert.equal(database.sql(`select count(*) from runs.runs where account_id = '${u.id}'`), '0');
  const fine = await u.start({ prompt: 'still there' });
  assert.equal(fine.status, 200, fine.text);
  await u.stream(fine.json.agent_run_id);
});

const rss = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))[1]) / 1024;

test('a file of 200 MB is uploaded and read with constant memory use', { timeout: 120000 }, async () => {
  const u = await server.user({ tier: 'enterprise' });
  const before = rss();
  let peak = before;
  const watch = setInterval(() => { peak = Math.max(peak, rss()); }, 20);
  let r;
  try {
    const chunk = Buffer.alloc(MB, 'abcdefghijklmnopqrstuvwxyz012345');
    let sent = 0;
    const body = new ReadableStream({
      pull(c) {
        if (sent === 0) c.enqueue(Buffer.from(`${field('B', 'prompt', 'large')}--B\r\nContent-Disposition: form-data; name="files"; filename="large.bin"\r\n\r\n`));
        if (sent++ < 200) return c.enqueue(chunk);
        c.enqueue(Buffer.from('\r\n--B--\r\n'));
        c.close();
      },
    });
    r = await fetch(`${server.url}/agent/start`, { method: 'POST', duplex: 'half', body,
      headers: { authorization: `Bearer ${u.token}`, 'content-type': 'multipart/form-data; boundary=B' } });
    assert.equal(r.status, 200);
    r = await r.json();
    await u.stream(r.agent_run_id, { timeout: 60000 });
  } finally {
    clearInterval(watch);
  }
  assert.ok(peak - before < 64 * slow, `resident memory grew by ${peak - before} MB`);
  const prompt = lastUser(llm.seen.findLast((c) => lastUser(c.json).startsWith('large')).json);
  assert.match(prompt, /\[Attached: large\.bin \(200\.0 MB\) -> uploads\/large\.bin\]/);
  const end = await u.get(`/projects/${r.project_id}/files/content?path=uploads/large.bin&offset=${200 * MB - 32}&limit=32`);
  assert.equal(end.text, 'abcdefghijklmnopqrstuvwxyz012345');
});
