// Tests of the matchers and of the checks of the runner.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filled, match, matchEvents } from './match.mjs';
import { checkStep } from './run.mjs';

const id = '0192f0c1-2d3e-7f00-8a1b-0123456789ab';
const good = [
  [1, 1], [null, null], ['a', 'a'], ['$uuid', id], ['$time', '2026-01-01T00:00:00.123Z'], ['/b+/', 'abbc'], ['$absent', undefined],
  [{ a: 1 }, { a: 1, b: 2 }], [{ $only: { a: '$any' } }, { a: 0 }], [[1, { a: 1 }], [1, { a: 1, b: 2 }]],
  [{ $contains: [2] }, [1, 2]], [{ $each: '$number' }, [1, 2]], [{ $length: 2 }, [1, 2]], [{ $not: 1 }, 2],
  [{ $oneof: [1, 2] }, 2], [{ $least: 2 }, 2], [{ $most: 2 }, 1], [{ a: '$absent' }, {}],
];
const bad = [
  [1, 2], [1, '1'], [null, undefined], ['a', 'b'], ['$uuid', 'x'], ['$time', 'yesterday'], ['$time', '2026-01-01T00:00:00Z'], ['$time', '2026-01-01T00:00:00.123456Z'], ['/^b/', 'ab'], ['$absent', null], ['$any', undefined],
  ['$text', ''], ['$positive', 0], ['$integer', 1.5], [{ a: 1 }, { b: 1 }], [{ a: 1 }, null], [{ $only: { a: 1 } }, { a: 1, b: 2 }],
  [{ $only: { a: 1, b: 2 } }, { a: 1 }], [[1], [1, 2]], [[1, 2], [2, 1]], [{ $contains: [3] }, [1, 2]], [{ $each: '$number' }, [1, 'x']],
  [{ $length: 1 }, []], [{ $not: 1 }, 1], [{ $oneof: [1] }, 2], [{ $least: 2 }, 1], [{ $most: 2 }, 3], [{ $least: 2 }, undefined],
  ['$nothing', 1], [{ $nothing: 1 }, 1],
];
for (const [want, got] of good) test(`${JSON.stringify(want)} accepts ${JSON.stringify(got)}`, () => match(want, got));
for (const [want, got] of bad) test(`${JSON.stringify(want)} rejects ${JSON.stringify(got)}`, () => assert.throws(() => match(want, got)));

test('a lone variable keeps its type', () => {
  assert.deepEqual(filled({ a: '${x}', b: ['n${x}'], c: '${o.k|upper}' }, { x: 7, o: { k: 'ab' } }), { a: 7, b: ['n7'], c: 'AB' });
  assert.throws(() => filled('${y}', {}), /no variable y/);
});
test('events must occur in the given order', () => {
  const events = [{ type: 'a' }, { type: 'b', n: 1 }, { type: 'c' }];
  matchEvents([{ type: 'a' }, { type: 'c' }], events);
  assert.throws(() => matchEvents([{ type: 'c' }, { type: 'a' }], events));
  assert.throws(() => matchEvents([{ type: 'b', n: 2 }], events), /expected 2, got 1/);
});
for (const [reason, step] of Object.entries({
  'no kind': {}, 'two kinds': { request: 'GET /a', sql: 'x', expect: {} }, 'unknown key': { request: 'GET /a', expect: {}, hedaers: {} },
  'unknown expectation': { request: 'GET /a', expect: { staus: 200 } }, 'nothing expected': { request: 'GET /a' }, 'no method': { request: '/a', expect: {} },
}))
  test(`a step is rejected: ${reason}`, () => assert.throws(() => checkStep(step, 'here')));
