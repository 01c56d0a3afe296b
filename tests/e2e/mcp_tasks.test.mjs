// Tools that are called as tasks: in revision 2025-11-25 at the client's request, in the extension of 2026-07-28 at the
// server's decision. Also the cancellation of a task with its run, and its continuation after its worker is killed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, json, result, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, server;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  // A task may take longer than the time limit of a call without progress.
  server = await new Server({ database, llm, set: ['mcp.call_timeout_seconds=2'] }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const tasksExtension = 'io.modelcontextprotocol/tasks';
// A server whose tool `slow` becomes a task that takes `polls` polls and ends with `outcome`: {result} or {error}.
async function startTaskPeer({ modern = false, polls = 3, outcome = { result: { content: [{ type: 'text', text: 'done at last' }] } }, support = 'optional', cancel = true, inputRequests, failedPolls = 0, session } = {}) {
  const tasks = new Map();
  const taskState = (id, t) => ({ taskId: id, status: t.status, statusMessage: `poll ${t.polls}`, createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z',
    ...(modern ? { ttlMs: 60000, pollIntervalMs: 700 } : { ttl: 60000, pollInterval: 700 }) });
  const refuse = (res, m, code, message) => json(res, 200, { jsonrpc: '2.0', id: m.id, error: { code, message } });
  const p = await startScriptedServer((m, res, req) => {
    const reply = (value) => result(res, m, modern ? { resultType: 'complete', ...value } : value);
    p.names.push([m.method, req.headers['mcp-name'], req.headers['mcp-session-id']]);
    if (modern && m.method === 'server/discover') return reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, extensions: { [tasksExtension]: {} } }, serverInfo: { name: 'tasks', version: '1' } });
    if (!modern && m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } }, ...(cancel ? { cancel: {} } : {}) } } }, session ? { 'mcp-session-id': `s${++p.sessions}` } : {});
    if (m.method === 'tools/list') return reply({ tools: [{ name: 'slow', inputSchema: { type: 'object' }, ...(modern ? {} : { execution: { taskSupport: support } }) }] });
    if (m.method === 'tools/call') {
      const asTask = modern ? m.params._meta['io.modelcontextprotocol/clientCapabilities'].extensions?.[tasksExtension] : m.params.task;
      p.calls.push(m.params);
      if (!asTask) return support === 'required' ? refuse(res, m, -32601, 'only as a task') : reply({ content: [{ type: 'text', text: 'without a task' }] });
      const id = `task-${tasks.size + 1}`;
      tasks.set(id, { status: 'working', polls: 0 });
      return result(res, m, modern ? { resultType: 'task', ...taskState(id, tasks.get(id)) } : { task: taskState(id, tasks.get(id)) });
    }
    const t = tasks.get(m.params?.taskId);
    if (m.method?.startsWith('tasks/') && !t) return refuse(res, m, -32602, 'no such task');
    if (m.method === 'tasks/cancel') { t.status = 'cancelled'; return reply(modern ? {} : taskState(m.params.taskId, t)); }
    if (m.method === 'tasks/update') { t.answers = m.params.inputResponses; return reply({}); }
    if (m.method === 'tasks/get') {
      if (p.silent) return true;
      if (failedPolls-- > 0) return refuse(res, m, -32603, 'try again');
      if (t.status === 'working' && ++t.polls >= polls && p.mayEnd) t.status = outcome.error ? 'failed' : 'completed';
      if (inputRequests && t.polls === 1 && !t.answers) return reply({ ...taskState(m.params.taskId, t), status: 'input_required', inputRequests });
      return reply({ ...taskState(m.params.taskId, t), ...(modern && t.status === 'completed' ? { result: outcome.result } : {}), ...(modern && t.status === 'failed' ? { error: outcome.error } : {}) });
    }
    if (m.method === 'tasks/result') return outcome.error ? refuse(res, m, outcome.error.code, outcome.error.message) : result(res, m, outcome.result);
    return undefined;
  });
  return Object.assign(p, { tasks, calls: [], names: [], mayEnd: true, silent: false, sessions: 0 });
}
async function userWithServer(config) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'http', config, enabledTools: ['slow'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
async function startRun(u) {
  const r = await u.start({ prompt: '[call remote__slow {"n":1,"a":2}]' });
  assert.equal(r.status, 200, r.text);
  return r.json.agent_run_id;
}
const finish = async (u, id, more = {}) => {
  const s = await u.stream(id, { timeout: 60000, ...more });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return s;
};
const withTaskPeer = async (options, body) => {
  const p = await startTaskPeer(options);
  try {
    return await body(p, await userWithServer({ url: p.url, ...options.config }));
  } finally {
    p.close();
  }
};

for (const modern of [false, true]) {
  const revision = modern ? '2026-07-28' : '2025-11-25';
  test(`a tool is called as a task, polled at the server's interval, and its status reaches the stream (${revision})`, () => withTaskPeer({ modern, polls: 4 }, async (p, u) => {
    const runStart = Date.now();
    const s = await finish(u, await startRun(u));
    assert.ok(Date.now() - runStart >= 4 * 700, 'polled no faster than the interval of the server');
    assert.equal(textOf(s.events), 'said: done at last');
    const lines = s.events.map((e) => e.data ?? e).filter((e) => e.type === 'tool_output_chunk').map((e) => e.content).join('');
    assert.match(lines, /task working: poll 1\n.*task completed/s);
    const progress = s.events.map((e) => e.data ?? e).filter((e) => e.type === 'tool_progress').map((e) => e.message);
    assert.equal(progress[0], 'task working: poll 1');
    assert.match(progress.at(-1), /^task completed/);
    assert.equal(p.calls.length, 1);
    if (modern) assert.ok(p.names.some(([method, header]) => method === 'tasks/get' && header === 'task-1'));
    await waitFor('the stored task to be deleted', () => database.sql('select count(*) from mcp.task') === '0');
  }));
  test(`the error of a task is the error of the call (${revision})`, () => withTaskPeer({ modern, outcome: { error: { code: -32050, message: 'the job broke' } } }, async (p, u) => {
    assert.match(textOf((await finish(u, await startRun(u))).events), /the job broke/);
  }));
  test(`a run that is stopped cancels its task (${revision})`, () => withTaskPeer({ modern, polls: 1000 }, async (p, u) => {
    const id = await startRun(u);
    await waitFor('the task', () => p.tasks.get('task-1')?.polls > 0);
    assert.equal((await u.post(`/agent-run/${id}/stop`)).status, 200);
    await waitFor('tasks/cancel', () => p.tasks.get('task-1').status === 'cancelled');
    await waitFor('the stored task to be deleted', () => database.sql('select count(*) from mcp.task') === '0');
  }));
  test(`a task survives kill -9: the next worker polls it and does not repeat the call (${revision})`, () => withTaskPeer({ modern }, async (p, u) => {
    p.mayEnd = false;
    const id = await startRun(u);
    const first = await u.stream(id, { until: (e) => e.type === 'tool_output_chunk' && e.content.includes('poll 1') });
    await server.kill();
    await server.start();
    p.mayEnd = true;
    const rest = await finish(u, id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) } });
    assert.equal(textOf([...first.events, ...rest.events]), 'said: done at last');
    assert.equal(p.calls.length, 1);
    assert.equal(p.tasks.size, 1);
  }));
}

for (const options of [{ modern: true }, { modern: false }, { modern: false, session: true }]) {
  test(`a call that exceeds its time limit cancels its task while the run continues (${JSON.stringify(options)})`, () => withTaskPeer({ ...options, polls: 1000 }, async (p, u) => {
    p.silent = true;
    const s = await finish(u, await startRun(u));
    assert.match(textOf(s.events), /the call of slow (took longer than|reported no progress for) 2 seconds/);
    await waitFor('tasks/cancel', () => p.tasks.get('task-1').status === 'cancelled');
    const sessionOf = (method) => p.names.findLast(([m]) => m === method)[2];
    assert.equal(sessionOf('tasks/cancel'), sessionOf('tools/call'), 'in the session of the call');
    assert.equal(p.calls.length, 1);
    await waitFor('the stored task to be deleted', () => database.sql('select count(*) from mcp.task') === '0');
  }));
}

for (const modern of [false, true]) {
  test(`a server that temporarily fails to report a task is polled again (${modern ? 'modern' : 'legacy'})`, () =>
    withTaskPeer({ modern, failedPolls: 2, config: { timeout_seconds: 30 } }, async (p, u) => {
      assert.equal(textOf((await finish(u, await startRun(u))).events), 'said: done at last');
      assert.equal(p.calls.length, 1);
    }));
}

test('a tool that requires a task is offered, except in a configuration without tasks', () => withTaskPeer({ support: 'required' }, async (p, u) => {
  assert.equal(textOf((await finish(u, await startRun(u))).events), 'said: done at last');
  const withoutTasks = await userWithServer({ url: p.url, tasks: false });
  const r = await withoutTasks.start({ prompt: 'which tools' });
  assert.ok(!textOf((await finish(withoutTasks, r.json.agent_run_id)).events).includes('remote__slow'));
}));

test('with tasks = false the tool is called without a task', () => withTaskPeer({ modern: true, config: { tasks: false } }, async (p, u) => {
  assert.equal(textOf((await finish(u, await startRun(u))).events), 'said: without a task');
}));

test('an elicitation request of a task is cancelled once, and the task continues', () => withTaskPeer({ modern: true, inputRequests: { q: { method: 'elicitation/create', params: {} } } }, async (p, u) => {
  assert.equal(textOf((await finish(u, await startRun(u))).events), 'said: done at last');
  assert.deepEqual(p.tasks.get('task-1').answers, { q: { action: 'cancel' } });
}));

test('a task that the server has lost has an unknown outcome', () => withTaskPeer({ polls: 1000 }, async (p, u) => {
  const id = await startRun(u);
  await waitFor('the task', () => p.tasks.get('task-1')?.polls > 0);
  p.tasks.clear();
  assert.match(textOf((await finish(u, id)).events), /^said: Error: MCP server "remote": the call of slow continued as a task that the server no longer knows; its outcome is unknown$/);
}));
