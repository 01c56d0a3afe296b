// Runs that wait: queue=true at the limit, on_busy on a thread whose run goes on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Server, gapless, makeDatabase, sleep, textOf, waitFor } from './lib/server.mjs';

let database, llm, server;
const asked = [];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    asked.push(request.messages.map((m) => `${m.role}:${m.content}`));
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

const placesOf = (s) => s.events.filter((e) => e.type === 'queued').map((e) => e.position);

test('queue=true waits for the slot, in order, told its places, and runs by itself', async () => {
  const u = await server.user();
  const going = (await u.start({ prompt: '[long]' })).json;
  const second = await u.start({ prompt: 'second', queue: 'true' });
  assert.equal(second.status, 200, second.text);
  assert.equal(second.json.status, 'running');
  assert.equal(second.json.queue_position, 1);
  const third = await u.start({ prompt: 'third', queue: 'true' });
  assert.equal(third.json.queue_position, 2);
  for (const form of [{ prompt: 'x' }, { prompt: 'x', queue: 'true' }]) {
    const refused = await u.start(form);
    assert.equal(refused.status, 402, refused.text);
    assert.deepEqual(refused.json.detail.running_thread_ids, [going.thread_id]);
    assert.equal(refused.json.detail.running_count, 1);
  }
  const shown = (await u.request('GET', `/agent-run/${third.json.agent_run_id}`)).json;
  assert.equal(shown.status, 'running');
  assert.equal(shown.queue_position, 2);
  const reading = [second, third].map((r) => u.stream(r.json.agent_run_id));
  await sleep(200);
  assert.deepEqual((await u.request('POST', `/agent-run/${going.agent_run_id}/stop`)).json, { status: 'stopped' });
  const [a, b] = await Promise.all(reading);
  for (const s of [a, b]) {
    assert.ok(gapless(s.events), s.raw);
    assert.equal(s.events.at(-1).status, 'completed', s.raw);
    assert.match(textOf(s.events), /begun done/);
    assert.ok(s.events.at(-1).queue_wait_ms >= 150, 'the wait counts');
  }
  assert.deepEqual(placesOf(a), [1]);
  assert.deepEqual(placesOf(b), [2, 1]);
});

test('a waiting run can be stopped at once, and the next one moves up', async () => {
  const u = await server.user();
  const going = (await u.start({ prompt: '[long]' })).json;
  const second = (await u.start({ prompt: 'second', queue: 'true' })).json;
  const third = (await u.start({ prompt: 'third', queue: 'true' })).json;
  const begun = performance.now();
  const stopped = await u.request('POST', `/agent-run/${second.agent_run_id}/stop`);
  assert.deepEqual(stopped.json, { status: 'stopped' });
  assert.ok(performance.now() - begun < 500, 'nobody had to be waited for');
  const s = await u.stream(second.agent_run_id);
  assert.ok(gapless(s.events), s.raw);
  assert.equal(s.events.at(-1).reason, 'user_stop');
  assert.equal((await u.request('GET', `/agent-run/${third.agent_run_id}`)).json.queue_position, 1);
  await u.request('POST', `/agent-run/${going.agent_run_id}/stop`);
  assert.equal((await u.stream(third.agent_run_id)).events.at(-1).status, 'completed');
});

test('on_busy: reject is 409, enqueue stands behind the answer, interrupt ends it', async () => {
  const u = await server.user();
  const first = (await u.start({ prompt: '[long] one' })).json;
  const thread_id = first.thread_id;
  await waitFor('the model to be asked', () => asked.some((m) => m.some((x) => x.includes('[long] one'))));
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
  const users = asked.at(-1).filter((m) => m.startsWith('user:'));
  assert.deepEqual(users.map((m) => m.slice(5)), ['[long] one', 'three']);
  const bad = await u.start({ prompt: 'x', thread_id, on_busy: 'rollback' });
  assert.equal(bad.status, 400);
  assert.match(bad.json.detail, /on_busy/);
});

test('reject on a busy thread is 409 with the run that goes on', async () => {
  const u = await server.user({ tier: 'pro' });
  const first = (await u.start({ prompt: '[long]' })).json;
  const r = await u.start({ prompt: 'two', thread_id: first.thread_id });
  assert.equal(r.status, 409, r.text);
  assert.equal(r.json.detail.agent_run_id, first.agent_run_id);
  await u.request('POST', `/agent-run/${first.agent_run_id}/stop`);
});

test('waiting runs survive a killed server', async () => {
  const u = await server.user();
  const going = (await u.start({ prompt: '[long]' })).json;
  const second = (await u.start({ prompt: 'second', queue: 'true' })).json;
  server.process.kill('SIGKILL');
  await server.exited;
  await server.start();
  await waitFor('the stop of the first', async () =>
    (await u.request('POST', `/agent-run/${going.agent_run_id}/stop`)).json?.status === 'stopped', 30000);
  assert.equal((await u.stream(second.agent_run_id)).events.at(-1).status, 'completed');
});
