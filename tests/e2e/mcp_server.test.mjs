// Runyard as an MCP server: agents as tools for MCP clients of SDK 1.x and 2.x, runs as tasks, and calls after
// cancellations, broken connections and a killed server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, CreateTaskResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

// Both nodes accept the same tokens.
const secret = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
let database, llm, server, user;
let gates = [];
const openGates = () => gates.splice(0).forEach((open) => open());

const settings = `
[mcp_server]
authorization_servers = ["https://login.example.org"]
max_body_mb = 2
calls_per_account = 4
approval_wait_seconds = 1
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
`;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    if (prompt.includes('[fail]')) return reply.fail(401);
    if (prompt.includes('[gate]')) { reply.text('begun '); await new Promise((open) => gates.push(open)); return reply.say('and done'); }
    if (prompt.includes('[tool]') && turns(request).length === 0)
      return reply.tools([{ name: 'shell', arguments: { command: 'echo hello' } }]);
    if (prompt.includes('[ask]')) {
      const results = turns(request).filter((m) => m.role === 'tool').map((m) => m.content);
      return results.length ? reply.say(`results: ${results.join(' | ')}`) : reply.tools([{ id: 'c1', name: 'shell', arguments: { command: 'echo ask' } }]);
    }
    if (prompt.includes('[long]')) return reply.say('ä"\n'.repeat(400_000));
    if (prompt.includes('[history]')) return reply.say(String(request.messages.filter((m) => m.role === 'user').length));
    return reply.say(`answer to: ${prompt.split('\n')[0]}`);
  });
  server = await new Server({ database, llm, set: [secret], settings }).start();
  user = await newUser();
});
after(async () => {
  openGates();
  await server?.close();
  await llm?.close();
  database?.drop();
});

async function newUser(agents = [{ name: 'Data Analyst (EU)', description: 'Analyses data' }]) {
  const u = await server.user({ tier: 'enterprise' });
  for (const json of agents) assert.equal((await u.post('/agents', { json })).status, 201);
  return u;
}
const url = (at = server) => new URL(`${at.url}/mcp`);
const analyst = 'Data_Analyst_EU';

// A client of SDK 1.x, with sessions.
async function connect1(u = user, options = {}, elicit) {
  const client = new Client1({ name: 'test', version: '1' }, { capabilities: elicit ? { elicitation: {} } : {} });
  if (elicit) client.setRequestHandler(ElicitRequestSchema, elicit);
  const transport = new Transport1(url(), {
    requestInit: { headers: { authorization: `Bearer ${u.token}` } },
    reconnectionOptions: { initialReconnectionDelay: 500, maxReconnectionDelay: 1000, reconnectionDelayGrowFactor: 1, maxRetries: 20 }, ...options });
  await client.connect(transport);
  return { client, transport, close: () => client.close() };
}
// A client of SDK 2.x, without sessions.
async function connect2(u = user, elicit) {
  const client = new Client2({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...(elicit ? { capabilities: { elicitation: {} } } : {}) });
  if (elicit) client.setRequestHandler('elicitation/create', elicit);
  await client.connect(new Transport2(url(), { requestInit: { headers: { authorization: `Bearer ${u.token}` } } }));
  return { client, close: () => client.close() };
}

const meta = (extensions = {}) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { extensions },
});
const withTasks = () => meta({ 'io.modelcontextprotocol/tasks': {} });
let ids = 1000;
// One message; `text` replaces the body.
async function send(u, { method, params, id = ++ids, headers = {}, text, accept = 'application/json, text/event-stream', signal, at, ...rest }) {
  const body = text ?? JSON.stringify({ jsonrpc: '2.0', ...(id === null ? {} : { id }), method, ...(params ? { params } : {}), ...rest });
  const r = await fetch(url(at), { method: 'POST', signal, body, headers: { 'content-type': 'application/json', accept, ...(u ? { authorization: `Bearer ${u.token}` } : {}), ...headers } });
  return r;
}
// The same; reads the response.
async function rpc(u, options) {
  const r = await send(u, options);
  const body = await r.text();
  let json;
  if (r.headers.get('content-type')?.startsWith('text/event-stream')) json = messages(body).at(-1);
  else try { json = JSON.parse(body); } catch { /* no JSON */ }
  return { status: r.status, headers: r.headers, body, json, result: json?.result, error: json?.error };
}
const messages = (body) => body.split('\n\n').map((block) => /^data: (.+)$/m.exec(block)?.[1]).filter(Boolean).map((d) => JSON.parse(d));
// A request of 2026-07-28.
const modern = (u, method, params = {}, { headers = {}, _meta = meta(), ...rest } = {}) => rpc(u, {
  method, params: { ...params, _meta }, ...rest,
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(params.name ?? params.taskId ? { 'mcp-name': params.name ?? params.taskId } : {}), ...headers } });
// A request of 2025-11-25.
const legacy = (u, method, params, { headers = {}, ...rest } = {}) => rpc(u, { method, params, headers: { 'mcp-protocol-version': '2025-11-25', ...headers }, ...rest });
const runStatus = async (u, id) => (await u.get(`/agent-run/${id}`)).json.status;
const running = async (u) => (await u.get('/agent-runs?status=running')).json.agent_runs;

test('SDK 1.x: a client lists the agents as tools and calls one', async () => {
  const c = await connect1();
  assert.deepEqual(c.client.getServerCapabilities(), { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } });
  assert.ok(c.transport.sessionId);
  const { tools } = await c.client.listTools();
  assert.deepEqual(tools.map((t) => t.name).sort(), ['Assistant', analyst, 'get_run', 'stop_run']);
  const tool = tools.find((t) => t.name === analyst);
  assert.match(tool.description, /^Analyses data/);
  assert.equal(tool.execution.taskSupport, 'optional');
  const r = await c.client.callTool({ name: analyst, arguments: { prompt: 'count' } });
  assert.equal(r.isError, false);
  assert.deepEqual(r.content, [{ type: 'text', text: 'answer to: count' }]);
  assert.equal(r.structuredContent.status, 'completed');
  assert.equal(r.structuredContent.text, 'answer to: count');
  // The thread continues.
  const again = await c.client.callTool({ name: analyst, arguments: { prompt: '[history]', thread_id: r.structuredContent.thread_id } });
  assert.equal(again.content[0].text, '2');
  assert.equal(again.structuredContent.thread_id, r.structuredContent.thread_id);
  await c.client.ping();
  await c.close();
});

test('SDK 1.x: progress notifications name the tool in use and increase', async () => {
  const c = await connect1();
  const progress = [];
  const r = await c.client.callTool({ name: analyst, arguments: { prompt: '[tool]' } }, undefined, { onprogress: (p) => progress.push(p) });
  assert.equal(r.content[0].text, 'answer to: [tool]');
  assert.ok(progress.some((p) => p.message === 'Using the tool shell'), JSON.stringify(progress));
  assert.ok(progress.every((p, i) => i === 0 || p.progress > progress[i - 1].progress), JSON.stringify(progress));
  await c.close();
});

test('SDK 1.x: files reach the agent, and refusals are results that the model can read', async () => {
  const c = await connect1();
  const call = (args, name = analyst) => c.client.callTool({ name, arguments: args });
  const file = { name: 'numbers.csv', media_type: 'text/csv', data: Buffer.from('1,2,3\n').toString('base64') };
  const done = await call({ prompt: 'read it', files: [file] });
  assert.equal(done.isError, false, JSON.stringify(done));
  assert.ok(JSON.stringify(llm.seen.at(-1).json.messages).includes('numbers.csv'));
  for (const [args, text] of [
    [{}, /^prompt is required/],
    [{ prompt: 7 }, /^prompt must be a string/],
    [{ prompt: 'x', model: 'y' }, /^model is not a known argument/],
    [{ prompt: 'x', thread_id: 'nonsense' }, /^thread_id must be/],
    [{ prompt: 'x', thread_id: '0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11' }, /^Thread not found/],
    [{ prompt: 'x', files: [{ name: 'a', data: '!!' }] }, /^files\[0\]\.data is not valid base64/],
    [{ prompt: 'x', files: Array(21).fill(file) }, /^files must have at most 20 items/],
  ]) {
    const r = await call(args);
    assert.equal(r.isError, true);
    assert.match(r.content[0].text, text);
  }
  await assert.rejects(call({ prompt: 'x' }, 'no_such_agent'), { code: -32602 });
  const failed = await call({ prompt: '[fail]' });
  assert.equal(failed.isError, true);
  assert.match(failed.content[0].text, /^The run failed: /);
  assert.equal(failed.structuredContent.status, 'failed');
  await c.close();
});

test('SDK 1.x: cancelling a request stops its run; equal request ids of other sessions are not affected', async () => {
  const [a, b] = [await connect1(), await connect1()];
  const abort = new AbortController();
  const cancelled = a.client.callTool({ name: analyst, arguments: { prompt: '[gate] a' } }, undefined, { signal: abort.signal });
  cancelled.catch(() => {});
  const other = b.client.callTool({ name: analyst, arguments: { prompt: '[gate] b' } });
  await waitFor('two runs', async () => gates.length === 2);
  assert.equal((await running(user)).length, 2);
  abort.abort('no longer needed');
  await assert.rejects(cancelled);
  const left = await waitFor('the end of one run', async () => { const r = await running(user); return r.length === 1 && r; });
  openGates();
  const r = await other;
  assert.equal(r.structuredContent.run_id, left[0].id);
  assert.match(r.content[0].text, /done/);
  await Promise.all([a.close(), b.close()]);
});

test('SDK 1.x: a call survives kill -9 of the server; the client resumes the stream', async () => {
  const c = await connect1();
  const progress = [];
  const call = c.client.callTool({ name: analyst, arguments: { prompt: '[gate] kill' } }, undefined, { onprogress: (p) => progress.push(p.progress), timeout: 60000 });
  call.catch(() => {});
  await waitFor('the model', () => gates.length === 1);
  const [run] = await running(user);
  await server.kill();
  gates = [];
  const { port } = new URL(server.url);
  server.set = [...server.set.filter((s) => !s.startsWith('http.listen')), `http.listen=127.0.0.1:${port}`];
  await server.start();
  await waitFor('the model again', () => gates.length === 1, 60000);
  openGates();
  const r = await call;
  assert.equal(r.structuredContent.run_id, run.id);
  assert.equal(r.content[0].text, 'begun and done');
  assert.ok(progress.every((p, i) => i === 0 || p > progress[i - 1]), JSON.stringify(progress));
  await c.close();
});

test('SDK 1.x: a disconnect does not stop a run, and a repeated request is not executed again', async () => {
  const init = await legacy(user, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } });
  const session = init.headers.get('mcp-session-id');
  const options = { headers: { 'mcp-session-id': session }, id: 'call-1' };
  const abort = new AbortController();
  const first = await send(user, { method: 'tools/call', params: { name: analyst, arguments: { prompt: '[gate] once' } }, signal: abort.signal, id: options.id, headers: { ...options.headers, 'mcp-protocol-version': '2025-11-25' } });
  assert.equal(first.headers.get('content-type'), 'text/event-stream');
  const priming = new TextDecoder().decode((await first.body.getReader().read()).value);
  assert.match(priming, /retry: \d+/);
  await waitFor('the model', () => gates.length === 1);
  abort.abort();
  await sleep(300);
  const [run] = await running(user);
  assert.ok(run, 'the run continues');
  const repeated = legacy(user, 'tools/call', { name: analyst, arguments: { prompt: '[gate] once' } }, options);
  await sleep(300);
  openGates();
  assert.equal((await repeated).result.structuredContent.run_id, run.id);
  // The first stream can still be resumed.
  const id = /^id: (.+)$/m.exec(priming)?.[1];
  if (id) {
    const resumed = await fetch(url(), { headers: { authorization: `Bearer ${user.token}`, accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', 'last-event-id': id } });
    assert.equal(messages(await resumed.text()).at(-1).result.structuredContent.run_id, run.id);
    const foreign = await fetch(url(), { headers: { authorization: `Bearer ${(await newUser()).token}`, accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', 'last-event-id': id } });
    assert.equal(foreign.status, 404);
  }
});

test('SDK 1.x: runs as tasks, with kill -9 in between', async () => {
  const c = await connect1();
  const created = await c.client.request({ method: 'tools/call', params: { name: analyst, arguments: { prompt: '[gate] task' }, task: { ttl: 60000 } } }, CreateTaskResultSchema);
  assert.equal(created.task.status, 'working');
  assert.equal(created.task.ttl, null);
  const { taskId } = created.task;
  await waitFor('the model', () => gates.length === 1);
  await server.kill();
  gates = [];
  await server.start();
  assert.equal((await c.client.experimental.tasks.getTask(taskId)).status, 'working');
  await waitFor('the model again', () => gates.length === 1, 60000);
  const waiting = c.client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  await sleep(200);
  openGates();
  const r = await waiting;
  assert.match(r.content[0].text, /done/);
  assert.deepEqual(r._meta['io.modelcontextprotocol/related-task'], { taskId });
  assert.equal((await c.client.experimental.tasks.getTask(taskId)).status, 'completed');
  const listed = await c.client.experimental.tasks.listTasks();
  assert.ok(listed.tasks.some((t) => t.taskId === taskId));
  await assert.rejects(c.client.experimental.tasks.cancelTask(taskId), { code: -32602 });
  await c.close();
});

test('SDK 1.x: a task can be cancelled, and a failed run is a failed task', async () => {
  const c = await connect1();
  const start = async (prompt) => (await c.client.request({ method: 'tools/call', params: { name: analyst, arguments: { prompt }, task: {} } }, CreateTaskResultSchema)).task.taskId;
  const stopped = await start('[gate] cancel');
  await waitFor('the model', () => gates.length === 1);
  assert.equal((await c.client.experimental.tasks.cancelTask(stopped)).status, 'cancelled');
  assert.equal(await runStatus(user, stopped), 'stopped');
  const r = await c.client.experimental.tasks.getTaskResult(stopped, CallToolResultSchema);
  assert.equal(r.isError, true);
  gates = [];
  const failed = await start('[fail]');
  await waitFor('the failure', async () => (await c.client.experimental.tasks.getTask(failed)).status === 'failed');
  // The stream of the SDK: created, status, result.
  const kinds = [];
  for await (const m of c.client.experimental.tasks.callToolStream({ name: analyst, arguments: { prompt: 'streamed' } }, CallToolResultSchema, { task: {} })) kinds.push(m.type);
  assert.equal(kinds[0], 'taskCreated');
  assert.equal(kinds.at(-1), 'result');
  await assert.rejects(c.client.experimental.tasks.getTask('0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11'), { code: -32602 });
  await assert.rejects(c.client.request({ method: 'tools/call', params: { name: 'get_run', arguments: { run_id: failed }, task: {} } }, CreateTaskResultSchema), { code: -32601 });
  await c.close();
});

test('SDK 2.x: a client discovers the server, lists tools and calls one', async () => {
  const c = await connect2();
  const { tools } = await c.client.listTools();
  assert.ok(tools.some((t) => t.name === analyst));
  const progress = [];
  const r = await c.client.callTool({ name: analyst, arguments: { prompt: '[tool] modern' } }, { onprogress: (p) => progress.push(p.message) });
  assert.match(r.content[0].text, /^answer to: \[tool\] modern/);
  assert.equal(r.structuredContent.status, 'completed');
  assert.ok(progress.includes('Using the tool shell'), JSON.stringify(progress));
  await c.close();
});

test('SDK 2.x: closing the stream stops the run', async () => {
  const c = await connect2();
  const abort = new AbortController();
  const call = c.client.callTool({ name: analyst, arguments: { prompt: '[gate] close' } }, { signal: abort.signal });
  call.catch(() => {});
  await waitFor('the model', () => gates.length === 1);
  const [run] = await running(user);
  abort.abort();
  await assert.rejects(call);
  await waitFor('the stop', async () => (await runStatus(user, run.id)) === 'stopped');
  gates = [];
  await c.close();
});

test('SDK 2.x: runs as tasks of the extension, with kill -9 in between', async () => {
  const options = { _meta: withTasks() };
  const created = await modern(user, 'tools/call', { name: analyst, arguments: { prompt: '[gate] extension' } }, options);
  assert.equal(created.result.resultType, 'task');
  assert.equal(created.result.status, 'working');
  const { taskId } = created.result;
  const get = () => modern(user, 'tasks/get', { taskId }, options);
  const working = (await get()).result;
  assert.deepEqual([working.resultType, working.status, 'result' in working], ['complete', 'working', false]);
  await waitFor('the model', () => gates.length === 1);
  await server.kill();
  gates = [];
  await server.start();
  await waitFor('the model again', () => gates.length === 1, 60000);
  openGates();
  const done = await waitFor('the end', async () => { const { result: t } = await get(); return t.status === 'completed' && t; });
  assert.equal(done.result.content[0].text, 'begun and done');
  assert.equal(done.result.isError, false);
  const ended = await modern(user, 'tasks/cancel', { taskId }, options);
  assert.equal(ended.result.resultType, 'complete');
  assert.equal((await modern(user, 'tasks/update', { taskId, inputResponses: {} }, options)).result.resultType, 'complete');

  const failed = (await modern(user, 'tools/call', { name: analyst, arguments: { prompt: '[fail]' } }, options)).result.taskId;
  const f = await waitFor('the failure', async () => { const { result: t } = await modern(user, 'tasks/get', { taskId: failed }, options); return t.status !== 'working' && t; });
  assert.deepEqual([f.status, f.result.isError], ['completed', true], 'failed is reserved for JSON-RPC errors');

  const long = (await modern(user, 'tools/call', { name: analyst, arguments: { prompt: '[gate] cancel' } }, options)).result.taskId;
  await modern(user, 'tasks/cancel', { taskId: long }, options);
  assert.equal((await modern(user, 'tasks/get', { taskId: long }, options)).result.status, 'cancelled');
  gates = [];
});

test('get_run and stop_run', async () => {
  const call = (u, name, args) => modern(u, 'tools/call', { name, arguments: args });
  const { taskId } = (await modern(user, 'tools/call', { name: analyst, arguments: { prompt: '[gate] query' } }, { _meta: withTasks() })).result;
  const r = await call(user, 'get_run', { run_id: taskId });
  assert.deepEqual([r.result.isError, r.result.structuredContent.status, r.result.structuredContent.text], [false, 'running', '']);
  const stranger = await newUser();
  for (const tool of ['get_run', 'stop_run']) {
    const foreign = await call(stranger, tool, { run_id: taskId });
    assert.deepEqual([foreign.result.isError, foreign.result.content[0].text], [true, 'Run not found']);
  }
  assert.equal((await modern(stranger, 'tasks/get', { taskId }, { _meta: withTasks() })).error.code, -32602);
  assert.equal((await modern(stranger, 'tasks/cancel', { taskId }, { _meta: withTasks() })).error.code, -32602);
  assert.equal(await runStatus(user, taskId), 'running');
  assert.equal((await call(user, 'stop_run', { run_id: taskId })).result.structuredContent.status, 'stopped');
  assert.equal((await call(user, 'stop_run', { run_id: 'x' })).result.isError, true);
  gates = [];
});

test('long answers are truncated and arrive completely', async () => {
  const r = await legacy(user, 'tools/call', { name: analyst, arguments: { prompt: '[long]' } });
  const text = r.result.content[0].text;
  assert.ok(Buffer.byteLength(text) <= 1024 * 1024 && text.length > 500_000);
  assert.match(text, /complete text is in the messages/);
  assert.equal(r.result.structuredContent.text, text);
});

test('names of tools are unique and valid for models', async () => {
  const u = await newUser(['Same', 'Same', 'get_run', '日本語', 'x'.repeat(99)].map((name) => ({ name })));
  const { tools } = (await modern(u, 'tools/list')).result;
  const names = tools.map((t) => t.name);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.every((n) => /^[A-Za-z0-9_-]{1,60}$/.test(n)), names.join());
  assert.ok(names.includes('Same') && names.includes('agent') && names.filter((n) => n === 'get_run').length === 1);
  const second = names.find((n) => /^Same_/.test(n));
  assert.equal((await modern(u, 'tools/call', { name: second, arguments: { prompt: 'hi' } })).result.isError, false);
});

test('revisions: negotiation, required metadata and headers', async () => {
  const init = async (version) => (await rpc(user, { method: 'initialize', params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 't', version: '1' } } })).result.protocolVersion;
  for (const v of ['2025-03-26', '2025-06-18', '2025-11-25']) assert.equal(await init(v), v);
  assert.equal(await init('2026-07-28'), '2025-11-25');
  assert.equal(await init('1999-01-01'), '2025-11-25');
  const old = await rpc(user, { method: 'tools/list' });
  assert.equal(old.result.tools[0].outputSchema, undefined, 'without the header it is 2025-03-26');
  const code = async (promise) => { const r = await promise; return [r.status, r.error?.code]; };
  assert.deepEqual(await code(rpc(user, { method: 'tools/list', headers: { 'mcp-protocol-version': '2099-01-01' } })), [400, -32022]);
  assert.deepEqual(await code(modern(user, 'tools/list', {}, { _meta: {} })), [400, -32602]);
  assert.deepEqual(await code(modern(user, 'tools/list', {}, { headers: { 'mcp-method': 'ping' } })), [400, -32020]);
  assert.deepEqual(await code(modern(user, 'tools/call', { name: analyst }, { headers: { 'mcp-name': '=?base64?!?=' } })), [400, -32020]);
  assert.deepEqual(await code(modern(user, 'tasks/get', { taskId: 'x' })), [400, -32021]);
  assert.deepEqual(await code(modern(user, 'initialize')), [404, -32601]);
  assert.deepEqual(await code(modern(user, 'resources/list')), [404, -32601]);
  assert.deepEqual(await code(legacy(user, 'resources/list')), [200, -32601]);
  assert.deepEqual(await code(legacy(user, 'tools/list', { cursor: 'x' })), [200, -32602]);
  assert.deepEqual(await code(legacy(user, 'tools/list', {}, { headers: { 'mcp-session-id': 'unknown' } })), [404, -32600]);
  const encoded = `=?base64?${Buffer.from(analyst).toString('base64')}?=`;
  assert.equal((await modern(user, 'tools/call', { name: analyst, arguments: { prompt: 'x' } }, { headers: { 'mcp-name': encoded } })).result.isError, false);
});

test('hostile input is refused with an error of the protocol', async () => {
  const code = async (options, u = user) => { const r = await rpc(u, options); return [r.status, r.error?.code]; };
  for (const [text, expected] of [
    ['', -32700], ['{', -32700], ['nul', -32700], ['{"jsonrpc":"2.0"} x', -32700], ['\xff', -32700],
    ['['.repeat(1000), -32700], ['[]', -32600], ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600], ['7', -32600], ['"x"', -32600],
    ['{}', -32600], ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600], ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600], ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600], ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600],
    [`{"jsonrpc":"2.0","id":"${'x'.repeat(300)}","method":"ping"}`, -32600],
    [`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(300)}"}`, -32600],
  ]) assert.deepEqual(await code({ text }), [400, expected], text.slice(0, 60));
  assert.deepEqual(await code({ text: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[${'0,'.repeat(300_000)}0]}}` }), [400, -32700]);
  for (const params of [{}, { name: 7 }, { name: analyst, arguments: [] }, { name: 'x'.repeat(100_000) }, { name: analyst, arguments: { prompt: 'x' }, _meta: { progressToken: {} } }])
    assert.deepEqual(await code({ method: 'tools/call', params }), [200, -32602], JSON.stringify(params).slice(0, 60));
  assert.deepEqual(await code({ method: 'tasks/get', params: { taskId: 7 }, headers: { 'mcp-protocol-version': '2025-11-25' } }), [200, -32602]);
  assert.deepEqual(await code({ method: 'ping', headers: { 'content-type': 'text/plain' } }), [415, -32600]);
  assert.deepEqual(await code({ method: 'ping', accept: 'text/html' }), [406, -32600]);
  assert.equal((await send(user, { text: 'x'.repeat(3 << 20) })).status, 413);
  const chunked = new ReadableStream({ start(c) { for (let i = 0; i < 48; i++) c.enqueue(new Uint8Array(64 << 10).fill(32)); c.close(); } });
  const r = await fetch(url(), { method: 'POST', duplex: 'half', body: chunked, headers: { 'content-type': 'application/json', authorization: `Bearer ${user.token}` } }).catch((e) => e);
  assert.ok(r.status === 413 || r instanceof Error, String(r.status));
  // Notifications and stray responses.
  for (const body of ['{"jsonrpc":"2.0","method":"notifications/initialized"}', '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}', '{"jsonrpc":"2.0","id":4,"result":{}}', '{"jsonrpc":"2.0","method":"tools/call"}'])
    assert.equal((await send(user, { text: body })).status, 202, body);
  // Requests for streams.
  const get = (headers) => fetch(url(), { headers: { authorization: `Bearer ${user.token}`, accept: 'text/event-stream', ...headers } }).then(async (g) => { await g.text(); return g.status; });
  assert.equal(await get({}), 405);
  for (const id of ['7', 'x'.repeat(5000), Buffer.from('[false,"x",1,1,null]').toString('base64url'), Buffer.from('[]').toString('base64url')])
    assert.equal(await get({ 'last-event-id': id }), 400, id.slice(0, 40));
  const unknown = Buffer.from(JSON.stringify([false, '0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11', 0, 1, null])).toString('base64url');
  assert.equal(await get({ 'last-event-id': unknown }), 404);
  assert.equal((await fetch(url(), { method: 'DELETE', headers: { authorization: `Bearer ${user.token}`, 'mcp-session-id': '0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11' } })).status, 405);
});

test('the number of waiting calls of an account is limited', async () => {
  const u = await newUser();
  const calls = Array.from({ length: 4 }, (_, i) => legacy(u, 'tools/call', { name: analyst, arguments: { prompt: `[gate] ${i}` } }));
  await waitFor('four runs', () => gates.length === 4);
  const refused = await legacy(u, 'tools/call', { name: analyst, arguments: { prompt: 'x' } });
  assert.deepEqual([refused.status, refused.error.code, refused.headers.get('retry-after')], [429, 429, '5']);
  assert.equal((await legacy(u, 'tools/list')).status, 200);
  openGates();
  for (const r of await Promise.all(calls)) assert.equal(r.result.isError, false);
  assert.equal((await legacy(u, 'tools/call', { name: analyst, arguments: { prompt: 'x' } })).result.isError, false);
});

test('without server-sent events a call returns one JSON object', async () => {
  const r = await legacy(user, 'tools/call', { name: analyst, arguments: { prompt: 'plain' } }, { accept: 'application/json' });
  assert.match(r.headers.get('content-type'), /^application\/json/);
  assert.equal(r.result.content[0].text, 'answer to: plain');
});

test('on another node: a cancellation, the resumption of a stream, and tasks', async () => {
  const other = await new Server({ database, llm, set: [secret], settings }).start();
  try {
    const init = await legacy(user, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } });
    const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': init.headers.get('mcp-session-id') };
    const cancelled = legacy(user, 'tools/call', { name: analyst, arguments: { prompt: '[gate] here' } }, { headers, id: 77 });
    await waitFor('the model', () => gates.length === 1);
    const [run] = await running(user);
    const notified = await send(user, { at: other, id: null, method: 'notifications/cancelled', params: { requestId: 77 }, headers });
    assert.equal(notified.status, 202);
    await waitFor('the stop', async () => (await runStatus(user, run.id)) === 'stopped');
    assert.equal((await cancelled).json, undefined, 'a cancelled request gets no response');
    gates = [];

    const call = await send(user, { method: 'tools/call', params: { name: analyst, arguments: { prompt: '[gate] there' }, _meta: { progressToken: 'p' } }, headers, id: 'x' });
    const reader = call.body.getReader();
    const begun = new TextDecoder().decode((await reader.read()).value) + new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    await waitFor('the model', () => gates.length === 1);
    const last = [...begun.matchAll(/^id: (.+)$/gm)].at(-1)[1];
    const resumed = fetch(url(other), { headers: { authorization: `Bearer ${user.token}`, accept: 'text/event-stream', 'last-event-id': last, ...headers } }).then((r) => r.text());
    await sleep(300);
    openGates();
    const all = messages(await resumed);
    assert.equal(all.at(-1).id, 'x');
    assert.equal(all.at(-1).result.content[0].text, 'begun and done');
    assert.ok(all.slice(0, -1).every((m) => m.method === 'notifications/progress' && m.params.progressToken === 'p'));
    const { run_id: taskId } = all.at(-1).result.structuredContent;
    assert.equal((await legacy(user, 'tasks/get', { taskId }, { at: other })).result.status, 'completed');
  } finally {
    await other.close();
  }
});

test('a draining server suspends streams that clients can resume, and ends the others with a result', async () => {
  const call = (options) => send(user, { method: 'tools/call', ...options });
  const old = await call({ params: { name: analyst, arguments: { prompt: '[gate] drain 1' } }, headers: { 'mcp-protocol-version': '2025-11-25' } });
  const fresh = await call({ params: { name: analyst, arguments: { prompt: '[gate] drain 2' }, _meta: meta() }, headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': analyst } });
  await waitFor('two runs', () => gates.length === 2);
  const stopped = server.stop();
  const [a, b] = await Promise.all([old.text(), fresh.text()]);
  openGates();
  await stopped;
  assert.equal(messages(a).length, 0);
  assert.match(a, /retry: \d+\n\n$/);
  const { result } = messages(b).at(-1);
  assert.equal(result.isError, true);
  assert.equal(result.structuredContent.status, 'running');
  await server.start();
  const id = /^id: (.+)$/m.exec(a)[1];
  const resumed = await fetch(url(), { headers: { authorization: `Bearer ${user.token}`, accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', 'last-event-id': id } });
  const text = resumed.text();
  await waitFor('the run again', async () => { openGates(); return (await running(user)).length === 0; }, 60000);
  assert.match(messages(await text).at(-1).result.content[0].text, /done/);
});

test('authorization: the challenge refers to the metadata of the endpoint', async () => {
  for (const u of [undefined, { token: 'wrong' }]) {
    const r = await send(u, { method: 'ping' });
    assert.equal(r.status, 401);
    const challenge = r.headers.get('www-authenticate');
    const where = /resource_metadata="([^"]+)"/.exec(challenge)[1];
    assert.equal(where, `${server.url}/.well-known/oauth-protected-resource/mcp`);
    const metadata = await (await fetch(where)).json();
    assert.equal(metadata.resource, `${server.url}/mcp`);
    assert.deepEqual(metadata.authorization_servers, ['https://login.example.org']);
  }
  assert.equal((await fetch(`${server.url}/.well-known/oauth-protected-resource`)).status, 200);
  assert.equal((await fetch(`${server.url}/.well-known/oauth-protected-resource/other`)).status, 404);
  // A large body of a client without a token is not read.
  const r = await send(undefined, { text: 'x'.repeat(1 << 20) });
  assert.equal(r.status, 401);
  // The routes of the MCP client of this server remain.
  assert.notEqual((await user.get('/mcp/profiles')).status, 405);
});

// ---- approvals

const ask = { name: analyst, arguments: { prompt: '[ask]' } };

test('clients with elicitation are asked for approvals, in both generations of the protocol', async () => {
  const u = await newUser();
  for (const connect of [(elicit) => connect1(u, {}, elicit), (elicit) => connect2(u, elicit)]) {
    const forms = [];
    const answers = [{ action: 'accept', content: { decision: 'approve' } }, { action: 'accept', content: { decision: 'deny', reason: 'not now' } }, { action: 'decline' }];
    const c = await connect(async (request) => { forms.push(request.params); return answers[forms.length - 1]; });
    assert.match((await c.client.callTool(ask)).structuredContent.text, /^results: ask\n/);
    assert.match((await c.client.callTool(ask)).structuredContent.text, /the user denied it with the reason: not now/);
    assert.match((await c.client.callTool(ask)).structuredContent.text, /the user denied it/);
    assert.equal(forms.length, 3);
    assert.match(forms[0].message, /call the tool shell \(sandbox\) with the arguments \{"command":"echo ask"\}/);
    assert.deepEqual(forms[0].requestedSchema.required, ['decision']);
    await c.close();
  }
});

test('a call whose approval is not given ends with a result that names it, and the run continues later', async () => {
  const u = await newUser();
  const cancels = async () => ({ action: 'cancel' });
  for (const c of [await connect1(u), await connect1(u, {}, cancels), await connect2(u), await connect2(u, cancels)]) {
    const begin = Date.now();
    const r = await c.client.callTool(ask);
    assert.ok(Date.now() - begin < 15000);
    assert.equal(r.isError, true);
    const { run_id: run, status, waiting_for: [waits] } = r.structuredContent;
    assert.equal(status, 'running');
    assert.match(r.content[0].text, new RegExp(`the call of the tool shell needs the approval ${waits.approval_id}`));
    assert.equal((await u.post(`/approvals/${waits.approval_id}`, { json: { decision: 'approve' } })).status, 200);
    const done = await waitFor('the run ends', async () => { const s = (await c.client.callTool({ name: 'get_run', arguments: { run_id: run } })).structuredContent; return s.status === 'completed' && s; });
    assert.match(done.text, /^results: ask\n/);
    await c.close();
  }
});

test('tasks that wait for an approval require input, also after a kill', async () => {
  const u = await newUser();
  const capable = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } } };
  const { result: task } = await modern(u, 'tools/call', ask, { _meta: capable });
  const get = async (more = { _meta: capable }) => (await modern(u, 'tasks/get', { taskId: task.taskId }, more)).result;
  const waiting = await waitFor('the task waits', async () => { const t = await get(); return t.status === 'input_required' && t; });
  await server.kill();
  await server.start();
  assert.deepEqual(await get(), waiting);
  assert.equal((await get({ _meta: withTasks() })).status, 'working', 'this client cannot be asked');
  const inputResponses = Object.fromEntries(Object.keys(waiting.inputRequests).map((key) => [key, { action: 'accept', content: { decision: 'approve' } }]));
  assert.equal((await modern(u, 'tasks/update', { taskId: task.taskId, inputResponses }, { _meta: capable })).error, undefined);
  const done = await waitFor('the task ends', async () => { const t = await get(); return t.status === 'completed' && t; });
  assert.match(done.result.structuredContent.text, /^results: ask\n/);

  // 2025-11-25: the stream of tasks/result asks.
  const forms = [];
  const c = await connect1(u, {}, async (request) => { forms.push(request.params); return { action: 'accept', content: { decision: 'approve' } }; });
  const created = await c.client.request({ method: 'tools/call', params: { ...ask, task: {} } }, CreateTaskResultSchema);
  await waitFor('the task waits', async () => (await c.client.experimental.tasks.getTask(created.task.taskId)).status === 'input_required');
  const result = await c.client.experimental.tasks.getTaskResult(created.task.taskId, CallToolResultSchema);
  assert.match(result.structuredContent.text, /^results: ask\n/);
  assert.equal(forms[0]._meta['io.modelcontextprotocol/related-task'].taskId, created.task.taskId);
  await c.close();
});
