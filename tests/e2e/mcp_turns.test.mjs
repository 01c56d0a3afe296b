// What one account may do with MCP servers at the same time, and what waits for its turn.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, respondCorrectly, run, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

// A discovery at `patient` outlives the test that holds it. A discovery at `hasty` that is held reaches its time limit.
let database, llm, patient, hasty;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  const start = (...limits) => new Server({ database, llm, set: ['http.threads=2', 'mcp.max_at_once_per_account=3', ...limits] }).start();
  patient = await start('mcp.discovery_timeout_seconds=30', 'mcp.call_timeout_seconds=5');
  hasty = await start('mcp.discovery_timeout_seconds=5');
});
after(async () => {
  await patient?.close();
  await hasty?.close();
  await llm?.close();
  database?.drop();
});

const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
// A server that holds requests of that method until they are released; `state.most`: most requests at the same time.
async function holding(method) {
  const held = new Set();
  const state = { most: 0, order: [], open: false };
  const peer = await startScriptedServer((m, res, req) => {
    if (m.method !== method) return undefined;
    state.order.push(req.url);
    const answer = () => { held.delete(answer); respondCorrectly(m, res, req, tools); };
    held.add(answer);
    state.most = Math.max(state.most, held.size);
    res.on('close', () => held.delete(answer));
    if (state.open) setTimeout(answer, 20);
    return true;
  });
  return { ...peer, state, held, letOneGo: () => [...held][0](), letGo: () => { state.open = true; for (const answer of [...held]) answer(); } };
}
async function someone(server = patient) {
  const u = await server.user({ tier: 'pro' });
  u.agent = (await u.get('/agents')).json.agents[0].agent_id;
  return u;
}
// A discovery, identified by n.
const discover = (u, peer, n, options = {}) => u.get(`/agents/${u.agent}/custom-mcp-tools`,
  { headers: { 'x-mcp-url': `${peer.url}?n=${n}`, 'x-mcp-type': 'http' }, ...options });

test('requests of an account beyond its share wait; those of others do not', async () => {
  const [u, other] = [await someone(), await someone()];
  const [peer, apart] = [await holding('tools/list'), await holding('tools/list')];
  const known = await startScriptedServer();
  try {
    // The order of the first three is known: each is in progress before the next one is sent.
    const all = [];
    for (let n = 0; n < 3; n++) {
      all.push(discover(u, peer, n));
      await waitFor(`discovery ${n} to be under way`, () => peer.held.size === n + 1);
    }
    // Nothing shows that a discovery waits for its turn. Several discoveries whose answer is remembered and that need no
    // turn pass the same way through the server before the next batch is sent, however slow the machine is.
    const remembered = await discover(other, known, 'known');
    assert.equal(remembered.status, 200, remembered.text);
    for (const batch of [[3, 4, 5], [6, 7, 8], [9, 10, 11]]) {
      for (const n of batch) all.push(discover(u, peer, n));
      for (let i = 0; i < 20; i++) assert.equal((await discover(other, known, 'known')).status, 200);
    }
    assert.equal(known.seen.filter((s) => s.message.method === 'tools/list').length, 1);
    assert.equal(peer.state.order.length, 3);
    const theirs = discover(other, apart, 0);
    await waitFor('the discovery of the other account to be under way', () => apart.held.size === 1);
    // One place at a time comes free, so that the order at the peer is the order of the turns.
    for (let length = 4; length <= 12; length++) {
      peer.letOneGo();
      await waitFor('the next turn', () => peer.state.order.length === length);
    }
    peer.letGo();
    apart.letGo();
    for (const r of await Promise.all([...all, theirs])) assert.equal(r.status, 200, r.text);
    assert.equal(peer.state.most, 3);
    const order = peer.state.order.map((url) => Number(new URL(url, peer.url).searchParams.get('n')));
    const turns = [0, 3, 6, 9].map((i) => order.slice(i, i + 3).sort((a, b) => a - b));
    assert.deepEqual(turns, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], `first come, first served: ${order}`);
  } finally {
    for (const each of [peer, apart, known]) each.close();
  }
});

test('a tool of a run whose turn does not come says so to the model', async () => {
  const u = await someone();
  const peer = await holding('tools/list');
  const own = await startScriptedServer();
  try {
    const put = await u.request('PUT', `/agents/${u.agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'far', type: 'http', config: { url: own.url }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    assert.match(await run(u, '[call far__echo {}]'), /called echo/);
    const all = [0, 1, 2].map((n) => discover(u, peer, n));
    await waitFor('three to be under way', () => peer.held.size === 3);
    assert.match(await run(u, '[call far__echo {}]'), /MCP server "far".*the request waited longer than 5 seconds: too many calls of this account are in progress/);
    peer.letGo();
    for (const r of await Promise.all(all)) assert.equal(r.status, 200, r.text);
    assert.match(await run(u, '[call far__echo {}]'), /called echo/);
  } finally {
    peer.close();
    own.close();
  }
});

// Four concurrent discoveries: three are in progress, and the fourth follows them. They have a peer of their own: the
// server may close the connection of a cancelled discovery after it has given the place away, so that a peer sees both.
async function threeAtOnce(u) {
  const peer = await holding('tools/list');
  try {
    const all = [0, 1, 2, 3].map((n) => discover(u, peer, n));
    await waitFor('three to be under way', () => peer.held.size === 3);
    peer.letGo();
    for (const r of await Promise.all(all)) assert.equal(r.status, 200, r.text);
    assert.equal(peer.state.most, 3);
  } finally {
    peer.close();
  }
}

test('places come back from discoveries that reach their time limit', async () => {
  const u = await someone(hasty);
  const peer = await holding('tools/list');
  try {
    for (const r of await Promise.all([0, 1, 2, 3, 4].map((n) => discover(u, peer, n)))) assert.equal(r.status, 504, r.text);
    await threeAtOnce(u);
  } finally {
    peer.close();
  }
});

test('places come back from discoveries that their caller cancels', async () => {
  const u = await someone();
  const peer = await holding('tools/list');
  try {
    for (let i = 0; i < 8; i++) {
      const caller = new AbortController();
      const all = [0, 1, 2, 3, 4, 5].map((n) => discover(u, peer, `${i}-${n}`, { signal: caller.signal }).catch((e) => e.name));
      // They get the places of the round before long before those reach their time limit.
      await waitFor(`three of round ${i} to be under way`, () => peer.state.order.filter((url) => url.includes(`n=${i}-`)).length >= 3);
      caller.abort();
      assert.deepEqual(await Promise.all(all), Array(6).fill('AbortError'));
    }
    await threeAtOnce(u);
  } finally {
    peer.close();
  }
});
