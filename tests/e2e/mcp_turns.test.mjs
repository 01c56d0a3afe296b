// The limit of concurrent MCP requests of an account, and the queue of waiting requests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, respondCorrectly, run, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

// Held discoveries stay open on `longTimeoutServer` and reach the time limit on `shortTimeoutServer`.
let database, llm, longTimeoutServer, shortTimeoutServer;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  const start = (...limits) => new Server({ database, llm, set: ['http.threads=2', 'mcp.max_at_once_per_account=3', ...limits] }).start();
  longTimeoutServer = await start('mcp.discovery_timeout_seconds=30', 'mcp.call_timeout_seconds=5');
  shortTimeoutServer = await start('mcp.discovery_timeout_seconds=5');
});
after(async () => {
  await longTimeoutServer?.close();
  await shortTimeoutServer?.close();
  await llm?.close();
  database?.drop();
});

const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
// A server that holds requests of `method` until they are released. state.maxConcurrent: peak of held requests.
async function startHoldingPeer(method) {
  const held = new Set();
  const state = { maxConcurrent: 0, order: [], open: false };
  const peer = await startScriptedServer((m, res, req) => {
    if (m.method !== method) return undefined;
    state.order.push(req.url);
    const answer = () => { held.delete(answer); respondCorrectly(m, res, req, tools); };
    held.add(answer);
    state.maxConcurrent = Math.max(state.maxConcurrent, held.size);
    res.on('close', () => held.delete(answer));
    if (state.open) setTimeout(answer, 20);
    return true;
  });
  return { ...peer, state, held, releaseOne: () => [...held][0](), releaseAll: () => { state.open = true; for (const answer of [...held]) answer(); } };
}
async function newUserWithAgent(server = longTimeoutServer) {
  const u = await server.user({ tier: 'pro' });
  u.agent = (await u.get('/agents')).json.agents[0].agent_id;
  return u;
}
// A discovery, identified by n.
const discover = (u, peer, n, options = {}) => u.get(`/agents/${u.agent}/custom-mcp-tools`,
  { headers: { 'x-mcp-url': `${peer.url}?n=${n}`, 'x-mcp-type': 'http' }, ...options });

test('requests above the limit of an account wait in order; requests of other accounts do not wait', async () => {
  const [u, other] = [await newUserWithAgent(), await newUserWithAgent()];
  const [peer, otherPeer] = [await startHoldingPeer('tools/list'), await startHoldingPeer('tools/list')];
  const cachedPeer = await startScriptedServer();
  try {
    // The order of the first three is fixed: each is in progress before the next one is sent.
    const all = [];
    for (let n = 0; n < 3; n++) {
      all.push(discover(u, peer, n));
      await waitFor(`discovery ${n} to be in progress`, () => peer.held.size === n + 1);
    }
    // A waiting discovery is not observable. Discoveries with a cached result, which need no slot, take the same path
    // through the server before the next batch is sent, so the batches arrive in order even on a slow machine.
    const cached = await discover(other, cachedPeer, 'known');
    assert.equal(cached.status, 200, cached.text);
    for (const batch of [[3, 4, 5], [6, 7, 8], [9, 10, 11]]) {
      for (const n of batch) all.push(discover(u, peer, n));
      for (let i = 0; i < 20; i++) assert.equal((await discover(other, cachedPeer, 'known')).status, 200);
    }
    assert.equal(cachedPeer.seen.filter((s) => s.message.method === 'tools/list').length, 1);
    assert.equal(peer.state.order.length, 3);
    const theirs = discover(other, otherPeer, 0);
    await waitFor('the discovery of the other account to be in progress', () => otherPeer.held.size === 1);
    // Slots are released one at a time, so the order at the peer is the order in which the slots were granted.
    for (let length = 4; length <= 12; length++) {
      peer.releaseOne();
      await waitFor('the next discovery', () => peer.state.order.length === length);
    }
    peer.releaseAll();
    otherPeer.releaseAll();
    for (const r of await Promise.all([...all, theirs])) assert.equal(r.status, 200, r.text);
    assert.equal(peer.state.maxConcurrent, 3);
    const order = peer.state.order.map((url) => Number(new URL(url, peer.url).searchParams.get('n')));
    const batches = [0, 3, 6, 9].map((i) => order.slice(i, i + 3).sort((a, b) => a - b));
    assert.deepEqual(batches, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], `first come, first served: ${order}`);
  } finally {
    for (const p of [peer, otherPeer, cachedPeer]) p.close();
  }
});

test('a tool call that waits too long for a slot reports it to the model', async () => {
  const u = await newUserWithAgent();
  const peer = await startHoldingPeer('tools/list');
  const toolPeer = await startScriptedServer();
  try {
    const put = await u.request('PUT', `/agents/${u.agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'http', config: { url: toolPeer.url }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    assert.match(await run(u, '[call remote__echo {}]'), /called echo/);
    const all = [0, 1, 2].map((n) => discover(u, peer, n));
    await waitFor('three to be in progress', () => peer.held.size === 3);
    assert.match(await run(u, '[call remote__echo {}]'), /MCP server "remote".*the request waited longer than 5 seconds: too many calls of this account are in progress/);
    peer.releaseAll();
    for (const r of await Promise.all(all)) assert.equal(r.status, 200, r.text);
    assert.match(await run(u, '[call remote__echo {}]'), /called echo/);
  } finally {
    peer.close();
    toolPeer.close();
  }
});

// Of four concurrent discoveries, three are in progress and one waits. Uses a separate peer, because the server may
// close the connection of a cancelled discovery after reassigning its slot, and a shared peer would count both.
async function expectThreeSlots(u) {
  const peer = await startHoldingPeer('tools/list');
  try {
    const all = [0, 1, 2, 3].map((n) => discover(u, peer, n));
    await waitFor('three to be in progress', () => peer.held.size === 3);
    peer.releaseAll();
    for (const r of await Promise.all(all)) assert.equal(r.status, 200, r.text);
    assert.equal(peer.state.maxConcurrent, 3);
  } finally {
    peer.close();
  }
}

test('discoveries that reach their time limit release their slots', async () => {
  const u = await newUserWithAgent(shortTimeoutServer);
  const peer = await startHoldingPeer('tools/list');
  try {
    for (const r of await Promise.all([0, 1, 2, 3, 4].map((n) => discover(u, peer, n)))) assert.equal(r.status, 504, r.text);
    await expectThreeSlots(u);
  } finally {
    peer.close();
  }
});

test('discoveries that are cancelled by the client release their slots', async () => {
  const u = await newUserWithAgent();
  const peer = await startHoldingPeer('tools/list');
  try {
    for (let i = 0; i < 8; i++) {
      const caller = new AbortController();
      const all = [0, 1, 2, 3, 4, 5].map((n) => discover(u, peer, `${i}-${n}`, { signal: caller.signal }).catch((e) => e.name));
      // They get the slots of the previous round long before its discoveries would reach their time limit.
      await waitFor(`three of round ${i} to be in progress`, () => peer.state.order.filter((url) => url.includes(`n=${i}-`)).length >= 3);
      caller.abort();
      assert.deepEqual(await Promise.all(all), Array(6).fill('AbortError'));
    }
    await expectThreeSlots(u);
  } finally {
    peer.close();
  }
});
