// Webhooks in the formats of Supabase and Clerk, deleted users, account deletion, and POST /admin/events.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { lastUser, startLlm } from './lib/llm.mjs';
import { startSmtp } from './lib/smtp.mjs';
import { signToken, webhookHeaders } from './lib/tokens.mjs';

const secret = 'a shared secret of thirty-two bytes or more';
const supabaseSecret = `v1,whsec_${randomBytes(32).toString('base64')}`, clerkSecret = `whsec_${randomBytes(24).toString('base64')}`;
const partnerSecret = `whsec_${randomBytes(24).toString('base64')}`, senderToken = randomBytes(24).toString('hex');
let db, server, smtp, llm, admin;

const send = (message, { key = supabaseSecret, ...options } = {}) => {
  const body = JSON.stringify(message);
  return new Client(server).post('/auth/webhooks/identity', { body, headers: webhookHeaders(body, key, options) });
};
const unsigned = (message, token) => new Client(server).post('/auth/webhooks/identity',
  { body: JSON.stringify(message), headers: { 'content-type': 'application/json', 'x-webhook-token': token } });
const user = (claims) => new Client(server, signToken('HS256', secret, { sub: randomUUID(), ...claims }));
const accountOf = async (id) => (await admin.get(`/admin/accounts/${id}`));
const isClosed = (id) => db.sql(`select closed_at is not null from accounts.account where id = '${id}'`);
const assertOk = (r) => { assert.equal(r.status, 200, r.text); assert.deepEqual(r.json, { status: 'ok' }); };

before(async () => {
  smtp = await startSmtp();
  // A prompt with "wait" gets a response that does not end.
  llm = await startLlm((request, reply) => (lastUser(request).includes('wait') ? reply.text('begun') : reply.say('done')));
  db = makeDatabase();
  server = await new Server({ database: db, llm, settings: `
[auth.jwt]
hs256_secret = "${secret}"
[notifications]
allowed_modes = ["local"]
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "runyard@example.org"
per_recipient_hour = 1000
[accounts.identity_webhook]
secrets = ["${supabaseSecret}", "${clerkSecret}"]
tokens = ["${senderToken}"]
[accounts.identity_webhook.issuers.partner]
secrets = ["${partnerSecret}"]
` }).start({ timeout: 90000 });
  admin = new Client(server, server.token({ role: 'super_admin' }));
});
after(async () => {
  await server?.close();
  await smtp?.close();
  await llm?.close();
  db?.drop();
});

// The format documented at https://supabase.com/docs/guides/auth/auth-hooks/before-user-created-hook.
const beforeUserCreated = (id, email, more = {}) => ({
  metadata: { uuid: randomUUID(), time: '2026-01-02T03:04:05.123456789Z', name: 'before-user-created', ip_address: '203.0.113.9' },
  user: { id, aud: 'authenticated', role: '', email, phone: '', app_metadata: { provider: 'email', providers: ['email'] }, user_metadata: {},
    identities: [], created_at: '0001-01-01T00:00:00Z', updated_at: '0001-01-01T00:00:00Z', is_anonymous: false, ...more },
});
const row = (type, record, oldRecord = null, more = {}) => ({ type, table: 'users', schema: 'auth', record, old_record: oldRecord, ...more });

describe('Supabase', () => {
  test('the hook "Before User Created" creates an unverified account', async () => {
    const id = randomUUID();
    assertOk(await send(beforeUserCreated(id, 'u@example.org', { user_metadata: { full_name: 'Uma' } })));
    const r = (await accountOf(id)).json;
    assert.equal(r.email, 'u@example.org');
    assert.equal(r.display_name, 'Uma');
    assert.equal(r.email_verified, false);
    assert.equal(db.sql(`select payload->>'network' from core.event where kind = 'account.created' and key = '${id}'`), '203.0.113.0/24');
  });
  test('a database webhook authenticated by a header token reports a confirmed address', async () => {
    const id = randomUUID();
    assertOk(await unsigned(row('INSERT', { id, email: 'row@example.org', email_confirmed_at: null, is_anonymous: false, raw_user_meta_data: {} }), senderToken));
    assert.equal((await accountOf(id)).json.email_verified, false);
    assertOk(await unsigned(row('UPDATE', { id, email: 'row@example.org', email_confirmed_at: '2026-01-02T03:04:05+00:00' }), senderToken));
    assert.equal((await accountOf(id)).json.email_verified, true);
    for (const wrong of ['', 'x', `${senderToken}x`, senderToken.slice(1)]) assert.equal((await unsigned(row('DELETE', null, { id }), wrong)).status, 401);
    assert.equal((await accountOf(id)).status, 200);
  });
  test('only valid confirmation values mark an address as verified', async () => {
    for (const [more, verified] of [[{ email_verified: true }, true], [{ email_verified: 'true' }, true], [{ email_confirmed_at: '2026-01-02 03:04:05+00' }, true],
      ...['false', '0', 0, 1, {}, [], null, ''].map((v) => [{ email_verified: v }, false]),
      [{ email_verified: false, email_confirmed_at: '2026-01-02T03:04:05Z' }, false],
      ...['false', '0', 0, {}, true, 'yes', '0001-01-01T00:00:00Z'].map((v) => [{ email_confirmed_at: v }, false])]) {
      const id = randomUUID();
      assertOk(await send({ type: 'user.created', data: { id, email: `${id}@example.org`, ...more } }));
      assert.equal((await accountOf(id)).json.email_verified, verified, JSON.stringify(more));
    }
  });
  test('anonymous users get no account', async () => {
    const id = randomUUID();
    assertOk(await send(beforeUserCreated(id, '', { is_anonymous: true })));
    assert.equal((await accountOf(id)).status, 404);
  });
  test('a deleted row deletes the account; rows of other tables do not', async () => {
    const id = randomUUID();
    assertOk(await send(row('INSERT', { id, email: `${id}@example.org` })));
    assertOk(await send({ ...row('DELETE', null, { id }), table: 'profiles', schema: 'public' }));
    assertOk(await send({ ...row('DELETE', null, { id }), schema: 'public' }));
    assert.equal((await accountOf(id)).status, 200);
    assertOk(await send(row('DELETE', null, { id, email: `${id}@example.org` })));
    assert.equal((await accountOf(id)).status, 404);
    assertOk(await send(row('UPDATE', { id, email: `${id}@example.org` })), 'late');
    assert.equal((await accountOf(id)).status, 404);
  });
  test('the hook "Send Email" sends the e-mail', async () => {
    const id = randomUUID(), email = `${id}@example.org`;
    const message = (more, of = {}) => ({ user: { id, email, user_metadata: {}, ...of }, email_data: { token: '305805', token_hash: '7d5b7b1964cf5d388340a7f04f1dbb5eeb6c7b52ef8270e1737a58d0',
      redirect_to: 'http://localhost:3000/?a=b', email_action_type: 'signup', site_url: 'https://project.supabase.co/auth/v1', token_new: '', token_hash_new: '', ...more } });
    const signup = message({});
    const headers = { id: `msg_${randomUUID()}` };
    assertOk(await send(signup, headers));
    assertOk(await send(signup, headers), 'a repeat');
    // Excludes the welcome e-mail.
    const authMails = () => smtp.to(email).filter((m) => /Confirm/.test(m.parsed.subject));
    const mail = await waitFor('the e-mail', () => authMails()[0]);
    assert.equal(mail.parsed.subject, 'Confirm your e-mail address');
    assert.match(mail.parsed.text, /https:\/\/project\.supabase\.co\/auth\/v1\/verify\?token=7d5b7b1964cf5d388340a7f04f1dbb5eeb6c7b52ef8270e1737a58d0&type=signup&redirect_to=http%3A%2F%2Flocalhost%3A3000%2F%3Fa%3Db/);
    assert.match(mail.parsed.text, /305805/);
    assert.equal((await accountOf(id)).json.email, email);
    assertOk(await send(message({ email_action_type: 'reauthentication', token: '111222' })));
    const code = await waitFor('the e-mail with the code', () => smtp.to(email).find((m) => m.parsed.text.includes('111222')));
    assert.doesNotMatch(code.parsed.text, /verify\?/);
    const next = `new.${id}@example.org`;
    assertOk(await send(message({ email_action_type: 'email_change', token: '1', token_hash_new: 'hash-present', token_new: '2', token_hash: 'hash-next' }, { new_email: next })));
    assert.match((await smtp.mail(next)).parsed.text, /token=hash-next&type=email_change/);
    assert.match((await waitFor('the e-mail to the present address', () => authMails().find((m) => /new e-mail/.test(m.parsed.subject)))).parsed.text, /token=hash-present&type=email_change/);
    await sleep(300);
    assert.equal(authMails().length, 3, 'the repeated webhook sent nothing');
  });
});

describe('Clerk', () => {
  const data = (id, status = 'verified') => ({ id, object: 'user', first_name: 'Ann', last_name: 'Bee', primary_email_address_id: 'idn_2',
    email_addresses: [{ id: 'idn_1', email_address: 'other@example.org', verification: { status: 'verified' } },
      { id: 'idn_2', email_address: `${id.slice(5)}@example.org`, verification: { status, strategy: 'email_code' } }],
    public_metadata: {}, private_metadata: {}, unsafe_metadata: {}, created_at: 1654012591514, updated_at: 1654012591835 });
  const event = (type, data) => ({ data, object: 'event', type, timestamp: 1654012591835, instance_id: 'ins_1', event_attributes: { http_request: { client_ip: '0.0.0.0', user_agent: '' } } });
  const options = { key: clerkSecret, family: 'svix' };
  test('user.created, user.updated and user.deleted', async () => {
    const id = `user_${randomBytes(12).toString('hex')}`;
    assertOk(await send(event('user.created', data(id, 'unverified')), options));
    const mine = user({ sub: id });
    const me = (await mine.get('/account')).json;
    assert.equal(me.display_name, 'Ann Bee');
    assert.equal(me.email_verified, false);
    assertOk(await send(event('user.updated', data(id)), options));
    assert.equal((await accountOf(me.id)).json.email_verified, true);
    const { json } = await mine.post('/api-keys', { json: {} });
    assertOk(await send(event('user.deleted', { deleted: true, id, object: 'user' }), options));
    assert.equal((await mine.get('/account')).status, 401);
    assert.equal((await new Client(server, json.key).get('/account')).status, 401);
    assert.equal((await accountOf(me.id)).status, 404);
    assert.equal(isClosed(me.id), 't');
    assert.equal(db.sql(`select actor from accounts.audit where action = 'account.delete' and account_id = '${me.id}'`), 'identity_webhook');
  });
  test('a deletion that arrives before the creation prevents the account', async () => {
    const id = `user_${randomBytes(12).toString('hex')}`;
    assertOk(await send(event('user.deleted', { deleted: true, id, object: 'user' }), options));
    assertOk(await send(event('user.created', data(id)), options));
    assert.equal(db.sql(`select count(*) from accounts.account where subject = '${id}'`), '0');
    assert.equal((await user({ sub: id }).get('/account')).status, 401);
  });
});

test('users of an additional issuer get its prefix', async () => {
  const id = randomUUID();
  assertOk(await send({ type: 'user.created', data: { id, email: `${id}@example.org` } }, { key: partnerSecret }));
  assert.equal((await accountOf(id)).status, 404);
  assert.equal(db.sql(`select count(*) from accounts.account where subject = 'partner:${id}'`), '1');
  const mine = user({ sub: id });
  await mine.get('/account');
  assertOk(await send({ type: 'user.deleted', data: { id } }, { key: partnerSecret }));
  assert.equal((await mine.get('/account')).status, 200, 'another user');
  assert.equal(db.sql(`select count(*) from accounts.account where subject = 'partner:${id}'`), '0');
});

test('messages without a valid signature are rejected', async () => {
  for (const options of [{ key: `whsec_${randomBytes(24).toString('base64')}` }, { at: Math.floor(Date.now() / 1000) - 400 }])
    assert.equal((await send({ type: 'user.deleted', data: { id: randomUUID() } }, options)).status, 401);
});

describe('deleted accounts', () => {
  test('DELETE /account removes all data and revokes all tokens; a later sign-in creates a new account', async () => {
    const id = randomUUID(), at = Math.floor(Date.now() / 1000);
    const mine = user({ sub: id, email: `${id}@example.org`, name: 'Zoe', iat: at - 10 });
    assert.equal((await mine.get('/account')).json.balance_credits, 500);
    const started = await mine.start({ prompt: 'hello' });
    assert.equal(started.status, 200, started.text);
    await mine.stream(started.json.agent_run_id);
    const key = (await mine.post('/api-keys', { json: {} })).json.key;
    assert.equal((await new Client(server, key).request('DELETE', '/account')).status, 403, 'an API key cannot delete the account');
    const inbox = await mine.post('/notifications/inbox/stream-token');
    const count = (table) => db.sql(`select count(*) from ${table} where account_id = '${id}'`);
    assert.notEqual(count('runs.threads'), '0');
    assert.equal((await mine.request('DELETE', '/account')).status, 204);
    assert.equal((await mine.get('/account')).status, 401);
    assert.equal((await mine.get('/threads')).status, 401);
    assert.equal((await new Client(server, key).get('/threads')).status, 401);
    if (inbox.status === 200) assert.equal((await fetch(`${server.url}/notifications/inbox/stream?token=${inbox.json.token}`)).status, 401);
    for (const table of ['runs.threads', 'runs.runs', 'runs.projects', 'agents.agent', 'notifications.inbox'])
      await waitFor(`the rows in ${table} to be deleted`, () => count(table) === '0');
    assert.equal(db.sql(`select email || display_name || subject from accounts.account where id = '${id}'`), `closed:${id}`);
    assert.notEqual(count('accounts.ledger'), '0', 'the ledger is kept');
    assert.equal((await accountOf(id)).status, 404);
    assert.equal((await user({ sub: id }).get('/account')).status, 401, 'a token without iat is rejected as well');
    const again = user({ sub: id, email: `${id}@example.org`, iat: at + 30, nbf: at - 10 });
    const next = (await again.get('/account')).json;
    assert.notEqual(next.id, id);
    assert.equal(next.balance_credits, 0, 'starting credits are not granted again');
  });
  test('after a restart, tokens of the new account work and tokens of the old one do not', async () => {
    const id = randomUUID(), at = Math.floor(Date.now() / 1000);
    const old = user({ sub: id, iat: at - 10, role: 'admin' });
    assert.equal((await old.get('/admin/jobs')).status, 200);
    const first = (await old.get('/account')).json.id;
    assert.equal((await old.request('DELETE', '/account')).status, 204);
    await sleep(1100);
    const again = user({ sub: id, iat: Math.floor(Date.now() / 1000) });
    const second = (await again.get('/account')).json.id;
    assert.notEqual(second, first);
    assert.equal((await admin.post(`/admin/accounts/${second}/grant`, { json: { credits: 5 } })).status, 200);
    const started = await again.start({ prompt: 'hello' });
    assert.equal(started.status, 200, started.text);
    const run = started.json.agent_run_id;
    const { token } = (await again.post(`/agent-run/${run}/stream-token`)).json;
    const streamStatus = async () => {
      const r = await fetch(`${server.url}/agent-run/${run}/stream?token=${token}`);
      await r.body?.cancel();
      return r.status;
    };
    assert.equal(await streamStatus(), 200);
    await server.stop();
    await server.start({ timeout: 90000 });
    assert.equal((await again.get('/account')).json.id, second);
    assert.equal(await streamStatus(), 200);
    assert.equal((await again.get('/admin/jobs')).status, 403);
    assert.equal((await old.get('/admin/jobs')).status, 401, 'a route that does not look up the account');
    assert.equal((await old.get('/account')).status, 401);
    assert.equal((await old.get('/threads')).status, 401);
  });
  test('deleting an account stops its runs', async () => {
    const mine = user({ sub: randomUUID(), email: 'busy@example.org' });
    const id = (await mine.get('/account')).json.id;
    const started = await mine.start({ prompt: 'wait' });
    assert.equal(started.status, 200, started.text);
    await mine.stream(started.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
    assert.equal((await admin.request('DELETE', `/admin/accounts/${id}`, { json: { reason: 'asked' } })).status, 204);
    await waitFor('the threads to be deleted', () => db.sql(`select count(*) from runs.threads where account_id = '${id}'`) === '0');
    assert.equal(db.sql(`select detail->>'reason' from accounts.audit where action = 'account.delete' and account_id = '${id}'`), 'asked');
    assert.equal((await admin.request('DELETE', `/admin/accounts/${id}`)).status, 404);
    assert.equal((await admin.post(`/admin/accounts/${id}/grant`, { json: { credits: 5 } })).status, 404);
    assert.equal((await admin.request('PUT', `/admin/accounts/${id}`, { json: { tier: 'pro' } })).status, 404);
  });
  test('an admin cannot delete accounts with a role or unknown accounts', async () => {
    const plain = new Client(server, server.token({ role: 'admin' }));
    const otherAdmin = user({ sub: randomUUID() });
    const id = (await otherAdmin.get('/account')).json.id;
    assert.equal((await admin.request('PUT', `/admin/accounts/${id}`, { json: { role: 'admin' } })).status, 200);
    assert.equal((await plain.request('DELETE', `/admin/accounts/${id}`)).status, 403);
    assert.equal((await plain.request('DELETE', `/admin/accounts/${randomUUID()}`)).status, 404);
    assert.equal((await plain.request('DELETE', '/admin/accounts/x')).status, 400);
    assert.equal((await otherAdmin.request('DELETE', '/account')).status, 204);
    // The role is granted only by tokens of the identity provider.
    for (const role of ['super_admin', 'admin']) {
      const sub = randomUUID();
      const named = (await user({ sub, role }).get('/account')).json.id;
      assert.equal((await user({ sub }).get('/account')).status, 200, 'a later token without the role changes nothing');
      assert.equal(db.sql(`select role from accounts.account where id = '${named}'`), '0');
      assert.equal((await plain.request('DELETE', `/admin/accounts/${named}`)).status, 403, role);
      assert.equal((await admin.request('DELETE', `/admin/accounts/${named}`)).status, 204, role);
    }
  });
});

describe('POST /admin/events', () => {
  const event = (account_id, more = {}, payload = {}) => ({ kind: 'payment.succeeded', key: `in_${randomUUID()}`, payload: { account_id, amount: 20, currency: 'EUR', plan_name: 'pro', ...payload }, ...more });
  test('both workflows run, once per key', async () => {
    const mine = user({ sub: randomUUID(), email: `${randomUUID()}@example.org` });
    const id = (await mine.get('/account')).json.id;
    const paid = event(id), failed = { kind: 'payment.failed', key: paid.key, payload: { account_id: id, amount: '20.00', currency: 'EUR', reason: 'The card was declined' } };
    for (const e of [paid, failed]) {
      const first = await admin.post('/admin/events', { json: e });
      assert.equal(first.status, 200, first.text);
      assert.equal(first.json.replayed, false);
      const repeats = await Promise.all([1, 2, 3].map(() => admin.post('/admin/events', { json: e })));
      for (const r of repeats) assert.deepEqual(r.json, { ...first.json, replayed: true });
      assert.equal(db.sql(`select count(*) from core.event where kind = '${e.kind}' and key = '${id}'`), '1');
      assert.equal(db.sql(`select detail->>'key' from accounts.audit where action = 'event.publish' and account_id = '${id}' and detail->>'kind' = '${e.kind}'`), e.key);
    }
    for (const workflow of ['payment-succeeded', 'payment-failed'])
      await waitFor(workflow, () => db.sql(`select count(*) from notifications.notification where account_id = '${id}' and workflow = '${workflow}'`) === '1');
    const other = await admin.post('/admin/events', { json: { ...paid, payload: { ...paid.payload, amount: 21 } } });
    assert.equal(other.status, 409);
    assert.equal(other.json.detail.error_code, 'IDEMPOTENCY_KEY_REUSED');
  });
  test('malformed messages are rejected by member name', async () => {
    const mine = user({ sub: randomUUID() });
    const id = (await mine.get('/account')).json.id;
    assert.equal((await mine.post('/admin/events', { json: event(id) })).status, 403);
    assert.equal((await admin.post('/admin/events', { json: event(randomUUID()) })).status, 404);
    assert.equal((await admin.post('/admin/events', { body: '[]', headers: { 'content-type': 'application/json' } })).status, 400);
    for (const [json, member] of [[event(id, { kind: 'payment.refunded' }), 'kind'], [event(id, { key: '' }), 'key'], [event(id, { key: undefined }), 'key'],
      [event(id, { payload: undefined }), 'payload'], [event(id, { more: 1 }), 'more'], [event('x'), 'payload.account_id'], [event(id, {}, { amount: -1 }), 'payload.amount'],
      [event(id, {}, { amount: 1e10 }), 'payload.amount'], [event(id, {}, { amount: '1e3' }), 'payload.amount'], [event(id, {}, { amount: 0.0000001 }), 'payload.amount'],
      [event(id, {}, { amount: undefined }), 'payload.amount'], [event(id, {}, { currency: 'EURO' }), 'payload.currency'], [event(id, {}, { plan_name: 7 }), 'payload.plan_name'],
      [event(id, {}, { card: '4111' }), 'payload.card'], [event(id, { kind: 'payment.failed' }), 'payload.plan_name']]) {
      const r = await admin.post('/admin/events', { json });
      assert.equal(r.status, 422, JSON.stringify(json));
      assert.match(r.json.detail, new RegExp(`^${member.replace('.', '\\.')} `), r.text);
    }
  });
});
