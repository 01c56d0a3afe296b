// Cached facts about a server expire: its revision, its list of tools, the connection of an abandoned call.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, json, result, run, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

const revision = '2026-07-28';
const echo = { name: 'echo', description: 'Says it again', inputSchema: { type: 'object' } };
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

// A server that speaks 2026-07-28 alone, or the revisions before alone, as `speaks` says at the time of a request.
async function turncoat(speaks, handle = () => undefined, list = {}) {
  const p = await startScriptedServer((m, res, req) => {
    const asksModern = m.params?._meta?.['io.modelcontextprotocol/protocolVersion'] === revision;
    if (speaks() === 'legacy') {
      if (asksModern) return json(res, 400, { jsonrpc: '2.0', id: m.id ?? null, error: { code: -32000, message: 'Server not initialized' } });
      return undefined;
    }
    if (req.method !== 'POST') { res.writeHead(405).end(); return true; }
    if (!asksModern) return json(res, 400, { jsonrpc: '2.0', id: m.id ?? null, error: { code: -32022, message: 'Unsupported protocol version', data: { supported: [revision] } } });
    const handled = handle(m, res);
    if (handled !== undefined) return handled;
    if (m.method === 'server/discover') return result(res, m, { resultType: 'complete', supportedVersions: [revision], capabilities: { tools: {} } });
    if (m.method === 'tools/list') return result(res, m, { resultType: 'complete', tools: [echo], ...list });
    return result(res, m, { resultType: 'complete', content: [{ type: 'text', text: `modern ${m.params.name}` }] });
  });
  p.said = () => p.seen.splice(0).map((s) => s.message.method ?? s.method).filter((m) => m !== 'DELETE' && m !== 'GET');
  return p;
}
async function userOf(config) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'far', type: 'http', config, enabledTools: ['echo'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
const callIt = '[call far__echo {}]';

test('a server that changes its revision is met anew, there and back, and each call is made once', async () => {
  let now = 'modern';
  const p = await turncoat(() => now);
  try {
    const u = await userOf({ url: p.url });
    assert.match(await run(u, callIt), /modern echo/);
    p.said();
    assert.match(await run(u, callIt), /modern echo/);
    assert.deepEqual(p.said(), ['tools/call'], 'of a server whose revision is known');
    now = 'legacy';
    assert.match(await run(u, callIt), /called echo/);
    assert.deepEqual(p.said(), ['tools/call', 'server/discover', 'initialize', 'notifications/initialized', 'tools/call'], 'the first was refused');
    assert.match(await run(u, callIt), /called echo/);
    assert.deepEqual(p.said(), ['initialize', 'notifications/initialized', 'tools/call']);
    now = 'modern';
    assert.match(await run(u, callIt), /modern echo/);
    assert.deepEqual(p.said(), ['initialize', 'tools/call']);
  } finally {
    p.close();
  }
});

for (const [how, refuse] of Object.entries({
  'an error of JSON-RPC': (m, res) => json(res, 422, { jsonrpc: '2.0', id: m.id, error: { code: -32603, message: 'half of it is done' } }),
  'a status alone': (m, res) => (res.writeHead(413).end(), true),
}))
  test(`a call of 2026-07-28 that fails by ${how} is made once`, async () => {
    let calls = 0, failing = false;
    const p = await turncoat(() => 'modern', (m, res) => (m.method === 'tools/call' && failing ? (calls++, refuse(m, res)) : undefined));
    try {
      const u = await userOf({ url: p.url });
      assert.match(await run(u, callIt), /modern echo/);
      failing = true;
      for (let i = 1; i <= 2; i++) {
        assert.match(await run(u, callIt), /half of it is done|413/);
        assert.equal(calls, i);
      }
    } finally {
      p.close();
    }
  });

test('a list that is out of date serves while the server cannot be asked', async () => {
  let down = false;
  const p = await turncoat(() => 'modern', (m, res) => (down ? (res.writeHead(503).end(), true) : undefined), { ttlMs: 0 });
  try {
    const u = await userOf({ url: p.url });
    const described = async () => {
      const before = llm.seen.length;
      assert.match(await run(u, 'what do you have?'), /far__echo/);
      return llm.seen[before].json.tools.find((t) => t.function.name === 'far__echo').function.description;
    };
    assert.equal(await described(), echo.description);
    down = true;
    assert.equal(await described(), echo.description);
    assert.equal(await described(), echo.description);
  } finally {
    p.close();
  }
});

test('a cancelled call of 2026-07-28 closes its exchange without another message', async () => {
  let called, gone;
  const begun = new Promise((resolve) => { called = resolve; });
  const p = await turncoat(() => 'modern', (m, res) => {
    if (m.method !== 'tools/call') return undefined;
    gone = new Promise((resolve) => res.on('close', resolve));
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    called();
    return true;
  });
  try {
    const u = await userOf({ url: p.url });
    const started = await u.start({ prompt: callIt });
    await begun;
    p.said();
    const at = performance.now();
    assert.equal((await u.post(`/agent-run/${started.json.agent_run_id}/stop`)).status, 200);
    await gone;
    assert.ok(performance.now() - at < 3000);
    await waitFor('the connection to be closed', () => p.sockets.size === 0, 5000);
    assert.deepEqual(p.said(), []);
  } finally {
    p.close();
  }
});
