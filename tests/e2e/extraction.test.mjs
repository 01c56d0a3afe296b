// Extraction from uploaded files before the first model request: text is stored next to the files, and images are sent
// to models that accept them.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { docx, odt, pdf, pdfWith, png, pptx, xlsx, zip } from './lib/documents.mjs';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, sleep, statuses, waitFor } from './lib/server.mjs';
import { uploadTo } from './lib/uploads.mjs';

let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => reply.say('read it'));
  server = await new Server({ database, llm, settings: '[runs]\nupload_text_bytes = 100000\nupload_read_seconds = 6\n[runs.vision]\n"runyard/power" = true\n' }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const upload = (u, files, form) => uploadTo(llm, u, files, form);

test('text is extracted from text, PDF, Office and OpenDocument files', async () => {
  const u = await server.user();
  const r = await upload(u, [
    { name: 'plain.txt', data: 'plain text, ü' },
    { name: 'latin.csv', data: Buffer.from('gr\xFC\xDFe;1', 'latin1') },
    { name: 'wide.txt', data: Buffer.concat([Buffer.from([0xFF, 0xFE]), Buffer.from('wide ü', 'utf16le')]) },
    { name: 'report.pdf', data: pdfWith('Words of a PDF') },
    { name: 'letter.docx', data: docx('Words of a letter') },
    { name: 'sheet.xlsx', data: xlsx(['left', 'right']) },
    { name: 'talk.pptx', data: pptx('Words of a talk') },
    { name: 'open.odt', data: odt('Words of OpenDocument') }]);
  assert.equal(await r.text('plain.txt'), 'plain text, ü');
  assert.equal(await r.text('latin.csv'), 'grüße;1');
  assert.equal(await r.text('wide.txt'), 'wide ü');
  assert.match(await r.text('report.pdf'), /^Words of a PDF/);
  assert.equal(await r.text('letter.docx'), 'Words of a letter\n');
  assert.equal(await r.text('sheet.xlsx'), '--- Sheet: One ---\nleft\tright\n');
  assert.equal(await r.text('talk.pptx'), '--- Slide 1 ---\nWords of a talk\n');
  assert.equal(await r.text('open.odt'), 'Words of OpenDocument\n');
  assert.match(r.prompt, /\[Attached: report\.pdf \(.*\) -> uploads\/report\.pdf\]/);
  assert.match(r.prompt, /\[Text of report\.pdf \(.*\) -> uploads\/\.text\/report\.pdf\.txt\]/);
  assert.doesNotMatch(r.prompt, /Text of plain\.txt/);
  assert.equal(database.sql(`select count(*) from runs.uploads where run_id = '${r.agent_run_id}' and found = 'text'`), '8');
});

test('hostile files are stored without text, and the run continues', { timeout: 90000 }, async () => {
  const u = await server.user();
  // Four times as much as a fast machine can read within the limit.
  const slow = pdf('BT /F1 1 Tf ' + '1 0 0 1 0 0 Tm (word) Tj '.repeat(12000000) + 'ET');
  const startedAt = Date.now();
  const r = await upload(u, [
    { name: 'bomb.docx', data: zip([['word/document.xml', Buffer.alloc(100 << 20, 32)]]) },
    { name: 'broken.pdf', data: pdfWith('x').subarray(0, 60) },
    { name: 'cut.docx', data: docx('some text').subarray(0, 100) },
    { name: 'dtd.odt', data: zip([['mimetype', 'application/vnd.oasis.opendocument.text'], ['content.xml', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']]) },
    { name: 'program', data: Buffer.from('\x7FELF\x02\x01\x01\0\0\0', 'latin1') },
    { name: 'empty.txt', data: '' },
    { name: '../../-evil;rm *.txt', data: 'harmless' },
    { name: 'names.zip', data: zip([['../../etc/passwd', 'x']]) },
    { name: 'z-slow.pdf', data: slow }]);
  assert.ok(Date.now() - startedAt < 45000, 'extraction respects its time limits');
  for (const [name, reason] of [['bomb.docx', 'grows too large'], ['broken.pdf', 'damaged'], ['program', 'cannot be read as text'],
    ['empty.txt', 'empty'], ['names.zip', 'not a document'], ['z-slow.pdf', 'took too long|failed'], ['cut.docx', '.'], ['dtd.odt', 'damaged']]) {
    assert.match(r.prompt, new RegExp(`\\[No text of ${name.replace('.', '\\.')}: .*(${reason})`), r.prompt);
    assert.equal(await r.text(name), null);
  }
  const stored = await u.get(`/projects/${r.project_id}/files?path=uploads`);
  assert.equal(stored.json.files.filter((f) => f.kind === 'file').length, 9);
  assert.ok(stored.json.files.every((f) => /^[\w. -]+$/.test(f.name)), stored.text);
  const nulInName = await u.post('/agent/start', { headers: { 'content-type': 'multipart/form-data; boundary=B' },
    body: '--B\r\nContent-Disposition: form-data; name="files"; filename="a\0b.txt"\r\n\r\nx\r\n--B--\r\n' });
  assert.equal(nulInName.status, 400, nulInName.text);
  assert.match(nulInName.json.detail, /control characters/);
  const long = await upload(u, [{ name: 'long.docx', data: docx('word '.repeat(50000)) }], { thread_id: r.thread_id });
  assert.match(long.prompt, /Text of long\.docx, its beginning/);
  assert.match(await long.text('long.docx'), /\[The text continues: this is its beginning\.\]\n$/);
});

test('images are sent to models with vision; other models get format and dimensions', async () => {
  const u = await server.user({ tier: 'pro' });
  const image = png(640, 480);
  const withoutVision = await upload(u, [{ name: 'a.png', data: image }], { model_name: 'runyard/basic' });
  assert.match(withoutVision.prompt, /\[Image a\.png: PNG, 640 x 480 pixels\]/);
  assert.equal(typeof withoutVision.request.messages.at(-1).content, 'string');
  const withVision = await upload(u, [{ name: 'a.png', data: image }, { name: 'b.gif', data: Buffer.from('GIF89a\x40\x01\xC8\0\0\0\0,\0\0\0\0\x40\x01\xC8\0\0\x02\x02\x44\x01\0;', 'latin1') }],
    { model_name: 'runyard/power' });
  assert.match(withVision.prompt, /\[Image b\.gif: GIF, 320 x 200 pixels\]/);
  const urls = withVision.request.messages.at(-1).content.filter((p) => p.type === 'image_url').map((p) => p.image_url.url);
  assert.equal(urls.length, 2);
  assert.equal(urls[0], `data:image/png;base64,${image.toString('base64')}`);
  assert.match(urls[1], /^data:image\/gif;base64,/);
  // The thread stores paths, not bytes; the next turn sends the images again.
  assert.equal(database.sql(`select count(*) from runs.messages where thread_id = '${withVision.thread_id}' and length(body) > 2000`), '0');
  const next = await upload(u, [], { thread_id: withVision.thread_id, model_name: 'runyard/power' });
  assert.equal(JSON.stringify(next.request).split('data:image/').length, 3);
});

test('large images are sent completely, and a run can be stopped while they are being sent', async () => {
  const u = await server.user({ tier: 'pro' });
  const images = Array.from({ length: 3 }, (_, i) => ({ name: `${i}.png`, data: Buffer.concat([png(640, 480), randomBytes(4_000_000)]) }));
  const withVision = await upload(u, images, { model_name: 'runyard/power' });
  const urls = withVision.request.messages.at(-1).content.filter((p) => p.type === 'image_url').map((p) => p.image_url.url);
  assert.deepEqual(urls.map((url) => url.length), images.map((i) => `data:image/png;base64,${i.data.toString('base64')}`.length));
  for (const [i, url] of urls.entries()) assert.ok(url === `data:image/png;base64,${images[i].data.toString('base64')}`, `image ${i}`);
  for (const wait of [0, 20, 60]) {
    const again = await u.start({ prompt: 'stop me', thread_id: withVision.thread_id, model_name: 'runyard/power' });
    await sleep(wait);
    const stopped = await u.post(`/agent-run/${again.json.agent_run_id}/stop`);
    assert.equal(stopped.status, 200, stopped.text);
    const { events } = await u.stream(again.json.agent_run_id, { timeout: 10000 });
    assert.ok(['stopped', 'completed'].includes(statuses(events).at(-1)), statuses(events).join());
  }
});

test('extraction is repeated after the server is killed during it', { timeout: 60000 }, async () => {
  const u = await server.user();
  const slow = pdf('BT /F1 1 Tf ' + '1 0 0 1 0 0 Tm (word) Tj '.repeat(3000000) + 'ET');
  const r = await u.start({ prompt: 'again please', files: [{ name: 'a.docx', data: docx('first words') }, { name: 'b.pdf', data: slow }] });
  assert.equal(r.status, 200, r.text);
  await sleep(700);
  await server.kill();
  assert.equal(database.sql(`select count(*) from runs.uploads where run_id = '${r.json.agent_run_id}' and found is null`), '2');
  await server.start();
  const s = await u.stream(r.json.agent_run_id, { timeout: 50000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  const prompt = lastUser(llm.seen.findLast((c) => lastUser(c.json).startsWith('again please')).json);
  assert.match(prompt, /\[Text of a\.docx/);
  assert.equal(prompt.match(/a\.docx\.txt/g).length, 1);
});

test('without a sandbox driver files are stored without their text', async () => {
  const unsandboxed = new Server({ database, llm });
  const { readFileSync, writeFileSync } = await import('node:fs');
  writeFileSync(unsandboxed.config, readFileSync(unsandboxed.config, 'utf8').replace('sandbox_bubblewrap = { enabled = true }', ''));
  await unsandboxed.start();
  try {
    const u = await unsandboxed.user();
    const r = await u.start({ prompt: 'nothing to run it with', files: [{ name: 'a.txt', data: 'content' }] });
    assert.equal(r.status, 200, r.text);
    assert.ok(r.json.sandbox_id);
    const s = await u.stream(r.json.agent_run_id);
    assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
    const list = await u.get(`/projects/${r.json.project_id}/files?path=uploads`);
    assert.deepEqual(list.json?.files.map((f) => f.name), ['a.txt'], list.text);
    assert.equal((await u.get(`/projects/${r.json.project_id}/files/content?path=/workspace/uploads/a.txt`)).text, 'content');
    assert.match(unsandboxed.log, /no sandbox driver is loaded: uploaded files are stored without their text/);
  } finally {
    await unsandboxed.close();
  }
});

test('a start that fails after its files were received leaves nothing behind', async () => {
  const u = await server.user();
  const first = await u.start({ prompt: 'one', files: [{ name: 'a.txt', data: '1' }] });
  await u.stream(first.json.agent_run_id);
  const files = async () => (await u.get(`/projects/${first.json.project_id}/files?path=uploads`)).json.files.map((f) => f.name);
  const before = await files();
  database.sql('alter table runs.uploads rename to away');
  try {
    for (const data of ['2', Buffer.alloc(3 << 20, 7)]) {
      const failed = await u.start({ thread_id: first.json.thread_id, prompt: 'two', files: [{ name: 'b.txt', data }] });
      assert.equal(failed.status, 500, failed.text);
      assert.match(failed.json.detail, /^Failed to start agent: /);
    }
  } finally {
    database.sql('alter table runs.away rename to uploads');
  }
  assert.deepEqual(await files(), before);
  assert.equal(database.sql(`select count(*) from runs.runs where account_id = '${u.id}'`), '1');
  assert.equal(database.sql(`select count(*) from runs.workspace_files where project_id = '${first.json.project_id}' and path like '%b.txt'`), '0');
});
