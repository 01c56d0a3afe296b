// Structured output of the OpenAI-compatible API, read with OpenAI's npm client.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

const City = z.object({ city: z.string(), people: z.number() });
const paris = { city: 'Paris', people: 2.1 };
const schema = { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'], additionalProperties: false };
const text = { format: { type: 'json_schema', name: 'city', schema, strict: true } };
const response_format = { type: 'json_schema', json_schema: { name: 'city', schema } };
let database, llm, server, release;

async function respond(request, reply) {
  const prompt = request.messages.findLast((m) => m.role === 'user' && /\[/.test(m.content))?.content ?? '';
  const corrects = lastUser(request).includes('does not match the required JSON Schema');
  const done = turns(request).some((m) => m.role === 'tool');
  if (prompt.includes('[history]')) return reply.say(JSON.stringify(request.messages.map((m) => [m.role, m.content])));
  if (prompt.includes('[never]')) return reply.say('{"city": 1}');
  if (prompt.includes('[held]') && corrects) { reply.text('{"city": '); await new Promise((r) => (release = r)); return reply.say('"Paris"}'); }
  if (/\[(repair|held)\]/.test(prompt) && !corrects) { reply.text('The city '); return reply.say('is Paris.'); }
  if (prompt.includes('[plain]')) { for (const w of ['Hello', ' there']) reply.text(w); return reply.end(); }
  if (prompt.includes('[shell]') && !done) { reply.text('First a look.'); return reply.tools([{ id: 'call_s', name: 'shell', arguments: { command: 'echo hi' } }]); }
  if (prompt.includes('[ask]') && !done) { reply.text('First a look.'); return reply.tools([{ id: 'call_s', name: 'shell', arguments: { command: 'echo ask' } }]); }
  if (prompt.includes('[client]') && !done) { reply.text('First a look.'); return reply.tools([{ id: 'call_c', name: 'look', arguments: {} }]); }
  if (prompt.includes('[cut]')) { reply.text('{"city": "Pa'); return reply.truncate(); }
  if (prompt.includes('[zod]')) return reply.say(JSON.stringify(paris));
  if (prompt.includes('[list]')) return reply.say('[1, 2]');
  reply.say('```json\n{"city": "Paris"}\n```');
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(respond);
  server = await new Server({ database, llm, set: [], settings: `
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
` }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const model = 'runyard/basic';
const valid = '{"city":"Paris"}';
async function client() {
  const user = await server.user({ tier: 'pro' });
  return Object.assign(new OpenAI({ apiKey: user.token, baseURL: `${server.url}/v1`, maxRetries: 0 }), { user });
}
async function collect(stream) {
  const events = [];
  for await (const e of stream) events.push(e);
  return events;
}
const messages = (content) => [{ role: 'user', content }];
const deltas = (events) => events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta);
const contents = (chunks) => chunks.map((c) => c.choices[0]?.delta.content).filter((c) => c);
const stream = (ai, input, more = {}) => ai.responses.create({ model, input, text, stream: true, ...more }).then(collect);

test('the parse helpers of the client get the output', async () => {
  const ai = await client();
  const r = await ai.responses.parse({ model, input: '[zod]', text: { format: zodTextFormat(City, 'city') } });
  assert.deepEqual(r.output_parsed, paris);
  const c = await ai.chat.completions.parse({ model, messages: messages('[zod]'), response_format: zodResponseFormat(City, 'city') });
  assert.deepEqual(c.choices[0].message.parsed, paris);
  const final = await ai.responses.stream({ model, input: '[zod]', text: { format: zodTextFormat(City, 'city') } }).finalResponse();
  assert.deepEqual(final.output_parsed, paris);
  const streamed = await ai.chat.completions.stream({ model, messages: messages('[zod]'), response_format: zodResponseFormat(City, 'city') }).finalChatCompletion();
  assert.deepEqual(streamed.choices[0].message.parsed, paris);
});

test('a corrected answer is the only text of a response, of its stream and of every replay', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: '[repair]', text });
  assert.deepEqual([r.status, r.output_text, r.output.length, r.text.format.type], ['completed', valid, 1, 'json_schema']);
  assert.deepEqual(await ai.responses.retrieve(r.id), r);
  const events = await stream(ai, '[repair]');
  assert.deepEqual(deltas(events), [valid]);
  assert.equal(events.filter((e) => e.type === 'response.output_item.added').length, 1);
  const { response } = events.at(-1);
  assert.deepEqual([events.at(-1).type, response.status, response.output[0].content[0].text], ['response.completed', 'completed', valid]);
  assert.deepEqual(await collect(await ai.responses.retrieve(response.id, { stream: true })), events);
  const rest = await collect(await ai.responses.retrieve(response.id, { stream: true, starting_after: events[2].sequence_number }));
  assert.deepEqual(rest, events.slice(3));

  const chat = await ai.chat.completions.create({ model, messages: messages('[repair]'), response_format });
  assert.deepEqual([chat.choices[0].message.content, chat.choices[0].finish_reason], [valid, 'stop']);
  const chunks = await collect(await ai.chat.completions.create({ model, messages: messages('[repair]'), response_format, stream: true }));
  assert.deepEqual(contents(chunks), [valid]);

  // The row of the response has been pruned.
  database.sql(`delete from openai_api.response where account_id = '${ai.user.id}'`);
  assert.equal((await ai.responses.retrieve(r.id)).output_text, valid);
});

test('the text is held back until it is validated, also in the background', async () => {
  const ai = await client();
  const pending = await ai.responses.create({ model, input: '[held]', text, background: true });
  await waitFor('the correction', () => release !== undefined);
  const during = await ai.responses.retrieve(pending.id);
  assert.deepEqual([during.status, during.output], ['in_progress', []]);
  const replay = ai.responses.retrieve(pending.id, { stream: true }).then(collect);
  release();
  assert.deepEqual(deltas(await replay), [valid]);
  const r = await ai.responses.retrieve(pending.id);
  assert.deepEqual([r.status, r.output_text], ['completed', valid]);
});

test('later responses get only the corrected answer', async () => {
  const ai = await client();
  const first = await ai.responses.create({ model, input: '[repair]', text });
  await ai.responses.create({ model, input: 'one more', previous_response_id: first.id });
  // An older response begins a thread of its own.
  const r = await ai.responses.create({ model, input: '[history]', previous_response_id: first.id });
  assert.deepEqual(JSON.parse(r.output_text).slice(1), [['user', '[repair]'], ['assistant', valid], ['user', '[history]']]);
});

test('an output that stays invalid fails the request', async () => {
  const ai = await client();
  const r = await ai.responses.create({ model, input: '[never]', text });
  assert.deepEqual([r.status, r.error.code, r.output], ['failed', 'server_error', []]);
  assert.match(r.error.message, /^The output does not match the requested schema: \/city must be of the type string/);
  const events = await stream(ai, '[never]');
  assert.deepEqual([events.at(-1).type, deltas(events)], ['response.failed', []]);
  const e = await ai.chat.completions.create({ model, messages: messages('[never]'), response_format }).then(() => assert.fail('no error'), (error) => error);
  assert.deepEqual([e.status, e.type, e.headers.get('x-should-retry')], [500, 'server_error', 'false']);
  assert.match(e.message, /requested schema/);
  const chunks = [];
  await assert.rejects(async () => {
    for await (const c of await ai.chat.completions.create({ model, messages: messages('[never]'), response_format, stream: true })) chunks.push(c);
  }, /requested schema/);
  assert.deepEqual(contents(chunks), []);
});

test('text before calls and truncated text are no output', async () => {
  const ai = await client();
  const agent = await ai.responses.create({ model: 'agent', input: '[shell]', text });
  assert.deepEqual(agent.output.map((i) => i.type), ['mcp_call', 'message']);
  assert.equal(agent.output_text, valid);
  const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
  const calls = await ai.responses.create({ model, input: '[client]', text, tools });
  assert.deepEqual(calls.output.map((i) => i.type), ['function_call']);
  const answer = await ai.responses.create({ model, previous_response_id: calls.id, text, tools, input: [{ type: 'function_call_output', call_id: 'call_c', output: 'Paris' }] });
  assert.equal(answer.output_text, valid);
  const cut = await ai.responses.create({ model, input: '[cut]', text, max_output_tokens: 20 });
  assert.deepEqual([cut.status, cut.incomplete_details.reason, cut.output], ['incomplete', 'max_output_tokens', []]);
  const chat = await ai.chat.completions.create({ model, messages: messages('[cut]'), response_format, max_tokens: 20 });
  assert.deepEqual([chat.choices[0].finish_reason, chat.choices[0].message.content], ['length', '']);
});

test('the response after an approval has the output, which later requests can refer to', async () => {
  const ai = await client();
  const asking = await ai.responses.create({ model: 'agent', input: '[ask]', text });
  assert.deepEqual(asking.output.map((i) => i.type), ['mcp_approval_request']);
  const input = [{ type: 'mcp_approval_response', approval_request_id: asking.output[0].id, approve: true }];
  const events = await stream(ai, input, { model: 'agent', previous_response_id: asking.id, text: undefined });
  const { response } = events.at(-1);
  assert.deepEqual([deltas(events), response.output.map((i) => i.type)], [[valid], ['mcp_call', 'message']]);
  assert.deepEqual((await ai.responses.retrieve(response.id)).output, response.output);
  const id = response.output[1].id;
  const r = await ai.responses.create({ model, input: [{ type: 'item_reference', id }, { role: 'user', content: '[history]' }] });
  assert.deepEqual(JSON.parse(r.output_text).slice(-2), [['assistant', valid], ['user', '[history]']]);
});

test('json_object requires an object; other formats stream as they arrive', async () => {
  const ai = await client();
  const object = { format: { type: 'json_object' } };
  assert.equal((await ai.responses.create({ model, input: 'x', text: object })).output_text, valid);
  assert.equal((await ai.responses.create({ model, input: '[list]', text: object })).status, 'failed');
  const chat = await ai.chat.completions.create({ model, messages: messages('x'), response_format: object.format });
  assert.equal(chat.choices[0].message.content, valid);
  for (const format of [undefined, { format: { type: 'text' } }])
    assert.deepEqual(deltas(await stream(ai, '[plain]', { text: format })), ['Hello', ' there']);
});

test('a schema that cannot be used is refused by name', async () => {
  const ai = await client();
  const bad = [[{ if: {} }, /\/if is not a supported keyword/], [{ properties: { a: { $ref: 'http://169.254.169.254/' } } }, /\/properties\/a\/\$ref/], [{ title: 'x'.repeat(70000) }, /at most 64/],
    [5, /must be an object/], [undefined, /is required/]];
  for (const [given, message] of bad) {
    for (const stream of [false, true]) {
      const one = await ai.user.request('POST', '/v1/responses', { json: { model, input: 'x', stream, text: { format: { type: 'json_schema', name: 'a', schema: given } } } });
      assert.deepEqual([one.status, one.json.error.param, one.json.error.type], [400, 'text.format.schema', 'invalid_request_error'], one.text);
      assert.match(one.json.error.message, message);
      assert.ok(one.json.error.message.startsWith('text.format.schema'), one.text);
      const two = await ai.user.request('POST', '/v1/chat/completions', { json: { model, messages: messages('x'), stream, response_format: { type: 'json_schema', json_schema: { name: 'a', schema: given } } } });
      assert.deepEqual([two.status, two.json.error.param], [400, 'response_format.json_schema.schema'], two.text);
    }
  }
});
