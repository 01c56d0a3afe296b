// Outcomes of runs whose model does not finish its answer: continuation at the output limit, truncated tool calls,
// pauses, empty, filtered and refused answers, and the charges. Also the parameters of model requests.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, binary, build, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

// The behaviour of the model for prompts that contain a mark: (request, reply, n-th request with this mark).
const scripts = new Map();
const requestsOf = new Map();
const script = (mark, fn) => { scripts.set(mark, fn); requestsOf.set(mark, []); };
const answer = async (request, reply) => {
  const all = JSON.stringify(request.messages);
  const mark = [...scripts.keys()].findLast((m) => all.includes(m));
  if (!mark) return reply.say('no script');
  requestsOf.get(mark).push(request);
  return await scripts.get(mark)(request, reply, requestsOf.get(mark).length);
};

const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const price = 4500;  // micro-credits for this usage
const delta = (reply, delta, finish_reason = null) => {
  if (!reply.res.headersSent) reply.res.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.res.write(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
};
const finish = (reply, reason) => {
  delta(reply, {}, reason);
  reply.res.end(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\ndata: [DONE]\n\n`);
};
const say = (reply, text, reason = 'stop') => { if (text) delta(reply, { content: text }); finish(reply, reason); };
const call = (reply, index, id, name, args) =>
  delta(reply, { tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });

// A mock of Anthropic that answers each request with the next text and stop reason.
async function startAnthropic() {
  const seen = [], next = [];
  const server = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => {
      seen.push(JSON.parse(body));
      const { text, stop, usage = {} } = next.shift();
      const events = [{ type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1, ...usage } } }];
      if (text) events.push({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, { type: 'content_block_stop', index: 0 });
      events.push({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 5 } }, { type: 'message_stop' });
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join(''));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, seen, next, close: () => new Promise((r) => { server.closeAllConnections(); server.close(r); }) };
}

async function startReceiver() {
  const got = [];
  const server = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => { got.push(JSON.parse(body)); res.end(); });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, got, close: () => new Promise((r) => { server.closeAllConnections(); server.close(r); }) };
}

let llm, claude, receiver, main, strict;
const databases = [];
const makeServer = async (settings) => {
  const database = makeDatabase();
  databases.push(database);
  const server = await new Server({ database, llm, settings: `
[runs.prices."runyard/basic"]
input = 3000000
output = 15000000
[runs.providers.claude]
kind = "anthropic"
base_url = "${claude.url}"
api_key = "k"
[runs.prices."claude/m"]
input = 1000000
output = 2000000
cached_input = 100000
cache_write = 5000000
[accounts.tiers.pro]
models = ["runyard/basic", "runyard/power", "claude/m", "claude/claude-3-haiku"]
${settings}` }).start();
  server.database = database;
  return server;
};

before(async () => {
  llm = await startLlm(answer);
  claude = await startAnthropic();
  receiver = await startReceiver();
  [main, strict] = await Promise.all([
    makeServer(`[runs.webhooks.all]\nurl = "${receiver.url}"\nsecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
[runs.model_options."mock/basic"]\ntemperature = 0.25\nmax_output_tokens = 700\n`),
    makeServer('[runs]\nmax_continuations = 0\nmax_attempts = 2\n'),
  ]);
});
after(async () => {
  for (const s of [main, strict]) await s?.close();
  await llm?.close();
  await claude?.close();
  await receiver?.close();
  for (const d of databases) d.drop();
});

const eventsOf = (x, type) => x.events.filter((e) => e.type === type);
const charges = (server, u) => server.database.sql(
  `select coalesce(string_agg((-delta_micro)::text, ' ' order by id), '') from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`)
  .split(' ').filter(Boolean).map(Number);

async function run(server, prompt, { user, form = {} } = {}) {
  const u = user ?? (await server.user());
  const r = await u.start({ prompt, ...form });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id);
  const end = s.events.at(-1);
  assert.ok(gapless(s.events), s.raw);
  assert.equal(statuses(s.events).filter((x) => x !== 'running').length, 1, s.raw);
  return { u, id: r.json.agent_run_id, thread: r.json.thread_id, events: s.events, end, raw: s.raw };
}
const endOf = (x) => [x.end.status, x.end.reason, x.end.error_code];
const finishes = (x) => eventsOf(x, 'llm_response_end').map((e) => e.finish);
const messagesOf = async (x) => (await x.u.get(`/threads/${x.thread}/messages`)).json.messages;

test('text truncated at the output limit is continued as one answer, and each part is charged', async () => {
  script('[parts]', (request, reply, n) => n < 3 ? say(reply, ['The steps are: fi', 'rst, sec'][n - 1], 'length') : say(reply, 'ond.'));
  const x = await run(main, '[parts]');
  assert.deepEqual(endOf(x), ['completed', 'ok', undefined], x.raw);
  assert.equal(textOf(x.events), 'The steps are: first, second.');
  assert.deepEqual(finishes(x), ['length', 'length', 'stop']);
  assert.deepEqual(eventsOf(x, 'llm_response_start').map((e) => [e.step, e.attempt]), [[1, 1], [2, 1], [3, 1]]);
  assert.deepEqual(charges(main, x.u), [price, price, price]);
  const third = requestsOf.get('[parts]')[2].messages;
  assert.deepEqual(third.slice(-3).map((m) => m.role), ['user', 'assistant', 'user']);
  assert.equal(third.at(-2).content, 'The steps are: first, sec');
  assert.match(lastUser({ messages: third }), /exactly where it stopped/);
  assert.deepEqual((await messagesOf(x)).map((m) => [m.role, m.content, m.finish]),
    [['user', '[parts]', undefined], ['assistant', 'The steps are: fi', 'length'], ['assistant', 'rst, sec', 'length'], ['assistant', 'ond.', undefined]]);

  script('[next]', (request, reply) => say(reply, 'fine'));
  await run(main, '[next]', { user: x.u, form: { thread_id: x.thread } });
  const next = requestsOf.get('[next]')[0].messages.filter((m) => m.role !== 'system');
  assert.deepEqual(next.map((m) => m.role), ['user', 'assistant', 'user']);
  assert.equal(next[1].content, 'The steps are: first, second.');
});

test('repeated truncation ends the run with reason length; its text is kept and can be continued', async () => {
  script('[endless]', (request, reply, n) => say(reply, `part ${n}, `, 'length'));
  const x = await run(main, '[endless]');
  assert.deepEqual(endOf(x), ['failed', 'length', 'LLM_OUTPUT_TRUNCATED']);
  assert.deepEqual(finishes(x), ['length', 'length', 'length']);
  assert.equal(textOf(x.events), 'part 1, part 2, part 3, ');
  assert.deepEqual(charges(main, x.u), [price, price, price]);
  const stored = (await x.u.get(`/agent-run/${x.id}`)).json;
  assert.deepEqual([stored.status, stored.reason, stored.error_code], ['failed', 'length', 'LLM_OUTPUT_TRUNCATED']);
  assert.match(stored.error, /output limit/);
  const snapshot = await x.u.stream(x.id, { query: '?mode=snapshot' });
  assert.equal(snapshot.events[0].content, 'part 1, part 2, part 3, ');
  assert.equal(snapshot.events.at(-1).reason, 'length');
  const reported = await waitFor('the webhook', () => receiver.got.find((m) => m.data.id === x.id));
  assert.deepEqual([reported.data.reason, reported.data.error_code], ['length', 'LLM_OUTPUT_TRUNCATED']);

  scripts.set('[endless]', (request, reply) => say(reply, 'and done.'));
  const r = await x.u.start({ prompt: '', thread_id: x.thread });
  const y = await x.u.stream(r.json.agent_run_id);
  assert.equal(y.events.at(-1).reason, 'ok');
  const last = requestsOf.get('[endless]').at(-1).messages;
  assert.equal(last.at(-2).content, 'part 1, part 2, part 3, ');
  assert.match(lastUser({ messages: last }), /exactly where it stopped/);

  const untruncated = await run(strict, '[endless]');
  script('[strict]', (request, reply) => say(reply, 'cut', 'length'));
  const z = await run(strict, '[strict]');
  assert.deepEqual([endOf(untruncated)[1], endOf(z), finishes(z)], ['ok', ['failed', 'length', 'LLM_OUTPUT_TRUNCATED'], ['length']]);
});

test('a worker that claims the run continues with the missing part and counts the previous parts', async () => {
  let held;
  script('[killed]', (request, reply, n) => {
    if (n === 2) { delta(reply, { content: 'lost' }); held = request; return; }
    if (n < 4) return say(reply, ['one, ', '', 'two, '][n - 1], 'length');
    say(reply, 'three, ', 'length');
  });
  const u = await main.user();
  const r = await u.start({ prompt: '[killed]', temperature: '0.5' });
  const first = await u.stream(r.json.agent_run_id, { until: (e) => e.content === 'lost' });
  await main.kill();
  await main.start();
  const rest = await u.stream(r.json.agent_run_id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) }, timeout: 40000 });
  const events = [...first.events, ...rest.events];
  assert.equal(textOf(events), 'one, two, three, ');
  assert.deepEqual([rest.events.at(-1).status, rest.events.at(-1).reason], ['failed', 'length'], rest.raw);
  assert.deepEqual(requestsOf.get('[killed]')[2], held, 'the same request, including its parameters');
  assert.equal(held.temperature, 0.5);
  assert.equal(requestsOf.get('[killed]').length, 4);
  assert.deepEqual(charges(main, u), [price, price, price]);
});

test('a tool call with truncated arguments is not executed, but complete calls of the same answer are', async () => {
  script('[cut call]', (request, reply, n) => {
    if (n > 1) return say(reply, 'understood');
    delta(reply, { content: ' \n' });
    call(reply, 0, 'a', 'shell', '{"command":"echo complete"}');
    call(reply, 1, 'b', 'shell', '{"command":"echo must not ru');
    finish(reply, 'length');
  });
  const x = await run(main, '[cut call]');
  assert.deepEqual(endOf(x), ['completed', 'ok', undefined], x.raw);
  assert.deepEqual(finishes(x), ['length', 'stop']);
  const result = Object.fromEntries(eventsOf(x, 'tool_result').map((e) => [e.tool_call_id, e]));
  assert.equal(result.a.is_error, false);
  assert.match(result.a.content, /complete/);
  assert.equal(result.b.is_error, true);
  assert.match(result.b.content, /output limit.*smaller|output limit.*less/s);
  const second = requestsOf.get('[cut call]')[1].messages;
  assert.deepEqual(turns({ messages: second }).filter((m) => m.role === 'tool').map((m) => m.tool_call_id), ['a', 'b']);
  assert.equal((await messagesOf(x)).find((m) => m.tool_calls).content, '', 'whitespace before a call is not text');

  script('[only cut]', (request, reply, n) => {
    if (n > 1) return say(reply, 'understood');
    call(reply, 0, 'a', 'write_file', '{"path":"a.txt","content":"abc');
    finish(reply, 'length');
  });
  const y = await run(main, '[only cut]');
  assert.deepEqual([endOf(y)[1], eventsOf(y, 'tool_result').map((e) => e.is_error)], ['ok', [true]]);
});

test('repeatedly truncated tool calls end the run as a tool loop', async () => {
  script('[cut calls]', (request, reply) => {
    call(reply, 0, 'a', 'write_file', '{"path":"a.txt","content":"abc');
    finish(reply, 'length');
  });
  const x = await run(main, '[cut calls]');
  assert.deepEqual(endOf(x), ['failed', 'tool_error', 'TOOL_LOOP']);
  assert.match(eventsOf(x, 'tool_result').at(-1).content, /again and again/);
});

test('an empty answer is retried once, then ends the run with reason no_answer; neither is charged', async () => {
  for (const [mark, empty] of [['[nothing]', (reply) => finish(reply, 'stop')], ['[blank]', (reply) => say(reply, '\u00a0\n\u200b')],
    ['[thoughts]', (reply) => { delta(reply, { reasoning_content: 'hm' }); finish(reply, 'stop'); }]]) {
    script(mark, (request, reply, n) => n === 1 ? empty(reply) : say(reply, 'here'));
    const once = await run(main, mark);
    assert.deepEqual([...endOf(once), textOf(once.events)], ['completed', 'ok', undefined, 'here'], once.raw);
    assert.deepEqual([eventsOf(once, 'turn_aborted').length, eventsOf(once, 'error')[0].error_code], [1, 'LLM_RETRY']);
    assert.equal(eventsOf(once, 'turn_aborted')[0].credits, 0);
    assert.deepEqual(charges(main, once.u), [price]);
    script(mark, (request, reply) => empty(reply));
    const x = await run(main, mark);
    assert.deepEqual(endOf(x), ['failed', 'no_answer', 'LLM_NO_ANSWER']);
    assert.equal(requestsOf.get(mark).length, 2);
    assert.deepEqual([charges(main, x.u), x.end.credits], [[], 0]);
    assert.equal(x.end.usage.output_tokens, 200, 'the usage is still reported');
    assert.deepEqual((await messagesOf(x)).map((m) => m.role), ['user'], 'empty answers are not stored');
  }
  script('[thoughts cut]', (request, reply) => { delta(reply, { reasoning_content: 'hm' }); finish(reply, 'length'); });
  const cut = await run(main, '[thoughts cut]');
  assert.deepEqual([endOf(cut), charges(main, cut.u)], [['failed', 'length', 'LLM_OUTPUT_TRUNCATED'], []]);
});

test('a filtered answer ends the run with reason content_filter and is charged only for text', async () => {
  script('[filter]', (request, reply) => finish(reply, 'content_filter'));
  const none = await run(main, '[filter]');
  assert.deepEqual([endOf(none), finishes(none), charges(main, none.u)], [['failed', 'content_filter', 'LLM_CONTENT_FILTERED'], ['content_filter'], []]);
  script('[filtered]', (request, reply) => say(reply, 'Mix one part of', 'content_filter'));
  const x = await run(main, '[filtered]');
  assert.deepEqual([endOf(x), charges(main, x.u)], [['failed', 'content_filter', 'LLM_CONTENT_FILTERED'], [price]]);
  assert.equal(textOf(x.events), 'Mix one part of');
  assert.deepEqual((await messagesOf(x)).slice(1).map((m) => [m.content, m.finish]), [['Mix one part of', 'content_filter']]);
  script('[filtered call]', (request, reply) => { call(reply, 0, 'a', 'shell', '{"command":"echo no"}'); finish(reply, 'content_filter'); });
  const y = await run(main, '[filtered call]');
  assert.deepEqual([endOf(y)[1], eventsOf(y, 'tool_call').length, eventsOf(y, 'tool_result').length], ['content_filter', 0, 0]);
});

test('announced but missing tool calls count as a failed attempt', async () => {
  script('[announced]', (request, reply, n) => n === 1 ? finish(reply, 'tool_calls') : say(reply, 'done'));
  const x = await run(main, '[announced]');
  assert.deepEqual([endOf(x)[1], textOf(x.events), eventsOf(x, 'turn_aborted').length, charges(main, x.u)], ['ok', 'done', 1, [price]]);
  script('[reported]', (request, reply, n) => n === 1 ? say(reply, 'half an', 'error') : say(reply, 'done'));
  const z = await run(main, '[reported]');
  assert.deepEqual([endOf(z)[1], textOf(z.events), eventsOf(z, 'turn_aborted').length, charges(main, z.u)], ['ok', 'done', 1, [price]]);
  script('[never made]', (request, reply) => finish(reply, 'tool_calls'));
  const y = await run(strict, '[never made]');
  assert.deepEqual([endOf(y), charges(strict, y.u)], [['failed', 'llm_error', 'LLM_ERROR'], []]);
  assert.match(y.end.error, /none/);
});

test('Anthropic stop reasons refusal and pause_turn', async () => {
  const u = await main.user({ tier: 'pro' });
  claude.next.push({ stop: 'refusal' });
  const refused = await run(main, 'x', { user: u, form: { model_name: 'claude/m' } });
  assert.deepEqual([endOf(refused), finishes(refused)], [['failed', 'refusal', 'LLM_REFUSED'], ['refusal']]);
  claude.next.push({ text: 'One moment. ', stop: 'pause_turn' }, { text: 'Done.', stop: 'end_turn' });
  const paused = await run(main, 'y', { user: u, form: { model_name: 'claude/m' } });
  assert.deepEqual([endOf(paused)[1], textOf(paused.events), finishes(paused)], ['ok', 'One moment. Done.', ['pause', 'stop']]);
  const roles = claude.seen.at(-1).messages.map((m) => m.role);
  assert.deepEqual(roles, ['user', 'assistant', 'user']);
  claude.next.push(...Array.from({ length: 21 }, (_, n) => ({ text: `${n} `, stop: 'pause_turn' })));
  const endless = await run(main, 'z', { user: u, form: { model_name: 'claude/m' } });
  assert.deepEqual([endOf(endless), claude.next.length], [['failed', 'no_answer', 'LLM_NO_ANSWER'], 0]);
});

test('cache write tokens are counted separately and have their own price', async () => {
  const u = await main.user({ tier: 'pro' });
  claude.next.push({ text: 'Hello', stop: 'end_turn', usage: { cache_read_input_tokens: 200, cache_creation_input_tokens: 30 } });
  const x = await run(main, 'x', { user: u, form: { model_name: 'claude/m' } });
  const used = { input_tokens: 240, output_tokens: 5, cached_tokens: 200, cache_write_tokens: 30 };
  assert.deepEqual([eventsOf(x, 'llm_response_end')[0].usage, x.end.usage], [used, used]);
  assert.deepEqual(charges(main, u), [10 * 1 + 200 / 10 + 30 * 5 + 5 * 2]);
  const { credits, ...shown } = (await u.get(`/agent-run/${x.id}`)).json.usage;
  assert.deepEqual([shown, credits], [used, 0.00019]);
});

test('parameters that a driver skips are reported', async () => {
  const u = await main.user({ tier: 'pro' });
  claude.next.push({ text: 'Hello', stop: 'end_turn' });
  const x = await run(main, 'x', { user: u, form: { model_name: 'claude/claude-3-haiku', reasoning_effort: 'low' } });
  const [notice] = eventsOf(x, 'notice');
  assert.deepEqual([notice?.code, endOf(x)[1]], ['parameter_skipped', 'ok'], x.raw);
  assert.match(notice.message, /reasoning_effort/);
  assert.ok(main.log.includes(notice.message), 'the log contains the notice as well');
});

test('parameters come from the start request or else from the model; invalid ones are rejected by name', async () => {
  script('[parameters]', (request, reply) => say(reply, 'ok'));
  const x = await run(main, '[parameters]');
  const plain = requestsOf.get('[parameters]')[0];
  assert.equal(plain.temperature, 0.25);
  assert.equal(plain.max_tokens ?? plain.max_completion_tokens, 700);
  await run(main, '[parameters]', { user: x.u, form: { temperature: '1', top_p: '0.5', max_output_tokens: '50', tool_choice: 'none', thread_id: x.thread } });
  const given = requestsOf.get('[parameters]')[1];
  assert.deepEqual([given.temperature, given.top_p, given.max_tokens ?? given.max_completion_tokens, given.tool_choice], [1, 0.5, 50, 'none']);
  assert.equal(main.database.sql(`select count(parameters) from runs.runs where account_id = '${x.u.id}'`), '1');

  script('[required]', (request, reply, n) => n === 1 ? reply.tools([{ name: 'list_files' }]) : say(reply, 'ok'));
  await run(main, '[required]', { form: { tool_choice: 'required' } });
  assert.deepEqual(requestsOf.get('[required]').map((r) => r.tool_choice), ['required', undefined], 'a required tool call applies to the first answer only');
  script('[absent]', (request, reply) => say(reply, 'ok'));
  const absent = await run(main, '[absent]', { form: { tool_choice: '{"name":"no_such_tool"}' } });
  assert.deepEqual(eventsOf(absent, 'notice').map((e) => e.code), ['parameter_skipped']);

  for (const [name, value] of [['temperature', '3'], ['top_p', '-1'], ['max_output_tokens', '0'], ['reasoning_effort', 'much'], ['tool_choice', 'shell']]) {
    const r = await x.u.start({ prompt: 'x', [name]: value });
    assert.deepEqual([r.status, r.json.detail.startsWith(`${name} must be `)], [422, true], r.text);
  }
  const blank = await x.u.start({ prompt: ' \u00a0\n\u200b' });
  assert.deepEqual([blank.status, blank.json.detail], [400, 'prompt required when creating new thread']);
});

test('the parameters of runs with files and of waiting runs are stored as well', async () => {
  script('[files]', async (request, reply) => { await sleep(300); say(reply, 'ok'); });
  const u = await main.user();
  const first = await u.start({ prompt: '[files]', top_p: '0.1', files: [{ name: 'a.txt', data: 'x' }] });
  const second = await u.start({ prompt: '[files] second', top_p: '0.2', thread_id: first.json.thread_id, on_busy: 'enqueue' });
  assert.equal(second.status, 200, second.text);
  await u.stream(second.json.agent_run_id);
  assert.deepEqual(requestsOf.get('[files]').map((r) => r.top_p), [0.1, 0.2]);
});

test('check rejects tables with model names that match no alias or provider', () => {
  const file = path.join(main.dir, 'unknown.toml');
  writeFileSync(file, `[modules]\npath = "${build}/modules"\nruns = { enabled = true }\naccounts = { enabled = true }\nagents = { enabled = true }\nllm_offline = { enabled = true }
[runs.prices."runyard/basci"]\ninput = 1\n[runs.vision]\n"openai/gpt" = true\n[runs.model_options."runyard/basic"]\ntemperature = 1.5\n`);
  let out = '';
  try { execFileSync(binary, ['check', '--config', file], { encoding: 'utf8', stdio: 'pipe' }); } catch (e) { out = e.stdout + e.stderr; }
  assert.match(out, /runs\.prices\."runyard\/basci": is not a known model/);
  assert.match(out, /runs\.vision\."openai\/gpt": is not a known model/);
  assert.doesNotMatch(out, /model_options/);
});
