// End-to-end tests of the run API: start, stream, operations, errors.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { EventSource } from 'eventsource';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Client, Server, gapless, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
let database, llm, server;

async function defaultAnswer(request, reply) {
  const prompt = lastUser(request);
  const done = turns(request).filter((m) => m.role === 'tool');
  if (prompt.includes('[read]') && done.length === 0)
    return reply.tools([{ name: 'read_file', arguments: { path: 'uploads/notes.txt' } }]);
  if (prompt.includes('[shell]') && done.length === 0)
    return reply.tools([{ name: 'shell', arguments: { command: 'id -u; pwd; echo out; echo err >&2; exit 3' } }]);
  if (prompt.includes('[two]') && done.length === 0)
    return reply.tools([{ id: 'a', name: 'shell', arguments: { command: 'echo one' } }, { id: 'b', name: 'shell', arguments: { command: 'echo two' } }]);
  if (done.length) return reply.say(`tools said: ${done.map((m) => m.content).join(' | ')}`);
  if (prompt.includes('[slow]')) {
    for (let i = 0; i < 400 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(50); }
    return reply.end();
  }
  if (prompt.includes('[hang]')) { reply.text('begun '); return; }
  if (prompt.includes('[401]')) return reply.fail(401, {}, 'bad key sk-test-secret-value');
  for (const word of ['Hello', ' from', ' the', ' model']) reply.text(word);
  reply.end();
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(defaultAnswer);
  server = await new Server({ database, llm }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

test('a start responds immediately, and the stream ends with exactly one terminal event', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'Say hello' });
  assert.equal(r.status, 200, r.text);
  assert.match(r.json.thread_id, uuid);
  assert.match(r.json.agent_run_id, uuid);
  assert.match(r.json.project_id, uuid);
  assert.equal(r.json.status, 'running');
  assert.ok(!('sandbox_id' in r.json));
  assert.ok(!('timing_breakdown' in r.json));
  assert.ok(r.headers.get('server-timing'));
  const s = await u.stream(r.json.agent_run_id);
  assert.equal(s.status, 200);
  assert.match(s.headers.get('content-type'), /^text\/event-stream/);
  assert.equal(s.headers.get('cache-control'), 'no-cache, no-transform');
  assert.equal(s.headers.get('x-accel-buffering'), 'no');
  assert.ok(s.ended);
  assert.ok(gapless(s.events), s.raw);
  assert.equal(textOf(s.events), 'Hello from the model');
  assert.deepEqual(statuses(s.events).slice(-1), ['completed']);
  assert.equal(statuses(s.events).filter((x) => x !== 'running').length, 1);
  assert.equal(s.events.at(-1).reason, 'ok');
  assert.match(s.raw, /"type": "status"/);
  assert.doesNotMatch(s.raw, /^event:/m);
  const end = s.events.find((e) => e.type === 'llm_response_end');
  assert.deepEqual(end.usage, { input_tokens: 10, output_tokens: 5, cached_tokens: 0 });
  // A reconnect after the terminal event gets 204, so that EventSource stops.
  const again = await u.stream(r.json.agent_run_id, { headers: { 'last-event-id': String(s.events.at(-1).sequence) } });
  assert.equal(again.status, 204);
  // Without a resume id, the stream is replayed from the start.
  const replay = await u.stream(r.json.agent_run_id);
  assert.deepEqual(replay.events, s.events);
  for (const q of ['last_event_id', 'last_id']) {
    const part = await u.stream(r.json.agent_run_id, { query: `?${q}=2` });
    assert.deepEqual(part.events, s.events.slice(2));
  }
});

test('the agent reads an uploaded file in its sandbox', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[read] What does it say?', files: [{ name: 'notes.txt', data: 'forty-two apples' }] });
  assert.equal(r.status, 200, r.text);
  assert.match(r.json.sandbox_id, uuid);
  const s = await u.stream(r.json.agent_run_id);
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  const call = s.events.find((e) => e.type === 'tool_call');
  assert.equal(call.name, 'read_file');
  assert.deepEqual(call.arguments, { path: 'uploads/notes.txt' });
  assert.equal(call.source, 'sandbox');
  const result = s.events.find((e) => e.type === 'tool_result');
  assert.equal(result.tool_call_id, call.tool_call_id);
  assert.equal(result.is_error, false);
  assert.match(result.content, /forty-two apples/);
  assert.match(textOf(s.events), /forty-two apples/);
  const sent = llm.seen.find((c) => lastUser(c.json).includes('[read]'));
  assert.match(lastUser(sent.json), /\[Attached: notes\.txt \(.*\) -> uploads\/notes\.txt\]/);
  const list = await u.get(`/projects/${r.json.project_id}/files?path=uploads`);
  assert.equal(list.status, 200, list.text);
  assert.match(list.text, /notes\.txt/);
  const content = await u.get(`/projects/${r.json.project_id}/files/content?path=uploads/notes.txt`);
  assert.equal(content.text, 'forty-two apples');
  for (const path of ['../../etc/passwd', '/etc/passwd', 'uploads/../../x']) {
    const bad = await u.get(`/projects/${r.json.project_id}/files/content?path=${encodeURIComponent(path)}`);
    assert.ok([400, 403, 404].includes(bad.status), `${path}: ${bad.status}`);
    assert.doesNotMatch(bad.text, /root:/);
  }
});

test('the shell runs without privileges, and the model receives the output of a failed command', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[shell]' });
  const s = await u.stream(r.json.agent_run_id);
  const result = s.events.find((e) => e.type === 'tool_result');
  assert.match(result.content, /\/workspace/);
  assert.match(result.content, /out/);
  assert.match(result.content, /err/);
  assert.match(result.content, /3/);
  assert.doesNotMatch(result.content, /^0$/m, 'the command ran as root');
  const mode = process.getuid() === 0 ? 'drop_root' : 'user_namespace';
  assert.match(server.log, new RegExp(`sandbox ready.*${mode}`));
  const uid = Number(/(?:^|\n)(\d+)\n\/workspace/.exec(result.content)?.[1]);
  assert.ok(mode === 'drop_root' ? uid >= 61184 && uid < 65280 : uid === 1000, result.content);
  assert.deepEqual(statuses(s.events).slice(-1), ['completed']);
});

test('all tool calls of one answer are executed, and their results are returned in order', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[two]' });
  const s = await u.stream(r.json.agent_run_id);
  assert.deepEqual(s.events.filter((e) => e.type === 'tool_call').map((e) => e.tool_call_id).sort(), ['a', 'b']);
  assert.match(textOf(s.events), /one[^]*two/);
});

test('npm eventsource and curl read the same stream', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'Say hello' });
  const id = r.json.agent_run_id;
  const streamToken = await u.post(`/agent-run/${id}/stream-token`);
  assert.equal(streamToken.status, 200, streamToken.text);
  const url = `${server.url}/agent-run/${id}/stream?token=${encodeURIComponent(streamToken.json.token)}`;
  const got = [];
  let opened = 0;
  await new Promise((resolve, reject) => {
    const source = new EventSource(url);
    const timer = setTimeout(() => reject(new Error('eventsource did not end')), 15000);
    source.onopen = () => opened++;
    source.onmessage = (m) => got.push({ id: m.lastEventId, ...JSON.parse(m.data) });
    // The server ends the response after the terminal event; the reconnect gets 204, which closes the source.
    source.onerror = (e) => {
      if (e.code === 204 || source.readyState === EventSource.CLOSED) { clearTimeout(timer); source.close(); resolve(); }
    };
  });
  assert.equal(opened, 1);
  assert.equal(got.at(-1).type, 'status');
  assert.equal(got.at(-1).status, 'completed');
  const curl = execFileSync('curl', ['-sSN', '-m', '10', '-H', `Authorization: Bearer ${u.token}`, `${server.url}/agent-run/${id}/stream`], { encoding: 'utf8' });
  const lines = curl.split('\n').filter((l) => l.startsWith('data: ')).map((l) => JSON.parse(l.slice(6)));
  assert.deepEqual(lines.map((l) => l.sequence), got.map((g) => g.sequence));
  // A stream token is valid only for its run, and never appears in the log.
  const other = await u.start({ prompt: 'Say hello' });
  const stolen = await new Client(server).get(`/agent-run/${other.json.agent_run_id}/stream?token=${encodeURIComponent(streamToken.json.token)}`);
  assert.equal(stolen.status, 401);
  assert.ok(!server.log.includes(streamToken.json.token));
  await u.stream(other.json.agent_run_id);
});

test('a reader that disconnects and resumes gets every event exactly once', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[slow]' });
  const id = r.json.agent_run_id;
  const all = [];
  for (let last = 0, n = 0; n < 4; n++) {
    const s = await u.stream(id, { headers: last ? { 'last-event-id': String(last) } : {}, until: (e) => e.sequence >= last + 7 });
    all.push(...s.events);
    last = all.at(-1).sequence;
  }
  assert.ok(gapless(all), JSON.stringify(all.map((e) => e.sequence)));
  const stop = await u.post(`/agent-run/${id}/stop`);
  assert.equal(stop.status, 200);
  const rest = await u.stream(id, { headers: { 'last-event-id': String(all.at(-1).sequence) } });
  assert.ok(gapless([...all, ...rest.events]));
});

test('stop ends a run in mid-answer, closes the model socket, and is idempotent', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[hang] stop me' });
  const id = r.json.agent_run_id;
  await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
  const call = llm.seen.find((c) => lastUser(c.json).includes('stop me'));
  const began = Date.now();
  const stop = await u.post(`/agent-run/${id}/stop`);
  const durationMs = Date.now() - began;
  assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
  assert.ok(durationMs < 1000, `stop took ${durationMs} ms`);
  await call.closed;
  assert.ok(call.closedAt - began <= durationMs + 50, 'the model socket closed before the response');
  assert.equal(call.aborted, true);
  const s = await u.stream(id);
  assert.deepEqual(statuses(s.events).slice(-1), ['stopped']);
  assert.equal(s.events.at(-1).reason, 'user_stop');
  assert.deepEqual((await u.post(`/agent-runs/${id}/stop`)).json, { status: 'stopped' });
  const done = await u.start({ prompt: 'Say hello' });
  await u.stream(done.json.agent_run_id);
  assert.deepEqual((await u.post(`/agent-run/${done.json.agent_run_id}/stop`)).json, { status: 'completed' });
});

test('a forced deletion first stops the runs of the thread, including waiting ones', async () => {
  const u = await server.user({ tier: 'pro' });
  const r = await u.start({ prompt: '[hang] delete me' });
  const thread = r.json.thread_id;
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  const waiting = await u.start({ prompt: 'after', thread_id: thread, on_busy: 'enqueue' });
  assert.equal(waiting.status, 200, waiting.text);
  const remove = (force) => u.request('DELETE', `/threads/${thread}${force}`);
  for (const force of ['', '?force=false']) assert.equal((await remove(force)).status, 409, force);
  const wrong = await remove('?force=perhaps');
  assert.deepEqual([wrong.status, wrong.json.detail], [422, 'force must be true or false']);
  const other = await server.user();
  assert.equal((await other.request('DELETE', `/threads/${thread}?force=true`)).status, 404);
  assert.equal((await u.get(`/agent-run/${r.json.agent_run_id}`)).json.status, 'running');
  const call = llm.seen.find((c) => lastUser(c.json).includes('delete me'));
  assert.equal((await remove('?force=true')).status, 204);
  await call.closed;
  for (const id of [r, waiting].map((s) => s.json.agent_run_id)) assert.equal((await u.get(`/agent-run/${id}`)).status, 404);
  assert.equal((await remove('?force=true')).status, 404);
  assert.equal(llm.seen.some((c) => lastUser(c.json) === 'after'), false, 'the waiting run never began');
});

test('a repeated start whose thread was deleted gets the first response', async () => {
  const u = await server.user();
  const key = { 'idempotency-key': crypto.randomUUID() };
  const first = await u.start({ prompt: 'Say hello' }, key);
  await u.stream(first.json.agent_run_id);
  assert.equal((await u.request('DELETE', `/threads/${first.json.thread_id}`)).status, 204);
  const again = await u.start({ prompt: 'Say hello' }, key);
  assert.deepEqual([again.status, again.json, again.headers.get('idempotency-replayed')], [200, first.json, 'true']);
  assert.deepEqual((await u.get('/agent-runs')).json.agent_runs ?? [], []);
});

test('run operations: get, list, active, thread', async () => {
  const u = await server.user({ tier: 'pro' });
  const r = await u.start({ prompt: 'Say hello' });
  await u.stream(r.json.agent_run_id);
  for (const path of [`/agent-run/${r.json.agent_run_id}`, `/agent-runs/${r.json.agent_run_id}/status`]) {
    const got = await u.get(path);
    assert.equal(got.status, 200, got.text);
    assert.equal(got.json.id, r.json.agent_run_id);
    assert.equal(got.json.agent_run_id, r.json.agent_run_id);
    assert.equal(got.json.thread_id, r.json.thread_id);
    assert.equal(got.json.project_id, r.json.project_id);
    assert.equal(got.json.status, 'completed');
    assert.match(got.json.started_at, /Z$/);
    assert.match(got.json.completed_at, /Z$/);
    assert.equal(got.json.error, null);
    assert.ok(got.json.usage);
  }
  const second = await u.start({ prompt: '[hang]', thread_id: r.json.thread_id });
  assert.equal(second.status, 200, second.text);
  assert.equal(second.json.thread_id, r.json.thread_id);
  const active = await u.get('/agent-runs/active');
  assert.deepEqual(active.json.active_runs.map((x) => x.id ?? x.agent_run_id), [second.json.agent_run_id]);
  const ofThread = await u.get(`/thread/${r.json.thread_id}/agent-runs`);
  assert.deepEqual(ofThread.json.agent_runs.map((x) => x.id), [second.json.agent_run_id, r.json.agent_run_id]);
  const page = await u.get('/agent-runs?limit=1');
  assert.equal(page.json.agent_runs.length, 1);
  const next = await u.get(`/agent-runs?limit=1&cursor=${encodeURIComponent(page.json.next_cursor)}`);
  assert.deepEqual([...page.json.agent_runs, ...next.json.agent_runs].map((x) => x.id), [second.json.agent_run_id, r.json.agent_run_id]);
  const done = await u.get('/agent-runs?status=completed');
  assert.deepEqual(done.json.agent_runs.map((x) => x.id), [r.json.agent_run_id]);
  await u.post(`/agent-run/${second.json.agent_run_id}/stop`);
  const messages = await u.get(`/threads/${r.json.thread_id}/messages?order=asc`);
  assert.equal(messages.status, 200, messages.text);
  assert.deepEqual(messages.json.messages.slice(0, 2).map((m) => m.role), ['user', 'assistant']);
  assert.equal((await u.get('/threads')).json.threads[0].thread_id, r.json.thread_id);
  assert.ok([200, 204].includes((await u.request('DELETE', `/threads/${r.json.thread_id}`)).status));
  assert.equal((await u.get(`/threads/${r.json.thread_id}`)).status, 404);
});

test('objects of another account are not found', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'Say hello' });
  await u.stream(r.json.agent_run_id);
  const other = await server.user();
  for (const [method, path] of [['GET', `/agent-run/${r.json.agent_run_id}`], ['GET', `/agent-run/${r.json.agent_run_id}/stream`],
    ['POST', `/agent-run/${r.json.agent_run_id}/stop`], ['POST', `/agent-run/${r.json.agent_run_id}/stream-token`], ['GET', `/threads/${r.json.thread_id}`],
    ['GET', `/thread/${r.json.thread_id}/agent-runs`], ['GET', `/projects/${r.json.project_id}/files?path=`]])
    assert.equal((await other.request(method, path)).status, 404, path);
  const start = await other.start({ prompt: 'x', thread_id: r.json.thread_id });
  assert.deepEqual([start.status, start.json], [404, { detail: 'Thread not found' }]);
});

test('rejected starts return the documented bodies and store nothing', async () => {
  const anonymous = new Client(server);
  const unauthenticated = await anonymous.start({ prompt: 'x' });
  assert.deepEqual([unauthenticated.status, unauthenticated.json], [401, { detail: 'Not authenticated' }]);
  assert.match(unauthenticated.headers.get('www-authenticate'), /^Bearer/);
  for (const token of ['nonsense', 'a.b.c', 'ry_none_none'])
    assert.equal((await new Client(server, token).start({ prompt: 'x' })).status, 401, token);

  const u = await server.user();
  const cases = [
    [{}, 400, 'prompt required when creating new thread'],
    [{ prompt: 'x', optimistic: 'true' }, 400, 'thread_id and project_id required for optimistic mode'],
    [{ prompt: 'x', optimistic: 'true', thread_id: randomUUID() }, 400, 'thread_id and project_id required for optimistic mode'],
    [{ prompt: 'x', optimistic: 'true', thread_id: 'no', project_id: randomUUID() }, 400, 'Invalid UUID format'],
    [{ prompt: 'x', thread_id: 'not-a-uuid' }, 400, 'Invalid UUID format'],
    [{ prompt: 'x', thread_id: randomUUID() }, 404, 'Thread not found'],
    [{ prompt: 'x', agent_id: randomUUID() }, 404, 'Worker not found'],
  ];
  for (const [form, status, detail] of cases) {
    const r = await u.start(form);
    assert.deepEqual([r.status, r.json?.detail], [status, detail], JSON.stringify(form) + r.text);
  }
  const denied = await u.start({ prompt: 'x', model_name: 'other/expensive' });
  assert.equal(denied.status, 402, denied.text);
  assert.equal(denied.json.detail.error_code, 'MODEL_ACCESS_DENIED');
  assert.equal(denied.json.detail.tier_name, 'free');
  assert.equal(database.sql(`select count(*) from runs.threads where account_id = '${u.id}'`), '0');
  assert.equal(database.sql(`select count(*) from runs.projects where account_id = '${u.id}'`), '0');
});

test('optimistic mode uses the ids of the client; a repetition with its key returns the first result', async () => {
  const u = await server.user();
  const form = { prompt: 'Say hello', optimistic: 'true', thread_id: randomUUID(), project_id: randomUUID() };
  const key = { 'idempotency-key': randomUUID() };
  const r = await u.start(form, key);
  assert.equal(r.status, 200, r.text);
  assert.deepEqual([r.json.thread_id, r.json.project_id], [form.thread_id, form.project_id]);
  const again = await u.start(form, key);
  assert.deepEqual([again.status, again.json], [200, r.json]);
  const other = await u.start({ ...form, prompt: 'Say something else' }, key);
  assert.equal(other.status, 409);
  await u.stream(r.json.agent_run_id);
  const stranger = await server.user();
  assert.equal((await stranger.start(form)).status, 404);
});

test('a repetition with the same key may use another field order and another boundary', async () => {
  const u = await server.user();
  const key = { 'idempotency-key': randomUUID() };
  const prompt = ['prompt', 'Say hello'], mode = ['mode', 'chat'];
  const a = ['files', new Blob(['one']), 'a.txt'], b = ['files', new Blob(['two']), 'b.txt'];
  const start = (...parts) => {
    const body = new FormData();
    for (const part of parts) body.append(...part);
    return u.post('/agent/start', { body, headers: key });
  };
  const first = await start(prompt, mode, a, b);
  assert.equal(first.status, 200, first.text);
  for (const parts of [[prompt, mode, a, b], [mode, prompt, a, b], [a, mode, b, prompt]]) {
    const again = await start(...parts);
    assert.deepEqual([again.status, again.json, again.headers.get('idempotency-replayed')], [200, first.json, 'true']);
  }
  for (const parts of [[prompt, mode, b, a], [prompt, a, b], [['prompt', 'chat'], ['mode', 'chat'], a, b]])
    assert.equal((await start(...parts)).status, 409);
  await u.stream(first.json.agent_run_id);
});

test('if two accounts send the same new ids, one gets them and the other gets 404', async () => {
  const both = [await server.user({ tier: 'pro' }), await server.user({ tier: 'pro' })];  // a tier whose thread limit is not reached
  for (const u of both) await u.get('/account');
  for (const more of [{}, { files: [{ name: 'a.txt', data: 'forty-two' }] }, { on_busy: 'interrupt' }]) {
    for (let round = 0; round < 4; round++) {
      const form = { prompt: 'Say hello', optimistic: 'true', thread_id: randomUUID(), project_id: randomUUID(), ...more };
      const answers = await Promise.all(both.map((u) => u.start(form)));
      assert.deepEqual(answers.map((r) => r.status).sort(), [200, 404], answers.map((r) => r.text).join());
      assert.deepEqual(answers.find((r) => r.status === 404).json, { detail: 'Thread not found' });
      await Promise.all(answers.map((r, i) => r.status === 200 && both[i].stream(r.json.agent_run_id)));
    }
  }
});

test('two starts at the concurrency limit: one run, one 402 with the running threads', async () => {
  const u = await server.user();
  await u.get('/account');
  const [a, b] = await Promise.all([u.start({ prompt: '[hang]' }), u.start({ prompt: '[hang]' })]);
  const [won, lost] = a.status === 200 ? [a, b] : [b, a];
  assert.deepEqual([won.status, lost.status], [200, 402], a.text + b.text);
  const d = lost.json.detail;
  assert.equal(d.error_code, 'AGENT_RUN_LIMIT_EXCEEDED');
  assert.deepEqual([d.running_count, d.limit, d.running_thread_ids], [1, 1, [won.json.thread_id]]);
  assert.ok(d.message);
  assert.equal(database.sql(`select count(*) from runs.threads where account_id = '${u.id}'`), '1');
  await u.post(`/agent-run/${won.json.agent_run_id}/stop`);
  const after = await u.start({ prompt: 'Say hello' });
  assert.equal(after.status, 200, after.text);
  await u.stream(after.json.agent_run_id);
});

test('concurrent starts of one account share statements, and each gets its own response', async () => {
  const u = await server.user({ tier: 'enterprise' });
  const others = [{ agent_id: randomUUID() }, { headers: { 'Idempotency-Key': 'one of many' } }];
  const forms = [...Array(28).fill({}), ...others];
  // Another session holds the account's lock until the starts wait for it, so that they meet on a busy machine, too.
  const holder = spawn('psql', ['-XqAt', database.url, '-c', `begin; select accounts.lock_account('${u.id}'), pg_sleep(60)`], { stdio: 'ignore' });
  const held = () => database.sql(`select pid from pg_stat_activity where datname = current_database() and query like '%lock_account%pg_sleep(60)' and state = 'active'`);
  const pid = await waitFor('the lock', held);
  const started = Promise.all(forms.map(({ headers, ...form }) => u.start({ prompt: '[hang]', ...form }, headers)));
  await waitFor('starts that wait', () => Number(database.sql(`select count(*) from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`)) > 0);
  await sleep(500);
  database.sql(`select pg_terminate_backend(${pid})`);
  const answers = await started;
  holder.kill();
  assert.deepEqual([answers[28].status, answers[28].json], [404, { detail: 'Worker not found' }]);
  const made = answers.filter((r) => r.status === 200);
  assert.equal(made.length, 10, answers.map((r) => r.text).join('\n'));
  const threads = made.map((r) => r.json.thread_id).sort();
  assert.equal(new Set(threads).size, 10);
  for (const r of answers.filter((r, i) => r.status !== 200 && i !== 28)) {
    assert.equal(r.status, 402, r.text);
    const { message, running_thread_ids, ...rest } = r.json.detail;
    assert.deepEqual(rest, { running_count: 10, limit: 10, error_code: 'AGENT_RUN_LIMIT_EXCEEDED' }, message);
    assert.deepEqual(running_thread_ids.sort(), threads);
  }
  const [count, transactions] = database.sql(`select count(*) || ' ' || count(distinct xmin::text) from runs.threads where account_id = '${u.id}'`).split(' ').map(Number);
  assert.equal(count, 10);
  assert.ok(transactions < 10, `${transactions} transactions`);
  await Promise.all(made.map((r) => u.post(`/agent-run/${r.json.agent_run_id}/stop`)));
  const after = await u.start({ prompt: 'Say hello' });
  assert.equal(after.status, 200, after.text);
  await u.stream(after.json.agent_run_id);
});

test('an alias selects its model; the free tier gets the entry model instead of the mid-level one', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'downgrade me', model_name: 'runyard/power' });
  assert.equal(r.status, 200, r.text);
  await u.stream(r.json.agent_run_id);
  assert.equal(llm.seen.find((c) => lastUser(c.json).includes('downgrade me')).json.model, 'basic');
  const pro = await server.user({ tier: 'pro' });
  const p = await pro.start({ prompt: 'power please', model_name: 'runyard/power' });
  await pro.stream(p.json.agent_run_id);
  assert.equal(llm.seen.find((c) => lastUser(c.json).includes('power please')).json.model, 'power');
});

test('a provider error ends the run as failed, and no key reaches the client or the log', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[401]' });
  const s = await u.stream(r.json.agent_run_id);
  assert.deepEqual(statuses(s.events).slice(-1), ['failed']);
  assert.equal(s.events.at(-1).reason, 'llm_error');
  assert.doesNotMatch(s.raw, /sk-test-secret-value/);
  assert.doesNotMatch(server.log, /sk-test-secret-value/);
  assert.equal((await u.get(`/agent-run/${r.json.agent_run_id}`)).json.status, 'failed');
});

test('a retryable failure is retried with a new attempt', async () => {
  const u = await server.user();
  let n = 0;
  llm.answer = async (request, reply) => {
    if (!lastUser(request).includes('[flaky]')) return defaultAnswer(request, reply);
    if (++n === 1) return reply.fail(429, { 'retry-after': '0' });
    if (n === 2) { reply.text('half an ans'); await sleep(50); return reply.cut(); }
    reply.say('complete answer');
  };
  const r = await u.start({ prompt: '[flaky]' });
  const s = await u.stream(r.json.agent_run_id);
  llm.answer = defaultAnswer;
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  assert.equal(textOf(s.events), 'complete answer');
  assert.ok(Math.max(...s.events.filter((e) => e.type === 'llm_response_start').map((e) => e.attempt)) >= 2);
});

test('credits are charged per answer and the ledger balances', async () => {
  const u = await server.user();
  const before = (await u.get('/account')).json;
  const r = await u.start({ prompt: 'Say hello' });
  await u.stream(r.json.agent_run_id);
  const sum = database.sql(`select sum(delta_micro) = (select balance_micro from accounts.account where id = '${u.id}') from accounts.ledger where account_id = '${u.id}'`);
  assert.equal(sum, 't');
  assert.ok(before.balance_credits !== undefined);
});

test('only a super admin sees the timing', async () => {
  const admin = await server.user({ role: 'super_admin' });
  const r = await admin.start({ prompt: 'Say hello' }, { 'x-emit-timing': 'true' });
  assert.equal(r.status, 200, r.text);
  assert.equal(typeof r.json.timing_breakdown.setup_ms, 'number');
  await admin.stream(r.json.agent_run_id);
  const u = await server.user();
  const plain = await u.start({ prompt: 'Say hello' }, { 'x-emit-timing': 'true' });
  assert.ok(!('timing_breakdown' in plain.json));
  await u.stream(plain.json.agent_run_id);
});

test('uploads: names are sanitised, clashes get suffixes, hostile forms get a clear error', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'files', files: [
    { name: '../../evil.txt', data: 'a' }, { name: 'same.txt', data: '1' }, { name: 'same.txt', data: '2' }] });
  assert.equal(r.status, 200, r.text);
  await u.stream(r.json.agent_run_id);
  const prompt = lastUser(llm.seen.findLast((c) => lastUser(c.json).startsWith('files')).json);
  assert.match(prompt, /-> uploads\/evil\.txt\]/);
  assert.match(prompt, /uploads\/same\.txt/);
  assert.match(prompt, /uploads\/same_2\.txt/);
  const big = await u.start({ prompt: 'x', files: [{ name: 'big.bin', data: Buffer.alloc(11 * 1024 * 1024) }] });
  assert.equal(big.status, 413, big.text);
  assert.equal(big.json.detail.error_code, 'UPLOAD_TOO_LARGE');
  const many = await u.start({ prompt: 'x', files: Array.from({ length: 11 }, (_, i) => ({ name: `f${i}`, data: 'x' })) });
  assert.equal(many.status, 413, many.text);
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=zzz']) {
    const bad = await u.post('/agent/start', { headers: { 'content-type': type }, body: 'no form at all' });
    assert.equal(bad.status, 400, type + bad.text);
  }
});

test('a client that disconnects does not end the run', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[slow]' });
  await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await sleep(300);
  assert.equal((await u.get(`/agent-run/${r.json.agent_run_id}`)).json.status, 'running');
  await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
});

test('the terminal client runs a prompt and shows the stream', async () => {
  const u = await server.user();
  const { binary } = await import('./lib/server.mjs');
  const child = spawn(binary, ['run', 'Say hello', '--url', server.url], { env: { ...process.env, RUNYARD_TOKEN: u.token }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '', err = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (err += d));
  const code = await new Promise((resolve) => child.on('exit', resolve));
  assert.equal(code, 0, err);
  assert.match(out, /Hello from the model/);
});

test('health, readiness and metrics', async () => {
  const anonymous = new Client(server);
  assert.equal((await anonymous.get('/healthz')).status, 200);
  await waitFor('ready', async () => (await anonymous.get('/readyz')).status === 200);
  const metrics = await anonymous.get('/metrics');
  assert.equal(metrics.status, 200);
  assert.match(metrics.text, /^# TYPE runyard_/m);
});

// Workers build the terminal event in C++, with the other log rows of the last checkpoint; SQL builds it for runs
// without a worker.
test('terminal events built by workers are identical to those built by SQL', async () => {
  const u = await server.user();
  for (const prompt of ['hello', '[slow]']) {
    const r = await u.start({ prompt });
    if (prompt === '[slow]') {
      await u.stream(r.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
      await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
    }
    await u.stream(r.json.agent_run_id);
  }
  const compare = (equal) => Number(database.sql(`select count(*) from runs.runs r join runs.events e on e.run_id = r.id and e.last_seq = r.border_seq
    where r.completed_at is not null and (position(runs.terminal_payload(r) in e.wire) > 0) = ${equal}`));
  assert.ok(compare(true) >= 10, `${compare(true)}`);
  assert.equal(compare(false), 0, database.sql(`select r.status || ' ' || runs.terminal_payload(r) || ' ' || e.wire from runs.runs r join runs.events e
    on e.run_id = r.id and e.last_seq = r.border_seq where r.completed_at is not null and position(runs.terminal_payload(r) in e.wire) = 0 limit 1`));
});
