// Referrals in the quick-start configuration, detection of one mailbox with several addresses, invitations at the
// limit, and the information for referrer and referee.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Client, Server, makeDatabase, waitFor } from './lib/server.mjs';
import { password } from './lib/login.mjs';
import { startSmtp } from './lib/smtp.mjs';
import { signToken } from './lib/tokens.mjs';

const secret = 'a shared secret of thirty-two bytes or more';
let db, smtp, server;

const settings = (smtp) => `
[auth.jwt]
hs256_secret = "${secret}"
[notifications]
allowed_modes = ["local"]
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "no-reply@example.test"
[accounts]
local_login = true
[accounts.login]
verify = "none"
hash_memory_mib = 8
attempts_per_network = 1000
[referrals]
app_url = "https://app.example.test"
cap_credits = 350
send_wait_seconds = 0
`;
before(async () => {
  smtp = await startSmtp();
  db = makeDatabase();
  server = await new Server({ database: db, settings: settings(smtp) }).start({ timeout: 90000 });
});
after(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
});

const signUp = async (email, referral_code) => {
  const r = await new Client(server).post('/auth/sign-up', { json: { email, password, referral_code } });
  assert.equal(r.status, 201, r.text);
  return new Client(server, r.json.access_token, r.json.account_id);
};
const person = (claims) => { const sub = randomUUID(); return new Client(server, signToken('HS256', secret, { sub, ...claims }), sub); };
const codeOf = async (account) => (await account.get('/api/v1/referrals/code')).json.referral_code;
const balance = async (account) => (await account.get('/account')).json.balance_credits;
const history = async (account) => (await account.get('/api/v1/referrals/history')).json;

test('a sign-up without confirmation is rewarded, and the referrer is notified', async () => {
  const ann = await signUp('ann@example.test');
  const code = await codeOf(ann);
  const valid = (await new Client(server).post('/api/v1/referrals/validate', { json: { code } })).json;
  assert.deepEqual(Object.keys(valid).sort(), ['referrer_id', 'valid']);
  const bob = await signUp('bob@example.test', code);
  await waitFor('the credits', async () => (await balance(bob)) === 600);
  assert.equal(await balance(ann), 600);
  assert.equal((await history(ann))[0].status, 'successful');
  const { received } = (await bob.get('/api/v1/referrals/received')).json;
  assert.deepEqual([received.status, received.credits, received.reason, received.message], ['successful', 100, null, null]);
  assert.equal((await ann.get('/api/v1/referrals/received')).json.received, null);
  const reported = await waitFor('the notification', async () =>
    (await ann.get('/notifications/inbox')).json.notifications?.find((n) => n.workflow_id === 'referral-successful'));
  assert.equal(reported.payload.credits_awarded, 100);
  assert.match((await waitFor('the mail', () => smtp.to('ann@example.test').find((m) => /100 credits/.test(m.parsed.subject)))).parsed.text, /friend/);
});

test('the reward of an identity provider account waits for a verified address, with a reason', async () => {
  const ann = person({ email: 'annie@example.test', email_verified: true });
  const code = await codeOf(ann);
  const bob = person({ email: 'bobby@example.test', email_verified: 'false', user_metadata: { referral_code: code } });
  await bob.get('/account');
  const received = await waitFor('the referral', async () => (await bob.get('/api/v1/referrals/received')).json.received);
  assert.deepEqual([received.status, received.credits, received.bonus_credits, received.reason], ['pending', 0, 100, 'not_qualified']);
  assert.match(received.message, /Confirm your e-mail address/);
  assert.equal(await balance(bob), 500);
  const verified = new Client(server, signToken('HS256', secret, { sub: bob.id, email: 'bobby@example.test', email_verified: 'true' }), bob.id);
  await verified.get('/account');
  await waitFor('the credits', async () => (await balance(verified)) === 600);
});

test('sign-ups with aliases of one mailbox are rewarded once', async () => {
  const ann = person({ email: 'carol@example.test', email_verified: true });
  const code = await codeOf(ann);
  const aliases = Array.from({ length: 30 }, (_, i) => (i % 2 ? `fa.rm+${i}@gmail.com` : `f.arm+${i}@googlemail.com`));
  for (const email of aliases) await person({ email, email_verified: true, user_metadata: { referral_code: code } }).get('/account');
  await waitFor('all referrals', async () => (await history(ann)).length === 30);
  const all = await history(ann);
  assert.equal(all.filter((r) => r.status === 'successful').length, 1);
  assert.deepEqual([...new Set(all.filter((r) => r.status !== 'successful').map((r) => r.reason))], ['same_mailbox']);
  assert.equal(await balance(ann), 600);
  // An account that changes to an alias of the same mailbox before its address is confirmed.
  const late = person({ email: 'fresh@example.test', user_metadata: { referral_code: code } });
  await late.get('/account');
  await waitFor('the pending referral', async () => (await history(ann))[0].reason === 'not_qualified');
  const moved = new Client(server, signToken('HS256', secret, { sub: late.id, email: 'farm+99@gmail.com', email_verified: true }), late.id);
  await waitFor('the void referral', async () => { await moved.get('/account'); return (await history(ann))[0].reason === 'same_mailbox'; });
});

test('a disposable address earns nothing', async () => {
  const ann = person({ email: 'greta@example.test', email_verified: true });
  const code = await codeOf(ann);
  await person({ email: 'x@Mailinator.com', email_verified: true, user_metadata: { referral_code: code } }).get('/account');
  await waitFor('the void referral', async () => (await history(ann))[0]?.reason === 'disposable_address');
  assert.equal(await balance(ann), 500);
});

test('an invitation at the limit promises no credits', async () => {
  const ann = person({ email: 'dora@example.test', email_verified: true, name: 'Dora' });
  const code = await codeOf(ann);
  const invite = async (email) => {
    const r = await ann.post('/api/v1/referrals/send', { json: { email } });
    assert.equal(r.json.success, true, r.text);
    return { message: r.json.message, text: (await smtp.mail(email)).parsed.text };
  };
  assert.match((await invite('first@example.test')).text, /Join and you both get 100 credits/);
  const join = async (n) => { const p = person({ email: `d${n}@example.test`, email_verified: true, user_metadata: { referral_code: code } }); await p.get('/account'); return p; };
  for (const n of [1, 2, 3]) await join(n);
  await waitFor('three rewards', async () => (await ann.get('/api/v1/referrals/stats')).json.total_credits_earned === 300);
  const near = await invite('near@example.test');
  assert.match(near.text, /Join and you get 100 credits/);
  assert.doesNotMatch(near.text, /you both/);
  await join(4);
  await waitFor('the limit to be reached', async () => (await ann.get('/api/v1/referrals/stats')).json.has_reached_limit);
  const last = await invite('last@example.test');
  assert.doesNotMatch(last.text, /credits/);
  assert.match(last.message, /limit/);
  const bulk = (await ann.post('/api/v1/referrals/send-bulk', { json: { emails: ['more@example.test'] } })).json;
  assert.match(bulk.results[0].message, /limit/);
  assert.equal((await new Client(server).post('/api/v1/referrals/validate', { json: { code } })).json.credits, 0);
  const fifth = await join(5);
  const received = await waitFor('the referral', async () => (await fifth.get('/api/v1/referrals/received')).json.received);
  assert.equal(received.reason, 'cap_reached');
  assert.match(received.message, /limit/);
});

test('a deleted account earns nothing, and its code is no longer valid', async () => {
  const ann = person({ email: 'erin@example.test', email_verified: true });
  const code = await codeOf(ann);
  const bob = person({ email: 'fred@example.test', user_metadata: { referral_code: code } });
  await bob.get('/account');
  await waitFor('the pending referral', async () => (await history(ann))[0]?.reason === 'not_qualified');
  const admin = new Client(server, server.token({ role: 'super_admin' }));
  assert.equal((await admin.request('DELETE', `/admin/accounts/${ann.id}`)).status, 204);
  const { received } = await waitFor('the void referral', async () => { const r = (await bob.get('/api/v1/referrals/received')).json; return r.received.reason === 'void' && r; });
  assert.equal(received.credits, 0);
  await waitFor('the code to be invalid', async () => (await new Client(server).post('/api/v1/referrals/validate', { json: { code } })).json.valid === false);
});
