// Checks docs/metrics.md, the Prometheus rules and the dashboard against the output of /metrics.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Server, makeDatabase } from '../e2e/lib/server.mjs';
import { ask } from '../security/lib/wire.mjs';
import { page } from './lib.mjs';

const { parse } = createRequire(path.join(import.meta.dirname, '../e2e/package.json'))('yaml');

let database, server, kinds, text;
before(async () => {
  database = makeDatabase();
  server = await new Server({ database, set: ['modules.bus_nats.enabled=true'], settings: '[bus_nats]\nurls = ["nats://127.0.0.1:1"]' }).start();
  const user = await server.user();
  const started = await user.start({ prompt: 'hello' });
  await user.stream(started.json.agent_run_id);
  await ask(server.url, 'GET', `/${'x'.repeat(10000)}`);  // beyond http.max_target_bytes
  await fetch(`${server.url}/metrics`);
  text = await (await fetch(`${server.url}/metrics`)).text();
  kinds = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((m) => [m[1], m[2]]));
});
after(async () => {
  await server?.close();
  database?.drop();
});

test('docs/metrics.md lists exactly the existing metrics with their types', () => {
  const documented = new Map([...page('metrics.md').matchAll(/^\| `([a-z_]+)` \| (\w+) \|/gm)].map((m) => [m[1], m[2]]));
  assert.deepEqual([...documented].sort(), [...kinds].sort());
});

// Returns the metric names in a PromQL expression: words that are not a function, keyword, label or string.
function namesIn(expression) {
  const bare = expression.replace(/"[^"]*"|'[^']*'/g, '').replace(/\{[^}]*\}|\[[^\]]*\]|\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  return [...bare.matchAll(/[A-Za-z_:][A-Za-z0-9_:]*(?!\s*\()\b/g)].map((m) => m[0])
    .filter((w) => !['by', 'and', 'or', 'unless', 'bool'].includes(w) && !new RegExp(`\\b${w}\\s*\\(`).test(bare));
}
const labelsIn = (expression) => [...expression.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"/g)].map((m) => m[1])
  .concat([...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap((m) => m[1].split(',').map((x) => x.trim())));

// Returns the label matchers: [label, whether it must match, pattern].
const matchersIn = (expression) => [...expression.matchAll(/([a-z_]+)(=~|!~|!=|=)"([^"]*)"/g)]
  .map(([, label, operator, value]) => [label, !operator.startsWith('!'), new RegExp(`^(?:${operator.endsWith('~') ? value : value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')})$`)]);

function checkExpression(expression, source) {
  const names = namesIn(expression);
  assert.ok(names.length > 0, `${source}: ${expression} uses no metric`);
  for (const name of names)
    assert.ok(name === 'up' || kinds.has(name) || (name.endsWith('_bucket') && kinds.get(name.slice(0, -7)) === 'histogram'), `${source}: there is no ${name}`);
  // Labels must be added by Prometheus itself, or exist in a metric of the expression.
  const lines = text.split('\n').filter((l) => names.some((n) => l.startsWith(n)));
  for (const label of labelsIn(expression)) {
    if (['job', 'instance', 'le'].includes(label)) continue;
    // Metrics by outcome have no series before the first attempt.
    assert.ok(label === 'outcome' || lines.some((l) => l.includes(`${label}="`)), `${source}: no label ${label} in ${names}`);
  }
  // A matcher without a matching value is a mistake, even a negative one.
  for (const [label, , pattern] of matchersIn(expression)) {
    if (label === 'job' || (label === 'status' && pattern.test('500'))) continue;  // error responses have no series yet
    const values = lines.flatMap((l) => [...l.matchAll(new RegExp(`[{,]${label}="([^"]*)"`, 'g'))].map((m) => m[1]));
    assert.ok(values.some((v) => pattern.test(v)), `${source}: no ${label} matches ${pattern}: ${[...new Set(values)]}`);
  }
}

test('every rule uses existing metrics and labels, and is documented', () => {
  const { groups } = parse(page('prometheus/runyard.yml'));
  const rules = groups.flatMap((g) => g.rules);
  assert.ok(rules.length > 5);
  for (const r of rules) checkExpression(r.expr, r.alert);
  const explained = [...page('metrics.md').matchAll(/^\| (Runyard\w+) \|/gm)].map((m) => m[1]);
  assert.deepEqual(explained, rules.map((r) => r.alert));
});

test('every query of the dashboard uses existing metrics and labels', () => {
  const board = JSON.parse(page('grafana/runyard.json'));
  for (const panel of board.panels)
    for (const t of panel.targets) checkExpression(t.expr, panel.title);
  assert.equal(new Set(board.panels.map((p) => p.id)).size, board.panels.length);
});

test('unknown names are reported', () => {
  assert.throws(() => checkExpression('sum(rate(runyard_http_requets_total[5m]))', 'x'), /there is no runyard_http_requets_total/);
  assert.throws(() => checkExpression('runyard_runs_ended_total{status="fialed"} > 0', 'x'), /no status matches/);
  assert.throws(() => checkExpression('runyard_runs_ended_total{reason!~"credit|budgets"} > 0', 'x'), /no reason matches/);
  assert.throws(() => checkExpression('sum by (rout) (runyard_http_requests_total)', 'x'), /no label rout /);
  assert.deepEqual(namesIn('histogram_quantile(0.95, sum by (le, route) (rate(a_bucket{b="c"}[5m]))) > 1 and d'), ['a_bucket', 'd']);
});
