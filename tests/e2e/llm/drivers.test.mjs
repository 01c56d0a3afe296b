// The LLM drivers and the official clients hold the same conversation with the same provider: both must send the same
// requests and read the same responses.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import * as conversation from './conversation.mjs';
import { callDriver, Finish, Status } from './driver.mjs';
import { startMock } from './mock.mjs';

const key = 'sk-test-secret-value';
let mock;
before(async () => { mock = await startMock(conversation.fixtures); });
after(() => mock.stop());

const base = { openai: () => `${mock.url}/v1`, responses: () => `${mock.url}/v1`, anthropic: () => mock.url };
const model = { openai: 'gpt-4o-mini', responses: 'gpt-4o-mini', anthropic: 'claude-mock' };
const driver = { openai: 'openai', responses: 'openai', anthropic: 'anthropic' };
// The official clients do not enable prompt caching by default.
const plain = { openai: {}, responses: { wire: 'responses' }, anthropic: { prompt_cache: false } };
const call = (kind, requests, options) => callDriver(driver[kind], { base_url: base[kind](), api_key: key, ...plain[kind] }, requests, options);

const apiKeyOf = (headers) => headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '');

// Each of these functions sends one request with an official client and returns text, tool calls, finish and usage.
async function callOpenAI(request) {
  const client = new OpenAI({ baseURL: base.openai(), apiKey: key, maxRetries: 0 });
  const out = { text: '', toolCalls: [], finish: null, usage: null };
  for await (const chunk of await client.chat.completions.create(request)) {
    if (chunk.usage) out.usage = { input: chunk.usage.prompt_tokens, output: chunk.usage.completion_tokens };
    const choice = chunk.choices[0];
    if (!choice) continue;
    out.text += choice.delta.content ?? '';
    for (const t of choice.delta.tool_calls ?? []) {
      const c = (out.toolCalls[t.index] ??= { id: '', name: '', arguments: '' });
      c.id ||= t.id ?? '';
      c.name ||= t.function?.name ?? '';
      c.arguments += t.function?.arguments ?? '';
    }
    if (choice.finish_reason) out.finish = { stop: Finish.stop, tool_calls: Finish.toolCalls, length: Finish.length }[choice.finish_reason];
  }
  return out;
}
async function callResponses(request) {
  const client = new OpenAI({ baseURL: base.responses(), apiKey: key, maxRetries: 0 });
  const { stream, ...rest } = request;
  const out = { text: '', toolCalls: [], finish: null, usage: null };
  const events = client.responses.stream(rest);
  events.on('response.output_text.delta', (e) => (out.text += e.delta));
  const response = await events.finalResponse();
  for (const i of response.output)
    if (i.type === 'function_call') out.toolCalls.push({ id: i.call_id, name: i.name, arguments: i.arguments });
  out.finish = { completed: out.toolCalls.length ? Finish.toolCalls : Finish.stop, incomplete: Finish.length }[response.status];
  if (response.usage) out.usage = { input: response.usage.input_tokens, output: response.usage.output_tokens };
  return out;
}
async function callAnthropic(request) {
  const client = new Anthropic({ baseURL: base.anthropic(), apiKey: key, maxRetries: 0 });
  const { stream, ...rest } = request;
  const message = await client.messages.stream(rest).finalMessage();
  return {
    text: message.content.filter((b) => b.type === 'text').map((b) => b.text).join(''),
    toolCalls: message.content.filter((b) => b.type === 'tool_use').map((b) => ({ id: b.id, name: b.name, arguments: JSON.stringify(b.input) })),
    finish: { end_turn: Finish.stop, tool_use: Finish.toolCalls, max_tokens: Finish.length }[message.stop_reason],
    usage: { input: message.usage.input_tokens, output: message.usage.output_tokens },
  };
}

for (const [kind, callOfficial, requests] of [['openai', callOpenAI, conversation.openai], ['responses', callResponses, conversation.responses], ['anthropic', callAnthropic, conversation.anthropic]]) {
  test(`${kind}: the driver sends and reads the same as the official client`, async () => {
    mock.received();
    const ours = await call(kind, conversation.neutral(model[kind]));
    const sent = mock.received();
    const theirs = [];
    for (const r of requests(model[kind])) theirs.push(await callOfficial(r));
    const reference = mock.received();

    assert.equal(sent.length, 3);
    for (let i = 0; i < sent.length; i++) {
      assert.deepEqual(sent[i].json, reference[i].json, `request ${i + 1}`);
      assert.equal(sent[i].path, reference[i].path);
      for (const h of ['anthropic-version', 'content-type']) assert.equal(sent[i].headers[h], reference[i].headers[h], h);
      // The messages API takes the key in either header; its official client changed from one to the other.
      assert.equal(apiKeyOf(sent[i].headers), key);
      assert.equal(apiKeyOf(reference[i].headers), key);
      assert.equal(ours[i].end.status, Status.ok);
      assert.equal(ours[i].text, theirs[i].text);
      assert.deepEqual(ours[i].toolCalls.map((c) => ({ ...c, arguments: JSON.parse(c.arguments) })),
        theirs[i].toolCalls.map((c) => ({ ...c, arguments: JSON.parse(c.arguments) })));
      assert.equal(ours[i].end.finish, theirs[i].finish);
      const { input, output } = theirs[i].usage ?? { input: 0, output: 0 };
      assert.equal(ours[i].end.estimated, input && output ? 0 : 1);  // the mock reports zeros if it has no usage
      for (const [mine, reported] of [[ours[i].end.input_tokens, input], [ours[i].end.output_tokens, output]])
        if (reported) assert.equal(mine, reported);
        else assert.ok(mine > 0);
    }
    assert.equal(ours[0].toolCalls.length, 2);
    assert.equal(ours[1].text, 'Oslo has 7 °C; Rome is unknown.\n"Done" 🙂');
    assert.ok(ours[1].chunks > 2, 'the response was streamed in chunks');
    assert.ok(mock.journal().slice(-6).every((e) => e.response.status === 200));
  });

  test(`${kind}: failures have distinct statuses and do not reveal the API key`, async () => {
    const request = (text) => conversation.singleMessage(model[kind], text);
    const [overloaded, rateLimited, wrongKey, tooLong, disconnected, completed] = await call(kind, ['refuse', 'too fast', 'wrong key', 'too long', 'disconnect', 'a picture'].map(request));
    assert.equal(overloaded.end.status, Status.unavailable);
    assert.match(overloaded.end.message, /the model provider is unavailable/);
    assert.doesNotMatch(overloaded.end.message, /overloaded/, 'clients do not see the text of the provider');
    assert.equal(rateLimited.end.status, Status.exhausted);
    assert.equal(wrongKey.end.status, Status.unauthenticated);
    assert.doesNotMatch(JSON.stringify(wrongKey), /sk-test/);
    assert.equal(tooLong.end.status, Status.outOfRange);
    assert.equal(disconnected.end.status, Status.unavailable);
    assert.ok(disconnected.text.length > 0 && disconnected.end.output_tokens > 0);
    assert.equal(completed.end.status, Status.ok);
  });

  test(`${kind}: cancelling ends the response immediately`, async () => {
    const begin = Date.now();
    const [response] = await call(kind, [conversation.singleMessage(model[kind], 'slow')], { cancelAfter: 3 });
    assert.equal(response.end.status, Status.cancelled);
    assert.equal(response.chunks, 3);
    assert.ok(Date.now() - begin < 4000);
  });
}

test('openai: reasoning is separate from the text', async () => {
  const [response] = await call('openai', [conversation.singleMessage(model.openai, 'think')]);
  assert.equal(response.reasoning, 'Let me see.');
  assert.equal(response.text, 'So it is.');
});

test('responses: reasoning is separate from the text', async () => {
  const [response] = await call('responses', [conversation.singleMessage(model.responses, 'think')]);
  assert.equal(response.reasoning, 'Let me see.');
  assert.equal(response.text, 'So it is.');
});

test('anthropic: thinking is separate from the text', async () => {
  const [response] = await call('anthropic', [conversation.singleMessage(model.anthropic, 'think')]);
  assert.equal(response.reasoning, 'Let me see.');
  assert.equal(response.text, 'So it is.');
});

// A response ends with its last event, but its connection is reusable a moment later, so a second one may be opened.
test('consecutive requests reuse connections', async () => {
  const before = mock.connections.size;
  await call('openai', Array.from({ length: 12 }, () => conversation.singleMessage(model.openai, 'a picture')));
  assert.ok(mock.connections.size - before <= 3, `${mock.connections.size - before} connections`);
});

test('an unreachable provider is unavailable, and errors of settings name the setting', async () => {
  const [response] = await callDriver('openai', { base_url: 'http://127.0.0.1:1/v1' }, [conversation.singleMessage('m', 'x')]);
  assert.equal(response.end.status, Status.unavailable);
  await assert.rejects(callDriver('openai', { base_url: 'ftp://x' }, []), /base_url/);
  await assert.rejects(callDriver('openai', { wire: 'grpc' }, []), /^Error: wire must be chat or responses/);
  await assert.rejects(callDriver('openai', { wire: 'responses', stream_usage: true }, []), /^Error: stream_usage applies to wire = "chat" only/);
  await assert.rejects(callDriver('openai', { encrypted_reasoning: true }, []), /^Error: encrypted_reasoning applies to wire = "responses" only/);
  await assert.rejects(callDriver('anthropic', { max_token: 5 }, []), /max_token/);
});

test('offline: the response identifies the driver, and attached files are read', async () => {
  const tools = [{ name: 'read_file', parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } }];
  const user = { role: 'user', content: 'Sum up\n\n[Attached: a.txt (9 B) -> uploads/a.txt]' };
  const options = { delay_ms: 1 };
  const [first] = await callDriver('offline', options, [{ model: 'offline', tools, messages: [user] }]);
  assert.equal(first.end.finish, Finish.toolCalls);
  assert.deepEqual(JSON.parse(first.toolCalls[0].arguments), { path: 'uploads/a.txt' });
  const [second] = await callDriver('offline', options, [{ model: 'offline', tools, messages: [user,
    { role: 'assistant', content: '', tool_calls: [{ ...first.toolCalls[0], arguments: { path: 'uploads/a.txt' } }] },
    { role: 'tool', tool_call_id: first.toolCalls[0].id, name: 'read_file', content: 'two words' }] }]);
  assert.equal(second.end.finish, Finish.stop);
  assert.match(second.text, /not a language model/);
  assert.match(second.text, /1 line, 2 words/);
  assert.ok(second.chunks > 3);
});
