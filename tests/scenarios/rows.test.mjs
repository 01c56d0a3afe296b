// Every row of the contract's tables has a scenario or a reason why not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, rows } from './files.mjs';

const known = rows(import.meta.dirname);
const files = load(import.meta.dirname);
const covered = new Set(files.flatMap((f) => f.scenarios.flatMap((s) => s.rows)));

test('each row has a scenario or a reason', () => {
  const missing = [...known].filter(([id, r]) => !covered.has(id) && !r.open).map(([id]) => id);
  assert.deepEqual(missing, []);
});
test('no row with a scenario is marked open', () => {
  assert.deepEqual([...known].filter(([id, r]) => covered.has(id) && r.open).map(([id]) => id), []);
});
test('scenario names are unique within a file', () => {
  for (const f of files) assert.equal(new Set(f.scenarios.map((s) => s.name)).size, f.scenarios.length, f.name);
});
test(`${covered.size} of ${known.size} rows are covered`, () => assert.ok(covered.size > 80));
