// Broadcasts from the dry run to the mailbox, and the link between preferences and unsubscribe links.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

let db, smtp, server, admin;
const users = [];

before(async () => {
  smtp = await startSmtp({ starttls: false });
  db = makeDatabase();
  server = new Server({ database: db, set: ['deployment.mode=staging', 'http.public_url=https://app.test', 'mail.host=127.0.0.1', `mail.port=${smtp.port}`,
    'mail.security=none', 'mail.from=no-reply@runyard.test', 'brand.name=Acme Agents', 'brand.color=#14532d'] });
  await server.start();
  admin = await server.user({ role: 'admin', email: 'alice@example.test' });
  await admin.get('/account');
  for (const name of ['ann', 'bob', 'cat']) {
    const user = await server.user({ email: `${name}@example.test` });
    await user.get('/account');
    users.push(user);
    await smtp.mail(`${name}@example.test`);
  }
  // Only accounts with a verified address can change subscriptions and receive task results.
  db.sql('update accounts.account set verified_at = now()');
});
after(async () => {
  await server?.close();
  await smtp?.close();
  db?.drop();
});

const trigger = (json) => admin.post('/admin/notifications/trigger', { json: { workflow_id: 'newsletter', broadcast: true, payload_template: { title: 'News for {{first_name}}', message: 'Much is new.' }, ...json } });
const show = async (id) => (await admin.get(`/admin/notifications/broadcasts/${id}`)).json;
const waitForStatus = (id, status) => waitFor(`the broadcast is ${status}`, async () => { const b = await show(id); return b.status === status && b; }, 30000);
const recipientsOf = (title) => smtp.box.filter((m) => m.parsed.subject === title).map((m) => m.to[0]);
// Polls rarely, because psql blocks this process and the SMTP server in it.
const pollSlowly = (what, fn, ms = 30000) => waitFor(what, async () => { await sleep(200); return fn(); }, ms);

test('a dry run counts the audience and shows the texts; a test is sent only to the caller', async () => {
  await users[2].request('PUT', '/notifications/settings', { json: { email_enabled: false } });
  const dry = await trigger({ dry_run: true });
  assert.equal(dry.status, 200, dry.text);
  assert.deepEqual(dry.json.audience, { accounts: 4, email: 3, push: 0, in_app: 4 });
  assert.equal(dry.json.sample.title, 'News for alice');
  assert.match(dry.json.sample.mail_text, /Much is new\./);
  assert.deepEqual((await admin.get('/admin/notifications/broadcasts')).json.broadcasts, []);
  const tested = await trigger({ test: true });
  assert.equal(tested.json.success, true, tested.text);
  await pollSlowly('the test e-mail', () => recipientsOf('News for alice').length === 1);
  assert.equal(recipientsOf('News for ann').length, 0);
  await users[2].request('PUT', '/notifications/settings', { json: { email_enabled: true } });
});

test('an empty title or message is rejected by field name', async () => {
  for (const payload_template of [{}, { titel: 'x', message: 'y' }, { title: '{{phone}}', message: 'y' }, { title: ' ', message: 'y' }, { title: '\u200b\u00a0', message: 'y' }, { title: '\u2060{{phone}}\u3000', message: 'y' }]) {
    for (const more of [{}, { dry_run: true }]) {
      const r = await trigger({ payload_template, ...more });
      assert.equal(r.status, 422, JSON.stringify(payload_template));
      assert.match(r.json.detail, /^payload_template /);
    }
  }
  for (const payload_template of [{ titel: 'x' }, { title: '\u200b\u00a0' }]) {
    const one = await admin.post('/admin/notifications/trigger', { json: { workflow_id: 'newsletter', subscriber_id: users[0].id, payload_template } });
    assert.equal(one.status, 422, JSON.stringify(payload_template));
  }
  for (const [more, field] of [[{ scheduled_at: 'tomorrow' }, 'scheduled_at'], [{ scheduled_at: '2026-13-01T00:00:00Z' }, 'scheduled_at'], [{ dry_run: true, test: true }, 'test']]) {
    const r = await trigger(more);
    assert.deepEqual([r.status, r.json.detail.split(' ')[0]], [422, field]);
  }
  const misplaced = await admin.post('/admin/notifications/trigger', { json: { workflow_id: 'newsletter', subscriber_id: users[0].id, payload_template: { title: 'x' }, dry_run: true } });
  assert.equal(misplaced.status, 422);
  assert.equal((await users[0].post('/admin/notifications/trigger', { json: { workflow_id: 'newsletter', broadcast: true } })).status, 403);
});

test('every broadcast is bulk mail with the configured brand, even for an event workflow', async () => {
  const { broadcast_id: id } = (await trigger({ workflow_id: 'task-completed', payload_template: { task_name: 'the update' } })).json;
  await waitForStatus(id, 'completed');
  await pollSlowly('all e-mails', () => recipientsOf('Your task "the update" is done').length === 4);
  for (const m of smtp.box.filter((x) => x.parsed.subject === 'Your task "the update" is done')) {
    assert.match(m.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    assert.match(m.parsed.html, /Acme Agents/);
    assert.match(m.parsed.html, /color:#14532d/);
    assert.equal(m.parsed.from.text, '"Acme Agents" <no-reply@runyard.test>');
  }
  assert.equal(db.sql(`select count(*) from mail.message where key like 'broadcast:${id}:%' and bulk`), '4');
});

test('a scheduled broadcast waits, pausing also holds queued e-mails, and a cancelled one never arrives', async () => {
  const later = new Date(Date.now() + 3600_000).toISOString();
  const scheduled = (await trigger({ scheduled_at: later, payload_template: { title: 'Later', message: 'y' } })).json.broadcast_id;
  assert.equal((await show(scheduled)).status, 'scheduled');
  const control = async (id, action) => (await admin.post(`/admin/notifications/broadcasts/${id}/${action}`));
  assert.equal((await control(scheduled, 'cancel')).json.status, 'cancelled');
  assert.equal((await control(scheduled, 'cancel')).status, 409);
  assert.equal((await control(randomUUID(), 'pause')).status, 404);
  assert.equal((await users[0].post(`/admin/notifications/broadcasts/${scheduled}/pause`)).status, 403);

  // The relay rejects all e-mails temporarily, so they wait in the outbox.
  smtp.faults.rcpt = () => [451, '4.3.0 Not now'];
  const queued = (id) => db.sql(`select count(*) from mail.message where key like 'broadcast:${id}:%' and state = 'queued' and attempts > 0 and not under_way`);
  const retryNow = () => db.sql(`update core.job set run_at = now() where kind like 'mail.send%' and state in (0, 3)`);
  const ids = {};
  for (const title of ['Held', 'Withdrawn']) ids[title] = (await trigger({ payload_template: { title, message: 'y' } })).json.broadcast_id;
  for (const id of Object.values(ids)) await pollSlowly('all to be queued', () => queued(id) === '4');
  assert.equal((await control(ids.Held, 'pause')).json.status, 'paused');
  assert.equal((await control(ids.Withdrawn, 'cancel')).json.status, 'cancelled');
  await pollSlowly('the outbox to hold the broadcasts', () => db.sql(`select string_agg(state, ',' order by state) from mail.held_broadcast where id in ('${ids.Held}', '${ids.Withdrawn}')`) === 'cancelled,paused');
  // Attempts that started earlier still reach the relay.
  await pollSlowly('running attempts to end', () => db.sql(`select count(*) from mail.message where key like 'broadcast:%' and under_way`) === '0');
  smtp.faults.rcpt = undefined;
  retryNow();
  await pollSlowly('the e-mails to be suppressed', () => db.sql(`select count(*) from mail.message where key like 'broadcast:${ids.Withdrawn}:%' and state = 'suppressed' and body_text is null`) === '4');
  assert.deepEqual([recipientsOf('Held').length, recipientsOf('Withdrawn').length, recipientsOf('Later').length], [0, 0, 0]);
  assert.equal((await control(ids.Held, 'resume')).json.status, 'completed');
  await pollSlowly('the paused e-mails', () => { retryNow(); return recipientsOf('Held').length === 4; });
  const entries = await waitFor('the audit entry', async () => { const r = (await admin.get('/admin/audit?action=notification.broadcast_pause')).json.entries; return r.length > 0 && r; });
  assert.deepEqual(entries.map((a) => [a.actor, a.detail]), [[admin.id, { broadcast: ids.Held }]]);
  assert.deepEqual((await admin.get('/admin/notifications/broadcasts?limit=1')).json.broadcasts.map((b) => b.id), [ids.Withdrawn]);
});

test('unsubscribe links and preferences share their state', async () => {
  const [ann] = users;
  const news = (title) => admin.post('/admin/notifications/trigger', { json: { workflow_id: 'newsletter', subscriber_id: ann.id, payload_template: { title, message: 'y' } } });
  const subscribed = async () => (await ann.get('/notifications/preferences')).json.preferences.workflows.newsletter?.email ?? true;
  await news('First');
  const link = (await pollSlowly('the first e-mail', () => smtp.to('ann@example.test').find((m) => m.parsed.subject === 'First'))).parsed.headers.get('list').unsubscribe.url;
  const unsubscribeUrl = server.url + new URL(link).pathname;
  assert.equal((await fetch(unsubscribeUrl, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) })).status, 200);
  await waitFor('the preference', async () => (await subscribed()) === false);
  await ann.request('PUT', '/notifications/preferences', { json: { workflows: { newsletter: { email: true } } } });
  await pollSlowly('the subscription', () => db.sql(`select count(*) from mail.subscription where address = 'ann@example.test' and out_at is not null`) === '0');
  await news('Second');
  await pollSlowly('the second e-mail', () => recipientsOf('Second').length === 1);
  await fetch(unsubscribeUrl, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  await waitFor('unsubscription', async () => (await subscribed()) === false);
  await fetch(unsubscribeUrl, { method: 'POST', body: new URLSearchParams({ undo: '1' }) });
  await waitFor('resubscription', subscribed);
});

test('an unverified account that unsubscribed is shown as unsubscribed until it resubscribes', async () => {
  const eve = await server.user({ email: 'eve@example.test' });
  await eve.get('/account');
  const state = async () => { const { email, unsubscribed } = (await eve.get('/notifications/preferences')).json.preferences.workflows.newsletter ?? {}; return `${email} ${unsubscribed}`; };
  await admin.post('/admin/notifications/trigger', { json: { workflow_id: 'newsletter', subscriber_id: eve.id, payload_template: { title: 'To Eve', message: 'y' } } });
  const link = (await pollSlowly('the e-mail', () => smtp.to('eve@example.test').find((m) => m.parsed.subject === 'To Eve'))).parsed.headers.get('list').unsubscribe.url;
  const unsubscribeUrl = server.url + new URL(link).pathname;
  await fetch(unsubscribeUrl, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  await waitFor('unsubscription', async () => (await state()) === 'false true');
  const put = await eve.request('PUT', '/notifications/preferences', { json: { workflows: { newsletter: { email: true } } } });
  assert.equal(put.status, 200, put.text);
  assert.equal(await state(), 'false true');
  await fetch(unsubscribeUrl, { method: 'POST', body: new URLSearchParams({ undo: '1' }) });
  await waitFor('resubscription', async () => (await state()) === 'true undefined');
});

test('disabling quiet hours releases waiting notifications; those above the hourly limit are combined', async () => {
  const [, bob] = users;
  const put = (json) => bob.request('PUT', '/notifications/preferences', { json });
  const publish = (title) => db.sql(`select core.event_publish('run.completed', '${bob.id}', '${JSON.stringify({ account_id: bob.id, thread_id: randomUUID(), title })}')`);
  const clock = (hours) => new Date(Date.now() + hours * 3600_000).toISOString().slice(11, 16);
  await put({ time_zone: 'UTC', quiet_hours: { from: clock(-1), to: clock(2) } });
  publish('Quiet');
  await pollSlowly('the notification to wait for the end of quiet hours', () => db.sql(`select count(*) from core.job j join notifications.notification n on j.args->>'id' = n.id::text where n.account_id = '${bob.id}' and n.state = 'queued' and j.run_at > now() + interval '1 hour'`) === '1');
  await put({ quiet_hours: null });
  await pollSlowly('the notification to be released', () => recipientsOf('Your task "Quiet" is done').length === 1);

  db.sql('update mail.setting set per_recipient_hour = 1');
  for (const n of [1, 2, 3]) publish(`Many ${n}`);
  await pollSlowly('the notifications to be gathered', () => db.sql(`select count(*) from notifications.notification where account_id = '${bob.id}' and state = 'gathered'`) === '2');
  db.sql('update mail.setting set per_recipient_hour = 20');
  db.sql(`update core.job set run_at = now() where kind = 'notifications.deliver'`);
  const m = await pollSlowly('the combined e-mail', () => smtp.to('bob@example.test').find((x) => x.parsed.subject === '3 tasks are done'));
  assert.ok(m.parsed.text.indexOf('Many 1') < m.parsed.text.indexOf('Many 2') && m.parsed.text.indexOf('Many 2') < m.parsed.text.indexOf('Many 3'));
});

test('e-mails about tasks can be limited to long tasks', async () => {
  const [, , cat] = users;
  await cat.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': { min_minutes: 5 } } } });
  const publish = (title, minutes) => db.sql(`select core.event_publish('run.completed', '${cat.id}', '${JSON.stringify({ account_id: cat.id, thread_id: randomUUID(), title, duration_ms: minutes * 60000, charged_micro: 1500000, result: 'It works.' })}')`);
  publish('Short', 4);
  publish('Long', 6);
  const m = await pollSlowly('the e-mail about the long task', () => smtp.to('cat@example.test').find((x) => x.parsed.subject === 'Your task "Long" is done'));
  assert.match(m.parsed.text, /It works\.[\s\S]*Took 6 min, cost 1\.50 credits\./);
  assert.equal(recipientsOf('Your task "Short" is done').length, 0);
  // null restores the server's default, which has no limit.
  const restored = await cat.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': { min_minutes: null } } } });
  assert.ok(!('min_minutes' in restored.json.preferences.workflows['task-completed']));
  publish('Also short', 4);
  await pollSlowly('the e-mail about the short task', () => smtp.to('cat@example.test').find((x) => x.parsed.subject === 'Your task "Also short" is done'));
  const titles = (await cat.get('/notifications/inbox')).json.notifications.filter((n) => n.workflow_id === 'task-completed').map((n) => [n.title, Object.keys(n.payload).sort().join()]);
  assert.ok(titles.some(([t, keys]) => t === 'Your task "Short" is done' && keys === 'first_name,task_name,task_url'), 'the inbox shows short tasks as well');
});
