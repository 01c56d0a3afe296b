// Sign-up and log-in without an identity provider, against the real binary and a real SMTP server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { domainToASCII } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { freshAddress as fresh, tokenInMail, loginSettings, password, signUp } from './lib/login.mjs';
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
const mails = (to, n = 1) => waitFor(`${n} mails to ${to}`, () => { const all = smtp.to(to); return all.length >= n && all; });
const member = () => signUp(post, smtp);

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
  test('a mail, its link, and an account with its referral code', async () => {
    const email = fresh();
    const asked = await post('/auth/sign-up', { email, password, name: 'Ann Bee', referral_code: 'abcd2345' });
    assert.equal(asked.status, 202);
    assert.deepEqual(Object.keys(asked.json).sort(), ['proof', 'status']);
    assert.equal(asked.headers.get('cache-control'), 'no-store');
    const [mail] = await mails(email);
    assert.equal(mail.parsed.subject, 'Confirm your e-mail address');
    assert.match(mail.parsed.html, /href="https:\/\/app\.example\.org\/auth#verify=/);
    assert.equal(db.sql(`select count(*) from accounts.account where email = '${email}'`), '0');
    assert.equal((await post('/auth/log-in', { email, password })).status, 401, 'not before the link');
    const done = await post('/auth/verify', { token: tokenInMail(mail), proof: asked.json.proof });
    assert.equal(done.status, 200);
    const me = await get('/account', done.json.access_token);
    assert.equal(me.json.email, email);
    assert.equal(me.json.email_verified, true);
    assert.equal(me.json.display_name, 'Ann Bee');
    assert.equal(me.json.id, done.json.account_id);
    assert.equal(db.sql(`select payload->>'referral_code' from core.event where kind = 'account.created' and key = '${me.json.id}'`), 'abcd2345');
  });

  test('a link alone gives nothing; with the password of its own sign-up it does', async () => {
    const email = fresh();
    await post('/auth/sign-up', { email, password: 'typed by a stranger' });
    const [mail] = await mails(email);
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

  test('two that open one link at once: one gets in, and again it is of no use', async () => {
    const email = fresh();
    const asked = await post('/auth/sign-up', { email, password });
    const [mail] = await mails(email);
    const open = () => post('/auth/verify', { token: tokenInMail(mail), proof: asked.json.proof });
    const got = await Promise.all([open(), open(), open(), open()]);
    assert.equal(got.filter((a) => a.status === 200).length, 1);
    for (const a of got.filter((x) => x.status !== 200)) assert.ok([400, 409].includes(a.status), JSON.stringify(a.json));
    const again = await open();
    assert.equal(again.status, 400);
    assert.equal(again.json.detail.error_code, 'LINK_NOT_VALID');
    assert.equal(db.sql(`select count(*) from accounts.account where email = '${email}'`), '1');
  });

  test('a link that is too old', async () => {
    const email = fresh();
    const asked = await post('/auth/sign-up', { email, password });
    const [mail] = await mails(email);
    db.sql(`update accounts.sign_up set expires_at = now() where email = '${email}'`);
    assert.equal((await post('/auth/verify', { token: tokenInMail(mail), proof: asked.json.proof })).json.detail.error_code, 'LINK_NOT_VALID');
  });

  test('an address that has an account is answered like any other; its owner gets a mail without a link to confirm', async () => {
    const known = await member();
    const unknown = fresh();
    const a = await post('/auth/sign-up', { email: known.email.toUpperCase(), password: 'another password' });
    const b = await post('/auth/sign-up', { email: unknown, password: 'another password' });
    assert.equal(a.status, b.status);
    assert.deepEqual(Object.keys(a.json), Object.keys(b.json));
    assert.equal(a.json.proof.length, b.json.proof.length);
    const skip = ['date', 'x-request-id'];
    const heads = (r) => [...r.headers].filter(([n]) => !skip.includes(n));
    assert.deepEqual(heads(a), heads(b));
    const [, second] = await mails(known.email, 2);
    assert.equal(second.parsed.subject, 'You already have an account');
    assert.equal(tokenInMail(second), undefined);
    assert.equal((await post('/auth/log-in', { email: known.email, password })).status, 200);
    assert.equal((await post('/auth/log-in', { email: known.email, password: 'another password' })).status, 401);
  });

  test('invalid input is refused, naming the field', async () => {
    const refused = async (body, what, status = 422) => {
      const a = await post('/auth/sign-up', body);
      assert.equal(a.status, status, JSON.stringify(body).slice(0, 80));
      assert.match(JSON.stringify(a.json), what);
    };
    const email = fresh();
    await refused({ password }, /email/);
    await refused({ email }, /password/);
    await refused({ email: 'no address', password }, /email/);
    await refused({ email: `a@example.org\r\nBcc: evil@example.org`, password }, /email/);
    await refused({ email: 'αnn@example.org', password }, /email/);
    await refused({ email, password: 'short' }, /password must have at least 10/);
    await refused({ email, password: 'x'.repeat(1025) }, /password must have at most 1024/);
    await refused({ email, password: 12345678901 }, /password must be a string/);
    await refused({ email, password: email }, /password must not be the e-mail/);
    await refused({ email, password, more: 1 }, /more/);
    await refused({ email, password, session: 'both' }, /session/);
    await refused('[]', /JSON object/, 400);
    await refused('{', /JSON object/, 400);
    assert.equal((await post('/auth/sign-up', { email, password: 'x'.repeat(20000) })).status, 413);
    assert.equal((await post('/auth/sign-up', JSON.stringify({ email, password }), { 'content-type': 'text/plain' })).status, 415);
    assert.equal(smtp.to(email).length, 0);
  });

  test('forms of one address are one account', async () => {
    const name = `case.${process.pid}`;
    const ascii = `${name}@xn--bcher-kva.example`;
    // The test's server shows domains in Unicode.
    const inAscii = (to) => `${to.split('@')[0].toLowerCase()}@${domainToASCII(to.split('@')[1])}`;
    const mailed = () => smtp.box.filter((m) => m.to.some((to) => inAscii(to) === ascii)).length;
    const forms = [`${name}@bücher.example`, `${name}@BÜCHER.example`, `${name}@bu\u0308cher.example`, ` ${name.toUpperCase()}@XN--BCHER-KVA.EXAMPLE `];
    for (const [i, email] of forms.entries()) {
      assert.equal((await post('/auth/sign-up', { email, password })).status, 202, email);
      await waitFor(`a mail for ${email}`, () => mailed() === i + 1);
    }
    assert.equal(db.sql(`select count(*) || ' ' || count(distinct email_key) from accounts.sign_up where email_key like '${name}@%'`), '4 1');
    const fifth = await post('/auth/sign-up', { email: forms[0], password });
    assert.equal(fifth.status, 202);
    assert.equal((await post('/auth/sign-up', { email: forms[1], password })).status, 429, 'five within an hour, in whatever form');
  });
});

describe('log-in', () => {
  test('a wrong password and an unknown address: one answer, one time', async () => {
    const known = await member();
    db.sql('delete from accounts.throttle');
    const took = { known: [], unknown: [] };
    const answers = new Set();
    for (let i = 0; i < 10; ++i) {
      db.sql('delete from accounts.throttle');
      for (const [who, email] of [['known', known.email], ['unknown', `nobody${i}@example.org`]]) {
        const from = performance.now();
        const a = await post('/auth/log-in', { email, password: 'a wrong password' });
        took[who].push(performance.now() - from);
        answers.add(`${a.status} ${JSON.stringify(a.json)}`);
      }
    }
    assert.deepEqual([...answers], ['401 {"detail":{"message":"Wrong e-mail address or password","error_code":"WRONG_LOGIN"}}']);
    const least = (list) => Math.min(...list);
    assert.ok(least(took.known) < 3 * least(took.unknown) && least(took.unknown) < 3 * least(took.known), JSON.stringify(took));
    for (const email of ['no address', 'a@b@c', '"x"@example.org']) {
      assert.equal((await post('/auth/log-in', { email, password })).status, 401, email);
    }
    assert.equal((await post('/auth/log-in', { email: known.email, password: 'x'.repeat(5000) })).status, 401);
  });

  test('attempts are limited for existing and for unknown accounts', async () => {
    const known = await member();
    db.sql('delete from accounts.throttle');
    for (const email of [known.email, fresh()]) {
      const statuses = [];
      let last;
      for (let i = 0; i < 12; ++i) {
        last = await post('/auth/log-in', { email, password: 'a wrong password' });
        statuses.push(last.status);
      }
      assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429], email);
      assert.ok(Number(last.headers.get('retry-after')) > 0);
    }
    assert.equal((await post('/auth/log-in', { email: known.email, password })).status, 429, 'also with the right one');
    db.sql('delete from accounts.throttle');
    assert.equal((await post('/auth/log-in', { email: known.email, password })).status, 200);
  });

  test('refresh tokens are good for one use; a stolen one ends the session at once', async () => {
    const me = await member();
    const next = await post('/auth/refresh', { refresh_token: me.refresh_token });
    assert.equal(next.status, 200);
    assert.notEqual(next.json.refresh_token, me.refresh_token);
    assert.equal((await get('/account', next.json.access_token)).status, 200);
    db.sql(`update accounts.refresh_token set used_at = used_at - interval '1 minute' where used_at is not null`);
    assert.equal((await post('/auth/refresh', { refresh_token: me.refresh_token })).status, 401);
    assert.equal((await post('/auth/refresh', { refresh_token: next.json.refresh_token })).status, 401);
    assert.equal((await get('/account', next.json.access_token)).status, 401, 'the access token too');
    for (const refresh_token of ['x', 'ry_', 'a'.repeat(128), me.refresh_token.toLowerCase()]) {
      assert.equal((await post('/auth/refresh', { refresh_token })).status, 401);
    }
    assert.equal((await post('/auth/refresh', {})).status, 401);
  });

  test('a session in a cookie that scripts cannot read', async () => {
    const { email } = await member();
    const a = await post('/auth/log-in', { email, password, session: 'cookie' });
    assert.equal(a.json.refresh_token, undefined);
    const cookie = a.headers.get('set-cookie');
    assert.match(cookie, /^ry_session=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/);
    const jar = cookie.split(';')[0];
    const b = await post('/auth/refresh', {}, { cookie: `other=1; ${jar}` });
    assert.equal(b.status, 200);
    const second = b.headers.get('set-cookie').split(';')[0];
    assert.notEqual(second, jar);
    assert.equal((await post('/auth/refresh', '{}', { cookie: second, 'content-type': 'text/plain' })).status, 415);
    const out = await post('/auth/log-out', {}, { cookie: second });
    assert.equal(out.status, 204);
    assert.match(out.headers.get('set-cookie'), /^ry_session=; .*Max-Age=0/);
    assert.equal((await post('/auth/refresh', {}, { cookie: second })).status, 401);
    assert.equal((await get('/account', b.json.access_token)).status, 401);
  });

  test('sessions are listed, and ended one by one or together', async () => {
    const { email, access_token: first } = await member();
    const second = (await post('/auth/log-in', { email, password }, { 'user-agent': 'second' })).json;
    const third = (await post('/auth/log-in', { email, password }, { 'user-agent': 'third' })).json;
    const { sessions } = (await get('/auth/sessions', third.access_token)).json;
    assert.equal(sessions.length, 3);
    assert.deepEqual(sessions.filter((s) => s.present).map((s) => s.user_agent), ['third']);
    const remove = (path, token) => fetch(server.url + path, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
    const other = await member();
    assert.equal((await remove(`/auth/sessions/${sessions.find((s) => s.user_agent === 'second').id}`, other.access_token)).status, 204);
    assert.equal((await get('/account', second.access_token)).status, 200, 'somebody else ends nothing');
    assert.equal((await remove(`/auth/sessions/${sessions.find((s) => s.user_agent === 'second').id}`, first)).status, 204);
    assert.equal((await get('/account', second.access_token)).status, 401);
    assert.equal((await get('/account', third.access_token)).status, 200);
    const key = await fetch(`${server.url}/api-keys`, { method: 'POST', headers: { authorization: `Bearer ${first}` }, body: '{}' }).then((r) => r.json());
    assert.equal((await remove('/auth/sessions', key.key)).status, 403);
    assert.equal((await remove('/auth/sessions', first)).status, 204);
    assert.equal((await get('/account', third.access_token)).status, 401);
    assert.equal((await get('/account', first)).status, 401);
    assert.equal((await get('/account', key.key)).status, 200, 'API keys are revoked by themselves');
  });

  test('a revoked role invalidates the tokens that contain it', async () => {
    const me = await member();
    db.sql(`update accounts.account set role = 1 where id = '${me.account_id}'`);
    const admin = (await post('/auth/log-in', { email: me.email, password })).json;
    assert.equal((await get('/admin/audit', admin.access_token)).status, 200);
    const root = server.token({ role: 'super_admin' });
    const demoted = await fetch(`${server.url}/admin/accounts/${me.account_id}`, { method: 'PUT', headers: { authorization: `Bearer ${root}` }, body: '{"role":"user"}' });
    assert.equal(demoted.status, 200);
    await waitFor('the token is refused', async () => (await get('/account', admin.access_token)).status === 401);
  });

  test('tokens of elsewhere stay good beside it', async () => {
    const token = server.token({ email: 'else@example.org' });
    assert.equal((await get('/account', token)).status, 200);
    const own = await fetch(`${server.url}/auth/password`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ current_password: 'x', new_password: password }) });
    assert.equal(own.status, 409, 'it has no password here');
  });
});

describe('passwords', () => {
  test('reset: one response for all, a link only for existing accounts, all sessions end', async () => {
    const me = await member();
    const known = await post('/auth/reset', { email: me.email });
    const unknown = await post('/auth/reset', { email: fresh() });
    assert.equal(known.status, 202);
    assert.deepEqual([known.status, known.json], [unknown.status, unknown.json]);
    const [, mail] = await mails(me.email, 2);
    assert.equal(mail.parsed.subject, 'Choose a new password');
    const token = tokenInMail(mail);
    assert.equal((await post('/auth/reset/complete', { token, password: 'short' })).status, 422);
    const next = 'a quite new password';
    const got = await Promise.all([1, 2, 3].map(() => post('/auth/reset/complete', { token, password: next })));
    assert.equal(got.filter((a) => a.status === 200).length, 1);
    assert.equal(got.filter((a) => a.json.detail?.error_code === 'LINK_NOT_VALID').length, 2);
    assert.equal((await get('/account', me.access_token)).status, 401);
    assert.equal((await post('/auth/refresh', { refresh_token: me.refresh_token })).status, 401);
    assert.equal((await post('/auth/log-in', { email: me.email, password })).status, 401);
    assert.equal((await post('/auth/log-in', { email: me.email, password: next })).status, 200);
    const [, , reported] = await mails(me.email, 3);
    assert.equal(reported.parsed.subject, 'Your password was changed');
    await sleep(300);
    assert.equal(smtp.box.filter((m) => m.parsed.subject === 'Choose a new password').length, 1, 'none to the unknown address');
  });

  test('at most three links within an hour for one address', async () => {
    for (const email of [(await member()).email, fresh()]) {
      const statuses = [];
      for (let i = 0; i < 4; ++i) statuses.push((await post('/auth/reset', { email })).status);
      assert.deepEqual(statuses, [202, 202, 202, 429]);
    }
  });

  test('change: needs the present one, ends the other sessions', async () => {
    const me = await member();
    const other = (await post('/auth/log-in', { email: me.email, password })).json;
    const change = (body) => post('/auth/password', body, { authorization: `Bearer ${me.access_token}` });
    assert.equal((await change({ current_password: 'wrong password', new_password: 'the next password' })).status, 403);
    assert.equal((await change({ current_password: password, new_password: 'short' })).status, 422);
    assert.equal((await change({ current_password: password, new_password: 'the next password' })).status, 204);
    assert.equal((await get('/account', other.access_token)).status, 401);
    assert.equal((await get('/account', me.access_token)).status, 200);
    assert.equal((await post('/auth/log-in', { email: me.email, password: 'the next password' })).status, 200);
  });

  test('no secret is in the log, and only hashes are in the database', async () => {
    const me = await member();
    const [mail] = await mails(me.email);
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

  test('makes the account that the provider’s token will have', async () => {
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

  test('nothing without a good signature', async () => {
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

  test('without mail the server does not start, and the error says how to fix it', async () => {
    await assert.rejects(start('[accounts]\nlocal_login = true\n[accounts.login]\napp_url = "https://x.org"\n'), /local_login sends links by e-mail.*mail/s);
    await assert.rejects(start('[accounts]\nlocal_login = true\n'), /http\.public_url/);
  });

  test('off: no such routes, and the page can ask', async () => {
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

  test('without verification: at once, for this machine', async () => {
    const other = await start('[accounts]\nlocal_login = true\n[accounts.login]\nverify = "none"\nhash_memory_mib = 8\n', ['http.trusted_proxies=["127.0.0.1"]']);
    try {
      const at = (path, body, headers) => fetch(other.server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
      const far = await at('/auth/sign-up', { email: 'far@localhost', password }, { 'x-forwarded-for': '203.0.113.9' });
      assert.equal(far.status, 403);
      const proxied = await at('/auth/sign-up', { email: 'far@localhost', password }, { forwarded: 'for=127.0.0.1' });
      assert.equal(proxied.status, 403, 'behind a proxy nobody is known to be of this machine');
      const a = await at('/auth/sign-up', { email: 'me@localhost', password });
      assert.equal(a.status, 201);
      const tokens = await a.json();
      const me = await fetch(`${other.server.url}/account`, { headers: { authorization: `Bearer ${tokens.access_token}` } }).then((r) => r.json());
      assert.equal(me.email_verified, false);
      assert.equal((await at('/auth/sign-up', { email: 'ME@localhost', password })).status, 409);
      assert.equal((await at('/auth/reset', { email: 'me@localhost' })).status, 409);
      assert.equal((await at('/auth/log-in', { email: 'me@localhost', password })).status, 200);
    } finally {
      await other.close();
    }
  });
});
