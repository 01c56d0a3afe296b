// Waiting runs: queue=true at the concurrency limit, and on_busy for a thread with an active run.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Server, gapless, makeDatabase, sleep, textOf, waitFor } from './lib/server.mjs';

let database, llm, server;
const requests = [];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    requests.push(request.messages.map((m) => `${m.role}:${m.content}`));
    reply.text('begun ');
    for (let i = 0; lastUser(request).includes('[long]') && i < 1000 && !reply.res.destroyed; i++) await sleep(20);
    reply.text('done');
    reply.end();
  });
  server = await new Server({ database, llm, settings: '[runs]\nmax_waiting_runs = 2' }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const queuePositions = (s) => s.events.filter((e) => e.type === 'queued').map((e) => e.position);

test('queue=true runs wait in order, report their positions, and start automatically', async () => {
  const u = await server.user();
  const active = (await u.start({ prompt: '[long]' })).json;
  const second = await u.start({ prompt: 'second', queue: 'true' });
  assert.equal(second.status, 200, second.text);
  assert.equal(second.json.status, 'running');
  assert.equal(second.json.queue_position, 1);
  const third = await u.start({ prompt: 'third', queue: 'true' });
  assert.equal(third.json.queue_position, 2);
  for (const form of [{ prompt: 'x' }, { prompt: 'x', queue: 'true' }]) {
    const refused = await u.start(form);
    assert.equal(refused.status, 402, refused.text);
    assert.deepEqual(refused.json.detail.running_thread_ids, [active.thread_id]);
    assert.equal(refused.json.detail.running_count, 1);
  }
  const reported = (await u.request('GET', `/agent-run/${third.json.agent_run_id}`)).json;
  assert.equal(reported.status, 'running');
  assert.equal(reported.queue_position, 2);
  const reading = [second, third].map((r) => u.stream(r.json.agent_run_id));
  await sleep(200);
  assert.deepEqual((await u.request('POST', `/agent-run/${active.agent_run_id}/stop`)).json, { status: 'stopped' });
  const [a, b] = await Promise.all(reading);
  for (const s of [a, b]) {
    assert.ok(gapless(s.events), s.raw);
    assert.equal(s.events.at(-1).status, 'completed', s.raw);
    assert.match(textOf(s.events), /begun done/);
    assert.ok(s.events.at(-1).queue_wait_ms >= 150, 'the waiting time is included');
  }
  assert.deepEqual(queuePositions(a), [1]);
  assert.deepEqual(queuePositions(b), [2, 1]);
});

test('a waiting run can be stopped immediately, and the next one moves up', async () => {
  const u = await server.user();
  const active = (await u.start({ prompt: '[long]' })).json;
  const second = (await u.start({ prompt: 'second', queue: 'true' })).json;
  const third = (await u.start({ prompt: 'third', queue: 'true' })).json;
  const stopped = await u.request('POST', `/agent-run/${second.agent_run_id}/stop`);
  assert.deepEqual(stopped.json, { status: 'stopped' });
  assert.equal((await u.request('GET', `/agent-run/${active.agent_run_id}`)).json.status, 'running', 'the stop did not wait for the slot');
  const s = await u.stream(second.agent_run_id);
  assert.ok(gapless(s.events), s.raw);
  assert.equal(s.events.at(-1).reason, 'user_stop');
  assert.equal((await u.request('GET', `/agent-run/${third.agent_run_id}`)).json.queue_position, 1);
  await u.request('POST', `/agent-run/${active.agent_run_id}/stop`);
  assert.equal((await u.stream(third.agent_run_id)).events.at(-1).status, 'completed');
});

test('on_busy: enqueue waits for the active run, interrupt stops it', async () => {
  const u = await server.user();
  const first = (await u.start({ prompt: '[long] one' })).json;
  const thread_id = first.thread_id;
  await waitFor('the model request', () => requests.some((m) => m.some((x) => x.includes('[long] one'))));
  const behind = await u.start({ prompt: '[long] two', thread_id, on_busy: 'enqueue' });
  assert.equal(behind.status, 200, behind.text);
  assert.equal(behind.json.queue_position, 1);
  const last = await u.start({ prompt: 'three', thread_id, on_busy: 'interrupt' });
  assert.equal(last.status, 200, last.text);
  const s = await u.stream(last.json.agent_run_id);
  assert.ok(gapless(s.events), s.raw);
  assert.equal(s.events.at(-1).status, 'completed', s.raw);
  for (const id of [first.agent_run_id, behind.json.agent_run_id])
    assert.equal((await u.request('GET', `/agent-run/${id}`)).json.status, 'stopped');
  const users = requests.at(-1).filter((m) => m.startsWith('user:'));
  assert.deepEqual(users.map((m) => m.slice(5)), ['[long] one', 'three']);
  const bad = await u.start({ prompt: 'x', thread_id, on_busy: 'rollback' });
  assert.equal(bad.status, 400);
  assert.match(bad.json.detail, /on_busy/);
});

test('a start on a busy thread returns 409 with the active run', async () => {
  const u = await server.user({ tier: 'pro' });
  const first = (await u.start({ prompt: '[long]' })).json;
  const r = await u.start({ prompt: 'two', thread_id: first.thread_id });
  assert.equal(r.status, 409, r.text);
  assert.equal(r.json.detail.agent_run_id, first.agent_run_id);
  await u.request('POST', `/agent-run/${first.agent_run_id}/stop`);
});

test('waiting runs survive a killed server', async () => {
  const u = await server.user();
  const active = (await u.start({ prompt: '[long]' })).json;
  const second = (await u.start({ prompt: 'second', queue: 'true' })).json;
  server.process.kill('SIGKILL');
  await server.exited;
  await server.start();
  await waitFor('the first run to stop', async () =>
    (await u.request('POST', `/agent-run/${active.agent_run_id}/stop`)).json?.status === 'stopped', 30000);
  assert.equal((await u.stream(second.agent_run_id)).events.at(-1).status, 'completed');
});

// A lock on the run's row delays the stop, so that the server is killed between the start and the stop. Its sessions
// are terminated as well, because PostgreSQL would otherwise complete their waiting statement.
test('an accepted interrupt survives a server crash', async () => {
  const u = await server.user();
  const first = (await u.start({ prompt: '[long] first' })).json;
  await waitFor('the model request', () => requests.some((m) => m.some((x) => x.includes('[long] first'))));
  const psql = spawn('psql', ['-XqAt', database.url], { stdio: ['pipe', 'pipe', 'inherit'] });
  let held = '';
  psql.stdout.on('data', (d) => (held += d));
  psql.stdin.write(`begin; select 'held' from runs.runs where id = '${first.agent_run_id}' for update;\n`);
  await waitFor('the lock', () => held.includes('held'));
  const second = await u.start({ prompt: 'second', thread_id: first.thread_id, on_busy: 'interrupt' });
  assert.equal(second.status, 200, second.text);
  await server.kill();
  const sessions = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle in transaction'";
  await waitFor('the sessions of the killed server to end', () => {
    database.sql(`select count(pg_terminate_backend(pid)) ${sessions}`);
    return database.sql(`select count(*) ${sessions}`) === '0';
  });
  psql.stdin.end('rollback;\n');
  await new Promise((r) => psql.on('exit', r));
  assert.equal(database.sql(`select stop_requested_at is null and status = 'running' from runs.runs where id = '${first.agent_run_id}'`), 't');
  await server.start();
  const s = await u.stream(second.json.agent_run_id);
  assert.equal(s.events.at(-1).status, 'completed', s.raw);
  assert.equal((await u.get(`/agent-run/${first.agent_run_id}`)).json.status, 'stopped');
  await waitFor('the job to finish', () => database.sql(`select count(*) from core.job where kind = 'runs.interrupt'`) === '0');
});

test('a change of the tier applies to runs that are already waiting', async () => {
  const admin = await server.user({ role: 'admin' });
  const setTier = async (u, tier) => assert.equal((await admin.request('PUT', `/admin/accounts/${u.id}`, { json: { tier } })).status, 200);
  const u = await server.user();
  const active = (await u.start({ prompt: '[long]' })).json;
  const second = (await u.start({ prompt: 'second', queue: 'true' })).json;
  const third = (await u.start({ prompt: '[long] third', queue: 'true' })).json;
  assert.equal(third.queue_position, 2);
  await setTier(u, 'pro');
  const s = await u.stream(second.agent_run_id);
  assert.equal(s.events.at(-1).status, 'completed', s.raw);
  await u.stream(third.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  assert.equal((await u.get(`/agent-run/${active.agent_run_id}`)).json.status, 'running');
  const fourth = (await u.start({ prompt: '[long] fourth' })).json;
  assert.equal(fourth.queue_position, undefined);
  const fifth = (await u.start({ prompt: 'fifth', queue: 'true' })).json;
  assert.equal(fifth.queue_position, 1);
  await setTier(u, 'free');
  await waitFor('the limit of the smaller tier', () => database.sql(`select slot_limit from runs.runs where id = '${fifth.agent_run_id}'`) === '1');
  for (const r of [active, third]) await u.post(`/agent-run/${r.agent_run_id}/stop`);
  assert.equal((await u.get(`/agent-run/${fifth.agent_run_id}`)).json.queue_position, 1, 'one run is still active');
  await u.post(`/agent-run/${fourth.agent_run_id}/stop`);
  assert.equal((await u.stream(fifth.agent_run_id)).events.at(-1).status, 'completed');
});

test('a repeated start of a waiting run gets the first response, including its queue position', async () => {
  const u = await server.user();
  const active = (await u.start({ prompt: '[long]' })).json;
  await u.start({ prompt: 'second', queue: 'true' });
  const key = { 'Idempotency-Key': randomUUID() };
  const first = await u.start({ prompt: 'third', queue: 'true' }, key);
  assert.equal(first.json.queue_position, 2);
  const again = await u.start({ prompt: 'third', queue: 'true' }, key);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(again.json, first.json);
  await u.post(`/agent-run/${active.agent_run_id}/stop`);
  assert.equal((await u.stream(first.json.agent_run_id)).events.at(-1).status, 'completed');
  assert.deepEqual((await u.start({ prompt: 'third', queue: 'true' }, key)).json, first.json);
});
