// How providers split tool calls over the deltas of a stream.
import { DONE_ANSWER, DONE, chat, messages, stream } from '../lib/answers.mjs';

const name = 'list_files';
// A case on the Chat Completions wire: fragments of calls, and the calls that they mean.
const assembled = (id, title, fragments, calls) => ({ id, title,
  answers: [chat.answer(fragments.map((f) => (f.choices ? f : chat.call(f))), 'tool_calls'), DONE_ANSWER],
  expect: { run: { status: 'completed', text: 'done',
    calls: calls.map((c) => (c.name ? c : { name, arguments: c })) } } });
const path = (p) => `{"path":"${p}"}`;
const tag = (text) => `<${text.replace('|', '\uff5cDSML\uff5c')}>`;
const markup = `hello${tag('|tool_calls')}\n${tag('|invoke name="list_files"')}\n`
  + `${tag('|parameter name="path" string="true"')}src${tag('/|parameter')}\n`
  + `${tag('/|invoke')}\n${tag('/|tool_calls')}`;

export default [
  assembled('c07a', 'two calls at index 0, the second with an empty id, are two calls',
    [{ id: 'k1', name, args: path('a') }, { id: '', name, args: path('b') }], [{ path: 'a' }, { path: 'b' }]),
  assembled('c07b', 'two calls at index 0, the second without an id, are two calls',
    [{ id: 'k1', name, args: path('a') }, { name, args: path('b') }], [{ path: 'a' }, { path: 'b' }]),
  assembled('c07c', 'calls of two tools at index 0 without ids are two calls',
    [{ name, args: path('a') }, { name: 'read_file', args: path('b') }],
    [{ name: 'list_files', arguments: { path: 'a' } }, { name: 'read_file', arguments: { path: 'b' } }]),
  assembled('c07c-noindex', 'two calls without an index are two calls',
    [{ index: undefined, id: 'k1', name, args: path('a') }, { index: undefined, id: 'k2', name, args: path('b') }],
    [{ path: 'a' }, { path: 'b' }]),
  assembled('c07c-one', 'two whole calls in one delta without an index are two calls',
    [chat.delta({ tool_calls: ['a', 'b'].map((p, i) => ({ id: `k${i}`, type: 'function',
    function: { name, arguments: path(p) } })) })], [{ path: 'a' }, { path: 'b' }]),
  assembled('c07c-object', 'arguments that are an object and no text are read',
    [{ id: 'k1', name, args: { path: 'a' } }], [{ path: 'a' }]),
  { id: 'c07c-legacy', title: 'a call in the legacy member function_call is a call',
    answers: [chat.answer([chat.delta({ function_call: { name, arguments: '{"path":' } }),
      chat.delta({ function_call: { arguments: '"a"}' } })], 'function_call'), DONE_ANSWER],
    expect: { run: { status: 'completed', text: 'done', calls: [{ name, arguments: { path: 'a' } }] } } },
  { id: 'c07c-stop', title: 'a call with the finish reason stop is executed',
    answers: [chat.answer(chat.call({ id: 'k1', name, args: path('a') }), 'stop'), DONE_ANSWER],
    expect: { run: { status: 'completed', text: 'done', calls: [{ name, arguments: { path: 'a' } }] } } },
  assembled('c07k', 'control: two calls at index 0 with ids of their own are two calls',
    [{ id: 'k1', name, args: path('a') }, { id: 'k2', name, args: path('b') }], [{ path: 'a' }, { path: 'b' }]),

  assembled('c08a', 'a new id in each delta does not split a call',
    [{ id: 'c_1', name, args: '' }, { id: 'c_2', args: '{"path":' }, { id: 'c_3', args: '"src"}' }], [{ path: 'src' }]),
  assembled('c08b', 'a new id and the name again in each delta do not split a call',
    [{ id: 'c_1', name, args: '' }, { id: 'c_2', name, args: '{"path":' }, { id: 'c_3', name, args: '"src"}' }],
    [{ path: 'src' }]),
  assembled('c08b-second', 'of two calls with changing ids each keeps its own arguments',
    [{ id: 'c_1', name, args: '{"path":' }, { id: 'c_2', args: '"a"}' },
      { index: 1, id: 'c_3', name, args: '{"path":' }, { index: 1, id: 'c_4', args: '"b"}' }],
    [{ path: 'a' }, { path: 'b' }]),
  assembled('c20a', 'a tool name in two pieces is joined', [{ id: 'a', name: 'list_', args: '' }, { name: 'files' },
    { args: '{}' }], [{}]),
  assembled('c20a-three', 'a tool name in three pieces is joined',
    [{ id: 'a', name: 'li' }, { name: 'st_fi' }, { name: 'les', args: path('b') }], [{ path: 'b' }]),
  assembled('c20k', 'control: a whole tool name in each delta is not repeated',
    [{ id: 'a', name, args: '{"pa' }, { id: 'a', name, args: 'th":"src"}' }], [{ path: 'src' }]),
  assembled('c58a', 'an empty object before the arguments is replaced by them',
    [{ id: 'k1', name, args: '{}' }, { args: path('src') }], [{ path: 'src' }]),
  assembled('c58a-pieces', 'an empty object before arguments in pieces is replaced by them',
    [{ id: 'k1', name, args: '{}' }, { args: '{"path":' }, { args: '"src"}' }], [{ path: 'src' }]),
  assembled('c58a-repeated', 'arguments that are sent again whole are read once',
    [{ id: 'k1', name, args: path('src') }, { args: path('src') }], [{ path: 'src' }]),
  { id: 'c58a-anthropic', title: 'the input of a block start and the deltas of it are not joined', kind: 'anthropic',
    answers: [stream(messages.start(), { type: 'content_block_start', index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: path('src') } },
      { type: 'content_block_stop', index: 0 }, messages.end('tool_use')), DONE_ANSWER],
    expect: { run: { status: 'completed', calls: [{ name, arguments: { path: 'src' } }] } } },
  { id: 'c58a-start', title: 'the whole input in the block start is read', kind: 'anthropic',
    answers: [stream(messages.start(), messages.block(0, [{ type: 'tool_use', id: 'toolu_1', name,
      input: { path: 'src' } }]), messages.end('tool_use')), DONE_ANSWER],
    expect: { run: { status: 'completed', calls: [{ name, arguments: { path: 'src' } }] } } },

  { id: 'c10a', title: 'content in parts is text and reasoning',
    answers: [chat.answer([chat.text([{ type: 'thinking', thinking: [{ type: 'text', text: 'let me see' }],
      closed: true }]), chat.text([{ type: 'text', text: 'It is 42.' }])])],
    expect: { run: { status: 'completed', text: 'It is 42.', thoughts: 'let me see' } } },
  ...['reasoning', 'reasoning_content', 'reasoning_text'].map((member) => ({ id: `c10a-${member}`,
    title: `reasoning in the member ${member} is read`,
    answers: [chat.answer([chat.delta({ [member]: 'let me see' }), chat.text('It is 42.')])],
    expect: { run: { text: 'It is 42.', thoughts: 'let me see' } } })),
  { id: 'c55a', title: 'a call in DeepSeek\'s markup is text',
    answers: [stream(chat.text(markup.slice(0, 9)), chat.text(markup.slice(9)), chat.finish('stop'), DONE),
      DONE_ANSWER],
    decision: 'Text stays text: a model may quote this markup, so Runyard executes only what the provider '
      + 'reports as a call.',
    expect: { run: { status: 'completed', text: markup, calls: [] }, asked: 1 } },
];
