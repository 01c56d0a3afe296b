// MCP servers that require OAuth: one built with the TypeScript SDK and its authorization helpers, and a scripted one
// that may misbehave. Also a simulated browser of a user who consents.
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import http from 'node:http';
import { json, respondCorrectly } from './mcp.mjs';

const listen = (app) => new Promise((resolve) => {
  const server = http.createServer(app).listen(0, '127.0.0.1', () => resolve(server));
});
const closeServer = (server) => { server.closeAllConnections(); server.close(); };

// A server of the SDK v1 with its own authorization server. Every request requires the scope tools:read; the tool
// "write" also requires tools:write. Refresh tokens are single-use. `life(n)`: lifetime in seconds of the n-th token,
// from 1.
export async function startSdk({ life = () => 3600 } = {}) {
  const express = (await import('express')).default;
  const { mcpAuthRouter, getOAuthProtectedResourceMetadataUrl } = await import('@modelcontextprotocol/sdk/server/auth/router.js');
  const { requireBearerAuth } = await import('@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js');
  const { InvalidGrantError, InvalidTokenError } = await import('@modelcontextprotocol/sdk/server/auth/errors.js');
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const { z } = await import('zod');

  const clients = new Map(), codes = new Map(), access = new Map(), refresh = new Map();
  const seen = { authorizations: [], exchanges: 0, refreshes: 0, tokens: [], registrations: [], codes: [], revoked: [] };
  const issue = (scopes, resource) => {
    const token = `at-${randomUUID()}`, refreshToken = `rt-${randomUUID()}`;
    seen.tokens.push(token, refreshToken);
    const seconds = life(seen.tokens.length / 2);
    access.set(token, { scopes, resource, until: Date.now() / 1000 + seconds });
    refresh.set(refreshToken, { scopes, resource });
    return { access_token: token, token_type: 'bearer', expires_in: seconds, refresh_token: refreshToken, scope: scopes.join(' ') };
  };
  const provider = {
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient: (c) => { clients.set(c.client_id, c); seen.registrations.push(c); return c; },
    },
    async authorize(client, params, res) {
      const code = `code-${randomUUID()}`;
      codes.set(code, params);
      seen.codes.push(code);
      seen.authorizations.push(params);
      const back = new URL(params.redirectUri);
      back.searchParams.set('code', code);
      back.searchParams.set('state', params.state);
      res.redirect(back.href);
    },
    challengeForAuthorizationCode: async (client, code) => codes.get(code)?.codeChallenge,
    async exchangeAuthorizationCode(client, code, verifier, redirectUri, resource) {
      const params = codes.get(code);
      if (!params || !codes.delete(code)) throw new InvalidGrantError('unknown code');
      if (redirectUri !== params.redirectUri || resource?.href !== params.resource?.href) throw new InvalidGrantError('redirect URI or resource does not match the authorization request');
      seen.exchanges++;
      return issue(params.scopes ?? [], resource?.href);
    },
    async exchangeRefreshToken(client, token, scopes, resource) {
      seen.refreshes++;
      const known = refresh.get(token);
      if (!known || !refresh.delete(token)) throw new InvalidGrantError('used or unknown');
      return issue(known.scopes, resource?.href);
    },
    async revokeToken(client, { token }) {
      seen.revoked.push(token);
      access.delete(token);
      refresh.delete(token);
    },
    async verifyAccessToken(token) {
      const known = access.get(token);
      if (!known || known.resource !== url.href) throw new InvalidTokenError('not issued by this server');
      return { token, clientId: 'any', scopes: known.scopes, expiresAt: Math.floor(known.until) };
    },
  };
  const app = express();
  const server = await listen(app);
  const origin = new URL(`http://127.0.0.1:${server.address().port}`);
  const url = new URL('/mcp', origin);
  const metadata = getOAuthProtectedResourceMetadataUrl(url);
  const unlimited = { rateLimit: false };
  app.use(mcpAuthRouter({ provider, issuerUrl: origin, resourceServerUrl: url, scopesSupported: ['tools:read', 'tools:write'],
    authorizationOptions: unlimited, tokenOptions: unlimited, clientRegistrationOptions: unlimited, revocationOptions: unlimited }));
  app.post('/mcp', express.json(), requireBearerAuth({ verifier: provider, requiredScopes: ['tools:read'], resourceMetadataUrl: metadata }),
    async (req, res) => {
      if (req.body.params?.name === 'write' && !req.auth.scopes.includes('tools:write')) {
        res.status(403).set('WWW-Authenticate', `Bearer error="insufficient_scope", scope="tools:write", resource_metadata="${metadata}"`).end();
        return;
      }
      const mcp = new McpServer({ name: 'protected', version: '1.0.0' });
      for (const name of ['echo', 'write']) {
        mcp.registerTool(name, { description: name, inputSchema: { message: z.string() } },
          async ({ message }) => ({ content: [{ type: 'text', text: `${name}: ${message}` }] }));
      }
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      res.on('close', () => { void transport.close(); void mcp.close(); });
      await mcp.connect(transport);
      await transport.handleRequest(req, res, req.body);
    });
  return { url: url.href, origin: origin.origin, seen,
    revoke: () => { access.clear(); }, forget: () => { access.clear(); refresh.clear(); }, close: () => closeServer(server) };
}

// A mock server with its authorization server, which grants client_credentials. It offers consent only up to the authorization
// request: /authorize is in the metadata, but `handle` must implement it. `assertions`: map of the accepted
// identity assertions to their scopes, used instead of client_credentials. `metadata` and `resource` override the
// metadata documents.
export async function startScriptedOAuthServer({ handle = () => undefined, metadata = {}, resource = {}, scope = '', publicKey, secret, assertions } = {}) {
  const seen = { paths: [], tokens: [], proofs: [] };
  const granted = new Map();
  const server = await listen((req, res) => {
    let body = '';
    req.on('data', (d) => (body += d));
    req.on('end', () => {
      const { pathname } = new URL(req.url, origin);
      seen.paths.push(pathname);
      if (handle(pathname, req, body, res) !== undefined) return;
      if (pathname === '/.well-known/oauth-protected-resource/mcp') {
        return json(res, 200, { resource: `${origin}/mcp`, authorization_servers: [origin], ...resource });
      }
      if (pathname === '/.well-known/oauth-authorization-server') {
        return json(res, 200, { issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`, code_challenge_methods_supported: ['S256'], response_types_supported: ['code'],
          token_endpoint_auth_methods_supported: [publicKey ? 'private_key_jwt' : 'client_secret_basic'], ...metadata });
      }
      if (pathname === '/register') return json(res, 201, { client_id: 'registered' });
      if (pathname === '/token') return token(req, new URLSearchParams(body), res);
      if (pathname !== '/mcp') return json(res, 404, {});
      const message = body ? JSON.parse(body) : {};
      const grantedScopes = granted.get(req.headers.authorization?.replace('Bearer ', ''));
      const required = message.params?.name === 'write' ? `${scope} more`.trim() : scope;
      const lacks = grantedScopes !== undefined && !required.split(' ').filter(Boolean).every((s) => grantedScopes.split(' ').includes(s));
      if (grantedScopes === undefined || lacks) {
        const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
          + (required ? `, scope="${required}"` : '') + (lacks ? ', error="insufficient_scope"' : '');
        res.writeHead(lacks ? 403 : 401, { 'www-authenticate': challenge }).end();
        return;
      }
      respondCorrectly(message, res, req, ['echo', 'write'].map((name) => ({ name, inputSchema: { type: 'object' } })));
    });
  });
  const origin = `http://127.0.0.1:${server.address().port}`;

  function isAuthenticated(req, form) {
    if (!publicKey) return req.headers.authorization === `Basic ${Buffer.from(`me:${encodeURIComponent(secret)}`).toString('base64')}`;
    const [head, claims, signature] = form.get('client_assertion').split('.');
    const key = { key: createPublicKey(publicKey), dsaEncoding: 'ieee-p1363' };
    const assertion = JSON.parse(Buffer.from(claims, 'base64url'));
    seen.proofs.push(assertion);
    return verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))
      && assertion.iss === 'me' && assertion.aud === origin && assertion.exp > Date.now() / 1000;
  }
  function token(req, form, res) {
    const grant = assertions ? 'urn:ietf:params:oauth:grant-type:jwt-bearer' : 'client_credentials';
    if (form.get('grant_type') !== grant || !isAuthenticated(req, form)) return json(res, 401, { error: 'invalid_client' });
    const allowed = assertions ? assertions.get(form.get('assertion')) : form.get('scope') ?? '';
    if (allowed === undefined) return json(res, 400, { error: 'invalid_grant' });
    const issued = `cc-${randomUUID()}`;
    seen.tokens.push(issued);
    granted.set(issued, allowed);
    json(res, 200, { access_token: issued, token_type: 'Bearer', expires_in: 3600, scope: allowed });
  }
  return { url: `${origin}/mcp`, origin, seen, revoke: () => granted.clear(), close: () => closeServer(server) };
}

// An identity provider that exchanges the token that subject() returns for an assertion, and adds it to `assertions`.
export async function startIdentityProvider({ assertions, subject, audience, answer = {} }) {
  const seen = { exchanges: [] };
  const server = await listen((req, res) => {
    let body = '';
    req.on('data', (d) => (body += d));
    req.on('end', () => {
      const { pathname } = new URL(req.url, origin);
      if (pathname === '/.well-known/openid-configuration') {
        return json(res, 200, { issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/exchange` });
      }
      if (pathname !== '/exchange') return json(res, 404, {});
      const form = Object.fromEntries(new URLSearchParams(body));
      seen.exchanges.push(form);
      if (req.headers.authorization !== `Basic ${Buffer.from('runyard:idp-secret').toString('base64')}`) return json(res, 401, { error: 'invalid_client' });
      if (form.subject_token !== subject() || form.audience !== audience) return json(res, 400, { error: 'invalid_grant', error_description: 'policy' });
      const issued = `jag-${randomUUID()}`;
      assertions.set(issued, form.scope ?? '');
      json(res, 200, { issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag', access_token: issued, token_type: 'N_A', expires_in: 300, ...answer });
    });
  });
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, seen, close: () => closeServer(server) };
}

// Simulates the browser of a user who confirms everything. Cookies are stored by host.
export class UserBrowser {
  #cookies = new Map();
  cookies(url) { return [...(this.#cookies.get(new URL(url).host) ?? new Map())].map(([name, value]) => `${name}=${value}`); }
  async request(url, options = {}) {
    const cookie = this.cookies(url).join('; ');
    const r = await fetch(url, { redirect: 'manual', ...options, headers: { ...options.headers, ...(cookie && { cookie }) } });
    const { host } = new URL(url);
    for (const line of r.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (!this.#cookies.has(host)) this.#cookies.set(host, new Map());
      if (/max-age=0(;|$)/i.test(line)) this.#cookies.get(host).delete(name);
      else this.#cookies.get(host).set(name, value);
    }
    return { url, status: r.status, headers: r.headers, text: await r.text() };
  }
  // Follows redirects and submits the form of the confirmation page until `end(url)`. Returns the last response and its
  // URL.
  async browse(url, end = () => false) {
    let method = 'GET';
    for (let hops = 0; ; hops++) {
      if (end(url)) return { url };
      const r = await this.request(url, { method });
      const form = /<form method="post" action="([^"]+)"/.exec(r.text)?.[1].replaceAll('&amp;', '&');
      const redirect = r.status >= 300 && r.status <= 399;
      if ((!form && !redirect) || hops > 8) return r;
      method = redirect ? 'GET' : 'POST';
      url = new URL(redirect ? r.headers.get('location') : form, url).href;
    }
  }
}
export const browse = (url) => new UserBrowser().browse(url);
// The URL of the authorization request to which a link leads.
export async function authorizationOf(url, browser = new UserBrowser()) {
  return (await browser.browse(url, (at) => new URL(at).searchParams.has('code_challenge'))).url;
}
// The URL to which the authorization server redirects the browser with its response.
export async function answerOf(url, browser = new UserBrowser()) {
  const r = await browser.request(await authorizationOf(url, browser));
  return new URL(r.headers.get('location'), r.url);
}
export const challengeOf = (verifier) => createHash('sha256').update(verifier).digest('base64url');
