// docs/configuration.md is what the program says now.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../e2e/lib/server.mjs';
import { configuration, explanations } from './configuration.mjs';

test('docs/configuration.md is up to date', () => {
  const want = configuration();
  const is = readFileSync(path.join(root, 'docs/configuration.md'), 'utf8');
  const at = want.split('\n').findIndex((line, i) => line !== is.split('\n')[i]);
  assert.equal(is === want, true,
    `line ${at + 1} is\n  ${is.split('\n')[at]}\nand not\n  ${want.split('\n')[at]}\nWrite it anew: node tests/docs/configuration.mjs > docs/configuration.md`);
});

test('every setting of the host is explained', () => {
  const bare = configuration().split('\n').filter((l) => /^\| `(http|database|auth|secrets|log|jobs|egress|shutdown|modules|reload|deployment|data_dir)\b/.test(l) && l.endsWith('|  |'));
  assert.deepEqual(bare, []);
});

test('an explanation belongs to the settings below it, up to the next comment or empty line', () => {
  const found = explanations('[a]\n# One thing,\n# explained.\n# x = 1\n# y = 2\n# Another.\n# z = 3\n\n# w = 4\n');
  assert.deepEqual([...found].map(([k, v]) => [k, v.text, v.again]), [
    ['a.x', 'One thing, explained.', false], ['a.y', 'One thing, explained.', true], ['a.z', 'Another.', false]]);
});
