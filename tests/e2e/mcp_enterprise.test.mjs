// Enterprise-managed authorization: the identity provider of a user's organization authorizes the access, so the user
// gives no consent.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, run } from './lib/mcp.mjs';
import { startScriptedOAuthServer, startIdentityProvider } from './lib/oauth.mjs';
import { Server, makeDatabase } from './lib/server.mjs';

let database, llm, server, peer, idp, subject = 'identity-of-the-user';
const assertions = new Map();
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  peer = await startScriptedOAuthServer({ scope: 'base', secret: 's', assertions });
  idp = await startIdentityProvider({ assertions, subject: () => subject, audience: peer.origin });
  server = await new Server({ database, llm, set: [`secrets.key=${'0123456789abcdef'.repeat(4)}`], settings: `
[mcp_prebuilt.integrations.company]
url = "${peer.url}"
[mcp_prebuilt.integrations.company.oauth]
grant = "id_jag"
client_id = "me"
client_secret = "s"
issuer = "${peer.origin}"
idp_issuer = "${idp.origin}"
idp_client_id = "runyard"
idp_client_secret = "idp-secret"
` }).start();
});
after(async () => {
  await server?.close();
  peer?.close();
  idp?.close();
  await llm?.close();
  database?.drop();
});

async function agentWith(body) {
  const u = await server.user({ tier: 'pro' });
  const made = await u.post('/mcp/profiles', { json: body });
  assert.equal(made.status, 201, made.text);
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
    { name: 'managed', type: 'prebuilt', config: { profile_id: made.json.profile_id }, enabledTools: ['echo', 'write'] }] } });
  assert.equal(put.status, 200, put.text);
  return u;
}
const profileWith = (more = {}) => ({ url: peer.url, oauth: { grant: 'id_jag', client_id: 'me', client_secret: 's', issuer: peer.origin,
  idp_issuer: idp.origin, idp_client_id: 'runyard', idp_client_secret: 'idp-secret', subject_token: subject, ...more } });

test('the identity token of a user is exchanged for an assertion, and the assertion for an access token', async () => {
  const u = await agentWith(profileWith());
  assert.match(await run(u, '[call managed__echo {}]'), /called echo/);
  assert.deepEqual(idp.seen.exchanges.at(-1), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    audience: peer.origin, resource: peer.url, scope: 'base', subject_token: subject,
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' });
  assert.match(await run(u, '[call managed__write {}]'), /called write/);
  assert.equal(idp.seen.exchanges.at(-1).scope, 'base more');
  peer.revoke();
  assert.match(await run(u, '[call managed__echo {}]'), /called echo/);
  for (const secret of [subject, 'idp-secret', ...assertions.keys(), ...peer.seen.tokens]) assert.ok(!server.log.includes(secret));
});

test('for an integration the operator configures the client and each account supplies its identity', async () => {
  const u = await agentWith({ integration: 'company', credentials: { subject_token: subject } });
  assert.match(await run(u, '[call managed__echo {}]'), /called echo/);
  const withoutIdentity = await u.post('/mcp/profiles', { json: { integration: 'company' } });
  assert.equal(withoutIdentity.status, 400);
  assert.match(withoutIdentity.json.detail, /credentials\.subject_token is required/);
});

test('a rejected identity is reported, and the authorization server of the MCP server is not contacted', async () => {
  const u = await agentWith(profileWith({ subject_token: 'expired', subject_token_type: 'saml2' }));
  const tokens = peer.seen.tokens.length;
  assert.match(await run(u, '[call managed__echo {}]'), /does not accept the profile's subject_token for this server/);
  assert.equal(idp.seen.exchanges.at(-1).subject_token_type, 'urn:ietf:params:oauth:token-type:saml2');
  assert.equal(peer.seen.tokens.length, tokens);
});

test('the members of a profile are validated', async () => {
  const u = await server.user({ tier: 'pro' });
  for (const [more, field] of [[{ idp_issuer: '' }, 'oauth.idp_issuer'], [{ idp_client_id: '' }, 'oauth.idp_client_id'],
    [{ client_id: '', client_secret: '' }, 'oauth.client_id'], [{ subject_token: '' }, 'oauth.subject_token'],
    [{ subject_token_type: 'password' }, 'oauth.subject_token_type'], [{ grant: 'authorization_code' }, 'oauth.idp_issuer']]) {
    const r = await u.post('/mcp/profiles', { json: profileWith(more) });
    assert.equal(r.status, 400, r.text);
    assert.ok(r.json.detail.includes(field), r.text);
  }
});
