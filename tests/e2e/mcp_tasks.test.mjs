// Tools that are called as tasks: of revision 2025-11-25, where the client asks for one, and of the extension of 2026-07-28,
// where the server decides; and what becomes of a task when the run is stopped or its worker is killed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, json, result, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, server;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  // A task outlives the time that a call may be without a sign of life.
  server = await new Server({ database, llm, set: ['mcp.call_timeout_seconds=2'] }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const name = 'io.modelcontextprotocol/tasks';
// A server whose tool `slow` becomes a task that takes `polls` polls and ends as `how` says: {result} or {error}.
async function worker({ modern = false, polls = 3, how = { result: { content: [{ type: 'text', text: 'done at last' }] } }, support = 'optional', cancel = true, ask, unwell = 0, session } = {}) {
  const tasks = new Map();
  const tell = (id, t) => ({ taskId: id, status: t.status, statusMessage: `poll ${t.polls}`, createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z',
    ...(modern ? { ttlMs: 60000, pollIntervalMs: 700 } : { ttl: 60000, pollInterval: 700 }) });
  const refuse = (res, m, code, message) => json(res, 200, { jsonrpc: '2.0', id: m.id, error: { code, message } });
  const p = await startScriptedServer((m, res, req) => {
    const reply = (value) => result(res, m, modern ? { resultType: 'complete', ...value } : value);
    p.names.push([m.method, req.headers['mcp-name'], req.headers['mcp-session-id']]);
    if (modern && m.method === 'server/discover') return reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, extensions: { [name]: {} } }, serverInfo: { name: 'tasks', version: '1' } });
    if (!modern && m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } }, ...(cancel ? { cancel: {} } : {}) } } }, session ? { 'mcp-session-id': `s${++p.sessions}` } : {});
    if (m.method === 'tools/list') return reply({ tools: [{ name: 'slow', inputSchema: { type: 'object' }, ...(modern ? {} : { execution: { taskSupport: support } }) }] });
    if (m.method === 'tools/call') {
      const wanted = modern ? m.params._meta['io.modelcontextprotocol/clientCapabilities'].extensions?.[name] : m.params.task;
      p.calls.push(m.params);
      if (!wanted) return support === 'required' ? refuse(res, m, -32601, 'only as a task') : reply({ content: [{ type: 'text', text: 'without a task' }] });
      const id = `task-${tasks.size + 1}`;
      tasks.set(id, { status: 'working', polls: 0 });
      return result(res, m, modern ? { resultType: 'task', ...tell(id, tasks.get(id)) } : { task: tell(id, tasks.get(id)) });
    }
    const t = tasks.get(m.params?.taskId);
    if (m.method?.startsWith('tasks/') && !t) return refuse(res, m, -32602, 'no such task');
    if (m.method === 'tasks/cancel') { t.status = 'cancelled'; return reply(modern ? {} : tell(m.params.taskId, t)); }
    if (m.method === 'tasks/update') { t.answers = m.params.inputResponses; return reply({}); }
    if (m.method === 'tasks/get') {
      if (p.silent) return true;
      if (unwell-- > 0) return refuse(res, m, -32603, 'try again');
      if (t.status === 'working' && ++t.polls >= polls && p.mayEnd) t.status = how.error ? 'failed' : 'completed';
      if (ask && t.polls === 1 && !t.answers) return reply({ ...tell(m.params.taskId, t), status: 'input_required', inputRequests: ask });
      return reply({ ...tell(m.params.taskId, t), ...(modern && t.status === 'completed' ? { result: how.result } : {}), ...(modern && t.status === 'failed' ? { error: how.error } : {}) });
    }
    if (m.method === 'tasks/result') return how.error ? refuse(res, m, how.error.code, how.error.message) : result(res, m, how.result);
    return undefined;
  });
  return Object.assign(p, { tasks, calls: [], names: [], mayEnd: true, silent: false, sessions: 0 });
}
async function userOf(config) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'far', type: 'http', config, enabledTools: ['slow'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
async function begun(u) {
  // The tools are known, so that the first call is one as a task.
  const r = await u.start({ prompt: '[call far__slow {"n":1,"a":2}]' });
  assert.equal(r.status, 200, r.text);
  return r.json.agent_run_id;
}
const finish = async (u, id, more = {}) => {
  const s = await u.stream(id, { timeout: 60000, ...more });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return s;
};
const by = async (options, body) => {
  const p = await worker(options);
  try {
    return await body(p, await userOf({ url: p.url, ...options.config }));
  } finally {
    p.close();
  }
};

for (const modern of [false, true]) {
  const revision = modern ? '2026-07-28' : '2025-11-25';
  test(`a tool is called as a task, polled at the server's interval, and its status reaches the stream (${revision})`, () => by({ modern, polls: 4 }, async (p, u) => {
    const begin = Date.now();
    const s = await finish(u, await begun(u));
    assert.ok(Date.now() - begin >= 4 * 700, 'polled no faster than the server wants');
    assert.equal(textOf(s.events), 'said: done at last');
    const lines = s.events.map((e) => e.data ?? e).filter((e) => e.type === 'tool_output_chunk').map((e) => e.content).join('');
    assert.match(lines, /task working: poll 1\n.*task completed/s);
    const progress = s.events.map((e) => e.data ?? e).filter((e) => e.type === 'tool_progress').map((e) => e.message);
    assert.equal(progress[0], 'task working: poll 1');
    assert.match(progress.at(-1), /^task completed/);
    assert.equal(p.calls.length, 1);
    if (modern) assert.ok(p.names.some(([method, header]) => method === 'tasks/get' && header === 'task-1'));
    await waitFor('the stored task to go', () => database.sql('select count(*) from mcp.task') === '0');
  }));
  test(`the error of a task is the error of the call (${revision})`, () => by({ modern, how: { error: { code: -32050, message: 'the job broke' } } }, async (p, u) => {
    assert.match(textOf((await finish(u, await begun(u))).events), /the job broke/);
  }));
  test(`a run that is stopped cancels its task (${revision})`, () => by({ modern, polls: 1000 }, async (p, u) => {
    const id = await begun(u);
    await waitFor('the task', () => p.tasks.get('task-1')?.polls > 0);
    assert.equal((await u.post(`/agent-run/${id}/stop`)).status, 200);
    await waitFor('tasks/cancel', () => p.tasks.get('task-1').status === 'cancelled');
    await waitFor('the stored task to go', () => database.sql('select count(*) from mcp.task') === '0');
  }));
  test(`a task survives kill -9: the next worker polls it and calls nothing again (${revision})`, () => by({ modern }, async (p, u) => {
    p.mayEnd = false;
    const id = await begun(u);
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
  test(`a call that is over its time cancels its task while the run goes on (${JSON.stringify(options)})`, () => by({ ...options, polls: 1000 }, async (p, u) => {
    p.silent = true;
    const s = await finish(u, await begun(u));
    assert.match(textOf(s.events), /the call of slow (took longer than|reported no progress for) 2 seconds/);
    await waitFor('tasks/cancel', () => p.tasks.get('task-1').status === 'cancelled');
    const of = (method) => p.names.findLast(([m]) => m === method)[2];
    assert.equal(of('tasks/cancel'), of('tools/call'), 'in the session of the call');
    assert.equal(p.calls.length, 1);
    await waitFor('the stored task to go', () => database.sql('select count(*) from mcp.task') === '0');
  }));
}

for (const modern of [false, true]) {
  test(`a server that temporarily cannot report a task is polled again (${modern ? 'modern' : 'legacy'})`, () =>
    by({ modern, unwell: 2, config: { timeout_seconds: 30 } }, async (p, u) => {
      assert.equal(textOf((await finish(u, await begun(u))).events), 'said: done at last');
      assert.equal(p.calls.length, 1);
    }));
}

test('a tool that wants to be called as a task is offered, and one of a configuration without tasks is not', () => by({ support: 'required' }, async (p, u) => {
  assert.equal(textOf((await finish(u, await begun(u))).events), 'said: done at last');
  const none = await userOf({ url: p.url, tasks: false });
  const r = await none.start({ prompt: 'which tools' });
  assert.ok(!textOf((await finish(none, r.json.agent_run_id)).events).includes('far__slow'));
}));

test('tasks = false calls the tool itself', () => by({ modern: true, config: { tasks: false } }, async (p, u) => {
  assert.equal(textOf((await finish(u, await begun(u))).events), 'said: without a task');
}));

test('a question of a task is dismissed once, and the task goes on', () => by({ modern: true, ask: { q: { method: 'elicitation/create', params: {} } } }, async (p, u) => {
  assert.equal(textOf((await finish(u, await begun(u))).events), 'said: done at last');
  assert.deepEqual(p.tasks.get('task-1').answers, { q: { action: 'cancel' } });
}));

test('a task that the server forgot has an unknown outcome', () => by({ polls: 1000 }, async (p, u) => {
  const id = await begun(u);
  await waitFor('the task', () => p.tasks.get('task-1')?.polls > 0);
  p.tasks.clear();
  assert.match(textOf((await finish(u, id)).events), /^said: Error: MCP server "far": the call of slow continued as a task that the server no longer knows; its outcome is unknown$/);
}));
