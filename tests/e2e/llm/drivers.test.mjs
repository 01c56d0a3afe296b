// The LLM drivers and the official clients, on the same conversation with the same provider: both must send
// the same and understand the same.
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
// The official clients set no cache marks by themselves.
const plain = { openai: {}, responses: { wire: 'responses' }, anthropic: { prompt_cache: false } };
const call = (kind, requests, options) => callDriver(driver[kind], { base_url: base[kind](), api_key: key, ...plain[kind] }, requests, options);

const keyIn = (headers) => headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '');

// What an official client makes of one request: text, tool calls, end.
async function byOpenAI(request) {
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
async function byResponses(request) {
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
async function byAnthropic(request) {
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

for (const [kind, official, requests] of [['openai', byOpenAI, conversation.openai], ['responses', byResponses, conversation.responses], ['anthropic', byAnthropic, conversation.anthropic]]) {
  test(`${kind}: the driver sends and reads the same as the official client`, async () => {
    mock.received();
    const ours = await call(kind, conversation.neutral(model[kind]));
    const sent = mock.received();
    const theirs = [];
    for (const r of requests(model[kind])) theirs.push(await official(r));
    const reference = mock.received();

    assert.equal(sent.length, 3);
    for (let i = 0; i < sent.length; i++) {
      assert.deepEqual(sent[i].json, reference[i].json, `request ${i + 1}`);
      assert.equal(sent[i].path, reference[i].path);
      for (const h of ['anthropic-version', 'content-type']) assert.equal(sent[i].headers[h], reference[i].headers[h], h);
      // The messages API takes the key in either header; its official client changed from one to the other.
      assert.equal(keyIn(sent[i].headers), key);
      assert.equal(keyIn(reference[i].headers), key);
      assert.equal(ours[i].end.status, Status.ok);
      assert.equal(ours[i].text, theirs[i].text);
      assert.deepEqual(ours[i].toolCalls.map((c) => ({ ...c, arguments: JSON.parse(c.arguments) })),
        theirs[i].toolCalls.map((c) => ({ ...c, arguments: JSON.parse(c.arguments) })));
      assert.equal(ours[i].end.finish, theirs[i].finish);
      const { input, output } = theirs[i].usage ?? { input: 0, output: 0 };
      assert.equal(ours[i].end.estimated, input && output ? 0 : 1);  // the mock's zeros count nothing
      for (const [mine, reported] of [[ours[i].end.input_tokens, input], [ours[i].end.output_tokens, output]])
        if (reported) assert.equal(mine, reported);
        else assert.ok(mine > 0);
    }
    assert.equal(ours[0].toolCalls.length, 2);
    assert.equal(ours[1].text, 'Oslo has 7 °C; Rome is unknown.\n"Done" 🙂');
    assert.ok(ours[1].pieces > 2, 'the answer came in pieces');
    assert.ok(mock.journal().slice(-6).every((e) => e.response.status === 200));
  });

  test(`${kind}: failures are distinguished and hide the key`, async () => {
    const ask = (text) => conversation.ask(model[kind], text);
    const [refused, fast, wrong, long, cut, fine] = await call(kind, ['refuse', 'too fast', 'wrong key', 'too long', 'cut', 'a picture'].map(ask));
    assert.equal(refused.end.status, Status.unavailable);
    assert.match(refused.end.message, /the model provider is unavailable/);
    assert.doesNotMatch(refused.end.message, /overloaded/, 'no text of the provider');
    assert.equal(fast.end.status, Status.exhausted);
    assert.equal(wrong.end.status, Status.unauthenticated);
    assert.doesNotMatch(JSON.stringify(wrong), /sk-test/);
    assert.equal(long.end.status, Status.outOfRange);
    assert.equal(cut.end.status, Status.unavailable);
    assert.ok(cut.text.length > 0 && cut.end.output_tokens > 0);
    assert.equal(fine.end.status, Status.ok);
  });

  test(`${kind}: cancelling ends the answer and the connection at once`, async () => {
    const begin = Date.now();
    const [answer] = await call(kind, [conversation.ask(model[kind], 'slow')], { cancelAfter: 3 });
    assert.equal(answer.end.status, Status.cancelled);
    assert.equal(answer.pieces, 3);
    assert.ok(Date.now() - begin < 4000);
  });
}

test('openai: reasoning comes apart from the text', async () => {
  const [answer] = await call('openai', [conversation.ask(model.openai, 'think')]);
  assert.equal(answer.reasoning, 'Let me see.');
  assert.equal(answer.text, 'So it is.');
});

test('responses: reasoning comes apart from the text', async () => {
  const [answer] = await call('responses', [conversation.ask(model.responses, 'think')]);
  assert.equal(answer.reasoning, 'Let me see.');
  assert.equal(answer.text, 'So it is.');
});

test('anthropic: thinking comes apart from the text', async () => {
  const [answer] = await call('anthropic', [conversation.ask(model.anthropic, 'think')]);
  assert.equal(answer.reasoning, 'Let me see.');
  assert.equal(answer.text, 'So it is.');
});

// An answer ends with its last event; its connection is free a moment later, so a second one may be opened.
test('requests in a row share connections', async () => {
  const before = mock.connections.size;
  await call('openai', Array.from({ length: 12 }, () => conversation.ask(model.openai, 'a picture')));
  assert.ok(mock.connections.size - before <= 3, `${mock.connections.size - before} connections`);
});

test('a provider that is not there is unavailable; wrong settings are named', async () => {
  const [answer] = await callDriver('openai', { base_url: 'http://127.0.0.1:1/v1' }, [conversation.ask('m', 'x')]);
  assert.equal(answer.end.status, Status.unavailable);
  await assert.rejects(callDriver('openai', { base_url: 'ftp://x' }, []), /base_url/);
  await assert.rejects(callDriver('openai', { wire: 'grpc' }, []), /^Error: wire must be chat or responses/);
  await assert.rejects(callDriver('openai', { wire: 'responses', stream_usage: true }, []), /^Error: stream_usage applies to wire = "chat" only/);
  await assert.rejects(callDriver('openai', { encrypted_reasoning: true }, []), /^Error: encrypted_reasoning applies to wire = "responses" only/);
  await assert.rejects(callDriver('anthropic', { max_token: 5 }, []), /max_token/);
});

test('offline: identifies itself and reads attached files', async () => {
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
  assert.ok(second.pieces > 3);
});
