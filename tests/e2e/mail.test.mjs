// The outbox against a real SMTP server that fails on request: each fault has the right outcome.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { makeCertificate } from './lib/certificate.mjs';
import { startCutter, startSmtp } from './lib/smtp.mjs';

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

async function world(settings) {
  const w = { db: makeDatabase() };
  w.server = new Server({ database: w.db, settings, set: ['http.public_url=https://app.test', 'http.base_path=/api'] });
  await w.server.start();
  w.close = async () => { await w.server.close(); w.db.drop(); };
  return w;
}
const enqueue = (database, to, { category = 'invitation', subject = 'Hello', text = 'plain', html = null, more = '' } = {}) =>
  database.sql(`select coalesce(id::text, outcome) from mail.enqueue(${quote(category)}, ${quote(to)}, ${quote(subject)}, ${quote(text)}, ${html ? quote(html) : 'null'}${more})`);
const row = (database, id) => JSON.parse(database.sql(`select to_jsonb(m) - 'body_html' || jsonb_build_object('body_text', left(m.body_text, 20)) from mail.message m where id = '${id}'`));
// Retries are immediate instead of after their backoff.
const hurry = (database) => database.sql(`update core.job set run_at = now() where kind like 'mail.send%' and state in (0, 3)`);
// psql holds up this process, and the SMTP server in it: asked seldom.
const seldom = (what, fn, ms) => waitFor(what, async () => { await sleep(150); return fn(); }, ms);
const state = (database, id, want, ms = 60000) =>
  seldom(`message ${want}`, () => { const r = row(database, id); if (r.state === want) return r; hurry(database); return undefined; }, ms);
const tried = (database, id, times, ms = 60000) =>
  seldom(`${times} attempts`, () => { const r = row(database, id); return r.attempts >= times && !r.under_way ? r : undefined; }, ms);

before(async () => {
  smtp = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush' });
  const w = await world(settingsFor(smtp.port, login));
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

test('over STARTTLS, logged in, both texts, one-click to unsubscribe', async () => {
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
  const sent = await state(db, id, 'sent');
  assert.equal(sent.body_text, null, 'bodies go when the message is sent');
  assert.equal(sent.attempts, 1);
  assert.equal(sent.maybe_duplicate, false);

  const link = new URL(url).pathname.replace('/api', '');
  const at = `${server.url}${link}`;
  const ask = await (await fetch(at)).text();
  assert.match(ask, /<form method="post">/);
  assert.ok(ask.includes('ann@example.test') && ask.includes('invitations'), 'which address, and what of');
  assert.equal(db.sql(`select count(*) from mail.subscription where out_at is not null`), '0', 'a GET changes nothing');
  const r = await fetch(at, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'List-Unsubscribe=One-Click', redirect: 'error' });
  assert.equal(r.status, 200);
  assert.match(r.headers.get('content-security-policy'), /default-src 'none'/);
  assert.equal(enqueue(db, 'Ann@Example.test'), 'suppressed');
  assert.match(enqueue(db, 'ann@example.test', { category: 'account' }), /^[0-9a-f-]{36}$/, 'other mail still comes');
  for (const wrong of [at.replace(/.{4}$/, '0000'), `${server.url}/mail/unsubscribe/x`]) {
    for (const method of ['GET', 'POST']) {
      const page = await fetch(wrong, { method });
      assert.equal(page.status, 404);
      assert.match(await page.text(), /<h1[^>]*>This link does not work/, 'a page for people');
    }
  }
  // The way back.
  const undone = await fetch(at, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'undo=1' });
  assert.match(await undone.text(), /You are subscribed again/);
  assert.match(enqueue(db, 'ann@example.test'), /^[0-9a-f-]{36}$/);
});

test('many messages over few connections', async () => {
  const before = smtp.seen.connections;
  const ids = db.sql(`select string_agg(e.id::text, ',') from generate_series(1, 100) n, lateral mail.enqueue('account', 'many' || n || '@example.test', 's', 't') e`).split(',');
  await seldom('all sent', () => db.sql(`select count(*) from mail.message where state = 'sent' and address like 'many%'`) === '100', 60000);
  assert.equal(ids.length, 100);
  for (let n = 1; n <= 100; n++) assert.equal(smtp.to(`many${n}@example.test`).length, 1, `mail ${n}`);
  assert.ok(smtp.seen.connections - before <= 4, `${smtp.seen.connections - before} new connections`);
});

test('451 is tried again and arrives, once, under the same Message-ID', async () => {
  let left = 2;
  smtp.faults.rcpt = ({ to }) => (to === 'grey@example.test' && left-- > 0 ? [451, '4.7.1 Greylisted'] : undefined);
  const id = enqueue(db, 'grey@example.test');
  const first = await tried(db, id, 1);
  assert.deepEqual([first.state, first.reply_code, first.maybe_duplicate], ['queued', 451, false]);
  const sent = await state(db, id, 'sent');
  assert.equal(sent.attempts, 3);
  assert.equal(smtp.to('grey@example.test').length, 1);
  assert.equal(smtp.to('grey@example.test')[0].parsed.messageId, `<${id}@runyard.test>`);
});

test('550 is refused at once, the address gets no more, an operator may try again', async () => {
  smtp.faults.rcpt = ({ to }) => (to === 'nobody@example.test' ? [550, '5.1.1 No such user'] : undefined);
  const id = enqueue(db, 'nobody@example.test');
  const r = await state(db, id, 'refused');
  assert.deepEqual([r.attempts, r.reply_code], [1, 550]);
  assert.match(r.reply, /No such user/);
  assert.equal(db.sql(`select count(*) from core.job where kind = 'mail.send' and args->>'id' = '${id}'`), '0');
  assert.equal(enqueue(db, 'nobody@example.test'), 'suppressed');
  const list = await admin.get('/admin/mail?state=refused');
  assert.equal(list.status, 200);
  assert.equal(list.json.messages[0].id, id);
  assert.equal(list.json.messages[0].subject, undefined);
  smtp.faults.rcpt = undefined;
  assert.equal((await admin.post(`/admin/mail/${id}/requeue`)).status, 200);
  await state(db, id, 'sent');
  assert.equal((await admin.post(`/admin/mail/${id}/requeue`)).status, 404);
  const acts = await waitFor('the audit', async () => { const r = (await admin.get('/admin/audit?action=mail.requeue')).json.entries; return r.length > 0 && r; });
  assert.equal(acts.length, 1);
  assert.deepEqual([acts[0].actor, acts[0].account_id, acts[0].detail], [admin.subject, null, { message_id: id, address: 'nobody@example.test' }]);
});

test('an operator lifts a suppression, which is audited', async () => {
  enqueue(db, 'quiet@example.test', { more: ', bulk => true' });
  const m = await smtp.mail('quiet@example.test');
  const link = new URL(m.parsed.headers.get('list').unsubscribe.url);
  assert.equal((await fetch(server.url + link.pathname.replace('/api', ''), { method: 'POST' })).status, 200);
  assert.equal(enqueue(db, 'quiet@example.test'), 'suppressed');
  const lift = (who, address) => who.request('DELETE', `/admin/mail/suppressions/${encodeURIComponent(address)}`);
  assert.equal((await lift(await server.user(), 'quiet@example.test')).status, 403);
  assert.equal((await lift(admin, 'no address')).status, 422);
  assert.equal((await lift(admin, 'Quiet@example.test')).status, 204);
  assert.equal((await lift(admin, 'quiet@example.test')).status, 404);
  assert.match(enqueue(db, 'quiet@example.test'), /^[0-9a-f-]{36}$/);
  const acts = await waitFor('the audit', async () => { const r = (await admin.get('/admin/audit?action=mail.lift')).json.entries; return r.length > 0 && r; });
  assert.deepEqual(acts.map((e) => [e.actor, e.detail]), [[admin.subject, { address: 'quiet@example.test', categories: ['invitation'] }]]);
});

test('550 that speaks of policy refuses the message, not the address', async () => {
  smtp.faults.rcpt = ({ to }) => (to === 'policy@example.test' ? [550, '5.7.1 Relaying denied'] : undefined);
  await state(db, enqueue(db, 'policy@example.test'), 'refused');
  smtp.faults.rcpt = undefined;
  await state(db, enqueue(db, 'policy@example.test'), 'sent');
});

test('554 to the content refuses the message', async () => {
  smtp.faults.data = ({ to }) => (to === 'spam@example.test' ? [554, '5.6.0 Looks like spam'] : undefined);
  const r = await state(db, enqueue(db, 'spam@example.test'), 'refused');
  assert.equal(r.reply_code, 554);
  smtp.faults.data = undefined;
  await state(db, enqueue(db, 'spam@example.test'), 'sent');
});

test('dead-lettered after the last attempt', async () => {
  smtp.faults.rcpt = ({ to }) => (to === 'dead@example.test' ? [450, '4.2.1 Busy'] : undefined);
  const id = enqueue(db, 'dead@example.test');
  db.sql(`update core.job set max_attempts = 2 where args->>'id' = '${id}'`);
  const r = await state(db, id, 'dead');
  assert.equal(r.attempts, 2);
  assert.notEqual(r.body_text, null, 'it can be tried again');
  assert.ok((await admin.get('/admin/mail')).json.messages.some((m) => m.id === id));
});

test('535 stops all mail, loses none, and the password never reaches the log', async () => {
  const other = await startSmtp({ certificate, user: 'relay', password: 'another-one' });
  const w = await world(settingsFor(other.port, login));
  try {
    const ids = [1, 2, 3].map((n) => enqueue(w.db, `auth${n}@example.test`));
    await waitFor('the alarm', () => w.server.log.includes('the mail relay cannot be used'));
    await sleep(700);
    for (const id of ids) assert.equal(row(w.db, id).state, 'queued');
    assert.ok(other.seen.auth <= 4, `${other.seen.auth} log-ins: the relay is left alone meanwhile`);
    assert.equal(other.seen.rcpt.length, 0);
    assert.ok(!w.server.log.includes('hush-hush-hush'));
    assert.match(w.server.log, /535/);
    assert.equal(w.db.sql(`select count(*) from core.dead_job where kind = 'mail.send'`), '0');
  } finally { await w.close(); await other.close(); }
});

test('while the relay cannot be reached nothing counts as an attempt; once it is back all mail goes out', async () => {
  const first = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush' });
  const w = await world(settingsFor(first.port, login));
  try {
    await first.close();
    const ids = Array.from({ length: 11 }, (_, n) => enqueue(w.db, `away${n}@example.test`));
    w.db.sql(`update core.job set max_attempts = 1 where kind = 'mail.send'`);
    await waitFor('the alarm', () => w.server.log.includes('the mail relay cannot be used'));
    await sleep(6000);  // beyond the first pause
    for (const id of ids) assert.equal(row(w.db, id).state, 'queued');
    const back = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush', port: first.port });
    try {
      const since = Date.now();
      await waitFor('all of them', () => back.box.length >= 11, 40000);
      assert.ok(Date.now() - since < 25000, `${Date.now() - since} ms`);
      assert.equal(w.db.sql(`select count(*) from core.dead_job where kind = 'mail.send'`), '0');
    } finally { await back.close(); }
  } finally { await w.close(); }
});

test('a relay without STARTTLS gets no mail, not even a recipient', async () => {
  const clear = await startSmtp({ starttls: false });
  const w = await world(settingsFor(clear.port));
  try {
    const id = enqueue(w.db, 'clear@example.test');
    await waitFor('the alarm', () => w.server.log.includes('the mail relay cannot be used'));
    assert.equal(row(w.db, id).state, 'queued');
    assert.deepEqual(clear.seen.rcpt, []);
    assert.equal(clear.box.length, 0);
  } finally { await w.close(); await clear.close(); }
});

test('no e-mail is sent over an untrusted certificate', async () => {
  const stranger = makeCertificate();
  const other = await startSmtp({ certificate: stranger, user: 'relay', password: 'hush-hush-hush' });
  const w = await world(settingsFor(other.port, login));
  try {
    enqueue(w.db, 'strange@example.test');
    await waitFor('the alarm', () => w.server.log.includes('the mail relay cannot be used'));
    assert.equal(other.seen.auth, 0, 'no password to a stranger');
    assert.equal(other.box.length, 0);
  } finally { await w.close(); await other.close(); stranger.remove(); }
});

test('without an address for links no bulk mail goes out, other mail does', async () => {
  const w = { db: makeDatabase() };
  w.server = new Server({ database: w.db, settings: settingsFor(smtp.port, login), set: ['deployment.mode=staging'] });
  try {
    await w.server.start();
    const bulk = enqueue(w.db, 'bulk@example.test', { more: ', bulk => true' });
    const refused = await state(w.db, bulk, 'refused');
    assert.match(refused.reply, /http\.public_url/);
    await state(w.db, enqueue(w.db, 'single@example.test', { category: 'account' }), 'sent');
    assert.equal(smtp.to('bulk@example.test').length, 0);
  } finally { await w.server.close(); w.db.drop(); }
});

test('implicit TLS; replies and bounces go to addresses of their own', async () => {
  const other = await startSmtp({ certificate, implicit: true, user: 'relay', password: 'hush-hush-hush' });
  const w = await world(settingsFor(other.port, `security = "tls"\n${login}\nreply_to = "help@bücher.test"\nbounce_address = "bounces@mail.runyard.test"`));
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

test('a cut in the middle of DATA is sent again; only one after the end may be a second copy', async () => {
  // In clear text, so that the cutter sees where it is.
  const plain = await startSmtp({ starttls: false });
  const cutter = await startCutter(plain.port, null);
  const w = await world(settingsFor(cutter.port, 'security = "none"\ntimeout_seconds = 300'));
  try {
    let cuts = 0;
    cutter.state.cut = (out) => cuts === 0 && out.includes('\r\nSubject:') && !out.endsWith('\r\n.\r\n') && ++cuts > 0;
    // More than the socket buffers hold, so that the end cannot have been sent yet.
    const half = w.db.sql(`select id from mail.enqueue('account', 'half@example.test', 's', repeat(repeat('x', 70) || E'\\n', 200000))`);
    const first = await tried(w.db, half, 1, 120000);
    assert.deepEqual([first.state, first.maybe_duplicate], ['queued', false]);
    const sent = await state(w.db, half, 'sent', 200000);
    assert.deepEqual([sent.attempts, sent.maybe_duplicate, cuts], [2, false, 1]);
    assert.equal(plain.to('half@example.test').length, 1);
    assert.equal(plain.to('half@example.test')[0].parsed.text.trim().length, 200000 * 71 - 1);

    // The relay has taken it and its 250 never comes.
    cuts = 0;
    cutter.state.cut = (out, back) => cuts === 0 && out.includes('whole@') && out.endsWith('\r\n.\r\n') && /\r\n250 [^\n]*taken\r\n$/.test(back) && ++cuts > 0;
    const whole = enqueue(w.db, 'whole@example.test');
    const twice = await state(w.db, whole, 'sent');
    assert.deepEqual([twice.attempts, twice.maybe_duplicate, cuts], [2, true, 1]);
    assert.deepEqual(new Set(plain.to('whole@example.test').map((m) => m.parsed.messageId)), new Set([`<${whole}@runyard.test>`]));
    assert.equal(plain.to('whole@example.test').length, 2, 'both have the same Message-ID');
  } finally { await w.close(); cutter.close(); await plain.close(); }
});

test('line breaks in addresses and names never reach the wire', async () => {
  for (const evil of ['a@x.test>\r\nRCPT TO:<evil@x.test', 'a@x.test\r\nDATA', 'a@x.test\n', '<a@x.test>', 'a b@x.test'])
    assert.throws(() => enqueue(db, evil), /not a valid e-mail address/, JSON.stringify(evil));
  const id = enqueue(db, 'name@example.test', { subject: 'Eve\r\nBcc: evil@example.test\r\n\r\ninjected invites you' });
  const m = await smtp.mail('name@example.test');
  assert.deepEqual(m.to, ['name@example.test']);
  assert.equal(m.parsed.bcc, undefined);
  assert.equal(m.parsed.subject, 'Eve Bcc: evil@example.test injected invites you');
  await state(db, id, 'sent');
  assert.ok(!smtp.seen.rcpt.some((a) => a.includes('evil')));
});

test('kill -9 while mail goes out: every message arrives', async () => {
  const w = await world(settingsFor(smtp.port, login));
  try {
    w.db.sql(`select count(*) from generate_series(1, 150) n, lateral mail.enqueue('account', 'kill' || n || '@example.test', 's', 't') e`);
    await waitFor('some sent', () => smtp.box.filter((m) => m.to[0].startsWith('kill')).length > 20);
    await w.server.kill();
    await w.server.start();
    await seldom('all sent', () => { hurry(w.db); return w.db.sql(`select count(*) from mail.message where state = 'sent'`) === '150'; }, 90000);
    for (let n = 1; n <= 150; n++) {
      const copies = smtp.to(`kill${n}@example.test`);
      assert.ok(copies.length >= 1, `kill${n} is lost`);
      assert.equal(new Set(copies.map((m) => m.parsed.messageId)).size, 1);
      if (copies.length > 1) assert.equal(w.db.sql(`select maybe_duplicate from mail.message where address = 'kill${n}@example.test'`), 't');
    }
  } finally { await w.close(); }
});
