import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileFinding, findings, textFindings } from './names.mjs';

test('reports a retired identifier with its line and replacement', () =>
  assert.deepEqual(findings('int a;\noutlet& o = r.out;'), [{ line: 2, name: 'outlet', use: 'subscriber' }]));
test('finds a retired prefix', () => assert.equal(findings('x = RY_WHY_USER;')[0].use, 'RY_REASON_'));
test('accepts longer names, string literals and comments', () =>
  assert.deepEqual(findings('int outlets; auto s = "outlet"; // outlet\n/* poke */ auto r = R"(poke)"; o.constructor();'), []));
test('finds members and words of longer identifiers', () =>
  assert.deepEqual(findings('postman_.run(); poke_timer_ = add_rehearse(outlet_);').map((f) => f.name), ['postman_', 'poke_timer_', 'add_rehearse', 'outlet_']));
test('finds retired metrics, labels and SQL functions in other texts', () => {
  assert.deepEqual(textFindings('| `runyard_module_strikes_total` |\n`reason`: `handed_over`').map((f) => [f.line, f.name]),
    [[1, 'runyard_module_strikes_total'], [2, 'handed_over']]);
  assert.deepEqual(textFindings('poke the strikes of an outlet'), []);
});
test('finds a retired file name, including that of a test', () => {
  assert.equal(fileFinding('modules/runs/outlet.hpp').use, 'subscriber');
  assert.equal(fileFinding('modules/runs/remote_tail_test.cpp').use, 'remote_event_buffer');
  assert.equal(fileFinding('modules/runs/event_buffer.cpp'), undefined);
});
