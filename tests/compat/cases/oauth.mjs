// Authorization servers of MCP servers that deviate from the specifications, and failures after which the user has to
// consent again.
import { json, page } from '../lib/answers.mjs';
import { endpoints } from '../lib/site.mjs';

const mcp = { tools: [{ name: 'echo', inputSchema: { type: 'object', properties: {} } }] };
const consented = [{ profile: {} }, { consent: {} }, { tools: {} }];
const listed = { replies: { consent: [{ status: 200 }], tools: [{ status: 200, text: '/echo/' }] } };
const html = () => page('<!doctype html><div id="root"></div>');
const resource = (form, origin) => json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
const metadata = (form, origin) => json(endpoints(origin));
const token = (more, status = 200) => () => json({ access_token: 'a', token_type: 'bearer', expires_in: 3600, ...more },
  { status });
const refused = (error, status = 400) => () => json({ error }, { status });
const wellKnown = 'GET /.well-known/';
const site = (id, title, overrides, more = {}) => ({ id, title, mcp, site: overrides, steps: consented, expect: listed,
  ...more });
// A refresh is rejected; the tools require the consent of the user again.
const expired = (id, title, answer) => site(id, title, { 'POST /token refresh_token': answer },
  { steps: [...consented, { revokeTokens: {} }, { tools: {} }, { tools: {} }],
    expect: { replies: { tools: [{ status: 200 }, {}, { text: '/consent/' }] } } });
// The authorization server has lost its clients; a new consent registers again.
const forgotten = (id, title, answer) => site(id, title, { 'POST /token refresh_token': answer },
  { steps: [...consented, { forgetClients: {} }, { revokeTokens: {} }, { tools: {} }, { consent: {} }, { tools: {} }],
    expect: { replies: { consent: [{ status: 200 }, { status: 200 }],
      tools: [{ status: 200 }, {}, { status: 200, text: '/echo/' }] }, registrations: 2 } });

export default [
  site('c27a', 'a token response with status 201 is accepted', { 'POST /token': token({}, 201) }),
  site('c27a-case', 'a token response with an upper-case token type and without expires_in is accepted',
    { 'POST /token': token({ token_type: 'BEARER', expires_in: undefined }, 201) }),
  site('c27b', 'an error with status 200 of a token endpoint is reported',
    { 'POST /token': () => json({ error: 'bad_verification_code',
      error_description: 'The code passed is incorrect or expired.' }) },
    { steps: [{ profile: {} }, { consent: {} }],
      expect: { $oneof: [{ replies: { consent: [{ text: '/bad_verification_code|incorrect or expired/' }] } },
        { log: '/bad_verification_code/' }] } }),
  site('c27b-page', 'a web page from a token endpoint is not accepted as a token', { 'POST /token': html },
    { steps: [{ profile: {} }, { consent: {} }], expect: { replies: { consent: [{ status: { $not: 200 } }] } } }),
  site('c27d', 'control: expires_in as a string, and a token that is renewed after its rejection',
    { 'POST /token authorization_code': token({ expires_in: '3600', refresh_token: 'r' }) },
    { steps: [...consented, { revokeTokens: {} }, { tools: {} }],
      expect: { replies: { consent: [{ status: 200 }], tools: [{ status: 200 }, { status: 200 }] } } }),
  site('c27k', 'control: a server that conforms to the specifications', {}),

  site('c28a', 'a web page instead of the resource metadata: the next well-known URL is tried',
    { [`${wellKnown}oauth-protected-resource/mcp`]: html, [`${wellKnown}oauth-protected-resource`]: resource },
    { resourceMetadata: false }),
  site('c28b', 'a web page instead of the authorization server metadata: the next well-known URL is tried',
    { [`${wellKnown}oauth-authorization-server`]: html, [`${wellKnown}openid-configuration`]: metadata }),
  site('c28b-redirect', 'a redirect to a login page instead of the metadata: the next well-known URL is tried',
    { [`${wellKnown}oauth-authorization-server`]: () => ({ status: 302, headers: { location: '/login' }, body: '' }),
      [`${wellKnown}openid-configuration`]: metadata }),
  site('c28c', 'web pages at all URLs of the resource metadata: the server is its own authorization server',
    { [`${wellKnown}oauth-protected-resource/mcp`]: html, [`${wellKnown}oauth-protected-resource`]: html },
    { resourceMetadata: false }),
  site('c28c-none', 'no metadata at all: the default endpoints of revision 2025-03-26 are used',
    Object.fromEntries(['oauth-protected-resource/mcp', 'oauth-protected-resource', 'oauth-authorization-server',
      'openid-configuration'].map((p) => [`${wellKnown}${p}`, () => json({}, { status: 404 })])),
    { resourceMetadata: false }),

  forgotten('c29a', 'a client that the authorization server has forgotten is registered again',
    refused('invalid_client', 401)),
  forgotten('c29b', 'a client that is rejected with unauthorized_client is registered again',
    refused('unauthorized_client')),
  forgotten('c29b-status', 'a client that is rejected with invalid_client and status 400 is registered again',
    refused('invalid_client')),
  site('c30a', 'a token request that is rejected because of its parameter resource is repeated without it',
    { 'POST /token': (form) => (form.resource ? json({ error: 'invalid_target', error_description:
      'AADSTS9010010: The resource parameter does not match the requested scopes.' }, { status: 400 }) : undefined) },
    { decision: 'RFC 8707 and the MCP authorization specification require the parameter; a token request that '
      + 'is refused with invalid_target is repeated once without it.' }),

  expired('c71a', 'a refresh token that is rejected with invalid_request requires a new consent',
    () => json({ error: 'invalid_request', error_description: 'Unknown refresh token' }, { status: 400 })),
  expired('c71a-status', 'a refresh token that is rejected with 401 and invalid_token requires a new consent',
    refused('invalid_token', 401)),
  expired('c71k', 'control: a refresh token that is rejected with invalid_grant requires a new consent',
    refused('invalid_grant')),
  site('c72a', 'metadata of another issuer is rejected, with both names in the message', {},
    { metadata: { issuer: 'https://auth.example.com' }, steps: [{ profile: {} }, { consent: {} }],
      expect: { replies: { connect: [{ text: '/127\\.0\\.0\\.1.*auth\\.example\\.com/' }], consent: '$absent' } } }),
];
