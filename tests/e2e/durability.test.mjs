// No run is lost: the server is killed in each phase of a run and restarted, and the run continues.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Client, Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, server;
let answers = 0;
let gate;  // the model's response to [gate] waits for this

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    const done = turns(request).filter((m) => m.role === 'tool');
    answers++;
    if (prompt.includes('[tool]') && done.length === 0)
      return reply.tools([{ name: 'shell', arguments: { command: 'echo ran >> /workspace/count; sleep 3; cat /workspace/count' } }]);
    if (prompt.includes('[tool]')) return reply.say(`result: ${done[0].content}`);
    if (prompt.includes('[gate]')) { await gate; return reply.say('after a while'); }
    if (prompt.includes('[silent]')) { await sleep(3000); return reply.say('after a while'); }
    for (let i = 0; i < 60; i++) { reply.text(`w${i} `); await sleep(50); if (reply.res.destroyed) return; }
    reply.end({ input: 100, output: 60 });
  });
  server = await new Server({ database, llm, settings: '[runs.prices."runyard/basic"]\ninput = 1000000\noutput = 1000000' }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// Kills the server during a run. Returns the events that a client receives if it resumes by event id after the restart.
async function killDuring(prompt, until, settle = 0) {
  const u = await server.user();
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  const id = r.json.agent_run_id;
  const first = await u.stream(id, { until });
  await sleep(settle);
  await server.kill();
  await server.start();
  const rest = await u.stream(id, { headers: first.events.length ? { 'last-event-id': String(first.events.at(-1).sequence) } : {}, timeout: 40000 });
  const all = [...first.events, ...rest.events];
  return { u, id, all, run: r.json };
}

function assertComplete({ u, id, all }) {
  const sequences = all.map((e) => e.sequence);
  assert.deepEqual(sequences, [...new Set(sequences)], 'no duplicate events');
  assert.deepEqual(sequences, [...sequences].sort((a, b) => a - b), 'events are in order');
  const ends = statuses(all).filter((s) => s !== 'running');
  assert.deepEqual(ends, ['completed'], JSON.stringify(all.slice(-3)));
  assert.equal(database.sql(`select coalesce(sum(delta_micro), 0) = (select balance_micro from accounts.account where id = '${u.id}') from accounts.ledger where account_id = '${u.id}'`), 't');
  assert.equal(database.sql(`select count(*) = count(distinct ref) from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`), 't');
}

test('a run survives a kill before its first token', async () => {
  const seen = llm.seen.length;
  const x = await killDuring('[silent]', () => llm.seen.length > seen);
  assertComplete(x);
  assert.equal(textOf(x.all), 'after a while');
  const run = (await x.u.get(`/agent-run/${x.id}`)).json;
  assert.equal(run.queue_wait_ms, 0, 'the node that accepted the start began the run immediately');
  assert.ok(run.time_to_first_token_ms >= 3000, `first text after ${run.time_to_first_token_ms} ms`);
});

test('killed during a response: the partial response is aborted and generated again', async () => {
  const x = await killDuring('count to sixty', (e) => e.type === 'llm_response_chunk' && e.content.includes('w20'));
  assertComplete(x);
  assert.equal(textOf(x.all), Array.from({ length: 60 }, (_, i) => `w${i} `).join(''));
  const aborted = x.all.find((e) => e.type === 'turn_aborted');
  assert.ok(aborted, 'turn_aborted is announced');
  assert.ok(aborted.from_sequence <= aborted.to_sequence);
  const starts = x.all.filter((e) => e.type === 'llm_response_start');
  assert.equal(starts.at(-1).attempt, starts[0].attempt + 1);
  // A client that reads the complete stream later sees the same text.
  const replay = await x.u.stream(x.id);
  assert.equal(textOf(replay.events), textOf(x.all));
  // The killed worker sent the first text, and its time is lost.
  const run = (await x.u.get(`/agent-run/${x.id}`)).json;
  const end = x.all.at(-1);
  assert.deepEqual([run.queue_wait_ms, run.time_to_first_token_ms], [0, null]);
  assert.deepEqual([end.queue_wait_ms, end.time_to_first_token_ms, end.duration_ms], [0, null, run.duration_ms]);
});

test('a tool call that was interrupted by a kill is not silently repeated', async () => {
  const x = await killDuring('[tool]', (e) => e.type === 'tool_call', 1000);
  assertComplete(x);
  const content = await x.u.get(`/projects/${x.run.project_id}/files/content?path=count`);
  assert.equal(content.text, 'ran\n');
});

// Kills the server while the statement that ends the run waits for the lock of its account, which the test holds.
// `then` decides the outcome of that statement.
async function killAtTheEnd(prompt, then) {
  const u = await server.user();
  await u.get('/account');
  const holder = spawn('psql', ['-XqAt', database.url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const holderExited = new Promise((resolve) => holder.on('exit', resolve));
  const requestsBefore = llm.seen.length;
  let openGate;
  gate = new Promise((resolve) => (openGate = resolve));
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  const lockAcquired = new Promise((resolve) => holder.stdout.once('data', resolve));
  holder.stdin.write(`begin; select id from accounts.account where id = '${u.id}' for update;\n`);
  await lockAcquired;
  openGate();
  const id = r.json.agent_run_id;
  const first = await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
  await waitFor('the terminal commit to wait for the lock', () => database.sql("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%commit_steps%'") === '1');
  await server.kill();
  await then(() => { holder.stdin.end('rollback;\n'); return holderExited; }, id);
  await server.start();
  const rest = await u.stream(id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) }, timeout: 40000 });
  return { u, id, all: [...first.events, ...rest.events], requests: llm.seen.length - requestsBefore };
}
const charges = (x) => database.sql(`select count(*) || ' ' || -sum(delta_micro) from accounts.ledger where account_id = '${x.u.id}' and kind = 'charge'`);

test('killed before the terminal commit: the step runs again, and one response is charged', async () => {
  const x = await killAtTheEnd('[gate]', async (release) => {
    database.sql("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like '%commit_steps%'");
    await release();
  });
  assertComplete(x);
  assert.equal(x.requests, 2);
  assert.ok(x.all.some((e) => e.type === 'turn_aborted'));
  assert.equal(textOf(x.all), 'after a while');
  assert.equal(charges(x), '1 15');
});

test('killed while the terminal commit is in progress: the commit counts, and nothing runs again', async () => {
  const x = await killAtTheEnd('[gate]', async (release, id) => {
    await release();
    await waitFor('the commit', () => database.sql(`select status from runs.runs where id = '${id}'`) === 'completed');
  });
  assertComplete(x);
  assert.equal(x.requests, 1);
  assert.equal(textOf(x.all), 'after a while');
  assert.equal(charges(x), '1 15');
});

test('the slot of a run is free after its end, even if its worker was killed', async () => {
  const x = await killDuring('[silent] slot', () => true);
  const next = await x.u.start({ prompt: '[silent] next' });
  assert.equal(next.status, 200, next.text);
  await x.u.post(`/agent-run/${next.json.agent_run_id}/stop`);
});

test('SIGTERM releases a run: streams announce the restart, and another process continues the run', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'count to sixty' });
  const id = r.json.agent_run_id;
  let raw = '';
  const reading = u.stream(id, { onEvent: () => {} });
  await sleep(600);
  const startedAt = Date.now();
  const exit = await server.stop();
  assert.equal(exit.code, 0, server.log.slice(-2000));
  assert.ok(Date.now() - startedAt < 15000, `releasing the run took ${Date.now() - startedAt} ms`);
  const first = await reading;
  raw += first.raw;
  assert.ok(!statuses(first.events).some((s) => s === 'stopped' || s === 'failed'), raw);
  await server.start();
  assert.equal(first.events.at(-1).type, 'server_draining');
  assert.match(raw, /^retry: \d+$/m);
  const seen = first.events.filter((e) => e.$id !== undefined);
  const rest = await u.stream(id, { headers: { 'last-event-id': String(seen.at(-1).sequence) }, timeout: 40000 });
  assertComplete({ u, id, all: [...seen, ...rest.events] });
});

test('three nodes: a run started on one is read from another and stopped from the third', async () => {
  // The nodes of a deployment share the secret that signs their tokens.
  const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test'];
  await server.stop();
  server.set = set;
  await server.start();
  const b = new Server({ database, llm, set }), c = new Server({ database, llm, set });
  try {
    await Promise.all([b.start(), c.start()]);
    const subject = crypto.randomUUID();
    const minted = server.token({ subject });
    const [ua, ub, uc] = [server, b, c].map((n) => new Client(n, minted, subject));
    const r = await ua.start({ prompt: 'count to sixty' });
    assert.equal(r.status, 200, r.text);
    const id = r.json.agent_run_id;
    const s = await ub.stream(id, { until: (e) => e.type === 'llm_response_chunk' && e.content.includes('w15') });
    assert.ok(gapless(s.events));
    const stop = await uc.post(`/agent-run/${id}/stop`);
    assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }], stop.text);
    const rest = await ub.stream(id, { headers: { 'last-event-id': String(s.events.at(-1).sequence) } });
    assert.deepEqual(statuses(rest.events), ['stopped']);
  } finally {
    await b.close();
    await c.close();
  }
});

test('after its database connections are terminated, the server reconnects and a repeated start creates one run', async () => {
  // Terminates the server's connections, as a restart of the database would.
  const u = await server.user();
  database.sql('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()');
  // The client cannot tell whether an interrupted start succeeded; the idempotency key makes a retry safe.
  const key = { 'idempotency-key': crypto.randomUUID() };
  const r = await waitFor('a successful start', async () => {
    const r = await u.start({ prompt: '[silent] back' }, key);
    if (r.status === 200) return r;
    assert.ok(r.status >= 500, r.text);
  });
  assert.equal(database.sql(`select count(*) from runs.runs where account_id = '${u.id}'`), '1');
  await waitFor('readiness', async () => (await u.get('/readyz')).status === 200);
  await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
});
