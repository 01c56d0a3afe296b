// docs/configuration.md matches the schemas of the settings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configuration, explanations } from './configuration.mjs';
import { assertUpToDate } from './lib.mjs';

test('docs/configuration.md is up to date', () => {
  assertUpToDate('configuration.md', configuration(), 'configuration.mjs');
});

test('every setting of the host has a description', () => {
  const bare = configuration().split('\n').filter((l) => /^\| `(http|database|auth|secrets|log|jobs|egress|shutdown|modules|reload|deployment|data_dir)\b/.test(l) && l.endsWith('|  |'));
  assert.deepEqual(bare, []);
});

test('a description applies to the settings below it, up to the next comment or empty line', () => {
  const found = explanations('[a]\n# One thing,\n# explained.\n# x = 1\n# y = 2\n# Another.\n# z = 3\n\n# w = 4\n');
  assert.deepEqual([...found].map(([k, v]) => [k, v.text, v.again]), [
    ['a.x', 'One thing, explained.', false], ['a.y', 'One thing, explained.', true], ['a.z', 'Another.', false]]);
});

test('allowed values are described in words, not as regular expressions', () => {
  assert.deepEqual(configuration().split('\n').filter((l) => l.includes('`^')), []);
});
