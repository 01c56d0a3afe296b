// The HTTP transports with servers that follow the standards in unusual ways.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertMcpError, json, startScriptedServer } from './lib/mcp.mjs';
import { authorizationOf, startScriptedOAuthServer } from './lib/oauth.mjs';
import { Server, makeDatabase } from './lib/server.mjs';

let database, server, admin;
const serverSettings = ['mcp.call_timeout_seconds=10', 'mcp.discovery_timeout_seconds=10', `secrets.key=${'0123456789abcdef'.repeat(4)}`,
  'http.public_url=http://127.0.0.1:1'];
before(async () => {
  database = makeDatabase();
  server = await new Server({ database, set: serverSettings }).start();
  admin = await server.user({ role: 'admin' });
});
after(async () => {
  await server?.close();
  database?.drop();
});

const events = (res, text) => { res.writeHead(200, { 'content-type': 'text/event-stream' }).end(text); return true; };
const answer = (id) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'at last' }] } })}\n\n`;
// Calls a tool whose response stream is interrupted; the n-th resumed stream (from 1) contains `more(n, id)`.
async function callWithInterruptedStream(first, more) {
  const resumptions = [];
  let id;
  const peer = await startScriptedServer((m, res, req) => {
    if (m.method === 'tools/call') { id = m.id; return events(res, first); }
    if (req.method !== 'GET') return undefined;
    resumptions.push({ at: performance.now(), after: req.headers['last-event-id'] });
    return events(res, more(resumptions.length, id));
  });
  try {
    const begun = performance.now();
    const r = await admin.post('/admin/mcp/call', { json: { type: 'http', config: { url: peer.url }, tool: 'echo', arguments: {} } });
    r.ms = performance.now() - begun;
    return { r, resumptions };
  } finally {
    peer.close();
  }
}

test('a response may be split over any number of streams if each of them contains an event', async () => {
  for (const [content, streamText] of [
    ['a new event id', (n) => `id: e${n}\ndata:\n\n`],
    ['a message', () => 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n']]) {
    const { r, resumptions } = await callWithInterruptedStream('id: e0\nretry: 10\ndata:\n\n', (n, id) => (n < 15 ? streamText(n) : answer(id)));
    assert.equal(r.json.content, 'at last', `${content}: ${r.text}`);
    assert.equal(resumptions.length, 15);
  }
});

test('empty streams are reopened at most ten times, with a pause', async () => {
  const { r, resumptions } = await callWithInterruptedStream('id: e0\nretry: 0\ndata:\n\n', (n) => (n === 4 ? 'id: e4\ndata:\n\n' : ': nothing\n\n'));
  assertMcpError(r, 'MCP_CONNECT_FAILED', /without an answer/, 5000);
  assert.equal(resumptions.length, 14);
  for (let i = 1; i < resumptions.length; i++) assert.ok(resumptions[i].at - resumptions[i - 1].at > 90, `${resumptions[i].at - resumptions[i - 1].at} ms`);
});

test('a stream is resumed after the last complete event', async () => {
  const { r, resumptions } = await callWithInterruptedStream('id: e0\nretry: 100\ndata:\n\nid: e1\ndata: {"jsonrpc"', (n, id) => answer(id));
  assert.equal(r.json.content, 'at last', r.text);
  assert.deepEqual(resumptions.map((a) => a.after), ['e0']);
});

// ---- repeated header fields ----
async function newUserWithAgent() {
  const u = await server.user({ tier: 'pro' });
  return { u, agent: (await u.get('/agents')).json.agents[0].agent_id };
}
// A server whose second of two challenges contains the URL of its metadata.
async function withTwoChallenges(handle = () => undefined) {
  const peer = await startScriptedOAuthServer({ secret: 's', handle: (path, req, body, res) => {
    if (path.startsWith('/.well-known/oauth-protected-resource')) return json(res, 404, {});
    if (path === '/elsewhere') return json(res, 200, { resource: peer.url, authorization_servers: [peer.origin] });
    const done = handle(path, req, body, res);
    if (done !== undefined || !['/mcp', '/message'].includes(path)) return done;
    const bearer = `Bearer resource_metadata="${peer.origin}/elsewhere", scope="special"`;
    res.writeHead(401, { 'www-authenticate': ['Basic realm="a, b"', bearer] }).end();
    return true;
  } });
  return peer;
}
const openStream = (path, req, body, res) => {
  if (path !== '/mcp' || req.method !== 'GET') return undefined;
  res.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: endpoint\ndata: /message\n\n');
  return true;
};
for (const [label, type, handle] of [['http', 'http'], ['the stream of sse', 'sse'], ['the messages of sse', 'sse', openStream]]) {
  test(`all challenges are read: ${label}`, async () => {
    const peer = await withTwoChallenges(handle);
    try {
      const { u, agent } = await newUserWithAgent();
      const made = await u.post('/mcp/profiles', { json: { url: peer.url, type, oauth: { grant: 'client_credentials', client_id: 'me', client_secret: 's' } } });
      const r = await u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': made.json.profile_id, 'x-mcp-type': 'prebuilt' } });
      assert.equal(r.status, 502, r.text);
      assert.ok(peer.seen.paths.includes('/elsewhere'), peer.seen.paths.join(' '));
    } finally {
      peer.close();
    }
  });
}

test('all challenges are read: discovery of a server that requires consent', async () => {
  const peer = await withTwoChallenges();
  try {
    const { u } = await newUserWithAgent();
    const made = await u.post('/mcp/profiles', { json: { url: peer.url } });
    const r = await u.post(`/mcp/profiles/${made.json.profile_id}/connect`, { json: {} });
    assert.equal(r.status, 200, r.text);
    assert.equal(new URL(await authorizationOf(r.json.connect_url.replace('http://127.0.0.1:1', server.url))).searchParams.get('scope'), 'special');
    assert.ok(peer.seen.paths.includes('/elsewhere'));
  } finally {
    peer.close();
  }
});
