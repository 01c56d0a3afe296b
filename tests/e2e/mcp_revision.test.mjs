// Detection of a server's MCP revision from its response to server/discover (variants observed in real servers), the
// setting `revision`, call time limits with progress notifications, and server name and instructions.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, json, result, run, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const modern = '2026-07-28';
let database, llm, server, admin;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: ['mcp.discovery_timeout_seconds=10', 'mcp.call_timeout_seconds=2', 'mcp.max_call_timeout_seconds=6'] }).start();
  admin = await server.user({ role: 'admin' });
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const timed = async (answer) => {
  const begun = performance.now();
  const r = await answer;
  r.ms = performance.now() - begun;
  return r;
};
const list = (config, type = 'http') => timed(admin.post('/admin/mcp/tools', { json: { type, config } }));
const call = (config, type = 'http') => timed(admin.post('/admin/mcp/call', { json: { type, config, tool: 'echo', arguments: {} } }));
const error = (res, status, code, m) => json(res, status, { jsonrpc: '2.0', id: m.id ?? null, error: { code, message: 'no' } });
let peers = 0;
const withPeer = async (handle, body) => {
  const p = await startScriptedServer(handle);
  p.url += `?peer=${++peers}`;  // data about a server is cached by its address, and ports are reused
  p.takeMethods = () => p.seen.splice(0).map((s) => s.message.method ?? s.method).filter((m) => m !== 'DELETE' && m !== 'GET');
  try {
    return await body(p);
  } finally {
    p.close();
  }
};
// A server with sessions that answers every request before initialize with `refuse`.
const legacy = (refuse) => (m, res, req) => {
  if (m.method === 'initialize') return result(res, m, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'old' } }, { 'mcp-session-id': 's1' });
  if (req.method === 'POST' && req.headers['mcp-session-id'] !== 's1') return refuse(m, res);
  return undefined;
};

for (const [response, refuse] of Object.entries({
  '404 and method not found': (m, res) => error(res, 404, -32601, m),
  '400 and method not found': (m, res) => error(res, 400, -32601, m),
  '200 and method not found': (m, res) => error(res, 200, -32601, m),
  '500 and an internal error': (m, res) => error(res, 500, -32603, m),
  '500 alone': (m, res) => (res.writeHead(500).end(), true),
  '501 alone': (m, res) => (res.writeHead(501).end('no'), true),
  '503 and a JSON-RPC error': (m, res) => error(res, 503, -32000, m),
  '404 and an HTML page': (m, res) => (res.writeHead(404, { 'content-type': 'text/html' }).end('<h1>no</h1>'), true),
  '405 alone': (m, res) => (res.writeHead(405).end(), true),
  '406 and plain text': (m, res) => (res.writeHead(406).end('Not Acceptable'), true),
  '415 alone': (m, res) => (res.writeHead(415).end(), true),
  '422 and an object': (m, res) => json(res, 422, { detail: 'no' }),
  '200 and an HTML page': (m, res) => (res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>'), true),
  '202 and no body': (m, res) => (res.writeHead(202).end(), true),
  '400 about a session': (m, res) => error(res, 400, -32000, m),
}))
  test(`a server that answers server/discover with ${response} is sent initialize`, () => withPeer(legacy(refuse), async (p) => {
    const r = await list({ url: p.url });
    assert.equal(r.status, 200, r.text);
    assert.equal(r.json.server_name, 'old');
    assert.deepEqual(p.takeMethods(), ['server/discover', 'initialize', 'notifications/initialized', 'tools/list']);
    assert.equal((await call({ url: p.url })).status, 200);
  }));

test('an unanswered server/discover times out after some seconds over HTTP', () => withPeer(
  (m, res, req) => (m.method === 'server/discover' ? true : legacy(() => true)(m, res, req)),
  async (p) => {
    const r = await list({ url: p.url });
    assert.equal(r.status, 200, r.text);
    assert.ok(r.ms < 6000, `${r.ms} ms`);
  }));

for (const [name, code] of [['header mismatch', -32020], ['missing capability', -32021]])
  test(`a server that answers with the 2026-07-28 error "${name}" is not sent initialize`, () => withPeer(
    (m, res) => error(res, 400, code, m),
    async (p) => {
      assert.equal((await list({ url: p.url })).status, 502);
      assert.ok(!p.takeMethods().includes('initialize'));
    }));

// A server that supports only 2026-07-28 and does not implement initialize.
const onlyModern = (m, res) => {
  if (m.params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== modern) return error(res, 404, -32601, m);
  const meta = { _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'new', version: '1' } } };
  if (m.method === 'server/discover') return result(res, m, { resultType: 'complete', supportedVersions: [modern], capabilities: { tools: {} }, instructions: 'Be brief.', ...meta });
  if (m.method === 'tools/list') return result(res, m, { resultType: 'complete', tools: [{ name: 'echo', inputSchema: {} }] });
  return result(res, m, { resultType: 'complete', content: [{ type: 'text', text: 'new' }] });
};

test('a 2026-07-28 server reports its name and instructions, even if its revision is cached', () => withPeer(onlyModern, async (p) => {
  for (let i = 0; i < 2; i++) {
    const r = await list({ url: p.url });
    assert.equal(r.status, 200, r.text);
    assert.equal(r.json.server_name, 'new');
    assert.equal(r.json.instructions, 'Be brief.');
  }
  assert.deepEqual(p.takeMethods(), ['server/discover', 'tools/list', 'tools/list']);
}));

test('a cached revision that the server rejects is detected again', async () => {
  let now = legacy((m, res) => error(res, 404, -32601, m));
  await withPeer((m, res, req) => now(m, res, req), async (p) => {
    assert.equal((await list({ url: p.url })).status, 200);
    now = onlyModern;
    let r = await list({ url: p.url });
    assert.equal(r.status, 200, r.text);
    assert.equal(r.json.server_name, 'new');
    now = legacy((m, res) => error(res, 500, -32603, m));
    r = await list({ url: p.url });
    assert.equal(r.status, 200, r.text);
    assert.equal(r.json.server_name, 'old');
  });
});

test('a configured revision is used without server/discover', () => withPeer((m, res, req) => {
  if (m.method === 'initialize') return result(res, m, { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} } });
  return m.params?._meta?.['io.modelcontextprotocol/protocolVersion'] === modern ? onlyModern(m, res) : undefined;
}, async (p) => {
  for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']) {
    assert.equal((await list({ url: p.url, revision })).status, 200);
    assert.equal(p.seen.find((s) => s.message.method === 'initialize').message.params.protocolVersion, revision);
    assert.equal(p.seen.find((s) => s.message.method === 'tools/list').headers['mcp-protocol-version'], revision);
    assert.deepEqual(p.takeMethods(), ['initialize', 'notifications/initialized', 'tools/list']);
  }
  assert.equal((await list({ url: p.url, revision: modern })).status, 200);
  assert.deepEqual(p.takeMethods(), ['tools/list']);
}));

test('an invalid revision or time limit is rejected with an error that names the setting', async () => {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  for (const [more, field] of [[{ revision: '2099-01-01' }, 'config.revision'], [{ revision: 'newest' }, 'config.revision'],
    [{ revision: 7 }, 'config.revision'], [{ timeout_seconds: 0 }, 'config.timeout_seconds'], [{ timeout_seconds: 1e9 }, 'config.timeout_seconds']]) {
    const config = { url: 'http://127.0.0.1:1/mcp', ...more };
    const listed = await list(config);
    assert.equal(listed.status, 400, listed.text);
    assert.ok(listed.text.includes(field), listed.text);
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'x', type: 'http', config, enabledTools: [] }] } });
    assert.equal(put.status, 400, put.text);
    assert.ok(put.text.includes(field), put.text);
  }
  const cwd = await list({ command: 'true', cwd: '/srv' }, 'json');
  assert.equal(cwd.status, 400, cwd.text);
  assert.ok(cwd.text.includes('config.cwd'), cwd.text);
});

// ---- time limits ----
const events = (res) => res.writeHead(200, { 'content-type': 'text/event-stream' });
const sendProgress = (res, params) => res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`);
const sendResult = (res, m) => res.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { content: [{ type: 'text', text: 'done at last' }] } })}\n\n`);
const callWithProgress = (steps, pause, progress) => (m, res) => {
  if (m.method !== 'tools/call') return undefined;
  events(res);
  (async () => {
    for (let i = 0; i < steps; i++) {
      await sleep(pause);
      sendProgress(res, { progressToken: m.params._meta.progressToken, ...progress(i) });
    }
    sendResult(res, m);
  })();
  return true;
};

test('progress extends the time limit of a call and reaches the stream of the run', () => withPeer(
  callWithProgress(4, 1000, (i) => ({ progress: i + 1, total: 4, message: 'step ' + (i + 1) })),
  async (p) => {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'http', config: { url: p.url }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    const started = await u.start({ prompt: '[call remote__echo {}]' });
    const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
    assert.match(s.raw, /done at last/);
    const chunks = s.events.map((e) => e.data ?? e).filter((e) => e.type === 'tool_output_chunk').map((e) => e.content).join('');
    assert.equal(chunks, '1/4: step 1\n2/4: step 2\n3/4: step 3\n4/4: step 4\n');
  }));

test('progress that does not increase does not extend the time limit', () => withPeer(callWithProgress(5, 1000, () => ({ progress: 1 })), async (p) => {
  const r = await call({ url: p.url });
  assert.equal(r.status, 504, r.text);
  assert.match(r.json.detail.message, /reported no progress for 2 seconds/);
}));

test('progress does not extend a call beyond max_call_timeout_seconds', () => withPeer(callWithProgress(20, 500, (i) => ({ progress: i })), async (p) => {
  const r = await call({ url: p.url });
  assert.equal(r.status, 504, r.text);
  assert.match(r.json.detail.message, /took longer than 6 seconds/);
  assert.ok(r.ms > 5500 && r.ms < 8000, `${r.ms} ms`);
}));

test('a server configuration can set its own time limit', () => withPeer(
  (m, res) => (m.method === 'tools/call' ? (setTimeout(() => result(res, m, { content: [] }), 3000), true) : undefined),
  async (p) => {
    const short = await call({ url: p.url });
    assert.equal(short.status, 504, short.text);
    assert.match(short.json.detail.message, /took longer than 2 seconds/);
    assert.equal((await call({ url: p.url, timeout_seconds: 5 })).status, 200);
  }));

test('a 429 response is retried once after its Retry-After', () => {
  let refusals = 0;
  return withPeer((m, res) => (m.method === 'tools/call' && refusals++ === 0 ? (res.writeHead(429, { 'retry-after': '1' }).end(), true) : undefined), async (p) => {
    const r = await call({ url: p.url });
    assert.equal(r.status, 200, r.text);
    assert.equal(p.takeMethods().filter((m) => m === 'tools/call').length, 2);
  });
});

// ---- error messages ----
test('a 403 is reported as denied access, and the message of the server is logged', () => withPeer(
  (m, res) => (res.writeHead(403).end('Access is only allowed at localhost:21144'), true),
  async (p) => {
    const r = await list({ url: p.url });
    assert.match(r.json.detail.message, /denies access.*403/);
    assert.ok(!r.text.includes('21144'), r.text);
    await waitFor('the log line', () => server.log.includes('Access is only allowed at localhost:21144'));
  }));

test('sse: the error names a missing endpoint event', async () => {
  const s = http.createServer((req, res) => { events(res); res.write(': hello\n\n'); });
  await new Promise((resolve) => s.listen(0, '127.0.0.1', resolve));
  try {
    const otherServer = await new Server({ database, llm, set: ['mcp.discovery_timeout_seconds=20'] }).start();
    try {
      const r = await (await otherServer.user({ role: 'admin' })).post('/admin/mcp/tools', { json: { type: 'sse', config: { url: `http://127.0.0.1:${s.address().port}/sse` } } });
      assert.equal(r.status, 504, r.text);
      assert.match(r.json.detail.message, /no event .*endpoint.* within 10 seconds/);
    } finally {
      await otherServer.close();
    }
  } finally {
    s.closeAllConnections();
    s.close();
  }
});

test('requests do not accept encoded responses', () => withPeer(() => undefined, async (p) => {
  assert.equal((await list({ url: p.url, headers: { 'accept-encoding': 'gzip' } })).status, 200);
  for (const s of p.seen.filter((request) => request.message.id !== undefined)) assert.equal(s.headers['accept-encoding'], 'identity');
}));

// ---- lists ----
test('later runs do not wait for the tool list again', async () => {
  let lists = 0;
  await withPeer((m, res) => {
    if (m.method !== 'tools/list') return undefined;
    lists++;
    setTimeout(() => result(res, m, { tools: [{ name: 'echo', inputSchema: {} }], ttlMs: 0 }), 1000);
    return true;
  }, async (p) => {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'http', config: { url: p.url }, enabledTools: ['echo'] }] } });
    assert.match(await run(u, '[call remote__echo {}]'), /called echo/);
    const begun = Date.now();
    assert.match(await run(u, '[call remote__echo {}]'), /called echo/);
    assert.ok(Date.now() - begun < 1000, `${Date.now() - begun} ms`);
    await waitFor('the list to be refreshed in the background', () => lists >= 2);
  });
});
