// OpenAI-compatible API, used by the npm client of OpenAI.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { png } from './lib/documents.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

let database, llm, server;

const weather = { name: 'get_weather', description: 'Weather of a city', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } };

let failedOnce = false;

async function respond(request, reply) {
  const prompt = lastUser(request);
  const done = turns(request).filter((m) => m.role === 'tool');
  if (prompt.includes('[weather]') && done.length === 0)
    return reply.tools([{ id: 'call_a', name: 'get_weather', arguments: { city: 'Paris' } }, { id: 'call_b', name: 'get_weather', arguments: { city: 'Rome' } }]);
  if (prompt.includes('[shell]') && done.length === 0)
    return reply.tools([{ id: 'call_s', name: 'shell', arguments: { command: 'echo from the sandbox' } }]);
  if (prompt.includes('[ask]') && done.length === 0)
    return reply.tools(Array.from({ length: prompt.includes('two') ? 2 : 1 }, (_, i) => ({ id: `call_${i}`, name: 'shell', arguments: { command: `echo ask ${i}` } }))
      .concat(prompt.includes('client') ? [{ id: 'call_w', name: 'get_weather', arguments: { city: 'Paris' } }] : []));
  if (done.length) return reply.say(`tools said: ${done.map((m) => m.content).join(' | ')}`);
  if (prompt.includes('[slow]')) {
    for (let i = 0; i < 400 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(50); }
    return reply.end();
  }
  if (prompt.includes('[sixty]')) {
    for (let i = 0; i < 60 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(40); }
    return reply.end();
  }
  if (prompt.includes('[large]')) {
    for (let i = 0; i < 300; i++) { reply.text(`${i}:${'x'.repeat(20000)} `); if (i % 20 === 0) await sleep(5); }
    return reply.end();
  }
  if (prompt.includes('[hang]')) { reply.text('begun '); return; }
  if (prompt.includes('[cut]')) { reply.text('a part of '); return reply.truncate(); }
  if (prompt.includes('[401]')) return reply.fail(401, {}, 'bad key sk-test-secret-value');
  if (prompt.includes('[once]') && !failedOnce) { failedOnce = true; reply.text('void text'); await sleep(50); return reply.cut(); }
  if (prompt.includes('[reason]')) {
    reply.res.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.res.write(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { reasoning_content: 'let me think' }, finish_reason: null }] })}\n\n`);
    return reply.say('42');
  }
  if (prompt.includes('[history]')) return reply.say(JSON.stringify(request.messages));
  for (const word of ['Hello', ' from', ' the', ' model']) reply.text(word);
  reply.end();
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(respond);
  server = await new Server({ database, llm, set: [], settings: `
[runs.vision]
"mock/power" = true
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
[openai_api]
approval_wait_seconds = 2
` }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

async function client(options = {}) {
  const user = await server.user(options.tier ? { tier: options.tier } : {});
  return Object.assign(new OpenAI({ apiKey: user.token, baseURL: `${server.url}/v1`, maxRetries: 0 }), { user });
}
const model = 'runyard/basic';
const sentFor = (word) => llm.seen.filter((c) => JSON.stringify(c.json.messages).includes(word)).map((c) => c.json);
async function collect(stream) {
  const events = [];
  for await (const e of stream) events.push(e);
  return events;
}
const types = (events) => events.map((e) => e.type);
const runOf = (id) => id.replace(/^resp_/, '').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const textOf = (events) => events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta).join('');
async function rejects(promise, status, check = {}) {
  const e = await promise.then(() => assert.fail('no error'), (error) => error);
  assert.equal(e.status, status, String(e.stack));
  for (const [name, value] of Object.entries(check))
    if (value instanceof RegExp) assert.match(String(e[name]), value); else assert.equal(e[name], value);
  return e;
}
const isCounting = (events) => events.every((e, i) => i === 0 || e.sequence_number > events[i - 1].sequence_number);
const threads = async (user) => (await user.get('/threads')).json.threads;

test('a response has the output, the usage and the members of the request', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: 'Say hello', instructions: 'Be brief', metadata: { order: '17' }, temperature: 0.5, max_output_tokens: 100 });
  assert.equal(r.output_text, 'Hello from the model');
  assert.equal(r.object, 'response');
  assert.equal(r.status, 'completed');
  assert.match(r.id, /^resp_[0-9a-f]{32}$/);
  assert.ok(Math.abs(r.created_at - Date.now() / 1000) < 60 && r.completed_at >= r.created_at);
  assert.deepEqual(r.metadata, { order: '17' });
  assert.equal(r.temperature, 0.5);
  assert.equal(r.instructions, 'Be brief');
  assert.deepEqual([r.usage.input_tokens, r.usage.output_tokens, r.usage.total_tokens, r.usage.input_tokens_details.cached_tokens], [10, 5, 15, 0]);
  const [sent] = sentFor('Say hello');
  assert.equal(sent.messages[0].content, 'Be brief');
  assert.equal(sent.temperature, 0.5);
  assert.equal(sent.max_tokens ?? sent.max_completion_tokens, 100);
  assert.ok(!sent.tools);
  assert.deepEqual(await ai.responses.retrieve(r.id), r);
});

test('a stream has the events of the Responses API, and the client accumulates the same response', async () => {
  const ai = await client();
  const events = await collect(await ai.responses.create({ model, input: 'Say hello', stream: true }));
  assert.deepEqual([...new Set(types(events))], ['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added', 'response.output_text.delta',
    'response.output_text.done', 'response.content_part.done', 'response.output_item.done', 'response.completed']);
  assert.equal(textOf(events), 'Hello from the model');
  assert.equal(events[0].sequence_number, 0);
  assert.ok(isCounting(events));
  assert.equal(events[0].response.status, 'in_progress');
  assert.deepEqual(events[0].response.output, []);
  const stream = ai.responses.stream({ model, input: 'Say hello' });
  const final = await stream.finalResponse();
  assert.equal(final.output_text, 'Hello from the model');
  assert.deepEqual((await ai.responses.retrieve(final.id)).output, final.output.map(({ content, ...o }) => ({ ...o, content: content.map(({ parsed, ...c }) => c) })));
  const raw = await ai.user.request('POST', '/v1/responses', { json: { model, input: 'Say hello', stream: true } });
  assert.match(raw.headers.get('content-type'), /^text\/event-stream/);
  assert.match(raw.text, /^event: response\.created\ndata: \{/);
  assert.match(raw.text, /\n\ndata: \[DONE\]\n\n$/);
});

// The members that every response of Open Responses has (specification of 2026-04-24); "null" may replace the type.
const openResponse = {
  id: 'string', object: 'string', created_at: 'integer', completed_at: 'integer|null', status: 'string', incomplete_details: 'object|null', model: 'string', previous_response_id: 'string|null', instructions: 'string|null',
  output: 'array', error: 'object|null', tools: 'array', tool_choice: 'string|object', truncation: 'string', parallel_tool_calls: 'boolean', text: 'object', top_p: 'number', presence_penalty: 'number', frequency_penalty: 'number',
  top_logprobs: 'integer', temperature: 'number', reasoning: 'object|null', usage: 'object|null', max_output_tokens: 'integer|null', max_tool_calls: 'integer|null', store: 'boolean', background: 'boolean', service_tier: 'string',
  metadata: 'object', safety_identifier: 'string|null', prompt_cache_key: 'string|null',
};
function checkOpenResponse(r) {
  for (const [name, types] of Object.entries(openResponse)) {
    const v = r[name];
    const kinds = v === null ? ['null'] : Array.isArray(v) ? ['array'] : Number.isInteger(v) ? ['integer', 'number'] : [typeof v];
    assert.ok(types.split('|').some((t) => kinds.includes(t)), `${name} must be ${types}: ${JSON.stringify(v)}`);
  }
  for (const item of r.output) assert.ok([item.id, item.type, item.status].every((v) => typeof v === 'string'), JSON.stringify(item));
}

test('the scenarios of the acceptance tests of Open Responses', async () => {
  const { user } = await client({ tier: 'enterprise' });
  const ask = (input, more = {}) => user.post('/v1/responses', { json: { model, input, ...more } });
  const message = (role, content, more = {}) => ({ type: 'message', role, content, ...more });
  const weatherTool = { type: 'function', ...weather };
  const scenarios = {
    'basic response': [[message('user', 'Say hello in exactly 3 words.')]],
    'phases of assistant messages': [[message('assistant', 'I look for the number.', { phase: 'commentary' }), message('assistant', 'It is four.', { phase: 'final_answer' }), message('user', 'Repeat it.')]],
    'system prompt': [[message('system', 'You are a pirate.'), message('user', 'Say hello.')]],
    'tool calling': [[message('user', '[weather]')], { tools: [weatherTool] }],
    'image input': [[message('user', [{ type: 'input_text', text: 'What is this?' }, { type: 'input_image', image_url: `data:image/png;base64,${png(4, 4).toString('base64')}` }])]],
    'several turns': [[message('user', 'My name is Alice.'), message('assistant', 'Hello Alice!'), message('user', 'What is my name?')]],
  };
  for (const [name, [input, more]] of Object.entries(scenarios)) {
    const r = await ask(input, more);
    assert.equal(r.status, 200, `${name}: ${r.text}`);
    assert.match(r.headers.get('content-type'), /^application\/json/);
    checkOpenResponse(r.json);
    assert.equal(r.json.status, 'completed', name);
    assert.ok(r.json.output.some((item) => item.type === (more?.tools ? 'function_call' : 'message')), name);
    // The same as a stream: each event has the name of its type, items and parts begin before their deltas, and the end is literal.
    const { text } = await ask(input, { ...more, stream: true });
    const blocks = text.split('\n\n').filter((b) => b && !b.startsWith(':'));
    assert.equal(blocks.pop(), 'data: [DONE]', name);
    const events = blocks.map((b) => {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(b);
      const parsed = JSON.parse(data);
      assert.equal(parsed.type, event);
      return parsed;
    });
    assert.ok(isCounting(events), name);
    const open = new Set();
    for (const e of events) {
      if (e.response) checkOpenResponse(e.response);
      if (e.type === 'response.output_item.added') open.add(e.item.id);
      if (e.item_id) assert.ok(open.has(e.item_id), `${e.type} of an item that has not begun`);
      if (e.type === 'response.output_item.done') assert.ok(open.delete(e.item.id));
    }
    assert.equal(open.size, 0, name);
    assert.deepEqual([events[0].type, events.at(-1).type, events.at(-1).response.status], ['response.created', 'response.completed', 'completed']);
  }
});

test('the stream of a stored response is the same in every replay, and starting_after continues it', async () => {
  const ai = await client();
  const events = await collect(await ai.responses.create({ model, input: 'Say hello', stream: true }));
  const id = events[0].response.id;
  assert.deepEqual(await collect(await ai.responses.retrieve(id, { stream: true })), events);
  for (const at of [0, 3, events.length - 2])
    assert.deepEqual(await collect(await ai.responses.retrieve(id, { stream: true, starting_after: events[at].sequence_number })), events.slice(at + 1));
  assert.deepEqual(await collect(await ai.responses.retrieve(id, { stream: true, starting_after: events.at(-1).sequence_number })), []);
  await rejects(ai.responses.retrieve(id, { stream: true, starting_after: -5 }), 400, { param: 'starting_after' });
});

test('previous_response_id continues the thread, and an older response begins another one', async () => {
  const ai = await client();
  const first = await ai.responses.create({ model, input: [{ role: 'developer', content: 'Rule one' }, { role: 'user', content: 'first question' }] });
  const second = await ai.responses.create({ model, input: 'second [history]', previous_response_id: first.id });
  assert.equal(second.previous_response_id, first.id);
  assert.deepEqual(second.conversation, first.conversation);
  assert.deepEqual(JSON.parse(second.output_text).map((m) => [m.role, m.content]), [['system', 'Rule one'], ['user', 'first question'], ['assistant', 'Hello from the model'], ['user', 'second [history]']]);
  // The first response is no longer the last of its thread.
  const fork = await ai.responses.create({ model, input: 'third [history]', previous_response_id: first.id });
  assert.notDeepEqual(fork.conversation, first.conversation);
  assert.deepEqual(JSON.parse(fork.output_text).map((m) => m.content), ['Rule one', 'first question', 'Hello from the model', 'third [history]']);
  const inConversation = await ai.responses.create({ model, input: 'fourth [history]', conversation: first.conversation.id });
  assert.deepEqual(inConversation.conversation, first.conversation);
  assert.ok(JSON.parse(inConversation.output_text).some((m) => m.content === 'second [history]'));
  const stateless = await ai.responses.create({ model, input: 'fifth [history]', previous_response_id: second.id, store: false });
  assert.ok(JSON.parse(stateless.output_text).some((m) => m.content === 'second [history]'));
  assert.ok(!stateless.output_text.includes('fourth'));
  assert.equal(stateless.conversation, null);
  assert.equal((await ai.responses.retrieve(second.id)).status, 'completed', 'store: false does not delete the thread of the previous response');
  const items = (await ai.responses.inputItems.list(second.id, { order: 'asc' })).data;
  assert.deepEqual(items.map((i) => [i.role, i.content[0].text]), [['user', 'second [history]']]);
  const forked = (await ai.responses.inputItems.list(fork.id, { order: 'asc' })).data;
  assert.deepEqual(forked.map((i) => i.content[0].text), ['first question', 'Hello from the model', 'third [history]']);
  const page = await ai.responses.inputItems.list(fork.id, { limit: 2 });
  assert.deepEqual([page.data.length, page.has_more], [2, true]);
  assert.equal((await collect(page)).length, 3, 'the client reads all pages');
});

test('function tools: calls, their outputs, and the answer; with and without stored state', async () => {
  const ai = await client();
  const tools = [{ type: 'function', strict: true, ...weather }];
  const first = await ai.responses.create({ model, input: '[weather]', tools, tool_choice: 'auto' });
  assert.equal(first.status, 'completed');
  assert.deepEqual(first.output.map((o) => [o.type, o.call_id, o.name, o.arguments, o.status]), [['function_call', 'call_a', 'get_weather', '{"city":"Paris"}', 'completed'], ['function_call', 'call_b', 'get_weather', '{"city":"Rome"}', 'completed']]);
  assert.deepEqual(first.tools, tools);
  const outputs = [{ type: 'function_call_output', call_id: 'call_a', output: 'sun' }, { type: 'function_call_output', call_id: 'call_b', output: [{ type: 'input_text', text: 'rain' }] }];
  await rejects(ai.responses.create({ model, input: [{ type: 'function_call_output', call_id: 'call_x', output: 'x' }], tools, previous_response_id: first.id }), 400, { param: 'input' });
  const second = await ai.responses.create({ model, input: outputs, tools, previous_response_id: first.id });
  assert.equal(second.output_text, 'tools said: sun | rain');
  const again = await ai.responses.create({ model, tools, store: false, input: [{ role: 'user', content: '[weather]' }, ...first.output, ...outputs] });
  assert.equal(again.output_text, 'tools said: sun | rain');
  const references = await ai.responses.create({ model, tools, input: [{ role: 'user', content: '[weather]' }, ...first.output.map((o) => ({ type: 'item_reference', id: o.id })), ...outputs] });
  assert.equal(references.output_text, 'tools said: sun | rain');
  const events = await collect(await ai.responses.create({ model, input: '[weather]', tools, stream: true }));
  assert.deepEqual(events.filter((e) => e.type === 'response.function_call_arguments.done').map((e) => JSON.parse(e.arguments).city), ['Paris', 'Rome']);
  const stream = ai.responses.stream({ model, input: '[weather]', tools });
  assert.deepEqual((await stream.finalResponse()).output.map((o) => o.parsed_arguments), [{ city: 'Paris' }, { city: 'Rome' }]);
});

test('max_tool_calls and truncation are repeated with the values that apply', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: 'Say hello', max_tool_calls: 3, truncation: 'disabled' });
  assert.deepEqual([r.max_tool_calls, r.truncation], [3, 'auto']);
});

test('tool_choice allows only some tools', async () => {
  const ai = await client();
  const tools = [{ type: 'function', ...weather }, { type: 'function', name: 'other', parameters: { type: 'object', properties: {} } }];
  await ai.responses.create({ model, input: 'choice one', tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'other' }] } });
  assert.deepEqual(sentFor('choice one')[0].tools.map((t) => t.function.name), ['other']);
  await ai.responses.create({ model, input: 'choice two', tools, tool_choice: 'none' });
  assert.equal(sentFor('choice two')[0].tool_choice, 'none');
  await ai.responses.create({ model, input: 'choice three', tools, tool_choice: { type: 'function', name: 'other' } });
  assert.equal(sentFor('choice three')[0].tool_choice.function.name, 'other');
});

test('agents run with their own tools, which are mcp_call items', async () => {
  const ai = await client();
  const { agents } = (await ai.user.get('/agents')).json;
  const r = await ai.responses.create({ model: 'agent', input: '[shell]', instructions: 'Extra rule' });
  assert.equal(r.model, 'agent');
  assert.deepEqual(r.output.map((o) => o.type), ['mcp_call', 'message']);
  assert.equal(r.output[0].server_label, 'sandbox');
  assert.equal(r.output[0].name, 'shell');
  assert.match(r.output[0].output, /from the sandbox/);
  assert.match(r.output_text, /from the sandbox/);
  assert.match(sentFor('Extra rule')[0].messages[0].content, /Extra rule/);
  const events = await collect(await ai.responses.create({ model: `agent/${agents[0].agent_id}`, input: '[shell]', stream: true }));
  for (const type of ['response.mcp_call.in_progress', 'response.mcp_call_arguments.done', 'response.mcp_call.completed']) assert.ok(types(events).includes(type), type);
  const final = await ai.responses.stream({ model: 'agent', input: '[shell]' }).finalResponse();
  assert.equal(final.status, 'completed');
  await rejects(ai.responses.create({ model: 'agent/01234567-89ab-4cde-8f01-23456789abcd', input: 'x' }), 404);
  await rejects(ai.responses.create({ model: 'agent/x', input: 'x' }), 404, { code: 'model_not_found' });
});

test('reasoning is a reasoning item before the message', async () => {
  const ai = await client();
  const events = await collect(await ai.responses.create({ model, input: '[reason]', stream: true, reasoning: { effort: 'high' } }));
  const { response } = events.at(-1);
  assert.deepEqual(response.output.map((o) => o.type), ['reasoning', 'message']);
  assert.equal(response.output[0].summary[0].text, 'let me think');
  assert.equal(response.reasoning.effort, 'high');
  for (const type of ['response.reasoning_summary_part.added', 'response.reasoning_summary_text.delta', 'response.reasoning_summary_text.done', 'response.reasoning_summary_part.done']) assert.ok(types(events).includes(type), type);
  assert.equal((await ai.responses.stream({ model, input: '[reason]' }).finalResponse()).output_text, '42');
});

test('the text of a failed attempt ends as an incomplete item that the response does not contain', async () => {
  const ai = await client();
  const stream = ai.responses.stream({ model, input: '[once]' });
  const events = [];
  stream.on('event', (e) => events.push(e));
  const final = await stream.finalResponse();
  assert.equal(final.output_text, 'Hello from the model');
  assert.equal(final.output.length, 1);
  const done = events.filter((e) => e.type === 'response.output_item.done');
  assert.deepEqual(done.map((e) => e.item.status), ['incomplete', 'completed']);
});

test('a client limit of output tokens makes a truncated response incomplete', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: '[cut]', max_output_tokens: 10 });
  assert.deepEqual([r.status, r.incomplete_details, r.output_text], ['incomplete', { reason: 'max_output_tokens' }, 'a part of ']);
  const events = await collect(await ai.responses.create({ model, input: '[cut]', max_output_tokens: 10, stream: true }));
  assert.equal(events.at(-1).type, 'response.incomplete');
  const b = await ai.chat.completions.create({ model, messages: [{ role: 'user', content: '[cut]' }], max_tokens: 10 });
  assert.deepEqual([b.choices[0].finish_reason, b.choices[0].message.content], ['length', 'a part of ']);
});

test('a failed run is a failed response without details of the provider', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: '[401]' });
  assert.equal(r.status, 'failed');
  assert.equal(r.error.code, 'server_error');
  assert.doesNotMatch(JSON.stringify(r), /sk-test|127\.0\.0\.1|bad key/);
  const events = await collect(await ai.responses.create({ model, input: '[401]', stream: true }));
  assert.equal(events.at(-1).type, 'response.failed');
  const e = await rejects(ai.chat.completions.create({ model, messages: [{ role: 'user', content: '[401]' }] }), 500, { code: 'server_error' });
  assert.equal(e.headers.get('x-should-retry'), 'false');
  await assert.rejects(async () => collect(await ai.chat.completions.create({ model, messages: [{ role: 'user', content: '[401]' }], stream: true })), OpenAI.APIError);
});

test('background responses are polled, streamed and cancelled', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: '[slow]', background: true });
  assert.ok(['queued', 'in_progress'].includes(r.status), r.status);
  assert.equal(r.background, true);
  const partial = await waitFor('some text', async () => { const now = await ai.responses.retrieve(r.id); return now.output.length > 0 && now; });
  assert.equal(partial.status, 'in_progress');
  assert.equal(partial.usage, null);
  const cancelled = await ai.responses.cancel(r.id);
  assert.equal(cancelled.status, 'cancelled');
  assert.deepEqual(await ai.responses.cancel(r.id), cancelled);
  const events = await collect(await ai.responses.retrieve(r.id, { stream: true }));
  assert.equal(events.at(-1).type, 'response.incomplete');
  assert.equal(events.at(-1).response.status, 'cancelled');
  const stream = await ai.responses.create({ model, input: '[sixty]', background: true, stream: true });
  const seen = [];
  for await (const e of stream) { seen.push(e); if (textOf(seen).includes('w5 ')) break; }
  const rest = await collect(await ai.responses.retrieve(seen[0].response.id, { stream: true, starting_after: seen.at(-1).sequence_number }));
  assert.ok(isCounting([...seen, ...rest]));
  assert.equal(textOf([...seen, ...rest]), Array.from({ length: 60 }, (_, i) => `w${i} `).join(''), 'a background response continues without its client');
  await rejects(ai.responses.create({ model, input: 'x', background: true, store: false }), 400, { param: 'background' });
});

test('a background response survives kill -9 of the server, and its stream resumes', async () => {
  const ai = await client();
  const stream = await ai.responses.create({ model, input: '[sixty]', background: true, stream: true });
  const seen = [];
  try {
    for await (const e of stream) { seen.push(e); if (textOf(seen).includes('w20 ')) break; }
  } catch { /* the connection ends */ }
  const { id } = seen[0].response;
  await server.kill();
  await server.start();
  const again = new OpenAI({ apiKey: ai.user.token, baseURL: `${server.url}/v1` });
  const rest = await collect(await again.responses.retrieve(id, { stream: true, starting_after: seen.at(-1).sequence_number }));
  assert.ok(isCounting([...seen, ...rest]));
  assert.equal(rest.at(-1).type, 'response.completed');
  const text = Array.from({ length: 60 }, (_, i) => `w${i} `).join('');
  assert.equal(rest.at(-1).response.output.map((o) => o.content[0].text).join(''), text);
  const replay = await collect(await again.responses.retrieve(id, { stream: true }));
  assert.deepEqual(replay.filter((e) => e.sequence_number > seen.at(-1).sequence_number), rest, 'a replay has the same numbers');
  const resumed = await again.responses.stream({ response_id: id, starting_after: seen.at(-1).sequence_number }).finalResponse();
  assert.equal(resumed.output_text, text);
});

test('a client that disconnects stops a foreground run', async () => {
  const ai = await client();
  for (const request of [{ stream: true }, {}, { stream: true, store: false }]) {
    const before = (await threads(ai.user)).length;
    const abort = new AbortController();
    const call = llm.seen.length;
    const pending = ai.responses.create({ model, input: '[hang]', ...request }, { signal: abort.signal });
    if (request.stream) {
      const stream = await pending;
      for await (const e of stream) if (e.type === 'response.output_text.delta') break;
    } else {
      await waitFor('the model request', () => llm.seen.length > call);
      abort.abort();
      await assert.rejects(pending);
    }
    await waitFor('the end of the model request', () => llm.seen[call]?.closedAt);
    await waitFor('the end of the run', async () => (await ai.user.get('/agent-runs/active')).json.active_runs?.length === 0 || (await ai.user.get('/agent-runs?status=running')).json.agent_runs.length === 0);
    assert.equal((await threads(ai.user)).length, before + (request.store === false ? 0 : 1));
  }
});

test('store: false and chat completions leave no thread', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: 'Say hello', store: false });
  assert.equal(r.store, false);
  await rejects(ai.responses.retrieve(r.id), 404);
  await ai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Say hello' }] });
  await collect(await ai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Say hello' }], stream: true }));
  await waitFor('the deletion of the threads', async () => (await threads(ai.user)).length === 0);
});

test('the thread of a temporary response is deleted after a crash', async () => {
  const ai = await client();
  const pending = ai.chat.completions.create({ model, messages: [{ role: 'user', content: '[sixty]' }] }).catch(() => {});
  await waitFor('the run', async () => (await threads(ai.user)).length === 1);
  await server.kill();
  await pending;
  database.sql("update core.job set run_at = now() where kind = 'openai_api.delete_temporary'");
  await server.start();
  ai.user.server = server;
  await waitFor('the end of the run', async () => (await ai.user.get('/agent-runs?status=running')).json.agent_runs.length === 0, 30000);
  database.sql("update core.job set run_at = now() where kind = 'openai_api.delete_temporary'");
  await waitFor('the deletion of the thread', async () => {
    database.sql("update core.job set run_at = now() where kind = 'openai_api.delete_temporary'");
    return (await threads(ai.user)).length === 0;
  }, 30000);
});

test('the thread of a temporary request with files is deleted after a crash, and its job exists before the start', async () => {
  const ai = await client();
  const file = (content) => ({ type: 'file', file: { filename: 'notes.txt', file_data: Buffer.from(content).toString('base64') } });
  const request = (content) => ({ model, messages: [{ role: 'user', content: [{ type: 'text', text: '[sixty]' }, file(content)] }] });
  const jobs = "from core.job where kind = 'openai_api.delete_chosen'";
  const pending = ai.chat.completions.create(request('apples')).catch(() => {});
  await waitFor('the run', async () => (await threads(ai.user)).length === 1);
  const [thread] = await threads(ai.user);
  assert.equal(database.sql(`select count(*) ${jobs} and args->>'thread_id' = '${thread.thread_id ?? thread.id}'`), '1');
  await server.kill();
  await pending;
  await server.start();
  ai.user.server = server;
  const deleted = (user) => waitFor('the deletion of the thread', async () => {
    database.sql(`update core.job set run_at = now() where kind = 'openai_api.delete_chosen'`);
    return (await threads(user)).length === 0;
  }, 30000);
  await deleted(ai.user);
  // A repeated request chooses the same thread, so it is the same start.
  const again = await client();
  const headers = { 'Idempotency-Key': 'files-1' };
  const keyed = { model, messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello' }, file('pears')] }] };
  const first = await again.chat.completions.create(keyed, { headers });
  assert.deepEqual(await again.chat.completions.create(keyed, { headers }), first);
  await deleted(again.user);
  await rejects(again.chat.completions.create(keyed, { headers }), 404);
});

test('a start with files that is refused leaves nothing behind', async () => {
  const ai = await client();
  const file = { type: 'input_file', filename: 'notes.txt', file_data: Buffer.from('apples').toString('base64') };
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'x' }, file] }];
  const format = { type: 'json_schema', name: 'a', schema: { if: {} } };
  await rejects(ai.responses.create({ model, store: false, input, text: { format } }), 400, { param: 'text.format.schema' });
  assert.deepEqual(await threads(ai.user), []);
  const job = `from core.job where kind = 'openai_api.delete_chosen' and args->>'account_id' = '${ai.user.id}'`;
  assert.equal(database.sql(`select count(*) ${job}`), '1');
  // The first look finds no thread and waits for a start that has not committed; the second one ends the job.
  database.sql("update core.job set run_at = now() where kind = 'openai_api.delete_chosen'");
  await waitFor('the first look', () => database.sql(`select count(*) ${job} and run_at > now() + interval '10 minutes'`) === '1');
});

test('DELETE removes a response, and the thread with its last response', async () => {
  const ai = await client();
  const a = await ai.responses.create({ model, input: 'one' });
  const b = await ai.responses.create({ model, input: 'two', previous_response_id: a.id });
  await ai.responses.delete(a.id);
  await rejects(ai.responses.retrieve(a.id), 404);
  assert.equal((await ai.responses.retrieve(b.id)).id, b.id);
  assert.equal((await threads(ai.user)).length, 1);
  const raw = await ai.user.request('DELETE', `/v1/responses/${b.id}`);
  assert.deepEqual(raw.json, { id: b.id, object: 'response', deleted: true });
  assert.equal((await threads(ai.user)).length, 0);
  await rejects(ai.responses.delete(b.id), 404);
  // A thread with a run of another client stays.
  const c = await ai.responses.create({ model, input: 'three' });
  const thread = runOf(c.conversation.id.replace('conv_', 'resp_'));
  const own = await ai.user.start({ prompt: 'Say hello', thread_id: thread });
  await ai.user.stream(own.json.agent_run_id);
  await ai.responses.delete(c.id);
  assert.equal((await threads(ai.user)).length, 1);
});

test('images and files of a request reach the model', async () => {
  const ai = await client({ tier: 'pro' });
  const image = `data:image/png;base64,${png(4, 4).toString('base64')}`;
  const r = await ai.responses.create({ model: 'runyard/power', input: [{ role: 'user', content: [{ type: 'input_text', text: 'picture one' }, { type: 'input_image', image_url: image, detail: 'auto' }] }] });
  assert.equal(r.status, 'completed', JSON.stringify(r.error));
  const parts = sentFor('picture one')[0].messages.at(-1).content;
  assert.ok(Array.isArray(parts) && parts.some((p) => p.type === 'image_url' && p.image_url.url === image), JSON.stringify(parts).slice(0, 500));
  await ai.responses.create({ model, input: [{ role: 'user', content: [{ type: 'input_text', text: 'file one' }, { type: 'input_file', filename: 'notes.txt', file_data: Buffer.from('forty-two apples').toString('base64') }] }] });
  assert.match(lastUser(sentFor('file one')[0]), /notes\.txt/);
  const chat = await ai.chat.completions.create({ model: 'runyard/power', messages: [
    { role: 'user', content: [{ type: 'text', text: 'picture two' }, { type: 'image_url', image_url: { url: image } }] }, { role: 'assistant', content: 'A square.' }, { role: 'user', content: 'Which colour?' }] });
  assert.ok(chat.choices[0].message.content);
  const sent = sentFor('picture two')[0].messages;
  assert.match(JSON.stringify(sent[1].content), /Attached to the last message: image_1\.png/);
  assert.ok(sent.at(-1).content.some?.((p) => p.type === 'image_url'), 'images of earlier messages are attached to the last one');
  for (const url of ['https://example.org/x.png', 'file:///etc/passwd', 'data:image/png,plain'])
    await rejects(ai.responses.create({ model, input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }), 400, { param: 'input[0].content[0].image_url' });
  await rejects(ai.responses.create({ model, input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] }), 400, { param: 'input[0].content[0].file_id' });
});

test('chat completions: message, usage, and the messages that the model gets', async () => {
  const ai = await client();
  const c = await ai.chat.completions.create({ model, messages: [{ role: 'system', content: 'Be brief' }, { role: 'user', content: 'one' }, { role: 'assistant', content: 'two' }, { role: 'user', content: [{ type: 'text', text: 'three [history]' }] }] });
  assert.equal(c.object, 'chat.completion');
  assert.match(c.id, /^chatcmpl-/);
  assert.deepEqual(JSON.parse(c.choices[0].message.content).map((m) => [m.role, m.content]), [['system', 'Be brief'], ['user', 'one'], ['assistant', 'two'], ['user', 'three [history]']]);
  assert.equal(c.choices[0].finish_reason, 'stop');
  assert.deepEqual([c.usage.prompt_tokens, c.usage.completion_tokens, c.usage.total_tokens], [10, 5, 15]);
  const chunks = await collect(await ai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Say hello' }], stream: true, stream_options: { include_usage: true } }));
  assert.equal(chunks[0].choices[0].delta.role, 'assistant');
  assert.equal(chunks.map((x) => x.choices[0]?.delta.content ?? '').join(''), 'Hello from the model');
  assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop');
  assert.deepEqual([chunks.at(-1).choices, chunks.at(-1).usage.total_tokens], [[], 15]);
  const raw = await ai.user.request('POST', '/v1/chat/completions', { json: { model, messages: [{ role: 'user', content: 'hi' }], stream: true } });
  assert.match(raw.text, /\n\ndata: \[DONE\]\n\n$/);
  assert.doesNotMatch(raw.text, /"usage"|^event:/m);
  const agent = await ai.chat.completions.create({ model: 'agent', messages: [{ role: 'user', content: '[shell]' }] });
  assert.match(agent.choices[0].message.content, /from the sandbox/);
});

test('chat completions: runTools calls the functions of the client', async () => {
  const ai = await client();
  for (const stream of [false, true]) {
    const cities = [];
    const runner = ai.chat.completions.runTools({ model, stream, messages: [{ role: 'user', content: '[weather]' }],
      tools: [{ type: 'function', function: { ...weather, parse: JSON.parse, function: ({ city }) => { cities.push(city); return `sun in ${city}`; } } }] });
    assert.equal(await runner.finalContent(), 'tools said: sun in Paris | sun in Rome');
    assert.deepEqual(cities, ['Paris', 'Rome']);
  }
  await rejects(ai.chat.completions.create({ model, messages: [{ role: 'user', content: 'x' }, { role: 'tool', tool_call_id: 'none', content: 'y' }] }), 400, { param: 'messages' });
});

test('models lists the models of the plan and the agents of the account', async () => {
  const ai = await client();
  const list = (await ai.models.list()).data;
  const ids = list.map((m) => m.id);
  const { agents } = (await ai.user.get('/agents')).json;
  assert.ok(ids.includes(model));
  assert.ok(ids.includes('agent') && ids.includes(`agent/${agents[0].agent_id}`));
  for (const id of ids) assert.equal((await ai.models.retrieve(id)).id, id);
  // Some clients do not encode the slash in names.
  const status = await new Promise((resolve) => http.get(`${server.url}/v1/models/${model}`, { headers: { authorization: `Bearer ${ai.user.token}` } }, (res) => { res.resume(); resolve(res.statusCode); }));
  assert.equal(status, 200);
  await rejects(ai.models.retrieve('no/such'), 404, { code: 'model_not_found' });
});

test('a client that reads slowly gets the complete stream', async () => {
  const ai = await client();
  const stream = await ai.responses.create({ model, input: '[large]', stream: true });
  const events = [];
  for await (const e of stream) {
    if (events.length < 10) await sleep(200);
    events.push(e);
  }
  assert.equal(events.at(-1).type, 'response.completed');
  assert.equal(textOf(events).length, events.at(-1).response.output[0].content[0].text.length);
  assert.ok(textOf(events).length > 6_000_000);
});

test('other accounts cannot see a response', async () => {
  const ai = await client(), other = await client();
  const r = await ai.responses.create({ model, input: 'secret' });
  await rejects(other.responses.retrieve(r.id), 404);
  await rejects(other.responses.retrieve(r.id, { stream: true }), 404);
  await rejects(other.responses.cancel(r.id), 404);
  await rejects(other.responses.delete(r.id), 404);
  await rejects(other.responses.inputItems.list(r.id), 404);
  await rejects(other.responses.create({ model, input: 'x', previous_response_id: r.id }), 400, { code: 'previous_response_not_found' });
  await rejects(other.responses.create({ model, input: 'x', conversation: r.conversation.id }), 404);
  await rejects(other.responses.create({ model, input: [{ type: 'item_reference', id: r.output[0].id }, { role: 'user', content: 'x' }] }), 404);
  // The same applies to a run that was started through another API; its own account can read it.
  const run = await ai.user.start({ prompt: 'Say hello' });
  const id = `resp_${run.json.agent_run_id.replaceAll('-', '')}`;
  await rejects(other.responses.retrieve(id), 404);
  await ai.user.stream(run.json.agent_run_id);
  assert.equal((await ai.responses.retrieve(id)).status, 'completed');
  await rejects(new OpenAI({ apiKey: 'x', baseURL: `${server.url}/v1`, maxRetries: 0 }).models.list(), 401);
});

test('a repeated request with the same Idempotency-Key is the same response', async () => {
  const ai = await client();
  const headers = { 'Idempotency-Key': 'order-17' };
  const a = await ai.responses.create({ model, input: 'Say hello' }, { headers });
  assert.deepEqual(await ai.responses.create({ model, input: 'Say hello' }, { headers }), a);
  await rejects(ai.responses.create({ model, input: 'Say something else' }, { headers }), 409);
  const chat = { model, messages: [{ role: 'user', content: 'Say hello' }] };
  const first = await ai.chat.completions.create(chat, { headers: { 'Idempotency-Key': 'chat-1' } });
  assert.deepEqual(await ai.chat.completions.create(chat, { headers: { 'Idempotency-Key': 'chat-1' } }), first);
  await rejects(ai.responses.create({ model, input: 'x' }, { headers: { 'Idempotency-Key': 'k'.repeat(201) } }), 400);
});

test('invalid requests name the member', async () => {
  const ai = await client();
  const bad = [
    [{ model: 5, input: 'x' }, 'model'], [{ model: 'no/such', input: 'x' }, 'model', 404], [{ model }, 'input'], [{ model, input: 5 }, 'input'], [{ model, input: [] }, 'input'],
    [{ model, input: '  ' }, 'input'], [{ model, input: [5] }, 'input[0]'], [{ model, input: [{ role: 'robot', content: 'x' }] }, 'input[0].role'], [{ model, input: [{ role: 'user' }] }, 'input[0].content'],
    [{ model, input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'input[0].content[0].type'], [{ model, input: [{ type: 'computer_call' }] }, 'input[0].type'],
    [{ model, input: [{ role: 'assistant', content: 'x' }] }, 'input'], [{ model, input: [{ type: 'function_call_output', call_id: 'a', output: 'x' }] }, 'input'],
    [{ model, input: [{ type: 'function_call', call_id: 'a', name: 'f', arguments: '[1]' }, { role: 'user', content: 'x' }] }, 'input[0].arguments'],
    [{ model, input: 'x', tools: [{ type: 'web_search' }] }, 'tools[0].type'], [{ model, input: 'x', tools: [{ type: 'function', name: 'a b' }] }, 'tools[0].name'],
    [{ model, input: 'x', tools: [{ type: 'function', name: 'a' }, { type: 'function', name: 'a' }] }, 'tools[1].name'], [{ model, input: 'x', tools: {} }, 'tools'],
    [{ model, input: 'x', tool_choice: 'maybe' }, 'tool_choice'], [{ model, input: 'x', tool_choice: { type: 'mcp' } }, 'tool_choice.type'],
    [{ model, input: 'x', temperature: 3 }, 'temperature'], [{ model, input: 'x', temperature: '1' }, 'temperature'], [{ model, input: 'x', top_p: -1 }, 'top_p'],
    [{ model, input: 'x', max_output_tokens: 0 }, 'max_output_tokens'], [{ model, input: 'x', max_output_tokens: 1.5 }, 'max_output_tokens'], [{ model, input: 'x', reasoning: { effort: 'huge' } }, 'reasoning.effort'],
    [{ model, input: 'x', stream: 'yes' }, 'stream'], [{ model, input: 'x', metadata: { a: 1 } }, 'metadata.a'], [{ model, input: 'x', previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ model, input: 'x', conversation: 'conv_1' }, 'conversation', 404], [{ model, input: 'x', instructions: 5 }, 'instructions'], [{ model, input: 'x', prompt: { id: 'p' } }, 'prompt'],
    [{ model, input: 'x', text: { format: { type: 'grammar' } } }, 'text.format.type'], [{ model, input: 'x', truncation: 'some' }, 'truncation'], [{ model, input: 'x', max_tool_calls: 0 }, 'max_tool_calls'],
    [{ model: 'agent', input: 'x', max_tool_calls: 3 }, 'max_tool_calls'],
  ];
  for (const [json, param, status = 400] of bad) {
    const r = await ai.user.request('POST', '/v1/responses', { json });
    assert.equal(r.status, status, JSON.stringify([json, r.json]));
    assert.equal(r.json.error.param, param, JSON.stringify([json, r.json]));
    assert.equal(typeof r.json.error.message, 'string');
  }
  const user = { role: 'user', content: 'x' };
  const chats = [
    [{ model }, 'messages'], [{ model, messages: [] }, 'messages'], [{ model, messages: [5] }, 'messages[0]'], [{ model, messages: [{ role: 'x', content: 'x' }] }, 'messages[0].role'],
    [{ model, messages: [user], n: 2 }, 'n'], [{ model, messages: [user], stop: ['a'] }, 'stop'], [{ model, messages: [user], logprobs: true }, 'logprobs'], [{ model, messages: [user], functions: [] }, 'functions'],
    [{ model, messages: [user], tools: [{ type: 'function' }] }, 'tools[0].function'], [{ model, messages: [user], tools: [{ type: 'custom' }] }, 'tools[0].type'], [{ model, messages: [{ role: 'assistant', content: 'x' }] }, 'messages'],
    [{ model, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/x' } }] }] }, 'messages[0].content[0].image_url.url'], [{ model, messages: [user], max_tokens: 'x' }, 'max_tokens'],
    [{ model, messages: [user], response_format: { type: 'xml' } }, 'response_format.type'],
  ];
  for (const [json, param] of chats) {
    const r = await ai.user.request('POST', '/v1/chat/completions', { json });
    assert.equal(r.status, 400, JSON.stringify([json, r.json]));
    assert.equal(r.json.error.param, param, JSON.stringify([json, r.json]));
  }
});

test('hostile bodies get an error in the format of the API', async () => {
  const ai = await client();
  const deep = '['.repeat(100000);
  const bodies = ['', '{', '[]', '"x"', 'null', `{"input":${deep}`, `{"model":"${model}","input":"a\\u0000b"}`, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    JSON.stringify({ model, input: Array.from({ length: 3000 }, () => ({ role: 'user', content: 'x' })) }), JSON.stringify({ model, input: 'x', tools: Array.from({ length: 200 }, (_, i) => ({ type: 'function', name: `f${i}` })) }),
    JSON.stringify({ model, input: 'x', instructions: 'x'.repeat(100000) }), `{"model":"${model}","input":"x","temperature":1e999}`];
  for (const path of ['/v1/responses', '/v1/chat/completions'])
    for (const body of bodies) {
      const r = await ai.user.request('POST', path, { body, headers: { 'content-type': 'application/json' } });
      assert.equal(r.status, 400, `${path} ${String(body).slice(0, 60)} ${r.text}`);
      assert.equal(r.json.error.type, 'invalid_request_error');
    }
  const huge = await ai.user.request('POST', '/v1/responses', { body: `{"input":"${'x'.repeat(33 << 20)}"}`, headers: { 'content-type': 'application/json' } }).catch(() => ({ status: 413 }));
  assert.equal(huge.status, 413);
  const long = await ai.user.request('POST', '/v1/responses', { json: { model, input: Array.from({ length: 1200 }, () => [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }]).flat().slice(0, 1999) } });
  assert.equal(long.status, 400, long.text);
  for (const id of ['resp_', 'x', `resp_${'0'.repeat(32)}`, `resp_${'g'.repeat(32)}`, '%00', `msg_${'0'.repeat(32)}_1`]) {
    const r = await ai.user.get(`/v1/responses/${id}`);
    assert.ok([400, 404].includes(r.status), `${id} ${r.status}`);
  }
  const schema = { type: 'object', properties: { a: { type: 'number', maximum: 1e308 } } };
  assert.equal((await ai.responses.create({ model, input: 'x', tools: [{ type: 'function', name: 'a', parameters: schema }] })).status, 'completed');
  assert.doesNotMatch(server.log, /a request handler failed/);
});

test('accounts without credits get 429 insufficient_quota, which clients do not retry', async () => {
  const ai = await client();
  await ai.user.get('/account');
  database.sql(`update accounts.account set balance_micro = 0 where id = '${ai.user.id}'`);
  const e = await rejects(ai.responses.create({ model, input: 'x' }), 429, { code: 'insufficient_quota', type: 'insufficient_quota' });
  assert.equal(e.headers.get('x-should-retry'), 'false');
});

test('a shutdown ends the stream of a stored response, which resumes on the new server', async () => {
  const ai = await client();
  const stream = await ai.responses.create({ model, input: '[sixty]', stream: true });
  const seen = [];
  let stopped;
  for await (const e of stream) {
    seen.push(e);
    if (!stopped && textOf(seen).includes('w5 ')) stopped = server.stop();
  }
  await stopped;
  await server.start();
  const again = new OpenAI({ apiKey: ai.user.token, baseURL: `${server.url}/v1` });
  const rest = seen.at(-1).type === 'response.completed' ? [] : await collect(await again.responses.retrieve(seen[0].response.id, { stream: true, starting_after: seen.at(-1).sequence_number }));
  const all = [...seen, ...rest];
  assert.ok(isCounting(all));
  assert.equal(all.at(-1).type, 'response.completed');
  assert.equal(all.at(-1).response.output.map((o) => o.content[0].text).join(''), Array.from({ length: 60 }, (_, i) => `w${i} `).join(''));
});

// ---- approvals

const asked = (response) => response.output.filter((item) => item.type === 'mcp_approval_request');
const answer = (request, approve = true, reason) => ({ type: 'mcp_approval_response', approval_request_id: request.id ?? request, approve, ...(reason ? { reason } : {}) });
const approvalOf = (request) => request.id.slice(-32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const itemTypes = (response) => response.output.map((item) => item.type);

test('a response that needs an approval ends with the request, and the answer continues its run', async () => {
  const c = await client({ tier: 'enterprise' });
  const events = await collect(await c.responses.create({ model: 'agent', input: 'one [ask]', stream: true }));
  const first = events.at(-1).response;
  assert.equal(events.at(-1).type, 'response.completed');
  assert.deepEqual(itemTypes(first), ['mcp_approval_request']);
  const [request] = asked(first);
  assert.equal(request.name, 'shell');
  assert.equal(request.server_label, 'sandbox');
  assert.deepEqual(JSON.parse(request.arguments), { command: 'echo ask 0' });
  assert.deepEqual((await c.responses.retrieve(first.id)).output, first.output);
  await rejects(c.responses.create({ model: 'agent', previous_response_id: first.id, input: 'hello?' }), 409, { code: 'conversation_locked' });

  const rest = await collect(await c.responses.create({ model: 'agent', previous_response_id: first.id, input: [answer(request)], stream: true }));
  assert.equal(rest[0].type, 'response.created');
  assert.equal(rest[0].response.previous_response_id, first.id);
  const last = rest.at(-1).response;
  assert.notEqual(last.id, first.id);
  assert.deepEqual(itemTypes(last), ['mcp_call', 'message']);
  assert.equal(last.output[0].approval_request_id, request.id);
  assert.match(last.output[0].output, /ask 0/);
  assert.match(textOf(rest), /^tools said: ask 0/);
  assert.ok(rest.every((e, i) => i === 0 || e.sequence_number > rest[i - 1].sequence_number));
  const stored = await c.responses.retrieve(last.id);
  assert.deepEqual(stored.output, last.output);
  assert.deepEqual(await collect(await c.responses.retrieve(last.id, { stream: true })), rest);
  const input = await c.responses.inputItems.list(last.id);
  assert.deepEqual(input.data.map((i) => [i.type, i.approval_request_id, i.approve]), [['mcp_approval_response', request.id, true]]);

  // Repeated answers have the same response; others are refused.
  assert.equal((await c.responses.create({ model: 'agent', previous_response_id: first.id, input: [answer(request)] })).id, last.id);
  assert.equal((await c.responses.create({ model: 'agent', input: [{ role: 'user', content: 'one [ask]' }, request, answer(request)] })).id, last.id);
  await rejects(c.responses.create({ model: 'agent', previous_response_id: first.id, input: [answer(request, false)] }), 409, { code: 'approval_decided', param: 'input[0].approve' });
  // The conversation continues after it.
  const next = await c.responses.create({ model: 'agent', previous_response_id: last.id, input: 'thanks' });
  assert.equal(next.status, 'completed');
  await c.responses.delete(first.id);
  assert.deepEqual((await c.responses.retrieve(last.id)).output, last.output);
});

test('a response to some of the requests asks for the others; a denial has its reason', async () => {
  const c = await client(), other = await client();
  const first = await c.responses.create({ model: 'agent', input: 'two [ask]' });
  const [x, y] = asked(first);
  const send = (to, input, more = {}) => to.responses.create({ model: 'agent', previous_response_id: first.id, input, ...more });
  await rejects(send(other, [answer(x)]), 400, { code: 'previous_response_not_found' });
  await rejects(other.responses.create({ model: 'agent', input: [answer(x)] }), 404, { param: 'input[0].approval_request_id' });
  await rejects(send(c, [answer('mcpr_unknown')]), 404, { param: 'input[0].approval_request_id' });
  await rejects(send(c, [answer(x.id.slice(0, -1) + (x.id.endsWith('0') ? '1' : '0')), answer(y)]), 404, { param: 'input[0].approval_request_id' });
  await rejects(send(c, [answer(x), { role: 'user', content: 'and hello' }]), 400, { param: 'input[1]' });
  await rejects(send(c, [answer(x)], { store: false }), 400, { param: 'store' });
  assert.equal((await c.user.get(`/agent-run/${runOf(first.id)}/approvals?status=pending`)).json.approvals.length, 2, 'a refused request decides nothing');

  const second = await send(c, [answer(x)]);
  assert.deepEqual(asked(second).map((r) => r.id), [y.id]);
  assert.equal(second.status, 'completed');
  const third = await c.responses.create({ model: 'agent', previous_response_id: second.id, input: [answer(y, false, 'not this one')] });
  assert.deepEqual(itemTypes(third), ['mcp_call', 'message']);
  assert.match(third.output_text, /ask 0.*\| Error: .*not this one/s);
});

test('a background response that needs an approval survives a kill', async () => {
  const c = await client();
  const started = await c.responses.create({ model: 'agent', input: 'one [ask]', background: true });
  const poll = (api, id) => waitFor('the response ends', async () => { const r = await api.responses.retrieve(id); return r.status === 'completed' && r; });
  const first = await poll(c, started.id);
  await waitFor('the run is parked', () => database.sql(`select count(*) from runs.parked where run_id = '${runOf(first.id)}'`) === '1');
  await server.kill();
  await server.start();
  const again = Object.assign(new OpenAI({ apiKey: c.apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 }));
  assert.deepEqual((await again.responses.retrieve(first.id)).output, first.output);
  const rest = await again.responses.create({ model: 'agent', previous_response_id: first.id, input: asked(first).map((r) => answer(r)), background: true });
  const last = await poll(again, rest.id);
  assert.match(last.output_text, /tools said: ask 0/);
});

test('the first of two decisions with different APIs applies', async () => {
  const c = await client();
  const first = await c.responses.create({ model: 'agent', input: 'one [ask]' });
  const [request] = asked(first);
  const [mine, theirs] = await Promise.all([
    c.responses.create({ model: 'agent', previous_response_id: first.id, input: [answer(request)] }).then((r) => r, (e) => e),
    c.user.post(`/approvals/${approvalOf(request)}`, { json: { decision: 'deny' } })]);
  assert.deepEqual([mine.status, theirs.status].filter((s) => s === 409).length, 1, `${mine.status} ${theirs.status}`);
  const rest = theirs.status === 409 ? mine : await c.responses.create({ model: 'agent', previous_response_id: first.id, input: [answer(request, false)] });
  assert.match(rest.output_text, theirs.status === 409 ? /tools said: ask 0/ : /the user denied it/);
});

test('a call of the client and a call that needs an approval: the approval comes first', async () => {
  const c = await client();
  const tools = [{ type: 'function', ...weather, strict: false }];
  const first = await c.responses.create({ model: 'agent', input: 'one [ask] client', tools });
  assert.deepEqual(itemTypes(first), ['mcp_approval_request']);
  const second = await c.responses.create({ model: 'agent', previous_response_id: first.id, input: [answer(asked(first)[0])], tools });
  assert.deepEqual(itemTypes(second), ['mcp_call', 'function_call']);
  const third = await c.responses.create({ model: 'agent', previous_response_id: second.id, tools,
    input: [{ type: 'function_call_output', call_id: second.output[1].call_id, output: 'sunny' }] });
  assert.match(third.output_text, /sunny/);
});

test('requests that cannot ask for an approval wait for a decision for a limited time', async () => {
  const c = await client({ tier: 'enterprise' });
  const messages = [{ role: 'user', content: 'one [ask]' }];
  await rejects(c.chat.completions.create({ model: 'agent', messages }), 403, { code: 'approval_required' });
  const stream = await c.chat.completions.create({ model: 'agent', messages, stream: true });
  const e = await collect(stream).then(() => assert.fail('no error'), (error) => error);
  assert.match(String(e.code ?? e.message), /approval/);
  const unstored = await c.responses.create({ model: 'agent', input: 'one [ask]', store: false });
  assert.equal(unstored.status, 'failed');
  assert.equal(unstored.error.code, 'approval_required');
  await waitFor('the runs have ended', async () => (await c.user.get('/agent-runs?status=running')).json.agent_runs.length === 0);
  assert.deepEqual((await c.user.get('/approvals?status=pending')).json.approvals, []);

  const pending = c.chat.completions.create({ model: 'agent', messages });
  const [approval] = await waitFor('the approval', async () => { const l = (await c.user.get('/approvals?status=pending')).json.approvals; return l.length && l; });
  assert.equal((await c.user.post(`/approvals/${approval.approval_id}`, { json: { decision: 'approve' } })).status, 200);
  assert.match((await pending).choices[0].message.content, /tools said: ask 0/);
});
