// The Responses API (kind openai, wire responses): what is sent, what is kept for the next request, how answers end.
import { DONE_ANSWER, responses, stream } from '../lib/answers.mjs';

const { answer, call, message, reasoning } = responses;
const wire = 'responses';
const done = { run: { status: 'completed', reason: 'ok', text: 'done' } };
const answeredAgain = { ...done, asked: 2 };
const wipe = { tools: [{ name: 'wipe', inputSchema: { type: 'object', properties: { what: { type: 'string' } } } }] };
const cut = { incomplete_details: { reason: 'max_output_tokens' } };
const failed = (code) => stream(responses.start(), responses.event('failed',
  { response: { id: 'resp_1', status: 'failed', error: { code, message: 'words' }, output: [] } }));
// A provider whose account cannot decrypt the reasoning that is sent back.
const undecipherable = responses.error('The encrypted content gAAA... could not be verified.',
  { code: 'invalid_encrypted_content' });

export default [
  { id: 'w01a', title: 'control: a conversation on the Responses wire is sent as a whole and not stored', wire,
    steps: [{ run: {} }, { run: { prompt: 'again', thread: 'same' } }],
    expect: { ...done, paths: ['/v1/responses', '/v1/responses'], body: { store: false, stream: true,
      include: ['reasoning.encrypted_content'], input: [{ type: 'message', role: 'user' },
        { type: 'message', role: 'assistant', content: 'done' }, { type: 'message', role: 'user' }] } } },
  { id: 'w01b', title: 'encrypted reasoning is shown as its summary and sent back before the call that it led to', wire,
    mcp: wipe,
    answers: [answer([reasoning('e1', ['Hm.']), call('peer__wipe', { what: 'dust' })]), DONE_ANSWER],
    expect: { run: { status: 'completed', thoughts: 'Hm.' }, called: [{ name: 'wipe', arguments: { what: 'dust' } }],
      body: { input: [{ role: 'user' }, { type: 'reasoning', id: 'rs_e1', encrypted_content: 'e1' },
        { type: 'function_call', call_id: 'c1', name: 'peer__wipe' },
        { type: 'function_call_output', call_id: 'c1' }] } } },
  { id: 'w01c', title: 'reasoning that the provider cannot decrypt any more does not break its thread', wire,
    answers: [answer([reasoning('e1'), message('first')]), undecipherable, DONE_ANSWER],
    steps: [{ run: {} }, { run: { prompt: 'again', thread: 'same' } }],
    expect: { ...done, asked: 3, body: { input: [{ role: 'user' }, { role: 'assistant', content: 'first' },
      { role: 'user' }] } } },
  { id: 'w01d', title: 'a model that does not support encrypted reasoning is asked without it', wire,
    answers: [responses.error('Encrypted content is not supported with this model.', { param: 'include' }),
      DONE_ANSWER],
    expect: answeredAgain },
  { id: 'w01e', title: 'another provider is not sent the encrypted reasoning', wire,
    answers: [answer([reasoning('e1'), message('first')]), DONE_ANSWER],
    steps: [{ run: {} }, { run: { prompt: 'again', thread: 'same', kind: 'anthropic' } }],
    expect: { ...done, body: { messages: [{ role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: 'first' }] }, { role: 'user' }] } } },
  { id: 'w02a', title: 'text of the Responses wire that is cut at the token limit is continued', wire,
    answers: [answer([message('one two ')], 'incomplete', cut), answer([message('three')])],
    expect: { run: { status: 'completed', reason: 'ok', text: 'one two three' }, asked: 2 } },
  { id: 'w02b', title: 'a call of the Responses wire whose arguments were cut is not made', wire, mcp: wipe,
    answers: [answer([call('peer__wipe', '{"what":"all', { status: 'incomplete' })], 'incomplete', cut), DONE_ANSWER],
    expect: { called: [], run: { status: 'completed', results: ['/limit|length|cut|truncat/'] } } },
  { id: 'w02c', title: 'an answer of the Responses wire that was filtered is not a completed run', wire,
    answers: [answer([message('The three')], 'incomplete', { incomplete_details: { reason: 'content_filter' } })],
    expect: { run: { status: 'failed', reason: 'content_filter', error_code: 'LLM_CONTENT_FILTERED' } } },
  { id: 'w02d', title: 'a refusal of the Responses wire is not a completed run', wire,
    answers: [answer([responses.refusal('I cannot help with that.')])],
    expect: { run: { status: 'failed', reason: 'refusal', error_code: 'LLM_REFUSED' } } },
  { id: 'w03a', title: 'a failed response is asked for again', wire, answers: [failed('server_error'), DONE_ANSWER],
    expect: answeredAgain },
  { id: 'w03b', title: 'a response without its last event is asked for again', wire,
    answers: [stream(responses.start(), responses.item(message('half'), 0)), DONE_ANSWER], expect: answeredAgain },
  { id: 'w03c', title: 'an error event in a response is asked for again', wire,
    answers: [stream(responses.start(), { type: 'error', code: 'server_error', message: 'words', param: null }),
      DONE_ANSWER],
    expect: answeredAgain },
  { id: 'w03d', title: 'a prompt that the Responses API refuses within the stream is not asked again', wire,
    answers: [failed('invalid_prompt')], expect: { run: { status: 'failed', reason: 'llm_error' }, asked: 1 } },
  { id: 'w04a', title: 'an answer that comes only in the last event is read', wire,
    answers: [stream(responses.start(), responses.end('completed', [message('done')]))], expect: done },
  { id: 'w04b', title: 'calls with one output index are made once each', wire, mcp: wipe,
    answers: [stream(responses.start(), responses.item(call('peer__wipe', { what: 'a' }), 0),
      responses.item(call('peer__wipe', { what: 'b' }, { call_id: 'c2' }), 0), responses.end('completed', [])),
    DONE_ANSWER],
    expect: { ...done,
      called: [{ name: 'wipe', arguments: { what: 'a' } }, { name: 'wipe', arguments: { what: 'b' } }] } },
  { id: 'w05a', title: 'the deployment of an Azure address is the model on the Responses wire', wire,
    base: '/openai/deployments/d1?api-version=2025-04-01-preview',
    expect: { ...done, paths: ['/openai/responses?api-version=2025-04-01-preview'], body: { model: 'd1' } } },
  { id: 'w05b', title: 'control: an Azure address with a version on the Responses wire', wire, base: '/openai/v1',
    expect: { ...done, paths: ['/openai/v1/responses'], body: { model: 'm' } } },
];
