// The MCP client with servers whose unusual responses it can recover from.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';
import { startLlm } from './lib/llm.mjs';
import { callingModel, assertMcpError, json, node, result, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase } from './lib/server.mjs';

let database, llm, server, admin, user, agent, dir;
before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-mcp-client-'));
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: ['http.threads=1', 'mcp_json.sandbox=none', 'mcp.discovery_timeout_seconds=10', 'mcp.call_timeout_seconds=10'] }).start();
  admin = await server.user({ role: 'admin' });
  user = await server.user({ tier: 'pro' });
  agent = (await user.get('/agents')).json.agents[0].agent_id;
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

const list = (config, type = 'http') => admin.post('/admin/mcp/tools', { json: { type, config } });
const call = (config, type = 'http') => admin.post('/admin/mcp/call', { json: { type, config, tool: 'echo', arguments: {} } });
const names = (r) => r.json?.tools?.map((t) => t.name);
const toolsOf = (p) => user.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': p.url, 'x-mcp-type': 'http' } });
const withPeer = async (handle, body) => {
  const p = await startScriptedServer(handle);
  try {
    return await body(p);
  } finally {
    p.close();
  }
};

test('a connection whose initialize was rejected is not reused', async () => {
  let initializeCount = 0;
  const callsWithoutSession = [];
  await withPeer((m, res, req) => {
    if (m.method === 'initialize' && ++initializeCount === 1) return json(res, 200, { jsonrpc: '2.0', id: m.id, error: { code: -32000, message: 'starting up' } });
    if (m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': `s${initializeCount}` });
    if (m.method === 'tools/call' && !req.headers['mcp-session-id']) callsWithoutSession.push(m.method);
    return undefined;
  }, async (p) => {
    const config = { url: p.url, reuse: true };
    assert.equal((await call(config)).status, 502);
    for (let i = 0; i < 4; ++i) assert.equal((await call(config)).status, 200);
    assert.deepEqual(callsWithoutSession, []);
    assert.equal(initializeCount, 2, 'the second connection is reused');
  });
});

for (const [response, reply] of Object.entries({
  'a stream that is left open': (res) => { res.writeHead(200, { 'content-type': 'text/event-stream' }); res.flushHeaders(); },
  'an unterminated body': (res) => { res.writeHead(202); res.write('x'); },
  nothing: () => {},
}))
  test(`an initialized notification answered with ${response} causes no long delay`, () => withPeer(
    (m, res) => m.method === 'notifications/initialized' ? (reply(res), true) : undefined,
    async (p) => {
      const r = await list({ url: p.url });
      assert.deepEqual(names(r), ['echo'], r.text);
    }));

test('an error on a later page of the tool list fails the whole listing', () => withPeer((m, res) => {
  if (m.method !== 'tools/list') return undefined;
  if (!m.params?.cursor) return result(res, m, { tools: [{ name: 'a', inputSchema: {} }], nextCursor: '2' });
  return json(res, 200, { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no such method' } });
}, async (p) => assert.equal((await list({ url: p.url })).status, 502)));

test('a server that has tools but refuses to list them is an error, not an empty list', () => withPeer(
  (m, res) => m.method === 'tools/list' ? json(res, 200, { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no such method' } }) : undefined,
  async (p) => assert.equal((await list({ url: p.url })).status, 502)));

test('a tool list that changes while it is transferred is requested again', () => {
  let v = 1;
  return withPeer((m, res) => {
    if (m.method !== 'tools/list') return undefined;
    const tools = [{ name: `v${v}`, inputSchema: {} }];
    if (v > 1) return result(res, m, { tools });
    v = 2;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { tools } })}\n\n`);
    return true;
  }, async (p) => {
    assert.deepEqual(names(await toolsOf(p)), ['v1']);
    assert.deepEqual(names(await toolsOf(p)), ['v2']);
    assert.deepEqual(names(await toolsOf(p)), ['v2']);
  });
});

test('a tool that is newer than the cached tool list can be enabled', () => {
  const tools = [{ name: 'old', inputSchema: {} }];
  return withPeer((m, res) => m.method === 'tools/list' ? result(res, m, { tools }) : undefined, async (p) => {
    assert.deepEqual(names(await toolsOf(p)), ['old']);
    tools.push({ name: 'new', inputSchema: {} });
    const enable = (tool) => user.post(`/agents/${agent}/custom-mcp-tools`, { json: { url: p.url, type: 'http', enabled_tools: [tool] } });
    const r = await enable('new');
    assert.equal(r.status, 200, r.text);
    assert.equal((await enable('unknown')).status, 400);
  });
});

test('the session id is taken from the response to initialize only', () => {
  const seen = [];
  return withPeer((m, res, req) => {
    seen.push(`${m.method ?? req.method}:${req.headers['mcp-session-id'] ?? ''}`);
    if (m.method === 'server/discover') {
      res.setHeader('mcp-session-id', 'wrong');
      return json(res, 400, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'no session' } });
    }
    if (m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } });
    if (m.method === 'tools/list') return result(res, m, { tools: [] }, { 'mcp-session-id': 'late' });
    return undefined;
  }, async (p) => {
    assert.equal((await list({ url: p.url })).status, 200);
    assert.ok(seen.every((s) => s.endsWith(':')), seen.join(' '));
  });
});

test('an event id that is not valid in a header is ignored', () => withPeer((m, res) => {
  if (m.method !== 'tools/list') return undefined;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end('id: a\u0001b\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n');
  return true;
}, async (p) => {
  const r = await list({ url: p.url });
  r.ms = 0;
  assertMcpError(r, 'MCP_CONNECT_FAILED', /without an answer/, 1);
}));

test('the error names a content encoding that was not requested', () => withPeer((m, res) => {
  if (m.method !== 'tools/list') return undefined;
  res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  res.end(zlib.gzipSync(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { tools: [] } })));
  return true;
}, async (p) => {
  const r = await list({ url: p.url });
  r.ms = 0;
  assertMcpError(r, 'MCP_PROTOCOL_ERROR', /content encoding.*gzip/, 1);
}));

test('the error for a busy server contains its Retry-After time', () => withPeer((m, res) => {
  if (m.method !== 'tools/list') return undefined;
  res.writeHead(429, { 'retry-after': '17' }).end();
  return true;
}, async (p) => {
  const r = await list({ url: p.url });
  r.ms = 0;
  assertMcpError(r, 'MCP_CONNECT_FAILED', /429, to be tried again after 17 s/, 1);
}));

test('a slowly starting program that supports only 2026-07-28 is detected correctly', async () => {
  const file = path.join(dir, 'slow.mjs'), log = path.join(dir, 'slow.log');
  writeFileSync(file, `
import { appendFileSync } from 'node:fs';
import readline from 'node:readline';
const end = Date.now() + 3500;
while (Date.now() < end);
const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  appendFileSync(${JSON.stringify(log)}, m.method + '\\n');
  if (m.id === undefined) return;
  if (m.params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== '2026-07-28')
    return say({ id: m.id, error: { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2026-07-28'] } } });
  if (m.method === 'server/discover') return say({ id: m.id, result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } });
  if (m.method === 'tools/list') return say({ id: m.id, result: { resultType: 'complete', tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
});
`);
  const r = await list({ command: node, args: [file] }, 'json');
  assert.deepEqual(names(r), ['echo'], r.text);
  assert.deepEqual(readFileSync(log, 'utf8').trim().split('\n').slice(0, 3), ['server/discover', 'initialize', 'tools/list']);
});

test('a message with too many JSON values is rejected immediately, over http and stdio', async () => {
  const many = `"result":{"tools":[${'{},'.repeat(1_000_000)}{}]}`;
  const expectRejection = async (config, type) => {
    const begun = performance.now();
    const r = await list(config, type);
    r.ms = performance.now() - begun;
    assertMcpError(r, 'MCP_PROTOCOL_ERROR', /more than 1000000 values/, 5000);
  };
  await withPeer((m, res) => {
    if (m.method !== 'tools/list') return undefined;
    res.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${m.id},${many}}`);
    return true;
  }, (p) => expectRejection({ url: p.url }));
  const file = path.join(dir, 'many.mjs');
  writeFileSync(file, `
import readline from 'node:readline';
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  const body = m.method === 'initialize' ? '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}'
    : m.method === 'tools/list' ? '"result":{"tools":[' + '{},'.repeat(1_000_000) + '{}]}' : '"error":{"code":-32601,"message":"no"}';
  if (m.id !== undefined) process.stdout.write('{"jsonrpc":"2.0","id":' + m.id + ',' + body + '}\\n');
});
`);
  await expectRejection({ command: node, args: [file] }, 'json');
});

test('idle and exiting programs do not block the start of others', async () => {
  const file = path.join(dir, 'plain.mjs');
  writeFileSync(file, `
import readline from 'node:readline';
const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
if (process.argv[2] === 'stays') setInterval(() => {}, 1000);
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  if (m.method === 'initialize') return say({ id: m.id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} } } });
  if (m.method === 'tools/call') return say({ id: m.id, result: { content: [{ type: 'text', text: 'called' }] } });
  if (m.id !== undefined) return say({ id: m.id, error: { code: -32601, message: 'no' } });
});
`);
  for (let i = 0; i < 10; ++i) {
    const r = await call({ command: node, args: [file], env: { NUMBER: String(i) }, reuse: true }, 'json');
    assert.equal(r.status, 200, `${i}: ${r.text}`);
  }
  for (let i = 0; i < 12; ++i) {
    const r = await call({ command: node, args: [file, 'stays'] }, 'json');
    assert.equal(r.status, 200, `${i}: ${r.text}`);
  }
});
