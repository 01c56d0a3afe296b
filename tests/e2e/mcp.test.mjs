// Custom MCP tools from outside: discovery, configuration and runs, against real servers from npm.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, node, result, serverOf, startScriptedServer, startEverything, startSdkV2Server, startProxy } from './lib/mcp.mjs';
import { Server, binary, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, server, http, sse, modern, hand, files;

before(async () => {
  database = makeDatabase();
  files = mkdtempSync(path.join(tmpdir(), 'ry-mcp-'));
  writeFileSync(path.join(files, 'note.txt'), 'written in a file');
  chmodSync(files, 0o777);  // local servers run as a user of their own
  [llm, http, sse, modern, hand] = await Promise.all([
    startLlm(callingModel), startEverything('streamableHttp'), startEverything('sse'), startSdkV2Server(), startScriptedServer()]);
  server = await new Server({ database, llm, settings: `
[mcp.json]
readable = ["${import.meta.dirname}"]
writable = ["${files}"]
` }).start();
});
after(async () => {
  await server?.close();
  for (const peer of [http, sse, modern, hand]) peer?.close();
  await llm?.close();
  database?.drop();
  rmSync(files, { recursive: true, force: true });
});

const agentOf = async (u) => (await u.get('/agents')).json.agents[0].agent_id;
const tools = (agent) => `/agents/${agent}/custom-mcp-tools`;
const someone = async () => {
  const u = await server.user({ tier: 'pro' });
  return { u, agent: await agentOf(u) };
};

async function run(u, prompt) {
  const started = await u.start({ prompt });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { text: textOf(s.events), events: s.events };
}

for (const [what, type, peer] of [['http', 'http', () => http], ['sse', 'sse', () => sse], ['2026-07-28', 'http', () => modern]]) {
  test(`discovery over ${what}`, async () => {
    const { u, agent } = await someone();
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

test('enabling, seeing and replacing configurations', async () => {
  const { u, agent } = await someone();
  const post = (json) => u.post(tools(agent), { json });
  const made = await post({ url: http.url, type: 'http', enabled_tools: ['echo', 'get-sum'] });
  assert.equal(made.status, 200, made.text);
  assert.deepEqual(made.json, { success: true, enabled_tools: ['echo', 'get-sum'], total_tools: 2 });
  const seen = await u.get(tools(agent), { headers: { 'x-mcp-url': http.url, 'x-mcp-type': 'http' } });
  assert.equal(seen.json.has_mcp_config, true);
  assert.deepEqual(seen.json.tools.filter((t) => t.enabled).map((t) => t.name).sort(), ['echo', 'get-sum']);
  // Now its tools are known.
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
  // The mask keeps the value.
  const again = await u.request('PUT', tools(agent), { json: { custom_mcps: put.json.data.custom_mcps } });
  assert.equal(again.status, 200, again.text);
  assert.equal((await u.get(`/agents/${agent}`)).json.version, before + 1);
  const none = await u.request('PUT', tools(agent), { json: { custom_mcps: [] } });
  assert.deepEqual(none.json, { success: true, data: { custom_mcps: [], total_enabled_tools: 0 } });
});

test('an address is the same server however it is spelled, and a renamed server keeps its secrets', async () => {
  const { u, agent } = await someone();
  const secret = { Authorization: 'Bearer kept-after-all' };
  const made = await u.post('/agents', { json: { name: 'renamed', custom_mcps: [{ name: 'first', type: 'http', config: { url: hand.url, headers: secret }, enabledTools: ['echo', 'echo'] }] } });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.json.custom_mcps[0].enabledTools, ['echo']);
  const [mcp] = made.json.custom_mcps;
  const path = `/agents/${made.json.agent_id}`;
  const renamed = await u.request('PUT', path, { json: { custom_mcps: [{ ...mcp, name: 'second', config: { ...mcp.config, headers: { authorization: '********' } } }] } });
  assert.equal(renamed.status, 200, renamed.text);
  const spelled = hand.url.replace('http://', 'HTTP://') + '#top';
  const seen = await u.get(tools(made.json.agent_id), { headers: { 'x-mcp-url': spelled, 'x-mcp-type': 'http', 'cache-control': 'max-age=0, No-Cache' } });
  assert.deepEqual([seen.status, seen.json.has_mcp_config], [200, true], seen.text);
  assert.equal(hand.seen.filter((s) => s.message.method === 'tools/list').at(-1).headers.authorization, secret.Authorization);
  const count = hand.seen.length;
  await u.get(tools(made.json.agent_id), { headers: { 'x-mcp-url': spelled, 'x-mcp-type': 'http', 'cache-control': 'NO-CACHE' } });
  assert.ok(hand.seen.length > count, 'the cache was bypassed');
  assert.equal((await u.get(tools(agent), { headers: { 'x-mcp-url': hand.url, 'x-mcp-type': 'http' } })).json.has_mcp_config, false);
});

test('headers that come with a POST are stored for the calls', async () => {
  for (const how of ['body', 'header']) {
    const { u, agent } = await someone();
    const headers = { Authorization: `Bearer posted-in-the-${how}` };
    const r = await u.post(tools(agent), { json: { url: hand.url, type: 'http', enabled_tools: ['echo'], ...(how === 'body' ? { headers } : {}) },
      headers: how === 'header' ? { 'x-mcp-headers': JSON.stringify(headers) } : {} });
    assert.equal(r.status, 200, r.text);
    assert.deepEqual((await u.get(`/agents/${agent}`)).json.custom_mcps[0].config.headers, { Authorization: '********' });
    await run(u, 'hello');
    const tool = llm.seen.at(-1).json.tools.find((t) => t.function.name.endsWith('__echo')).function.name;
    const { text } = await run(u, `[call ${tool} {"message":"x"}]`);
    assert.ok(hand.seen.some((s) => s.headers.authorization === headers.Authorization && s.message.method === 'tools/call'), text);
  }
  const { u, agent } = await someone();
  for (const headers of ['x', [], { A: 1 }]) {
    const r = await u.post(tools(agent), { json: { url: hand.url, type: 'http', enabled_tools: [], headers } });
    assert.deepEqual([r.status, r.json.detail], [400, 'headers must be a JSON object whose values are strings']);
  }
});

test('headers of a configuration reach the server, and only it', async () => {
  const { u, agent } = await someone();
  const headers = { 'x-mcp-url': hand.url, 'x-mcp-type': 'http', 'x-mcp-headers': '{"Authorization":"Bearer for-the-server"}' };
  const r = await u.get(tools(agent), { headers });
  assert.equal(r.status, 200, r.text);
  const list = hand.seen.filter((s) => s.message.method === 'tools/list').at(-1);
  assert.equal(list.headers.authorization, 'Bearer for-the-server');
  assert.equal(list.headers['mcp-protocol-version'], '2025-11-25');
  // Remembered for 24 hours; no-cache asks again.
  const count = () => hand.seen.filter((s) => s.message.method === 'tools/list').length;
  const n = count();
  await u.get(tools(agent), { headers });
  assert.equal(count(), n);
  await u.get(tools(agent), { headers: { ...headers, 'cache-control': 'no-cache' } });
  assert.equal(count(), n + 1);
  // Another credential is another memory.
  await u.get(tools(agent), { headers: { ...headers, 'x-mcp-headers': '{"Authorization":"Bearer other"}' } });
  assert.equal(count(), n + 2);
  assert.doesNotMatch(server.log, /for-the-server/);
});

test('credentials are masked in every log message, and addresses are logged without their query', async () => {
  const { u, agent } = await someone();
  // A server that names what it was sent where a log line comes of it.
  const parrot = await startScriptedServer((m, res, req) => m.method === 'tools/list' &&
    result(res, m, { tools: [{ name: `you sent ${req.headers.authorization}` }, { name: 'echo', inputSchema: {} }] }) || undefined);
  const loose = { 'x-mcp-url': `${parrot.url}?key=secret-of-the-query`, 'x-mcp-type': 'http', 'x-mcp-headers': '{"Authorization":"Bearer secret-of-the-header"}' };
  assert.equal((await u.get(tools(agent), { headers: loose })).status, 200);
  await waitFor('the line about the tool', () => /was left out.*you sent/.test(server.log));
  assert.match(server.log, /you sent \S*(Bearer )?\[redacted\]/);
  const dead = await u.get(tools(agent), { headers: { ...loose, 'x-mcp-url': 'http://127.0.0.1:1/mcp?key=secret-of-the-query' } });
  assert.equal(dead.status, 502, dead.text);
  assert.match(dead.json.detail.message, /"127\.0\.0\.1:1"/);
  assert.doesNotMatch(dead.text, /secret-of-the-query/);
  await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'parrot', type: 'http',
    config: { url: parrot.url, headers: { Authorization: 'Bearer secret-of-the-agent' } }, enabledTools: ['echo'] }] } });
  await run(u, 'what do you have?');
  await waitFor('the line about the agent\'s tool', () => server.log.split('was left out').length > 2);
  assert.doesNotMatch(server.log, /secret-of-the/);
  parrot.close();
});

test('a fault of the deployment is an Internal server error', async () => {
  const { u, agent } = await someone();
  await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'http', config: { url: http.url, headers: { A: 'value' } }, enabledTools: [] }] } });
  database.sql(`set session_replication_role = replica; update agents.agent_version set custom_mcps = jsonb_set(custom_mcps, '{0,config,headers,A,sealed}', '"AAAA"') where agent_id = '${agent}'`);
  const r = await u.get(tools(agent), { headers: { 'x-mcp-url': http.url, 'x-mcp-type': 'http' } });
  assert.equal(r.status, 500, r.text);
  assert.deepEqual(r.json, { detail: 'Internal server error' });
});

test('errors of the operations', async () => {
  const { u, agent } = await someone();
  const get = (headers, id = agent) => u.get(tools(id), { headers });
  const says = (r, status, detail) => { assert.equal(r.status, status, r.text); assert.deepEqual(r.json.detail, detail); };
  says(await get({}), 400, 'MCP URL is required');
  says(await u.post(tools(agent), { json: { enabled_tools: [] } }), 400, 'MCP URL is required');
  assert.equal((await get({ 'x-mcp-url': http.url, 'x-mcp-type': 'carrier-pigeon' })).status, 400);
  for (const bad of ['{', '[]', '{"a":7}']) assert.equal((await get({ 'x-mcp-url': http.url, 'x-mcp-headers': bad })).status, 400);
  says(await get({ 'x-mcp-url': http.url }, '7d444840-9dc0-11d1-b245-5ffdce74fad2'), 404, 'Worker not found');
  says(await get({ 'x-mcp-url': http.url }, 'nonsense'), 404, 'Worker not found');
  const foreign = await someone();
  says(await get({ 'x-mcp-url': http.url }, foreign.agent), 404, 'Worker not found');
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
  const agent = await agentOf(u);
  assert.equal((await u.post(tools(agent), { json: { url: http.url, type: 'http', enabled_tools: ['echo'] } })).status, 200);
  const over = await u.post(tools(agent), { json: { url: sse.url, type: 'sse', enabled_tools: ['echo'] } });
  assert.equal(over.status, 402, over.text);
  assert.equal(over.json.detail.error_code, 'CUSTOM_WORKER_LIMIT_EXCEEDED');
  assert.equal(over.json.detail.limit, 1);
  assert.equal(over.json.detail.current_count, 1);
  assert.equal(over.json.detail.tier_name, 'free');
  assert.ok(over.json.detail.message);
});

test('an agent calls tools over http, sse, stdio and 2026-07-28, a dead server beside them', async () => {
  const { u, agent } = await someone();
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
    assert.ok(names.includes(n), `${n} is missing of ${listed.text}`);
  assert.ok(!names.includes('web__get-env'), 'only what is enabled is offered');
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

test('odd characters and numbers of a server spoil no run', async () => {
  const odd = 'nul \u0000, half \ud83d, control \u001b, end';
  // JSON.stringify would write null.
  const say = (res, id, value) => (res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: value }).replaceAll('"huge"', '1e999')), true);
  const peer = await startScriptedServer((m, res) => {
    if (m.method === 'tools/list') return say(res, m.id, { tools: [{ name: 'echo', description: odd, inputSchema: { type: 'object', description: odd, properties: { n: { default: 'huge' } } } }] });
    if (m.method === 'tools/call') return say(res, m.id, { content: [{ type: 'text', text: odd }], structuredContent: { odd, n: 'huge' } });
    return undefined;
  });
  try {
    const { u, agent } = await someone();
    const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'odd', type: 'http', config: { url: peer.url }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    const shown = await u.get(tools(agent), { headers: { 'x-mcp-url': peer.url, 'x-mcp-type': 'http' } });
    assert.match(shown.json.tools[0].description, /half \ufffd, control/);
    assert.match((await run(u, '[call odd__echo {}]')).text, /half \ufffd, control .*, end/);
  } finally {
    peer.close();
  }
});

test('mcp-proxy with a key: over http and sse, and a sentence without the key', async () => {
  const proxy = await startProxy('sekret-of-the-proxy');
  try {
    const { u, agent } = await someone();
    const entry = (name, type, url, key) => ({ name, type, config: { url, headers: key ? { 'X-API-Key': key } : {} }, enabledTools: ['echo', 'get-sum'] });
    const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [entry('keyed', 'http', proxy.url, 'sekret-of-the-proxy'),
      entry('stream', 'sse', proxy.sse, 'sekret-of-the-proxy'), entry('kept', 'http', proxy.url, 'sekret-of-the-proxy'), entry('locked', 'http', proxy.url)].map((s) =>
      (s.name === 'kept' ? { ...s, config: { ...s.config, reuse: true } } : s)) } });
    assert.equal(put.status, 200, put.text);
    for (const [tool, args, expected] of [['keyed__echo', { message: 'with a key' }, /Echo: with a key/], ['keyed__get-sum', { a: 2, b: 3 }, /5/],
      ['stream__echo', { message: 'by events' }, /Echo: by events/], ['kept__echo', { message: 'first' }, /Echo: first/],
      ['kept__echo', { message: 'second' }, /Echo: second/], ['locked__echo', { message: 'x' }, /MCP server "locked": .*credentials.*401/]]) {
      assert.match((await run(u, `[call ${tool} ${JSON.stringify(args)}]`)).text, expected, tool);
    }
    assert.doesNotMatch(server.log, /sekret-of-the-proxy/);
  } finally {
    proxy.close();
  }
});

test('a call of a known modern server is one request', async () => {
  const { u, agent } = await someone();
  await u.post(tools(agent), { json: { url: modern.url, type: 'http', enabled_tools: ['echo'] } });
  const name = (await run(u, 'what do you have?')).text.split(',').find((n) => n.endsWith('__echo'));
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
  assert.ok(name);
});

test('a prebuilt integration reaches its server with the credentials of the profile', async () => {
  const own = await new Server({ database, llm, settings: `
[mcp_prebuilt]
max_profiles = 5
[mcp_prebuilt.integrations.tracker]
url = "${hand.url}"
headers = { Authorization = "Bearer {token}" }
` }).start();
  try {
    const u = await own.user();
    const agent = await agentOf(u);
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
    assert.equal(hand.seen.at(-1).headers.authorization, 'Bearer token-of-profile');
    assert.equal((await u.post(tools(agent), { json: { url: id, type: 'prebuilt', enabled_tools: ['echo'] } })).status, 200);
    // Of one account only, sealed in the database, never shown or logged.
    const other = await own.user();
    assert.deepEqual((await other.get('/mcp/profiles')).json.profiles, []);
    assert.equal((await other.request('DELETE', `/mcp/profiles/${id}`)).status, 404);
    const foreign = await other.get(tools(await agentOf(other)), { headers: { 'x-mcp-url': id, 'x-mcp-type': 'prebuilt' } });
    assert.equal(foreign.status, 400, foreign.text);
    assert.equal(database.sql("select count(*) from mcp_prebuilt.profile where position('token-of-profile'::bytea in credentials) > 0"), '0');
    assert.doesNotMatch(own.log, /token-of-profile/);
    // An unreadable profile does not count as a failure of its server.
    database.sql('alter table mcp_prebuilt.profile rename to gone');
    try {
      const broken = await u.get(tools(agent), { headers: { 'x-mcp-url': id, 'x-mcp-type': 'prebuilt' } });
      assert.equal(broken.status, 500, broken.text);
      assert.deepEqual(broken.json, { detail: 'Internal server error' });
    } finally {
      database.sql('alter table mcp_prebuilt.gone rename to profile');
    }
    const odd = await u.post('/mcp/profiles', { json: { integration: 'tracker', display_name: 'a\u0007b', credentials: { token: 'x' } } });
    assert.equal(odd.status, 201, odd.text);
    assert.equal(odd.json.display_name, 'ab');
    assert.equal((await u.request('DELETE', `/mcp/profiles/${odd.json.profile_id}`)).status, 204);
    assert.equal((await u.request('DELETE', `/mcp/profiles/${id}`)).status, 204);
    const at_once = await Promise.all(Array.from({ length: 12 }, () => u.post('/mcp/profiles', { json: { integration: 'tracker', credentials: { token: 'x' } } })));
    assert.deepEqual(at_once.map((r) => r.status).sort(), [...Array(5).fill(201), ...Array(7).fill(409)]);
    assert.equal((await u.get(tools(agent), { headers: { 'x-mcp-url': id, 'x-mcp-type': 'prebuilt', 'cache-control': 'no-cache' } })).status, 400);
  } finally {
    await own.close();
  }
});

test('operators ask from the command line', async () => {
  const token = server.token({ role: 'admin' });
  const ask = (...args) => spawnSync(binary, ['mcp', ...args], { encoding: 'utf8', env: { ...process.env, RUNYARD_URL: server.url, RUNYARD_TOKEN: token } });
  const listed = ask('tools', http.url);
  assert.equal(listed.status, 0, listed.stderr);
  assert.match(listed.stdout, /^echo  /m);
  const called = ask('call', http.url, '--tool', 'echo', '--arguments', '{"message":"from the shell"}', '--json');
  assert.equal(called.status, 0, called.stderr);
  assert.match(JSON.parse(called.stdout).content, /from the shell/);
  const local = ask('tools', '--command', node, serverOf('memory'));
  assert.match(local.stdout, /read_graph/, local.stderr);
  const dead = ask('tools', 'http://127.0.0.1:1/');
  assert.equal(dead.status, 1);
  assert.match(dead.stderr, /MCP_CONNECT_FAILED/);
  assert.equal(ask('tools').status, 2);
  assert.equal(ask('call', http.url, '--tool', 'echo', '--arguments', '[').status, 2);
});

test('the standard error of a program is logged without its credentials', async () => {
  const admin = await server.user({ role: 'admin' });
  const config = { command: node, args: ['-e', "console.error('starting with ' + process.env.TOKEN); process.exit(3)"], env: { TOKEN: 'sesame-of-the-program' } };
  await admin.post('/admin/mcp/tools', { json: { type: 'json', config } });
  await waitFor('the line', () => /a local MCP server says .*starting with/.test(server.log));
  assert.doesNotMatch(server.log, /sesame-of-the-program/);
});

test('a program that ignores unknown requests is probed with the older revision, which is remembered', async () => {
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

test('a server of the oldest transport is met under the type http, too', async () => {
  const { u, agent } = await someone();
  const r = await u.get(tools(agent), { headers: { 'x-mcp-url': sse.url, 'x-mcp-type': 'http' } });
  assert.equal(r.status, 200, r.text);
  assert.ok(r.json.tools.some((t) => t.name === 'echo'));
});

test('a transport that is left out of a deployment is missed by its own configurations only', async () => {
  const own = await new Server({ database: makeDatabase(), llm, set: ['mcp_sse', 'mcp_json', 'mcp_prebuilt'].map((m) => `modules.${m}.enabled=false`) }).start();
  try {
    const u = await own.user({ tier: 'pro' });
    const agent = await agentOf(u);
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
    await own.close();
  }
});

test('in local mode, too, local programs run in the sandbox', async () => {
  const admin = await server.user({ role: 'admin' });
  const look = { command: node, args: [path.join(import.meta.dirname, 'lib/stubborn.mjs'), 'look', server.config] };
  const r = await admin.post('/admin/mcp/call', { json: { type: 'json', config: look, tool: 'echo', arguments: {} } });
  assert.equal(r.status, 200, r.text);
  const seen = JSON.parse(r.json.content);
  assert.equal(seen.home, '/workspace');
  assert.equal(seen.secret, 'ENOENT', 'it sees nothing that was not shown');
  assert.notEqual(seen.uid, 0);
  assert.ok(seen.processes < 10, `it sees ${seen.processes} processes`);
});

test('outside local mode private addresses and unlisted commands are refused, and the switch answers 403', async () => {
  const nobody = '7d444840-9dc0-11d1-b245-5ffdce74fad2';
  const production = await new Server({ database: makeDatabase(), llm, set: ['deployment.mode=production', 'auth.jwt.hs256_secret=0123456789abcdef0123456789abcdef'] }).start();
  try {
    const u = await production.user();
    const agent = await agentOf(u);
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
    // Nor under another name.
    const program = { command: '/bin/sh', args: ['-c', 'exit 0'] };
    const http = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'http', customType: 'json', config: { url: 'https://mcp.example/', ...program }, enabledTools: [] }] } });
    assert.equal(http.status, 400, http.text);
    assert.match(http.json.detail, /allowed commands/);
    const profile = await u.request('PUT', tools(agent), { json: { custom_mcps: [{ name: 'x', type: 'prebuilt', customType: 'json', config: { profile_id: nobody, ...program }, enabledTools: [] }] } });
    assert.equal(profile.status, 400, profile.text);
    assert.match(profile.json.detail, /Integration profile not found/);
    const asked = await u.get(tools(agent), { headers: { 'x-mcp-url': nobody, 'x-mcp-type': 'prebuilt' } });
    assert.equal(asked.status, 400, asked.text);
    assert.match(asked.json.detail, /profile/);
  } finally {
    await production.close();
  }
  const off = await new Server({ database, llm, set: ['mcp.integrations_enabled=false'] }).start();
  try {
    const u = await off.user();
    const agent = await agentOf(u);
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
    await off.close();
  }
});
