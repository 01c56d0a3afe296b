import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileFinding, findings } from './names.mjs';

test('finds a retired identifier, with its line and the name to use', () =>
  assert.deepEqual(findings('int a;\noutlet& o = r.out;'), [{ line: 2, name: 'outlet', use: 'subscriber' }]));
test('finds a retired prefix', () => assert.equal(findings('x = RY_WHY_USER;')[0].use, 'RY_REASON_'));
test('lets pass: longer names, texts, comments', () =>
  assert.deepEqual(findings('int outlets; auto s = "outlet"; // outlet\n/* poke */ auto r = R"(poke)"; o.constructor();'), []));
test('finds a retired name of a file, also of its test', () => {
  assert.equal(fileFinding('modules/runs/outlet.hpp').use, 'subscriber');
  assert.equal(fileFinding('modules/runs/remote_tail_test.cpp').use, 'remote_event_buffer');
  assert.equal(fileFinding('modules/runs/event_buffer.cpp'), undefined);
});
