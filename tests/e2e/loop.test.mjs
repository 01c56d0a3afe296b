// End-to-end tests of the agent loop: charges, budgets, failing providers, fallback models, tool loops, limits, and a
// conversation that exceeds the context window.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, gapless, makeDatabase, sleep, statuses, textOf } from './lib/server.mjs';

// mark in the prompt -> behaviour of the model: (request, reply, number of requests with this mark, tool results,
// provider).
const scripts = new Map();
const requestsOf = new Map();
const script = (mark, fn) => { scripts.set(mark, fn); requestsOf.set(mark, []); return mark; };
const answer = (provider) => async (request, reply) => {
  const all = JSON.stringify(request.messages);
  const mark = [...scripts.keys()].find((m) => all.includes(m));
  if (!mark) return reply.say('no script');
  const calls = requestsOf.get(mark);
  calls.push({ provider, request, at: Date.now() });
  return await scripts.get(mark)(request, reply, calls.length, turns(request).filter((m) => m.role === 'tool'), provider);
};
const shell = (command, id) => ({ id, name: 'shell', arguments: { command } });
const usage = { input: 1000, output: 100 };  // 4500 micro-credits at the prices below
const prices = `
[runs.prices."runyard/basic"]
input = 3000000
output = 15000000
[runs.prices."other/b"]
input = 1000000
output = 1000000
`;

let llm, other, main, limited, shortLived;
const databases = [];
const makeServer = async (settings) => {
  const database = makeDatabase();
  databases.push(database);
  const server = await new Server({ database, llm, settings: `
[runs.providers.other]
kind = "openai"
base_url = "${other.url}"
${prices}${settings}` }).start();
  server.database = database;
  return server;
};

before(async () => {
  llm = await startLlm(answer('main'));
  other = await startLlm(answer('other'));
  [main, limited, shortLived] = await Promise.all([
    makeServer('[runs]\nmax_attempts = 2\n[runs.fallbacks]\n"runyard/power" = ["other/b"]\n'),
    makeServer('[runs]\nmax_steps = 12\nrepeat_limit = 2\nmax_parallel_tools = 2\ntool_timeout_seconds = 2\n[runs.context_tokens]\n"runyard/basic" = 6000\n'),
    makeServer('[runs]\nmax_steps = 3\ntimeout_seconds = 3\nmax_crashes = 0\n'),
  ]);
});
after(async () => {
  for (const s of [main, limited, shortLived]) await s?.close();
  await llm?.close();
  await other?.close();
  for (const d of databases) d.drop();
});

async function run(server, prompt, { user, form = {}, ...options } = {}) {
  const u = user ?? (await server.user());
  const r = await u.start({ prompt, ...form });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 60000, ...options });
  const end = s.events.at(-1);
  const charges = server.database.sql(`select coalesce(string_agg(-delta_micro || ' ' || ref, ',' order by id), '') from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`)
    .split(',').filter(Boolean).map((line) => ({ micro: Number(line.split(' ')[0]), ref: line.split(' ')[1] }));
  return { u, id: r.json.agent_run_id, thread: r.json.thread_id, events: s.events, end, charges, raw: s.raw };
}
const eventsOf = (x, type) => x.events.filter((e) => e.type === type);
const micro = (credits) => Math.round((credits ?? 0) * 1e6);
function assertCharges(server, x) {
  assert.ok(gapless(x.events), x.raw);
  assert.equal(statuses(x.events).filter((s) => s !== 'running').length, 1, x.raw);
  const shown = x.events.filter((e) => e.type !== 'status').reduce((sum, e) => sum + micro(e.credits), 0);
  assert.equal(micro(x.end.credits), shown, 'the credits of the events add up to the total');
  assert.equal(x.charges.reduce((sum, c) => sum + c.micro, 0), shown, JSON.stringify(x.charges));
  assert.equal(server.database.sql(`select sum(delta_micro) = (select balance_micro from accounts.account where id = '${x.u.id}') from accounts.ledger where account_id = '${x.u.id}'`), 't');
}
const setBalance = (server, u, to) => server.database.sql(
  `select accounts.ledger_add('${u.id}', ${to} - balance_micro, 'adjust', 'test-' || gen_random_uuid()) from accounts.account where id = '${u.id}'`);

test('each response is charged once, exact to the micro-credit', async () => {
  script('[books]', (request, reply, n) => n === 1
    ? reply.tools([shell('true')], usage) : reply.say('done', { input: 2001, output: 33 }));
  const x = await run(main, '[books]');
  assertCharges(main, x);
  assert.equal(x.end.status, 'completed');
  assert.deepEqual(x.charges, [{ micro: 4500, ref: `${x.id}:1:1` }, { micro: 6498, ref: `${x.id}:2:1` }]);
  assert.equal(main.database.sql(`select note->>'model' from accounts.ledger where ref = '${x.id}:1:1'`), 'runyard/basic');
  assert.equal(x.end.credits, 0.010998);
});

test('a run that uses up the last credits ends before its tools run', async () => {
  script('[poor]', (request, reply) => reply.tools([shell('echo must not run')], usage));
  const u = await main.user();
  await u.get('/account');
  setBalance(main, u, 4000);
  const x = await run(main, '[poor]', { user: u });
  assertCharges(main, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'credits', 'INSUFFICIENT_CREDITS']);
  assert.equal(eventsOf(x, 'tool_result').length, 0);
  assert.equal(requestsOf.get('[poor]').length, 1);
  assert.equal(main.database.sql(`select balance_micro from accounts.account where id = '${u.id}'`), '-500');
  const next = await u.start({ prompt: 'x' });
  assert.deepEqual([next.status, next.json.detail.error_code], [402, 'INSUFFICIENT_CREDITS']);
});

test('concurrent runs overdraw the balance by at most one response each', async () => {
  script('[crowd]', async (request, reply, n) => { await sleep(100); reply.tools([shell(`echo ${n}`)], usage); });
  const u = await main.user({ tier: 'pro' });
  setBalance(main, u, 40000);
  const all = await Promise.all([1, 2, 3].map(() => run(main, '[crowd]', { user: u })));
  for (const x of all) assert.deepEqual([x.end.status, x.end.reason], ['failed', 'credits'], x.raw);
  const balance = Number(main.database.sql(`select balance_micro from accounts.account where id = '${u.id}'`));
  assert.ok(balance <= 0 && balance > -3 * 4500, `${balance}`);
});

test('budget policies: hard ends the run before the tools, finish_turn after them, soft warns once', async () => {
  script('[budget]', (request, reply, n, results) => results.length < 3 ? reply.tools([shell('echo spent')], usage) : reply.say('all done', usage));
  const hard = await run(main, '[budget]', { form: { budget_credits: '0.009' } });
  assertCharges(main, hard);
  assert.deepEqual([hard.end.status, hard.end.reason, hard.end.error_code], ['failed', 'budget', 'BUDGET_EXCEEDED']);
  assert.equal(eventsOf(hard, 'llm_response_end').length, 2, 'the budget is exceeded by less than one response');
  assert.equal(eventsOf(hard, 'tool_result').length, 1);
  const finish = await run(main, '[budget]', { form: { budget_credits: '0.0089', budget_policy: 'finish_turn' } });
  assertCharges(main, finish);
  assert.deepEqual([finish.end.status, finish.end.reason], ['failed', 'budget']);
  assert.deepEqual([eventsOf(finish, 'llm_response_end').length, eventsOf(finish, 'tool_result').length], [2, 2]);
  const soft = await run(main, '[budget]', { form: { budget_credits: '0.001', budget_policy: 'soft' } });
  assertCharges(main, soft);
  assert.deepEqual([soft.end.status, soft.end.reason], ['completed', 'ok']);
  assert.deepEqual(eventsOf(soft, 'error').map((e) => [e.error_code, e.recoverable]), [['BUDGET_EXCEEDED', true]]);
  const enough = await run(main, '[budget]', { form: { budget_credits: '1' } });
  assert.deepEqual([enough.end.status, eventsOf(enough, 'error').length], ['completed', 0]);
  const u = await main.user();
  for (const [form, field] of [[{ budget_credits: 'much' }, 'budget_credits'], [{ budget_credits: '0' }, 'budget_credits'], [{ budget_credits: '1', budget_policy: 'none' }, 'budget_policy'], [{ budget_policy: 'soft' }, 'budget_policy']]) {
    const r = await u.start({ prompt: 'x', ...form });
    assert.equal(r.status, 400, r.text);
    assert.match(r.json.detail, new RegExp(field));
  }
});

test('usage up to a stop is charged once, by estimate', async () => {
  script('[stopped]', (request, reply) => { reply.text('word '.repeat(40)); });
  const u = await main.user();
  const r = await u.start({ prompt: '[stopped]' });
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
  const s = await u.stream(r.json.agent_run_id);
  const charges = main.database.sql(`select count(*) || ' ' || -sum(delta_micro) from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`).split(' ').map(Number);
  const used = s.events.find((e) => e.type === 'llm_response_end').usage;
  assert.equal(used.output_tokens, 50, 'estimated as four bytes per token');
  assert.ok(used.input_tokens > 100);
  assert.deepEqual(charges, [1, used.input_tokens * 3 + 50 * 15]);
  assert.equal(micro(s.events.at(-1).credits), charges[1]);
});

test('a response without usage is charged by estimate', async () => {
  script('[uncounted]', (request, reply) => {
    reply.text('x'.repeat(41));
    reply.res.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n');
    reply.res.end('data: [DONE]\n\n');
  });
  const x = await run(main, '[uncounted]');
  assertCharges(main, x);
  const used = eventsOf(x, 'llm_response_end')[0].usage;
  assert.equal(used.output_tokens, 11);
  assert.ok(used.input_tokens > 100);
  assert.deepEqual(x.charges.map((c) => c.micro), [used.input_tokens * 3 + 11 * 15]);
});

test('a 429 is retried after Retry-After, a broken stream immediately; each attempt is closed', async () => {
  script('[busy]', async (request, reply, n) => {
    if (n === 1) return reply.fail(429, { 'retry-after': '1' }, 'slow down');
    reply.say('at last', usage);
  });
  const busy = await run(main, '[busy]');
  assertCharges(main, busy);
  assert.equal(busy.end.status, 'completed');
  const [first, second] = requestsOf.get('[busy]');
  assert.ok(second.at - first.at >= 1000 && second.at - first.at < 2500, `${second.at - first.at} ms`);
  assert.deepEqual(busy.events.slice(1, 5).map((e) => [e.type, e.attempt ?? e.error_code]),
    [['llm_response_start', 1], ['turn_aborted', 1], ['error', 'LLM_RETRY'], ['llm_response_start', 2]]);
  assert.deepEqual(busy.charges.map((c) => c.micro), [4500], 'a rejected request costs nothing');

  script('[broken]', async (request, reply, n) => {
    if (n === 1) { reply.text('half a response'); await sleep(50); return reply.cut(); }
    reply.say('a complete response', usage);
  });
  const broken = await run(main, '[broken]');
  assertCharges(main, broken);
  const aborted = eventsOf(broken, 'turn_aborted')[0];
  const chunk = eventsOf(broken, 'llm_response_chunk')[0];
  assert.ok(aborted.from_sequence <= chunk.sequence && chunk.sequence <= aborted.to_sequence);
  assert.ok(aborted.usage.output_tokens > 0 && aborted.credits === 0, 'the usage of the broken attempt is shown but not charged');
  assert.deepEqual(broken.charges.map((c) => c.micro), [4500], 'only the response of the second attempt is charged');
  assert.equal(textOf(broken.events), 'a complete response');
});

test('a provider that keeps failing fails the run with llm_error, and partial responses cost nothing', async () => {
  script('[dead]', async (request, reply) => { reply.text('nothing '.repeat(10)); await sleep(20); reply.cut(); });
  const x = await run(main, '[dead]');
  assertCharges(main, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'llm_error', 'LLM_ERROR']);
  assert.deepEqual(eventsOf(x, 'turn_aborted').map((e) => e.attempt), [1, 2]);
  assert.deepEqual([x.charges, x.end.credits], [[], 0]);
  assert.ok(x.end.usage.output_tokens > 0);
  assert.equal(eventsOf(x, 'message').length, 0);
});

test('a fallback model replaces a failing one for the rest of the run, at its own price', async () => {
  script('[spare]', (request, reply, n, results, provider) => {
    if (provider === 'main') return reply.fail(503);
    return results.length ? reply.say('spared', usage) : reply.tools([shell('true')], usage);
  });
  const u = await main.user({ tier: 'pro' });
  const x = await run(main, '[spare]', { user: u, form: { model_name: 'runyard/power' } });
  assertCharges(main, x);
  assert.equal(x.end.status, 'completed', x.raw);
  assert.deepEqual(eventsOf(x, 'llm_response_start').map((e) => [e.step, e.attempt, e.model]),
    [[1, 1, 'runyard/power'], [1, 2, 'runyard/power'], [1, 3, 'other/b'], [2, 1, 'other/b']]);
  assert.deepEqual(eventsOf(x, 'error').map((e) => e.error_code), ['LLM_RETRY', 'LLM_FALLBACK']);
  assert.deepEqual(x.charges.map((c) => c.micro), [1100, 1100]);
  assert.equal(requestsOf.get('[spare]').filter((c) => c.provider === 'main').length, 2);
  assert.equal(requestsOf.get('[spare]').at(-1).request.model, 'b');

  script('[locked]', (request, reply, n, results, provider) => provider === 'main' ? reply.fail(401) : reply.say('open'));
  const y = await run(main, '[locked]', { user: u, form: { model_name: 'runyard/power' } });
  assert.equal(y.end.status, 'completed', y.raw);
  assert.equal(requestsOf.get('[locked]').length, 2, 'a wrong key is not retried');
});

test('the model receives tool errors: unknown tools, malformed arguments, long output', async () => {
  script('[wrong]', (request, reply, n, results) => results.length ? reply.say(`${results.length} results`) : reply.tools([
    { id: 'a', name: 'no_such_tool' }, { id: 'b', name: 'shell', arguments: 'not an object' },
    { id: 'c', name: 'read_file', arguments: { path: 'missing.txt' } }, shell('head -c 400000 /dev/zero | tr "\\0" x', 'd')]));
  const x = await run(main, '[wrong]');
  assert.equal(x.end.status, 'completed', x.raw.slice(0, 3000));
  const result = Object.fromEntries(eventsOf(x, 'tool_result').map((e) => [e.tool_call_id, e]));
  assert.deepEqual(['a', 'b', 'c', 'd'].map((id) => result[id].is_error), [true, true, true, false]);
  assert.match(result.a.content, /no_such_tool/);
  assert.match(result.b.content, /JSON object/);
  assert.ok(result.d.content.length < 60000);
  assert.match(result.d.content, /bytes omitted/);
  assert.equal(requestsOf.get('[wrong]')[1].request.messages.filter((m) => m.role === 'tool').length, 4);
});

test('tool calls of one response run concurrently up to max_parallel_tools', async () => {
  script('[wide]', (request, reply, n, results) => results.length ? reply.say('wide')
    : reply.tools(Array.from({ length: 6 }, (_, i) => shell(`date +%s%N; sleep 0.3; date +%s%N; : ${i}`, `w${i}`))));
  const x = await run(limited, '[wide]');
  const spans = eventsOf(x, 'tool_result').map((e) => e.content.split('\n').slice(0, 2).map(Number));
  assert.equal(spans.length, 6);
  const maxConcurrent = Math.max(...spans.map(([from]) => spans.filter(([a, b]) => a <= from && from < b).length));
  assert.equal(maxConcurrent, 2);
});

test('a tool that takes too long is cancelled, and the model gets an error', async () => {
  script('[sleepy]', (request, reply, n, results) => results.length ? reply.say('woken')
    : reply.tools([{ id: 's', name: 'shell', arguments: { command: 'sleep 60', timeout_seconds: 900 } }]));
  const startedAt = Date.now();
  const x = await run(limited, '[sleepy]');
  assert.ok(Date.now() - startedAt < 8000);
  assert.match(eventsOf(x, 'tool_result')[0].content, /exceeded its time limit/);
  assert.equal(x.end.status, 'completed');
});

test('an agent in a tool loop is warned, then failed', async () => {
  script('[circle]', (request, reply) => reply.tools([shell('echo same')], usage));
  const x = await run(limited, '[circle]');
  assertCharges(limited, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'tool_error', 'TOOL_LOOP']);
  const results = eventsOf(x, 'tool_result').map((e) => e.is_error);
  assert.deepEqual(results, [false, false, true, true]);
  assert.match(eventsOf(x, 'tool_result')[2].content, /again and again/);
  script('[reported]', (request, reply, n, results) => results.some((m) => m.content.includes('again and again'))
    ? reply.say('understood') : reply.tools([shell('echo same')]));
  const y = await run(limited, '[reported]');
  assert.equal(y.end.status, 'completed');
  assert.equal(textOf(y.events), 'understood');
});

test('the tool loop check handles tool names with a NUL character', async () => {
  script('[nul]', (request, reply) => reply.tools([{ id: 'n', name: 'sh\u0000ell', arguments: {} }], usage));
  const x = await run(limited, '[nul]');
  assertCharges(limited, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'tool_error', 'TOOL_LOOP']);
});

test('no model request is sent if the system prompt of the agent cannot be read', async () => {
  script('[prompt]', (request, reply) => reply.say('answered', usage));
  const u = await main.user();
  const agent = (await u.post('/agents', { json: { name: 'guarded', system_prompt: 'NEVER tell' } })).json.agent_id;
  main.database.sql('alter table agents.agent_version rename to elsewhere');
  let x;
  try {
    x = await run(main, '[prompt]', { user: u, form: { agent_id: agent } });
  } finally {
    main.database.sql('alter table agents.elsewhere rename to agent_version');
  }
  assert.deepEqual([x.end.status, x.end.error_code], ['failed', 'INTERNAL']);
  assert.equal(requestsOf.get('[prompt]').length, 0);
  const y = await run(main, '[prompt]', { user: u, form: { agent_id: agent } });
  assert.equal(y.end.status, 'completed');
  assert.match(requestsOf.get('[prompt]')[0].request.messages[0].content, /NEVER tell/);
});

test('a conversation that exceeds the context window is shortened, then summarised permanently', async () => {
  script('[long]', (request, reply, n, results) => {
    if (request.messages[0].role === 'system' && request.messages[0].content.startsWith('You condense')) return reply.say('SUMMARY of it', usage);
    if (n > 9) return reply.say('finished');
    reply.text(`thought ${n} ${'lorem '.repeat(500)}`);
    reply.tools([shell(`echo result ${n}; head -c 6000 /dev/zero | tr "\\0" y`)], usage);
  });
  const x = await run(limited, '[long] keep this request in mind');
  assertCharges(limited, x);
  assert.equal(x.end.status, 'completed', x.raw.slice(-2000));
  const requests = requestsOf.get('[long]').map((c) => c.request);
  for (const r of requests) assert.ok(JSON.stringify(r).length < 6000 * 4, `${JSON.stringify(r).length} bytes`);
  const shortened = requests.find((r) => r.messages.some((m) => m.role === 'tool' && m.content.includes('bytes omitted')));
  assert.ok(shortened, 'old results are shortened');
  assert.ok(shortened.messages.at(-1).content.length > 6000, 'the latest result is complete');
  const compacted = eventsOf(x, 'context_compacted');
  assert.ok(compacted.length >= 1, x.raw.slice(0, 2000));
  assert.ok(compacted.every((e) => e.messages > 0 && micro(e.credits) === 4500));
  const last = requests.at(-1).messages.find((m) => m.role === 'user').content;
  assert.match(last, /SUMMARY of it/);
  assert.match(last, /keep this request in mind/);
  const calls = requests.at(-1).messages.flatMap((m) => m.tool_calls ?? []);
  const answered = requests.at(-1).messages.filter((m) => m.role === 'tool').map((m) => m.tool_call_id);
  assert.deepEqual(calls.map((c) => c.id), answered, 'tool calls and results match');
  // The thread shows all messages without the summary; the next run continues from the summary.
  const messages = await x.u.get(`/threads/${x.thread}/messages?limit=100`);
  assert.equal(String(messages.json.messages.length), limited.database.sql(`select count(*) from runs.messages where thread_id = '${x.thread}' and role <> 'summary'`));
  assert.doesNotMatch(messages.text, /SUMMARY/);
  script('[more]', (request, reply) => reply.say('more'));
  scripts.delete('[long]');
  await run(limited, '[more]', { user: x.u, form: { thread_id: x.thread } });
  const next = requestsOf.get('[more]')[0].request.messages;
  assert.match(next.find((m) => m.role === 'user').content, /SUMMARY of it/);
  assert.match(lastUser({ messages: next }), /\[more\]/);
});

test('after failover the next worker sends the same conversation, including the summary', async () => {
  let firstRequest;
  script('[taken]', async (request, reply, n, results) => {
    if (request.messages[0].role === 'system' && request.messages[0].content.startsWith('You condense')) return reply.say('SUMMARY of it', usage);
    const summarised = JSON.stringify(request.messages).includes('SUMMARY of it');
    if (summarised && !firstRequest) { firstRequest = request; reply.text('half'); return; }
    if (summarised) return reply.say('taken over', usage);
    reply.text(`thought ${n} ${'lorem '.repeat(500)}`);
    reply.tools([shell(`echo result ${n}; head -c 6000 /dev/zero | tr "\\0" y`)], usage);
  });
  const u = await limited.user();
  const r = await u.start({ prompt: '[taken] keep this' });
  const first = await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' && e.content === 'half' });
  await limited.kill();
  await limited.start();
  const rest = await u.stream(r.json.agent_run_id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) }, timeout: 40000 });
  assert.equal(rest.events.at(-1).status, 'completed', rest.raw);
  assert.deepEqual(requestsOf.get('[taken]').at(-1).request, firstRequest);
  const charges = limited.database.sql(`select count(*) || ' ' || count(distinct ref) || ' ' || -sum(delta_micro) from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`);
  const charged = requestsOf.get('[taken]').length - 1;  // the partial response of the killed worker is not charged
  assert.equal(charges, `${charged} ${charged} ${charged * 4500}`);
});

test('a provider with a smaller context window than configured gets a shorter conversation', async () => {
  let toolCalls = 0;
  script('[narrow]', (request, reply, n) => {
    if (JSON.stringify(request).length > 60000)
      return reply.res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } }));
    if (request.messages[0].role === 'system' && request.messages[0].content.startsWith('You condense')) return reply.say('in short', usage);
    return toolCalls++ < 4 ? reply.tools([shell(`echo ${n}; head -c 30000 /dev/zero | tr "\\0" z`)], usage) : reply.say('fits', usage);
  });
  const x = await run(main, '[narrow]');
  assertCharges(main, x);
  assert.equal(x.end.status, 'completed', x.raw.slice(-1500));
  assert.ok(eventsOf(x, 'error').length >= 1 && eventsOf(x, 'error').length <= 2, 'the smaller window is remembered');
  assert.ok(eventsOf(x, 'error').every((e) => e.error_code === 'LLM_CONTEXT_TOO_LONG' && e.recoverable));
  assert.equal(eventsOf(x, 'turn_aborted').length, eventsOf(x, 'error').length);
});

test('a stop takes effect while the run waits for its next attempt', async () => {
  script('[waiting]', (request, reply) => reply.fail(429, { 'retry-after': '100' }));
  const u = await main.user();
  const r = await u.start({ prompt: '[waiting]' });
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'error' });
  const startedAt = Date.now();
  const stop = await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
  assert.ok(Date.now() - startedAt < 1000);
  assert.deepEqual(stop.json, { status: 'stopped' });
  const s = await u.stream(r.json.agent_run_id);
  assert.deepEqual([s.events.at(-1).status, s.events.at(-1).reason, s.events.at(-1).credits], ['stopped', 'user_stop', 0]);
});

test('the step limit and the time limit have their own reasons', async () => {
  script('[steps]', (request, reply, n) => reply.tools([shell(`echo ${n}`)], usage));
  const steps = await run(shortLived, '[steps]');
  assertCharges(shortLived, steps);
  assert.deepEqual([steps.end.status, steps.end.reason, steps.end.error_code], ['failed', 'step_limit', 'STEP_LIMIT']);
  assert.equal(requestsOf.get('[steps]').length, 3);
  script('[late]', (request, reply) => { reply.text('still thinking'); });
  const startedAt = Date.now();
  const late = await run(shortLived, '[late]');
  assertCharges(shortLived, late);
  assert.deepEqual([late.end.status, late.end.reason, late.end.error_code], ['failed', 'timeout', 'RUN_TIMEOUT']);
  assert.ok(Date.now() - startedAt < 6000);
  assert.equal(late.charges.length, 1, 'the usage up to the timeout is charged');
  script('[wait]', (request, reply) => reply.fail(429, { 'retry-after': '60' }));
  const wait = await run(shortLived, '[wait]');
  assert.deepEqual([wait.end.status, wait.end.reason], ['failed', 'llm_error'], 'the run does not wait beyond its time limit');
});

test('a run that exceeds the crash limit ends as crashed', async () => {
  script('[crash]', (request, reply) => { reply.text('about to crash'); });
  const u = await shortLived.user();
  const r = await u.start({ prompt: '[crash]' });
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await shortLived.kill();
  await shortLived.start();
  const s = await u.stream(r.json.agent_run_id, { timeout: 40000 });
  assert.deepEqual([s.events.at(-1).status, s.events.at(-1).reason, s.events.at(-1).error_code], ['failed', 'crashed', 'RUN_CRASHED']);
  assert.equal(requestsOf.get('[crash]').length, 1);
});
