// MCP servers of the cases: a plain one, and one behind OAuth whose authorization server has the same origin.
import http from 'node:http';
import { respondCorrectly, json, result, startScriptedServer } from '../../e2e/lib/mcp.mjs';

// `answer(message, req, state)` of a case's `mcp` may return { status, headers, body } as the response; "$id" in the
// body is replaced with the id of the last request. Otherwise the response comes from `results` or from a correct
// server.
function respond(mcp, state, message, req, res) {
  if (message.id !== undefined) state.id = message.id;
  const override = mcp.answer?.(message, req, state);
  if (override) {
    res.writeHead(override.status ?? 200, { 'content-type': 'text/event-stream', ...override.headers });
    res.end(override.body.replaceAll('"$id"', JSON.stringify(state.id)));
    return true;
  }
  if (message.method !== 'tools/call' || !mcp.results?.[message.params.name]) return undefined;
  return result(res, message, mcp.results[message.params.name]);
}

export async function startMcp(mcp) {
  const state = { count: 0 };
  const peer = await startScriptedServer((message, res, req) => respond(mcp, state, message, req, res),
    { tools: mcp.tools ?? [] });
  return { ...peer, messages: peer.seen };
}

// `site` overrides responses: the key is "METHOD /path" or, for the token endpoint, "POST /token GRANT_TYPE"; the value
// is (form, origin) => { status, headers, body }, or undefined for the specified response.
export async function startSite({ site = {}, metadata = {}, resourceMetadata = true, mcp }) {
  const requests = [], clients = new Set(), accepted = new Set(), revoked = new Set(), state = { count: 0 };
  let origin, registrations = 0, tokens = 0;
  const server = http.createServer((req, res) => {
    let body = '';
    req.on('data', (d) => (body += d));
    req.on('end', () => {
      const url = new URL(req.url, origin), key = `${req.method} ${url.pathname}`;
      const isJson = /json/.test(req.headers['content-type'] ?? '');
      const form = isJson || !body ? {} : Object.fromEntries(new URLSearchParams(body));
      requests.push({ path: url.pathname, form });
      const override = (site[`${key} ${form.grant_type}`] ?? site[key])?.(form, origin);
      if (override) {
        res.writeHead(override.status ?? 200, override.headers);
        res.end(override.body);
        return;
      }
      serve(key, url, form, req, res, isJson && body ? JSON.parse(body) : {});
    });
  });
  function serve(key, url, form, req, res, message) {
    switch (key) {
      case 'GET /.well-known/oauth-protected-resource/mcp':
        json(res, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
        return;
      case 'GET /.well-known/oauth-authorization-server':
        json(res, 200, { ...endpoints(origin), token_endpoint_auth_methods_supported: ['none'], ...metadata });
        return;
      case 'POST /register': {
        const client_id = `client-${++registrations}`;
        clients.add(client_id);
        json(res, 201, { client_id, token_endpoint_auth_method: 'none' });
        return;
      }
      case 'GET /authorize': {
        if (!clients.has(url.searchParams.get('client_id'))) { json(res, 400, { error: 'invalid_client' }); return; }
        const back = new URL(url.searchParams.get('redirect_uri'));
        back.searchParams.set('code', 'a-code');
        back.searchParams.set('state', url.searchParams.get('state'));
        res.writeHead(302, { location: back.href }).end();
        return;
      }
      case 'POST /token':
        if (!clients.has(form.client_id)) { json(res, 401, { error: 'invalid_client' }); return; }
        json(res, 200, { access_token: `token-${++tokens}`, token_type: 'bearer', expires_in: 3600,
          refresh_token: 'refresh' });
        return;
    }
    if (url.pathname !== '/mcp') { json(res, 404, {}); return; }
    const bearer = req.headers.authorization;
    if (!bearer || revoked.has(bearer)) {
      const where = resourceMetadata ? ` resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` : '';
      json(res, 401, {}, { 'www-authenticate': `Bearer${where}` });
      return;
    }
    accepted.add(bearer);
    if (respond(mcp, state, message, req, res) === undefined) respondCorrectly(message, res, req, mcp.tools ?? []);
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  return { url: `${origin}/mcp`, requests, messages: [],
    revokeTokens: () => { for (const token of accepted) revoked.add(token); }, forgetClients: () => clients.clear(),
    close: () => { server.closeAllConnections(); server.close(); } };
}

// The metadata of an authorization server, without the optional members.
export const endpoints = (origin) => ({ issuer: origin, authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`, registration_endpoint: `${origin}/register`,
  code_challenge_methods_supported: ['S256'], response_types_supported: ['code'] });
