import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileFinding, findings } from './names.mjs';

test('reports a retired identifier with its line and replacement', () =>
  assert.deepEqual(findings('int a;\noutlet& o = r.out;'), [{ line: 2, name: 'outlet', use: 'subscriber' }]));
test('finds a retired prefix', () => assert.equal(findings('x = RY_WHY_USER;')[0].use, 'RY_REASON_'));
test('accepts longer names, string literals and comments', () =>
  assert.deepEqual(findings('int outlets; auto s = "outlet"; // outlet\n/* poke */ auto r = R"(poke)"; o.constructor();'), []));
test('finds a retired file name, including that of a test', () => {
  assert.equal(fileFinding('modules/runs/outlet.hpp').use, 'subscriber');
  assert.equal(fileFinding('modules/runs/remote_tail_test.cpp').use, 'remote_event_buffer');
  assert.equal(fileFinding('modules/runs/event_buffer.cpp'), undefined);
});
