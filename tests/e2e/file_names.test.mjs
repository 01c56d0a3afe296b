// File names with special spaces or another Unicode normalisation are found by the spellings that models and users
// type.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { Server, makeDatabase } from './lib/server.mjs';

let database, llm, server, calls = [];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const next = calls.shift();
    return next ? reply.tools([next]) : reply.say('done');
  });
  server = await new Server({ database, llm }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// Uploads the files, runs the tools and returns their results in order.
async function useTools(u, files, tools, form = {}) {
  calls = tools.map(([name, args], i) => ({ id: `call-${i}`, name, arguments: args }));
  const r = await u.start({ prompt: 'use the tools', files: files.map(([name, data]) => ({ name, data })), ...form });
  assert.equal(r.status, 200, r.text);
  await u.stream(r.json.agent_run_id, { timeout: 60000 });
  return { ...r.json, results: llm.seen.at(-1).json.messages.filter((m) => m.role === 'tool').slice(-tools.length).map((m) => m.content) };
}

const spellings = [
  ['U+202F', 'notes 3.04\u202fPM.txt', 'notes 3.04 PM.txt'],
  ['U+00A0', 'the\u00a0plan.txt', 'the plan.txt'],
  ['NFD name, NFC path', 'cafe\u0301.txt', 'caf\u00e9.txt'],
  ['NFC name, NFD path', 'm\u00fcll.txt', 'mu\u0308ll.txt'],
  ['U+3000', 'a\u3000b.txt', 'a b.txt'],
  ['U+2019', 'Ann\u2019s list.txt', "Ann's list.txt"]];

test('read_file finds a file by any equivalent spelling of its name', async () => {
  const u = await server.user();
  const files = spellings.map(([label, name]) => [name, `content of ${label}`]);
  const r = await useTools(u, files, spellings.map(([, , typed]) => ['read_file', { path: `uploads/${typed}` }]));
  for (const [i, [label]] of spellings.entries()) assert.equal(r.results[i], `content of ${label}`, label);
  // The file routes find them as well.
  for (const [label, , typed] of spellings) {
    const got = await u.get(`/projects/${r.project_id}/files/content?path=${encodeURIComponent(`uploads/${typed}`)}`);
    assert.equal(got.text, `content of ${label}`, label);
  }
  const missing = await u.get(`/projects/${r.project_id}/files/content?path=uploads/none.txt`);
  assert.equal(missing.status, 404, missing.text);
});

test('write_file replaces the file with an equivalent name, and directories are found the same way', async () => {
  const u = await server.user();
  const r = await useTools(u, [], [
    ['write_file', { path: 'mes\u00a0re\u0301sume\u0301s/note.txt', content: 'first' }],
    ['write_file', { path: 'mes r\u00e9sum\u00e9s/note.txt', content: 'second' }],
    ['list_files', { path: 'mes r\u00e9sum\u00e9s' }],
    ['read_file', { path: 'mes r\u00e9sum\u00e9s/note.txt' }],
    ['write_file', { path: 'mes r\u00e9sum\u00e9s/sub/new file.txt', content: 'third' }],
    ['list_files', {}]]);
  assert.match(r.results[2], /note\.txt/);
  assert.equal(r.results[3], 'second');
  assert.match(r.results[4], /^wrote 5 bytes to mes\u00a0re\u0301sume\u0301s\/sub\/new file\.txt$/);
  assert.equal(r.results[5].match(/sum/g).length, 1, r.results[5]);
  const list = await u.get(`/projects/${r.project_id}/files?path=${encodeURIComponent('mes r\u00e9sum\u00e9s')}`);
  assert.equal(list.status, 200, list.text);
  assert.deepEqual(list.json.files.map((f) => f.name).sort(), ['note.txt', 'sub']);
});

test('an exact match takes precedence, and ambiguous names are reported', async () => {
  const u = await server.user();
  const r = await useTools(u, [['a\u00a0b.txt', 'no-break'], ['a\u3000b.txt', 'ideographic']],
    [['read_file', { path: 'uploads/a\u00a0b.txt' }], ['read_file', { path: 'uploads/a b.txt' }], ['write_file', { path: 'uploads/a b.txt', content: 'x' }]]);
  assert.equal(r.results[0], 'no-break');
  for (const result of r.results.slice(1)) assert.match(result, /several files have names that look like "a b\.txt": "a\\u00a0b\.txt", "a\\u3000b\.txt"; give the exact name/);
  const content = (path) => u.get(`/projects/${r.project_id}/files/content?path=${encodeURIComponent(path)}`);
  assert.equal((await content('uploads/a\u3000b.txt')).text, 'ideographic');
  const ambiguous = await content('uploads/a b.txt');
  assert.equal(ambiguous.status, 400, ambiguous.text);
  assert.match(ambiguous.json.detail, /several files/);
});
