// Providers with invalid or sensitive responses, and a database that rejects a step: the run still ends exactly once,
// and clients receive one line of JSON per event.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, gapless, makeDatabase, sleep, statuses, waitFor } from './lib/server.mjs';

const scripts = {
  // Neither JSON nor UTF-8, with a text that means "context too long".
  refused: (request, reply) => {
    reply.res.writeHead(400, { 'content-type': 'text/plain' });
    reply.res.end(Buffer.concat([Buffer.from('the context window is full '), Buffer.from([0xff, 0xfe, 0x00]), Buffer.from(' indeed')]));
  },
  secretive: (request, reply) => fail(reply, 400, 'bad request: upstream db-7.internal:5432 said no'),
  keyless: (request, reply) => fail(reply, 401, 'Incorrect API key provided: sk-live-***'),
  inside: (request, reply) => { reply.res.writeHead(200, { 'content-type': 'text/event-stream' }); reply.res.end('data: {"error":{"code":"weird","message":"panic at /srv/llm/worker.py"}}\n\n'); },
  closing: (request, reply) => reply.cut(),
  silent: (request, reply) => reply.text('first'),
  long_id: (request, reply, results) => results.length ? reply.say('done')
    : raw(reply, { tool_calls: [{ index: 0, id: 'x'.repeat(2 << 20), type: 'function', function: { name: 'no_such_tool', arguments: '{}' } }] }, 'tool_calls'),
  infinite: (request, reply, results) => results.length ? reply.say('done')
    : raw(reply, { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'no_such_tool', arguments: '{"large":1e400,"larger":[-1e999]}' } }] }, 'tool_calls'),
  lines: (request, reply, results) => results.length ? reply.say('one\u2028two\u2029three\u0085four')
    : reply.tools([{ name: 'no_such_tool', arguments: { text: 'five\u2028six' } }]),
  endless: async (request, reply) => {
    for (let i = 0; i < 100 && !reply.res.destroyed; i++) { reply.text('on and on '.repeat(50000)); await sleep(5); }
    reply.end();
  },
  pieces: async (request, reply) => {
    reply.text('a');
    const piece = 'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'.repeat(1000);
    for (let i = 0; i < 1000 && !reply.res.destroyed; i++) if (!reply.res.write(piece)) await sleep(1);
    reply.end();
  },
  answer: (request, reply) => reply.say('an answer', { input: 1000, output: 100 }),
  tools: (request, reply, results) => results.length ? reply.say('after')
    : reply.tools([{ name: 'shell', arguments: { command: 'echo soon' } }, { name: 'shell', arguments: { command: 'sleep 1; echo late' } }]),
  garbled: (request, reply) => { reply.text('half '.repeat(2000)); reply.res.end('data: {"choices": nonsense}\n\n'); },
  dying: async (request, reply) => { reply.text('half '.repeat(2000)); await sleep(20); reply.cut(); },
};
function raw(reply, delta, reason) {
  reply.res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of [{ index: 0, delta, finish_reason: null }, { index: 0, delta: {}, finish_reason: reason }])
    reply.res.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  reply.res.end('data: [DONE]\n\n');
}

const fail = (reply, status, message) => reply.res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));

let database, llm, server;
before(async () => {
  database = makeDatabase();
  llm = await startLlm((request, reply) => scripts[/\[(\w+)\]/.exec(lastUser(request))[1]](request, reply, turns(request).filter((m) => m.role === 'tool')));
  server = await new Server({ database, llm, settings: '[runs]\nmax_attempts = 5\n[runs.prices."runyard/basic"]\ninput = 1000000\noutput = 1000000\n[accounts.tiers.free]\nthreads = 1000' }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

async function run(prompt, { form = {}, user, instance = server } = {}) {
  const u = user ?? (await instance.user());
  const r = await u.start({ prompt, ...form });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 20000 });
  assert.ok(gapless(s.events), s.raw);
  assert.equal(statuses(s.events).filter((x) => x !== 'running').length, 1, s.raw);
  const end = s.events.at(-1);
  const reported = (await u.get(`/agent-run/${r.json.agent_run_id}`)).json;
  assert.deepEqual([reported.status, reported.reason, reported.usage.credits], [end.status, end.reason, end.credits]);
  const charged = Number(database.sql(`select coalesce(-sum(delta_micro), 0) from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`));
  assert.equal(charged, Math.round(end.credits * 1e6));
  const messages = (await u.get(`/threads/${r.json.thread_id}/messages`)).json.messages;
  return { u, id: r.json.agent_run_id, thread: r.json.thread_id, ...s, end, messages };
}
const eventsOf = (x, type) => x.events.filter((e) => e.type === type);

// Waits until the log contains the text of the provider with the id of the run.
const waitForLoggedCause = (instance, id, text) => waitFor('the cause in the log', () => instance.log.split('\n').some((line) => line.includes(id) && line.includes(text)));

test('a binary error response ends the run with a generic message; the log contains the readable part', async () => {
  const x = await run('[refused]');
  assert.deepEqual([x.end.status, x.end.reason, x.end.error], ['failed', 'llm_error', 'the conversation is too long for the model']);
  await waitForLoggedCause(server, x.id, 'the context window is full \ufffd\ufffd  indeed');
});

test('error texts of providers and of the network do not reach clients, and a silent stream times out', async () => {
  const otherServer = await new Server({ database, llm, set: ['runs.max_attempts=1', 'runs.providers.mock.idle_timeout_seconds=1'] }).start();
  const host = new URL(llm.url).host;
  try {
    await Promise.all([['secretive', 'the model provider refused the request', 'upstream db-7.internal:5432'],
      ['keyless', 'the model provider rejected the server\'s credentials', 'Incorrect API key provided'],
      ['inside', 'the model provider is unavailable', 'panic at /srv/llm/worker.py'],
      ['closing', 'the model provider is unavailable', host],
      ['silent', 'the model provider did not answer in time', 'the server sent nothing for too long']].map(async ([script, error, cause]) => {
      const x = await run(`[${script}]`, { instance: otherServer });
      assert.deepEqual([x.end.status, x.end.reason, x.end.error], ['failed', 'llm_error', error], script);
      const seen = JSON.stringify([x.raw, x.messages, (await x.u.get(`/agent-run/${x.id}`)).json]);
      assert.ok(!seen.includes(cause), `${script}: ${seen}`);
      await waitForLoggedCause(otherServer, x.id, cause);
    }));
    await llm.seen.find((c) => lastUser(c.json) === '[silent]').closed;
  } finally {
    await otherServer.close();
  }
});

test('a very long tool call id is replaced, for clients and for the provider', async () => {
  const x = await run('[long_id]');
  assert.equal(x.end.status, 'completed', x.raw.slice(0, 2000));
  assert.match(eventsOf(x, 'tool_call')[0].tool_call_id, /^[a-z0-9]{9}$/);
  assert.ok(x.raw.length < 20_000, `the stream has ${x.raw.length} bytes`);
  const again = llm.seen.findLast((c) => lastUser(c.json) === '[long_id]').json.messages;
  assert.ok(again.find((m) => m.tool_calls).tool_calls[0].id.length <= 40);
  assert.equal(again.find((m) => m.role === 'tool').tool_call_id, again.find((m) => m.tool_calls).tool_calls[0].id);
});

test('a number beyond the range of a double stays valid JSON in the stream, the thread and the request', async () => {
  const x = await run('[infinite]');
  assert.equal(x.end.status, 'completed', x.raw);
  const expected = { large: 1e308, larger: [-1e308] };
  assert.deepEqual(eventsOf(x, 'tool_call')[0].arguments, expected);
  assert.deepEqual(x.messages.find((m) => m.tool_calls).tool_calls[0].arguments, expected);
  const again = llm.seen.findLast((c) => lastUser(c.json) === '[infinite]').json.messages.find((m) => m.tool_calls);
  assert.deepEqual(JSON.parse(again.tool_calls[0].function.arguments), expected);
});

test('events contain no characters that some clients treat as line breaks', async () => {
  const x = await run('[lines]');
  assert.equal(x.end.status, 'completed', x.raw);
  assert.doesNotMatch(x.raw, /[\u0085\u2028\u2029\v\f\x1c-\x1e]/);
  assert.equal(eventsOf(x, 'llm_response_chunk').map((e) => e.content).join(''), 'one\u2028two\u2029three\u0085four');
  assert.deepEqual(eventsOf(x, 'tool_call')[0].arguments, { text: 'five\u2028six' });
});

test('an endless answer is cancelled', async () => {
  const x = await run('[endless]');
  assert.deepEqual([x.end.status, x.end.reason, x.end.error], ['failed', 'llm_error', 'The model\'s answer is longer than 16.0 MB']);
  assert.equal(eventsOf(x, 'llm_response_start').length, 1);
  const call = llm.seen.find((c) => lastUser(c.json) === '[endless]');
  await call.closed;
  assert.equal(call.aborted, true);
});

test('an answer with too many chunks is cancelled, because each chunk is an event', async () => {
  const user = await server.user();
  const { agent_run_id: id } = (await user.start({ prompt: '[pieces]' })).json;
  // The stream would be 70 MB; its end is in the run's row.
  const end = await waitFor('the end of the run', async () => {
    const { json } = await user.get(`/agent-run/${id}`);
    return json.status === 'failed' || json.status === 'completed' ? json : undefined;
  }, 100_000);
  assert.deepEqual([end.status, end.error], ['failed', 'The model\'s answer has more than 500000 pieces']);
  assert.equal(llm.seen.filter((c) => lastUser(c.json) === '[pieces]').length, 1, 'the request is not retried');
});

// Makes PostgreSQL reject messages of this role permanently while `action` runs.
const whileRejecting = async (role, action) => {
  database.sql(`create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$;
    create trigger refuse before insert on runs.messages for each row when (new.role = '${role}') execute function public.refuse()`);
  try { return await action(); } finally { database.sql('drop trigger refuse on runs.messages; drop function public.refuse'); }
};

test('an answer that the database permanently rejects fails the run and is charged', async () => {
  const x = await whileRejecting('assistant', () => run('[answer]'));
  assert.deepEqual([x.end.status, x.end.reason, x.end.error_code, x.end.error], ['failed', 'crashed', 'INTERNAL', 'Internal server error']);
  assert.equal(x.end.credits, 0.0011);
  assert.equal(eventsOf(x, 'message').length, 0, x.raw);
  const next = await run('[answer]', { user: await server.user() });
  assert.equal(next.end.status, 'completed');
});

test('a rejected tool result ends the run after its other tools have ended', async () => {
  const x = await whileRejecting('tool', () => run('[tools]'));
  assert.deepEqual([x.end.status, x.end.error_code], ['failed', 'INTERNAL']);
  assert.equal(eventsOf(x, 'tool_result').length, 0, x.raw);
  assert.ok(eventsOf(x, 'tool_output_chunk').some((e) => e.content === 'late\n'), x.raw);
});

test('failed attempts cost nothing, so neither a budget nor the balance ends the retries', async () => {
  const u = await server.user();
  await u.get('/account');
  database.sql(`select accounts.ledger_add('${u.id}', 500 - balance_micro, 'adjust', 'test-' || gen_random_uuid()) from accounts.account where id = '${u.id}'`);
  // An attempt would cost more than the whole budget, and than the balance.
  for (const [mark, attempts] of [['[dying]', 5], ['[garbled]', 2]])
    for (const options of [{}, { form: { budget_credits: '0.0005' } }, { user: u }]) {
      const x = await run(mark, options);
      assert.deepEqual([x.end.reason, x.end.error_code, x.end.credits], ['llm_error', 'LLM_ERROR', 0], x.raw);
      assert.equal(eventsOf(x, 'llm_response_start').length, attempts, x.raw);
      assert.ok(eventsOf(x, 'turn_aborted').every((e) => e.credits === 0 && e.usage.output_tokens > 0), x.raw);
      assert.ok(x.end.usage.output_tokens >= attempts * 2000, 'the usage is reported');
    }
});
