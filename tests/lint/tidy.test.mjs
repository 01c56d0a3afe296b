import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { check, groups, options, tidy, words } from './tidy.mjs';

const command = tidy();
const skip = command ? false : 'clang-tidy 14 is not installed';
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

async function inFolder(work) {
  const folder = mkdtempSync(path.join(tmpdir(), 'lint-tidy-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
const checkText = (folder, text) => {
  const source = path.join(folder, 'modules', 'a.cpp');
  mkdirSync(path.dirname(source), { recursive: true });
  writeFileSync(source, text);
  return check(command, { options: ['-std=c++20'], sources: [source] }, path.join(folder, 'all.cpp'));
};

test('finds a use after a move and names its place', { skip }, () => inFolder(async (folder) => {
  const found = await checkText(folder, '#include <string>\n#include <utility>\nstd::size_t f(std::string s) {\n' +
    '  const std::string t = std::move(s);\n  return t.size() + s.size();\n}\n');
  assert.equal(found.length, 1);
  assert.match(found[0], /a\.cpp:5:\d+: .*\[bugprone-use-after-move/);
}));

test('finds nothing in a sound file', { skip }, () => inFolder(async (folder) => {
  assert.deepEqual(await checkText(folder, 'int f() {\n  return 1;\n}\n'), []);
}));

test('reports a file that does not compile', { skip }, () => inFolder(async (folder) => {
  assert.match((await checkText(folder, 'int f() { return nothing; }\n')).join(), /clang-diagnostic-error/);
}));

test('reads the words of a command as the shell does', () =>
  assert.deepEqual(words('cc -DA=\\"b\\ c\\" "d e" \'f "g"\''), ['cc', '-DA="b c"', 'd e', 'f "g"']));

test('keeps the options that change what the compiler reads', () =>
  assert.deepEqual(options('/usr/bin/ccache c++ -I/a -isystem /b -DX=1 -O2 -g1 -std=c++20 -Wall -o x.o -c a.cpp'),
    ['-I/a', '-isystem', '/b', '-DX=1', '-std=c++20']));

test('checks the sources of a unity file together, others of its target by themselves, and no tests', () => inFolder((folder) => {
  const unity = path.join(folder, 'core/a.dir/Unity/unity_0_cxx.cxx');
  mkdirSync(path.dirname(unity), { recursive: true });
  writeFileSync(unity, `#include "${root}/core/a.cpp"\n#include "${root}/core/b.cpp"\n`);
  const of = (target, file) => ({ file, command: `c++ -std=c++20 -o ${target}.dir/x.o -c ${file}` });
  const found = groups([of('core/a', unity), of('core/a', `${root}/core/c.cpp`), of('core/a_test', `${root}/core/d.cpp`)]);
  assert.deepEqual(found.map((g) => g.sources.map((s) => path.basename(s))), [['a.cpp', 'b.cpp'], ['c.cpp']]);
}));
