// Fraud signals of sign-ups reach the reviewers of referrals: sign-ups from one network by the form, by the identity
// webhook and by a token. The server runs behind a proxy with a base path.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Client, Server, makeDatabase, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const password = 'correct horse battery';
let db, smtp, server, admin;

before(async () => {
  smtp = await startSmtp();
  db = makeDatabase();
  server = await new Server({
    database: db,
    set: ['http.public_url=https://app.example.test', 'http.base_path=/p', 'http.trusted_proxies=["127.0.0.1"]'],
    settings: `
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "no-reply@example.test"
[accounts]
local_login = true
[accounts.login]
hash_memory_mib = 8
[accounts.identity_webhook]
secrets = ["${secret}"]
`,
  }).start();
  server.url += '/p';
  admin = new Client(server, server.token({ role: 'admin' }));
});
after(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
});

async function signUp(email, { code, from } = {}) {
  const headers = { 'content-type': 'application/json', ...(from && { 'x-forwarded-for': from }) };
  const post = async (path, body) => {
    const r = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    assert.ok(r.ok, `${path}: ${r.status}`);
    return r.json();
  };
  const { proof } = await post('/auth/sign-up', { email, password, referral_code: code });
  const mail = await smtp.mail(email);
  const token = /https:\/\/app\.example\.test\/p\/auth#verify=([\w-]+)/.exec(mail.parsed.text)[1];
  const tokens = await post('/auth/verify', { token, proof });
  return new Client(server, tokens.access_token, tokens.account_id);
}
const recordedNetwork = (id) => db.sql(`select coalesce(payload->>'network', 'none') from core.event where kind = 'account.created' and key = '${id}'`);
const referralOf = (referrer, id) =>
  waitFor('the referral', async () => (await referrer.get('/api/v1/referrals/history')).json.find((r) => r.referred_account_id === id && r.reason !== 'not_qualified'));

test('referrals from one network are held for review if an address has a tag', async () => {
  const ann = await signUp('ann@example.test');
  assert.equal(recordedNetwork(ann.id), 'none', 'the network of the local machine is not recorded');
  const { referral_code: code, referral_link: link } = (await ann.get('/api/v1/referrals/code')).json;
  assert.equal(link, `https://app.example.test/p/auth?ref=${code}`, 'the link uses the public URL and the base path');

  const form = await signUp('one@example.test', { code, from: '203.0.113.10' });
  assert.equal(recordedNetwork(form.id), '203.0.113.0/24');
  assert.equal((await referralOf(ann, form.id)).status, 'successful');

  const sub = randomUUID();
  const body = JSON.stringify({ type: 'user.created', data: { id: sub, email: 'two@example.test', email_verified: true, user_metadata: { referral_code: code } },
    event_attributes: { http_request: { client_ip: '203.0.113.77' } } });
  const sentAt = new Date();
  const signature = new Webhook(secret).sign('m1', sentAt, body);
  const hook = await fetch(`${server.url}/auth/webhooks/identity`, { method: 'POST', body,
    headers: { 'content-type': 'application/json', 'webhook-id': 'm1', 'webhook-timestamp': String(Math.floor(sentAt / 1000)), 'webhook-signature': signature } });
  assert.equal(hook.status, 200);
  assert.equal(recordedNetwork(sub), '203.0.113.0/24');
  assert.equal((await referralOf(ann, sub)).status, 'successful');

  const third = await signUp('three+ann@example.test', { code, from: '203.0.113.200' });
  const heldReferral = await referralOf(ann, third.id);
  assert.deepEqual([heldReferral.status, heldReferral.reason, heldReferral.credits_awarded], ['pending', 'under_review', 0]);
  const { referrals } = (await admin.get('/admin/referrals')).json;
  assert.deepEqual(referrals.map((r) => [r.referred_account_id, r.signals]), [[third.id, { tagged_address: 1, same_network: 2 }]]);
  assert.equal((await admin.post(`/admin/referrals/${heldReferral.id}/release`)).status, 200);
  assert.equal((await referralOf(ann, third.id)).status, 'successful');

  const sameNetwork = await signUp('five+one@example.test', { code: (await form.get('/api/v1/referrals/code')).json.referral_code, from: '203.0.113.11' });
  await referralOf(form, sameNetwork.id);
  assert.deepEqual(JSON.parse(db.sql(`select signals from referrals.referral where referred_account_id = '${sameNetwork.id}'`)), { tagged_address: 1, network_of_referrer: 1 });

  const elsewhere = await signUp('four+ann@example.test', { code, from: '2001:db8:1:2:3::9' });
  assert.equal(recordedNetwork(elsewhere.id), '2001:db8:1:2::/64');
  assert.equal((await referralOf(ann, elsewhere.id)).status, 'successful', 'a tagged address alone is not held');
});

test('a token sign-up records the network of the first /account request, but no private network', async () => {
  for (const [from, network] of [['198.51.100.4', '198.51.100.0/24'], ['10.0.0.8', 'none'], ['nonsense', 'none']]) {
    const id = randomUUID();
    const me = new Client(server, server.token({ subject: id }), id);
    assert.equal((await me.request('GET', '/account', { headers: { 'x-forwarded-for': from } })).status, 200);
    assert.equal(recordedNetwork(id), network, from);
  }
});

test('full IP addresses are never stored', () => {
  const all = db.sql(`select (select string_agg(payload::text, '') from core.event) || coalesce((select string_agg(args::text, '') from core.job), '')
    || coalesce((select string_agg(r::text, '') from referrals.referral r), '') || coalesce((select string_agg(s::text, '') from accounts.sign_up s), '')`);
  for (const address of ['203.0.113.10', '203.0.113.77', '203.0.113.200', '2001:db8:1:2:3', '198.51.100.4']) assert.ok(!all.includes(address), address);
});
