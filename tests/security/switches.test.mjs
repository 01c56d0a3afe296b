// lib/protections.mjs lists exactly the switches in the sources, each is tested and documented, and an ordinary build
// has none.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { build, root } from '../e2e/lib/server.mjs';
import { protections } from './lib/protections.mjs';

const here = import.meta.dirname;
const named = /without_protection\("(\w+)"\)/g;
const sources = ['core', 'modules'].flatMap((dir) => readdirSync(path.join(root, dir), { recursive: true })
  .filter((f) => /\.(cpp|hpp)$/.test(f)).map((f) => readFileSync(path.join(root, dir, f), 'utf8')));

test('protections.mjs lists exactly the switches in the sources', () => {
  const inSources = new Set(sources.flatMap((text) => [...text.matchAll(named)].map((m) => m[1])));
  const listed = new Set(Object.values(protections).flatMap((p) => p.build ?? []));
  assert.deepEqual([...inSources].sort(), [...listed].sort());
});

test('every protection has an attack and is documented', () => {
  const attacks = readdirSync(here).filter((f) => f.endsWith('.test.mjs')).map((f) => readFileSync(path.join(here, f), 'utf8')).join('\n');
  const readme = readFileSync(path.join(here, 'README.md'), 'utf8');
  for (const name of Object.keys(protections)) {
    assert.ok(attacks.includes(`'${name}'`), `no attack names ${name}`);
    assert.ok(readme.includes(`\`${name}\``), `README.md does not name ${name}`);
  }
});

test('an ordinary build has no switch', (t) => {
  const enabled = /^RY_TEST_WITHOUT_PROTECTIONS:BOOL=(ON|1|TRUE|YES)$/mi.test(readFileSync(path.join(build, 'CMakeCache.txt'), 'utf8'));
  if (enabled) return t.skip('this build has switches');
  const modules = readdirSync(path.join(build, 'modules')).filter((f) => f.endsWith('.so')).map((f) => `modules/${f}`);
  assert.ok(modules.length > 5, modules.join());
  for (const file of ['bin/runyard', 'bin/runyard-sandbox-exec', ...modules]) {
    const bytes = readFileSync(path.join(build, file));
    assert.ok(!bytes.includes('RY_TEST_WITHOUT'), `${file} contains a test switch`);
  }
});
