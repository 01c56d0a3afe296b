// A invites B by e-mail, B signs up with the code in the link, and both receive credits.
import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Client, Server, makeDatabase, waitFor } from './lib/server.mjs';
import { makeCertificate } from './lib/certificate.mjs';
import { startSmtp } from './lib/smtp.mjs';
import { webhookHeaders } from './lib/tokens.mjs';

const secret = 'a-secret-of-at-least-32-bytes-for-this-test';
const certificate = makeCertificate();
let db, smtp, server;

function token(claims) {
  const part = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ exp: Math.floor(Date.now() / 1000) + 600, ...claims })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
const userWith = (claims, id = randomUUID()) => new Client(server, token({ sub: id, ...claims }), id);

before(async () => {
  smtp = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush' });
  db = makeDatabase();
  server = new Server({
    database: db,
    set: ['http.public_url=https://api.example.test', 'referrals.app_url=https://app.example.test/', `auth.jwt.hs256_secret=${secret}`],
    settings: `
[mail]
host = "localhost"
port = ${smtp.port}
username = "relay"
password = "hush-hush-hush"
ca_file = "${certificate.file}"
from = "no-reply@example.test"
[referrals]
send_wait_seconds = 10
`,
  });
  await server.start();
});
after(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
  certificate.remove();
});

test('an invitation leads to a sign-up and credits for both accounts', async () => {
  const ann = userWith({ email: 'ann@example.test', email_verified: true, user_metadata: { full_name: 'Ann <b>Æ</b>\r\nhttp://evil.test' } });
  const { referral_code: code } = (await ann.get('/api/v1/referrals/code')).json;
  const sent = await ann.post('/api/v1/referrals/send', { json: { email: 'bob@example.test' } });
  assert.deepEqual(sent.json, { success: true, message: 'Referral email sent' });

  const m = await smtp.mail('bob@example.test');
  assert.equal(m.secure, true);
  assert.ok(!m.raw.includes('ann@example.test'), 'the e-mail does not contain the address of the inviter');
  assert.ok(!m.raw.includes('evil.test'));
  assert.ok(!/<b>/.test(m.parsed.html), 'user input is escaped');
  assert.match(m.parsed.subject, /invites you to Runyard$/);
  const link = /https:\S+\/auth\?ref=[A-Z2-9]+/.exec(m.parsed.text)[0];
  assert.equal(link, `https://app.example.test/auth?ref=${code}`);
  assert.ok(m.parsed.html.includes(`href="${link}"`));
  assert.match(m.parsed.text, /100 credits/);
  const list = m.parsed.headers.get('list').unsubscribe.url;
  assert.match(list, /^https:\/\/api\.example\.test\/mail\/unsubscribe\//);
  assert.ok(m.parsed.text.includes(list));
  assert.match(m.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);

  const used = new URL(link).searchParams.get('ref').toLowerCase();
  const anonymous = (await new Client(server).post('/api/v1/referrals/validate', { json: { code: used } })).json;
  assert.equal(anonymous.valid, true);
  assert.match(anonymous.referrer_id, /^[0-9a-f-]{36}$/);
  assert.notEqual(anonymous.referrer_id, ann.id, 'anonymous clients do not see account ids');
  const bob = userWith({ email: 'bob@example.test', email_verified: true, user_metadata: { referral_code: used } });
  assert.equal((await bob.get('/account')).json.balance_credits, 500);
  const [record] = await waitFor('the referral', async () => { const h = (await ann.get('/api/v1/referrals/history')).json; return h[0]?.status === 'successful' ? h : undefined; });
  assert.deepEqual([record.referred_account_id, record.credits_awarded, record.referral_code], [bob.id, 100, code]);
  assert.equal((await ann.get('/account')).json.balance_credits, 600);
  assert.equal((await bob.get('/account')).json.balance_credits, 600);
  assert.ok(!JSON.stringify(record).includes('bob@'), 'the history contains no address');
});

test('one-click unsubscribe blocks invitations from all accounts', async () => {
  const list = (await smtp.mail('bob@example.test')).parsed.headers.get('list').unsubscribe.url;
  const r = await fetch(server.url + new URL(list).pathname, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }), redirect: 'error' });
  assert.equal(r.status, 200);
  const cat = userWith({ email: 'cat@example.test', email_verified: true });
  const rejected = await cat.post('/api/v1/referrals/send', { json: { email: 'Bob@example.test' } });
  assert.deepEqual(rejected.json, { success: false, message: 'This address does not accept invitations' });
  assert.equal(smtp.to('bob@example.test').length, 1);
});

test('outside local mode, addresses in domains without internet e-mail are rejected', async () => {
  const other = makeDatabase();
  const hook = `v1,whsec_${randomBytes(32).toString('base64')}`;
  const s = new Server({ database: other, set: ['deployment.mode=staging', 'accounts.local_login=true', 'accounts.login.hash_memory_mib=8', 'http.public_url=https://api.example.org',
    'referrals.app_url=https://app.example.org', `auth.jwt.hs256_secret=${secret}`], settings: `
[mail]
host = "localhost"
port = ${smtp.port}
username = "relay"
password = "hush-hush-hush"
ca_file = "${certificate.file}"
from = "no-reply@example.org"
[accounts.identity_webhook]
secrets = ["${hook}"]
[referrals]
send_wait_seconds = 10
` });
  try {
    await s.start();
    const eve = new Client(s, token({ sub: randomUUID(), email: 'eve@example.org', email_verified: true }));
    for (const email of ['a@localhost', 'a@mailhost', 'a@x.invalid', 'a@x.test', 'a@x.example', 'a@printer.local']) {
      const one = await eve.post('/api/v1/referrals/send', { json: { email } });
      assert.deepEqual([one.status, one.json.detail], [422, 'email has a domain that cannot receive e-mail from the internet'], email);
      const signUp = await new Client(s).post('/auth/sign-up', { json: { email, password: 'correct horse battery' } });
      assert.deepEqual([signUp.status, signUp.json.detail], [422, 'email has a domain that cannot receive e-mail from the internet'], email);
    }
    const message = JSON.stringify({ user: { id: randomUUID(), email: 'a@x.test', user_metadata: {} }, email_data: { token: '305805', token_hash: '7d5b7b19', token_new: '',
      token_hash_new: '', redirect_to: '', email_action_type: 'signup', site_url: 'https://project.supabase.co/auth/v1' } });
    const hooked = await new Client(s).post('/auth/webhooks/identity', { body: message, headers: webhookHeaders(message, hook) });
    assert.deepEqual([hooked.status, hooked.json.detail], [422, 'email has a domain that cannot receive e-mail from the internet']);
    for (const email of ['a@192.0.2.1', 'a@[192.0.2.1]']) assert.equal((await eve.post('/api/v1/referrals/send', { json: { email } })).status, 422, email);
    const bulk = await eve.post('/api/v1/referrals/send-bulk', { json: { emails: ['a@x.test', 'ok@example.org'] } });
    assert.deepEqual(bulk.json.results.map((r) => [r.success, r.message]), [[false, 'Invalid email address'], [true, 'Referral email sent']]);
    assert.equal((await new Client(s).post('/auth/sign-up', { json: { email: 'new@example.org', password: 'correct horse battery' } })).status, 202);
  } finally {
    await s.close();
    other.drop();
  }
});

test('an unreachable relay is reported, and the e-mail is sent when it is back', async () => {
  smtp.faults.rcpt = () => [451, '4.3.0 Not now'];
  const dan = userWith({ email: 'dan@example.test', email_verified: true });
  const r = await dan.post('/api/v1/referrals/send', { json: { email: 'later@example.test' } });
  assert.equal(r.json.success, true);
  assert.match(r.json.message, /queued/);
  assert.equal(smtp.to('later@example.test').length, 0);
  delete smtp.faults.rcpt;
  db.sql(`update core.job set run_at = now() where kind = 'mail.send' and state = 3`);
  await smtp.mail('later@example.test');
});

test('an award that fails does not block the others', async () => {
  const fay = userWith({ email: 'fay@example.test', email_verified: true });
  const { referral_code: code } = (await fay.get('/api/v1/referrals/code')).json;
  const friends = [1, 2, 3].map((n) => userWith({ email: `fays${n}@example.test`, user_metadata: { referral_code: code } }));
  for (const f of friends) assert.equal((await f.get('/account')).status, 200);
  await waitFor('three pending referrals', async () => (await fay.get('/api/v1/referrals/history')).json.length === 3);
  // This account does not exist, so its award fails.
  const unknownAccount = randomUUID();
  db.sql(`insert into referrals.referral (referrer_id, referred_account_id, code_id) select '${fay.id}', '${unknownAccount}', id from referrals.code where code = '${code}'`);
  db.sql(`select count(core.event_publish('account.verified', id, '{}')) from unnest(array['${friends.map((f) => f.id).join("','")}', '${unknownAccount}']) id`);
  const history = await waitFor('the other three awards', async () => { const h = (await fay.get('/api/v1/referrals/history')).json; return h.filter((r) => r.status === 'successful').length === 3 && h; });
  assert.deepEqual(history.filter((r) => r.status === 'pending').map((r) => [r.referred_account_id, r.credits_awarded]), [[unknownAccount, 0]]);
  assert.equal((await fay.get('/account')).json.balance_credits, 800);
  await waitFor('the log line', () => server.log.includes('a referral could not be settled'));
  assert.equal(db.sql('select count(*) from accounts.unbalanced()'), '0');
});

test('differences from the ledger are reported to the operator', async () => {
  db.sql(`update referrals.counter set earned = earned - 1; select core.job_enqueue('referrals.check', '{}')`);
  await waitFor('the log line', () => server.log.includes('ledger of a referrer do not match'));
  db.sql('update referrals.counter set earned = earned + 1');
});

test('invitations fail without a mail server and without the module mail', async () => {
  for (const set of [[], ['modules.mail.enabled=false']]) {
    const other = makeDatabase();
    const s = new Server({ database: other, set: [`auth.jwt.hs256_secret=${secret}`, ...set] });
    try {
      await s.start();
      const eve = new Client(s, token({ sub: randomUUID(), email: 'eve@example.test' }));
      const r = await eve.post('/api/v1/referrals/send', { json: { email: 'x@example.test' } });
      assert.deepEqual([r.status, r.json], [200, { success: false, message: 'Failed to send email' }]);
      assert.equal((await eve.get('/api/v1/referrals/stats')).json.total_referrals, 0);
    } finally {
      await s.close();
      other.drop();
    }
  }
});
