// docs/limits.md matches the schemas of the settings, and its metrics and alerts exist.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../e2e/lib/server.mjs';
import { assertUpToDate, page } from './lib.mjs';
import { limits } from './limits.mjs';

const rows = limits().split('\n').filter((line) => /^\| /.test(line) && !line.startsWith('| Resource'))
  .map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll('`', '')));

test('docs/limits.md is up to date', () => {
  assertUpToDate('limits.md', limits(), 'limits.mjs');
});

test('metrics and alerts of the limits exist', () => {
  const metrics = page('metrics.md');
  const alerts = readdirSync(path.join(root, 'docs/prometheus')).map((f) => readFileSync(path.join(root, 'docs/prometheus', f), 'utf8')).join('\n');
  assert.ok(rows.length > 20, `${rows.length} limits`);
  for (const [resource, , setting, value, response, metric, alert] of rows) {
    assert.ok(resource && setting && value && response, `${setting}: an empty cell`);
    if (metric) assert.ok(metrics.includes(`\`${metric}\``), `${setting}: docs/metrics.md does not list ${metric}`);
    if (alert) assert.match(alerts, new RegExp(`alert: ${alert}\\b`), `${setting}: docs/prometheus has no alert ${alert}`);
  }
});
