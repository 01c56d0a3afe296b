// A hostile web page in the browser of a user who can reach the server: with DNS rebinding it is same-origin with the
// server, otherwise the browser still sends simple requests. Neither may change or read anything.
import assert from 'node:assert/strict';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { Server, makeDatabase } from './lib/server.mjs';
import { ask } from './lib/wire.mjs';

const code = 'ABCD-EFGH-JKLM-NPQR';
const login = `
[accounts]
local_login = true
[accounts.login]
verify = "none"
setup_code = "${code}"
`;
let database, server, user;

setUp(async () => {
  database = makeDatabase();
  server = await new Server({ database, settings: login, set: ['http.cors.origins=["https://app.example.org"]', 'http.allowed_hosts=["box.lan"]'] }).start();
  user = await server.user();
});
tearDown(async () => {
  await server?.close();
  database?.drop();
});

const port = () => new URL(server.url).port;
const json = { 'content-type': 'application/json' };
const signUp = (email, more = {}, headers = {}) => ask(server.url, 'POST', '/auth/sign-up', {
  headers: { ...json, ...headers }, body: JSON.stringify({ email, password: 'correct horse battery', ...more }) });

attack('requests with a foreign Host are rejected on every route', ['foreign_requests'], async () => {
  for (const host of ['evil.example', `evil.example:${port()}`, 'localhost.evil.example', `127.0.0.1.evil.example:${port()}`, '2130706433', '0x7f000001', '127.1']) {
    for (const [method, target] of [['GET', '/auth/config'], ['POST', '/auth/sign-up'], ['GET', '/console'], ['GET', '/openapi.json'], ['GET', '/metrics'], ['GET', '/account'], ['PUT', '/agents/x'], ['DELETE', '/threads/x']]) {
      const r = await ask(server.url, method, target, { headers: { host, ...json, authorization: `Bearer ${user.token}` }, body: method === 'GET' ? undefined : '{}' });
      assert.equal(r.status, 403, `${method} ${target} as ${host}: ${r.head}`);
      assert.equal(r.json.detail.error_code, 'HOST_NOT_ALLOWED');
      assert.equal(r.header('access-control-allow-origin'), undefined);
    }
  }
  const absolute = await ask(server.url, 'GET', `http://evil.example/auth/config`);
  assert.equal(absolute.status, 403);
});

regular('requests to its own names, to addresses and to names allowed by the operator are served', async () => {
  for (const host of [`127.0.0.1:${port()}`, '127.0.0.1', `localhost:${port()}`, 'LOCALHOST', `[::1]:${port()}`, `box.lan:${port()}`, '192.168.1.20'])
    assert.equal((await ask(server.url, 'GET', '/auth/config', { headers: { host } })).status, 200, host);
});

attack('pages of foreign origins cannot change anything; the own origin, allowed origins and no origin can', ['foreign_requests'], async () => {
  const make = (headers) => ask(server.url, 'POST', '/agents', { headers: { ...json, authorization: `Bearer ${user.token}`, ...headers }, body: '{"name":"x"}' });
  for (const origin of ['http://evil.example', 'null', `http://localhost:${port()}`, 'http://127.0.0.1:1', 'https://app.example.org.evil.example', 'file://']) {
    const r = await make({ origin });
    assert.equal(r.status, 403, origin);
    assert.equal(r.json.detail.error_code, 'ORIGIN_NOT_ALLOWED');
  }
  for (const headers of [{}, { origin: `http://127.0.0.1:${port()}` }, { origin: 'https://app.example.org' }, { origin: 'null', 'sec-fetch-site': 'same-origin' }])
    assert.ok((await make(headers)).status < 300, JSON.stringify(headers));
  // A form of a foreign page, which a browser sends without a preflight request.
  const form = await ask(server.url, 'POST', '/auth/log-out', { headers: { origin: 'http://evil.example', 'content-type': 'text/plain' }, body: '{}' });
  assert.equal(form.status, 403);
});

attack('the first account needs the setup code and becomes administrator; later accounts need no code', ['setup_code'], async () => {
  assert.equal((await ask(server.url, 'GET', '/auth/config')).json.setup, true);
  for (const [more, error] of [[{}, 'SETUP_CODE_REQUIRED'], [{ setup_code: '' }, 'SETUP_CODE_REQUIRED'], [{ setup_code: code.toLowerCase() }, 'SETUP_CODE_WRONG'], [{ setup_code: `${code}X` }, 'SETUP_CODE_WRONG']]) {
    const r = await signUp('eve@example.org', more);
    assert.equal(r.status, 403, r.text);
    assert.equal(r.json.detail.error_code, error);
  }
  // Of two concurrent sign-ups with the code, one becomes administrator.
  const both = await Promise.all(['ann@example.org', 'amy@example.org'].map((e) => signUp(e, { setup_code: code })));
  assert.deepEqual(both.map((r) => r.status), [201, 201]);
  const roles = await Promise.all(both.map(async (r) => (await ask(server.url, 'GET', '/account', { headers: { authorization: `Bearer ${r.json.access_token}` } })).json.role));
  assert.deepEqual(roles.sort(), ['super_admin', 'user']);
  assert.equal((await ask(server.url, 'GET', '/auth/config')).json.setup, undefined);
  const later = await signUp('bob@example.org', { setup_code: code });
  assert.equal(later.status, 201);
  const role = (await ask(server.url, 'GET', '/account', { headers: { authorization: `Bearer ${later.json.access_token}` } })).json.role;
  assert.equal(role, 'user', 'the code works once');
});

attack('in production with a public URL, clients must use its name; monitoring and trusted proxies may use any', ['foreign_requests'], async () => {
  const set = ['deployment.mode=production', 'http.public_url=https://runs.example.org', 'accounts.local_login=false'];
  const direct = await new Server({ database, set }).start();
  const proxied = await new Server({ database, set: [...set, 'http.trusted_proxies=["127.0.0.0/8"]'] }).start();
  const get = (s, host, target = '/auth/config') => ask(s.url, 'GET', target, { headers: { host } });
  try {
    assert.equal((await get(direct, 'runs.example.org')).status, 200);
    assert.equal((await get(direct, 'evil.example')).status, 403);
    assert.equal((await get(direct, 'runyard-internal:8080', '/healthz')).status, 200);
    assert.equal((await get(direct, 'runyard-internal:8080', '/metrics')).status, 200);
    assert.equal((await get(proxied, 'upstream')).status, 200);
    const token = proxied.token({});
    const made = (origin) => ask(proxied.url, 'POST', '/agents', { headers: { host: 'upstream', origin, authorization: `Bearer ${token}`, ...json }, body: '{"name":"x"}' });
    assert.ok((await made('https://runs.example.org')).status < 300);
    assert.equal((await made('https://evil.example')).status, 403);
  } finally {
    await direct.close();
    await proxied.close();
  }
});
