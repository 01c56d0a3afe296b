// Runs through the complete server with each driver, against a mock model provider from npm. The drivers send the same
// requests as the official clients, and with a provider that fails at random every run still has exactly one terminal
// event.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Server, gapless, makeDatabase, statuses, textOf } from '../lib/server.mjs';
import { startMock } from './mock.mjs';

const key = 'sk-test-secret-value';
const system = 'You are brief. "Quotes" and ünïcödé stay.';
const finalText = 'The workspace is empty. "Done" 🙂';
const fixtures = [
  { match: { userMessage: 'look around', hasToolResult: false }, response: { toolCalls: [
    { id: 'call_list', name: 'list_files', arguments: '{}' },
    { id: 'call_echo', name: 'shell', arguments: JSON.stringify({ command: 'echo "hi"' }) }] } },
  { match: { userMessage: 'look around', hasToolResult: true }, response: { content: finalText } },
  { match: { userMessage: 'think' }, response: { content: 'So it is.', reasoning: 'Let me see.' } },
  { match: { userMessage: 'disconnect' }, response: { content: 'This answer never comes to its end because the connection breaks.' }, latency: 5, truncateAfterChunks: 5 },
  { match: { userMessage: 'overloaded' }, response: { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 } },
];
const withReasoning = { toolCalls: [{ id: 'call_pwd', name: 'shell', arguments: JSON.stringify({ command: 'pwd' }) }],
  reasoning: 'Where am I? "Here".', reasoningSignature: 'c2lnbmF0dXJl', redactedThinking: ['ZW5jcnlwdGVk'] };
fixtures.unshift({ match: { userMessage: 'think deeply', hasToolResult: false }, response: withReasoning },
  { match: { userMessage: 'think deeply', hasToolResult: true }, response: { content: 'In the workspace.' } });
const drivers = {
  openai: { base: (mock) => `${mock.url}/v1`, model: 'gpt-4o-mini' },
  anthropic: { base: (mock) => mock.url, model: 'claude-mock' },
};

let mock;
const servers = {};
before(async () => {
  mock = await startMock(fixtures);
  await Promise.all(Object.entries(drivers).map(async ([kind, d]) => {
    const database = makeDatabase();
    const server = new Server({ database, settings: `
[runs]
system_prompt = '''${system}'''
max_output_tokens = 500
max_attempts = 3
[runs.providers.mock]
kind = "${kind}"
base_url = "${d.base(mock)}"
api_key = "${key}"
${kind === 'anthropic' ? 'options = { prompt_cache = false }' : ''}
[runs.providers.deep]
kind = "${kind}"
base_url = "${d.base(mock)}"
api_key = "${key}"
options = ${kind === 'anthropic' ? '{ prompt_cache = false, extra_body = { thinking = { type = "enabled", budget_tokens = 1024 } } }' : '{ send_reasoning = true }'}
[runs.models]
"runyard/basic" = "mock/${d.model}"
"runyard/power" = "deep/${d.model}"
[runs.prices."runyard/basic"]
input = 3000000
output = 15000000
` });
    servers[kind] = server;
    server.database = database;
    await server.start();
  }));
});
after(async () => {
  for (const s of Object.values(servers)) {
    await s.close();
    s.database.drop();
  }
  await mock.stop();
});

async function run(kind, prompt, user, form = {}) {
  const u = user ?? (await servers[kind].user());
  const r = await u.start({ prompt, ...form });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 60000 });
  return { id: r.json.agent_run_id, thread: r.json.thread_id, u, events: s.events, end: s.events.at(-1), raw: s.raw };
}

// The requests of the same conversation for an official client, with the tools that the server offered.
function officialRequests(kind, model, tools, results) {
  const prompt = 'please look around';
  const text = (id) => results.find((e) => e.tool_call_id === id).content;
  const calls = [['call_list', 'list_files', {}], ['call_echo', 'shell', { command: 'echo "hi"' }]];
  if (kind === 'openai') {
    const base = { model, stream: true, stream_options: { include_usage: true }, tools, max_tokens: 500 };
    const first = [{ role: 'system', content: system }, { role: 'user', content: prompt }];
    return [{ ...base, messages: first }, { ...base, messages: [...first,
      { role: 'assistant', content: null, tool_calls: calls.map(([id, name, args]) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } })) },
      ...calls.map(([id]) => ({ role: 'tool', tool_call_id: id, content: text(id) }))] }];
  }
  const base = { model, stream: true, system, tools, max_tokens: 500 };
  const first = [{ role: 'user', content: [{ type: 'text', text: prompt }] }];
  return [{ ...base, messages: first }, { ...base, messages: [...first,
    { role: 'assistant', content: calls.map(([id, name, input]) => ({ type: 'tool_use', id, name, input })) },
    { role: 'user', content: calls.map(([id]) => ({ type: 'tool_result', tool_use_id: id, content: text(id) })) }] }];
}
async function callOfficial(kind, request) {
  if (kind === 'openai') {
    const client = new OpenAI({ baseURL: `${mock.url}/v1`, apiKey: key, maxRetries: 0 });
    let text = '';
    for await (const chunk of await client.chat.completions.create(request)) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  }
  const client = new Anthropic({ baseURL: mock.url, apiKey: key, maxRetries: 0 });
  const { stream, ...rest } = request;
  const message = await client.messages.stream(rest).finalMessage();
  return message.content.filter((b) => b.type === 'text').map((b) => b.text).join('');
}

test('anthropic: thinking is sent back with its signature, and not to other providers', async () => {
  const u = await servers.anthropic.user({ tier: 'pro' });
  mock.received();
  const x = await run('anthropic', 'think deeply', u, { model_name: 'runyard/power' });
  assert.equal(x.end.status, 'completed', x.raw);
  assert.equal(x.events.filter((e) => e.type === 'reasoning_chunk').map((e) => e.content).join(''), withReasoning.reasoning);
  const [, second] = mock.received();
  assert.deepEqual(second.json.thinking, { type: 'enabled', budget_tokens: 1024 });
  assert.deepEqual(second.json.messages[1].content, [
    { type: 'redacted_thinking', data: withReasoning.redactedThinking[0] },
    { type: 'thinking', thinking: withReasoning.reasoning, signature: withReasoning.reasoningSignature },
    { type: 'tool_use', id: 'call_pwd', name: 'shell', input: { command: 'pwd' } }]);
  const messages = await u.get(`/threads/${x.thread}/messages`);
  assert.ok(!messages.text.includes(withReasoning.reasoningSignature) && !x.raw.includes(withReasoning.reasoningSignature));
  // The next run of the thread uses another model, which must not get the thinking of this one.
  mock.received();
  await run('anthropic', 'think', u, { thread_id: x.thread });
  assert.ok(!JSON.stringify(mock.received()[0].json).includes(withReasoning.reasoningSignature));
});

test('openai: with send_reasoning, reasoning is sent back with its tool calls, in later runs as well', async () => {
  const u = await servers.openai.user({ tier: 'pro' });
  mock.received();
  const x = await run('openai', 'think deeply', u, { model_name: 'runyard/power' });
  assert.equal(x.end.status, 'completed', x.raw);
  const [, second] = mock.received();
  const reasoningOfCalls = (request) => request.json.messages.filter((m) => m.tool_calls).map((m) => m.reasoning_content);
  assert.deepEqual(reasoningOfCalls(second), [withReasoning.reasoning]);
  await run('openai', 'think', u, { thread_id: x.thread, model_name: 'runyard/power' });
  assert.deepEqual(reasoningOfCalls(mock.received()[0]), [withReasoning.reasoning]);
  await run('openai', 'think', u, { thread_id: x.thread, model_name: 'runyard/basic' });
  assert.deepEqual(reasoningOfCalls(mock.received()[0]), [undefined], 'a provider without send_reasoning gets no reasoning');
});

for (const kind of Object.keys(drivers)) {
  test(`${kind}: a run sends the same request as the official client`, async () => {
    mock.received();
    const x = await run(kind, 'please look around');
    assert.equal(x.end.status, 'completed', x.raw);
    assert.equal(textOf(x.events), finalText);
    const sent = mock.received();
    assert.equal(sent.length, 2);
    const requests = officialRequests(kind, drivers[kind].model, sent[0].json.tools, x.events.filter((e) => e.type === 'tool_result'));
    const replies = [];
    for (const r of requests) replies.push(await callOfficial(kind, r));
    const reference = mock.received();
    assert.equal(replies[1], finalText);
    for (const i of [0, 1]) {
      assert.deepEqual(sent[i].json, reference[i].json, `request ${i + 1}`);
      assert.equal(sent[i].path, reference[i].path);
      for (const h of ['anthropic-version', 'content-type']) assert.equal(sent[i].headers[h], reference[i].headers[h], h);
    }
    assert.ok(!servers[kind].log.includes(key) && !x.raw.includes(key));
  });

  test(`${kind}: the events of reasoning, of a disconnect and of an overloaded provider`, async () => {
    const thought = await run(kind, 'think');
    assert.equal(thought.events.filter((e) => e.type === 'reasoning_chunk').map((e) => e.content).join(''), 'Let me see.');
    assert.equal(textOf(thought.events), 'So it is.');
    const disconnected = await run(kind, 'disconnect');
    assert.deepEqual([disconnected.end.status, disconnected.end.reason], ['failed', 'llm_error']);
    assert.equal(disconnected.events.filter((e) => e.type === 'turn_aborted').length, 3);
    assert.equal(textOf(disconnected.events), '', 'the partial text is withdrawn');
    const overloaded = await run(kind, 'overloaded');
    assert.deepEqual([overloaded.end.status, overloaded.end.reason, overloaded.end.credits], ['failed', 'llm_error', 0]);
    assert.match(overloaded.end.error, /the model provider is unavailable/);
    assert.doesNotMatch(JSON.stringify(overloaded.events), /verloaded/, 'clients do not see the text of the provider');
    assert.match(servers[kind].log, /a model request failed.*verloaded/);
    assert.equal(overloaded.events.filter((e) => e.type === 'llm_response_start').length, 3);
  });

  test(`${kind}: with random faults, every run has exactly one terminal event`, async () => {
    const server = servers[kind];
    const u = await server.user({ tier: 'enterprise' });
    server.database.sql(`select accounts.ledger_add('${u.id}', 1000000000, 'grant', 'chaos-${kind}')`);
    mock.chaos({ dropRate: 0.15, malformedRate: 0.1, rateLimitRate: 0.1, disconnectRate: 0.15 });
    const all = [];
    try {
      for (let round = 0; round < 3; round++)
        all.push(...(await Promise.all(Array.from({ length: 8 }, (_, i) => run(kind, ['please look around', 'think', 'disconnect'][i % 3], u)))));
    } finally {
      mock.chaos(null);
    }
    for (const x of all) {
      assert.ok(gapless(x.events), x.raw);
      const ends = statuses(x.events).filter((s) => s !== 'running');
      assert.equal(ends.length, 1, x.raw);
      assert.ok(ends[0] === 'completed' || (ends[0] === 'failed' && x.end.reason === 'llm_error'), x.raw);
      const count = (type) => x.events.filter((e) => e.type === type).length;
      assert.equal(count('llm_response_start'), count('llm_response_end') + count('turn_aborted'), 'each started attempt completes or is aborted');
    }
    assert.ok(all.some((x) => x.end.status === 'completed'));
    assert.ok(all.some((x) => x.events.some((e) => e.type === 'turn_aborted')));
    const sql = (q) => server.database.sql(q);
    assert.equal(sql("select count(*) from runs.runs where status = 'running'"), '0');
    assert.equal(sql(`select count(*) from (select run_id from runs.event where payload like '{"type": "status"%' and payload !~ '"status": "running"' group by run_id having count(*) <> 1) x`), '0');
    assert.equal(sql(`select sum(charged_micro) = (select -sum(delta_micro) from accounts.ledger where account_id = '${u.id}' and kind = 'charge') from runs.runs where account_id = '${u.id}'`), 't');
  });
}
