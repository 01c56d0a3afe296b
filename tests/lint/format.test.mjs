import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formatter, misformatted, sources } from './format.mjs';

const command = formatter();
const skip = command ? false : 'clang-format 14 is not installed';
const style = fileURLToPath(new URL('../../.clang-format', import.meta.url));

function inDirectory(check) {
  const directory = mkdtempSync(path.join(tmpdir(), 'lint-format-'));
  try {
    copyFileSync(style, path.join(directory, '.clang-format'));
    check(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('reports the location of a layout that differs', { skip }, () => inDirectory((directory) => {
  writeFileSync(path.join(directory, 'a.cpp'), 'int a;\nint   b;\n');
  writeFileSync(path.join(directory, 'b.hpp'), 'int c;\n');
  const locations = misformatted(command, [...sources(directory)]);
  assert.deepEqual(locations.map((p) => path.basename(p).replace(/:\d+$/, '')), ['a.cpp:2']);
}));

test('finds nothing in a formatted file', { skip }, () => inDirectory((directory) => {
  writeFileSync(path.join(directory, 'a.cpp'), 'int f() {\n  return 1;\n}\n');
  assert.deepEqual(misformatted(command, [...sources(directory)]), []);
}));

test('fails for a file that does not exist', { skip }, () =>
  assert.throws(() => misformatted(command, ['/nonexistent/a.cpp'])));

test('skips build directories, packages and hidden files', () => inDirectory((directory) => {
  writeFileSync(path.join(directory, 'a.h'), '');
  writeFileSync(path.join(directory, '.b.h'), '');
  writeFileSync(path.join(directory, 'c.txt'), '');
  assert.deepEqual([...sources(directory)].map((f) => path.basename(f)), ['a.h']);
}));
