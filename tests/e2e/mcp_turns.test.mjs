// What one account may do with MCP servers at the same time, and what waits for its turn.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, honest, run, startByHand } from './lib/mcp.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

let database, llm, server;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: ['http.threads=2', 'mcp.max_at_once_per_account=3', 'mcp.call_timeout_seconds=1', 'mcp.discovery_timeout_seconds=3'] }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
// A server that keeps requests of that method until they are let go; `state.most`: of those under way at the same time.
async function holding(method) {
  const held = new Set();
  const state = { most: 0, order: [], open: false };
  const peer = await startByHand((m, res, req) => {
    if (m.method !== method) return undefined;
    state.order.push(req.url);
    const answer = () => { held.delete(answer); honest(m, res, req, tools); };
    held.add(answer);
    state.most = Math.max(state.most, held.size);
    res.on('close', () => held.delete(answer));
    if (state.open) setTimeout(answer, 20);
    return true;
  });
  return { ...peer, state, held, letGo: () => { state.open = true; for (const answer of [...held]) answer(); } };
}
async function someone() {
  const u = await server.user({ tier: 'pro' });
  u.agent = (await u.get('/agents')).json.agents[0].agent_id;
  return u;
}
// A discovery; n tells it from the others.
const discover = (u, peer, n, options = {}) => u.get(`/agents/${u.agent}/custom-mcp-tools`,
  { headers: { 'x-mcp-url': `${peer.url}?n=${n}`, 'x-mcp-type': 'http' }, ...options });

test('what an account asks for beyond its share waits for its turn; others do not', async () => {
  const [u, other] = [await someone(), await someone()];
  const peer = await holding('tools/list');
  try {
    const all = [];
    for (let n = 0; n < 12; n++) {
      all.push(discover(u, peer, n));
      await sleep(20);  // so that their order is known
    }
    await waitFor('three to be under way', () => peer.held.size === 3);
    await sleep(200);
    assert.equal(peer.state.order.length, 3);
    const theirs = discover(other, peer, 99);
    await waitFor('the other account', () => peer.held.size === 4);
    peer.letGo();
    for (const r of await Promise.all([...all, theirs])) assert.equal(r.status, 200, r.text);
    assert.equal(peer.state.most, 4);
    const order = peer.state.order.map((url) => Number(new URL(url, peer.url).searchParams.get('n'))).filter((n) => n !== 99);
    const turns = [0, 3, 6, 9].map((i) => order.slice(i, i + 3).sort((a, b) => a - b));
    assert.deepEqual(turns[0], [0, 1, 2]);
    assert.ok(turns[3].every((n) => n > 6), `first come, first served: ${order}`);
  } finally {
    peer.close();
  }
});

test('a tool of a run whose turn does not come says so to the model', async () => {
  const u = await someone();
  const peer = await holding('tools/list');
  const own = await startByHand();
  try {
    const put = await u.request('PUT', `/agents/${u.agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'far', type: 'http', config: { url: own.url }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    assert.match(await run(u, '[call far__echo {}]'), /called echo/);
    const all = [0, 1, 2].map((n) => discover(u, peer, n));
    await waitFor('three to be under way', () => peer.held.size === 3);
    assert.match(await run(u, '[call far__echo {}]'), /MCP server "far".*its turn did not come within 1 seconds: too much is under way/);
    peer.letGo();
    for (const r of await Promise.all(all)) assert.equal(r.status, 200, r.text);
    assert.match(await run(u, '[call far__echo {}]'), /called echo/);
  } finally {
    peer.close();
    own.close();
  }
});

test('places come back from what was given up, by its limit or by its caller', async () => {
  const u = await someone();
  const peer = await holding('tools/list');
  try {
    for (const r of await Promise.all([0, 1, 2, 3, 4].map((n) => discover(u, peer, n)))) assert.equal(r.status, 504, r.text);
    for (let i = 0; i < 8; i++) {
      await Promise.all([0, 1, 2, 3, 4, 5].map((n) => discover(u, peer, `${i}-${n}`, { signal: AbortSignal.timeout(100) }).catch(() => undefined)));
    }
    await waitFor('all to be given up', () => peer.held.size === 0, 5000);
    peer.letGo();
    for (const r of await Promise.all([6, 7, 8, 9].map((n) => discover(u, peer, n)))) assert.equal(r.status, 200, r.text);
    assert.ok(peer.state.most <= 3, `${peer.state.most}`);
  } finally {
    peer.close();
  }
});
