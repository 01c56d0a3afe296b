// The operator's MCP servers as one MCP server (POST /mcp/servers): tools, policy, approvals, cancellation and secrets,
// with MCP clients of SDK 1.x and 2.x.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { node, result, serverOf, startScriptedServer } from './lib/mcp.mjs';
import { Server, binary, makeDatabase, waitFor } from './lib/server.mjs';

const key = 'key-of-the-operator-4711';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let database, server, user, peer;
const held = []; // responses of calls of `slow`

const tools = [
  { name: 'read', description: 'Reads a file', annotations: { readOnlyHint: true },
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } },
  ...['write', 'drop', 'slow', 'leak', 'picture'].map((name) => ({ name, inputSchema: { type: 'object' } })),
];
const policy = `
[[runs.tool_policy]]
match = "files__write"
when = {path = "/etc/*"}
action = "deny"
[[runs.tool_policy]]
match = "files__write"
action = "ask"
[[runs.tool_policy]]
match = "files__drop"
action = "deny"
`;
const servers = () => `
[mcp_server]
calls_per_account = 2
[mcp_json]
readable = ["${import.meta.dirname}"]
[[mcp_server.servers]]
name = "files"
type = "http"
config = {url = "${peer.url}", headers = {"X-Key" = "${key}"}}
enabledTools = ["read", "write", "drop", "slow", "leak", "picture"]
[[mcp_server.servers]]
name = "every"
type = "json"
config = {command = "${node}", args = ["${serverOf('everything')}", "stdio"]}
enabledTools = ["echo"]
${policy}`;

before(async () => {
  database = makeDatabase();
  peer = await startScriptedServer((m, res, req) => {
    if (m.method !== 'tools/call') return undefined;
    const name = m.params.name;
    if (name === 'slow') { held.push({ res, id: m.id }); return true; }
    if (name === 'leak')
      return result(res, m, { content: [{ type: 'text', text: 'no access' }], isError: true });
    if (name === 'picture')
      return result(res, m, { content: [{ type: 'text', text: 'a dot' }, { type: 'image', data: png, mimeType: 'image/png' }], structuredContent: { width: 1 } });
    return result(res, m, { content: [{ type: 'text', text: `${name} ${JSON.stringify(m.params.arguments)} ${req.headers['x-key']}` }] });
  }, { tools });
  server = await new Server({ database, settings: servers() }).start();
  user = await server.user({ tier: 'enterprise' });
});
after(async () => {
  await server?.close();
  peer?.close();
  database?.drop();
});

const url = () => new URL(`${server.url}/mcp/servers`);
const authorization = (u) => ({ requestInit: { headers: { authorization: `Bearer ${u.token}` } } });
async function connect1(u = user, elicit) {
  const client = new Client1({ name: 'test', version: '1' }, { capabilities: elicit ? { elicitation: {} } : {} });
  if (elicit) client.setRequestHandler(ElicitRequestSchema, elicit);
  await client.connect(new Transport1(url(), authorization(u)));
  return client;
}
async function connect2(u = user, elicit) {
  const client = new Client2({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...(elicit ? { capabilities: { elicitation: {} } } : {}) });
  if (elicit) client.setRequestHandler('elicitation/create', elicit);
  await client.connect(new Transport2(url(), authorization(u)));
  return client;
}
const cancelled = () => peer.seen.filter((s) => s.message.method === 'notifications/cancelled');
const calls = (name) => peer.seen.filter((s) => s.message.method === 'tools/call' && s.message.params.name === name);
const generations = [['SDK 1.x', connect1], ['SDK 2.x', connect2]];

for (const [name, connect] of generations) {
  test(`${name}: a client lists the tools and calls them`, async () => {
    const client = await connect();
    const listed = (await client.listTools()).tools;
    assert.deepEqual(listed.map((t) => t.name).sort(),
      ['every__echo', 'files__leak', 'files__picture', 'files__read', 'files__slow', 'files__write'], 'a tool that is always denied is not listed');
    const read = listed.find((t) => t.name === 'files__read');
    assert.equal(read.description, 'Reads a file');
    assert.deepEqual(read.inputSchema, tools[0].inputSchema);
    assert.equal(read.annotations.readOnlyHint, true);
    const r = await client.callTool({ name: 'files__read', arguments: { path: '/a' } });
    assert.equal(r.content[0].text, `read {"path":"/a"} ${key}`, 'the operator\'s credentials are sent to the server');
    assert.equal(r.isError, false);
    const picture = await client.callTool({ name: 'files__picture' });
    assert.deepEqual(picture.content, [{ type: 'text', text: 'a dot' }, { type: 'image', data: png, mimeType: 'image/png' }]);
    assert.deepEqual(picture.structuredContent, { width: 1 });
    const echo = await client.callTool({ name: 'every__echo', arguments: { message: 'hi' } });
    assert.match(echo.content[0].text, /hi/);
    const failed = await client.callTool({ name: 'files__leak' });
    assert.deepEqual([failed.isError, failed.content[0].text], [true, 'no access']);
    await assert.rejects(client.callTool({ name: 'files__unknown' }), /Unknown tool/);
    await client.close();
  });

  test(`${name}: the policy denies calls, and asks the user about others`, async () => {
    const before = calls('write').length;
    const asked = [];
    let answer = { action: 'accept', content: { decision: 'approve' } };
    const client = await connect(user, (request) => { asked.push(request.params.message); return answer; });
    const write = (path) => client.callTool({ name: 'files__write', arguments: { path } });
    for (const denied of [await client.callTool({ name: 'files__drop' }), await write('/etc/passwd')]) {
      assert.equal(denied.isError, true);
      assert.match(denied.content[0].text, /the policy of this server denies it/);
    }
    assert.deepEqual(asked, []);
    const approved = await write('/tmp/a');
    assert.equal(approved.isError, false, JSON.stringify(approved));
    assert.match(approved.content[0].text, /^write {"path":"\/tmp\/a"}/);
    assert.match(asked[0], /files__write \(mcp:files\) with the arguments {"path":"\/tmp\/a"}/);
    answer = { action: 'accept', content: { decision: 'deny', reason: 'not now' } };
    const refused = await write('/tmp/b');
    assert.deepEqual([refused.isError, refused.content[0].text], [true, 'The call was not made: the user denied it with the reason: not now']);
    answer = { action: 'decline' };
    assert.match((await write('/tmp/c')).content[0].text, /the user denied it/);
    answer = { action: 'cancel' };
    assert.match((await write('/tmp/d')).content[0].text, /the user has not decided/);
    await client.close();
    const plain = await connect();
    const impossible = await plain.callTool({ name: 'files__write', arguments: { path: '/tmp/e' } });
    assert.equal(impossible.isError, true);
    assert.match(impossible.content[0].text, /needs an approval of the user, and this client cannot be asked/);
    await plain.close();
    assert.equal(calls('write').length, before + 1, 'only the approved call reached the server');
    assert.equal(calls('drop').length, 0);
  });

  test(`${name}: a cancelled call is cancelled at the server`, async () => {
    const client = await connect();
    const abort = new AbortController();
    const before = held.length, cancelledBefore = cancelled().length;
    const call = client.callTool({ name: 'files__slow' }, ...(name === 'SDK 1.x' ? [undefined] : []), { signal: abort.signal });
    await waitFor('the call', () => held.length > before);
    abort.abort();
    await assert.rejects(call);
    await waitFor('the cancellation', () => cancelled().length > cancelledBefore);
    assert.equal(cancelled().at(-1).message.params.requestId, held[before].id);
    await client.close();
  });
}

// A request of 2025-11-25 without a client.
const send = (u, message, { signal, headers = {} } = {}) => fetch(url(), { method: 'POST', signal,
  headers: { 'content-type': 'application/json', accept: 'application/json', 'mcp-protocol-version': '2025-11-25', ...(u ? { authorization: `Bearer ${u.token}` } : {}), ...headers },
  body: typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) });

test('a disconnect releases the permit of a call, and calls of other accounts have their own', async () => {
  const slow = { method: 'tools/call', params: { name: 'files__slow' } };
  const before = held.length;
  const aborts = [new AbortController(), new AbortController()];
  const open = aborts.map((a) => send(user, slow, { signal: a.signal }).catch(() => 'gone'));
  await waitFor('both calls', () => held.length === before + 2);
  assert.equal((await send(user, slow)).status, 429);
  const other = await server.user({ tier: 'pro' });
  const read = { method: 'tools/call', params: { name: 'files__read', arguments: { path: '/o' } } };
  const r = await (await send(other, read)).json();
  assert.match(r.result.content[0].text, /^read/);
  aborts.forEach((a) => a.abort());
  assert.deepEqual(await Promise.all(open), ['gone', 'gone']);
  await waitFor('a free permit', async () => (await send(user, read)).status === 200);
  held.slice(before).forEach((h) => h.res.destroy());
});

test('the answer of one account does not approve the call of another', async () => {
  const other = await server.user({ tier: 'pro' });
  let id;
  const client = await connect1(user, async (request, extra) => {
    id = extra.requestId;
    // Another account answers first.
    const forged = await send(other, JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { decision: 'approve' } } }));
    assert.equal(forged.status, 202);
    return { action: 'decline' };
  });
  const before = calls('write').length;
  const r = await client.callTool({ name: 'files__write', arguments: { path: '/tmp/x' } });
  assert.match(id, /^call:/);
  assert.match(r.content[0].text, /the user denied it/);
  assert.equal(calls('write').length, before);
  await client.close();
});

test('the policy decides about exactly the arguments that the server gets', async () => {
  const call = (args) => send(user, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files__write","arguments":${args}}}`).then((r) => r.json());
  for (const args of ['{"path":"/tmp/a","path":"/etc/x"}', '{"\\u0070ath":"\\/etc/x"}'])
    assert.match((await call(args)).result.content[0].text, /the policy of this server denies it/, args);
  assert.match((await call('{"path":"/etc/x","path":"/tmp/a"}')).result.content[0].text, /needs an approval/);
  assert.match((await call('{"path":1e999}')).error.message, /too large/);
  const names = await send(user, { method: 'tools/call', params: { name: 'Files__Drop' } }).then((r) => r.json());
  assert.match(names.error.message, /Unknown tool: Files__Drop/, 'names are exact');
});

test('requests need a token, and neither errors nor settings show the secrets', async () => {
  const anonymous = await send(undefined, { method: 'tools/list' });
  assert.equal(anonymous.status, 401);
  const metadata = /resource_metadata="([^"]+)"/.exec(anonymous.headers.get('www-authenticate'))[1];
  assert.ok(metadata.endsWith('/.well-known/oauth-protected-resource/mcp/servers'));
  assert.ok((await (await fetch(metadata)).json()).resource.endsWith('/mcp/servers'));
  peer.close();
  const broken = await (await send(user, { method: 'tools/call', params: { name: 'files__read', arguments: {} } })).text();
  assert.match(broken, /"isError":true/);
  assert.match(broken, /MCP server \\"files\\"/);
  for (const hidden of [key, peer.url]) assert.ok(!broken.includes(hidden), broken);
  assert.ok(!server.log.includes(key), 'the log');
  const shown = execFileSync(binary, ['check', '--show', '--config', server.config, '--set', `data_dir=${server.dir}/data`], { encoding: 'utf8' });
  assert.match(shown, /mcp_server\.servers/);
  assert.ok(!shown.includes(key), shown);
});

test('without servers the endpoint does not exist, and wrong settings are reported with their key', async () => {
  await server.stop();
  const plain = await new Server({ database }).start();
  try {
    const u = await plain.user({ tier: 'pro' });
    assert.equal((await fetch(`${plain.url}/mcp/servers`, { method: 'POST', headers: { authorization: `Bearer ${u.token}` }, body: '{}' })).status, 404);
  } finally { await plain.close(); }
  for (const [config, message] of [
    ['config = {url = "http://127.0.0.1:1/mcp", headers = {"a b" = "x"}}', /mcp_server\.servers\[0\].*config\.headers\.a b/],
    ['config = {url = "ftp://h/"}', /mcp_server\.servers\[0\]/],
    ['config = {urll = "http://h/"}', /mcp_server\.servers.*urll/],
  ]) {
    const wrong = new Server({ database, settings: `[[mcp_server.servers]]\nname = "a"\ntype = "http"\n${config}\nenabledTools = ["x"]\n` });
    await assert.rejects(wrong.start(), message);
    await wrong.close();
  }
});
