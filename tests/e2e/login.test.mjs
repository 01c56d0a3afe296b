// Sign-up and login without an identity provider, against the real binary and a real SMTP server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { domainToASCII } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { freshAddress, loginSettings, password, signUp, tokenInMail } from './lib/login.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
let db, smtp, server;

const post = async (path, body, headers = {}) => {
  const response = await fetch(server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text ? JSON.parse(text) : null };
};
const get = async (path, token) => {
  const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, json: await response.json().catch(() => null) };
};
const waitForMails = (to, n = 1) => waitFor(`${n} e-mails to ${to}`, () => { const all = smtp.to(to); return all.length >= n && all; });
const newUser = () => signUp(post, smtp);

before(async () => {
  smtp = await startSmtp();
  db = makeDatabase();
  server = await new Server({ database: db, settings: loginSettings(smtp, `[accounts.identity_webhook]\nsecrets = ["${secret}"]`) }).start();
});
after(async () => {
  await server?.close();
  db?.drop();
  await smtp?.close();
});

describe('sign-up', () => {
  test('signing up sends a link, and opening it creates an account with the referral code', async () => {
    const email = freshAddress();
    const signedUp = await post('/auth/sign-up', { email, password, name: 'Ann Bee', referral_code: 'abcd2345' });
    assert.equal(signedUp.status, 202);
    assert.deepEqual(Object.keys(signedUp.json).sort(), ['proof', 'status']);
    assert.equal(signedUp.headers.get('cache-control'), 'no-store');
    const [mail] = await waitForMails(email);
    assert.equal(mail.parsed.subject, 'Confirm your e-mail address');
    assert.match(mail.parsed.html, /href="https:\/\/app\.example\.org\/auth#verify=/);
    assert.equal(db.sql(`select count(*) from accounts.account where email = '${email}'`), '0');
    assert.equal((await post('/auth/log-in', { email, password })).status, 401, 'no login before the address is verified');
    const done = await post('/auth/verify', { token: tokenInMail(mail), proof: signedUp.json.proof });
    assert.equal(done.status, 200);
    const me = await get('/account', done.json.access_token);
    assert.equal(me.json.email, email);
    assert.equal(me.json.email_verified, true);
    assert.equal(me.json.display_name, 'Ann Bee');
    assert.equal(me.json.id, done.json.account_id);
    assert.equal(db.sql(`select payload->>'referral_code' from core.event where kind = 'account.created' and key = '${me.json.id}'`), 'abcd2345');
  });

  test('a link works only together with the proof or the password of its sign-up', async () => {
    const email = freshAddress();
    await post('/auth/sign-up', { email, password: 'typed by a stranger' });
    const [mail] = await waitForMails(email);
    const token = tokenInMail(mail);
    const opened = await post('/auth/verify', { token });
    assert.equal(opened.status, 403);
    assert.equal(opened.json.detail.error_code, 'PASSWORD_REQUIRED');
    const guessed = await post('/auth/verify', { token, password });
    assert.equal(guessed.status, 403);
    assert.equal(guessed.json.detail.error_code, 'WRONG_PASSWORD');
    assert.equal((await post('/auth/verify', { token, proof: 'x'.repeat(43) })).status, 403);
    assert.equal(db.sql(`select count(*) from accounts.account where email = '${email}'`), '0');
    assert.equal((await post('/auth/verify', { token, password: 'typed by a stranger' })).status, 200);
  });

  test('a link that is opened concurrently works once and is invalid afterwards', async () => {
    const email = freshAddress();
    const signedUp = await post('/auth/sign-up', { email, password });
    const [mail] = await waitForMails(email);
    const open = () => post('/auth/verify', { token: tokenInMail(mail), proof: signedUp.json.proof });
    const responses = await Promise.all([open(), open(), open(), open()]);
    assert.equal(responses.filter((a) => a.status === 200).length, 1);
    for (const a of responses.filter((x) => x.status !== 200)) assert.ok([400, 409].includes(a.status), JSON.stringify(a.json));
    const again = await open();
    assert.equal(again.status, 400);
    assert.equal(again.json.detail.error_code, 'LINK_NOT_VALID');
    assert.equal(db.sql(`select count(*) from accounts.account where email = '${email}'`), '1');
  });

  test('an expired link is rejected', async () => {
    const email = freshAddress();
    const signedUp = await post('/auth/sign-up', { email, password });
    const [mail] = await waitForMails(email);
    db.sql(`update accounts.sign_up set expires_at = now() where email = '${email}'`);
    assert.equal((await post('/auth/verify', { token: tokenInMail(mail), proof: signedUp.json.proof })).json.detail.error_code, 'LINK_NOT_VALID');
  });

  test('sign-up does not reveal whether an address has an account; its owner gets an e-mail without a link', async () => {
    const known = await newUser();
    const unknown = freshAddress();
    const a = await post('/auth/sign-up', { email: known.email.toUpperCase(), password: 'another password' });
    const b = await post('/auth/sign-up', { email: unknown, password: 'another password' });
    assert.equal(a.status, b.status);
    assert.deepEqual(Object.keys(a.json), Object.keys(b.json));
    assert.equal(a.json.proof.length, b.json.proof.length);
    const varyingHeaders = ['date', 'x-request-id'];
    const headersOf = (r) => [...r.headers].filter(([n]) => !varyingHeaders.includes(n));
    assert.deepEqual(headersOf(a), headersOf(b));
    const [, second] = await waitForMails(known.email, 2);
    assert.equal(second.parsed.subject, 'You already have an account');
    assert.equal(tokenInMail(second), undefined);
    assert.equal((await post('/auth/log-in', { email: known.email, password })).status, 200);
    assert.equal((await post('/auth/log-in', { email: known.email, password: 'another password' })).status, 401);
  });

  test('invalid input is rejected by field name', async () => {
    const expectRejected = async (body, message, status = 422) => {
      const a = await post('/auth/sign-up', body);
      assert.equal(a.status, status, JSON.stringify(body).slice(0, 80));
      assert.match(JSON.stringify(a.json), message);
    };
    const email = freshAddress();
    await expectRejected({ password }, /email/);
    await expectRejected({ email }, /password/);
    await expectRejected({ email: 'no address', password }, /email/);
    await expectRejected({ email: `a@example.org\r\nBcc: evil@example.org`, password }, /email/);
    await expectRejected({ email: 'αnn@example.org', password }, /email/);
    await expectRejected({ email, password: 'short' }, /password must have at least 10/);
    await expectRejected({ email, password: 'x'.repeat(1025) }, /password must have at most 1024/);
    await expectRejected({ email, password: 12345678901 }, /password must be a string/);
    for (const name of ['', ' ', '\u202e\u0007']) await expectRejected({ email, password, name }, /name must not be blank/);
    await expectRejected({ email, password: email }, /password must not be the e-mail/);
    await expectRejected({ email, password, more: 1 }, /more/);
    await expectRejected({ email, password, session: 'both' }, /session/);
    await expectRejected('[]', /JSON object/, 400);
    await expectRejected('{', /JSON object/, 400);
    assert.equal((await post('/auth/sign-up', { email, password: 'x'.repeat(20000) })).status, 413);
    assert.equal((await post('/auth/sign-up', JSON.stringify({ email, password }), { 'content-type': 'text/plain' })).status, 415);
    assert.equal(smtp.to(email).length, 0);
  });

  test('equivalent spellings of an address are one account', async () => {
    const name = `case.${process.pid}`;
    const ascii = `${name}@xn--bcher-kva.example`;
    // The SMTP server of the test returns domains in Unicode.
    const inAscii = (to) => `${to.split('@')[0].toLowerCase()}@${domainToASCII(to.split('@')[1])}`;
    const mailCount = () => smtp.box.filter((m) => m.to.some((to) => inAscii(to) === ascii)).length;
    const forms = [`${name}@bücher.example`, `${name}@BÜCHER.example`, `${name}@bu\u0308cher.example`, ` ${name.toUpperCase()}@XN--BCHER-KVA.EXAMPLE `];
    for (const [i, email] of forms.entries()) {
      assert.equal((await post('/auth/sign-up', { email, password })).status, 202, email);
      await waitFor(`an e-mail to ${email}`, () => mailCount() === i + 1);
    }
    assert.equal(db.sql(`select count(*) || ' ' || count(distinct email_key) from accounts.sign_up where email_key like '${name}@%'`), '4 1');
    const fifth = await post('/auth/sign-up', { email: forms[0], password });
    assert.equal(fifth.status, 202);
    assert.equal((await post('/auth/sign-up', { email: forms[1], password })).status, 429, 'five sign-ups per hour, whatever the spelling');
  });
});

describe('login', () => {
  test('a wrong password and an unknown address get the same response in similar time', async () => {
    const known = await newUser();
    db.sql('delete from accounts.throttle');
    const durations = { known: [], unknown: [] };
    const answers = new Set();
    for (let i = 0; i < 10; ++i) {
      db.sql('delete from accounts.throttle');
      for (const [kind, email] of [['known', known.email], ['unknown', `unknown${i}@example.org`]]) {
        const startedAt = performance.now();
        const a = await post('/auth/log-in', { email, password: 'a wrong password' });
        durations[kind].push(performance.now() - startedAt);
        answers.add(`${a.status} ${JSON.stringify(a.json)}`);
      }
    }
    assert.deepEqual([...answers], ['401 {"detail":{"message":"Wrong e-mail address or password","error_code":"WRONG_LOGIN"}}']);
    const fastest = (list) => Math.min(...list);
    assert.ok(fastest(durations.known) < 3 * fastest(durations.unknown) && fastest(durations.unknown) < 3 * fastest(durations.known), JSON.stringify(durations));
    for (const email of ['no address', 'a@b@c', '"x"@example.org']) {
      assert.equal((await post('/auth/log-in', { email, password })).status, 401, email);
    }
    assert.equal((await post('/auth/log-in', { email: known.email, password: 'x'.repeat(5000) })).status, 401);
  });

  test('attempts are limited for existing and for unknown accounts', async () => {
    const known = await newUser();
    db.sql('delete from accounts.throttle');
    for (const email of [known.email, freshAddress()]) {
      const statuses = [];
      let last;
      for (let i = 0; i < 12; ++i) {
        last = await post('/auth/log-in', { email, password: 'a wrong password' });
        statuses.push(last.status);
      }
      assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429], email);
      assert.ok(Number(last.headers.get('retry-after')) > 0);
    }
    assert.equal((await post('/auth/log-in', { email: known.email, password })).status, 429, 'even with the correct password');
    db.sql('delete from accounts.throttle');
    assert.equal((await post('/auth/log-in', { email: known.email, password })).status, 200);
  });

  test('refresh tokens are single-use; reuse of one ends the session immediately', async () => {
    const me = await newUser();
    const next = await post('/auth/refresh', { refresh_token: me.refresh_token });
    assert.equal(next.status, 200);
    assert.notEqual(next.json.refresh_token, me.refresh_token);
    assert.equal((await get('/account', next.json.access_token)).status, 200);
    db.sql(`update accounts.refresh_token set used_at = used_at - interval '1 minute' where used_at is not null`);
    assert.equal((await post('/auth/refresh', { refresh_token: me.refresh_token })).status, 401);
    assert.equal((await post('/auth/refresh', { refresh_token: next.json.refresh_token })).status, 401);
    assert.equal((await get('/account', next.json.access_token)).status, 401, 'the access token is revoked as well');
    for (const refresh_token of ['x', 'ry_', 'a'.repeat(128), me.refresh_token.toLowerCase()]) {
      assert.equal((await post('/auth/refresh', { refresh_token })).status, 401);
    }
    assert.equal((await post('/auth/refresh', {})).status, 401);
  });

  test('a cookie session uses an HttpOnly cookie', async () => {
    const { email } = await newUser();
    const a = await post('/auth/log-in', { email, password, session: 'cookie' });
    assert.equal(a.json.refresh_token, undefined);
    const cookie = a.headers.get('set-cookie');
    assert.match(cookie, /^ry_session=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/);
    const firstCookie = cookie.split(';')[0];
    const b = await post('/auth/refresh', {}, { cookie: `other=1; ${firstCookie}` });
    assert.equal(b.status, 200);
    const second = b.headers.get('set-cookie').split(';')[0];
    assert.notEqual(second, firstCookie);
    assert.equal((await post('/auth/refresh', '{}', { cookie: second, 'content-type': 'text/plain' })).status, 415);
    const out = await post('/auth/log-out', {}, { cookie: second });
    assert.equal(out.status, 204);
    assert.match(out.headers.get('set-cookie'), /^ry_session=; .*Max-Age=0/);
    assert.equal((await post('/auth/refresh', {}, { cookie: second })).status, 401);
    assert.equal((await get('/account', b.json.access_token)).status, 401);
  });

  test('sessions are listed and can be ended one by one or together', async () => {
    const { email, access_token: first } = await newUser();
    const second = (await post('/auth/log-in', { email, password }, { 'user-agent': 'second' })).json;
    const third = (await post('/auth/log-in', { email, password }, { 'user-agent': 'third' })).json;
    const { sessions } = (await get('/auth/sessions', third.access_token)).json;
    assert.equal(sessions.length, 3);
    assert.deepEqual(sessions.filter((s) => s.present).map((s) => s.user_agent), ['third']);
    const remove = (path, token) => fetch(server.url + path, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
    const other = await newUser();
    assert.equal((await remove(`/auth/sessions/${sessions.find((s) => s.user_agent === 'second').id}`, other.access_token)).status, 204);
    assert.equal((await get('/account', second.access_token)).status, 200, 'users cannot end the sessions of others');
    assert.equal((await remove(`/auth/sessions/${sessions.find((s) => s.user_agent === 'second').id}`, first)).status, 204);
    assert.equal((await get('/account', second.access_token)).status, 401);
    assert.equal((await get('/account', third.access_token)).status, 200);
    const key = await fetch(`${server.url}/api-keys`, { method: 'POST', headers: { authorization: `Bearer ${first}` }, body: '{}' }).then((r) => r.json());
    assert.equal((await remove('/auth/sessions', key.key)).status, 403);
    assert.equal((await remove('/auth/sessions', first)).status, 204);
    assert.equal((await get('/account', third.access_token)).status, 401);
    assert.equal((await get('/account', first)).status, 401);
    assert.equal((await get('/account', key.key)).status, 200, 'API keys are revoked separately');
  });

  test('a revoked role invalidates the tokens that contain it', async () => {
    const me = await newUser();
    db.sql(`update accounts.account set role = 1 where id = '${me.account_id}'`);
    const admin = (await post('/auth/log-in', { email: me.email, password })).json;
    assert.equal((await get('/admin/audit', admin.access_token)).status, 200);
    const root = server.token({ role: 'super_admin' });
    const demoted = await fetch(`${server.url}/admin/accounts/${me.account_id}`, { method: 'PUT', headers: { authorization: `Bearer ${root}` }, body: '{"role":"user"}' });
    assert.equal(demoted.status, 200);
    await waitFor('the token to be rejected', async () => (await get('/account', admin.access_token)).status === 401);
  });

  test('tokens from other sources stay valid next to local login', async () => {
    const token = server.token({ email: 'else@example.org' });
    assert.equal((await get('/account', token)).status, 200);
    const changed = await fetch(`${server.url}/auth/password`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ current_password: 'x', new_password: password }) });
    assert.equal(changed.status, 409, 'the account has no local password');
  });
});

describe('passwords', () => {
  test('reset: one response for all, a link only for existing accounts, all sessions end', async () => {
    const me = await newUser();
    const known = await post('/auth/reset', { email: me.email });
    const unknown = await post('/auth/reset', { email: freshAddress() });
    assert.equal(known.status, 202);
    assert.deepEqual([known.status, known.json], [unknown.status, unknown.json]);
    const [, mail] = await waitForMails(me.email, 2);
    assert.equal(mail.parsed.subject, 'Choose a new password');
    const token = tokenInMail(mail);
    assert.equal((await post('/auth/reset/complete', { token, password: 'short' })).status, 422);
    const next = 'a quite new password';
    const responses = await Promise.all([1, 2, 3].map(() => post('/auth/reset/complete', { token, password: next })));
    assert.equal(responses.filter((a) => a.status === 200).length, 1);
    assert.equal(responses.filter((a) => a.json.detail?.error_code === 'LINK_NOT_VALID').length, 2);
    assert.equal((await get('/account', me.access_token)).status, 401);
    assert.equal((await post('/auth/refresh', { refresh_token: me.refresh_token })).status, 401);
    assert.equal((await post('/auth/log-in', { email: me.email, password })).status, 401);
    assert.equal((await post('/auth/log-in', { email: me.email, password: next })).status, 200);
    const [, , notice] = await waitForMails(me.email, 3);
    assert.equal(notice.parsed.subject, 'Your password was changed');
    await sleep(300);
    assert.equal(smtp.box.filter((m) => m.parsed.subject === 'Choose a new password').length, 1, 'no e-mail to the unknown address');
  });

  test('at most three reset links per address and hour', async () => {
    for (const email of [(await newUser()).email, freshAddress()]) {
      const statuses = [];
      for (let i = 0; i < 4; ++i) statuses.push((await post('/auth/reset', { email })).status);
      assert.deepEqual(statuses, [202, 202, 202, 429]);
    }
  });

  test('changing the password requires the current one and ends the other sessions', async () => {
    const me = await newUser();
    const other = (await post('/auth/log-in', { email: me.email, password })).json;
    const change = (body) => post('/auth/password', body, { authorization: `Bearer ${me.access_token}` });
    assert.equal((await change({ current_password: 'wrong password', new_password: 'the next password' })).status, 403);
    assert.equal((await change({ current_password: password, new_password: 'short' })).status, 422);
    assert.equal((await change({ current_password: password, new_password: 'the next password' })).status, 204);
    assert.equal((await get('/account', other.access_token)).status, 401);
    assert.equal((await get('/account', me.access_token)).status, 200);
    assert.equal((await post('/auth/log-in', { email: me.email, password: 'the next password' })).status, 200);
  });

  test('secrets are not logged, and the database stores only hashes', async () => {
    const me = await newUser();
    const [mail] = await waitForMails(me.email);
    const dump = execFileSync('pg_dump', ['--data-only', '--schema=accounts', db.url], { encoding: 'utf8', maxBuffer: 1 << 28 });
    for (const text of [password, me.refresh_token, me.access_token, tokenInMail(mail)]) {
      assert.ok(!server.log.includes(text), 'log');
      assert.ok(!dump.includes(text), 'database');
    }
    assert.match(dump, /\$argon2id\$/);
  });
});

describe('identity webhook', () => {
  const sign = (body, { id = `msg_${randomBytes(8).toString('hex')}`, at = new Date(), key = secret } = {}) =>
    ({ 'webhook-id': id, 'webhook-timestamp': String(Math.floor(at / 1000)), 'webhook-signature': new Webhook(key).sign(id, at, body) });
  const user = (id, more) => JSON.stringify({ type: 'user.created', data: { id, email: 'hook@example.org', email_verified: true, user_metadata: { referral_code: 'hook2345' }, ...more } });

  test('creates the account that tokens of the provider refer to', async () => {
    const id = '77777777-7777-4777-8777-777777777777';
    const body = user(id);
    const head = sign(body);
    for (let i = 0; i < 3; ++i) {
      const a = await post('/auth/webhooks/identity', body, head);
      assert.deepEqual([a.status, a.json], [200, { status: 'ok' }]);
    }
    assert.equal(db.sql(`select count(*) || ' ' || min(email) from accounts.account where id = '${id}'`), '1 hook@example.org');
    assert.equal(db.sql(`select payload->>'referral_code' from core.event where kind = 'account.created' and key = '${id}'`), 'hook2345');
    assert.equal((await get('/account', server.token({ subject: id }))).json.email, 'hook@example.org');
  });

  test('messages without a valid signature are rejected', async () => {
    const body = user('66666666-6666-4666-8666-666666666666');
    const late = sign(body, { at: new Date(Date.now() - 301000) });
    const wrong = sign(body, { key: `whsec_${randomBytes(32).toString('base64')}` });
    const { 'webhook-signature': _, ...none } = sign(body);
    for (const head of [late, wrong, none, {}, { ...sign(body), 'webhook-id': 'other' }]) {
      const a = await post('/auth/webhooks/identity', body, head);
      assert.deepEqual([a.status, a.json], [401, { detail: 'Invalid signature' }]);
    }
    assert.equal((await post('/auth/webhooks/identity', `${body} `, sign(body))).status, 401);
    assert.equal(db.sql(`select count(*) from accounts.account where subject = '66666666-6666-4666-8666-666666666666'`), '0');
    const broken = '{"type":"user.created","data":{"id":7}}';
    assert.equal((await post('/auth/webhooks/identity', broken, sign(broken))).status, 422);
    assert.equal((await post('/auth/webhooks/identity', '{', sign('{'))).status, 400);
    const other = '{"type":"session.created","data":{}}';
    assert.equal((await post('/auth/webhooks/identity', other, sign(other))).status, 200);
  });
});

describe('other configurations', () => {
  const start = async (text, set = []) => {
    const database = makeDatabase();
    const s = new Server({ database, settings: text, set });
    try {
      await s.start();
      return { server: s, close: async () => { await s.close(); database.drop(); } };
    } catch (e) {
      database.drop();
      throw e;
    }
  };

  test('without mail settings the server does not start, and the error explains the fix', async () => {
    await assert.rejects(start('[accounts]\nlocal_login = true\n[accounts.login]\napp_url = "https://x.org"\n'), /local_login sends links by e-mail.*mail/s);
    await assert.rejects(start('[accounts]\nlocal_login = true\n'), /http\.public_url/);
  });

  test('with local login disabled, its routes do not exist, and /auth/config reports it', async () => {
    const other = await start('');
    try {
      const config = await fetch(`${other.server.url}/auth/config`).then((r) => r.json());
      assert.deepEqual(config, { local_login: false });
      for (const path of ['/auth/sign-up', '/auth/log-in', '/auth/webhooks/identity']) {
        assert.equal((await fetch(other.server.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status, 404, path);
      }
    } finally {
      await other.close();
    }
  });

  test('without verification, sign-up is immediate but only allowed from this machine', async () => {
    const other = await start('[accounts]\nlocal_login = true\n[accounts.login]\nverify = "none"\nhash_memory_mib = 8\n', ['http.trusted_proxies=["127.0.0.1"]']);
    try {
      const postTo = (path, body, headers) => fetch(other.server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
      const remote = await postTo('/auth/sign-up', { email: 'remote@localhost', password }, { 'x-forwarded-for': '203.0.113.9' });
      assert.equal(remote.status, 403);
      const proxied = await postTo('/auth/sign-up', { email: 'remote@localhost', password }, { forwarded: 'for=127.0.0.1' });
      assert.equal(proxied.status, 403, 'a proxied client is never treated as local');
      const a = await postTo('/auth/sign-up', { email: 'me@localhost', password });
      assert.equal(a.status, 201);
      const tokens = await a.json();
      const me = await fetch(`${other.server.url}/account`, { headers: { authorization: `Bearer ${tokens.access_token}` } }).then((r) => r.json());
      assert.equal(me.email_verified, false);
      assert.equal((await postTo('/auth/sign-up', { email: 'ME@localhost', password })).status, 409);
      assert.equal((await postTo('/auth/reset', { email: 'me@localhost' })).status, 409);
      assert.equal((await postTo('/auth/log-in', { email: 'me@localhost', password })).status, 200);
    } finally {
      await other.close();
    }
  });
});
