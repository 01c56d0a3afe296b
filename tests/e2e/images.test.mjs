// Images that exceed the limits of the model's provider are scaled down in the sandbox, once, or replaced with a text.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { calling, DONE_ANSWER, encode } from '../compat/lib/answers.mjs';
import { png, pngOf } from './lib/documents.mjs';
import { startLlm } from './lib/llm.mjs';
import { result, startScriptedServer } from './lib/mcp.mjs';
import { Server, build, makeDatabase, statuses } from './lib/server.mjs';

// A WebP of 8200 x 40 pixels; the left half is red, the right half blue.
const webp = inflateSync(Buffer.from(
  'eNoL8nRz28DCwBDu6hQQFmChsATIFohhmMuoxaGgwWAv2HEoSkdTXUVBg7FBiTMz72F5IvuWA/URXPv/HmBgmHdkWVfGwKH0rZG74/T8nO/nzG' +
  'nfd9OSv3ZTkdzvlCe2306eqH47ecL32+qK77dRVbr6+I2shX8nFizgYhgAxMKr1bFlhZj31kdPaOnJgZJOOMOZQk+bRRgY/v3PKP636qSkoPv/' +
  'O/KPuH8Hbj4XtGCpo1fTVFYtrhCRFZoBg4yr9/6rxbzfXPl/T9+8+m+VgG9qh/wTcbNKOVmG1CgHBmRw74cAA1bgVbYvJG3F2cBZi03dsnquSq' +
  '4yHmRcR1SPtLBg8wUAj9wR/A==', 'base64'));
// A PNG that does not compress.
function noise(width, height) {
  const rows = randomBytes((width * 3 + 1) * height);
  for (let y = 0; y < height; ++y) rows[y * (width * 3 + 1)] = 0;  // no filter
  return pngOf(width, height, rows);
}
// A black GIF of w x h pixels.
const gif = (w, h, frames) => Buffer.concat([Buffer.from('GIF89a'), Buffer.from(Uint16Array.of(w, h).buffer), Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
  ...Array.from({ length: frames }, () => Buffer.concat([Buffer.from([0x2c, 0, 0, 0, 0]), Buffer.from(Uint16Array.of(w, h).buffer), Buffer.from([0, 2]), gifPixels(w * h), Buffer.from([0])])), Buffer.from(';')]);
// LZW data of zeros; a clear code after every two pixels keeps the code table from growing.
function gifPixels(count) {
  const codes = [];
  for (let i = 0; i < count; i += 2) codes.push(4, 0, ...(i + 1 < count ? [0] : []));
  codes.push(4, 5);
  const bytes = [];
  let bits = 0, bitCount = 0;
  for (const code of codes) { bits |= code << bitCount; bitCount += 3; while (bitCount >= 8) { bytes.push(bits & 255); bits >>= 8; bitCount -= 8; } }
  if (bitCount) bytes.push(bits & 255);
  const blocks = [];
  for (let i = 0; i < bytes.length; i += 255) { const b = bytes.slice(i, i + 255); blocks.push(b.length, ...b); }
  return Buffer.from(blocks);
}

let database, llm, claude, mcpServer, server, toolImage;

// A provider with the Anthropic Messages API.
async function startClaude() {
  const peer = { seen: [], answer: () => DONE_ANSWER };
  const listener = http.createServer((req, res) => {
    const pieces = [];
    req.on('data', (c) => pieces.push(c)).on('end', () => {
      const request = JSON.parse(Buffer.concat(pieces));
      peer.seen.push(request);
      const a = encode(peer.answer(request), 'messages');
      res.writeHead(a.status ?? 200, a.headers).end(a.body);
    });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return Object.assign(peer, { url: `http://127.0.0.1:${listener.address().port}`, close: () => { listener.closeAllConnections(); listener.close(); } });
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => reply.say('seen'));
  claude = await startClaude();
  mcpServer = await startScriptedServer((message, res) => (message.method === 'tools/call'
    ? result(res, message, { content: [{ type: 'text', text: 'a shot' }, { type: 'image', mimeType: 'image/png', data: toolImage.toString('base64') }] }) : undefined));
  server = await new Server({ database, llm, settings: `
[runs.providers.claude]
kind = "anthropic"
base_url = "${claude.url}"
api_key = "k"
[runs.vision]
"claude/m" = true
"mock/basic" = true
[accounts.tiers.pro]
models = ["runyard/basic", "claude/m"]
` }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  claude?.close();
  mcpServer?.close();
  database?.drop();
});

async function run(u, form) {
  claude.seen.length = llm.seen.length = 0;
  const started = await u.start({ prompt: 'look', model_name: 'claude/m', ...form });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 120000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { ...started.json, events: s.events };
}
const blocks = (request) => request.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])
  .flatMap((b) => (b.type === 'tool_result' && Array.isArray(b.content) ? b.content : [b])));
const imagesOf = (request) => blocks(request).filter((b) => b.type === 'image').map((b) => ({ type: b.source.media_type, data: Buffer.from(b.source.data, 'base64') }));
const textsOf = (request) => blocks(request).filter((b) => b.type === 'text').map((b) => b.text).join('\n');
const scaledCount = () => server.log.split('an image was scaled down').length - 1;
const notices = (x) => x.events.filter((e) => e.type === 'notice').map((e) => [e.code, e.message]);
const pngSize = (b) => [b.readUInt32BE(16), b.readUInt32BE(20)];
function jpegSize(b) {
  for (let at = 2; at < b.length; at += 2 + b.readUInt16BE(at + 2))
    if (b[at + 1] >= 0xc0 && b[at + 1] <= 0xc2) return [b.readUInt16BE(at + 7), b.readUInt16BE(at + 5)];
  return undefined;
}

test('an image with too many pixels is scaled down once for the whole thread', async () => {
  const u = await server.user({ tier: 'pro' });
  const before = scaledCount();
  const x = await run(u, { files: [{ name: 'wide.png', data: png(9000, 90) }] });
  const [image] = imagesOf(claude.seen[0]);
  assert.equal(image.type, 'image/png');
  assert.deepEqual(pngSize(image.data), [2000, 20]);
  assert.deepEqual(notices(x), []);
  assert.equal(scaledCount() - before, 1);
  await run(u, { thread_id: x.thread_id, prompt: 'again' });
  assert.deepEqual(imagesOf(claude.seen[0]), [image]);
  assert.equal(scaledCount() - before, 1, 'the scaled image is cached');
  // A provider that accepts the original image receives it unchanged.
  await run(u, { thread_id: x.thread_id, model_name: 'runyard/basic', prompt: 'and there?' });
  assert.ok(JSON.stringify(llm.seen[0].json).includes(png(9000, 90).toString('base64')));
});

test('WebP images are scaled, and the Exif orientation of a JPEG is applied', async () => {
  const u = await server.user({ tier: 'pro' });
  const file = path.join(server.dir, 'half.webp');
  writeFileSync(file, webp);
  const out = execFileSync(path.join(build, 'bin/runyard-extract'), ['--scale', '9000', '9000000', file], { maxBuffer: 1 << 24 });
  const jpeg = out.subarray(out.indexOf(10) + 1);
  assert.deepEqual(jpegSize(jpeg), [8200, 40]);
  const exif = Buffer.from('ffe100224578696600004d4d002a00000008000101120003000000010006000000000000', 'hex');
  const rotated = Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]);
  await run(u, { files: [{ name: 'a.webp', data: webp }, { name: 'b.jpg', data: rotated }] });
  const images = imagesOf(claude.seen[0]);
  assert.deepEqual(images.map((i) => [i.type, jpegSize(i.data)]), [['image/jpeg', [2000, 10]], ['image/jpeg', [10, 2000]]]);
});

test('the first frame of an animation is sent to a provider without support for animations', async () => {
  const u = await server.user({ tier: 'pro' });
  await run(u, { files: [{ name: 'moves.gif', data: gif(40, 30, 3) }], model_name: 'runyard/basic' });
  const content = llm.seen[0].json.messages.at(-1).content;
  const url = content.find((p) => p.type === 'image_url').image_url.url;
  assert.match(url, /^data:image\/png;base64,/);
  assert.deepEqual(pngSize(Buffer.from(url.split(',')[1], 'base64')), [40, 30]);
  assert.match(JSON.stringify(content), /Only the first frame of this animation is shown/);
});

test('a file above the size limit of a request is scaled down', async () => {
  const u = await server.user({ tier: 'pro' });
  const data = noise(1500, 1500);
  assert.ok(data.length > 5 << 20);
  const x = await run(u, { files: [{ name: 'noise.png', data }] });
  const [image] = imagesOf(claude.seen[0]);
  assert.equal(image.type, 'image/jpeg');
  assert.ok(image.data.length <= 1536 << 10);
  assert.doesNotMatch(textsOf(claude.seen[0]), /too large/);
  assert.deepEqual(notices(x), []);
});

test('images returned by tools are scaled as well', async () => {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'cam', type: 'http', config: { url: mcpServer.url }, enabledTools: ['echo'] }] } });
  assert.equal(put.status, 200, put.text);
  toolImage = noise(8100, 20);
  assert.ok(toolImage.length > 300_000, 'larger than a single write to the sandboxed program');
  let steps = 0;
  claude.answer = () => [calling('cam__echo', {}, 'toolu_1'), DONE_ANSWER][steps++] ?? DONE_ANSWER;
  const before = scaledCount();
  await run(u, { agent_id: agent });
  const [image] = imagesOf(claude.seen[1]);
  assert.deepEqual((image.type === 'image/png' ? pngSize : jpegSize)(image.data), [2000, 5]);
  assert.equal(scaledCount() - before, 1);
  assert.match(textsOf(claude.seen[1]), /a shot/);
  claude.answer = () => DONE_ANSWER;
});

test('an image that cannot be scaled is replaced by text, and the stream reports it', async () => {
  const u = await server.user({ tier: 'pro' });
  const broken = png(9000, 90);
  broken[60] ^= 0xff;
  // 400 million pixels in 50 kB; interlacing requires all of them in memory.
  const bomb = pngOf(20000, 20000, Buffer.alloc(20000 * 2500 + 20000 * 8), { depth: 1, color: 0, interlace: 1 });
  assert.ok(bomb.length < 100000);
  const x = await run(u, { files: [{ name: 'broken.png', data: broken }, { name: 'bomb.png', data: bomb }] });
  assert.deepEqual(imagesOf(claude.seen[0]), []);
  const texts = textsOf(claude.seen[0]);
  assert.match(texts, /\[An image was omitted: it is damaged\.\]/);
  assert.match(texts, /\[An image was omitted: it is interlaced and has too many pixels\.\]/);
  assert.deepEqual(notices(x).map(([code]) => code), ['image_skipped', 'image_skipped']);
  const again = await run(u, { thread_id: x.thread_id, prompt: 'again' });
  assert.deepEqual(notices(again), [], 'the failure is cached');
  assert.match(textsOf(claude.seen[0]), /it is damaged/);
});
