// docs/limits.md is what the program says now, and what it refers to exists.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../e2e/lib/server.mjs';
import { limits } from './limits.mjs';

const rows = limits().split('\n').filter((line) => /^\| /.test(line) && !line.startsWith('| Resource'))
  .map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll('`', '')));

test('docs/limits.md is up to date', () => {
  const want = limits();
  const is = readFileSync(path.join(root, 'docs/limits.md'), 'utf8');
  const at = want.split('\n').findIndex((line, i) => line !== is.split('\n')[i]);
  assert.equal(is === want, true,
    `line ${at + 1} is\n  ${is.split('\n')[at]}\nand not\n  ${want.split('\n')[at]}\nRegenerate it: node tests/docs/limits.mjs > docs/limits.md`);
});

test('metrics and alerts of the limits exist', () => {
  const metrics = readFileSync(path.join(root, 'docs/metrics.md'), 'utf8');
  const alerts = readdirSync(path.join(root, 'docs/prometheus')).map((f) => readFileSync(path.join(root, 'docs/prometheus', f), 'utf8')).join('\n');
  assert.ok(rows.length > 20, `${rows.length} limits`);
  for (const [resource, , setting, value, answer, metric, alert] of rows) {
    assert.ok(resource && setting && value && answer, `${setting}: an empty cell`);
    if (metric) assert.ok(metrics.includes(`\`${metric}\``), `${setting}: docs/metrics.md does not know ${metric}`);
    if (alert) assert.match(alerts, new RegExp(`alert: ${alert}\\b`), `${setting}: docs/prometheus has no alert ${alert}`);
  }
});
