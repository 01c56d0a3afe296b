import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings, markerOf } from './comments.mjs';

const cpp = markerOf('a.cpp'), sh = markerOf('a.sh'), sql = markerOf('a.sql');
const bad = [
  ['int a;\n// Who asks.\n', cpp], ['int a;  /' + '/ Nobody reads it.', cpp], ['/// Whoever comes first', cpp], ['/**\n * What is known.\n */', cpp],
  ['// The caller and whoever waits', cpp], ['  # so nobody reads it', sh],
  ['  # What was built', sh], ['-- What came before', sql],
];
const good = [
  ['// Whole numbers only.', cpp], ['// The user nobody runs it.', cpp], ['const char* s = "nobody";  // a name', cpp], ['// The caller: who asks.', cpp], ['const char* s = "// Who asks";', cpp], ['# Whatever is found', sh], ['-- Whether it waits', sql],
];

for (const [text, marker] of bad) test(`finds: ${text.trim()}`, () => assert.equal(findings(text, marker).length, 1));
for (const [text, marker] of good) test(`accepts: ${text}`, () => assert.deepEqual(findings(text, marker), []));
test('reports the line', () => assert.deepEqual(findings('int a;\n// Who asks.', cpp), [{ line: 2, text: 'Who asks.' }]));
test('recognises scripts without a file name extension', () => assert.equal(markerOf('x/quickstart'), sh));
