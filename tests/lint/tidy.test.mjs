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

async function inDirectory(work) {
  const directory = mkdtempSync(path.join(tmpdir(), 'lint-tidy-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
const checkText = (directory, text) => {
  const source = path.join(directory, 'modules', 'a.cpp');
  mkdirSync(path.dirname(source), { recursive: true });
  writeFileSync(source, text);
  return check(command, { options: ['-std=c++20'], sources: [source] }, path.join(directory, 'all.cpp'));
};

test('reports the location of a use after move', { skip }, () => inDirectory(async (directory) => {
  const found = await checkText(directory, '#include <string>\n#include <utility>\nstd::size_t f(std::string s) {\n' +
    '  const std::string t = std::move(s);\n  return t.size() + s.size();\n}\n');
  assert.equal(found.length, 1);
  assert.match(found[0], /a\.cpp:5:\d+: .*\[bugprone-use-after-move/);
}));

test('finds nothing in a correct file', { skip }, () => inDirectory(async (directory) => {
  assert.deepEqual(await checkText(directory, 'int f() {\n  return 1;\n}\n'), []);
}));

test('reports a file that does not compile', { skip }, () => inDirectory(async (directory) => {
  assert.match((await checkText(directory, 'int f() { return nothing; }\n')).join(), /clang-diagnostic-error/);
}));

test('splits a command into words like the shell', () =>
  assert.deepEqual(words('cc -DA=\\"b\\ c\\" "d e" \'f "g"\''), ['cc', '-DA="b c"', 'd e', 'f "g"']));

test('keeps the options that affect preprocessing and parsing', () =>
  assert.deepEqual(options('/usr/bin/ccache c++ -I/a -isystem /b -DX=1 -O2 -g1 -std=c++20 -Wall -o x.o -c a.cpp'),
    ['-I/a', '-isystem', '/b', '-DX=1', '-std=c++20']));

test('checks the sources of a unity file together, other sources of its target separately, and no tests', () => inDirectory((directory) => {
  const unity = path.join(directory, 'core/a.dir/Unity/unity_0_cxx.cxx');
  mkdirSync(path.dirname(unity), { recursive: true });
  writeFileSync(unity, `#include "${root}/core/a.cpp"\n#include "${root}/core/b.cpp"\n`);
  const compileCommand = (target, file) => ({ file, command: `c++ -std=c++20 -o ${target}.dir/x.o -c ${file}` });
  const found = groups([compileCommand('core/a', unity), compileCommand('core/a', `${root}/core/c.cpp`), compileCommand('core/a_test', `${root}/core/d.cpp`)]);
  assert.deepEqual(found.map((g) => g.sources.map((s) => path.basename(s))), [['a.cpp', 'b.cpp'], ['c.cpp']]);
}));
