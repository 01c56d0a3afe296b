// Which addresses receive e-mail: bounces, suppressions, rate limits and international addresses.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

const quote = (s) => `'${s.replaceAll("'", "''")}'`;
let db, smtp, server, admin;

async function startDeployment(port, more = '') {
  const w = { db: makeDatabase() };
  w.server = new Server({ database: w.db, set: ['http.public_url=https://app.test'], settings: `
[mail]
host = "127.0.0.1"
port = ${port}
security = "none"
from = "no-reply@runyard.test"
${more}` });
  await w.server.start();
  w.close = async () => { await w.server.close(); w.db.drop(); };
  return w;
}
const enqueue = (database, to, { category = 'invitation', subject = 'Hello' } = {}) =>
  database.sql(`select coalesce(id::text, outcome) from mail.enqueue(${quote(category)}, ${quote(to)}, ${quote(subject)}, 'text')`);
const row = (database, id) => JSON.parse(database.sql(`select to_jsonb(m) - 'body_html' - 'body_text' from mail.message m where id = '${id}'`));
// Makes retries immediate, without their backoff.
const retryNow = (database) => database.sql(`update core.job set run_at = now() where kind like 'mail.send%' and state in (0, 3)`);
// Polls rarely, because psql blocks this process and the SMTP server in it.
const pollSlowly = (what, fn, ms = 60000) => waitFor(what, async () => { await sleep(150); return fn(); }, ms);
const waitForStates = (database, ids, expected) => pollSlowly(`all messages to be ${expected}`, () => {
  const done = database.sql(`select count(*) from mail.message where state = '${expected}' and id in ('${ids.join("','")}')`) === String(ids.length);
  if (!done) retryNow(database);
  return done;
});
const waitForState = async (database, id, expected) => { await waitForStates(database, [id], expected); return row(database, id); };
const waitForAttempts = (database, id, times) =>
  pollSlowly(`${times} attempts`, () => { const r = row(database, id); return r.attempts >= times && !r.under_way ? r : undefined; });

before(async () => {
  smtp = await startSmtp({ starttls: false });
  const w = await startDeployment(smtp.port);
  ({ db, server } = w);
  const subject = randomUUID();
  admin = Object.assign(new Client(server, server.token({ subject, role: 'admin' })), { subject });
});
after(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
});
beforeEach(() => { for (const key of Object.keys(smtp.faults)) delete smtp.faults[key]; });

test('only a missing mailbox suppresses an address; messages above a quota are retried', async () => {
  const replies = { relay: [550, 'relay not permitted'], admin: [550, 'Administrative prohibition'], sender: [550, '5.1.8 Sender address rejected'],
    verify: [550, 'Sender verify failed'], full: [552, '5.2.2 Mailbox full'], quota: [550, '5.4.5 Daily user sending quota exceeded'], many: [550, '5.5.3 Too many recipients'],
    throttled: [554, '5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException'], relayed: [550, '5.7.1 Daily SMTP relay limit exceeded for user'] };
  smtp.faults.rcpt = ({ to }) => replies[to.split('@')[0]];
  const to = (names) => names.map((name) => enqueue(db, `${name}@refused.test`));
  const refused = to(['relay', 'admin', 'sender', 'verify', 'full']), waiting = to(['quota', 'many', 'throttled', 'relayed']);
  await waitForStates(db, refused, 'refused');
  for (const id of waiting) assert.equal((await waitForAttempts(db, id, 1)).state, 'queued');
  smtp.faults.rcpt = undefined;
  await waitForStates(db, [...waiting, ...to(Object.keys(replies))], 'sent');
  assert.equal(db.sql(`select count(*) from mail.subscription where address like '%@refused.test' and out_at is not null`), '0');
});

test('suppressions are listed, expire and can be lifted; account mail ignores them', async () => {
  smtp.faults.rcpt = ({ to }) => (to.endsWith('@gone.test') ? [550, '5.1.1 No such user'] : undefined);
  for (const name of ['a', 'b', 'c']) await waitForState(db, enqueue(db, `${name}@gone.test`), 'refused');  // in this order
  const list = async (query = '') => (await admin.get(`/admin/mail/suppressions?reason=bounced${query}`)).json;
  const first = await list('&limit=2');
  assert.deepEqual(first.suppressions.map((s) => [s.address, s.category, s.reason]), [['c@gone.test', '*', 'bounced'], ['b@gone.test', '*', 'bounced']]);
  assert.match(first.suppressions[0].detail, /No such user/);
  const days = (Date.parse(first.suppressions[0].expires_at) - Date.parse(first.suppressions[0].since)) / 86_400_000;
  assert.ok(Math.abs(days - 90) < 1.1, `${days} days`);
  assert.equal((await list(`&limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)).suppressions[0].address, 'a@gone.test');
  assert.equal((await list('&address=A@gone.test')).suppressions.length, 1);
  assert.equal((await (await server.user()).get('/admin/mail/suppressions')).status, 403);
  assert.equal((await admin.get('/admin/mail/suppressions?reason=x')).status, 422);

  smtp.faults.rcpt = undefined;
  await waitForState(db, enqueue(db, 'a@gone.test', { category: 'account' }), 'sent');
  assert.equal((await list('&address=a@gone.test')).suppressions.length, 0, 'an accepted message removes the suppression');
  db.sql(`update mail.subscription set expires_at = now() where address = 'b@gone.test'`);
  assert.equal((await list('&address=b@gone.test')).suppressions.length, 0);
  const lift = (json) => admin.post('/admin/mail/suppressions/lift', { json });
  assert.deepEqual((await lift({ domain: 'gone.test', until: '2020-01-01T00:00:00Z' })).json, { lifted: 0 });
  assert.deepEqual((await lift({ domain: 'gone.test' })).json, { lifted: 2 });
  for (const bad of [{ reason: 'unsubscribed' }, { addresses: [] }, { addresses: ['x'] }, { since: 'yesterday' }, { all: true }]) {
    const r = await lift(bad);
    assert.equal(r.status, 422, JSON.stringify(bad));
    assert.ok(r.json.detail.startsWith(Object.keys(bad)[0]), r.json.detail);
  }
});

test('account mail is not delayed by other mail', async () => {
  db.sql('update mail.setting set per_recipient_hour = 3');
  try {
    for (let n = 0; n < 3; n++) enqueue(db, 'busy@example.test', { category: 'task_completed' });
    assert.equal(enqueue(db, 'busy@example.test', { category: 'task_completed' }), 'throttled');
    assert.match(enqueue(db, 'busy@example.test', { category: 'account', subject: 'Reset' }), /^[0-9a-f-]{36}$/);
    await waitFor('the account e-mail', () => smtp.to('busy@example.test').some((m) => m.parsed.subject === 'Reset'));
  } finally { db.sql('update mail.setting set per_recipient_hour = 20'); }
  // The same applies behind a slow queue of bulk mail.
  const slow = await startSmtp({ starttls: false });
  const w = await startDeployment(slow.port, 'connections = 1\nrate_per_minute = 60');
  try {
    w.db.sql(`select count(*) from generate_series(1, 50) n, lateral mail.enqueue('news', 'bulk' || n || '@example.test', 's', 't', bulk => true) e`);
    await waitFor('the first bulk message', () => slow.box.length > 0);
    enqueue(w.db, 'urgent@example.test', { category: 'account' });
    await slow.mail('urgent@example.test', 10000);
    assert.ok(slow.box.length < 25, `${slow.box.length} bulk messages were sent first`);
  } finally { await w.close(); await slow.close(); }
});

test('international domains are sent in ASCII; a UTF-8 local part requires SMTPUTF8 support of the relay', async () => {
  await waitForState(db, enqueue(db, 'x@bücher.test'), 'sent');
  // The SMTP server of the test decodes domains in the envelope, but not in the header.
  assert.ok(smtp.box.some((m) => /^To: x@xn--bcher-kva\.test\r$/m.test(m.raw)));
  const plain = await startSmtp({ starttls: false, hideSmtputf8: true });
  const w = await startDeployment(plain.port);
  try {
    const refused = await waitForState(w.db, enqueue(w.db, 'jürgen@example.test'), 'refused');
    assert.match(refused.reply, /SMTPUTF8/);
    assert.deepEqual(plain.seen.rcpt, [], 'the relay did not receive the recipient');
    assert.match(enqueue(w.db, 'jürgen@example.test'), /^[0-9a-f-]{36}$/, 'the address is not suppressed');
  } finally { await w.close(); await plain.close(); }
  const withSmtputf8 = await startSmtp({ starttls: false });
  const other = await startDeployment(withSmtputf8.port);
  try {
    await waitForState(other.db, enqueue(other.db, 'jürgen@bücher.test'), 'sent');
    assert.equal(withSmtputf8.box.length, 1);
    assert.match(withSmtputf8.seen.rcpt[0], /^jürgen@/);
  } finally { await other.close(); await withSmtputf8.close(); }
});
