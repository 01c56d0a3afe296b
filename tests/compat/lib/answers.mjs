// Responses of model providers as sent bytes. A response is { status, headers, frames | body }; a frame is a `data:`
// line (an object is sent as JSON, a string verbatim), or one of raw() and latin1().

export const raw = (text) => ({ raw: text });  // written verbatim
export const latin1 = (text) => ({ bytes: Buffer.from(text, 'latin1') });  // for invalid UTF-8
export const stream = (...frames) => ({ frames: frames.flat() });
export const json = (body, { status = 200, headers = {} } = {}) => ({ status,
  headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
export const page = (body) => ({ headers: { 'content-type': 'text/html; charset=utf-8' }, body });
export const DONE = '[DONE]';

// Chat Completions (kind openai).
export const chat = {
  delta: (delta, more = {}) => ({ choices: [{ index: 0, delta, finish_reason: null, ...more }] }),
  text: (content) => chat.delta({ content }),
  thought: (reasoning_content) => chat.delta({ reasoning_content }),
  // One fragment of a tool call. Members that are undefined are not sent.
  call: ({ index = 0, id, name, args, ...more }) => chat.delta({ tool_calls: [{ index, id,
    type: id === undefined ? undefined : 'function', function: { name, arguments: args }, ...more }] }),
  finish: (finish_reason, more = {}) => ({ choices: [{ index: 0, delta: {}, finish_reason }], ...more }),
  // A complete response with these frames.
  answer: (frames, finish_reason = 'stop', more) => stream(...[frames].flat(), chat.finish(finish_reason, more), DONE),
  error: (message, { status = 400, headers, ...more } = {}) =>
    json({ error: { message, type: 'invalid_request_error', ...more } }, { status, headers }),
};

// Messages (kind anthropic).
export const messages = {
  text: (text) => [{ type: 'text', text: '' }, { type: 'text_delta', text }],
  thought: (thinking) => [{ type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking }],
  // Without `input` the block has no delta.
  call: (id, name, input) => [{ type: 'tool_use', id, name, input: {} }, input === undefined ? undefined
    : { type: 'input_json_delta', partial_json: typeof input === 'string' ? input : JSON.stringify(input) }],
  start: (usage) => ({ type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1, ...usage } } }),
  block: (index, [content_block, delta]) => [{ type: 'content_block_start', index, content_block },
    ...(delta ? [{ type: 'content_block_delta', index, delta }] : []), { type: 'content_block_stop', index }],
  end: (stop_reason, usage) => [{ type: 'message_delta', delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 5, ...usage } }, { type: 'message_stop' }],
  answer: (blocks, stop_reason = 'end_turn', { usage, startUsage } = {}) => stream(messages.start(startUsage),
    blocks.flatMap((b, i) => messages.block(i, b)), messages.end(stop_reason, usage)),
  error: (message, { status = 400, type = 'invalid_request_error', headers } = {}) =>
    json({ type: 'error', error: { type, message } }, { status, headers }),
};

// Responses API (kind openai, wire responses). `item` is an item as sent by the provider; its deltas are sent before
// it.
export const responses = {
  event: (type, more) => ({ type: `response.${type}`, sequence_number: 1, ...more }),
  message: (text, more = {}) => ({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }], ...more }),
  refusal: (refusal) => responses.message('', { content: [{ type: 'refusal', refusal }] }),
  call: (name, args = {}, { call_id = 'c1', ...more } = {}) => ({ type: 'function_call', id: `fc_${call_id}`,
    call_id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args), status: 'completed', ...more }),
  reasoning: (encrypted_content, summary = []) => ({ type: 'reasoning', id: `rs_${encrypted_content}`,
    summary: summary.map((text) => ({ type: 'summary_text', text })), encrypted_content }),
  usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 },
  start: () => responses.event('created', { response: { id: 'resp_1', object: 'response', status: 'in_progress',
    error: null, output: [], usage: null } }),
  item: (item, output_index) => {
    const at = { item_id: item.id, output_index };
    const deltas = { message: () => item.content.map((p, content_index) => (p.type === 'refusal'
      ? responses.event('refusal.delta', { ...at, content_index, delta: p.refusal })
      : responses.event('output_text.delta', { ...at, content_index, delta: p.text, logprobs: [] }))),
    function_call: () => [responses.event('function_call_arguments.delta', { ...at, delta: item.arguments })],
    reasoning: () => item.summary.map((p, summary_index) =>
      responses.event('reasoning_summary_text.delta', { ...at, summary_index, delta: p.text })) };
    return [responses.event('output_item.added', { output_index,
      item: { ...item, ...(item.arguments === undefined ? {} : { arguments: '' }), status: 'in_progress' } }),
    ...deltas[item.type](), responses.event('output_item.done', { output_index, item })];
  },
  end: (status, output, more = {}) => responses.event(status, { response: { id: 'resp_1', object: 'response', status,
    error: null, incomplete_details: null, output, usage: responses.usage, ...more } }),
  answer: (items, status = 'completed', more) => stream(responses.start(),
    items.flatMap((item, i) => responses.item(item, i)), responses.end(status, items, more)),
  error: (message, { status = 400, ...more } = {}) =>
    json({ error: { message, type: 'invalid_request_error', param: null, code: null, ...more } }, { status }),
};

// The response "done" and a response that calls one tool, for each API.
export const DONE_ANSWER = { chat: chat.answer(chat.text('done')), messages: messages.answer([messages.text('done')]),
  responses: responses.answer([responses.message('done')]) };
export const calling = (name, args = {}, id = 'call00001') => ({
  chat: chat.answer(chat.call({ id, name, args: JSON.stringify(args) }), 'tool_calls'),
  messages: messages.answer([messages.call(id, name, args)], 'tool_use'),
  responses: responses.answer([responses.call(name, args, { call_id: id })]),
});

// Adds the members of documented streams that the cases omit, because official clients require
// them: the role in the first delta, the type of a call that has an id, the message in message_start.
export function withEnvelope(answer, wire) {
  if (!answer.frames && answer.body === undefined) answer = answer[wire];
  if (!answer.frames) return answer;
  let first = true;
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null,
    stop_sequence: null };
  const frames = answer.frames.map((f) => {
    if (f.type === 'message_start') return { ...f, message: { ...message, ...f.message } };
    const delta = f.choices?.[0]?.delta;
    if (!delta) return f;
    const more = { ...(first && { role: 'assistant' }), ...delta };
    first = false;
    if (Array.isArray(delta.tool_calls))
      more.tool_calls = delta.tool_calls.map((c) => (c.id === undefined ? c : { type: 'function', ...c }));
    return { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...f,
      choices: [{ ...f.choices[0], delta: more }, ...f.choices.slice(1)] };
  });
  return { ...answer, frames };
}

// Returns status, headers and bytes of a response for an API ('chat', 'messages' or 'responses').
export function encode(answer, wire) {
  if (!answer.frames && answer.body === undefined) answer = answer[wire];
  const headers = { 'content-type': 'text/event-stream', ...answer.headers };
  const body = Buffer.concat((answer.frames ?? [{ raw: answer.body }]).map((f) => {
    if (typeof f === 'string') return Buffer.from(`data: ${f}\n\n`);
    if (f.raw !== undefined) return Buffer.from(f.raw);
    if (f.bytes) return f.bytes;
    return Buffer.from(`${wire !== 'chat' && f.type ? `event: ${f.type}\n` : ''}data: ${JSON.stringify(f)}\n\n`);
  }));
  return { status: answer.status ?? 200, headers, body };
}
