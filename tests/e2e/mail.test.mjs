// Tests the outbox with a real SMTP server that fails on request: each fault has the correct outcome.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { makeCertificate } from './lib/certificate.mjs';
import { startDisconnectingRelay, startSmtp } from './lib/smtp.mjs';

const certificate = makeCertificate();
const quote = (s) => `'${s.replaceAll("'", "''")}'`;
let db, smtp, server, admin;

const settingsFor = (port, more = '') => `
[mail]
host = "localhost"
port = ${port}
ca_file = "${certificate.file}"
from = "no-reply@runyard.test"
from_name = "Rünyard"
unsubscribe_mailto = "unsubscribe@runyard.test"
${more}`;
const login = 'username = "relay"\npassword = "hush-hush-hush"';

async function startDeployment(settings) {
  const w = { db: makeDatabase() };
  w.server = new Server({ database: w.db, settings, set: ['http.public_url=https://app.test', 'http.base_path=/api'] });
  await w.server.start();
  w.close = async () => { await w.server.close(); w.db.drop(); };
  return w;
}
const enqueue = (database, to, { category = 'invitation', subject = 'Hello', text = 'plain', html = null, more = '' } = {}) =>
  database.sql(`select coalesce(id::text, outcome) from mail.enqueue(${quote(category)}, ${quote(to)}, ${quote(subject)}, ${quote(text)}, ${html ? quote(html) : 'null'}${more})`);
const row = (database, id) => JSON.parse(database.sql(`select to_jsonb(m) - 'body_html' || jsonb_build_object('body_text', left(m.body_text, 20)) from mail.message m where id = '${id}'`));
// Makes retries immediate, without their backoff.
const retryNow = (database) => database.sql(`update core.job set run_at = now() where kind like 'mail.send%' and state in (0, 3)`);
// Polls rarely, because psql blocks this process and the SMTP server in it.
const pollSlowly = (what, fn, ms) => waitFor(what, async () => { await sleep(150); return fn(); }, ms);
const waitForState = (database, id, expected, ms = 60000) =>
  pollSlowly(`message ${expected}`, () => { const r = row(database, id); if (r.state === expected) return r; retryNow(database); return undefined; }, ms);
const waitForAttempts = (database, id, times, ms = 60000) =>
  pollSlowly(`${times} attempts`, () => { const r = row(database, id); return r.attempts >= times && !r.under_way ? r : undefined; }, ms);

before(async () => {
  smtp = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush' });
  const w = await startDeployment(settingsFor(smtp.port, login));
  ({ db, server } = w);
  server.url += '/api';
  const subject = randomUUID();
  admin = Object.assign(new Client(server, server.token({ subject, role: 'admin' })), { subject });
});
after(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
  certificate.remove();
});
beforeEach(() => { for (const key of Object.keys(smtp.faults)) delete smtp.faults[key]; });

test('an e-mail is sent over authenticated STARTTLS with both bodies and one-click unsubscribe', async () => {
  const id = enqueue(db, 'ann@example.test', { subject: 'Grüße aus Köln — 你好', text: 'One line\n.leading dot\nümlaut {{unsubscribe_url}}',
    html: '<p>ümlaut <a href="{{unsubscribe_url}}">stop</a></p>', more: ', bulk => true' });
  const m = await smtp.mail('ann@example.test');
  assert.equal(m.secure, true);
  assert.equal(m.user, 'relay');
  assert.equal(m.from, 'no-reply@runyard.test');
  assert.equal(m.parsed.subject, 'Grüße aus Köln — 你好');
  assert.equal(m.parsed.from.text, '"Rünyard" <no-reply@runyard.test>');
  assert.equal(m.parsed.headers.get('content-type').value, 'multipart/alternative');
  assert.equal(m.parsed.messageId, `<${id}@runyard.test>`);
  assert.equal(m.parsed.headers.get('auto-submitted'), 'auto-generated');
  assert.equal(m.parsed.headers.get('x-auto-response-suppress'), 'All');
  assert.equal(m.parsed.replyTo, undefined);
  assert.ok(Math.abs(m.parsed.date - Date.now()) < 60000);
  const url = m.parsed.headers.get('list').unsubscribe.url;
  assert.match(url, /^https:\/\/app\.test\/api\/mail\/unsubscribe\/[0-9a-f-]{36}$/);
  assert.equal(m.parsed.headers.get('list').unsubscribe.mail, 'unsubscribe@runyard.test');
  assert.match(m.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  assert.equal(m.parsed.text.trim(), `One line\n.leading dot\nümlaut ${url}`);
  assert.match(m.parsed.html, new RegExp(`<a [^>]*href="${url}"[^>]*>stop</a>`));
  const sent = await waitForState(db, id, 'sent');
  assert.equal(sent.body_text, null, 'the bodies are deleted after the message is sent');
  assert.equal(sent.attempts, 1);
  assert.equal(sent.maybe_duplicate, false);

  const link = new URL(url).pathname.replace('/api', '');
  const unsubscribeUrl = `${server.url}${link}`;
  const confirmation = await (await fetch(unsubscribeUrl)).text();
  assert.match(confirmation, /<form method="post">/);
  assert.ok(confirmation.includes('ann@example.test') && confirmation.includes('invitations'), 'the page names the address and the category');
  assert.equal(db.sql(`select count(*) from mail.subscription where out_at is not null`), '0', 'a GET changes nothing');
  const r = await fetch(unsubscribeUrl, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'List-Unsubscribe=One-Click', redirect: 'error' });
  assert.equal(r.status, 200);
  assert.match(r.headers.get('content-security-policy'), /default-src 'none'/);
  assert.equal(enqueue(db, 'Ann@Example.test'), 'suppressed');
  assert.match(enqueue(db, 'ann@example.test', { category: 'account' }), /^[0-9a-f-]{36}$/, 'e-mails of other categories are still sent');
  for (const wrong of [unsubscribeUrl.replace(/.{4}$/, '0000'), `${server.url}/mail/unsubscribe/x`]) {
    for (const method of ['GET', 'POST']) {
      const page = await fetch(wrong, { method });
      assert.equal(page.status, 404);
      assert.match(await page.text(), /<h1[^>]*>This link does not work/, 'the error is an HTML page');
    }
  }
  // Resubscribe.
  const undone = await fetch(unsubscribeUrl, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'undo=1' });
  assert.match(await undone.text(), /You are subscribed again/);
  assert.match(enqueue(db, 'ann@example.test'), /^[0-9a-f-]{36}$/);
});

test('many messages are sent over few connections', async () => {
  const before = smtp.seen.connections;
  const ids = db.sql(`select string_agg(e.id::text, ',') from generate_series(1, 100) n, lateral mail.enqueue('account', 'many' || n || '@example.test', 's', 't') e`).split(',');
  await pollSlowly('all messages to be sent', () => db.sql(`select count(*) from mail.message where state = 'sent' and address like 'many%'`) === '100', 60000);
  assert.equal(ids.length, 100);
  for (let n = 1; n <= 100; n++) assert.equal(smtp.to(`many${n}@example.test`).length, 1, `mail ${n}`);
  assert.ok(smtp.seen.connections - before <= 4, `${smtp.seen.connections - before} new connections`);
});

test('a message rejected with 451 is retried and delivered once with the same Message-ID', async () => {
  let remainingFailures = 2;
  smtp.faults.rcpt = ({ to }) => (to === 'grey@example.test' && remainingFailures-- > 0 ? [451, '4.7.1 Greylisted'] : undefined);
  const id = enqueue(db, 'grey@example.test');
  const first = await waitForAttempts(db, id, 1);
  assert.deepEqual([first.state, first.reply_code, first.maybe_duplicate], ['queued', 451, false]);
  const sent = await waitForState(db, id, 'sent');
  assert.equal(sent.attempts, 3);
  assert.equal(smtp.to('grey@example.test').length, 1);
  assert.equal(smtp.to('grey@example.test')[0].parsed.messageId, `<${id}@runyard.test>`);
});

test('550 refuses the message immediately and suppresses the address; an admin can requeue the message', async () => {
  smtp.faults.rcpt = ({ to }) => (to === 'unknown@example.test' ? [550, '5.1.1 No such user'] : undefined);
  const id = enqueue(db, 'unknown@example.test');
  const r = await waitForState(db, id, 'refused');
  assert.deepEqual([r.attempts, r.reply_code], [1, 550]);
  assert.match(r.reply, /No such user/);
  assert.equal(db.sql(`select count(*) from core.job where kind = 'mail.send' and args->>'id' = '${id}'`), '0');
  assert.equal(enqueue(db, 'unknown@example.test'), 'suppressed');
  const list = await admin.get('/admin/mail?state=refused');
  assert.equal(list.status, 200);
  assert.equal(list.json.messages[0].id, id);
  assert.equal(list.json.messages[0].subject, undefined);
  smtp.faults.rcpt = undefined;
  assert.equal((await admin.post(`/admin/mail/${id}/requeue`)).status, 200);
  await waitForState(db, id, 'sent');
  assert.equal((await admin.post(`/admin/mail/${id}/requeue`)).status, 404);
  const entries = await waitFor('the audit entry', async () => { const r = (await admin.get('/admin/audit?action=mail.requeue')).json.entries; return r.length > 0 && r; });
  assert.equal(entries.length, 1);
  assert.deepEqual([entries[0].actor, entries[0].account_id, entries[0].detail], [admin.subject, null, { message_id: id, address: 'unknown@example.test' }]);
});

test('an admin lifts a suppression, which is audited', async () => {
  enqueue(db, 'quiet@example.test', { more: ', bulk => true' });
  const m = await smtp.mail('quiet@example.test');
  const link = new URL(m.parsed.headers.get('list').unsubscribe.url);
  assert.equal((await fetch(server.url + link.pathname.replace('/api', ''), { method: 'POST' })).status, 200);
  assert.equal(enqueue(db, 'quiet@example.test'), 'suppressed');
  const lift = (client, address) => client.request('DELETE', `/admin/mail/suppressions/${encodeURIComponent(address)}`);
  assert.equal((await lift(await server.user(), 'quiet@example.test')).status, 403);
  assert.equal((await lift(admin, 'no address')).status, 422);
  assert.equal((await lift(admin, 'Quiet@example.test')).status, 204);
  assert.equal((await lift(admin, 'quiet@example.test')).status, 404);
  assert.match(enqueue(db, 'quiet@example.test'), /^[0-9a-f-]{36}$/);
  assert.equal((await lift(admin, 'quiet+news@example.test')).status, 404, 'a plus sign in the path is not a space');
  const entries = await waitFor('the audit entry', async () => { const r = (await admin.get('/admin/audit?action=mail.lift')).json.entries; return r.length > 0 && r; });
  assert.deepEqual(entries.map((e) => [e.actor, e.detail]), [[admin.subject, { address: 'quiet@example.test', categories: ['invitation'] }]]);
});

test('a 550 policy rejection refuses the message and does not suppress the address', async () => {
  smtp.faults.rcpt = ({ to }) => (to === 'policy@example.test' ? [550, '5.7.1 Relaying denied'] : undefined);
  await waitForState(db, enqueue(db, 'policy@example.test'), 'refused');
  smtp.faults.rcpt = undefined;
  await waitForState(db, enqueue(db, 'policy@example.test'), 'sent');
});

test('a 554 response to the content refuses only the message', async () => {
  smtp.faults.data = ({ to }) => (to === 'spam@example.test' ? [554, '5.6.0 Looks like spam'] : undefined);
  const r = await waitForState(db, enqueue(db, 'spam@example.test'), 'refused');
  assert.equal(r.reply_code, 554);
  smtp.faults.data = undefined;
  await waitForState(db, enqueue(db, 'spam@example.test'), 'sent');
});

test('a message is dead-lettered after its last attempt', async () => {
  smtp.faults.rcpt = ({ to }) => (to === 'dead@example.test' ? [450, '4.2.1 Busy'] : undefined);
  const id = enqueue(db, 'dead@example.test');
  db.sql(`update core.job set max_attempts = 2 where args->>'id' = '${id}'`);
  const r = await waitForState(db, id, 'dead');
  assert.equal(r.attempts, 2);
  assert.notEqual(r.body_text, null, 'the body is kept for a retry');
  assert.ok((await admin.get('/admin/mail')).json.messages.some((m) => m.id === id));
});

test('535 pauses sending without losing messages, and the password is not logged', async () => {
  const other = await startSmtp({ certificate, user: 'relay', password: 'another-one' });
  const w = await startDeployment(settingsFor(other.port, login));
  try {
    const ids = [1, 2, 3].map((n) => enqueue(w.db, `auth${n}@example.test`));
    await waitFor('the log line about the relay', () => w.server.log.includes('the mail relay is not usable'));
    await sleep(700);
    for (const id of ids) assert.equal(row(w.db, id).state, 'queued');
    assert.ok(other.seen.auth <= 4, `${other.seen.auth} logins: the relay is contacted too often`);
    assert.equal(other.seen.rcpt.length, 0);
    assert.ok(!w.server.log.includes('hush-hush-hush'));
    assert.match(w.server.log, /535/);
    assert.equal(w.db.sql(`select count(*) from core.dead_job where kind = 'mail.send'`), '0');
  } finally { await w.close(); await other.close(); }
});

test('an unreachable relay does not use up attempts; once it is back, all messages are sent', async () => {
  const first = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush' });
  const w = await startDeployment(settingsFor(first.port, login));
  try {
    await first.close();
    const ids = Array.from({ length: 11 }, (_, n) => enqueue(w.db, `away${n}@example.test`));
    w.db.sql(`update core.job set max_attempts = 1 where kind = 'mail.send'`);
    await waitFor('the log line about the relay', () => w.server.log.includes('the mail relay is not usable'));
    await sleep(6000);  // longer than the first backoff
    for (const id of ids) assert.equal(row(w.db, id).state, 'queued');
    const restarted = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush', port: first.port });
    try {
      const startedAt = Date.now();
      await waitFor('all messages', () => restarted.box.length >= 11, 40000);
      assert.ok(Date.now() - startedAt < 25000, `${Date.now() - startedAt} ms`);
      assert.equal(w.db.sql(`select count(*) from core.dead_job where kind = 'mail.send'`), '0');
    } finally { await restarted.close(); }
  } finally { await w.close(); }
});

test('a relay without STARTTLS receives neither messages nor recipient addresses', async () => {
  const clear = await startSmtp({ starttls: false });
  const w = await startDeployment(settingsFor(clear.port));
  try {
    const id = enqueue(w.db, 'clear@example.test');
    await waitFor('the log line about the relay', () => w.server.log.includes('the mail relay is not usable'));
    assert.equal(row(w.db, id).state, 'queued');
    assert.deepEqual(clear.seen.rcpt, []);
    assert.equal(clear.box.length, 0);
  } finally { await w.close(); await clear.close(); }
});

test('no e-mail is sent to a relay with an untrusted certificate', async () => {
  const untrusted = makeCertificate();
  const other = await startSmtp({ certificate: untrusted, user: 'relay', password: 'hush-hush-hush' });
  const w = await startDeployment(settingsFor(other.port, login));
  try {
    enqueue(w.db, 'strange@example.test');
    await waitFor('the log line about the relay', () => w.server.log.includes('the mail relay is not usable'));
    assert.equal(other.seen.auth, 0, 'no password is sent to an untrusted relay');
    assert.equal(other.box.length, 0);
  } finally { await w.close(); await other.close(); untrusted.remove(); }
});

test('without http.public_url bulk mail is refused and other mail is sent', async () => {
  const w = { db: makeDatabase() };
  w.server = new Server({ database: w.db, settings: settingsFor(smtp.port, login), set: ['deployment.mode=staging'] });
  try {
    await w.server.start();
    const bulk = enqueue(w.db, 'bulk@example.test', { more: ', bulk => true' });
    const refused = await waitForState(w.db, bulk, 'refused');
    assert.match(refused.reply, /http\.public_url/);
    await waitForState(w.db, enqueue(w.db, 'single@example.test', { category: 'account' }), 'sent');
    assert.equal(smtp.to('bulk@example.test').length, 0);
  } finally { await w.server.close(); w.db.drop(); }
});

test('implicit TLS, with separate addresses for replies and bounces', async () => {
  const other = await startSmtp({ certificate, implicit: true, user: 'relay', password: 'hush-hush-hush' });
  const w = await startDeployment(settingsFor(other.port, `security = "tls"\n${login}\nreply_to = "help@bücher.test"\nbounce_address = "bounces@mail.runyard.test"`));
  try {
    enqueue(w.db, 'tls@example.test');
    const m = await other.mail('tls@example.test');
    assert.equal(m.secure, true);
    assert.equal(m.user, 'relay');
    assert.equal(m.from, 'bounces@mail.runyard.test');
    assert.match(m.raw, /^Reply-To: help@xn--bcher-kva\.test\r$/m);
    assert.equal(m.parsed.from.value[0].address, 'no-reply@runyard.test');
  } finally { await w.close(); await other.close(); }
});

test('a message disconnected during DATA is resent; only a disconnect after its end can cause a duplicate', async () => {
  // In clear text, so that the relay can see the state of the SMTP session.
  const plain = await startSmtp({ starttls: false });
  const relay = await startDisconnectingRelay(plain.port, null);
  const w = await startDeployment(settingsFor(relay.port, 'security = "none"\ntimeout_seconds = 300'));
  try {
    let disconnects = 0;
    relay.state.disconnectWhen = (fromClient) => disconnects === 0 && fromClient.includes('\r\nSubject:') && !fromClient.endsWith('\r\n.\r\n') && ++disconnects > 0;
    // Larger than the socket buffers, so that the end of the message cannot have been sent yet.
    const half = w.db.sql(`select id from mail.enqueue('account', 'half@example.test', 's', repeat(repeat('x', 70) || E'\\n', 200000))`);
    const first = await waitForAttempts(w.db, half, 1, 120000);
    assert.deepEqual([first.state, first.maybe_duplicate], ['queued', false]);
    const sent = await waitForState(w.db, half, 'sent', 200000);
    assert.deepEqual([sent.attempts, sent.maybe_duplicate, disconnects], [2, false, 1]);
    assert.equal(plain.to('half@example.test').length, 1);
    assert.equal(plain.to('half@example.test')[0].parsed.text.trim().length, 200000 * 71 - 1);

    // The SMTP server has accepted the message, but its 250 response is lost.
    disconnects = 0;
    relay.state.disconnectWhen = (fromClient, fromServer) => disconnects === 0 && fromClient.includes('whole@') && fromClient.endsWith('\r\n.\r\n') && /\r\n250 [^\n]*message stored\r\n$/.test(fromServer) && ++disconnects > 0;
    const whole = enqueue(w.db, 'whole@example.test');
    const twice = await waitForState(w.db, whole, 'sent');
    assert.deepEqual([twice.attempts, twice.maybe_duplicate, disconnects], [2, true, 1]);
    assert.deepEqual(new Set(plain.to('whole@example.test').map((m) => m.parsed.messageId)), new Set([`<${whole}@runyard.test>`]));
    assert.equal(plain.to('whole@example.test').length, 2, 'both copies have the same Message-ID');
  } finally { await w.close(); relay.close(); await plain.close(); }
});

test('line breaks in addresses and subjects cannot inject SMTP commands or headers', async () => {
  for (const evil of ['a@x.test>\r\nRCPT TO:<evil@x.test', 'a@x.test\r\nDATA', 'a@x.test\n', '<a@x.test>', 'a b@x.test'])
    assert.throws(() => enqueue(db, evil), /not a valid e-mail address/, JSON.stringify(evil));
  const id = enqueue(db, 'name@example.test', { subject: 'Eve\r\nBcc: evil@example.test\r\n\r\ninjected invites you' });
  const m = await smtp.mail('name@example.test');
  assert.deepEqual(m.to, ['name@example.test']);
  assert.equal(m.parsed.bcc, undefined);
  assert.equal(m.parsed.subject, 'Eve Bcc: evil@example.test injected invites you');
  await waitForState(db, id, 'sent');
  assert.ok(!smtp.seen.rcpt.some((a) => a.includes('evil')));
});

test('every message arrives after the server is killed while sending', async () => {
  const w = await startDeployment(settingsFor(smtp.port, login));
  try {
    w.db.sql(`select count(*) from generate_series(1, 150) n, lateral mail.enqueue('account', 'kill' || n || '@example.test', 's', 't') e`);
    await waitFor('some messages to be sent', () => smtp.box.filter((m) => m.to[0].startsWith('kill')).length > 20);
    await w.server.kill();
    await w.server.start();
    await pollSlowly('all messages to be sent', () => { retryNow(w.db); return w.db.sql(`select count(*) from mail.message where state = 'sent'`) === '150'; }, 90000);
    for (let n = 1; n <= 150; n++) {
      const copies = smtp.to(`kill${n}@example.test`);
      assert.ok(copies.length >= 1, `kill${n} is lost`);
      assert.equal(new Set(copies.map((m) => m.parsed.messageId)).size, 1);
      if (copies.length > 1) assert.equal(w.db.sql(`select maybe_duplicate from mail.message where address = 'kill${n}@example.test'`), 't');
    }
  } finally { await w.close(); }
});
