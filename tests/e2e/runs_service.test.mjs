// The service runs/1, used by two modules that are built out of tree with only the installed SDK (abi.third_party puts
// them into third_party/ of the build): tests/abi/modules/run_relay.cpp with the C++ wrapper, run_relay.rs in plain Rust.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Client, Server, binary, build, gapless, makeDatabase, sleep, slow, statuses, textOf, waitFor } from './lib/server.mjs';

const relays = ['relay_cpp', 'relay_rust'];
const numbered = (n) => Array.from({ length: n }, (_, i) => `w${i} `).join('');
let dir, database, llm, server, release;
let gate;  // answers to [gate] wait for this after their first words

async function answer(request, reply) {
  const prompt = lastUser(request);
  const results = turns(request).filter((m) => m.role === 'tool');
  const [, words, interval] = /\[words (\d+) (\d+)\]/.exec(prompt) ?? [];
  if (words) {
    for (let i = 0; i < words && !reply.res.destroyed; i++) {
      reply.text(`w${i} `);
      if (interval !== '0') await sleep(Number(interval));
      else if (i % 100 === 0) await new Promise(setImmediate);
    }
    return reply.end();
  }
  if (prompt.includes('[gate]')) {
    reply.text('begun ');
    await gate;
    return reply.say('and ended');
  }
  if (prompt.includes('[weather]') && results.length === 0)
    return reply.tools([{ id: 'call_w', name: 'get_weather', arguments: { city: 'Oslo' } }]);
  if (prompt.includes('[ask]') && results.length === 0)
    return reply.tools([{ id: 'call_a', name: 'shell', arguments: { command: 'echo approved' } }]);
  if (results.length) return reply.say(`it is ${results[0].content}`);
  if (prompt.includes('[messages]')) return reply.say(JSON.stringify(request.messages.map((m) => [m.role, m.content])));
  reply.say(`echo: ${prompt}\n"quoted" é 😀`);
}

const startNode = (modules) => new Server({ database, llm, settings: '[runs]\ndrain_seconds = 1\n[[runs.tool_policy]]\nmatch = "shell"\naction = "ask"\n[reload]\ndrain_seconds = 2\n',
  set: [`modules.path=${modules}`, 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test', ...relays.map((n) => `modules.${n}.enabled=true`)] }).start();

before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-runs1-'));
  const modules = path.join(dir, 'modules');
  mkdirSync(modules);
  for (const file of readdirSync(path.join(build, 'modules')).filter((f) => f.endsWith('.so'))) symlinkSync(path.join(build, 'modules', file), path.join(modules, file));
  for (const name of relays) {
    const made = path.join(build, 'third_party', `${name}.so`);
    assert.ok(existsSync(made), `${made} does not exist: run ctest -R abi.third_party to build it`);
    copyFileSync(made, path.join(modules, `${name}.so`));
  }
  database = makeDatabase();
  llm = await startLlm(answer);
  server = await startNode(modules);
});
after(async () => {
  release?.();
  await server?.close();
  await llm?.close();
  database?.drop();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

function closeGate() {
  gate = new Promise((resolve) => (release = resolve));
}
const relay = (user, name, fields, query = '', options = {}) => user.post(`/${name}${query}`, { json: fields, ...options });
const call = (user, name, query = '', json) => user.post(`/relay_cpp/call/${name}${query}`, { json });
const types = (events) => events.map((e) => e.type);
const inOrder = (events, from = 1) => assert.deepEqual(events.map((e) => e.sequence), events.map((_, i) => from + i));
// The current run of a user, once it has streamed text.
async function beginning(user) {
  const run = await waitFor('a run', async () => (await user.get('/agent-runs')).json.agent_runs.find((r) => r.status === 'running')?.id);
  await user.stream(run, { until: (e) => e.type === 'llm_response_chunk' });
  return run;
}

async function reloadRuns() {
  const set = [...server.set, `data_dir=${path.join(server.dir, 'data')}`].flatMap((s) => ['--set', s]);
  const { stdout } = await promisify(execFile)(binary, ['modules', 'reload', 'runs', '--config', server.config, '--json', ...set], { env: { ...process.env, RUNYARD_URL: server.url } });
  const { started, left } = JSON.parse(stdout);
  assert.deepEqual(started.map((m) => m.module).filter((m) => relays.includes(m)).sort(), relays, 'the modules that need runs/1 are replaced');
  for (const m of left) assert.notEqual(m.outcome, 'retired', JSON.stringify(m));
}
// POST /relay_cpp with a streamed response.
const openSse = (user, query, fields = {}) => new Promise((resolve, reject) => {
  const body = JSON.stringify(fields);
  http.request(`${server.url}/relay_cpp?as=sse${query}`, { method: 'POST', headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } }, resolve)
    .on('error', reject).end(body);
});
async function readSse(response, wait = () => {}) {
  let text = '';
  response.setEncoding('utf8');
  for await (const piece of response) {
    text += piece;
    await wait(text.length);
  }
  return [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(([, id, data]) => ({ ...JSON.parse(data), $id: Number(id) }));
}

for (const name of relays) {
  test(`${name}: the events and the text of a run are those of its stream`, async () => {
    const u = await server.user();
    for (const prompt of ['Hello "you"\n', '[words 300 1]']) {
      const r = await relay(u, name, { prompt });
      assert.equal(r.status, 200, r.text);
      assert.equal(r.json.end, 'OK');
      const s = await u.stream(r.json.run_id);
      assert.deepEqual(r.json.events, s.events.map(({ $id, ...e }) => e));
      assert.equal(r.json.text, textOf(s.events));
      inOrder(r.json.events);
      assert.deepEqual(statuses(r.json.events).at(-1), 'completed');
    }
  });

  test(`${name}: follows from any event on, also after the end`, async () => {
    const u = await server.user();
    const all = (await relay(u, name, { prompt: '[words 50 0]' })).json;
    const last = all.events.at(-1).sequence;
    for (const after of [0, 1, 2, last - 1, last]) {
      const r = await relay(u, name, {}, `?run=${all.run_id}&after=${after}`);
      assert.equal(r.status, 200, `${after}: ${r.text}`);
      assert.deepEqual([r.json.end, r.json.events], ['OK', all.events.slice(after)], `after ${after}`);
    }
    const beyond = await relay(u, name, {}, `?run=${all.run_id}&after=18446744073709551615`);
    assert.deepEqual([beyond.status, beyond.json?.events], [200, []], beyond.text);
  });

  test(`${name}: follows a run in progress from several places`, async () => {
    const u = await server.user();
    closeGate();
    const whole = relay(u, name, { prompt: '[gate]' });
    const run = await beginning(u);
    const others = [0, 1, 2].map((after) => relay(u, name, {}, `?run=${run}&after=${after}`));
    const merged = relay(u, name, {}, `?run=${run}&merge_ms=200`);
    await sleep(100);
    release();
    const { events, text } = (await whole).json;
    for (const [after, r] of (await Promise.all(others)).entries()) assert.deepEqual(r.json.events, events.slice(after));
    assert.equal(text, 'begun and ended');
    assert.equal((await merged).json.text, text);
  });

  test(`${name}: decides on an approval`, async () => {
    const [u, other] = [await server.user(), await server.user()];
    const whole = relay(u, name, { prompt: '[ask]' });
    const { approval_id } = await waitFor('the approval', async () => (await u.get('/approvals?status=pending')).json.approvals[0]);
    const decide = (user, decision) => (name === 'relay_cpp'
      ? call(user, 'decide', `?id=${approval_id}`, { decision })
      : user.post(`/relay_rust?decide=${approval_id}`, { json: { decision } }));
    assert.equal((await decide(other, 'approve')).status, 404);
    assert.equal((await decide(u, 'perhaps')).status, 422);
    const decided = await decide(u, 'approve');
    assert.deepEqual([decided.status, decided.json.approval_id, decided.json.status], [200, approval_id, 'approved'], decided.text);
    assert.equal((await decide(u, 'approve')).status, 200);
    assert.equal((await decide(u, 'deny')).status, 409);
    assert.match((await whole).json.text, /it is approved/);
  });

  test(`${name}: runs of other accounts and unknown runs give a 404`, async () => {
    const [u, other] = [await server.user(), await server.user()];
    const { run_id } = (await relay(u, name, { prompt: 'mine' })).json;
    const expected = await other.get(`/agent-run/${run_id}`);
    assert.equal(expected.status, 404);
    for (const run of [run_id, '018f0000-0000-7000-8000-000000000000']) {
      const r = await relay(other, name, {}, `?run=${run}`);
      assert.deepEqual([r.status, r.json], [404, expected.json], run);
    }
  });

  test(`${name}: a refused start has the response of POST /agent/start`, async () => {
    const u = await server.user();
    closeGate();
    const first = relay(u, name, { prompt: '[gate]' });
    await beginning(u);
    const direct = await u.start({ prompt: 'second' });
    const relayed = await relay(u, name, { prompt: 'second' });
    assert.deepEqual([relayed.status, relayed.json], [402, direct.json], relayed.text);
    assert.equal(direct.status, 402);
    release();
    assert.equal((await first).status, 200);
    for (const form of [{}, { prompt: '' }, { prompt: 'x', thread_id: 'no-uuid' }, { prompt: 'x', thread_id: '018f0000-0000-7000-8000-000000000000' }, { prompt: 'x', model_name: 'runyard/none' }]) {
      const [d, r] = [await u.start(form), await relay(u, name, form)];
      assert.ok(d.status >= 400, JSON.stringify(form));
      assert.deepEqual([r.status, r.json], [d.status, d.json], JSON.stringify(form));
    }
  });

  test(`${name}: a paused reader of a long run loses nothing`, { timeout: 300_000 }, async () => {
    const u = await server.user();
    const n = 20_000;
    const started = await u.start({ prompt: `[words ${n} 0]` });
    assert.equal(started.status, 200, started.text);
    const run = started.json.agent_run_id;
    const [slowly, direct] = await Promise.all([relay(u, name, {}, `?run=${run}&pause_ms=400`), u.stream(run, { timeout: 200_000 })]);
    assert.equal(slowly.status, 200, slowly.text.slice(0, 500));
    assert.equal(slowly.json.end, 'OK');
    inOrder(slowly.json.events);
    assert.equal(slowly.json.events.length, direct.events.length);
    assert.ok(slowly.json.text === numbered(n), 'the text is complete');
  });

  test(`${name}: follows again after the server was killed`, { timeout: 120_000 }, async () => {
    const u = await server.user();
    const first = relay(u, name, { prompt: '[words 100 40]' }).catch((e) => e);
    const run = await beginning(u);
    const seen = await u.stream(run, { until: (e) => e.type === 'llm_response_chunk' && e.content.includes('w20') });
    await server.kill();
    assert.ok((await first) instanceof Error, 'the connection broke');
    await server.start();
    const from = seen.events.at(-1).sequence;
    const r = await relay(u, name, {}, `?run=${run}&after=${from}`);
    assert.equal(r.status, 200, r.text);
    inOrder(r.json.events, from + 1);
    assert.ok(types(r.json.events).includes('turn_aborted'));
    assert.equal(textOf([...seen.events, ...r.json.events]), numbered(100));
    const again = await relay(u, name, {}, `?run=${run}`);
    assert.equal(again.json.text, numbered(100));
  });

  test(`${name}: a reload of runs ends the reader, and the client continues`, { timeout: 120_000 }, async () => {
    const u = await server.user();
    const first = relay(u, name, { prompt: '[words 250 40]' });
    const run = await beginning(u);
    await reloadRuns();
    const cut = await first;
    assert.equal(cut.status, 200, cut.text);
    assert.equal(cut.json.end, 'CANCELLED');
    inOrder(cut.json.events);
    const from = cut.json.events.at(-1).sequence;
    const rest = await relay(u, name, {}, `?run=${run}&after=${from}`);
    assert.equal(rest.status, 200, rest.text);
    assert.equal(rest.json.end, 'OK');
    inOrder(rest.json.events, from + 1);
    assert.equal(textOf([...cut.json.events, ...rest.json.events]), numbered(250));
    assert.doesNotMatch(server.log, /contract violated|crashed/);
  });

  test(`${name}: history, system and instructions reach the model`, async () => {
    const u = await server.user();
    const history = [{ role: 'user', content: 'first question' }, { role: 'assistant', content: 'first answer' }];
    const r = await relay(u, name, { prompt: '[messages]', history: JSON.stringify(history), system: 'Be brief.', instructions: 'Use metric units.', mode: 'chat' });
    assert.equal(r.status, 200, r.text);
    const sent = JSON.parse(r.json.text);
    assert.equal(sent[0][0], 'system');
    assert.match(sent[0][1], /Be brief\.[\s\S]*Use metric units\./);
    assert.deepEqual(sent.slice(1).map(([role]) => role), ['user', 'assistant', 'user']);
    assert.deepEqual(sent[1][1], 'first question');
    const only = await relay(u, name, { history: JSON.stringify([...history, { role: 'user', content: 'second question' }]) });
    assert.equal(only.status, 200, only.text);
    assert.match(only.json.text, /^echo: second question/);
    for (const [field, value, reason] of [['history', '{', /history/], ['history', '[{"role":"robot","content":""}]', /history\[0\]\.role/], ['client_tools', '[{"name":"a b"}]', /client_tools\[0\]\.name/],
      ['tool_results', '[{"tool_call_id":"x","content":"y"}]', /thread_id/], ['system', 'x'.repeat(70_000), /system/]]) {
      const bad = await relay(u, name, { prompt: 'x', [field]: value });
      assert.equal(bad.status, 422, `${field}: ${bad.text}`);
      assert.match(bad.text, reason);
    }
  });

  test(`${name}: a tool of the client is called, and its result continues the thread`, async () => {
    const u = await server.user();
    const client_tools = JSON.stringify([{ name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }]);
    const r = await relay(u, name, { prompt: '[weather]', client_tools });
    assert.equal(r.status, 200, r.text);
    const requested = r.json.events.find((e) => e.type === 'tool_call');
    assert.equal(requested.source, 'client', JSON.stringify(requested));
    assert.equal(r.json.events.at(-1).reason, 'tool_calls');
    const thread_id = (await u.get(`/agent-run/${r.json.run_id}`)).json.thread_id;
    const wrong = await relay(u, name, { thread_id, tool_results: JSON.stringify([{ tool_call_id: 'other', content: 'x' }]) });
    assert.equal(wrong.status, 409, wrong.text);
    const id = requested.tool_call_id ?? requested.id;
    const rest = await relay(u, name, { thread_id, client_tools, tool_results: JSON.stringify([{ tool_call_id: id, content: 'rainy' }]) });
    assert.equal(rest.status, 200, rest.text);
    assert.equal(rest.json.text, 'it is rainy');
  });

  test(`${name}: a run waits for the result of a tool of the client`, async () => {
    const u = await server.user();
    const client_tools = JSON.stringify([{ name: 'get_weather', parameters: { type: 'object' } }]);
    const open = relay(u, name, { prompt: '[weather]', client_tools, client_calls: 'wait' });
    const run = await waitFor('a run', async () => (await u.get('/agent-runs')).json.agent_runs[0]?.id);
    await u.stream(run, { until: (e) => e.type === 'tool_results_requested' });
    const id = `?id=${run}`;
    const other = await server.user();
    const results = { tool_results: [{ tool_call_id: 'call_w', content: 'windy' }] };
    assert.equal((await call(other, 'tool_results', id, results)).status, 404);
    assert.equal((await call(u, 'tool_results', id, { tool_results: [] })).status, 422);
    assert.deepEqual((await call(u, 'tool_results', id, results)).json, { status: 'accepted' });
    const r = await open;
    assert.equal(r.json.text, 'it is windy');
    inOrder(r.json.events);
    assert.equal(r.json.events.at(-1).reason, 'ok');
  });
}

test('a run that is started in a transaction exists only after the commit', async () => {
  const u = await server.user();
  const rolledBack = await relay(u, 'relay_cpp', { prompt: 'never' }, '?tx=rollback');
  assert.equal(rolledBack.status, 200, rolledBack.text);
  assert.equal((await u.get(`/agent-run/${rolledBack.json.run_id}`)).status, 404);
  const rows = (run) => database.sql(`select count(*) from relay_cpp.start where run = '${run}'`);
  assert.equal(rows(rolledBack.json.run_id), '0');
  assert.equal(database.sql(`select count(*) from runs.runs where id = '${rolledBack.json.run_id}'`), '0');

  const begun = performance.now();
  const r = await relay(u, 'relay_cpp', { prompt: 'kept' }, '?tx=commit');
  assert.equal(r.status, 200, r.text);
  assert.equal(rows(r.json.run_id), '1');
  const s = await u.stream(r.json.run_id);
  assert.ok(performance.now() - begun < 3000 * slow, 'wake() starts the run');
  assert.match(textOf(s.events), /^echo: kept/);
  assert.deepEqual(database.sql(`select (s).status from runs.run_state('${u.id}', '${r.json.run_id}') s`), 'completed');

  // A refused start stores no data.
  closeGate();
  const busy = relay(u, 'relay_cpp', { prompt: '[gate]' });
  await beginning(u);
  const before = database.sql('select count(*) from relay_cpp.start');
  const refused = await relay(u, 'relay_cpp', { prompt: 'second' }, '?tx=commit');
  assert.equal(refused.status, 402, refused.text);
  assert.equal(database.sql('select count(*) from relay_cpp.start'), before);
  release();
  await busy;
  for (const fields of [{ prompt: 'with history', history: '[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]' }, { prompt: 'queued', queue: 'true' }]) {
    const x = await relay(u, 'relay_cpp', fields, '?tx=commit');
    assert.equal(x.status, 200, x.text);
    assert.match(textOf((await u.stream(x.json.run_id)).events), new RegExp(`^echo: ${fields.prompt}`));
  }
});

test('runs.run_state returns the state of a run of the account', async () => {
  const [u, other] = [await server.user(), await server.user()];
  const { run_id } = (await relay(u, 'relay_cpp', { prompt: 'x' })).json;
  const run = (await u.get(`/agent-run/${run_id}`)).json;
  const state = (account, id) => JSON.parse(database.sql(`select row_to_json(s) from runs.run_state('${account}', '${id}') s`));
  assert.deepEqual(state(u.id, run_id), { status: 'completed', thread_id: run.thread_id, project_id: run.project_id });
  const unknown = { status: null, thread_id: null, project_id: null };
  assert.deepEqual(state(other.id, run_id), unknown);
  assert.deepEqual(state(u.id, '018f0000-0000-7000-8000-000000000000'), unknown);
});

test('files of a start are in its workspace', async () => {
  const u = await server.user();
  const files = [{ name: 'notes.txt', data: 'some notes' }, { name: 'big.bin', data: new Uint8Array(3 << 20).fill(7) }];
  const r = await u.post('/relay_cpp', { form: { prompt: 'look', files } });
  assert.equal(r.status, 200, r.text);
  const { project_id } = (await u.get(`/agent-run/${r.json.run_id}`)).json;
  const direct = await u.start({ prompt: 'look', files });
  await u.stream(direct.json.agent_run_id);
  const list = async (project) => (await u.get(`/projects/${project}/files`)).json.files?.map((f) => [f.name ?? f.path, f.size]);
  assert.deepEqual(await list(project_id), await list(direct.json.project_id));
  assert.ok((await list(project_id)).length >= 1);
  const tx = await u.post('/relay_cpp?tx=commit', { form: { prompt: 'look', files } });
  assert.equal(tx.status, 400, tx.text);
});

test('a repeated start with an idempotency key starts one run', async () => {
  const u = await server.user();
  const headers = { 'idempotency-key': 'order-17' };
  const [a, b] = [await relay(u, 'relay_cpp', { prompt: 'once' }, '', { headers }), await relay(u, 'relay_cpp', { prompt: 'once' }, '', { headers })];
  assert.equal(a.json.run_id, b.json.run_id);
  const other = await relay(u, 'relay_cpp', { prompt: 'other' }, '', { headers });
  const direct = await u.start({ prompt: 'other' }, headers);
  assert.deepEqual([other.status, other.json], [direct.status, direct.json]);
  assert.ok(other.status >= 400);
});

test('the other functions return the texts of the routes', async () => {
  const u = await server.user();
  const { run_id } = (await relay(u, 'relay_cpp', { prompt: 'listed' })).json;
  const run = (await u.get(`/agent-run/${run_id}`)).json;
  assert.deepEqual((await call(u, 'get', `?id=${run_id}`)).json, run);
  assert.deepEqual((await call(u, 'list', '?limit=1')).json, (await u.get('/agent-runs?limit=1')).json);
  assert.deepEqual((await call(u, 'list', `?thread_id=${run.thread_id}`)).json, (await u.get(`/threads/${run.thread_id}/agent-runs`)).json);
  assert.deepEqual((await call(u, 'messages', `?id=${run.thread_id}&limit=10`)).json, (await u.get(`/threads/${run.thread_id}/messages?limit=10`)).json);
  const bad = await call(u, 'list', '?limit=0');
  assert.deepEqual([bad.status, bad.json], await u.get('/agent-runs?limit=0').then((r) => [r.status, r.json]));
  const models = (await call(u, 'models')).json.models;
  assert.ok(models.some((m) => m.id === 'runyard/basic' && m.default && m.context_tokens > 0), JSON.stringify(models));
  assert.deepEqual((await call(u, 'approvals')).json, (await u.get('/approvals')).json);
  const other = await server.user();
  for (const [name, id] of [['get', run_id], ['stop', run_id], ['messages', run.thread_id], ['delete_thread', run.thread_id]]) {
    const r = await call(other, name, `?id=${id}`);
    assert.equal(r.status, 404, `${name}: ${r.text}`);
  }
  assert.deepEqual((await call(u, 'stop', `?id=${run_id}`)).json, { status: 'completed' });
  closeGate();
  const open = relay(u, 'relay_cpp', { prompt: '[gate]' });
  const current = await beginning(u);
  assert.deepEqual((await call(u, 'stop', `?id=${current}`)).json, { status: 'stopped' });
  assert.equal((await open).json.events.at(-1).status, 'stopped');
  release();
  assert.equal((await call(u, 'delete_thread', `?id=${run.thread_id}`)).status, 204);
  assert.equal((await u.get(`/agent-run/${run_id}`)).status, 404);
});

test('a reader ends when the thread is deleted', async () => {
  const u = await server.user();
  closeGate();
  const open = relay(u, 'relay_cpp', { prompt: '[gate]' });
  const run = await beginning(u);
  const { thread_id } = (await u.get(`/agent-run/${run}`)).json;
  assert.equal((await call(u, 'delete_thread', `?id=${thread_id}`)).status, 204);
  const r = await open;
  assert.ok(r.status === 404 || r.json.events.at(-1).status === 'stopped', r.text);
  release();
});

test('a snapshot summarizes the events so far', async () => {
  const u = await server.user();
  const { run_id, events } = (await relay(u, 'relay_cpp', { prompt: '[words 20 0]' })).json;
  const r = (await relay(u, 'relay_cpp', {}, `?run=${run_id}&snapshot=1`)).json;
  const direct = await u.stream(run_id, { query: '?mode=snapshot' });
  assert.deepEqual(r.events, direct.events.map(({ $id, ...e }) => e));
  assert.equal(r.events[0].type, 'snapshot');
  assert.equal(r.events.at(-1).sequence, events.at(-1).sequence);
});

test('a run is followed on another node than the one that executes it', { timeout: 120_000 }, async () => {
  const u = await server.user();
  const other = await startNode(path.join(dir, 'modules'));
  try {
    const there = new Client(other, u.token, u.id);
    const started = await u.start({ prompt: '[words 200 10]' });
    const run = started.json.agent_run_id;
    const [a, b, slowly] = await Promise.all([relay(there, 'relay_cpp', {}, `?run=${run}`), relay(there, 'relay_rust', {}, `?run=${run}&after=1`), relay(there, 'relay_rust', {}, `?run=${run}&pause_ms=700`)]);
    for (const r of [a, b, slowly]) assert.deepEqual([r.status, r.json?.end, r.json?.text], [200, 'OK', numbered(200)], r.text);
    const { events } = await u.stream(run);
    assert.deepEqual(a.json.events, events.map(({ $id, ...e }) => e));
    assert.deepEqual(b.json.events, a.json.events.slice(1));
    assert.deepEqual(slowly.json.events, a.json.events);
    // A stop from the other node.
    closeGate();
    const open = relay(u, 'relay_cpp', { prompt: '[gate]' });
    const current = await beginning(u);
    assert.deepEqual((await call(there, 'stop', `?id=${current}`)).json, { status: 'stopped' });
    assert.equal((await open).json.events.at(-1).status, 'stopped');
    release();
  } finally {
    await other.close();
  }
});

test('a reload of runs ends a stream at once, and the client continues', { timeout: 120_000 }, async () => {
  const u = await server.user();
  const first = openSse(u, '', { prompt: '[words 150 40]' }).then((r) => readSse(r));
  const run = await beginning(u);
  await reloadRuns();
  const begun = await first;
  assert.notEqual(begun.at(-1).type, 'status', 'the stream was cut');
  const rest = await readSse(await openSse(u, `&run=${run}&after=${begun.at(-1).sequence}`));
  const all = [...begun, ...rest];
  assert.ok(gapless(all));
  assert.equal(textOf(all), numbered(150));
});

test('a client that disconnects ends the reader; a slow one is not disconnected', { timeout: 120_000 }, async () => {
  const u = await server.user();
  const streams = async () => Number(/^runyard_runs_streams(?:\{[^}]*\})? (\d+)/m.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]);
  await waitFor('no readers', async () => (await streams()) === 0);
  const gone = await openSse(u, '', { prompt: '[words 3000 2]' });
  gone.on('error', () => {});
  await new Promise((resolve) => gone.once('data', resolve));
  assert.equal(await streams(), 1);
  gone.destroy();
  await waitFor('the reader of the disconnected client to end', async () => (await streams()) === 0, 5000 * slow);
  assert.match((await u.get('/agent-runs')).text, /"running"/);
  await waitFor('the run to end', async () => !(await u.get('/agent-runs')).text.includes('"running"'), 60_000);
  const events = await readSse(await openSse(u, '', { prompt: '[words 3000 0]' }), (length) => (length < 20_000 ? sleep(100) : undefined));
  assert.ok(gapless(events));
  assert.equal(textOf(events), numbered(3000));
});

test('a prompt joins a run in progress only if the module expects it, also in a transaction of the module', async () => {
  closeGate();
  const user = await server.user();
  const run = (await user.start({ prompt: '[gate]' })).json;
  await user.stream(run.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  const fields = { thread_id: run.thread_id, prompt: 'more', on_busy: 'steer' };
  const refused = await relay(user, 'relay_cpp', fields);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /on_busy must be reject, enqueue or interrupt/);
  const other = await relay(user, 'relay_cpp', { ...fields, joins: 'true', instructions: 'x' });
  assert.equal(other.status, 422, other.text);
  const rolledBack = await relay(user, 'relay_cpp', { ...fields, joins: 'true' }, '?tx=rollback');
  assert.equal(rolledBack.json.run_id, run.agent_run_id, rolledBack.text);
  const joined = [relay(user, 'relay_cpp', { ...fields, joins: 'true' }), relay(user, 'relay_cpp', { ...fields, prompt: 'and more', joins: 'true' }, '?tx=commit')];
  await waitFor('both prompts', () => database.sql('select count(*) from runs.joined_prompts') === '2');
  release();
  const [followed, committed] = await Promise.all(joined);
  assert.equal(committed.json.run_id, run.agent_run_id, committed.text);
  assert.equal(followed.json.run_id, run.agent_run_id, followed.text);
  assert.match(followed.json.text, /^begun and endedecho: (and )?more/);
  // The thread is idle, so the prompt begins a run.
  const begun = await relay(user, 'relay_cpp', { ...fields, prompt: 'a new run', joins: 'true' }, '?tx=commit');
  assert.notEqual(begun.json.run_id, run.agent_run_id, begun.text);
  await user.stream(begun.json.run_id);
  const prompts = (await user.get(`/threads/${run.thread_id}/messages?order=asc`)).json.messages.filter((m) => m.role === 'user').map((m) => m.content);
  assert.deepEqual(prompts.sort(), ['[gate]', 'a new run', 'and more', 'more']);
});
