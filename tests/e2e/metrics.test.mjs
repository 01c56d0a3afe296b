// The metrics of runs, models, tools, streams, the database, jobs, MCP servers and module swaps, each after the
// corresponding event, and the output of `runyard modules`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, copyFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { startSdkV2Server } from './lib/mcp.mjs';
import { Client, Server, binary, build, makeDatabase, waitFor } from './lib/server.mjs';

let database, llm, server, admin, modules;
const held = [];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply, n) => {
    const prompt = lastUser(request);
    const done = turns(request).some((m) => m.role === 'tool');
    if (prompt.includes('[limited]') && !llm.seen.slice(0, n).some((c) => lastUser(c.json) === prompt)) return reply.fail(429);
    if (prompt.includes('[refused]')) return reply.fail(401);
    if (prompt.includes('[shell]') && !done) return reply.tools([{ id: 'a', name: 'shell', arguments: { command: 'true' } }, { id: 'b', name: 'nothing', arguments: {} }]);
    reply.text('begun ');
    if (prompt.includes('[hold]')) await new Promise((go) => held.push(go));
    reply.end({ input: 100, output: 7 });
  });
  server = new Server({ database, llm, settings: '[runs]\nmax_attempts = 2\ndrain_seconds = 1\n[reload]\ndrain_seconds = 1\n[accounts.tiers.free]\nconcurrent_runs = 3\nthreads = 1000' });
  // A copy of the modules, so that a file can be replaced.
  modules = path.join(server.dir, 'modules');
  cpSync(path.join(build, 'modules'), modules, { recursive: true });
  server.set.push(`modules.path=${modules}`);
  await server.start();
  admin = new Client(server, server.token({ role: 'admin' }));
});
after(async () => {
  for (const go of held) go();
  await server?.close();
  await llm?.close();
  database?.drop();
});

// The metrics as a map from name{label="value",...} to number.
async function readMetrics() {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return new Map(text.split('\n').filter((l) => l && !l.startsWith('#')).map((l) => [l.slice(0, l.lastIndexOf(' ')), Number(l.slice(l.lastIndexOf(' ') + 1))]));
}
// The sum over all series of a metric with these labels and any other labels.
const sum = (all, name, labels = {}) => [...all].filter(([key]) => key.split('{')[0] === name &&
  Object.entries(labels).every(([k, v]) => key.includes(`${k}="${v}"`))).reduce((total, [, value]) => total + value, 0);
// Performs `action` and waits until the metrics have increased as expected: [name, labels, increment].
async function expectIncrease(expected, action) {
  const before = await readMetrics();
  const out = await action();
  let now;
  const mismatches = () => expected.filter(([name, labels, by]) => sum(now, name, labels) - sum(before, name, labels) !== by)
    .map(([name, labels, by]) => `${name} ${JSON.stringify(labels)} grew by ${sum(now, name, labels) - sum(before, name, labels)}, not by ${by}`);
  try {
    await waitFor('the metrics', async () => { now = await readMetrics(); return mismatches().length === 0; });
  } catch (e) {
    assert.fail(`${e.message}\n${mismatches().join('\n')}`);
  }
  return out;
}
// Runs the prompt and waits until the metrics include the ended run.
const run = async (user, prompt) => {
  const before = sum(await readMetrics(), 'runyard_runs_ended_total');
  const r = await user.start({ prompt });
  assert.equal(r.status, 200, r.text);
  const s = await user.stream(r.json.agent_run_id);
  await waitFor('the ended run in the metrics', async () => sum(await readMetrics(), 'runyard_runs_ended_total') > before);
  return { id: r.json.agent_run_id, events: s.events };
};
const waitForMetric = (name, value) => waitFor(`${name} is ${value}`, async () => sum(await readMetrics(), `runyard_${name}`) === value);
const increments = (...all) => all.map(([name, labels, by = 1]) => [`runyard_${name}`, labels ?? {}, by]);

test('a run that completes', async () => {
  const user = await server.user();
  let events = 0;
  await expectIncrease(increments(['runs_starts_total', { outcome: 'here' }], ['runs_ended_total', { status: 'completed', reason: 'ok' }],
    ['runs_ended_total'], ['runs_queue_wait_seconds_count'], ['runs_first_token_seconds_count'], ['runs_duration_seconds_count'],
    ['runs_model_requests_total', { provider: 'mock', outcome: 'ok' }], ['runs_model_requests_total'],
    ['runs_model_request_seconds_count', { provider: 'mock' }], ['runs_model_tokens_total', { provider: 'mock', kind: 'input' }, 100],
    ['runs_model_tokens_total', { kind: 'output' }, 7], ['runs_live', {}, 0], ['runs_streams', {}, 0], ['runs_claimed_total', {}, 0],
    ['runs_released_total', {}, 0], ['jobs_ended_total', { kind: 'runs.execute', outcome: 'done' }], ['mcp_requests_total', {}, 0]),
  async () => { events = (await run(user, 'hello')).events.length; });
  assert.ok(events > 3);
});

test('every event sent to a stream counts once', async () => {
  const user = await server.user();
  const r = await run(user, 'hello');
  await expectIncrease(increments(['runs_stream_events_total', {}, r.events.length], ['runs_stream_gaps_total', {}, 0]), () => user.stream(r.id));
  const live = await readMetrics();
  const other = await run(user, 'hello again');
  await waitFor('its events', async () => sum(await readMetrics(), 'runyard_runs_stream_events_total') - sum(live, 'runyard_runs_stream_events_total') === other.events.length);
  // The stream reports trimmed events as a gap.
  database.sql(`delete from runs.events where run_id = '${r.id}'`);
  await expectIncrease(increments(['runs_stream_gaps_total']), async () => {
    const s = await user.stream(r.id);
    assert.equal(s.events[0].type, 'gap');
  });
});

test('rejected starts are counted by reason', async () => {
  const user = await server.user();
  await expectIncrease(increments(['runs_starts_total', { outcome: 'agent_not_found' }], ['runs_starts_total'], ['runs_ended_total', {}, 0]), async () => {
    const r = await user.start({ prompt: 'x', agent_id: randomUUID() });
    assert.equal(r.status, 404, r.text);
  });
});

test('rate-limited and rejected model requests', async () => {
  const user = await server.user();
  await expectIncrease(increments(['runs_model_requests_total', { provider: 'mock', outcome: 'rate_limited' }], ['runs_model_requests_total', { outcome: 'ok' }],
    ['runs_model_retries_total', { provider: 'mock', next: 'same_model' }], ['runs_ended_total', { reason: 'ok' }]), () => run(user, '[limited]'));
  await expectIncrease(increments(['runs_model_requests_total', { outcome: 'refused' }], ['runs_ended_total', { status: 'failed', reason: 'llm_error' }],
    ['runs_model_retries_total', {}, 0]), () => run(user, '[refused]'));
});

test('tool calls by driver', async () => {
  const user = await server.user();
  await expectIncrease(increments(['runs_tool_calls_total', { driver: 'sandbox', outcome: 'ok' }], ['runs_tool_calls_total', { driver: 'none', outcome: 'error' }],
    ['runs_tool_seconds_count', { driver: 'sandbox' }], ['runs_model_requests_total', { outcome: 'ok' }, 2]), () => run(user, '[shell]'));
});

test('an active run counts as live and its stream as open, and a stop ends both', async () => {
  const user = await server.user();
  await waitForMetric('runs_live', 0);
  await waitForMetric('runs_streams', 0);
  const id = (await user.start({ prompt: '[hold]' })).json.agent_run_id;
  await waitForMetric('runs_live', 1);
  let stream;
  const seen = new Promise((resolve) => { stream = user.stream(id, { onEvent: (e) => { if (e.type === 'llm_response_chunk') resolve(); } }); });
  await seen;
  await waitForMetric('runs_streams', 1);
  await expectIncrease(increments(['runs_stops_total', { outcome: 'worker' }], ['runs_stops_total'], ['runs_ended_total', { status: 'stopped', reason: 'user_stop' }],
    ['runs_live', {}, -1], ['runs_streams', {}, -1], ['runs_model_requests_total', { outcome: 'interrupted' }], ['runs_released_total', {}, 0]),
  async () => {
    assert.equal((await user.post(`/agent-run/${id}/stop`)).json.status, 'stopped');
    await stream;
  });
  await expectIncrease(increments(['runs_stops_total', { outcome: 'over' }], ['runs_ended_total', {}, 0]), () => user.post(`/agent-run/${id}/stop`));
});

test('a run that waits for its thread, and stopping it', async () => {
  const user = await server.user();
  const first = (await user.start({ prompt: '[hold]' })).json;
  let id;
  await expectIncrease(increments(['runs_starts_total', { outcome: 'waiting' }]), async () => {
    const r = await user.start({ prompt: 'after', thread_id: first.thread_id, on_busy: 'enqueue' });
    assert.equal(r.status, 200, r.text);
    id = r.json.agent_run_id;
  });
  await expectIncrease(increments(['runs_stops_total', { outcome: 'forced' }], ['runs_ended_total', { reason: 'user_stop' }]), () => user.post(`/agent-run/${id}/stop`));
  await user.post(`/agent-run/${first.agent_run_id}/stop`);
});

test('runs claimed after their node released them or their lease expired', async () => {
  const user = await server.user();
  const startHeldRun = async () => {
    const id = (await user.start({ prompt: '[hold]' })).json.agent_run_id;
    await user.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
    return id;
  };
  for (const [end, reason] of [['stop', 'released'], ['kill', 'lease_expired']]) {
    const id = await startHeldRun();
    await server[end]();
    await waitFor('its database sessions to end', () => database.sql("select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name like 'runyard%'") === '0');
    await server.start();
    await waitFor(`claimed: ${reason}`, async () => sum(await readMetrics(), 'runyard_runs_claimed_total', { after: reason }) === 1);
    await user.post(`/agent-run/${id}/stop`);
  }
  // A swap of the module releases the run and claims it again on the same node.
  const id = await startHeldRun();
  await expectIncrease(increments(['runs_released_total', { reason: 'released' }], ['runs_claimed_total', { after: 'released' }], ['runs_live', {}, 0]), async () => {
    const r = await admin.post('/admin/modules/runs/reload');
    assert.equal(r.status, 200, r.text);
  });
  await user.post(`/agent-run/${id}/stop`);
});

test('database connections: count, wait time, and lost connections', async () => {
  const now = await readMetrics();
  assert.ok(sum(now, 'runyard_database_connections') >= 2);
  assert.equal([...now.keys()].filter((k) => k.startsWith('runyard_database_connections{')).length, 2);
  assert.ok(sum(now, 'runyard_database_wait_seconds_count') > 10);
  assert.equal(sum(now, 'runyard_database_wait_seconds_bucket', { le: '+Inf' }), sum(now, 'runyard_database_wait_seconds_count'));
  assert.ok(sum(now, 'runyard_database_connections_opened_total') >= sum(now, 'runyard_database_connections'));
  const broken = Number(database.sql("select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name like 'runyard%'"));
  assert.ok(broken > 0);
  await waitFor('the connections to be lost and reopened', async () => {
    const then = await readMetrics();
    return sum(then, 'runyard_database_connections_lost_total') > sum(now, 'runyard_database_connections_lost_total') &&
      sum(then, 'runyard_database_connections_opened_total') > sum(now, 'runyard_database_connections_opened_total') && sum(then, 'runyard_database_up') === 1;
  });
});

test('database errors by kind', async () => {
  const user = await server.user();
  await user.get('/account');
  database.sql('alter table runs.threads rename to elsewhere');
  try {
    const before = await readMetrics();
    assert.equal((await user.get('/threads')).status, 500);
    await waitFor('the counted error', async () => sum(await readMetrics(), 'runyard_database_failures_total', { error: 'internal' }) > sum(before, 'runyard_database_failures_total', { error: 'internal' }));
  } finally {
    database.sql('alter table runs.elsewhere rename to threads');
  }
});

test('MCP servers: calls, listings, failures, sessions', async () => {
  const modern = await startSdkV2Server();
  try {
    await expectIncrease(increments(['mcp_requests_total', { operation: 'list', transport: 'http', outcome: 'ok' }], ['mcp_request_seconds_count', { operation: 'list' }], ['mcp_sessions', {}, 0]),
      () => admin.post('/admin/mcp/tools', { json: { type: 'http', config: { url: modern.url } } }));
    await expectIncrease(increments(['mcp_requests_total', { operation: 'call', transport: 'http', outcome: 'ok' }]),
      () => admin.post('/admin/mcp/call', { json: { type: 'http', config: { url: modern.url }, tool: 'echo', arguments: { message: 'x' } } }));
    // A session that is kept for reuse counts as open.
    await expectIncrease(increments(['mcp_sessions', { transport: 'http' }]),
      () => admin.post('/admin/mcp/call', { json: { type: 'http', config: { url: modern.url, reuse: true }, tool: 'echo', arguments: { message: 'x' } } }));
  } finally {
    modern.close();
  }
  await expectIncrease(increments(['mcp_requests_total', { operation: 'call', outcome: 'unreachable' }]),
    () => admin.post('/admin/mcp/call', { json: { type: 'http', config: { url: 'http://127.0.0.1:1/mcp' }, tool: 'echo', arguments: {} } }));
});

const runyard = (args, env = {}) => new Promise((resolve) => {
  const child = spawn(binary, args, { env: { ...process.env, RUNYARD_URL: '', RUNYARD_TOKEN: '', ...env } });
  let out = '', err = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (err += d));
  child.on('close', (code) => resolve({ code, out, err }));
});
const list = (...more) => runyard(['modules', ...more, '--config', server.config, ...[...server.set, `data_dir=${path.join(server.dir, 'data')}`].flatMap((s) => ['--set', s])]);
const installModule = (name, from) => {
  copyFileSync(from, path.join(modules, `.${name}.next`));
  renameSync(path.join(modules, `.${name}.next`), path.join(modules, `${name}.so`));
};

test('module swaps: metrics and the output of `runyard modules`', async () => {
  const address = new URL(server.url).host;
  const listenArgs = ['--set', `http.listen=${address}`];
  const entry = async () => JSON.parse((await list('--json', ...listenArgs)).out).find((m) => m.name === 'mail');
  const before = await entry();
  assert.deepEqual([before.state, before.violations], ['started', 0]);
  assert.ok(before.routes.includes('GET /admin/mail'));
  let r;
  await expectIncrease([['runyard_module_swaps_total', { module: 'mail', outcome: 'swapped' }, 1], ['runyard_module_swaps_total', { outcome: 'refused' }, 0]], async () => {
    r = await admin.post('/admin/modules/mail/reload');
    assert.equal(r.status, 200, r.text);
  });
  // Whether the old instance is unmapped depends on the build; all outputs must report the same outcome.
  const left = r.json.left.find((m) => m.module === 'mail');
  const stays = left.outcome !== 'unloaded';
  const now = await readMetrics();
  assert.equal(sum(now, 'runyard_module_swaps_total', { module: 'mail', outcome: stays ? 'still_mapped' : 'unloaded' }), 1);
  assert.equal(sum(now, 'runyard_module_instances_in_memory', { module: 'mail' }), stays ? 1 : 0);
  const then = await entry();
  assert.equal(then.instance, r.json.started.find((m) => m.module === 'mail').instance);
  assert.ok(then.instance > before.instance);
  assert.deepEqual(then.left, stays ? [left] : undefined);
  // The text output names the server as its source.
  const text = await list('list', ...listenArgs);
  assert.equal(text.code, 0, text.err);
  assert.equal(text.out.split('\n')[0], `loaded by the server at ${server.url}:`);
  const heads = text.out.replaceAll(/^ .*\n/gm, '');
  assert.match(heads, new RegExp(`^mail \\S+  started, instance ${then.instance}`, 'm'));
  assert.match(text.out, new RegExp(`^ {4}sha256     ${then.sha256}$`, 'm'));
  assert.match(text.out, /^ {4}route {6}GET \/agent-runs$/m);

  // The file now differs from the running module.
  writeFileSync(path.join(modules, '.mail.broken'), 'no library');
  installModule('mail', path.join(modules, '.mail.broken'));
  await expectIncrease([['runyard_module_swaps_total', { module: 'mail', outcome: 'refused' }, 1], ['runyard_module_swaps_total', { outcome: 'swapped' }, 0]],
    async () => assert.equal((await admin.post('/admin/modules/mail/reload')).status, 409));
  await expectIncrease([['runyard_module_swaps_total', { module: 'unknown', outcome: 'refused' }, 1]],
    async () => assert.equal((await admin.post(`/admin/modules/m${randomUUID().slice(0, 8)}/reload`)).status, 404));
  assert.equal((await entry()).instance, then.instance);
  const configured = await list('--configured', ...listenArgs);
  assert.equal(configured.code, 2);
  assert.equal(configured.out.split('\n')[0], 'modules that the configuration would load:');
  assert.match(configured.out.replaceAll(/^ .*\n/gm, ''), /^mail\.so .*refused$/m);
  installModule('mail', path.join(build, 'modules/mail.so'));

  // Without a running server, the output describes the configuration.
  const unreachable = await list('list', '--set', 'http.listen=127.0.0.1:1');
  assert.equal(unreachable.code, 0, unreachable.err);
  assert.equal(unreachable.out.split('\n')[0], 'no server responds at http://127.0.0.1:1; modules that the configuration would load:');
  assert.match(unreachable.out.replaceAll(/^ .*\n/gm, ''), /^mail \S+  created$/m);
  const json = await list('--json', '--set', 'http.listen=127.0.0.1:1');
  assert.match(json.err, /no server responds at/);
  assert.equal(JSON.parse(json.out).find((m) => m.name === 'mail').state, 'created');
  // With an explicit --url, an unreachable server or a rejected token is an error without a fallback.
  const named = await list('--url', 'http://127.0.0.1:1');
  assert.deepEqual([named.code, named.out], [1, '']);
  assert.match(named.err, /did not return its modules.*\n.*--configured/s);
  const unauthorized = await list('--url', server.url, '--token', 'nonsense');
  assert.deepEqual([unauthorized.code, unauthorized.out], [1, '']);
});
