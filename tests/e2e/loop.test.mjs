// The agent loop and its budget, from outside: charges, the end of a run at its budget, providers that
// fail, fallback models, loops, limits, and a conversation that outgrows its model.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, gapless, makeDatabase, sleep, statuses, textOf } from './lib/server.mjs';

// What a model does for a prompt with this mark in it: (request, reply, n-th ask of this mark, results).
const scripts = new Map();
const asked = new Map();
const on = (mark, fn) => { scripts.set(mark, fn); asked.set(mark, []); return mark; };
const answer = (who) => async (request, reply) => {
  const all = JSON.stringify(request.messages);
  const mark = [...scripts.keys()].find((m) => all.includes(m));
  if (!mark) return reply.say('no script');
  const calls = asked.get(mark);
  calls.push({ who, request, at: Date.now() });
  return await scripts.get(mark)(request, reply, calls.length, turns(request).filter((m) => m.role === 'tool'), who);
};
const shell = (command, id) => ({ id, name: 'shell', arguments: { command } });
const usage = { input: 1000, output: 100 };  // 4500 micro-credits by the price below
const prices = `
[runs.prices."runyard/basic"]
input = 3000000
output = 15000000
[runs.prices."other/b"]
input = 1000000
output = 1000000
`;

let llm, other, main, tight, quick;
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
  [main, tight, quick] = await Promise.all([
    makeServer('[runs]\nmax_attempts = 2\n[runs.fallbacks]\n"runyard/power" = ["other/b"]\n'),
    makeServer('[runs]\nmax_steps = 12\nrepeat_limit = 2\nmax_parallel_tools = 2\ntool_timeout_seconds = 2\n[runs.context_tokens]\n"runyard/basic" = 6000\n'),
    makeServer('[runs]\nmax_steps = 3\ntimeout_seconds = 3\nmax_crashes = 0\n'),
  ]);
});
after(async () => {
  for (const s of [main, tight, quick]) await s?.close();
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
const of = (x, type) => x.events.filter((e) => e.type === type);
const micro = (credits) => Math.round((credits ?? 0) * 1e6);
function checkBooks(server, x) {
  assert.ok(gapless(x.events), x.raw);
  assert.equal(statuses(x.events).filter((s) => s !== 'running').length, 1, x.raw);
  const shown = x.events.filter((e) => e.type !== 'status').reduce((sum, e) => sum + micro(e.credits), 0);
  assert.equal(micro(x.end.credits), shown, 'the parts make the whole');
  assert.equal(x.charges.reduce((sum, c) => sum + c.micro, 0), shown, JSON.stringify(x.charges));
  assert.equal(server.database.sql(`select sum(delta_micro) = (select balance_micro from accounts.account where id = '${x.u.id}') from accounts.ledger where account_id = '${x.u.id}'`), 't');
}
const setBalance = (server, u, to) => server.database.sql(
  `select accounts.ledger_add('${u.id}', ${to} - balance_micro, 'adjust', 'test-' || gen_random_uuid()) from accounts.account where id = '${u.id}'`);

test('each answer is charged once, exact to the micro-credit', async () => {
  on('[books]', (request, reply, n) => n === 1
    ? reply.tools([shell('true')], usage) : reply.say('done', { input: 2001, output: 33 }));
  const x = await run(main, '[books]');
  checkBooks(main, x);
  assert.equal(x.end.status, 'completed');
  assert.deepEqual(x.charges, [{ micro: 4500, ref: `${x.id}:1:1` }, { micro: 6498, ref: `${x.id}:2:1` }]);
  assert.equal(main.database.sql(`select note->>'model' from accounts.ledger where ref = '${x.id}:1:1'`), 'runyard/basic');
  assert.equal(x.end.credits, 0.010998);
});

test('a run that uses the last credits up ends before its tools run', async () => {
  on('[poor]', (request, reply) => reply.tools([shell('echo must not run')], usage));
  const u = await main.user();
  await u.get('/account');
  setBalance(main, u, 4000);
  const x = await run(main, '[poor]', { user: u });
  checkBooks(main, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'credits', 'INSUFFICIENT_CREDITS']);
  assert.equal(of(x, 'tool_result').length, 0);
  assert.equal(asked.get('[poor]').length, 1);
  assert.equal(main.database.sql(`select balance_micro from accounts.account where id = '${u.id}'`), '-500');
  const next = await u.start({ prompt: 'x' });
  assert.deepEqual([next.status, next.json.detail.error_code], [402, 'INSUFFICIENT_CREDITS']);
});

test('runs side by side overdraw by no more than the answer each has in flight', async () => {
  on('[crowd]', async (request, reply, n) => { await sleep(100); reply.tools([shell(`echo ${n}`)], usage); });
  const u = await main.user({ tier: 'pro' });
  setBalance(main, u, 40000);
  const all = await Promise.all([1, 2, 3].map(() => run(main, '[crowd]', { user: u })));
  for (const x of all) assert.deepEqual([x.end.status, x.end.reason], ['failed', 'credits'], x.raw);
  const balance = Number(main.database.sql(`select balance_micro from accounts.account where id = '${u.id}'`));
  assert.ok(balance <= 0 && balance > -3 * 4500, `${balance}`);
});

test('a budget: hard ends before the tools, finish_turn after them, soft warns once', async () => {
  on('[budget]', (request, reply, n, results) => results.length < 3 ? reply.tools([shell('echo spent')], usage) : reply.say('all done', usage));
  const hard = await run(main, '[budget]', { form: { budget_credits: '0.009' } });
  checkBooks(main, hard);
  assert.deepEqual([hard.end.status, hard.end.reason, hard.end.error_code], ['failed', 'budget', 'BUDGET_EXCEEDED']);
  assert.equal(of(hard, 'llm_response_end').length, 2, 'reached exactly, never passed by more than an answer');
  assert.equal(of(hard, 'tool_result').length, 1);
  const finish = await run(main, '[budget]', { form: { budget_credits: '0.0089', budget_policy: 'finish_turn' } });
  checkBooks(main, finish);
  assert.deepEqual([finish.end.status, finish.end.reason], ['failed', 'budget']);
  assert.deepEqual([of(finish, 'llm_response_end').length, of(finish, 'tool_result').length], [2, 2]);
  const soft = await run(main, '[budget]', { form: { budget_credits: '0.001', budget_policy: 'soft' } });
  checkBooks(main, soft);
  assert.deepEqual([soft.end.status, soft.end.reason], ['completed', 'ok']);
  assert.deepEqual(of(soft, 'error').map((e) => [e.error_code, e.recoverable]), [['BUDGET_EXCEEDED', true]]);
  const enough = await run(main, '[budget]', { form: { budget_credits: '1' } });
  assert.deepEqual([enough.end.status, of(enough, 'error').length], ['completed', 0]);
  const u = await main.user();
  for (const [form, field] of [[{ budget_credits: 'much' }, 'budget_credits'], [{ budget_credits: '0' }, 'budget_credits'], [{ budget_credits: '1', budget_policy: 'none' }, 'budget_policy'], [{ budget_policy: 'soft' }, 'budget_policy']]) {
    const r = await u.start({ prompt: 'x', ...form });
    assert.equal(r.status, 400, r.text);
    assert.match(r.json.detail, new RegExp(field));
  }
});

test('usage until a stop is charged once, by estimate', async () => {
  on('[stopped]', (request, reply) => { reply.text('word '.repeat(40)); });
  const u = await main.user();
  const r = await u.start({ prompt: '[stopped]' });
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
  const s = await u.stream(r.json.agent_run_id);
  const charges = main.database.sql(`select count(*) || ' ' || -sum(delta_micro) from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`).split(' ').map(Number);
  const used = s.events.find((e) => e.type === 'llm_response_end').usage;
  assert.equal(used.output_tokens, 50, 'four bytes a token');
  assert.ok(used.input_tokens > 100);
  assert.deepEqual(charges, [1, used.input_tokens * 3 + 50 * 15]);
  assert.equal(micro(s.events.at(-1).credits), charges[1]);
});

test('an answer without usage is charged by estimate', async () => {
  on('[uncounted]', (request, reply) => {
    reply.text('x'.repeat(41));
    reply.res.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n');
    reply.res.end('data: [DONE]\n\n');
  });
  const x = await run(main, '[uncounted]');
  checkBooks(main, x);
  const used = of(x, 'llm_response_end')[0].usage;
  assert.equal(used.output_tokens, 11);
  assert.ok(used.input_tokens > 100);
  assert.deepEqual(x.charges.map((c) => c.micro), [used.input_tokens * 3 + 11 * 15]);
});

test('429 is tried again when the provider says, a cut stream at once; each attempt is closed', async () => {
  on('[busy]', async (request, reply, n) => {
    if (n === 1) return reply.fail(429, { 'retry-after': '1' }, 'slow down');
    reply.say('at last', usage);
  });
  const busy = await run(main, '[busy]');
  checkBooks(main, busy);
  assert.equal(busy.end.status, 'completed');
  const [first, second] = asked.get('[busy]');
  assert.ok(second.at - first.at >= 1000 && second.at - first.at < 2500, `${second.at - first.at} ms`);
  assert.deepEqual(busy.events.slice(1, 5).map((e) => [e.type, e.attempt ?? e.error_code]),
    [['llm_response_start', 1], ['turn_aborted', 1], ['error', 'LLM_RETRY'], ['llm_response_start', 2]]);
  assert.deepEqual(busy.charges.map((c) => c.micro), [4500], 'a refusal costs nothing');

  on('[cut]', async (request, reply, n) => {
    if (n === 1) { reply.text('half an answer'); await sleep(50); return reply.cut(); }
    reply.say('a whole answer', usage);
  });
  const cut = await run(main, '[cut]');
  checkBooks(main, cut);
  const aborted = of(cut, 'turn_aborted')[0];
  const chunk = of(cut, 'llm_response_chunk')[0];
  assert.ok(aborted.from_sequence <= chunk.sequence && chunk.sequence <= aborted.to_sequence);
  assert.ok(aborted.usage.output_tokens > 0 && aborted.credits === 0, 'shown, and not charged');
  assert.deepEqual(cut.charges.map((c) => c.micro), [4500], 'the answer that followed');
  assert.equal(textOf(cut.events), 'a whole answer');
});

test('a provider that keeps failing ends the run with its reason, and the half answers cost nothing', async () => {
  on('[dead]', async (request, reply) => { reply.text('nothing '.repeat(10)); await sleep(20); reply.cut(); });
  const x = await run(main, '[dead]');
  checkBooks(main, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'llm_error', 'LLM_ERROR']);
  assert.deepEqual(of(x, 'turn_aborted').map((e) => e.attempt), [1, 2]);
  assert.deepEqual([x.charges, x.end.credits], [[], 0]);
  assert.ok(x.end.usage.output_tokens > 0);
  assert.equal(of(x, 'message').length, 0);
});

test('another model answers in the place of one that fails, by its own price, and stays', async () => {
  on('[spare]', (request, reply, n, results, who) => {
    if (who === 'main') return reply.fail(503);
    return results.length ? reply.say('spared', usage) : reply.tools([shell('true')], usage);
  });
  const u = await main.user({ tier: 'pro' });
  const x = await run(main, '[spare]', { user: u, form: { model_name: 'runyard/power' } });
  checkBooks(main, x);
  assert.equal(x.end.status, 'completed', x.raw);
  assert.deepEqual(of(x, 'llm_response_start').map((e) => [e.step, e.attempt, e.model]),
    [[1, 1, 'runyard/power'], [1, 2, 'runyard/power'], [1, 3, 'other/b'], [2, 1, 'other/b']]);
  assert.deepEqual(of(x, 'error').map((e) => e.error_code), ['LLM_RETRY', 'LLM_FALLBACK']);
  assert.deepEqual(x.charges.map((c) => c.micro), [1100, 1100]);
  assert.equal(asked.get('[spare]').filter((c) => c.who === 'main').length, 2);
  assert.equal(asked.get('[spare]').at(-1).request.model, 'b');

  on('[locked]', (request, reply, n, results, who) => who === 'main' ? reply.fail(401) : reply.say('open'));
  const y = await run(main, '[locked]', { user: u, form: { model_name: 'runyard/power' } });
  assert.equal(y.end.status, 'completed', y.raw);
  assert.equal(asked.get('[locked]').length, 2, 'a wrong key is not tried twice');
});

test('tool errors go to the model: unknown tools, malformed arguments, long output', async () => {
  on('[wrong]', (request, reply, n, results) => results.length ? reply.say(`${results.length} results`) : reply.tools([
    { id: 'a', name: 'no_such_tool' }, { id: 'b', name: 'shell', arguments: 'not an object' },
    { id: 'c', name: 'read_file', arguments: { path: 'missing.txt' } }, shell('head -c 400000 /dev/zero | tr "\\0" x', 'd')]));
  const x = await run(main, '[wrong]');
  assert.equal(x.end.status, 'completed', x.raw.slice(0, 3000));
  const result = Object.fromEntries(of(x, 'tool_result').map((e) => [e.tool_call_id, e]));
  assert.deepEqual(['a', 'b', 'c', 'd'].map((id) => result[id].is_error), [true, true, true, false]);
  assert.match(result.a.content, /no_such_tool/);
  assert.match(result.b.content, /JSON object/);
  assert.ok(result.d.content.length < 60000);
  assert.match(result.d.content, /bytes left out/);
  assert.equal(asked.get('[wrong]')[1].request.messages.filter((m) => m.role === 'tool').length, 4);
});

test('calls of one answer run side by side, but not all at once', async () => {
  on('[wide]', (request, reply, n, results) => results.length ? reply.say('wide')
    : reply.tools(Array.from({ length: 6 }, (_, i) => shell(`date +%s%N; sleep 0.3; date +%s%N; : ${i}`, `w${i}`))));
  const x = await run(tight, '[wide]');
  const spans = of(x, 'tool_result').map((e) => e.content.split('\n').slice(0, 2).map(Number));
  assert.equal(spans.length, 6);
  const most = Math.max(...spans.map(([from]) => spans.filter(([a, b]) => a <= from && from < b).length));
  assert.equal(most, 2);
});

test('a tool that takes too long is cancelled, and the model gets an error', async () => {
  on('[sleepy]', (request, reply, n, results) => results.length ? reply.say('woken')
    : reply.tools([{ id: 's', name: 'shell', arguments: { command: 'sleep 60', timeout_seconds: 900 } }]));
  const began = Date.now();
  const x = await run(tight, '[sleepy]');
  assert.ok(Date.now() - began < 8000);
  assert.match(of(x, 'tool_result')[0].content, /exceeded its time limit/);
  assert.equal(x.end.status, 'completed');
});

test('an agent in a loop is warned, then ended', async () => {
  on('[circle]', (request, reply) => reply.tools([shell('echo same')], usage));
  const x = await run(tight, '[circle]');
  checkBooks(tight, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'tool_error', 'TOOL_LOOP']);
  const results = of(x, 'tool_result').map((e) => e.is_error);
  assert.deepEqual(results, [false, false, true, true]);
  assert.match(of(x, 'tool_result')[2].content, /again and again/);
  on('[reported]', (request, reply, n, results) => results.some((m) => m.content.includes('again and again'))
    ? reply.say('understood') : reply.tools([shell('echo same')]));
  const y = await run(tight, '[reported]');
  assert.equal(y.end.status, 'completed');
  assert.equal(textOf(y.events), 'understood');
});

test('the name of a tool that goes round in circles may hold anything', async () => {
  on('[nul]', (request, reply) => reply.tools([{ id: 'n', name: 'sh\u0000ell', arguments: {} }], usage));
  const x = await run(tight, '[nul]');
  checkBooks(tight, x);
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code], ['failed', 'tool_error', 'TOOL_LOOP']);
});

test('no model is asked without the instructions of its agent', async () => {
  on('[prompt]', (request, reply) => reply.say('asked', usage));
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
  assert.equal(asked.get('[prompt]').length, 0);
  const y = await run(main, '[prompt]', { user: u, form: { agent_id: agent } });
  assert.equal(y.end.status, 'completed');
  assert.match(asked.get('[prompt]')[0].request.messages[0].content, /NEVER tell/);
});

test('a conversation that outgrows the model is shortened, then summarised permanently', async () => {
  on('[long]', (request, reply, n, results) => {
    if (request.messages[0].role === 'system' && request.messages[0].content.startsWith('You condense')) return reply.say('SUMMARY of it', usage);
    if (n > 9) return reply.say('finished');
    reply.text(`thought ${n} ${'lorem '.repeat(500)}`);
    reply.tools([shell(`echo result ${n}; head -c 6000 /dev/zero | tr "\\0" y`)], usage);
  });
  const x = await run(tight, '[long] keep this request in mind');
  checkBooks(tight, x);
  assert.equal(x.end.status, 'completed', x.raw.slice(-2000));
  const requests = asked.get('[long]').map((c) => c.request);
  for (const r of requests) assert.ok(JSON.stringify(r).length < 6000 * 4, `${JSON.stringify(r).length} bytes`);
  const shortened = requests.find((r) => r.messages.some((m) => m.role === 'tool' && m.content.includes('bytes left out')));
  assert.ok(shortened, 'old results are shortened');
  assert.ok(shortened.messages.at(-1).content.length > 6000, 'the latest is whole');
  const compacted = of(x, 'context_compacted');
  assert.ok(compacted.length >= 1, x.raw.slice(0, 2000));
  assert.ok(compacted.every((e) => e.messages > 0 && micro(e.credits) === 4500));
  const last = requests.at(-1).messages.find((m) => m.role === 'user').content;
  assert.match(last, /SUMMARY of it/);
  assert.match(last, /keep this request in mind/);
  const calls = requests.at(-1).messages.flatMap((m) => m.tool_calls ?? []);
  const answered = requests.at(-1).messages.filter((m) => m.role === 'tool').map((m) => m.tool_call_id);
  assert.deepEqual(calls.map((c) => c.id), answered, 'no call without its result, no result without its call');
  // The thread's readers see all messages and no summary; the next run continues from it.
  const messages = await x.u.get(`/threads/${x.thread}/messages?limit=100`);
  assert.equal(String(messages.json.messages.length), tight.database.sql(`select count(*) from runs.messages where thread_id = '${x.thread}' and role <> 'summary'`));
  assert.doesNotMatch(messages.text, /SUMMARY/);
  on('[more]', (request, reply) => reply.say('more'));
  scripts.delete('[long]');
  await run(tight, '[more]', { user: x.u, form: { thread_id: x.thread } });
  const next = asked.get('[more]')[0].request.messages;
  assert.match(next.find((m) => m.role === 'user').content, /SUMMARY of it/);
  assert.match(lastUser({ messages: next }), /\[more\]/);
});

test('the next worker of a run sends the same conversation, including the summary', async () => {
  let hold;
  on('[taken]', async (request, reply, n, results) => {
    if (request.messages[0].role === 'system' && request.messages[0].content.startsWith('You condense')) return reply.say('SUMMARY of it', usage);
    const summarised = JSON.stringify(request.messages).includes('SUMMARY of it');
    if (summarised && !hold) { hold = request; reply.text('half'); return; }
    if (summarised) return reply.say('taken over', usage);
    reply.text(`thought ${n} ${'lorem '.repeat(500)}`);
    reply.tools([shell(`echo result ${n}; head -c 6000 /dev/zero | tr "\\0" y`)], usage);
  });
  const u = await tight.user();
  const r = await u.start({ prompt: '[taken] keep this' });
  const first = await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' && e.content === 'half' });
  await tight.kill();
  await tight.start();
  const rest = await u.stream(r.json.agent_run_id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) }, timeout: 40000 });
  assert.equal(rest.events.at(-1).status, 'completed', rest.raw);
  assert.deepEqual(asked.get('[taken]').at(-1).request, hold);
  const charges = tight.database.sql(`select count(*) || ' ' || count(distinct ref) || ' ' || -sum(delta_micro) from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`);
  const asks = asked.get('[taken]').length - 1;  // the half answer of a dead worker is not charged
  assert.equal(charges, `${asks} ${asks} ${asks * 4500}`);
});

test('a provider whose window is smaller than configured gets less', async () => {
  let given = 0;
  on('[narrow]', (request, reply, n) => {
    if (JSON.stringify(request).length > 60000)
      return reply.res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' } }));
    if (request.messages[0].role === 'system' && request.messages[0].content.startsWith('You condense')) return reply.say('in short', usage);
    return given++ < 4 ? reply.tools([shell(`echo ${n}; head -c 30000 /dev/zero | tr "\\0" z`)], usage) : reply.say('fits', usage);
  });
  const x = await run(main, '[narrow]');
  checkBooks(main, x);
  assert.equal(x.end.status, 'completed', x.raw.slice(-1500));
  assert.ok(of(x, 'error').length >= 1 && of(x, 'error').length <= 2, 'what was learned is kept');
  assert.ok(of(x, 'error').every((e) => e.error_code === 'LLM_CONTEXT_TOO_LONG' && e.recoverable));
  assert.equal(of(x, 'turn_aborted').length, of(x, 'error').length);
});

test('a stop is heard while the run waits for its next try', async () => {
  on('[waiting]', (request, reply) => reply.fail(429, { 'retry-after': '100' }));
  const u = await main.user();
  const r = await u.start({ prompt: '[waiting]' });
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'error' });
  const began = Date.now();
  const stop = await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
  assert.ok(Date.now() - began < 1000);
  assert.deepEqual(stop.json, { status: 'stopped' });
  const s = await u.stream(r.json.agent_run_id);
  assert.deepEqual([s.events.at(-1).status, s.events.at(-1).reason, s.events.at(-1).credits], ['stopped', 'user_stop', 0]);
});

test('limits of steps and of time have their reasons', async () => {
  on('[steps]', (request, reply, n) => reply.tools([shell(`echo ${n}`)], usage));
  const steps = await run(quick, '[steps]');
  checkBooks(quick, steps);
  assert.deepEqual([steps.end.status, steps.end.reason, steps.end.error_code], ['failed', 'step_limit', 'STEP_LIMIT']);
  assert.equal(asked.get('[steps]').length, 3);
  on('[late]', (request, reply) => { reply.text('still thinking'); });
  const began = Date.now();
  const late = await run(quick, '[late]');
  checkBooks(quick, late);
  assert.deepEqual([late.end.status, late.end.reason, late.end.error_code], ['failed', 'timeout', 'RUN_TIMEOUT']);
  assert.ok(Date.now() - began < 6000);
  assert.equal(late.charges.length, 1, 'what was used until then');
  on('[wait]', (request, reply) => reply.fail(429, { 'retry-after': '60' }));
  const wait = await run(quick, '[wait]');
  assert.deepEqual([wait.end.status, wait.end.reason], ['failed', 'llm_error'], 'no waiting beyond the time of the run');
});

test('a run that crashes its worker too often ends as crashed', async () => {
  on('[crash]', (request, reply) => { reply.text('about to crash'); });
  const u = await quick.user();
  const r = await u.start({ prompt: '[crash]' });
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await quick.kill();
  await quick.start();
  const s = await u.stream(r.json.agent_run_id, { timeout: 40000 });
  assert.deepEqual([s.events.at(-1).status, s.events.at(-1).reason, s.events.at(-1).error_code], ['failed', 'crashed', 'RUN_CRASHED']);
  assert.equal(asked.get('[crash]').length, 1);
});
