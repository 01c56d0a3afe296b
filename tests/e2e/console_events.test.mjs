// The items that the console shows for a run's events and messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applied, empty, itemsOf, joined } from '../../modules/console/web/src/events.js';

const shown = (events) => joined(events.reduce(applied, empty).items).map((i) => [i.kind, i.content ?? i.progress]);
const start = (step, attempt = 1) => ({ type: 'llm_response_start', step, attempt });
const text = (content) => ({ type: 'llm_response_chunk', content });
const end = (finish) => ({ type: 'llm_response_end', finish });
const aborted = (step, attempt) => ({ type: 'turn_aborted', step, attempt });

test('a continued answer is shown as one text', () => {
  assert.deepEqual(shown([start(1), text('a'), end('length'), start(2), text('b'), end('pause'), start(3), text('c'), end('stop')]), [['text', 'abc']]);
  assert.deepEqual(shown([start(1), text('a'), end('stop'), start(2), text('b'), end('stop')]), [['text', 'a'], ['text', 'b']]);
});

test('the reasoning of a continuation follows the text', () => {
  assert.deepEqual(shown([start(1), text('a'), end('length'), start(2), { type: 'reasoning_chunk', content: 'r' }, text('b'), end('stop')]),
    [['text', 'ab'], ['reasoning', 'r']]);
});

test('a failed attempt at a continuation leaves nothing, and the next attempt continues the text', () => {
  for (const finish of [[], [end('error')]])
    assert.deepEqual(shown([start(1), text('a'), end('length'), start(2), text('x'), ...finish, aborted(2, 1), start(2, 2), text('b'), end('stop')]),
      [['text', 'ab']]);
});

test('a text after tool calls does not continue the text before them', () => {
  const call = { type: 'tool_call', tool_call_id: 't', name: 'shell', arguments: {} };
  assert.deepEqual(shown([start(1), text('a'), end('length'), call, { type: 'tool_progress', tool_call_id: 't', message: '1/2: read' },
    { type: 'tool_result', tool_call_id: 't', content: 'ok' }, start(2), text('b'), end('stop')]),
  [['text', 'a'], ['tool', '1/2: read'], ['text', 'b']]);
});

test('notices and recoverable errors are shown, retries are not', () => {
  const error = (error_code, recoverable) => ({ type: 'error', error_code, recoverable, message: error_code });
  assert.deepEqual(shown([{ type: 'notice', code: 'tool_skipped', message: 'n' }, start(1), text('x'), aborted(1, 1), error('LLM_RETRY', true),
    error('TOOLS_UNAVAILABLE', true), error('LLM_ERROR', false), start(1, 2), text('a'), end('stop')]),
  [['notice', 'n'], ['notice', 'TOOLS_UNAVAILABLE'], ['text', 'a']]);
});

test('messages of a continued answer are shown as one text', () => {
  const messages = [{ role: 'assistant', content: 'a', finish: 'length' }, { role: 'assistant', content: 'b', finish: 'pause' },
    { role: 'assistant', content: 'c' }, { role: 'assistant', content: 'd' }];
  assert.deepEqual(joined(itemsOf(messages)).map((i) => i.content), ['abc', 'd']);
});
