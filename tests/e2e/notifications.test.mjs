// Notifications from the event to the mail and the inbox: settings, preferences, suppression, admins.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { lastUser, startLlm } from './lib/llm.mjs';
import { startSmtp } from './lib/smtp.mjs';

const secret = 'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test';
let db, smtp, llm, server, admin;
const held = [];  // resolve functions that release the answers to prompts with [held]

before(async () => {
  smtp = await startSmtp({ starttls: false });
  llm = await startLlm(async (request, reply) => {
    reply.text('hello ');
    if (lastUser(request).includes('[held]')) await new Promise((go) => held.push(go));
    else await sleep(300);
    reply.end();
  });
  db = makeDatabase();
  server = new Server({
    database: db, llm,
    set: [secret, 'deployment.mode=staging', 'http.public_url=https://app.test', 'mail.host=127.0.0.1', `mail.port=${smtp.port}`,
      'mail.security=none', 'mail.from=no-reply@runyard.test', 'mail.per_recipient_hour=1000000'],
  });
  await server.start();
  admin = new Client(server, server.token({ role: 'admin' }));
});
after(async () => {
  await server?.close();
  await llm?.close();
  await smtp?.close();
  db?.drop();
});

const inboxEntry = async (user, workflow) =>
  waitFor(`an inbox entry of ${workflow}`, async () => (await user.get('/notifications/inbox')).json.notifications.find((n) => n.workflow_id === workflow));
const state = (workflow, user, thread) => db.sql(`select state || ':' || reason from notifications.notification where workflow = '${workflow}' and account_id = '${user.id}'
  ${thread ? `and thread_id = '${thread}'` : ''} order by id desc limit 1`);
const publish = (kind, user, payload = {}) =>
  db.sql(`select core.event_publish('${kind}', '${user.id}', '${JSON.stringify({ account_id: user.id, ...payload })}')`);
// Runs the prompt to its end without an open stream.
async function run(user, prompt = 'Write a poem') {
  const r = await user.start({ prompt });
  assert.equal(r.status, 200, r.text);
  await waitFor('the end of the run', async () => (await user.get(`/agent-run/${r.json.agent_run_id}`)).json.status !== 'running');
  return r.json;
}

test('a new account gets its welcome e-mail', async () => {
  const user = await server.user({ email: 'ann.lee@example.test' });
  await user.get('/account');
  const m = await smtp.mail('ann.lee@example.test');
  assert.equal(m.parsed.subject, 'Welcome to Runyard, ann.lee');
  assert.match(m.parsed.text, /Hello ann\.lee,/);
  assert.match(m.parsed.html, /href="https:\/\/app\.test"/);
  assert.deepEqual((await user.get('/notifications/inbox')).json.notifications, []);
  assert.equal(smtp.to('ann.lee@example.test').length, 1);
  const accepted = /^runyard_notifications_deliveries_total\{channel="email",outcome="accepted"\} [1-9]/m;
  await waitFor('the delivery metric', async () => accepted.test(await (await fetch(`${server.url}/metrics`)).text()));
});

test('for an account without an e-mail address, the welcome fails with a reason', async () => {
  const user = await server.user();
  await user.get('/account');
  await waitFor('the final state', () => state('welcome-email', user));
  assert.equal(state('welcome-email', user), 'failed:The account has no email');
});

test('a completed task creates a mail, an inbox entry and an unread count, and can be marked as read', async () => {
  const user = await server.user({ email: 'bob@example.test' });
  const { thread_id } = await run(user, 'Write <b>a poem</b> & a song');
  const entry = await inboxEntry(user, 'task-completed');
  assert.equal(entry.action_url, `https://app.test/#/threads/${thread_id}`);
  assert.deepEqual(Object.keys(entry.payload).sort(), ['first_name', 'task_name', 'task_url']);
  assert.equal(entry.payload.first_name, 'bob');
  assert.equal(entry.read, false);
  const m = await waitFor('the mail', () => smtp.to('bob@example.test').find((x) => /done$/.test(x.parsed.subject)));
  assert.ok(m.parsed.text.includes(entry.action_url));
  assert.ok(!m.parsed.html.includes('<b>'), 'user input is escaped');
  assert.equal((await user.get('/notifications/inbox/unread-count')).json.unread_count, 1);
  const other = await server.user();
  assert.equal((await other.post(`/notifications/inbox/${entry.id}/read`)).status, 404);
  assert.deepEqual((await user.post(`/notifications/inbox/${entry.id}/read`)).json, { success: true, marked: 1, unread_count: 0 });
  assert.deepEqual((await user.post(`/notifications/inbox/${entry.id}/read`)).json, { success: true, marked: 0, unread_count: 0 });
  const log = await waitFor('the delivery', async () => {
    const d = (await user.get('/notifications/deliveries')).json.deliveries;
    return d.some((x) => x.channel === 'email' && x.workflow_id === 'task-completed') && d;
  });
  assert.deepEqual(log.filter((d) => d.workflow_id === 'task-completed').map((d) => [d.channel, d.status]).sort(),
    [['email', 'accepted'], ['in_app', 'delivered'], ['push', 'skipped']]);
});

test('each event triggers its workflow with the documented payload', async () => {
  const user = await server.user({ email: 'events@example.test' });
  await user.get('/account');
  const thread = '0190b1e4-0000-7000-8000-000000000001', task_url = `https://app.test/#/threads/${thread}`;
  for (const [kind, workflow, reported, payload] of [
    ['run.completed', 'task-completed', { thread_id: thread, title: 'Poem' }, { first_name: 'events', task_name: 'Poem', task_url }],
    ['run.failed', 'task-failed', { thread_id: thread, title: 'Poem', error: 'It broke', reason: 'llm_error' }, { first_name: 'events', task_name: 'Poem', task_url, failure_reason: 'It broke' }],
    ['payment.succeeded', 'payment-succeeded', { amount: 20, currency: 'EUR', plan_name: 'pro' }, { account_id: user.id, amount: 20, currency: 'EUR', plan_name: 'pro' }],
    ['payment.failed', 'payment-failed', { amount: 20, currency: 'EUR', reason: 'declined' }, { account_id: user.id, amount: 20, currency: 'EUR', reason: 'declined' }],
    ['credits.low', 'credits-low', { balance_micro: 7_500_000, threshold_percent: 20 }, { account_id: user.id, remaining_credits: 7, threshold_percentage: 20 }],
  ]) {
    publish(kind, user, reported);
    assert.deepEqual((await inboxEntry(user, workflow)).payload, payload, kind);
  }
  await waitFor('six mails', () => smtp.to('events@example.test').length === 6);
});

test('a digest is a single e-mail and is delayed until the end of the quiet hours', async () => {
  const user = await server.user({ email: 'digest@example.test' });
  await user.get('/account');
  await smtp.mail('digest@example.test');
  const put = async (json) => assert.equal((await user.request('PUT', '/notifications/preferences', { json })).status, 200);
  await put({ workflows: { 'payment-succeeded': { digest_minutes: 60 } } });
  for (const plan_name of ['a', 'b', 'c']) publish('payment.succeeded', user, { amount: 1, currency: 'EUR', plan_name });
  await waitFor('all in the inbox', async () => (await user.get('/notifications/inbox/unread-count')).json.unread_count === 3);
  const runDeliveriesNow = () => db.sql(`update core.job set run_at = now() where kind = 'notifications.deliver' and args->>'id' in
    (select id::text from notifications.notification where account_id = '${user.id}')`);
  const clock = (hours) => new Date(Date.now() + hours * 3600_000).toISOString().slice(11, 16);
  await put({ time_zone: 'UTC', quiet_hours: { from: clock(-1), to: clock(1) } });
  runDeliveriesNow();
  const waiting = () => db.sql(`select count(*) from core.job where kind = 'notifications.deliver' and run_at > now() + interval '50 minutes'`);
  await waitFor('the delay by quiet hours', () => waiting() === '1', 30000);
  assert.equal(smtp.to('digest@example.test').length, 1, 'the welcome');
  await put({ quiet_hours: null });
  runDeliveriesNow();
  const m = await waitFor('the digest', () => smtp.to('digest@example.test')[1], 30000);
  assert.equal(m.parsed.subject, '3 notifications');
  assert.equal(m.parsed.text.match(/Payment received: €1\.00/g).length, 3);
  await waitFor('their final state', () => db.sql(`select string_agg(state, ',') from notifications.notification where account_id = '${user.id}' and workflow = 'payment-succeeded'`) === 'sent,sent,sent');
  assert.equal(smtp.to('digest@example.test').length, 2);
});

// Opens the stream of the inbox; `until(label, fn)` waits for fn(events). token = false: authenticate by the query.
async function openInboxStream(user, { headers = {}, query = '', token = true } = {}) {
  const stop = new AbortController();
  const r = await fetch(`${server.url}/notifications/inbox/stream${query}`,
    { headers: { ...(token ? { authorization: `Bearer ${user.token}` } : {}), ...headers }, signal: stop.signal });
  const out = { status: r.status, headers: r.headers, events: [], stop: () => stop.abort() };
  if (r.status !== 200) return { ...out, text: await r.text() };
  (async () => {
    let pending = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of r.body) {
        pending += decoder.decode(chunk, { stream: true });
        for (let end; (end = pending.indexOf('\n\n')) >= 0; pending = pending.slice(end + 2)) {
          const block = pending.slice(0, end);
          const event = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null');
          if (!event || event.type === 'ping') continue;
          event.$id = Number(/^id: (\d+)$/m.exec(block)?.[1]);
          out.events.push(event);
        }
      }
    } catch { /* cancelled */ }
  })();
  out.until = (label, fn) => waitFor(label, () => fn(out.events));
  return out;
}
const trigger = async (user, title) => {
  const r = await admin.post('/admin/notifications/trigger', { json: { workflow_id: 'promotional', payload_template: { title }, subscriber_id: user.id } });
  assert.equal(r.status, 200, r.text);
  return r.json;
};

test('the inbox stream reports unread counts and resumes at the last event', async () => {
  const user = await server.user();
  await user.get('/account');
  const s = await openInboxStream(user);
  assert.match(s.headers.get('content-type'), /^text\/event-stream/);
  await s.until('the count', (e) => e.length === 1 && e[0].type === 'unread_count' && e[0].unread_count === 0);
  await trigger(user, 'one');
  const [, first] = await s.until('the first notification', (e) => e.length === 2 && e);
  assert.deepEqual([first.type, first.notification.title, first.unread_count, first.$id], ['notification', 'one', 1, 1]);
  await trigger(user, 'two');
  await s.until('the second', (e) => e.at(-1).notification?.title === 'two' && e.at(-1).unread_count === 2);
  await user.post('/notifications/inbox/read-all');
  await s.until('the count down', (e) => e.at(-1).type === 'unread_count' && e.at(-1).unread_count === 0);
  s.stop();
  await trigger(user, 'three');
  const again = await openInboxStream(user, { headers: { 'last-event-id': '1' } });
  await again.until('the missed notifications', (e) => e.length === 2 && e.map((x) => x.notification.title).join() === 'two,three');
  again.stop();
  const { token, expires_in: seconds } = (await user.post('/notifications/inbox/stream-token')).json;
  assert.equal(seconds, 24 * 3600, 'a browser reconnects with the same URL, and an inbox stream never ends');
  const browser = await openInboxStream(user, { query: `?token=${token}&last_event_id=2`, token: false });
  await browser.until('the third', (e) => e.length === 1 && e[0].notification.title === 'three');
  browser.stop();
  assert.equal((await openInboxStream(user, { token: false })).status, 401);
  assert.equal((await openInboxStream(user, { headers: { 'last-event-id': 'x' } })).status, 400);
});

test('with several concurrent readers, each receives every notification once', async () => {
  const user = await server.user();
  await user.get('/account');
  const all = await Promise.all(Array.from({ length: 5 }, () => openInboxStream(user)));
  await Promise.all(all.map((s) => s.until('its first event', (e) => e.length > 0)));
  await Promise.all(Array.from({ length: 12 }, (_, n) => trigger(user, `n${n}`)));
  for (const s of all) {
    await s.until('all of them', (e) => e.filter((x) => x.type === 'notification').length === 12);
    assert.deepEqual(s.events.filter((x) => x.type === 'notification').map((x) => x.$id), Array.from({ length: 12 }, (_, n) => n + 1));
    s.stop();
  }
});

test('while the stream of the run is open nothing is sent, and the reason is stored', async () => {
  const user = await server.user({ email: 'watcher@example.test' });
  const r = await user.start({ prompt: '[held] Write a poem' });
  const seen = await user.stream(r.json.agent_run_id, { onEvent: (e) => { if (e.type === 'llm_response_chunk') held.pop()(); } });
  assert.equal(seen.ended, true);
  await waitFor('the notification state', () => state('task-completed', user));
  assert.equal(state('task-completed', user), 'suppressed:User is actively viewing thread');
  assert.deepEqual((await user.get('/notifications/inbox')).json.notifications, []);
});

test('a stream on another node also suppresses notifications, while it is open and its node is alive', async () => {
  const other = new Server({ database: db, llm, set: [secret, 'deployment.mode=staging'] });
  const user = await server.user({ tier: 'pro' });
  const readers = () => db.sql('select count(*) from runs.watcher where until > now()');
  // Starts a run whose answer is held on the first node, with a reader of its stream on the other node.
  async function startRunWithReader() {
    const { agent_run_id: id, thread_id } = (await user.start({ prompt: '[held] Write a poem' })).json;
    const disconnect = new AbortController();
    const r = await fetch(`${other.url}/agent-run/${id}/stream`, { headers: { authorization: `Bearer ${user.token}` }, signal: disconnect.signal });
    assert.equal(r.status, 200);
    const streamClosed = r.text().catch(() => '');
    await waitFor('the reader', () => readers() === '1');
    await waitFor('the answer', () => held.length === 1);
    return {
      disconnect: () => disconnect.abort(),
      end: async () => {
        held.pop()();
        await waitFor('the end of the run', async () => (await user.get(`/agent-run/${id}`)).json.status === 'completed');
        await waitFor('the notification state', () => state('task-completed', user, thread_id));
        await streamClosed;
        return state('task-completed', user, thread_id);
      },
    };
  }
  try {
    await other.start();
    const connected = await startRunWithReader();
    assert.equal(await connected.end(), 'suppressed:User is actively viewing thread');
    await waitFor('no reader', () => readers() === '0');
    assert.deepEqual((await user.get('/notifications/inbox')).json.notifications, []);

    const disconnected = await startRunWithReader();
    disconnected.disconnect();
    await waitFor('no reader', () => readers() === '0');
    assert.doesNotMatch(await disconnected.end(), /^suppressed/);

    const onDeadNode = await startRunWithReader();
    await other.kill();
    db.sql(`update runs.watcher set until = until - interval '1 minute'`);  // expires the entry, which no node renews
    assert.doesNotMatch(await onDeadNode.end(), /^suppressed/);
    await waitFor('both in the inbox', async () => (await user.get('/notifications/inbox/unread-count')).json.unread_count === 2);
    db.sql(`select core.job_enqueue('runs.prune', '{}', 'default')`);
    await waitFor('the entry of the dead node to be deleted', () => db.sql('select count(*) from runs.watcher') === '0');
  } finally {
    held.splice(0).forEach((go) => go());
    await other.close();
  }
});

test('a permanently rejected e-mail is a failure, even with an inbox entry; a retry sends a new e-mail', async () => {
  smtp.faults.rcpt = ({ to }) => (to === 'gone@example.test' ? [550, '5.1.1 No such user'] : undefined);
  const user = await server.user({ email: 'gone@example.test' });
  await user.get('/account');
  await waitFor('the rejection', () => db.sql(`select count(*) from mail.message where address = 'gone@example.test' and state = 'refused'`) === '1');
  await publish('payment.failed', user, { amount: 5, currency: 'EUR', reason: 'card declined' });
  await inboxEntry(user, 'payment-failed');
  await waitFor('the end', () => state('payment-failed', user) !== 'queued:');
  db.sql(`update notifications.delivery set follow_at = now() where follow_at is not null`);
  db.sql(`select core.job_enqueue('notifications.follow', '{}', 'notifications')`);
  const log = await waitFor('the outcome of the delivery', async () => {
    const d = (await user.get('/notifications/deliveries')).json.deliveries.filter((x) => x.channel === 'email');
    return d.some((x) => x.status === 'refused') && d;
  });
  assert.ok(log.some((d) => d.workflow_id === 'welcome-email' && d.status === 'refused' && d.detail === 'The mail server rejected it'));
  assert.ok(log.some((d) => d.workflow_id === 'payment-failed' && d.status === 'skipped'));
  delete smtp.faults.rcpt;
  db.sql(`delete from mail.subscription where address = 'gone@example.test'`);
  await publish('payment.succeeded', user, { amount: 12.5, currency: 'EUR', plan_name: 'pro' });
  const delivered = await smtp.mail('gone@example.test');
  assert.equal(delivered.parsed.subject, 'Payment received: €12.50');
  smtp.faults.rcpt = ({ to }) => (to === 'gone@example.test' ? [550, '5.1.1 No such user'] : undefined);
  await publish('payment.succeeded', user, { amount: 13, currency: 'EUR', plan_name: 'pro' });
  await waitFor('the rejection', () => db.sql(`select count(*) from mail.message where address = 'gone@example.test' and state = 'refused'`) === '2');
  db.sql(`update notifications.delivery set follow_at = now() where follow_at is not null`);
  db.sql(`select core.job_enqueue('notifications.follow', '{}', 'notifications')`);
  await waitFor('the failure', () => state('payment-succeeded', user) === 'failed:The mail server rejected it');
  delete smtp.faults.rcpt;
  db.sql(`delete from mail.subscription where address = 'gone@example.test'`);
  const [failed] = (await admin.get(`/admin/notifications?status=failed&account_id=${user.id}`)).json.notifications;
  assert.equal((await user.post(`/admin/notifications/${failed.id}/requeue`)).status, 403);
  assert.equal((await admin.post(`/admin/notifications/${failed.id}/requeue`)).status, 200);
  await waitFor('the mail', () => smtp.to('gone@example.test').some((m) => m.parsed.subject === 'Payment received: €13.00'));
  assert.equal((await user.get('/notifications/inbox')).json.notifications.filter((n) => n.workflow_id === 'payment-succeeded').length, 2);
});

test('data that cannot be stored is rejected with the name of the field and without side effects', async () => {
  const user = await server.user();
  await user.get('/account');
  const auditEvents = () => db.sql(`select count(*) from core.event where kind = 'admin.act'`);
  const before = auditEvents();
  const send = (text) => admin.post('/admin/notifications/trigger', { body: text, headers: { 'content-type': 'application/json' } });
  for (const template of ['{"title":"a\\u0000b"}', '{"\\u0000":1}', '{"n":1e400}']) {
    for (const target of [`"subscriber_id":"${user.id}"`, '"broadcast":true']) {
      const r = await send(`{"workflow_id":"promotional","payload_template":${template},${target}}`);
      assert.equal(r.status, 422, template);
      assert.match(r.json.detail, /^payload_template /);
    }
  }
  assert.equal(auditEvents(), before);
  assert.deepEqual((await user.get('/notifications/inbox')).json.notifications, []);
  for (const [token, detail] of [['%ff?provider=fcm', 'device_token must be UTF-8'], ['t?provider=%c3', 'provider must be UTF-8 text of at most 64 bytes without NUL characters']]) {
    const r = await user.request('DELETE', `/notifications/device-token/${token}`);
    assert.deepEqual([r.status, r.json.detail], [422, detail]);
  }
  for (const time_zone of ['Mars/Phobos', 'localtime', '+05']) {
    const r = await user.request('PUT', '/notifications/preferences', { json: { time_zone } });
    assert.deepEqual([r.status, r.json.detail], [422, 'time_zone must be a name of the IANA time zone database, like Europe/Berlin']);
  }
});

test('each action of an administrator is audited in the same transaction', async () => {
  const user = await server.user();
  await user.get('/account');
  const auditEvents = () => db.sql(`select count(*) from core.event where kind = 'admin.act'`);
  const before = auditEvents();
  db.sql(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by the test'; end $$;
    create trigger refuse before insert on core.job for each row when (new.kind = 'notifications.broadcast') execute function refuse();
    create trigger refuse before insert on notifications.inbox for each row execute function refuse()`);
  try {
    for (const target of [{ broadcast: true }, { subscriber_id: user.id }]) {
      const r = await admin.post('/admin/notifications/trigger', { json: { workflow_id: 'promotional', payload_template: { title: 'x', message: 'y' }, ...target } });
      assert.equal(r.status, 500);
      assert.ok(!r.text.includes('refused by the test'));
      assert.equal(auditEvents(), before);
    }
  } finally {
    db.sql('drop function refuse() cascade');
  }
  await trigger(user, 'y');
  assert.equal(auditEvents(), String(Number(before) + 1));
});

test('the preferences and device tokens of an account are limited', async () => {
  const user = await server.user();
  const put = (n) => user.request('PUT', '/notifications/preferences', { json: { workflows: Object.fromEntries(Array.from({ length: 60 }, (_, k) => [`w${n}-${k}`, { email: false }])) } });
  assert.equal((await put(0)).status, 200);
  const r = await put(1);
  assert.deepEqual([r.status, r.json.detail], [422, 'workflows would have too many members']);
  db.sql('update notifications.setting set tokens_per_provider = 2');
  for (let i = 0; i < 7; i++) {
    assert.equal((await user.post('/notifications/device-token', { json: { device_token: `ExponentPushToken[${String(i).repeat(22)}]`, device_type: 'x', provider: 'expo' } })).status, 200);
  }
  db.sql('update notifications.setting set tokens_per_provider = 100');
  assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${user.id}'`), '2');
});

test('deleting an account deletes its notification data', async () => {
  const user = await server.user({ email: 'leaver@example.test' });
  await user.get('/account');
  await trigger(user, 'one');
  assert.equal((await user.post('/notifications/device-token', { json: { device_token: 'ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]', device_type: 'x', provider: 'expo' } })).status, 200);
  db.sql(`select core.event_publish('account.deleted', '${user.id}', '{}')`);
  const remainingRows = () => ['device_token', 'notification', 'delivery', 'inbox', 'inbox_head', 'preference', 'presence', 'subscriber']
    .map((t) => db.sql(`select count(*) from notifications.${t} where account_id = '${user.id}'`)).join('');
  await waitFor('its rows to be deleted', () => remainingRows() === '00000000');
});

test('templates of the operator replace the built-in ones, and an invalid template prevents the start', async () => {
  const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const dir = mkdtempSync(`${tmpdir()}/ry-texts-`);
  writeFileSync(`${dir}/promotional.txt`, 'title: Neu: {{title}}\nbody: {{message}}\nmail:\nHallo {{first_name}}\n');
  const other = makeDatabase();
  const s = new Server({ database: other, set: ['deployment.mode=staging', `notifications.templates_dir=${dir}`] });
  try {
    await s.start();
    const user = await s.user();
    await user.get('/account');
    const otherAdmin = new Client(s, s.token({ role: 'admin' }));
    await otherAdmin.post('/admin/notifications/trigger', { json: { workflow_id: 'promotional', payload_template: { title: '<T>' }, subscriber_id: user.id } });
    assert.equal((await user.get('/notifications/inbox')).json.notifications[0].title, 'Neu: <T>');
    await s.stop();
    writeFileSync(`${dir}/task-failed.txt`, 'title: x\nsubjekt: y\n');
    await assert.rejects(s.start({ timeout: 20000 }), /task-failed\.txt: line 2 /);
  } finally {
    await s.close();
    other.drop();
    rmSync(dir, { recursive: true });
  }
});
