// Tokens of identity providers: algorithms, key sets, roles, several issuers, sizes, and the log lines about rejected
// ones.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { certificateOf, makeKey, signToken, startKeySet } from './lib/tokens.mjs';

const secret = 'a shared secret of thirty-two bytes or more', partnerSecret = 'the secret of the partner, long enough';
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed448'];
const keys = Object.fromEntries(algorithms.map((a) => [a, makeKey(a)]));
const other = makeKey('ES256'), main = 'https://id.example.org/', partner = 'https://partner.example.org/', shared = 'https://shared.example.org/';
let db, server, provider, partnerProvider;

const jwk = (alg, more = {}) => ({ ...keys[alg].jwk, kid: alg, use: 'sig', alg: alg === 'Ed448' ? 'EdDSA' : alg, ...more });
const token = (claims, alg = 'ES256', header = {}) =>
  signToken(alg, keys[alg].private, { iss: main, aud: 'runyard', sub: randomUUID(), ...claims }, { kid: alg, ...header });
const clientWith = (text) => new Client(server, text);
const status = async (text, path = '/account') => (await clientWith(text).get(path)).status;

before(async () => {
  provider = await startKeySet({ keys: algorithms.map((a) => jwk(a)) });
  partnerProvider = await startKeySet({ keys: [{ ...other.jwk, kid: 'p1' }] });
  db = makeDatabase();
  server = await new Server({ database: db, settings: `
[auth.jwt]
hs256_secret = "${secret}"
jwks_url = "${provider.url}"
issuer = "${main}"
audience = ["runyard", "client-1"]
role_claims = ["role", "roles", "app_metadata.role", "realm_access.roles", "resource_access.my.client.roles", "https://runs.example.org/roles", "urn:zitadel:iam:org:project:roles", "admin"]
admin_roles = ["admin", "App.Admin", "true"]
super_admin_roles = ["owner"]
[auth.issuers.partner]
issuer = "${partner}"
jwks_url = "${partnerProvider.url}"
admin_roles = ["partner-admin"]
leeway_seconds = 0
[auth.issuers.shared]
issuer = "${shared}"
hs256_secret = "${partnerSecret}"
` }).start({ timeout: 90000 });
});
after(async () => {
  await server?.close();
  await provider?.close();
  await partnerProvider?.close();
  db?.drop();
});

// This test runs first, before the rate limit of these log lines is used up.
test('rejected tokens are logged with the reason, but without the token', async () => {
  const expired = token({ exp: Math.floor(Date.now() / 1000) - 100 });
  const foreign = token({ aud: 'account' });
  const unknown = `${Buffer.from('{"alg":"ES256K","kid":"k9"}').toString('base64url')}.${expired.split('.')[1]}.AAAA`;
  const before = server.log.length;
  await waitFor('log lines about each token', async () => {
    for (const t of [expired, foreign, unknown]) {
      const r = await clientWith(t).get('/account');
      assert.equal(r.status, 401);
      assert.deepEqual(r.json, { detail: 'Not authenticated' });
    }
    await sleep(500);
    const lines = server.log.slice(before).split('\n').filter((l) => l.includes('a token was refused'));
    return [/expired.*expired_seconds_ago="?1\d\d/, /another audience.*account.*expected_audience/, /not supported.*ES256K.*k9/]
      .every((expected) => lines.some((l) => expected.test(l)));
  }, 60000);
  for (let i = 0; i < 200; i++) await clientWith(foreign).get('/account');
  const lines = server.log.slice(before).split('\n').filter((l) => l.includes('a token was refused'));
  assert.ok(lines.length < 100, `${lines.length} lines`);
  for (const t of [expired, foreign, unknown]) for (const segment of t.split('.')) if (segment.length > 8) assert.ok(!server.log.includes(segment));
});

describe('algorithms and key sets', () => {
  for (const alg of algorithms) {
    test(`${alg} tokens are accepted, and modified ones are rejected`, async () => {
      const good = token({}, alg);
      assert.equal(await status(good), 200);
      const [head, body, signature] = good.split('.');
      const bytes = Buffer.from(signature, 'base64url');
      bytes[5] ^= 1;
      assert.equal(await status(`${head}.${body}.${bytes.toString('base64url')}`), 401);
    });
  }
  for (const alg of ['HS256', 'HS384', 'HS512']) {
    test(`${alg} tokens must be signed with the shared secret`, async () => {
      assert.equal(await status(signToken(alg, secret, { iss: main, aud: 'runyard', sub: randomUUID() })), 200);
      assert.equal(await status(signToken(alg, `${secret}x`, { iss: main, aud: 'runyard', sub: randomUUID() })), 401);
    });
  }
  test('a key is valid only for its own algorithm, and "none" is rejected', async () => {
    const crossed = signToken('RS512', keys.RS256.private, { iss: main, aud: 'runyard', sub: randomUUID() }, { kid: 'RS256' });
    assert.equal(await status(crossed), 401);
    const [, body] = token({}).split('.');
    assert.equal(await status(`${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`), 401);
  });
});

test('key sets may omit alg, contain only certificates, or be a map of certificates', async () => {
  const rsa = makeKey('RS256'), ec = makeKey('ES384');
  const der = (key) => certificateOf(key).replace(/-----[A-Z ]+-----|\s/g, '');
  const statusesWith = async (document, alg, key, kid) => {
    const set = await startKeySet(document);
    const database = makeDatabase();
    const otherServer = await new Server({ database, settings: `[auth.jwt]\njwks_url = "${set.url}"` }).start({ timeout: 90000 });
    try {
      const answers = [];
      for (const a of [alg].flat()) answers.push((await new Client(otherServer, signToken(a, key.private, { sub: randomUUID() }, kid ? { kid } : {})).get('/account')).status);
      return answers;
    } finally {
      await otherServer.close();
      database.drop();
      await set.close();
    }
  };
  const { kty, n, e } = rsa.jwk;
  assert.deepEqual(await statusesWith({ keys: [{ kty, n, e, kid: 'a' }] }, ['RS256', 'PS512'], rsa, 'a'), [200, 200], 'without alg, any RSA algorithm');
  assert.deepEqual(await statusesWith({ keys: [{ kty: 'RSA', kid: 'b', x5c: [der(rsa)] }, { kty: 'EC', kid: 'c', x5c: [der(ec)] }] }, 'ES384', ec, 'c'), [200]);
  assert.deepEqual(await statusesWith({ keys: [{ kty: 'RSA', x5c: [der(rsa)] }] }, 'RS256', rsa, 'unnamed'), [200], 'a key without a kid');
  assert.deepEqual(await statusesWith({ d: certificateOf(rsa), e: certificateOf(ec) }, 'RS256', rsa, 'd'), [200]);
});

test('for a key set without a usable key, the log names the algorithms', async () => {
  const set = await startKeySet({ keys: [{ kty: 'EC', crv: 'secp256k1', alg: 'ES256K', kid: 'x', x: 'AA', y: 'AA' }] });
  const otherServer = new Server({ settings: `[auth.jwt]\njwks_url = "${set.url}"`, database: db });
  await otherServer.start({ timeout: 90000 });
  try {
    await new Client(otherServer, token({})).get('/account');
    assert.match(otherServer.log, /could not be refreshed.*ES256K/);
  } finally {
    await otherServer.close();
    await set.close();
  }
});

describe('claims', () => {
  test('roles are read from the configured claims and nowhere else', async () => {
    const admin = async (claims) => (await status(token(claims), '/admin/audit')) === 200;
    for (const claims of [{ roles: ['admin'] }, { role: 'owner' }, { realm_access: { roles: ['x', 'App.Admin'] } },
      { resource_access: { 'my.client': { roles: ['admin'] } } }, { 'https://runs.example.org/roles': 'admin' },
      { 'urn:zitadel:iam:org:project:roles': { admin: { 1: 'a.example' } } }, { admin: true }, { app_metadata: { role: 'admin' } }])
      assert.equal(await admin(claims), true, JSON.stringify(claims));
    for (const claims of [{ roles: ['user'] }, { user_metadata: { role: 'admin', roles: ['admin'] } }, { realm_access: ['admin'] },
      { resource_access: { other: { roles: ['admin'] } } }, { admin: false }, { admin: 'yes' }, { roles: [['admin']] }, { groups: ['admin'] },
      { unsafe_metadata: { role: 'admin' } }, { roles: { admin: false } }])
      assert.equal(await admin(claims), false, JSON.stringify(claims));
  });
  test('email_verified is accepted as true or "true"', async () => {
    const verified = async (email_verified) => (await clientWith(token({ email: `${randomUUID()}@example.org`, email_verified })).get('/account')).json.email_verified;
    for (const yes of [true, 'true', 'True']) assert.equal(await verified(yes), true, JSON.stringify(yes));
    for (const no of [false, 'false', '0', '1', 0, 1, {}, [], null, '']) assert.equal(await verified(no), false, JSON.stringify(no));
  });
  test('an audience is required; client_id replaces a missing aud', async () => {
    assert.equal(await status(token({ aud: ['x', 'client-1'] })), 200);
    assert.equal(await status(token({ aud: undefined, client_id: 'client-1' })), 200);
    assert.equal(await status(token({ aud: 'x', client_id: 'client-1' })), 401);
    assert.equal(await status(token({ aud: undefined })), 401);
  });
  test('tokens of up to 32 KiB are accepted', async () => {
    const sized = (n) => token({ groups: Array.from({ length: n }, (_, i) => `team-${i}`.padEnd(25, 'x')) });
    for (const n of [150, 300, 800, 840]) {
      const text = sized(n);
      assert.ok(text.length <= 32768, `${text.length}`);
      assert.equal(await status(text), 200, `${text.length} bytes`);
    }
    const long = sized(900);
    assert.ok(long.length > 32768 && long.length < 40000);
    assert.equal(await status(long), 401, 'longer tokens get a 401, not a 431');
  });
});

describe('several issuers', () => {
  const claims = (sub, iss = partner) => ({ iss, aud: 'whatever', sub });
  test('each issuer has its own keys, and equal subjects of different issuers are different accounts', async () => {
    const sub = randomUUID();
    const mine = (await clientWith(token({ sub })).get('/account')).json;
    assert.equal(mine.id, sub);
    const theirs = (await clientWith(signToken('ES256', other.private, claims(sub), { kid: 'p1' })).get('/account')).json;
    assert.notEqual(theirs.id, sub);
    assert.equal(db.sql(`select subject from accounts.account where id = '${theirs.id}'`), `partner:${sub}`);
    const third = (await clientWith(signToken('HS256', partnerSecret, claims(sub, shared))).get('/account')).json;
    assert.equal(db.sql(`select subject from accounts.account where id = '${third.id}'`), `shared:${sub}`);
  });
  test('an issuer cannot sign tokens of another issuer', async () => {
    const sub = randomUUID();
    assert.equal(await status(signToken('ES256', other.private, { iss: main, aud: 'runyard', sub }, { kid: 'p1' })), 401);
    assert.equal(await status(signToken('ES256', keys.ES256.private, claims(sub), { kid: 'ES256' })), 401);
    assert.equal(await status(signToken('HS256', secret, claims(sub, shared))), 401);
    assert.equal(await status(signToken('HS256', partnerSecret, { iss: main, aud: 'runyard', sub })), 401);
    assert.equal(await status(signToken('HS256', partnerSecret, { iss: 'runyard', sub })), 401, 'an issuer cannot sign tokens of this server');
    assert.equal(await status(signToken('ES256', other.private, { iss: 'https://unknown.example', aud: 'runyard', sub }, { kid: 'p1' })), 401);
  });
  test('each issuer has its own role settings and leeway; without role settings no roles are granted', async () => {
    const everything = ['admin', 'super_admin', 'owner', 'App.Admin', 'true'];
    const unset = signToken('HS256', partnerSecret, { ...claims(randomUUID(), shared), role: 'super_admin', roles: everything });
    assert.equal(await status(unset, '/admin/audit'), 403);
    assert.equal(await status(unset, '/admin/modules'), 403);
    const named = signToken('ES256', other.private, { ...claims(randomUUID()), role: 'partner-admin' }, { kid: 'p1' });
    assert.equal(await status(named, '/admin/audit'), 200);
    const text = signToken('ES256', other.private, { ...claims(randomUUID()), role: 'super_admin', roles: ['admin', 'owner'] }, { kid: 'p1' });
    assert.equal(await status(text, '/admin/audit'), 403);
    const justExpired = Math.floor(Date.now() / 1000) - 5;
    assert.equal(await status(signToken('ES256', other.private, { ...claims(randomUUID()), exp: justExpired }, { kid: 'p1' })), 401);
    assert.equal(await status(token({ exp: justExpired })), 200);
  });
});

describe('anonymous users', () => {
  const anonymous = [{ is_anonymous: true }, { is_anonymous: 'true' }, { firebase: { sign_in_provider: 'anonymous' } }];
  test('are rejected by default', async () => {
    for (const claims of anonymous) {
      const sub = randomUUID();
      const r = await clientWith(token({ sub, ...claims })).get('/account');
      assert.equal(r.status, 403, JSON.stringify(claims));
      assert.equal(r.json.detail.error_code, 'ANONYMOUS_NOT_ALLOWED');
      assert.equal(db.sql(`select count(*) from accounts.account where subject = '${sub}'`), '0');
    }
    assert.equal(await status(token({ is_anonymous: false, firebase: { sign_in_provider: 'password' } })), 200);
  });
  test('with "allow" they get credits only after they become permanent', async () => {
    const database = makeDatabase();
    const otherServer = await new Server({ database, set: ['accounts.anonymous=allow', `auth.jwt.hs256_secret=${secret}`] }).start({ timeout: 90000 });
    const hs = (claims) => new Client(otherServer, signToken('HS256', secret, claims));
    try {
      const subs = anonymous.map(() => randomUUID());
      for (const [i, claims] of anonymous.entries()) assert.equal((await hs({ sub: subs[i], ...claims }).get('/account')).json.balance_credits, 0);
      const permanent = hs({ sub: subs[0], email: `${subs[0]}@example.org`, is_anonymous: false });
      await waitFor('the credits', async () => (await permanent.get('/account')).json.balance_credits === 500);
      assert.equal((await hs({ sub: subs[1], is_anonymous: true }).get('/account')).json.balance_credits, 0);
    } finally {
      await otherServer.close();
      database.drop();
    }
  });
});
