// End-to-end tests of MCP servers that require OAuth: profiles, consent by a link, expiring tokens, step-up scopes,
// misbehaving servers.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, json, run, startEverything } from './lib/mcp.mjs';
import { UserBrowser, answerOf, authorizationOf, browse, startScriptedOAuthServer, startSdk } from './lib/oauth.mjs';
import { Server, freePort, makeDatabase, waitFor } from './lib/server.mjs';

let database, llm, server;
const secretsKey = '0123456789abcdef'.repeat(4);

async function startServer(options = {}, set = []) {
  const port = await freePort();
  return await new Server({ database, ...options, set: [`http.listen=127.0.0.1:${port}`, `http.public_url=http://127.0.0.1:${port}`,
    `secrets.key=${secretsKey}`, ...set] }).start();
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await startServer({ llm });
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const tools = (agent) => `/agents/${agent}/custom-mcp-tools`;
async function newUserWithAgent(instance = server) {
  const u = await instance.user({ tier: 'pro' });
  return { u, agent: (await u.get('/agents')).json.agents[0].agent_id };
}
async function profileFor(u, url, oauth) {
  const made = await u.post('/mcp/profiles', { json: { url, display_name: 'Mine', oauth } });
  assert.equal(made.status, 201, made.text);
  return made.json.profile_id;
}
const list = (u, agent, profile) =>
  u.get(tools(agent), { headers: { 'x-mcp-url': profile, 'x-mcp-type': 'prebuilt', 'cache-control': 'no-cache' } });
async function connectUrlFor(u, profile) {
  const r = await u.post(`/mcp/profiles/${profile}/connect`, { json: {} });
  assert.equal(r.status, 200, r.text);
  return r.json.connect_url;
}
async function userWithConnectedProfile(peer) {
  const { u, agent } = await newUserWithAgent();
  const profile = await profileFor(u, peer.url);
  const done = await browse(await connectUrlFor(u, profile));
  assert.equal(done.status, 200, done.text);
  return { u, agent, profile };
}
const expectConsentRequired = (r, profile) => {
  assert.equal(r.status, 502, r.text);
  assert.equal(r.json.detail.error_code, 'MCP_CONNECT_FAILED');
  assert.match(r.json.detail.message, new RegExp(`requires the user's consent.*/mcp/profiles/${profile}/connect`));
};

test('after user consent, discovery, configuration and tool calls reach the server', async () => {
  const peer = await startSdk();
  try {
    const { u, agent } = await newUserWithAgent();
    const profile = await profileFor(u, peer.url);
    assert.deepEqual((await u.get('/mcp/profiles')).json.profiles,
      [{ profile_id: profile, integration: null, display_name: 'Mine', url: peer.url, connected: false }]);
    expectConsentRequired(await list(u, agent, profile), profile);
    const direct = await u.get(tools(agent), { headers: { 'x-mcp-url': peer.url, 'x-mcp-type': 'http' } });
    assert.match(direct.json.detail.message, /requires OAuth: create a profile/);
    const link = await connectUrlFor(u, profile);
    const browser = new UserBrowser();
    const authorizationParams = new URL(await authorizationOf(link, browser)).searchParams;
    assert.equal(authorizationParams.get('code_challenge_method'), 'S256');
    assert.equal(authorizationParams.get('resource'), peer.url);
    assert.equal(authorizationParams.get('scope'), 'tools:read');  // only the scope that the server requested
    assert.equal(authorizationParams.get('redirect_uri'), `${server.url}/mcp/oauth/callback`);
    const done = await browser.browse(link);
    assert.equal(done.status, 200, done.text);
    assert.match(done.text, /Mine is connected/);
    assert.deepEqual(browser.cookies(server.url), []);
    assert.match(done.headers.get('content-security-policy'), /default-src 'none'/);
    assert.equal(done.headers.get('referrer-policy'), 'no-referrer');
    assert.deepEqual(peer.seen.registrations.map((c) => [c.redirect_uris, c.grant_types]),
      [[[`${server.url}/mcp/oauth/callback`], ['authorization_code', 'refresh_token']]]);
    assert.equal((await u.get('/mcp/profiles')).json.profiles[0].connected, true);

    const listed = await list(u, agent, profile);
    assert.equal(listed.status, 200, listed.text);
    assert.deepEqual(listed.json.tools.map((t) => t.name), ['echo', 'write']);
    const enabled = await u.post(tools(agent), { json: { url: profile, type: 'prebuilt', enabled_tools: ['echo'] } });
    assert.deepEqual(enabled.json, { success: true, enabled_tools: ['echo'], total_tools: 1 });
    const put = await u.request('PUT', tools(agent), { json: { custom_mcps: [
      { name: 'safe', type: 'prebuilt', config: { profile_id: profile }, enabledTools: ['echo', 'write'] }] } });
    assert.equal(put.json.data?.total_enabled_tools, 2, put.text);
    assert.match(await run(u, '[call safe__echo {"message":"hello"}]'), /echo: hello/);

    // Secrets are neither stored in plain text nor logged.
    const secrets = [...peer.seen.tokens, ...peer.seen.codes, authorizationParams.get('state'), peer.seen.registrations[0].client_secret].filter(Boolean);
    assert.ok(secrets.length >= 5);
    const storedText = database.sql("select coalesce(encode(connection,'escape'),'') || encode(credentials,'escape') from mcp_prebuilt.profile");
    for (const s of secrets) {
      assert.ok(!storedText.includes(s), 'a secret is stored in plain text');
      assert.ok(!server.log.includes(s), 'a secret is logged');
    }
    assert.equal((await u.request('DELETE', `/mcp/profiles/${profile}`)).status, 204);
    assert.equal((await list(u, agent, profile)).status, 400);
    await waitFor('the tokens to be revoked', () => peer.seen.revoked.length === 2);
    assert.deepEqual(new Set(peer.seen.revoked), new Set(peer.seen.tokens));
  } finally {
    peer.close();
  }
});

test('a connect link works once, for its own account, until another link is created', async () => {
  const peer = await startSdk();
  try {
    const { u } = await newUserWithAgent();
    const profile = await profileFor(u, peer.url);
    const stranger = (await newUserWithAgent()).u;
    assert.equal((await stranger.post(`/mcp/profiles/${profile}/connect`, { json: {} })).status, 404);
    assert.equal((await u.post('/mcp/profiles/nonsense/connect', { json: {} })).status, 404);

    const browser = new UserBrowser();
    const callbackUrl = async () => (await answerOf(await connectUrlFor(u, profile), browser)).href;
    const openCallback = (url) => browser.request(url);
    const old = await connectUrlFor(u, profile);
    const first = await callbackUrl();
    const second = await callbackUrl();
    assert.equal((await browser.request(old)).status, 400);  // invalidated by the next link
    assert.equal((await openCallback(first)).status, 400);
    assert.equal((await openCallback(second)).status, 200);
    assert.equal((await openCallback(second)).status, 400);
    assert.equal(peer.seen.exchanges, 1);

    const late = await callbackUrl();
    const lateLink = await connectUrlFor(u, profile);
    database.sql("update mcp_prebuilt.consent set expires_at = now() - interval '1 second'");
    assert.equal((await openCallback(late)).status, 400);
    assert.equal((await browser.browse(lateLink)).status, 400);
    for (const path of ['connect', 'callback']) {
      for (const query of ['', '?state=guess&code=x', '?code=x', '?ticket=guess', `?state=${'x'.repeat(2000)}&ticket=${'x'.repeat(2000)}`]) {
        const r = await openCallback(`${server.url}/mcp/oauth/${path}${query}`);
        assert.equal(r.status, 400, query);
      }
    }

    // A refused consent is final: its state is removed.
    const declined = new URL(await callbackUrl());
    declined.searchParams.delete('code');
    declined.searchParams.set('error', 'access_denied');
    const declinedPage = await openCallback(declined.href);
    assert.equal(declinedPage.status, 400);
    assert.match(declinedPage.text, /declined/);
    declined.searchParams.delete('error');
    declined.searchParams.set('code', peer.seen.codes.at(-1));
    assert.equal((await openCallback(declined.href)).status, 400);

    // A response from another authorization server is rejected.
    const mixed = new URL(await callbackUrl());
    mixed.searchParams.set('iss', 'https://evil.example');
    assert.equal((await openCallback(mixed.href)).status, 400);
    assert.equal(peer.seen.exchanges, 1);
  } finally {
    peer.close();
  }
});

test('with a redirect page of the operator, only the requesting account can complete the connection', async () => {
  const peer = await startSdk();
  const otherServer = await startServer({}, ['mcp_prebuilt.redirect_url=https://app.example.org/connected']);
  try {
    const { u, agent } = await newUserWithAgent(otherServer);
    const stranger = (await newUserWithAgent(otherServer)).u;
    const profile = await profileFor(u, peer.url);
    const back = await answerOf(await connectUrlFor(u, profile));
    assert.equal(back.origin + back.pathname, 'https://app.example.org/connected');
    const answer = Object.fromEntries(back.searchParams);
    assert.equal((await fetch(`${otherServer.url}/mcp/oauth/callback${back.search}`)).status, 405);
    assert.equal((await stranger.post('/mcp/oauth/callback', { json: answer })).status, 404);
    const done = await u.post('/mcp/oauth/callback', { json: answer });
    assert.deepEqual(done.json, { connected: true, display_name: 'Mine' }, done.text);
    assert.equal((await list(u, agent, profile)).status, 200);
    assert.equal((await u.post('/mcp/oauth/callback', { json: answer })).status, 404);
  } finally {
    await otherServer.close();
    peer.close();
  }
});

test('an expiring token is renewed once for all users and servers', async () => {
  const peer = await startSdk({ life: (n) => (n === 1 ? 5 : 3600) });
  const second = await startServer({ llm });
  try {
    const { u, agent, profile } = await userWithConnectedProfile(peer);
    const onSecond = Object.assign(Object.create(Object.getPrototypeOf(u)), u, { server: second });
    onSecond.token = second.token({ subject: u.id });
    const listings = await Promise.all(Array.from({ length: 10 }, (_, i) => list(i % 2 ? u : onSecond, agent, profile)));
    assert.deepEqual(listings.map((r) => r.status), Array(10).fill(200), listings.map((r) => r.text).join('\n'));
    assert.equal(peer.seen.refreshes, 1);
    // A token that was revoked at the server is renewed after a 401.
    peer.revoke();
    const again = await Promise.all(Array.from({ length: 10 }, (_, i) => list(i % 2 ? u : onSecond, agent, profile)));
    assert.deepEqual(again.map((r) => r.status), Array(10).fill(200), again.map((r) => r.text).join('\n'));
    assert.equal(peer.seen.refreshes, 2);
    // If the refresh token is gone as well, the user's consent is required.
    peer.forget();
    expectConsentRequired(await list(u, agent, profile), profile);
    assert.equal((await u.get('/mcp/profiles')).json.profiles[0].connected, false);
    assert.equal((await browse(await connectUrlFor(u, profile))).status, 200);
    assert.equal((await list(u, agent, profile)).status, 200);
    assert.equal(peer.seen.registrations.length, 1);  // the client registration is reused
  } finally {
    await second.close();
    peer.close();
  }
});

test('a tool that requires more scope reports it in a run, and the consent includes the previous scope', async () => {
  const peer = await startSdk();
  try {
    const { u, agent, profile } = await userWithConnectedProfile(peer);
    await u.request('PUT', tools(agent), { json: { custom_mcps: [
      { name: 'safe', type: 'prebuilt', config: { profile_id: profile }, enabledTools: ['echo', 'write'] }] } });
    assert.match(await run(u, '[call safe__write {"message":"x"}]'), /requires the user's consent/);
    const link = await connectUrlFor(u, profile);
    assert.equal(new URL(await authorizationOf(link)).searchParams.get('scope'), 'tools:read tools:write');
    assert.match(await run(u, '[call safe__echo {"message":"still"}]'), /echo: still/);
    assert.equal((await browse(link)).status, 200);
    assert.match(await run(u, '[call safe__write {"message":"now"}]'), /write: now/);
  } finally {
    peer.close();
  }
});

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
for (const [method, peerOptions, oauth] of [
  ['client_secret_basic', { secret: 's&cret +%' }, { client_secret: 's&cret +%' }],
  ['private_key_jwt', { publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }) },
    { private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), key_id: 'k1' }]]) {
  test(`client_credentials with ${method}`, async () => {
    const peer = await startScriptedOAuthServer({ scope: 'base', ...peerOptions });
    try {
      const { u, agent } = await newUserWithAgent();
      const profile = await profileFor(u, peer.url, { grant: 'client_credentials', client_id: 'me', ...oauth });
      const listed = await list(u, agent, profile);
      assert.equal(listed.status, 200, listed.text);
      await u.request('PUT', tools(agent), { json: { custom_mcps: [
        { name: 'owned', type: 'prebuilt', config: { profile_id: profile }, enabledTools: ['echo', 'write'] }] } });
      assert.match(await run(u, '[call owned__echo {}]'), /called echo/);
      assert.equal(peer.seen.tokens.length, 1);
      // More scope is granted without the user, and the previous scope is kept.
      assert.match(await run(u, '[call owned__write {}]'), /called write/);
      assert.match(await run(u, '[call owned__echo {}]'), /called echo/);
      assert.equal(peer.seen.tokens.length, 2);
      peer.revoke();
      assert.equal((await list(u, agent, profile)).status, 200);
      assert.equal(new Set(peer.seen.proofs.map((p) => p.jti)).size, peer.seen.proofs.length);
      const unneeded = await u.post(`/mcp/profiles/${profile}/connect`, { json: {} });
      assert.equal(unneeded.status, 409, unneeded.text);
      for (const s of [...peer.seen.tokens, oauth.client_secret ?? 'BEGIN PRIVATE']) assert.ok(!server.log.includes(s));
    } finally {
      peer.close();
    }
  });
}

test('OAuth works over the legacy HTTP+SSE transport', async () => {
  const backend = await startEverything('sse');
  const peer = await startScriptedOAuthServer({ secret: 's', handle: (path, req, body, res) => {
    if (!['/mcp', '/message'].includes(path) || !peer.seen.tokens.includes(req.headers.authorization?.replace('Bearer ', ''))) return;
    const target = new URL(path === '/mcp' ? '/sse' : req.url, backend.url);
    const forward = request(target, { method: req.method, headers: { ...req.headers, host: target.host } }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    forward.on('error', () => res.destroy());
    res.on('close', () => forward.destroy());
    forward.end(body);
    return true;
  } });
  try {
    const { u, agent } = await newUserWithAgent();
    const made = await u.post('/mcp/profiles', { json: { url: peer.url, type: 'sse', oauth: { grant: 'client_credentials', client_id: 'me', client_secret: 's' } } });
    const listed = await list(u, agent, made.json.profile_id);
    assert.equal(listed.status, 200, listed.text);
    assert.ok(listed.json.tools.some((t) => t.name === 'echo'));
    assert.equal(peer.seen.tokens.length, 1);
  } finally {
    peer.close();
    backend.close();
  }
});

test('credentials of the previous authorization server are not sent to a new one', async () => {
  let moved = false;
  const other = await startScriptedOAuthServer({ secret: 's' });
  const peer = await startScriptedOAuthServer({ secret: 's', handle: (path, req, body, res) => {
    if (moved && path === '/.well-known/oauth-protected-resource/mcp')
      return json(res, 200, { resource: `${peer.origin}/mcp`, authorization_servers: [other.origin] });
  } });
  try {
    const { u, agent } = await newUserWithAgent();
    const bound = await profileFor(u, peer.url, { grant: 'client_credentials', client_id: 'me', client_secret: 's' });
    assert.equal((await list(u, agent, bound)).status, 200);
    moved = true;
    peer.revoke();
    const r = await list(u, agent, bound);
    assert.equal(r.status, 502, r.text);
    assert.match(r.json.detail.message, /authorization server was .* and is now/);
    assert.ok(!other.seen.paths.includes('/token'));
    const pinned = await profileFor(u, peer.url, { grant: 'client_credentials', client_id: 'me', client_secret: 's', issuer: peer.origin });
    assert.match((await list(u, agent, pinned)).json.detail.message, /the profile allows/);
    assert.ok(!other.seen.paths.includes('/token'));
  } finally {
    peer.close();
    other.close();
  }
});

test('client credentials configured by the operator are sent only to the configured issuer', async () => {
  const peer = await startScriptedOAuthServer({ secret: 's' });
  const integration = (issuer) => ({ settings: `
[mcp_prebuilt.integrations.safe]
url = "${peer.url}"
[mcp_prebuilt.integrations.safe.oauth]
grant = "client_credentials"
client_id = "me"
client_secret = "s"
${issuer ? `issuer = "${issuer}"` : ''}
` });
  try {
    await assert.rejects(async () => { await (await startServer(integration())).close(); },
      /mcp_prebuilt\.integrations\.safe\.oauth\.issuer is required with a client_secret/);
    for (const [issuer, status] of [['http://127.0.0.1:1', 502], [peer.origin, 200]]) {
      const otherServer = await startServer(integration(issuer));
      try {
        const { u, agent } = await newUserWithAgent(otherServer);
        const made = await u.post('/mcp/profiles', { json: { integration: 'safe' } });
        assert.equal((await list(u, agent, made.json.profile_id)).status, status);
        assert.equal(peer.seen.paths.includes('/token'), status === 200);
      } finally {
        await otherServer.close();
      }
    }
  } finally {
    peer.close();
  }
});

test('a profile\'s issuer overrides the metadata, and its secret is sent only to the issuer\'s host', async () => {
  for (const [issuer, pinned, status, message] of [
    ['http://127.0.0.1:9/tenant', undefined, 502, /another issuer: http:\/\/127\.0\.0\.1:9\/tenant/],
    ['http://127.0.0.1:9/tenant', 'http://127.0.0.1:9/tenant', 200],
    ['http://127.0.0.1:9/tenant', 'http://127.0.0.1:9/other', 502, /another issuer/],
    ['http://auth.example.com', 'http://auth.example.com', 502, /not on the host of the issuer/]]) {
    const peer = await startScriptedOAuthServer({ secret: 's', metadata: { issuer } });
    try {
      const { u, agent } = await newUserWithAgent();
      const profile = await profileFor(u, peer.url, { grant: 'client_credentials', client_id: 'me', client_secret: 's', ...(pinned && { issuer: pinned }) });
      const r = await list(u, agent, profile);
      assert.equal(r.status, status, r.text);
      if (message) assert.match(r.json.detail.message, message);
      assert.equal(peer.seen.paths.includes('/token'), status === 200, r.text);
    } finally {
      peer.close();
    }
  }
});

test('tokens are not renewed at an issuer that differs from the currently configured one', async () => {
  const peer = await startSdk({ life: () => 5 });
  const registered = await (await fetch(`${peer.origin}/register`, { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://app.example.org/connected'], token_endpoint_auth_method: 'none' }) })).json();
  const serverWith = (oauth) => startServer({ settings: `
[mcp_prebuilt.integrations.safe]
url = "${peer.url}"
[mcp_prebuilt.integrations.safe.oauth]
client_id = "${registered.client_id}"
${oauth}
` }, ['mcp_prebuilt.redirect_url=https://app.example.org/connected']);
  const first = await serverWith('token_endpoint_auth_method = "none"');
  let second;
  try {
    const { u, agent } = await newUserWithAgent(first);
    const made = await u.post('/mcp/profiles', { json: { integration: 'safe' } });
    const back = await answerOf(await connectUrlFor(u, made.json.profile_id));
    const done = await u.post('/mcp/oauth/callback', { json: Object.fromEntries(back.searchParams) });
    assert.equal(done.status, 200, done.text);
    second = await serverWith('client_secret = "s"\nissuer = "http://127.0.0.1:1"');
    const onSecond = Object.assign(Object.create(Object.getPrototypeOf(u)), u, { server: second });
    onSecond.token = second.token({ subject: u.id });
    const r = await list(onSecond, agent, made.json.profile_id);
    assert.match(r.json.detail.message, /the profile allows http:\/\/127\.0\.0\.1:1/, r.text);
    assert.equal(peer.seen.refreshes, 0);
  } finally {
    await second?.close();
    await first.close();
    peer.close();
  }
});

const neverRespond = () => true;
for (const [behaviour, options, message, ms = 5000] of [
  ['returns metadata of another resource', { resource: { resource: 'https://evil.example/mcp' } }, /another resource/],
  ['names no authorization server', { resource: { authorization_servers: [] } }, /no authorization server/],
  ['names a file as authorization server', { resource: { authorization_servers: ['file:///etc/passwd'] } }, /not usable/],
  ['has another issuer', { metadata: { issuer: 'https://evil.example' } }, /another issuer/],
  ['has an invalid token endpoint', { metadata: { token_endpoint: 'javascript:1' } }, /token endpoint/],
  ['has endless metadata', { handle: (p, q, b, res) => {
    if (!p.includes('authorization-server')) return;
    res.writeHead(200, { 'content-type': 'application/json' });
    const more = setInterval(() => { if (!res.write('x'.repeat(65536))) return; }, 1);
    res.on('close', () => clearInterval(more));
    return true;
  } }, /authorization-server could not be reached/],
  ['has metadata that is not JSON', { handle: (p, q, b, res) => (p.includes('authorization-server') ? res.end('<html>') : undefined) }, /not valid JSON/],
  ['redirects its metadata to another host', { handle: (p, q, b, res) =>
    (p.includes('authorization-server') ? res.writeHead(302, { location: 'http://localhost:1/' }).end() : undefined) }, /authorization-server/],
  ['never answers', { handle: (p) => (p === '/token' ? neverRespond() : undefined) }, /token could not be reached/, 16000],
  ['redirects the token request', { handle: (p, q, b, res) =>
    (p === '/token' ? res.writeHead(307, { location: '/elsewhere' }).end() : undefined) }, /returned no token: HTTP status 307/],
  ['returns a token of another type', { handle: (p, q, b, res) =>
    (p === '/token' ? json(res, 200, { access_token: 'x', token_type: 'DPoP' }) : undefined) }, /no usable bearer token/],
  ['returns a token with line breaks', { handle: (p, q, b, res) =>
    (p === '/token' ? json(res, 200, { access_token: 'x\r\nX-Evil: 1', token_type: 'Bearer' }) : undefined) }, /no usable bearer token/],
  ['returns an error code', { handle: (p, q, b, res) =>
    (p === '/token' ? json(res, 400, { error: 'invalid_scope', error_description: 'no such thing' }) : undefined) }, /returned no token: invalid_scope$/],
  ['rejects every token', { handle: (p, q, b, res) =>
    (p === '/mcp' ? res.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end() : undefined) }, /HTTP status 401/],
  ['keeps requiring more scope', { handle: (p, q, b, res) => (p === '/mcp' && q.headers.authorization
    ? res.writeHead(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="s${Math.random()}"` }).end() : undefined) }, /HTTP status 403/]]) {
  test(`discovery fails with a clear error if the authorization server ${behaviour}`, async () => {
    const peer = await startScriptedOAuthServer({ secret: 's', ...options });
    try {
      const { u, agent } = await newUserWithAgent();
      const profile = await profileFor(u, peer.url, { grant: 'client_credentials', client_id: 'me', client_secret: 's' });
      const began = Date.now();
      const r = await list(u, agent, profile);
      assert.equal(r.status, 502, r.text);
      assert.match(r.json.detail.message, message);
      assert.ok(Date.now() - began < ms, `it took ${Date.now() - began} ms`);
      assert.ok(peer.seen.paths.length < 40, `${peer.seen.paths.length} requests`);
    } finally {
      peer.close();
    }
  });
}

test('consent is not started if it cannot be completed', async () => {
  for (const [options, message] of [
    [{ metadata: { code_challenge_methods_supported: ['plain'] } }, /PKCE/],
    [{ metadata: { authorization_endpoint: 'javascript:alert(1)' } }, /authorization endpoint/],
    [{ metadata: { registration_endpoint: undefined } }, /client_id is required/],
    [{ handle: (p, q, b, res) => (p === '/register' ? json(res, 403, { error: 'access_denied' }) : undefined) }, /refused the registration: access_denied/]]) {
    const peer = await startScriptedOAuthServer(options);
    try {
      const { u } = await newUserWithAgent();
      const profile = await profileFor(u, peer.url);
      const r = await u.post(`/mcp/profiles/${profile}/connect`, { json: {} });
      assert.ok(r.status === 502 || r.status === 409, r.text);
      assert.match(r.json.detail, message);
    } finally {
      peer.close();
    }
  }
});

test('the members of a profile are validated', async () => {
  const { u } = await newUserWithAgent();
  for (const [body, field] of [
    [{ url: 'ftp://h' }, 'url'], [{ url: 'http://h', integration: 'x' }, 'integration'], [{ url: 7 }, 'url'],
    [{ url: 'http://h', type: 'json' }, 'type'], [{ url: 'http://h', oauth: [] }, 'oauth'],
    [{ integration: 'x', type: 'json' }, 'type'], [{ url: 'http://h', credentials: 'a' }, 'credentials'],
    [{ url: 'http://h', oauth: { grant: 'password' } }, 'oauth.grant'],
    [{ url: 'http://h', oauth: { client_id: 'a', private_key: 'no key' } }, 'oauth.private_key'],
    [{ url: 'http://h', oauth: { grant: 'client_credentials', client_id: 'a' } }, 'oauth.client_secret']]) {
    const r = await u.post('/mcp/profiles', { json: body });
    assert.equal(r.status, 400, r.text);
    assert.ok(r.json.detail.includes(field), r.text);
  }
});

test('outside local mode no address of this machine is contacted, regardless of its source', async () => {
  const peer = await startScriptedOAuthServer({ secret: 's' });
  const otherServer = await startServer({ settings: `
[mcp_prebuilt.integrations.nearby]
url = "${peer.url}"
[mcp_prebuilt.integrations.nearby.oauth]
grant = "authorization_code"
` }, ['deployment.mode=staging']);
  try {
    const { u } = await newUserWithAgent(otherServer);
    for (const url of [peer.url, 'http://169.254.169.254/mcp', 'http://[::1]/mcp']) {
      const r = await u.post('/mcp/profiles', { json: { url } });
      assert.equal(r.status, 400, r.text);
    }
    const made = await u.post('/mcp/profiles', { json: { integration: 'nearby' } });
    assert.deepEqual([made.status, made.json.connected], [201, false], made.text);
    const r = await u.post(`/mcp/profiles/${made.json.profile_id}/connect`, { json: {} });
    assert.equal(r.status, 502, r.text);
    assert.match(r.json.detail, /private or local address/);
    assert.deepEqual(peer.seen.paths, []);
  } finally {
    await otherServer.close();
    peer.close();
  }
});

test('authorization servers can read the client metadata document', async () => {
  const otherServer = await startServer({}, ['mcp_prebuilt.client_metadata_url=https://run.example.org/mcp/oauth/client']);
  try {
    const r = await fetch(`${otherServer.url}/mcp/oauth/client`);
    assert.equal(r.status, 200);
    const document = await r.json();
    assert.equal(document.client_id, 'https://run.example.org/mcp/oauth/client');
    assert.deepEqual(document.redirect_uris, [`${otherServer.url}/mcp/oauth/callback`]);
    assert.equal(document.token_endpoint_auth_method, 'none');
    assert.ok(document.grant_types.includes('refresh_token'));
    assert.equal((await fetch(`${server.url}/mcp/oauth/client`)).status, 404);  // available only with an https URL
  } finally {
    await otherServer.close();
  }
});
