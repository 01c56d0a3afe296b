// The referral metrics: invitations by outcome, sign-ups with a code, and the referrals in the database by state and
// reason.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Client, Server, makeDatabase, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';
import { signToken } from './lib/tokens.mjs';

const secret = 'a shared secret of thirty-two bytes or more';
let db, smtp, server, admin;

before(async () => {
  smtp = await startSmtp();
  db = makeDatabase();
  server = await new Server({ database: db, settings: `
[auth.jwt]
hs256_secret = "${secret}"
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "no-reply@example.test"
[referrals]
app_url = "https://app.example.test"
cap_credits = 150
send_wait_seconds = 10
invites_per_hour = 4
disposable_domains = ["throwaway.example"]
[reload]
drain_seconds = 1
` }).start({ timeout: 90000 });
  admin = new Client(server, server.token({ role: 'super_admin' }));
});
after(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
});

const person = (claims, sub = randomUUID()) => new Client(server, signToken('HS256', secret, { sub, email_verified: true, ...claims }), sub);
const codeOf = async (account) => (await account.get('/api/v1/referrals/code')).json.referral_code;
async function readMetric(name) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const lines = text.split('\n').filter((l) => new RegExp(`^runyard_referrals_${name}[{ ]`).test(l));
  return Object.fromEntries(lines.map((l) => [/="([^"]*)"/.exec(l)?.[1] ?? '', Number(l.slice(l.lastIndexOf(' ') + 1))]));
}
const nonZero = (o) => Object.fromEntries(Object.entries(o).filter(([, n]) => n !== 0));
// A reload starts a new module instance, which counts the referrals at its start.
async function recount() {
  const r = await admin.post('/admin/modules/referrals/reload');
  assert.equal(r.status, 200, r.text);
}

test('every series starts at 0', async () => {
  assert.deepEqual(Object.keys(await readMetric('invitations_total')).sort(),
    ['failed', 'invited', 'limit', 'own', 'queued', 'sent', 'suppressed', 'throttled']);
  assert.deepEqual(Object.keys(await readMetric('pending')).sort(), ['cap_reached', 'code_suspended', 'not_qualified', 'on_hold', 'under_review']);
  assert.deepEqual(Object.keys(await readMetric('void')).sort(),
    ['account_deleted', 'code_refreshed', 'disposable_address', 'revoked', 'same_mailbox', 'self_referral']);
  for (const name of ['invitations_total', 'sign_ups_total', 'pending', 'void', 'paid']) assert.deepEqual(nonZero(await readMetric(name)), {}, name);
});

test('invitations by outcome', async () => {
  const ann = person({ email: 'ann@example.test' });
  const send = async (email) => ann.post('/api/v1/referrals/send', { json: { email } });
  await send('first@example.test');
  await send('first@example.test');
  await send('ann+me@example.test');
  smtp.faults.rcpt = () => [550, '5.1.1 No such user'];
  await send('nowhere@example.test');
  await send('nowhere@example.test');
  smtp.faults.rcpt = () => [451, '4.3.0 Not now'];
  await ann.post('/api/v1/referrals/send-bulk', { json: { emails: ['a@example.test', 'b@example.test'] } });
  delete smtp.faults.rcpt;
  assert.equal((await send('c@example.test')).json.success, true);
  assert.equal((await send('d@example.test')).status, 429);
  assert.deepEqual(nonZero(await readMetric('invitations_total')), { sent: 2, invited: 1, own: 1, failed: 1, suppressed: 1, queued: 2, limit: 1 });
});

test('sign-ups with a code, and the referrals by state', async () => {
  const ann = person({ email: 'anna@example.test' });
  const code = await codeOf(ann);
  const join = async (email, claims = {}) => { const p = person({ email, user_metadata: { referral_code: code }, ...claims }); await p.get('/account'); return p; };
  const sorted = (o) => JSON.stringify(Object.entries(o).sort());
  const waitForSignUps = (expected) => waitFor(`sign-ups: ${sorted(expected)}`, async () => sorted(nonZero(await readMetric('sign_ups_total'))) === sorted(expected));
  const bob = await join('bob@example.test');
  await waitForSignUps({ successful: 1 });
  await join('carl@example.test');
  await join('dora@example.test');
  await join('later@example.test', { email_verified: false });
  await join('x@throwaway.example');
  await join('bob+again@example.test');
  await join('odd@example.test', { user_metadata: { referral_code: 'ZZZZ9999' } });
  await waitForSignUps({ successful: 2, cap_reached: 1, pending: 1, void: 2, unknown_code: 1 });

  await recount();
  await waitFor('the count', async () => (await readMetric('paid'))[''] === 2);
  assert.deepEqual(nonZero(await readMetric('pending')), { cap_reached: 1, not_qualified: 1 });
  assert.deepEqual(nonZero(await readMetric('void')), { disposable_address: 1, same_mailbox: 1 });
  // The last reward of the referrer is reduced to the remainder below the cap.
  assert.deepEqual(await readMetric('paid_credits'), { referrer: 150, referee: 200 });

  const [first] = (await ann.get('/api/v1/referrals/history')).json.filter((r) => r.referred_account_id === bob.id);
  assert.equal((await admin.post(`/admin/referrals/${first.id}/revoke`, { json: {} })).status, 200);
  await recount();
  await waitFor('the count', async () => (await readMetric('paid'))[''] === 1);
  assert.deepEqual(nonZero(await readMetric('void')), { disposable_address: 1, same_mailbox: 1, revoked: 1 });
  assert.deepEqual(await readMetric('paid_credits'), { referrer: 50, referee: 100 });
});
