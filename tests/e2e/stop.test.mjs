// Stopping a run is immediate, from any node and at any moment, with one outcome for all clients.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Client, Server, makeDatabase, sleep, slow, statuses, waitFor } from './lib/server.mjs';

const secret = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
let database, llm, a, b;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    const late = /\[late (\d+)\]/.exec(prompt);
    if (prompt.includes('[tool]') && !request.messages.some((m) => m.role === 'tool'))
      return reply.tools([{ name: 'shell', arguments: { command: `sleep ${/sleeps ([\d.]+)/.exec(prompt)[1]}` } }]);
    reply.text('begun ');
    if (prompt.includes('[hang]')) return;
    if (late) await sleep(Number(late[1]));
    reply.end({ input: 100, output: 10 });
  });
  const settings = '[runs.prices."mock/basic"]\ninput = 1000000\noutput = 2000000\n[accounts.tiers.free]\nthreads = 100000';
  a = await new Server({ database, llm, set: [secret], settings }).start();
  b = await new Server({ database, llm, set: [secret], settings }).start();
});
after(async () => {
  await a?.close();
  await b?.close();
  await llm?.close();
  database?.drop();
});

const median = (v) => v.toSorted((x, y) => x - y)[v.length >> 1];
const start = async (u, prompt) => {
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  return r.json.agent_run_id;
};

// Checks that the run, its stream, its job and its charges consistently report one end.
async function expectConsistentEnd(u, id, status) {
  assert.equal((await u.get(`/agent-run/${id}`)).json.status, status);
  const s = await u.stream(id);
  assert.deepEqual(statuses(s.events).filter((x) => x !== 'running'), [status]);
  assert.equal(s.events.at(-1).status, status);
  assert.deepEqual(s.events.map((e) => e.sequence), s.events.map((_, i) => i + 1));
  assert.equal(database.sql(`select count(*) from core.job where args->>'run_id' = '${id}'`), '0');
  assert.equal(database.sql(`select count(*) = count(distinct ref) from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`), 't');
  assert.equal(database.sql(`select coalesce(-sum(delta_micro), 0) = (select sum(charged_micro) from runs.runs where account_id = '${u.id}') from accounts.ledger where account_id = '${u.id}' and kind = 'charge'`), 't');
  return s;
}

test('in mid-answer, a stop takes at most 50 ms at the median and first closes the model socket', async () => {
  const durations = [];
  for (let i = 0; i < 21; i++) {
    const u = await a.user();
    const id = await start(u, `[hang] median ${i} .`);
    await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
    const call = llm.seen.find((c) => lastUser(c.json).includes(`median ${i} .`));
    const began = performance.now();
    const stop = await u.post(`/agent-run/${id}/stop`);
    durations.push(performance.now() - began);
    const answered = Date.now();
    assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
    await call.closed;
    assert.ok(call.closedAt <= answered + 20 * slow, `${call.closedAt - answered} ms after the response`);
    assert.equal(call.aborted, true);
    if (i % 10 === 0) await expectConsistentEnd(u, id, 'stopped');
  }
  assert.ok(median(durations) <= 50 * slow, `median ${median(durations)} ms`);
});

test('from another node, a stop is consistent and takes at most 400 ms at the median', async () => {
  const durations = [];
  for (let i = 0; i < 7; i++) {
    const u = await a.user();
    const id = await start(u, '[hang]');
    await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
    const other = new Client(b, u.token, u.id);
    const began = performance.now();
    const stop = await other.post(`/agent-run/${id}/stop`);
    durations.push(performance.now() - began);
    assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
    await expectConsistentEnd(other, id, 'stopped');
  }
  assert.ok(median(durations) <= 400 * slow, `median ${median(durations)} ms`);
});

// All processes of the machine, including those in sandboxes, with this argument.
const processes = (argument) => readdirSync('/proc').filter((pid) => {
  if (!/^\d+$/.test(pid)) return false;
  try { return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument); } catch { return false; }
});

test('in a tool call, the process has terminated before a stop responds, from this and from another node', async () => {
  for (const from of [a, b]) {
    const u = await a.user();
    const argument = `30.${process.pid}${from === a ? 1 : 2}`;
    const id = await start(u, `[tool] sleeps ${argument}`);
    await waitFor('the command to run', () => processes(argument).length !== 0);
    const began = Date.now();
    const stop = await new Client(from, u.token, u.id).post(`/agent-run/${id}/stop`);
    assert.deepEqual(processes(argument), []);
    assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
    assert.ok(Date.now() - began < 1000, `${Date.now() - began} ms`);
    await expectConsistentEnd(u, id, 'stopped');
  }
});

test('immediately after the start, a run can be stopped, from this and from another node', async () => {
  for (let i = 0; i < 20; i++) {
    const u = await a.user();
    const id = await start(u, '[hang]');
    const from = i % 2 ? new Client(b, u.token, u.id) : u;
    const stop = await from.post(`/agent-run/${id}/stop`);
    assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
    await expectConsistentEnd(u, id, 'stopped');
    const next = await u.start({ prompt: 'x' });
    assert.equal(next.status, 200, `the slot is free: ${next.text}`);
    await u.stream(next.json.agent_run_id);
  }
});

test('concurrent stops get the same response', async () => {
  const u = await a.user();
  const id = await start(u, '[hang]');
  const other = new Client(b, u.token, u.id);
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? other : u).post(`/agent-run/${id}/stop`)));
  for (const r of all) assert.deepEqual([r.status, r.json], [200, { status: 'stopped' }]);
  await expectConsistentEnd(u, id, 'stopped');
  assert.deepEqual((await other.post(`/agent-run/${id}/stop`)).json, { status: 'stopped' });
});

test('a stop that races with the completion has one outcome, reported consistently', async () => {
  const outcomes = { stopped: 0, completed: 0 };
  // Delay of the model's last chunk in milliseconds, adapted to the speed of the machine so that both outcomes occur.
  let delayMs = 60;
  for (let round = 0; round < 6; round++) {
    await Promise.all(Array.from({ length: 10 }, async (_, i) => {
      const u = await (i % 2 ? a : b).user();
      const other = new Client(i % 3 ? a : b, u.token, u.id);
      const id = await start(u, `[late ${Math.max(0, delayMs)}]`);
      const watching = u.stream(id);
      await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
      await sleep(40 + Math.random() * 40);
      const stops = await Promise.all([u.post(`/agent-run/${id}/stop`), other.post(`/agent-run/${id}/stop`)]);
      const status = stops[0].json.status;
      assert.ok(status === 'stopped' || status === 'completed', JSON.stringify(stops[0].json));
      for (const s of stops) assert.deepEqual([s.status, s.json], [200, { status }]);
      await expectConsistentEnd(other, id, status);
      assert.deepEqual(statuses((await watching).events).slice(-1), [status]);
      outcomes[status]++;
      delayMs += status === 'completed' ? 10 : -10;
    }));
  }
  assert.ok(outcomes.stopped > 2 && outcomes.completed > 2, JSON.stringify(outcomes));
});

test('a run whose worker was killed can be stopped from another node', async () => {
  const u = await b.user();
  const id = await start(u, '[hang]');
  await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
  await b.kill();
  const other = new Client(a, u.token, u.id);
  const began = Date.now();
  const stop = await other.post(`/agent-run/${id}/stop`);
  assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
  assert.ok(Date.now() - began < 1500, `${Date.now() - began} ms`);
  const s = await other.stream(id);
  assert.deepEqual(statuses(s.events).slice(-1), ['stopped']);
  await waitFor('the job to be deleted', () => database.sql(`select count(*) from core.job where args->>'run_id' = '${id}'`) === '0', 60000);
  await b.start();
});
