// Deviations of real authorization servers: unusual statuses, HTML pages instead of metadata, lost client registrations
// and refresh tokens, `resource` rejected together with `scope`, or no metadata at all.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { respondCorrectly, json } from './lib/mcp.mjs';
import { browse } from './lib/oauth.mjs';
import { Server, freePort, makeDatabase, waitFor } from './lib/server.mjs';

let database, server;
before(async () => {
  database = makeDatabase();
  const port = await freePort();
  server = await new Server({ database, set: [`http.listen=127.0.0.1:${port}`, `http.public_url=http://127.0.0.1:${port}`] }).start();
});
after(async () => {
  await server?.close();
  database?.drop();
});

const htmlPage = (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><div id="root"></div>');
// An MCP server that is its own authorization server. `overrides["/path"](form, res, site)` may answer instead, or
// return undefined for the correct answer. named: its 401 response contains the URL of its resource metadata.
async function startSite(overrides = {}, { named = true } = {}) {
  const site = { clients: new Set(), validTokens: new Set(), paths: [], tokens: 0 };
  const s = http.createServer((req, res) => {
    let body = '';
    req.on('data', (d) => (body += d));
    req.on('end', () => {
      const url = new URL(req.url, site.origin), q = Object.fromEntries(url.searchParams);
      const form = Object.fromEntries(new URLSearchParams(body));
      site.paths.push(url.pathname + (form.grant_type ? ` ${form.grant_type}` : ''));
      for (const key of [`${url.pathname} ${form.grant_type}`, url.pathname]) if (overrides[key]?.(form, res, site) !== undefined) return;
      if (url.pathname === '/.well-known/oauth-protected-resource/mcp') return json(res, 200, { resource: `${site.origin}/mcp`, authorization_servers: [site.origin] });
      if (url.pathname === '/.well-known/oauth-authorization-server') return json(res, 200, site.metadata());
      if (url.pathname === '/register') {
        site.clients.add(`c${site.clients.size + 1}`);
        return json(res, 201, { client_id: [...site.clients].at(-1), token_endpoint_auth_method: 'none' });
      }
      if (url.pathname === '/authorize') {
        if (!site.clients.has(q.client_id)) return json(res, 400, { error: 'invalid_client' });
        const back = new URL(q.redirect_uri);
        back.searchParams.set('code', 'code');
        back.searchParams.set('state', q.state);
        return res.writeHead(302, { location: back.href }).end();
      }
      if (url.pathname === '/token') return site.clients.has(form.client_id) ? json(res, 200, site.token()) : json(res, 401, { error: 'invalid_client' });
      if (url.pathname !== '/mcp') return json(res, 404, {});
      if (site.validTokens.has(req.headers.authorization)) return respondCorrectly(body ? JSON.parse(body) : {}, res, req, [{ name: 'echo', inputSchema: { type: 'object' } }]);
      res.writeHead(401, { 'www-authenticate': named ? `Bearer resource_metadata="${site.origin}/.well-known/oauth-protected-resource/mcp"` : 'Bearer' }).end();
    });
  });
  await new Promise((resolve) => s.listen(0, '127.0.0.1', resolve));
  site.origin = `http://127.0.0.1:${s.address().port}`;
  site.token = () => {
    site.validTokens.add(`Bearer t${++site.tokens}`);
    return { access_token: `t${site.tokens}`, token_type: 'bearer', expires_in: 3600, refresh_token: 'again' };
  };
  site.metadata = () => ({ issuer: site.origin, authorization_endpoint: `${site.origin}/authorize`, token_endpoint: `${site.origin}/token`,
    registration_endpoint: `${site.origin}/register`, code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'] });
  site.close = () => { s.closeAllConnections(); s.close(); };
  return site;
}
async function profileFor(site) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const made = await u.post('/mcp/profiles', { json: { url: `${site.origin}/mcp`, display_name: 'Mine' } });
  const id = made.json.profile_id;
  return {
    tools: () => u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': id, 'x-mcp-type': 'prebuilt', 'cache-control': 'no-cache' } }),
    consent: async () => {
      const link = await u.post(`/mcp/profiles/${id}/connect`, { json: {} });
      return link.status === 200 ? browse(link.json.connect_url) : link;
    },
  };
}

for (const [description, overrides, options] of [
  ['whose token endpoint responds with 201', { '/token': (f, res, site) => json(res, 201, site.token()) }],
  ['whose resource metadata is an HTML page at the first well-known URL', {
    '/.well-known/oauth-protected-resource/mcp': (f, res) => htmlPage(res),
    '/.well-known/oauth-protected-resource': (f, res, site) => json(res, 200, { resource: `${site.origin}/mcp`, authorization_servers: [site.origin] }),
  }, { named: false }],
  ['whose resource metadata URLs all return HTML pages', {
    '/.well-known/oauth-protected-resource/mcp': (f, res) => htmlPage(res), '/.well-known/oauth-protected-resource': (f, res) => htmlPage(res),
  }, { named: false }],
  ['whose server metadata is an HTML page at the first well-known URL', {
    '/.well-known/oauth-authorization-server': (f, res) => htmlPage(res),
    '/.well-known/openid-configuration': (f, res, site) => json(res, 200, site.metadata()),
  }],
  ['whose first metadata URL fails', {
    '/.well-known/oauth-authorization-server': (f, res) => res.writeHead(500).end(),
    '/.well-known/openid-configuration': (f, res, site) => json(res, 200, site.metadata()),
  }],
  ['without any metadata', {
    '/.well-known/oauth-protected-resource/mcp': (f, res) => json(res, 404, {}), '/.well-known/oauth-authorization-server': (f, res) => htmlPage(res),
  }, { named: false }],
  ['that rejects requests with both resource and scope', { '/token': (f, res) => (f.resource ? json(res, 400, { error: 'invalid_target' }) : undefined) }],
])
  test(`a user can consent at an authorization server ${description}`, async () => {
    const site = await startSite(overrides, options);
    try {
      const p = await profileFor(site);
      const done = await p.consent();
      assert.equal(done.status, 200, done.text);
      const listed = await p.tools();
      assert.equal(listed.status, 200, listed.text);
    } finally {
      site.close();
    }
  });

test('an error in a response with status 200 is reported by its code, and its description is logged', async () => {
  const site = await startSite({ '/token': (f, res) => json(res, 200, { error: 'bad_verification_code', error_description: 'It has expired.' }) });
  try {
    const done = await (await profileFor(site)).consent();
    assert.equal(done.status, 400, done.text);
    assert.match(done.text, /returned no token: bad_verification_code</);
    assert.doesNotMatch(done.text, /expired/);
    await waitFor('the error description in the log', () => server.log.split('\n').some((line) => line.includes(done.headers.get('x-request-id')) && line.includes('It has expired.')));
  } finally {
    site.close();
  }
});

for (const [status, body] of [[401, { error: 'invalid_client' }], [400, { error: 'unauthorized_client' }], [200, { error: 'invalid_client' }]])
  test(`an unknown client (${status} ${body.error}) is registered again with the next consent`, async () => {
    const site = await startSite({ '/token refresh_token': (f, res) => json(res, status, body) });
    try {
      const p = await profileFor(site);
      assert.equal((await p.consent()).status, 200);
      assert.equal((await p.tools()).status, 200);
      site.clients.clear();
      site.validTokens.clear();
      assert.match((await p.tools()).text, /requires the user's consent/);
      const done = await p.consent();
      assert.equal(done.status, 200, done.text);
      assert.equal((await p.tools()).status, 200);
      assert.equal(site.paths.filter((path) => path === '/register').length, 2);
    } finally {
      site.close();
    }
  });

test('a client deleted without an error response is registered again after an unfinished consent', async () => {
  const site = await startSite({ '/token': (f, res, s) => json(res, 200, { ...s.token(), refresh_token: undefined }) });
  try {
    const p = await profileFor(site);
    assert.equal((await p.consent()).status, 200);
    site.clients.clear();
    site.clients.add('another');  // client ids are not reused
    site.validTokens.clear();
    assert.match((await p.tools()).text, /requires the user's consent/);
    assert.equal((await p.consent()).status, 400, 'the error page of the authorization server');
    assert.equal((await p.consent()).status, 200);
    assert.equal((await p.tools()).status, 200);
  } finally {
    site.close();
  }
});

for (const error of ['invalid_request', 'invalid_grant', 'invalid_scope', 'bad_refresh_token'])
  test(`a refresh token that is rejected with ${error} is not retried, and consent is required`, async () => {
    const site = await startSite({ '/token refresh_token': (f, res) => json(res, 400, { error }) });
    try {
      const p = await profileFor(site);
      assert.equal((await p.consent()).status, 200);
      site.validTokens.clear();
      for (let i = 0; i < 2; i++) assert.match((await p.tools()).text, /requires the user's consent/);
      assert.equal(site.paths.filter((path) => path === '/token refresh_token').length, 1);
    } finally {
      site.close();
    }
  });

test('a refresh token is kept while the authorization server is temporarily unavailable', async () => {
  let unavailable = true;
  const site = await startSite({ '/token refresh_token': (f, res) => (unavailable ? json(res, 400, { error: 'temporarily_unavailable' }) : undefined) });
  try {
    const p = await profileFor(site);
    assert.equal((await p.consent()).status, 200);
    site.validTokens.clear();
    assert.equal((await p.tools()).status, 502);
    unavailable = false;
    assert.equal((await p.tools()).status, 200);
  } finally {
    site.close();
  }
});
