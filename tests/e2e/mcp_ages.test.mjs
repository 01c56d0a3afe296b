// Expiry of cached data about a server: its protocol revision, its tool list, and the connection of an abandoned call.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, json, result, run, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

const revision = '2026-07-28';
const echo = { name: 'echo', description: 'Repeats its input', inputSchema: { type: 'object' } };
let database, llm, server;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: ['mcp.discovery_timeout_seconds=5', 'mcp.call_timeout_seconds=30'] }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// A server that supports only 2026-07-28, or only older revisions while `currentFamily()` returns 'legacy'.
async function switchingServer(currentFamily, handle = () => undefined, list = {}) {
  const p = await startScriptedServer((m, res, req) => {
    const isModernRequest = m.params?._meta?.['io.modelcontextprotocol/protocolVersion'] === revision;
    if (currentFamily() === 'legacy') {
      if (isModernRequest) return json(res, 400, { jsonrpc: '2.0', id: m.id ?? null, error: { code: -32000, message: 'Server not initialized' } });
      return undefined;
    }
    if (req.method !== 'POST') { res.writeHead(405).end(); return true; }
    if (!isModernRequest) return json(res, 400, { jsonrpc: '2.0', id: m.id ?? null, error: { code: -32022, message: 'Unsupported protocol version', data: { supported: [revision] } } });
    const handled = handle(m, res);
    if (handled !== undefined) return handled;
    if (m.method === 'server/discover') return result(res, m, { resultType: 'complete', supportedVersions: [revision], capabilities: { tools: {} } });
    if (m.method === 'tools/list') return result(res, m, { resultType: 'complete', tools: [echo], ...list });
    return result(res, m, { resultType: 'complete', content: [{ type: 'text', text: `modern ${m.params.name}` }] });
  });
  p.takeMethods = () => p.seen.splice(0).map((s) => s.message.method ?? s.method).filter((m) => m !== 'DELETE' && m !== 'GET');
  return p;
}
async function userWithServer(config) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'http', config, enabledTools: ['echo'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
const callPrompt = '[call remote__echo {}]';

test('a change of the server\'s revision in either direction is detected, and each call is executed once', async () => {
  let now = 'modern';
  const p = await switchingServer(() => now);
  try {
    const u = await userWithServer({ url: p.url });
    assert.match(await run(u, callPrompt), /modern echo/);
    p.takeMethods();
    assert.match(await run(u, callPrompt), /modern echo/);
    assert.deepEqual(p.takeMethods(), ['tools/call'], 'no discovery for a server whose revision is cached');
    now = 'legacy';
    assert.match(await run(u, callPrompt), /called echo/);
    assert.deepEqual(p.takeMethods(), ['tools/call', 'server/discover', 'initialize', 'notifications/initialized', 'tools/call'], 'the first call was rejected');
    assert.match(await run(u, callPrompt), /called echo/);
    assert.deepEqual(p.takeMethods(), ['initialize', 'notifications/initialized', 'tools/call']);
    now = 'modern';
    assert.match(await run(u, callPrompt), /modern echo/);
    assert.deepEqual(p.takeMethods(), ['initialize', 'tools/call']);
  } finally {
    p.close();
  }
});

for (const [failure, refuse] of Object.entries({
  'a JSON-RPC error': (m, res) => json(res, 422, { jsonrpc: '2.0', id: m.id, error: { code: -32603, message: 'half of it is done' } }),
  'an HTTP status without a body': (m, res) => (res.writeHead(413).end(), true),
}))
  test(`a call of 2026-07-28 that fails with ${failure} is not retried`, async () => {
    let calls = 0, failing = false;
    const p = await switchingServer(() => 'modern', (m, res) => (m.method === 'tools/call' && failing ? (calls++, refuse(m, res)) : undefined));
    try {
      const u = await userWithServer({ url: p.url });
      assert.match(await run(u, callPrompt), /modern echo/);
      failing = true;
      for (let i = 1; i <= 2; i++) {
        assert.match(await run(u, callPrompt), /half of it is done|413/);
        assert.equal(calls, i);
      }
    } finally {
      p.close();
    }
  });

test('an expired tool list is used while the server is unavailable', async () => {
  let down = false;
  const p = await switchingServer(() => 'modern', (m, res) => (down ? (res.writeHead(503).end(), true) : undefined), { ttlMs: 0 });
  try {
    const u = await userWithServer({ url: p.url });
    const offeredDescription = async () => {
      const before = llm.seen.length;
      assert.match(await run(u, 'what do you have?'), /remote__echo/);
      return llm.seen[before].json.tools.find((t) => t.function.name === 'remote__echo').function.description;
    };
    assert.equal(await offeredDescription(), echo.description);
    down = true;
    assert.equal(await offeredDescription(), echo.description);
    assert.equal(await offeredDescription(), echo.description);
  } finally {
    p.close();
  }
});

test('cancelling a call of 2026-07-28 closes its HTTP exchange without sending another message', async () => {
  let markStarted, responseClosed;
  const callStarted = new Promise((resolve) => { markStarted = resolve; });
  const p = await switchingServer(() => 'modern', (m, res) => {
    if (m.method !== 'tools/call') return undefined;
    responseClosed = new Promise((resolve) => res.on('close', resolve));
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    markStarted();
    return true;
  });
  try {
    const u = await userWithServer({ url: p.url });
    const started = await u.start({ prompt: callPrompt });
    await callStarted;
    p.takeMethods();
    const stopStart = performance.now();
    assert.equal((await u.post(`/agent-run/${started.json.agent_run_id}/stop`)).status, 200);
    await responseClosed;
    assert.ok(performance.now() - stopStart < 3000);
    await waitFor('the connection to be closed', () => p.sockets.size === 0, 5000);
    assert.deepEqual(p.takeMethods(), []);
  } finally {
    p.close();
  }
});
