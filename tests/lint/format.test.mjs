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

function inFolder(check) {
  const folder = mkdtempSync(path.join(tmpdir(), 'lint-format-'));
  try {
    copyFileSync(style, path.join(folder, '.clang-format'));
    check(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('finds a file whose layout differs and names its place', { skip }, () => inFolder((folder) => {
  writeFileSync(path.join(folder, 'a.cpp'), 'int a;\nint   b;\n');
  writeFileSync(path.join(folder, 'b.hpp'), 'int c;\n');
  const places = misformatted(command, [...sources(folder)]);
  assert.deepEqual(places.map((p) => path.basename(p).replace(/:\d+$/, '')), ['a.cpp:2']);
}));

test('finds nothing in a formatted file', { skip }, () => inFolder((folder) => {
  writeFileSync(path.join(folder, 'a.cpp'), 'int f() {\n  return 1;\n}\n');
  assert.deepEqual(misformatted(command, [...sources(folder)]), []);
}));

test('fails for a file that does not exist', { skip }, () =>
  assert.throws(() => misformatted(command, ['/nonexistent/a.cpp'])));

test('leaves out folders of builds, packages and hidden files', () => inFolder((folder) => {
  writeFileSync(path.join(folder, 'a.h'), '');
  writeFileSync(path.join(folder, '.b.h'), '');
  writeFileSync(path.join(folder, 'c.txt'), '');
  assert.deepEqual([...sources(folder)].map((f) => path.basename(f)), ['a.h']);
}));
