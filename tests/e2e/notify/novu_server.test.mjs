// Notifications through Novu, end to end: from an event to the trigger, through every fault, and webhooks from Novu.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { startNovu } from '../lib/novu.mjs';
import { Server, makeDatabase, waitFor } from '../lib/server.mjs';
import { startSmtp } from '../lib/smtp.mjs';

const secret = `whsec_${randomBytes(32).toString('base64')}`, previousSecret = `whsec_${randomBytes(32).toString('base64')}`;
let db, novu, server;
const options = (more = '', set = []) => ({ database: db, set: ['deployment.mode=staging', ...set], settings: `
[modules.notify_novu]
enabled = true
[notifications]
orchestrator = "novu"
webhook_secrets = ["${secret}", "${previousSecret}"]
[notify_novu]
base_url = "${novu.url}"
api_key = "${novu.key}"
timeout_seconds = 4
${/step_conditions/.test(more) ? '' : 'step_conditions = true'}
${more}
` });
before(async () => {
  db = makeDatabase();
  novu = await startNovu();
  server = await new Server(options()).start();
});
after(async () => {
  await server?.close();
  await novu?.close();
  db?.drop();
});

let userCount = 0;
async function newUser() {
  const u = await server.user({ email: `p${++userCount}@example.test` });
  assert.equal((await u.get('/account')).status, 200);
  return u;
}
const publish = (kind, u, payload = {}) => db.sql(`select core.event_publish('${kind}', '${u.id}', '${JSON.stringify({ account_id: u.id, ...payload })}')`);
const payment = { amount: 20, currency: 'usd', plan_name: 'pro' };
const stateOf = (u, workflow) => db.sql(`select state from notifications.notification where account_id = '${u.id}' and workflow = '${workflow}'`);
// The state of the e-mail delivery; the inbox entry is written in any case.
const emailStateOf = (u, workflow) => db.sql(`select d.state from notifications.delivery d join notifications.notification n on n.id = d.notification_id
  where n.account_id = '${u.id}' and n.workflow = '${workflow}' and d.channel = 1`);
const isFinished = (u, workflow) => ['sent', 'failed', 'dead'].includes(stateOf(u, workflow));

test('a new account: the welcome workflow is triggered with the subscriber', async () => {
  const u = await newUser();
  const [t] = await waitFor('the trigger', () => { const l = novu.taken(u.id, 'welcome-email'); return l.length && l; });
  assert.deepEqual(t.event.to, { subscriberId: u.id, email: `p${userCount}@example.test`, firstName: `p${userCount}` });
  assert.deepEqual(t.event.payload, {});
  await waitFor('the final state', () => stateOf(u, 'welcome-email') === 'sent');
});

test('with every fault, each notification reaches the expected state, and Novu accepts it at most once', async () => {
  const cases = [
    ['no fault', [], 'accepted', 1], ['time-out', ['time-out'], 'accepted', 1], ['lost request', ['lost'], 'accepted', 1], ['reset within the response', ['reset'], 'accepted', 1],
    ['409', [409], 'accepted', 1], ['422', [422], 'refused', 0], ['429', [429], 'accepted', 1], ['500 then ok', [500], 'accepted', 1],
    ['201 with trigger_not_active', ['trigger_not_active'], 'refused', 0],
  ];
  for (const c of cases) c.user = await newUser();
  for (const c of cases) {
    novu.script(`${c.user.id} payment-succeeded`, c[1]);
    publish('payment.succeeded', c.user, payment);
  }
  for (const c of cases) {
    const [label, faults, state, times] = c, u = c.user;
    await waitFor(`the final state: ${label}`, () => isFinished(u, 'payment-succeeded'), 90000);
    assert.equal(emailStateOf(u, 'payment-succeeded'), state, label);
    const taken = novu.taken(u.id, 'payment-succeeded');
    assert.deepEqual(taken.map((t) => t.times), times ? [1] : [], label);
    const requests = novu.requests.filter((r) => r.body?.name === 'payment-succeeded' && r.body.to.subscriberId === u.id);
    // There may be more requests if this machine is slower than the driver's timeout.
    assert.ok(requests.length >= faults.length + (state === 'accepted' ? 1 : 0), label);
    assert.equal(new Set(requests.map((r) => r.body.transactionId)).size, 1, label);
  }
});

test('a notification rejected for a missing workflow is sent after a requeue, even without a device', async () => {
  await server.close();
  server = await new Server(options('step_conditions = false')).start();
  const u = await newUser(), admin = await server.user({ role: 'admin' });
  novu.workflows.delete('payment-failed');
  publish('payment.failed', u, { ...payment, reason: 'card' });
  await waitFor('the failure', () => stateOf(u, 'payment-failed') === 'failed', 30000);
  novu.workflows.add('payment-failed');
  const [n] = (await admin.get(`/admin/notifications?status=failed&account_id=${u.id}`)).json.notifications;
  assert.match(n.reason, /workflow_not_found/);
  assert.equal((await admin.post(`/admin/notifications/${n.id}/requeue`)).status, 200);
  await waitFor('the final state', () => stateOf(u, 'payment-failed') === 'sent', 30000);
  assert.deepEqual(novu.taken(u.id, 'payment-failed').map((t) => [t.times, t.event.payload.channels]), [[1, undefined]]);

  await server.close();
  server = await new Server(options()).start();
});

test('Novu cannot omit channels without step conditions: the builtin driver delivers the enabled channels instead', async () => {
  const pushMessages = [];
  const expo = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => {
      pushMessages.push(...JSON.parse(body));
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: JSON.parse(body).map((m, i) => ({ status: 'ok', id: `t${pushMessages.length}${i}` })) }));
    });
  });
  await new Promise((resolve) => expo.listen(0, '127.0.0.1', resolve));
  const smtp = await startSmtp();
  const withoutConditions = (set = []) => options(`step_conditions = false\n[notify_builtin]\nexpo_url = "http://127.0.0.1:${expo.address().port}"\n[mail]\nhost = "127.0.0.1"\nport = ${smtp.port}\nsecurity = "none"\nfrom = "n@example.test"`, set);
  const changeSettings = async (u, json) => assert.equal((await u.request('PUT', '/notifications/settings', { json })).status, 200);
  const registerDevice = async (u, token) => assert.equal((await u.post('/notifications/device-token', { json: { device_token: token, device_type: 'mobile', provider: 'expo' } })).status, 200);
  await server.close();
  try {
    server = await new Server(withoutConditions()).start();
    assert.match(server.log, /the orchestrator cannot omit channels: the driver builtin notifies/);
    const [pushOnly, emailOnly, allChannels] = [await newUser(), await newUser(), await newUser()];
    const address = `p${userCount - 1}@example.test`;
    await registerDevice(pushOnly, 'ExponentPushToken[pushOnly]');
    await registerDevice(emailOnly, 'ExponentPushToken[emailOnly]');
    await changeSettings(pushOnly, { email_enabled: false });
    await changeSettings(emailOnly, { push_enabled: false });
    for (const u of [pushOnly, emailOnly, allChannels]) publish('payment.succeeded', u, payment);
    await waitFor('the push', () => pushMessages.find((m) => m.to === 'ExponentPushToken[pushOnly]'), 30000);
    await waitFor('the e-mail', () => smtp.to(address).length, 30000);
    await waitFor('the trigger', () => novu.taken(allChannels.id, 'payment-succeeded').length, 30000);
    for (const u of [pushOnly, emailOnly]) {
      await waitFor('the final state', () => stateOf(u, 'payment-succeeded') === 'sent', 30000);
      assert.deepEqual(novu.taken(u.id, 'payment-succeeded'), [], 'the notification is not triggered at Novu');
      assert.equal((await u.get('/notifications/inbox')).json.notifications[0].workflow_id, 'payment-succeeded', 'the inbox does not depend on Novu');
    }
    assert.deepEqual(pushMessages.map((m) => m.to), ['ExponentPushToken[pushOnly]']);
    assert.equal(emailStateOf(pushOnly, 'payment-succeeded'), '');
    await server.close();

    server = await new Server(withoutConditions(['modules.notify_builtin.enabled=false'])).start();
    assert.match(server.log, /the orchestrator cannot omit channels: accounts that turned one off get neither/);
    publish('payment.failed', emailOnly, { ...payment, reason: 'card' });
    await waitFor('the final state', () => isFinished(emailOnly, 'payment-failed') || stateOf(emailOnly, 'payment-failed') === 'suppressed', 30000);
    assert.deepEqual([emailStateOf(emailOnly, 'payment-failed'), novu.taken(emailOnly.id, 'payment-failed')], ['skipped', []]);
  } finally {
    await server.close();
    await smtp.close();
    expo.closeAllConnections();
    expo.close();
    server = await new Server(options()).start();
  }
});

test('preferences are respected: nothing is sent, or the trigger lists the enabled channels', async () => {
  const allDisabled = await newUser(), inAppDisabled = await newUser();
  for (const u of [allDisabled, inAppDisabled]) await waitFor('the welcome', () => novu.taken(u.id, 'welcome-email').length);
  assert.equal((await allDisabled.request('PUT', '/notifications/settings', { json: { email_enabled: false, push_enabled: false, in_app_enabled: false } })).status, 200);
  assert.equal((await inAppDisabled.request('PUT', '/notifications/settings', { json: { in_app_enabled: false } })).status, 200);
  for (const u of [allDisabled, inAppDisabled]) publish('payment.succeeded', u, payment);
  const [t] = await waitFor('the trigger', () => { const l = novu.taken(inAppDisabled.id, 'payment-succeeded'); return l.length && l; });
  assert.deepEqual(t.event.payload.channels, { email: true, push: true, in_app: false });
  await waitFor('the suppressed notification', () => stateOf(allDisabled, 'payment-succeeded') === 'suppressed');
  assert.equal(novu.taken(allDisabled.id, 'payment-succeeded').length, 0);
});

test('Novu gets the complete device list at each change; a webhook about an invalid token removes the device', async () => {
  const u = await newUser();
  await waitFor('the welcome', () => novu.taken(u.id, 'welcome-email').length);
  const add = async (token) => assert.equal((await u.post('/notifications/device-token', { json: { device_token: token, device_type: 'mobile', provider: 'expo' } })).status, 200);
  const devicesAtNovu = () => JSON.stringify(novu.subscribers.get(u.id)?.channels.expo?.toSorted() ?? []);
  await add('ExponentPushToken[a]');
  await add('ExponentPushToken[b]');
  await waitFor('both devices', () => devicesAtNovu() === JSON.stringify(['ExponentPushToken[a]', 'ExponentPushToken[b]']), 30000);
  publish('payment.succeeded', u, payment);
  const [t] = await waitFor('the trigger', () => { const l = novu.taken(u.id, 'payment-succeeded'); return l.length && l; });
  const failed = JSON.stringify({ id: 'evt_1', type: 'message.failed', object: 'message', data: {
    object: { transactionId: t.event.transactionId, channel: 'push', providerId: 'expo', subscriber: { subscriberId: u.id } },
    error: { message: 'dead', push: { isInvalidToken: true, deviceToken: 'ExponentPushToken[a]' } } } });
  const send = (headers, body = failed) => fetch(`${server.url}/notifications/webhooks/novu`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const signed = (id, body = failed, key = secret, at = new Date()) => ({ 'webhook-id': id, 'webhook-timestamp': String(Math.floor(at / 1000)), 'webhook-signature': new Webhook(key).sign(id, at, body) });

  for (const [label, headers, body] of [['no signature', {}], ['another secret', signed('m1', failed, `whsec_${randomBytes(32).toString('base64')}`)],
    ['signature of another body', signed('m1', '{}')], ['old timestamp', signed('m1', failed, secret, new Date(Date.now() - 400_000))], ['not JSON, another secret', signed('m1', 'x', `whsec_${randomBytes(32).toString('base64')}`), 'x']]) {
    const r = await send(headers, body);
    assert.equal(r.status, 401, label);
    assert.deepEqual(await r.json(), { detail: 'Invalid signature' }, label);
  }
  assert.equal(devicesAtNovu(), JSON.stringify(['ExponentPushToken[a]', 'ExponentPushToken[b]']), 'no device was removed');

  const failedPushes = async () => [...(await (await fetch(`${server.url}/metrics`)).text())
    .matchAll(/^runyard_notifications_deliveries_total\{(?=[^}]*channel="push")(?=[^}]*outcome="(?:gone|refused)")[^}]*\} (\d+)/gm)].reduce((n, m) => n + Number(m[1]), 0);
  const failedBefore = await failedPushes();
  const ok = await send(signed('m1'));
  assert.equal(await failedPushes(), failedBefore + 1, 'a failure reported by webhook is counted');
  assert.deepEqual([ok.status, await ok.json()], [200, { status: 'ok' }]);
  await waitFor('the removal', () => devicesAtNovu() === JSON.stringify(['ExponentPushToken[b]']), 30000);
  assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${u.id}'`), '1');

  // After the device is registered again, a repeat of the old message must not remove it.
  await add('ExponentPushToken[a]');
  const repeated = await send(signed('m1'));
  assert.deepEqual([repeated.status, await repeated.json()], [200, { status: 'ok' }]);
  assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${u.id}'`), '2');

  // The svix-* headers, and the previous secret.
  const svix = { 'svix-id': 'm2', 'svix-timestamp': String(Math.floor(Date.now() / 1000)), 'svix-signature': new SvixWebhook(previousSecret).sign('m2', new Date(), failed) };
  assert.equal((await send(svix)).status, 200);
  await waitFor('the second removal', () => db.sql(`select count(*) from notifications.device_token where account_id = '${u.id}'`) === '1');

  // The flat payload format and unknown types, under each path.
  const flat = JSON.stringify({ type: 'notification.sent', transactionId: t.event.transactionId, subscriberId: u.id });
  for (const path of ['/notifications/webhooks/orchestrator', '/api/notifications/webhooks/novu']) {
    for (const body of [flat, JSON.stringify({ type: 'something.else' })]) {
      const id = `m_${randomBytes(6).toString('hex')}`;
      const r = await fetch(server.url + path, { method: 'POST', body, headers: signed(id, body) });
      assert.deepEqual([r.status, await r.json()], [200, { status: 'ok' }]);
    }
  }
  // Bodies that cannot belong to a notification of this server are accepted and ignored.
  for (const body of ['{"type":"notification.failed","transactionId":"x\\u0000","subscriberId":"\\u0000"}', '[]', `{"type":"${'x'.repeat(10_000)}"}`]) {
    const r = await send(signed(`m_${randomBytes(6).toString('hex')}`, body), body);
    assert.deepEqual([r.status, await r.json()], [200, { status: 'ok' }], body.slice(0, 80));
  }
  assert.ok(!server.log.includes('x'.repeat(1000)), 'long values of a webhook are not logged');
  assert.equal((await send(signed('m3', 'nonsense'), 'nonsense')).status, 400);
  assert.ok(!server.log.includes(secret) && !server.log.includes(novu.key));

  for (const token of ['ExponentPushToken[b]']) assert.equal((await u.request('DELETE', `/notifications/device-token/${encodeURIComponent(token)}?provider=expo`)).status, 200);
  await waitFor('an empty device list', () => devicesAtNovu() === '[]', 30000);
});

test('a provider without an integration does not block other providers, and the status is checked for each channel', async () => {
  const u = await newUser();
  await waitFor('the welcome', () => stateOf(u, 'welcome-email') === 'sent', 30000);
  for (const [provider, token] of [['apns', 'a'.repeat(64)], ['expo', 'ExponentPushToken[other]']]) {
    const r = await u.post('/notifications/device-token', { json: { device_token: token, device_type: 'mobile', provider } });
    assert.equal(r.status, 200, r.text);
  }
  await waitFor('the device of the other provider', () => novu.subscribers.get(u.id)?.channels.expo?.length === 1, 30000);
  await waitFor('the end of the subscriber job', () => db.sql(`select count(*) from core.job where kind = 'notifications.subscriber' and args->>'account_id' = '${u.id}'`) === '0', 30000);
  assert.match(server.log, /permanently rejects the devices of this provider/);
  publish('payment.succeeded', u, payment);
  await waitFor('both channels', () => db.sql(`select count(*) from notifications.delivery d join notifications.notification n on n.id = d.notification_id
    where n.account_id = '${u.id}' and n.workflow = 'payment-succeeded' and d.channel in (1, 2) and d.state = 'accepted'`) === '2', 30000);
  db.sql(`update notifications.delivery set follow_at = now() where account_id = '${u.id}' and follow_at is not null; select core.job_enqueue('notifications.follow', '{}', 'notifications')`);
  await waitFor('the status check', () => db.sql(`select count(*) from notifications.delivery where account_id = '${u.id}' and follow_at <= now()`) === '0', 30000);
  assert.ok(!server.log.includes('channels that are disabled'), 'the status of a delivery is checked for its channel only');
});

test('a notification queued in Novu is withdrawn when an administrator cancels it', async () => {
  const u = await newUser();
  await waitFor('the welcome', () => stateOf(u, 'welcome-email') === 'sent');
  const admin = await server.user({ role: 'admin' });
  publish('payment.succeeded', u, payment);
  await waitFor('the final state', () => stateOf(u, 'payment-succeeded') === 'sent');
  const [n] = (await admin.get(`/admin/notifications?account_id=${u.id}`)).json.notifications;
  assert.equal(n.workflow_id, 'payment-succeeded');
  const cancel = () => admin.post(`/admin/notifications/${n.id}/cancel`);
  assert.equal((await cancel()).status, 409, 'Novu has already processed it');
  assert.equal((await u.post(`/admin/notifications/${n.id}/cancel`)).status, 403);
  novu.accepted.get(n.transaction_id).pending = true;
  assert.deepEqual((await cancel()).json, { success: true, status: 'cancelled' });
  assert.deepEqual(novu.requests.filter((r) => r.method === 'DELETE' && r.path.includes('/events/')).map((r) => r.path), Array(2).fill(`/v1/events/trigger/${n.transaction_id}`));
  assert.equal(stateOf(u, 'payment-succeeded'), 'cancelled');
  assert.equal(emailStateOf(u, 'payment-succeeded'), 'withdrawn');
  assert.equal((await cancel()).status, 409);
});

test('deleting an account deletes its subscriber at Novu', async () => {
  const u = await newUser();
  await waitFor('the welcome', () => stateOf(u, 'welcome-email') === 'sent');
  assert.ok(novu.subscribers.has(u.id));
  publish('account.deleted', u);
  await waitFor('the deletion at Novu', () => !novu.subscribers.has(u.id), 30000);
  await waitFor('the deletion of the notifications', () => db.sql(`select (select count(*) from notifications.subscriber where account_id = '${u.id}') + (select count(*) from notifications.notification where account_id = '${u.id}')`) === '0');
});

test('Novu rejects a part of a bulk request: each notification gets its own result', async () => {
  await server.close();
  server = await new Server(options('bulk_size = 20\nbulk_wait_ms = 1000')).start();
  const all = [];
  for (let i = 0; i < 6; i++) all.push(await newUser());
  for (const u of all) await waitFor('the welcome', () => stateOf(u, 'welcome-email') === 'sent', 30000);
  novu.workflows.delete('payment-failed');
  db.sql(all.map((u, i) => `select core.event_publish('${i % 2 ? 'payment.failed' : 'payment.succeeded'}', '${u.id}', '${JSON.stringify({ account_id: u.id, ...payment, reason: 'card' })}');`).join(' '));
  for (const [i, u] of all.entries()) {
    const workflow = i % 2 ? 'payment-failed' : 'payment-succeeded';
    await waitFor('the final state', () => isFinished(u, workflow), 60000);
    assert.equal(emailStateOf(u, workflow), i % 2 ? 'refused' : 'accepted');
    assert.deepEqual(novu.taken(u.id, workflow).map((t) => t.times), i % 2 ? [] : [1]);
  }
  assert.ok(novu.requests.some((r) => r.path === '/v1/events/trigger/bulk' && r.body.events.length > 1), 'some triggers were sent in bulk');
  novu.workflows.add('payment-failed');
});
