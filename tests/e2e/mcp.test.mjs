// End-to-end tests of custom MCP tools: discovery, configuration and runs against real MCP servers from npm.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, node, result, serverOf, startScriptedServer, startEverything, startSdkV2Server, startProxy } from './lib/mcp.mjs';
import { Server, binary, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

// `modern` speaks MCP revision 2026-07-28; `scripted` is a server of revision 2025-11-25 written for the tests.
let database, llm, server, http, sse, modern, scripted, files;

before(async () => {
  database = makeDatabase();
  files = mkdtempSync(path.join(tmpdir(), 'ry-mcp-'));
  writeFileSync(path.join(files, 'note.txt'), 'written in a file');
  chmodSync(files, 0o777);  // local MCP servers run under a separate user
  [llm, http, sse, modern, scripted] = await Promise.all([
    startLlm(callingModel), startEverything('streamableHttp'), startEverything('sse'), startSdkV2Server(), startScriptedServer()]);
  server = await new Server({ database, llm, settings: `
[mcp.json]
readable = ["${import.meta.dirname}"]
writable = ["${files}"]
` }).start();
});
after(async () => {
  await server?.close();
  for (const peer of [http, sse, modern, scripted]) peer?.close();
  await llm?.close();
  database?.drop();
  rmSync(files, { recursive: true, force: true });
});

const defaultAgentId = async (u) => (await u.get('/agents')).json.agents[0].agent_id;
const tools = (agent) => `/agents/${agent}/custom-mcp-tools`;
const newUserWithAgent = async () => {
  const u = await server.user({ tier: 'pro' });
  return { u, agent: await defaultAgentId(u) };
};

async function run(u, prompt) {
  const started = await u.start({ prompt });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { text: textOf(s.events), events: s.events };
}

for (const [label, type, peer] of [['http', 'http', () => http], ['sse', 'sse', () => sse], ['2026-07-28', 'http', () => modern]]) {
  test(`discovery over ${label}`, async () => {
    const { u, agent } = await newUserWithAgent();
    const r = await u.get(tools(agent), { headers: { 'x-mcp-url': peer().url, 'x-mcp-type': type } });
    assert.equal(r.status, 200, r.text);
    assert.deepEqual(Object.keys(r.json).sort(), ['has_mcp_config', 'server_type', 'server_url', 'tools']);
    assert.equal(r.json.has_mcp_config, false);
    assert.equal(r.json.server_type, type);
    assert.equal(r.json.server_url, peer().url);
    const echo = r.json.tools.find((t) => t.name === 'echo');
    assert.deepEqual(Object.keys(echo).sort(), ['description', 'enabled', 'name']);
    assert.equal(echo.enabled, false);
    assert.match(echo.description, /echo/i);
  });
}

test('configurations can be enabled, read and replaced', async () => {
  const { u, agent } = await newUserWithAgent();
  const post = (json) => u.post(tools(agent), { json });
  const made = await post({ url: http.url, type: 'http', enabled_tools: ['echo', 'get-sum'] });
  assert.equal(made.status, 200, made.text);
  assert.deepEqual(made.json, { success: true, enabled_tools: ['echo', 'get-sum'], total_tools: 2 });
  const seen = await u.get(tools(agent), { headers: { 'x-mcp-url': http.url, 'x-mcp-type': 'http' } });
  assert.equal(seen.json.has_mcp_config, true);
  assert.deepEqual(seen.json.tools.filter((t) => t.enabled).map((t) => t.name).sort(), ['echo', 'get-sum']);
  // The server's tool list is cached now, so unknown tool names are rejected.
  const unknown = await post({ url: http.url, type: 'http', enabled_tools: ['nonsense'] });
  assert.equal(unknown.status, 400, unknown.text);
  assert.match(unknown.json.detail, /nonsense/);
  const before = (await u.get(`/agents/${agent}`)).json.version;
  const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [
    { name: 'first', type: 'http', config: { url: http.url, headers: { Authorization: 'Bearer very-secret-value' } }, enabledTools: ['echo'] },
    { name: 'second', type: 'sse', config: { url: sse.url }, enabled_tools: ['echo', 'get-sum'] }] } });
  assert.equal(put.status, 200, put.text);
  assert.equal(put.json.success, true);
  assert.equal(put.json.data.total_enabled_tools, 3);
  assert.deepEqual(put.json.data.custom_mcps[1].enabledTools, ['echo', 'get-sum']);
  assert.equal(put.json.data.custom_mcps[0].config.headers.Authorization, '********');
  assert.equal((await u.get(`/agents/${agent}`)).json.version, before + 1);
  // Sending the mask back keeps the stored secret and creates no new version.
  const again = await u.request('PUT', tools(agent), { json: { custom_mcps: put.json.data.custom_mcps } });
  assert.equal(again.status, 200, again.text);
  assert.equal((await u.get(`/agents/${agent}`)).json.version, before + 1);
  const cleared = await u.request('PUT', tools(agent), { json: { custom_mcps: [] } });
  assert.deepEqual(cleared.json, { success: true, data: { custom_mcps: [], total_enabled_tools: 0 } });
});

test('equivalent spellings of a URL identify the same server, and renaming a server keeps its secrets', async () => {
  const { u, agent } = await newUserWithAgent();
  const secret = { Authorization: 'Bearer kept-after-all' };
  const made = await u.post('/agents', { json: { name: 'renamed', custom_mcps: [{ name: 'first', type: 'http', config: { url: scripted.url, headers: secret }, enabledTools: ['echo', 'echo'] }] } });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.json.custom_mcps[0].enabledTools, ['echo']);
  const [mcp] = made.json.custom_mcps;
  const path = `/agents/${made.json.agent_id}`;
  const renamed = await u.request('PUT', path, { json: { custom_mcps: [{ ...mcp, name: 'second', config: { ...mcp.config, headers: { authorization: '********' } } }] } });
  assert.equal(renamed.status, 200, renamed.text);
  const equivalentUrl = scripted.url.replace('http://', 'HTTP://') + '#top';
  const seen = await u.get(tools(made.json.agent_id), { headers: { 'x-mcp-url': equivalentUrl, 'x-mcp-type': 'http', 'cache-control': 'max-age=0, No-Cache' } });
  assert.deepEqual([seen.status, seen.json.has_mcp_config], [200, true], seen.text);
  assert.equal(scripted.seen.filter((s) => s.message.method === 'tools/list').at(-1).headers.authorization, secret.Authorization);
  const count = scripted.seen.length;
  await u.get(tools(made.json.agent_id), { headers: { 'x-mcp-url': equivalentUrl, 'x-mcp-type': 'http', 'cache-control': 'NO-CACHE' } });
  assert.ok(scripted.seen.length > count, 'the cache was bypassed');
  assert.equal((await u.get(tools(agent), { headers: { 'x-mcp-url': scripted.url, 'x-mcp-type': 'http' } })).json.has_mcp_config, false);
});

test('headers given in a POST are stored and sent with later tool calls', async () => {
  for (const source of ['body', 'header']) {
    const { u, agent } = await newUserWithAgent();
    const headers = { Authorization: `Bearer posted-in-the-${source}` };
    const r = await u.post(tools(agent), { json: { url: scripted.url, type: 'http', enabled_tools: ['echo'], ...(source === 'body' ? { headers } : {}) },
      headers: source === 'header' ? { 'x-mcp-headers': JSON.stringify(headers) } : {} });
    assert.equal(r.status, 200, r.text);
    assert.deepEqual((await u.get(`/agents/${agent}`)).json.custom_mcps[0].config.headers, { Authorization: '********' });
    await run(u, 'hello');
    const tool = llm.seen.at(-1).json.tools.find((t) => t.function.name.endsWith('__echo')).function.name;
    const { text } = await run(u, `[call ${tool} {"message":"x"}]`);
    assert.ok(scripted.seen.some((s) => s.headers.authorization === headers.Authorization && s.message.method === 'tools/call'), text);
  }
  const { u, agent } = await newUserWithAgent();
  for (const headers of ['x', [], { A: 1 }]) {
    const r = await u.post(tools(agent), { json: { url: scripted.url, type: 'http', enabled_tools: [], headers } });
    assert.deepEqual([r.status, r.json.detail], [400, 'headers must be a JSON object whose values are strings']);
  }
});

test('configured headers are sent to their server and nowhere else', async () => {
  const { u, agent } = await newUserWithAgent();
  const headers = { 'x-mcp-url': scripted.url, 'x-mcp-type': 'http', 'x-mcp-headers': '{"Authorization":"Bearer for-the-server"}' };
  const r = await u.get(tools(agent), { headers });
  assert.equal(r.status, 200, r.text);
  const list = scripted.seen.filter((s) => s.message.method === 'tools/list').at(-1);
  assert.equal(list.headers.authorization, 'Bearer for-the-server');
  assert.equal(list.headers['mcp-protocol-version'], '2025-11-25');
  // The tool list is cached for 24 hours; Cache-Control: no-cache bypasses the cache.
  const count = () => scripted.seen.filter((s) => s.message.method === 'tools/list').length;
  const n = count();
  await u.get(tools(agent), { headers });
  assert.equal(count(), n);
  await u.get(tools(agent), { headers: { ...headers, 'cache-control': 'no-cache' } });
  assert.equal(count(), n + 1);
  // Different credentials use a separate cache entry.
  await u.get(tools(agent), { headers: { ...headers, 'x-mcp-headers': '{"Authorization":"Bearer other"}' } });
  assert.equal(count(), n + 2);
  assert.doesNotMatch(server.log, /for-the-server/);
});

test('credentials are redacted in every log message, and URLs are logged without their query', async () => {
  const { u, agent } = await newUserWithAgent();
  // This server echoes the received credentials in a tool name, which the server under test then logs.
  const echoingServer = await startScriptedServer((m, res, req) => m.method === 'tools/list' &&
    result(res, m, { tools: [{ name: `you sent ${req.headers.authorization}` }, { name: 'echo', inputSchema: {} }] }) || undefined);
  const unconfigured = { 'x-mcp-url': `${echoingServer.url}?key=secret-of-the-query`, 'x-mcp-type': 'http', 'x-mcp-headers': '{"Authorization":"Bearer secret-of-the-header"}' };
  assert.equal((await u.get(tools(agent), { headers: unconfigured })).status, 200);
  await waitFor('the log line about the skipped tool', () => /was omitted.*you sent/.test(server.log));
  assert.match(server.log, /you sent \S*(Bearer )?\[redacted\]/);
  const dead = await u.get(tools(agent), { headers: { ...unconfigured, 'x-mcp-url': 'http://127.0.0.1:1/mcp?key=secret-of-the-query' } });
  assert.equal(dead.status, 502, dead.text);
  assert.match(dead.json.detail.message, /"127\.0\.0\.1:1"/);
  assert.doesNotMatch(dead.text, /secret-of-the-query/);
  await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'echoing', type: 'http',
    config: { url: echoingServer.url, headers: { Authorization: 'Bearer secret-of-the-agent' } }, enabledTools: ['echo'] }] } });
  await run(u, 'what do you have?');
  await waitFor('the log line about the skipped tool of the agent', () => server.log.split('was omitted').length > 2);
  assert.doesNotMatch(server.log, /secret-of-the/);
  echoingServer.close();
});

test('a server-side fault is reported as 500 Internal server error', async () => {
  const { u, agent } = await newUserWithAgent();
  await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'http', config: { url: http.url, headers: { A: 'value' } }, enabledTools: [] }] } });
  database.sql(`set session_replication_role = replica; update agents.agent_version set custom_mcps = jsonb_set(custom_mcps, '{0,config,headers,A,sealed}', '"AAAA"') where agent_id = '${agent}'`);
  const r = await u.get(tools(agent), { headers: { 'x-mcp-url': http.url, 'x-mcp-type': 'http' } });
  assert.equal(r.status, 500, r.text);
  assert.deepEqual(r.json, { detail: 'Internal server error' });
});

test('error responses of the custom-mcp-tools endpoints', async () => {
  const { u, agent } = await newUserWithAgent();
  const get = (headers, id = agent) => u.get(tools(id), { headers });
  const expectError = (r, status, detail) => { assert.equal(r.status, status, r.text); assert.deepEqual(r.json.detail, detail); };
  expectError(await get({}), 400, 'MCP URL is required');
  expectError(await u.post(tools(agent), { json: { enabled_tools: [] } }), 400, 'MCP URL is required');
  assert.equal((await get({ 'x-mcp-url': http.url, 'x-mcp-type': 'carrier-pigeon' })).status, 400);
  for (const bad of ['{', '[]', '{"a":7}']) assert.equal((await get({ 'x-mcp-url': http.url, 'x-mcp-headers': bad })).status, 400);
  expectError(await get({ 'x-mcp-url': http.url }, '7d444840-9dc0-11d1-b245-5ffdce74fad2'), 404, 'Worker not found');
  expectError(await get({ 'x-mcp-url': http.url }, 'nonsense'), 404, 'Worker not found');
  const foreign = await newUserWithAgent();
  expectError(await get({ 'x-mcp-url': http.url }, foreign.agent), 404, 'Worker not found');
  for (const json of [undefined, { custom_mcps: {} }, { custom_mcps: [{ name: 'x', type: 'http', config: {}, enabledTools: [] }] },
    { custom_mcps: [{ name: 'x', type: 'pigeon', config: { url: http.url }, enabledTools: [] }] }]) {
    assert.equal((await u.request('PUT', tools(agent), { json })).status, 400, JSON.stringify(json));
  }
  assert.equal((await u.post(tools(agent), { json: { url: http.url, enabled_tools: 'echo' } })).status, 400);
  const dead = await get({ 'x-mcp-url': 'http://127.0.0.1:1/mcp', 'x-mcp-type': 'http' });
  assert.equal(dead.status, 502, dead.text);
  assert.equal(dead.json.detail.error_code, 'MCP_CONNECT_FAILED');
  assert.match(dead.json.detail.message, /127\.0\.0\.1:1/);
});

test('the plan limits the number of servers', async () => {
  const u = await server.user();
  const agent = await defaultAgentId(u);
  assert.equal((await u.post(tools(agent), { json: { url: http.url, type: 'http', enabled_tools: ['echo'] } })).status, 200);
  const overLimit = await u.post(tools(agent), { json: { url: sse.url, type: 'sse', enabled_tools: ['echo'] } });
  assert.equal(overLimit.status, 402, overLimit.text);
  assert.equal(overLimit.json.detail.error_code, 'CUSTOM_WORKER_LIMIT_EXCEEDED');
  assert.equal(overLimit.json.detail.limit, 1);
  assert.equal(overLimit.json.detail.current_count, 1);
  assert.equal(overLimit.json.detail.tier_name, 'free');
  assert.ok(overLimit.json.detail.message);
});

test('an agent calls tools over http, sse, stdio and 2026-07-28 while another server is unreachable', async () => {
  const { u, agent } = await newUserWithAgent();
  const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [
    { name: 'web', type: 'http', config: { url: http.url }, enabledTools: ['echo', 'get-sum'] },
    { name: 'old', type: 'sse', config: { url: sse.url }, enabledTools: ['echo'] },
    { name: 'new', type: 'http', config: { url: modern.url }, enabledTools: ['echo'] },
    { name: 'dead', type: 'http', config: { url: 'http://127.0.0.1:1/mcp' }, enabledTools: ['anything'] },
    { name: 'files', type: 'json', config: { command: node, args: [serverOf('filesystem'), files] }, enabledTools: ['read_text_file'] },
    { name: 'memory', type: 'json', config: { command: node, args: [serverOf('memory')], env: { MEMORY_FILE_PATH: path.join(files, 'memory.json') } }, enabledTools: ['read_graph'] },
    { name: 'local', type: 'json', config: { command: node, args: [serverOf('everything'), 'stdio'] }, enabledTools: ['echo'] }] } });
  assert.equal(put.status, 200, put.text);
  const listed = await run(u, 'what do you have?');
  const names = listed.text.split(',');
  for (const n of ['web__echo', 'web__get-sum', 'old__echo', 'new__echo', 'dead__anything', 'files__read_text_file', 'memory__read_graph', 'local__echo'])
    assert.ok(names.includes(n), `${n} is missing from ${listed.text}`);
  assert.ok(!names.includes('web__get-env'), 'only enabled tools are offered');
  const offered = llm.seen.at(-1).json.tools.find((t) => t.function.name === 'web__echo').function;
  assert.equal(offered.parameters.properties.message.type, 'string');
  for (const [tool, args, expected] of [
    ['web__echo', { message: 'one' }, /Echo: one/],
    ['web__get-sum', { a: 2, b: 3 }, /5/],
    ['old__echo', { message: 'two' }, /Echo: two/],
    ['new__echo', { message: 'three' }, /Modern: three/],
    ['local__echo', { message: 'four' }, /Echo: four/],
    ['files__read_text_file', { path: path.join(files, 'note.txt') }, /written in a file/],
    ['memory__read_graph', {}, /entities/],
    ['files__read_text_file', { path: '/etc/passwd' }, /denied/i],
    ['dead__anything', {}, /MCP server "dead": the connection failed$/]]) {
    const r = await run(u, `[call ${tool} ${JSON.stringify(args)}]`);
    assert.match(r.text, expected, tool);
    const call = r.events.find((e) => e.type === 'tool_call');
    assert.match(call.source, /^mcp:/);
  }
});

test('unusual characters and numbers sent by a server do not break a run', async () => {
  const odd = 'nul \u0000, half \ud83d, control \u001b, end';
  // JSON.stringify would write Infinity as null, so the number 1e999 is patched into the text.
  const respond = (res, id, value) => (res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: value }).replaceAll('"huge"', '1e999')), true);
  const peer = await startScriptedServer((m, res) => {
    if (m.method === 'tools/list') return respond(res, m.id, { tools: [{ name: 'echo', description: odd, inputSchema: { type: 'object', description: odd, properties: { n: { default: 'huge' } } } }] });
    if (m.method === 'tools/call') return respond(res, m.id, { content: [{ type: 'text', text: odd }], structuredContent: { odd, n: 'huge' } });
    return undefined;
  });
  try {
    const { u, agent } = await newUserWithAgent();
    const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'odd', type: 'http', config: { url: peer.url }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    const discovered = await u.get(tools(agent), { headers: { 'x-mcp-url': peer.url, 'x-mcp-type': 'http' } });
    assert.match(discovered.json.tools[0].description, /half \ufffd, control/);
    assert.match((await run(u, '[call odd__echo {}]')).text, /half \ufffd, control .*, end/);
  } finally {
    peer.close();
  }
});

test('mcp-proxy with an API key works over http and sse, and reports a missing key', async () => {
  const proxy = await startProxy('sekret-of-the-proxy');
  try {
    const { u, agent } = await newUserWithAgent();
    const entry = (name, type, url, key) => ({ name, type, config: { url, headers: key ? { 'X-API-Key': key } : {} }, enabledTools: ['echo', 'get-sum'] });
    const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [entry('keyed', 'http', proxy.url, 'sekret-of-the-proxy'),
      entry('stream', 'sse', proxy.sse, 'sekret-of-the-proxy'), entry('kept', 'http', proxy.url, 'sekret-of-the-proxy'), entry('locked', 'http', proxy.url)].map((s) =>
      (s.name === 'kept' ? { ...s, config: { ...s.config, reuse: true } } : s)) } });
    assert.equal(put.status, 200, put.text);
    for (const [tool, args, expected] of [['keyed__echo', { message: 'with a key' }, /Echo: with a key/], ['keyed__get-sum', { a: 2, b: 3 }, /5/],
      ['stream__echo', { message: 'over SSE' }, /Echo: over SSE/], ['kept__echo', { message: 'first' }, /Echo: first/],
      ['kept__echo', { message: 'second' }, /Echo: second/], ['locked__echo', { message: 'x' }, /MCP server "locked": .*credentials.*401/]]) {
      assert.match((await run(u, `[call ${tool} ${JSON.stringify(args)}]`)).text, expected, tool);
    }
    assert.doesNotMatch(server.log, /sekret-of-the-proxy/);
  } finally {
    proxy.close();
  }
});

test('a call to a server whose revision is cached as 2026-07-28 takes one HTTP request', async () => {
  const { u, agent } = await newUserWithAgent();
  await u.post(tools(agent), { json: { url: modern.url, type: 'http', enabled_tools: ['echo'] } });
  const name = (await run(u, 'what do you have?')).text.split(',').find((n) => n.endsWith('__echo'));
  assert.ok(name);
  modern.seen.length = 0;
  const admin = await server.user({ role: 'admin' });
  const ask = () => admin.post('/admin/mcp/call', { json: { type: 'http', config: { url: modern.url }, tool: 'echo', arguments: { message: 'x' } } });
  assert.match((await ask()).json.content, /Modern: x/);
  modern.seen.length = 0;
  const r = await ask();
  assert.match(r.json.content, /Modern: x/);
  assert.equal(modern.seen.length, 1);
  assert.equal(modern.seen[0].headers['mcp-method'], 'tools/call');
  assert.equal(modern.seen[0].headers['mcp-name'], 'echo');
  assert.equal(modern.seen[0].headers['mcp-protocol-version'], '2026-07-28');
});

test('a prebuilt integration reaches its server with the credentials of the profile', async () => {
  const serverWithProfiles = await new Server({ database, llm, settings: `
[mcp_prebuilt]
max_profiles = 5
[mcp_prebuilt.integrations.tracker]
url = "${scripted.url}"
headers = { Authorization = "Bearer {token}" }
` }).start();
  try {
    const u = await serverWithProfiles.user();
    const agent = await defaultAgentId(u);
    const wrong = await u.post('/mcp/profiles', { json: { integration: 'tracker', display_name: 'x' } });
    assert.equal(wrong.status, 400);
    assert.match(wrong.json.detail, /credentials\.token/);
    assert.equal((await u.post('/mcp/profiles', { json: { integration: 'nonsense' } })).status, 400);
    const made = await u.post('/mcp/profiles', { json: { integration: 'tracker', display_name: 'Mine', credentials: { token: 'token-of-profile' } } });
    assert.equal(made.status, 201, made.text);
    const id = made.json.profile_id;
    assert.deepEqual((await u.get('/mcp/profiles')).json.profiles, [{ profile_id: id, integration: 'tracker', display_name: 'Mine' }]);
    for (const type of ['prebuilt', 'composio']) {
      const r = await u.get(tools(agent), { headers: { 'x-mcp-url': id, 'x-mcp-type': type, 'cache-control': 'no-cache' } });
      assert.equal(r.status, 200, r.text);
      assert.equal(r.json.server_type, type);
      assert.deepEqual(r.json.tools.map((t) => t.name), ['echo']);
    }
    assert.equal(scripted.seen.at(-1).headers.authorization, 'Bearer token-of-profile');
    assert.equal((await u.post(tools(agent), { json: { url: id, type: 'prebuilt', enabled_tools: ['echo'] } })).status, 200);
    // A profile belongs to one account; its credentials are encrypted in the database and never returned or logged.
    const other = await serverWithProfiles.user();
    assert.deepEqual((await other.get('/mcp/profiles')).json.profiles, []);
    assert.equal((await other.request('DELETE', `/mcp/profiles/${id}`)).status, 404);
    const foreign = await other.get(tools(await defaultAgentId(other)), { headers: { 'x-mcp-url': id, 'x-mcp-type': 'prebuilt' } });
    assert.equal(foreign.status, 400, foreign.text);
    assert.equal(database.sql("select count(*) from mcp_prebuilt.profile where position('token-of-profile'::bytea in credentials) > 0"), '0');
    assert.doesNotMatch(serverWithProfiles.log, /token-of-profile/);
    // An unreadable profile does not count as a failure of its server.
    database.sql('alter table mcp_prebuilt.profile rename to gone');
    try {
      const broken = await u.get(tools(agent), { headers: { 'x-mcp-url': id, 'x-mcp-type': 'prebuilt' } });
      assert.equal(broken.status, 500, broken.text);
      assert.deepEqual(broken.json, { detail: 'Internal server error' });
    } finally {
      database.sql('alter table mcp_prebuilt.gone rename to profile');
    }
    const sanitized = await u.post('/mcp/profiles', { json: { integration: 'tracker', display_name: 'a\u0007b', credentials: { token: 'x' } } });
    assert.equal(sanitized.status, 201, sanitized.text);
    assert.equal(sanitized.json.display_name, 'ab');
    assert.equal((await u.request('DELETE', `/mcp/profiles/${sanitized.json.profile_id}`)).status, 204);
    assert.equal((await u.request('DELETE', `/mcp/profiles/${id}`)).status, 204);
    const concurrent = await Promise.all(Array.from({ length: 12 }, () => u.post('/mcp/profiles', { json: { integration: 'tracker', credentials: { token: 'x' } } })));
    assert.deepEqual(concurrent.map((r) => r.status).sort(), [...Array(5).fill(201), ...Array(7).fill(409)]);
    assert.equal((await u.get(tools(agent), { headers: { 'x-mcp-url': id, 'x-mcp-type': 'prebuilt', 'cache-control': 'no-cache' } })).status, 400);
  } finally {
    await serverWithProfiles.close();
  }
});

test('runyard mcp lists and calls tools from the command line', async () => {
  const token = server.token({ role: 'admin' });
  const mcpCommand = (...args) => spawnSync(binary, ['mcp', ...args], { encoding: 'utf8', env: { ...process.env, RUNYARD_URL: server.url, RUNYARD_TOKEN: token } });
  const listed = mcpCommand('tools', http.url);
  assert.equal(listed.status, 0, listed.stderr);
  assert.match(listed.stdout, /^echo  /m);
  const called = mcpCommand('call', http.url, '--tool', 'echo', '--arguments', '{"message":"from the shell"}', '--json');
  assert.equal(called.status, 0, called.stderr);
  assert.match(JSON.parse(called.stdout).content, /from the shell/);
  const local = mcpCommand('tools', '--command', node, serverOf('memory'));
  assert.match(local.stdout, /read_graph/, local.stderr);
  const dead = mcpCommand('tools', 'http://127.0.0.1:1/');
  assert.equal(dead.status, 1);
  assert.match(dead.stderr, /MCP_CONNECT_FAILED/);
  assert.equal(mcpCommand('tools').status, 2);
  assert.equal(mcpCommand('call', http.url, '--tool', 'echo', '--arguments', '[').status, 2);
});

test('stderr of a local MCP server is logged with its credentials redacted', async () => {
  const admin = await server.user({ role: 'admin' });
  const config = { command: node, args: ['-e', "console.error('starting with ' + process.env.TOKEN); process.exit(3)"], env: { TOKEN: 'sesame-of-the-program' } };
  await admin.post('/admin/mcp/tools', { json: { type: 'json', config } });
  await waitFor('the log line with its stderr', () => /standard error of a local MCP server .*starting with/.test(server.log));
  assert.doesNotMatch(server.log, /sesame-of-the-program/);
});

test('a program that ignores server/discover falls back to an older revision, and the fallback is cached', async () => {
  const admin = await server.user({ role: 'admin' });
  const ask = async () => {
    const begun = performance.now();
    const r = await admin.post('/admin/mcp/tools', { json: { type: 'json', config: { command: node, args: [path.join(import.meta.dirname, 'lib/stubborn.mjs'), 'silent-on-discover'] } } });
    assert.deepEqual(r.json.tools?.map((t) => t.name), ['echo'], r.text);
    return performance.now() - begun;
  };
  const first = await ask();
  assert.ok(first > 2900 && first < 10_000, `${first} ms`);
  assert.ok(await ask() < 2900);
});

test('type http also works with a server that only supports the legacy SSE transport', async () => {
  const { u, agent } = await newUserWithAgent();
  const r = await u.get(tools(agent), { headers: { 'x-mcp-url': sse.url, 'x-mcp-type': 'http' } });
  assert.equal(r.status, 200, r.text);
  assert.ok(r.json.tools.some((t) => t.name === 'echo'));
});

test('disabling a transport module affects only configurations of that type', async () => {
  const limitedServer = await new Server({ database: makeDatabase(), llm, set: ['mcp_sse', 'mcp_json', 'mcp_prebuilt'].map((m) => `modules.${m}.enabled=false`) }).start();
  try {
    const u = await limitedServer.user({ tier: 'pro' });
    const agent = await defaultAgentId(u);
    assert.equal((await u.get(tools(agent), { headers: { 'x-mcp-url': http.url, 'x-mcp-type': 'http' } })).status, 200);
    for (const [type, url] of [['sse', sse.url], ['prebuilt', '7d444840-9dc0-11d1-b245-5ffdce74fad2']]) {
      const r = await u.get(tools(agent), { headers: { 'x-mcp-url': url, 'x-mcp-type': type } });
      assert.equal(r.status, 400, r.text);
      assert.match(r.json.detail, new RegExp(`of type ${type} are not available on this server`));
    }
    const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'json', config: { command: node }, enabledTools: [] }] } });
    assert.equal(put.status, 400, put.text);
    assert.match(put.json.detail, /type json are not available on this server/);
  } finally {
    await limitedServer.close();
  }
});

test('local programs run in the sandbox in local mode as well', async () => {
  const admin = await server.user({ role: 'admin' });
  const look = { command: node, args: [path.join(import.meta.dirname, 'lib/stubborn.mjs'), 'look', server.config] };
  const r = await admin.post('/admin/mcp/call', { json: { type: 'json', config: look, tool: 'echo', arguments: {} } });
  assert.equal(r.status, 200, r.text);
  const seen = JSON.parse(r.json.content);
  assert.equal(seen.home, '/workspace');
  assert.equal(seen.secret, 'ENOENT', 'it cannot read paths that were not mounted');
  assert.notEqual(seen.uid, 0);
  assert.ok(seen.processes < 10, `it sees ${seen.processes} processes`);
});

test('production rejects private addresses and unlisted commands; disabled integrations return 403', async () => {
  const unknownProfileId = '7d444840-9dc0-11d1-b245-5ffdce74fad2';
  const production = await new Server({ database: makeDatabase(), llm, set: ['deployment.mode=production', 'auth.jwt.hs256_secret=0123456789abcdef0123456789abcdef'] }).start();
  try {
    const u = await production.user();
    const agent = await defaultAgentId(u);
    for (const url of ['http://127.0.0.1:9/mcp', 'http://10.1.2.3/', 'http://[::1]/', 'http://169.254.169.254/latest', 'http://192.168.1.1/', 'http://localhost/']) {
      for (const type of ['http', 'sse']) {
        const r = await u.get(tools(agent), { headers: { 'x-mcp-url': url, 'x-mcp-type': type } });
        assert.equal(r.status, 400, `${type} ${url}: ${r.text}`);
        assert.equal(r.json.detail, 'MCP URL points to a private or local address');
        assert.equal((await u.post(tools(agent), { json: { url, type, enabled_tools: ['x'] } })).status, 400);
        assert.equal((await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type, config: { url }, enabledTools: [] }] } })).status, 400);
      }
    }
    const command = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'json', config: { command: '/bin/sh' }, enabledTools: [] }] } });
    assert.equal(command.status, 400, command.text);
    assert.match(command.json.detail, /allowed commands/);
    // The check cannot be bypassed with a conflicting customType.
    const program = { command: '/bin/sh', args: ['-c', 'exit 0'] };
    const http = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'http', customType: 'json', config: { url: 'https://mcp.example/', ...program }, enabledTools: [] }] } });
    assert.equal(http.status, 400, http.text);
    assert.match(http.json.detail, /allowed commands/);
    const profile = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'prebuilt', customType: 'json', config: { profile_id: unknownProfileId, ...program }, enabledTools: [] }] } });
    assert.equal(profile.status, 400, profile.text);
    assert.match(profile.json.detail, /Integration profile not found/);
    const discovered = await u.get(tools(agent), { headers: { 'x-mcp-url': unknownProfileId, 'x-mcp-type': 'prebuilt' } });
    assert.equal(discovered.status, 400, discovered.text);
    assert.match(discovered.json.detail, /profile/);
  } finally {
    await production.close();
  }
  const disabledServer = await new Server({ database, llm, set: ['mcp.integrations_enabled=false'] }).start();
  try {
    const u = await disabledServer.user();
    const agent = await defaultAgentId(u);
    for (const r of [await u.get(tools(agent), { headers: { 'x-mcp-url': http.url } }), await u.post(tools(agent), { json: {} }),
      await u.request('PUT', tools(agent), { json: {} }), await u.get('/mcp/profiles'), await u.post('/mcp/profiles', { json: {} }),
      await u.request('DELETE', '/mcp/profiles/7d444840-9dc0-11d1-b245-5ffdce74fad2')]) {
      assert.equal(r.status, 403);
      assert.equal(r.json.detail, 'MCP integrations are not enabled');
    }
    const mcps = { custom_mcps: [{ name: 'x', type: 'http', config: { url: http.url }, enabledTools: ['echo'] }] };
    for (const r of [await u.post('/agents', { json: { name: 'a', ...mcps } }), await u.request('PUT', `/agents/${agent}`, { json: mcps })])
      assert.deepEqual([r.status, r.json.detail], [403, 'MCP integrations are not enabled']);
    assert.equal((await u.request('PUT', `/agents/${agent}`, { json: { name: 'b', custom_mcps: [] } })).status, 200);
    assert.doesNotMatch((await run(u, 'what do you have?')).text, /__/);
  } finally {
    await disabledServer.close();
  }
});
