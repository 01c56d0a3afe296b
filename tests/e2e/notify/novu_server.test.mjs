// Notifications through Novu, the whole way: from an event to the trigger, through every fault, and back by webhook.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { startNovu } from '../lib/novu.mjs';
import { Server, makeDatabase, waitFor } from '../lib/server.mjs';
import { startSmtp } from '../lib/smtp.mjs';

const secret = `whsec_${randomBytes(32).toString('base64')}`, older = `whsec_${randomBytes(32).toString('base64')}`;
let db, novu, server;
const options = (more = '', set = []) => ({ database: db, set: ['deployment.mode=staging', ...set], settings: `
[modules.notify_novu]
enabled = true
[notifications]
orchestrator = "novu"
webhook_secrets = ["${secret}", "${older}"]
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

let people = 0;
async function person() {
  const u = await server.user({ email: `p${++people}@example.test` });
  assert.equal((await u.get('/account')).status, 200);
  return u;
}
const publish = (kind, u, payload = {}) => db.sql(`select core.event_publish('${kind}', '${u.id}', '${JSON.stringify({ account_id: u.id, ...payload })}')`);
const paid = { amount: 20, currency: 'usd', plan_name: 'pro' };
const row = (u, workflow) => db.sql(`select state from notifications.notification where account_id = '${u.id}' and workflow = '${workflow}'`);
// How the mail fared; the inbox is written in any case.
const mail = (u, workflow) => db.sql(`select d.state from notifications.delivery d join notifications.notification n on n.id = d.notification_id
  where n.account_id = '${u.id}' and n.workflow = '${workflow}' and d.channel = 1`);
const over = (u, workflow) => ['sent', 'failed', 'dead'].includes(row(u, workflow));

test('a new account: the welcome workflow is triggered with the subscriber', async () => {
  const u = await person();
  const [t] = await waitFor('the trigger', () => { const l = novu.taken(u.id, 'welcome-email'); return l.length && l; });
  assert.deepEqual(t.event.to, { subscriberId: u.id, email: `p${people}@example.test`, firstName: `p${people}` });
  assert.deepEqual(t.event.payload, {});
  await waitFor('its end', () => row(u, 'welcome-email') === 'sent');
});

test('each row of the outbox ends as it should, and Novu took each once', async () => {
  const cases = [
    ['nothing', [], 'accepted', 1], ['time-out', ['time-out'], 'accepted', 1], ['lost', ['lost'], 'accepted', 1], ['reset in mid-body', ['reset'], 'accepted', 1],
    ['409', [409], 'accepted', 1], ['422', [422], 'refused', 0], ['429', [429], 'accepted', 1], ['500 then ok', [500], 'accepted', 1],
    ['201 with trigger_not_active', ['trigger_not_active'], 'refused', 0],
  ];
  for (const c of cases) c.user = await person();
  for (const c of cases) {
    novu.script(`${c.user.id} payment-succeeded`, c[1]);
    publish('payment.succeeded', c.user, paid);
  }
  for (const c of cases) {
    const [what, faults, state, times] = c, u = c.user;
    await waitFor(`the end of ${what}`, () => over(u, 'payment-succeeded'), 90000);
    assert.equal(mail(u, 'payment-succeeded'), state, what);
    const taken = novu.taken(u.id, 'payment-succeeded');
    assert.deepEqual(taken.map((t) => t.times), times ? [1] : [], what);
    const requests = novu.requests.filter((r) => r.body?.name === 'payment-succeeded' && r.body.to.subscriberId === u.id);
    // More of them where this machine was slower than the driver's patience.
    assert.ok(requests.length >= faults.length + (state === 'accepted' ? 1 : 0), what);
    assert.equal(new Set(requests.map((r) => r.body.transactionId)).size, 1, what);
  }
});

test('a notification refused for a missing workflow is sent by a retry, also without a device', async () => {
  await server.close();
  server = await new Server(options('step_conditions = false')).start();
  const u = await person(), admin = await server.user({ role: 'admin' });
  novu.workflows.delete('payment-failed');
  publish('payment.failed', u, { ...paid, reason: 'card' });
  await waitFor('the refusal', () => row(u, 'payment-failed') === 'failed', 30000);
  novu.workflows.add('payment-failed');
  const [n] = (await admin.get(`/admin/notifications?status=failed&account_id=${u.id}`)).json.notifications;
  assert.match(n.reason, /workflow_not_found/);
  assert.equal((await admin.post(`/admin/notifications/${n.id}/requeue`)).status, 200);
  await waitFor('its end', () => row(u, 'payment-failed') === 'sent', 30000);
  assert.deepEqual(novu.taken(u.id, 'payment-failed').map((t) => [t.times, t.event.payload.channels]), [[1, undefined]]);

  await server.close();
  server = await new Server(options()).start();
});

test('Novu cannot omit channels without conditions: the other channels are delivered without it', async () => {
  const got = [];
  const expo = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => {
      got.push(...JSON.parse(body));
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: JSON.parse(body).map((m, i) => ({ status: 'ok', id: `t${got.length}${i}` })) }));
    });
  });
  await new Promise((resolve) => expo.listen(0, '127.0.0.1', resolve));
  const smtp = await startSmtp();
  const without = (set = []) => options(`step_conditions = false\n[notify_builtin]\nexpo_url = "http://127.0.0.1:${expo.address().port}"\n[mail]\nhost = "127.0.0.1"\nport = ${smtp.port}\nsecurity = "none"\nfrom = "n@example.test"`, set);
  const settings = async (u, json) => assert.equal((await u.request('PUT', '/notifications/settings', { json })).status, 200);
  const device = async (u, token) => assert.equal((await u.post('/notifications/device-token', { json: { device_token: token, device_type: 'mobile', provider: 'expo' } })).status, 200);
  await server.close();
  try {
    server = await new Server(without()).start();
    assert.match(server.log, /the orchestrator cannot omit channels: the driver builtin notifies/);
    const [pushed, mailed, both] = [await person(), await person(), await person()];
    const address = `p${people - 1}@example.test`;
    await device(pushed, 'ExponentPushToken[pushed]');
    await device(mailed, 'ExponentPushToken[mailed]');
    await settings(pushed, { email_enabled: false });
    await settings(mailed, { push_enabled: false });
    for (const u of [pushed, mailed, both]) publish('payment.succeeded', u, paid);
    await waitFor('the push', () => got.find((m) => m.to === 'ExponentPushToken[pushed]'), 30000);
    await waitFor('the mail', () => smtp.to(address).length, 30000);
    await waitFor('Novu', () => novu.taken(both.id, 'payment-succeeded').length, 30000);
    for (const u of [pushed, mailed]) {
      await waitFor('its end', () => row(u, 'payment-succeeded') === 'sent', 30000);
      assert.deepEqual(novu.taken(u.id, 'payment-succeeded'), [], 'what was turned off is not sent');
      assert.equal((await u.get('/notifications/inbox')).json.notifications[0].workflow_id, 'payment-succeeded', 'the inbox is ours');
    }
    assert.deepEqual(got.map((m) => m.to), ['ExponentPushToken[pushed]']);
    assert.equal(mail(pushed, 'payment-succeeded'), '');
    await server.close();

    server = await new Server(without(['modules.notify_builtin.enabled=false'])).start();
    assert.match(server.log, /the orchestrator cannot omit channels: accounts that turned one off get neither/);
    publish('payment.failed', mailed, { ...paid, reason: 'card' });
    await waitFor('its end', () => over(mailed, 'payment-failed') || row(mailed, 'payment-failed') === 'suppressed', 30000);
    assert.deepEqual([mail(mailed, 'payment-failed'), novu.taken(mailed.id, 'payment-failed')], ['skipped', []]);
  } finally {
    await server.close();
    await smtp.close();
    expo.closeAllConnections();
    expo.close();
    server = await new Server(options()).start();
  }
});

test('preferences are obeyed: nothing is sent, or the channels are named', async () => {
  const none = await person(), some = await person();
  for (const u of [none, some]) await waitFor('the welcome', () => novu.taken(u.id, 'welcome-email').length);
  assert.equal((await none.request('PUT', '/notifications/settings', { json: { email_enabled: false, push_enabled: false, in_app_enabled: false } })).status, 200);
  assert.equal((await some.request('PUT', '/notifications/settings', { json: { in_app_enabled: false } })).status, 200);
  for (const u of [none, some]) publish('payment.succeeded', u, paid);
  const [t] = await waitFor('the trigger', () => { const l = novu.taken(some.id, 'payment-succeeded'); return l.length && l; });
  assert.deepEqual(t.event.payload.channels, { email: true, push: true, in_app: false });
  await waitFor('the other', () => row(none, 'payment-succeeded') === 'suppressed');
  assert.equal(novu.taken(none.id, 'payment-succeeded').length, 0);
});

test('devices are sent to Novu as a whole list; a webhook removes expired ones', async () => {
  const u = await person();
  await waitFor('the welcome', () => novu.taken(u.id, 'welcome-email').length);
  const add = async (token) => assert.equal((await u.post('/notifications/device-token', { json: { device_token: token, device_type: 'mobile', provider: 'expo' } })).status, 200);
  const there = () => JSON.stringify(novu.subscribers.get(u.id)?.channels.expo?.toSorted() ?? []);
  await add('ExponentPushToken[a]');
  await add('ExponentPushToken[b]');
  await waitFor('both', () => there() === JSON.stringify(['ExponentPushToken[a]', 'ExponentPushToken[b]']), 30000);
  publish('payment.succeeded', u, paid);
  const [t] = await waitFor('the trigger', () => { const l = novu.taken(u.id, 'payment-succeeded'); return l.length && l; });
  const failed = JSON.stringify({ id: 'evt_1', type: 'message.failed', object: 'message', data: {
    object: { transactionId: t.event.transactionId, channel: 'push', providerId: 'expo', subscriber: { subscriberId: u.id } },
    error: { message: 'dead', push: { isInvalidToken: true, deviceToken: 'ExponentPushToken[a]' } } } });
  const send = (headers, body = failed) => fetch(`${server.url}/notifications/webhooks/novu`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const signed = (id, body = failed, key = secret, at = new Date()) => ({ 'webhook-id': id, 'webhook-timestamp': String(Math.floor(at / 1000)), 'webhook-signature': new Webhook(key).sign(id, at, body) });

  for (const [what, headers, body] of [['none', {}], ['of another key', signed('m1', failed, `whsec_${randomBytes(32).toString('base64')}`)],
    ['of another body', signed('m1', '{}')], ['old', signed('m1', failed, secret, new Date(Date.now() - 400_000))], ['no JSON, wrong too', signed('m1', 'x', `whsec_${randomBytes(32).toString('base64')}`), 'x']]) {
    const r = await send(headers, body);
    assert.equal(r.status, 401, what);
    assert.deepEqual(await r.json(), { detail: 'Invalid signature' }, what);
  }
  assert.equal(there(), JSON.stringify(['ExponentPushToken[a]', 'ExponentPushToken[b]']), 'nothing was touched');

  const lost = async () => [...(await (await fetch(`${server.url}/metrics`)).text())
    .matchAll(/^runyard_notifications_deliveries_total\{(?=[^}]*channel="push")(?=[^}]*outcome="(?:gone|refused)")[^}]*\} (\d+)/gm)].reduce((n, m) => n + Number(m[1]), 0);
  const before = await lost();
  const ok = await send(signed('m1'));
  assert.equal(await lost(), before + 1, 'what a webhook tells is counted');
  assert.deepEqual([ok.status, await ok.json()], [200, { status: 'ok' }]);
  await waitFor('pruned', () => there() === JSON.stringify(['ExponentPushToken[b]']), 30000);
  assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${u.id}'`), '1');

  // The device is registered anew; the old message cannot take it away again.
  await add('ExponentPushToken[a]');
  const again = await send(signed('m1'));
  assert.deepEqual([again.status, await again.json()], [200, { status: 'ok' }]);
  assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${u.id}'`), '2');

  // The other family of headers, and the other secret.
  const svix = { 'svix-id': 'm2', 'svix-timestamp': String(Math.floor(Date.now() / 1000)), 'svix-signature': new SvixWebhook(older).sign('m2', new Date(), failed) };
  assert.equal((await send(svix)).status, 200);
  await waitFor('pruned again', () => db.sql(`select count(*) from notifications.device_token where account_id = '${u.id}'`) === '1');

  // The flat form, unknown types, and bodies that are not JSON.
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
  assert.ok(!server.log.includes('x'.repeat(1000)), 'strangers do not fill the log');
  assert.equal((await send(signed('m3', 'nonsense'), 'nonsense')).status, 400);
  assert.ok(!server.log.includes(secret) && !server.log.includes(novu.key));

  for (const token of ['ExponentPushToken[b]']) assert.equal((await u.request('DELETE', `/notifications/device-token/${encodeURIComponent(token)}?provider=expo`)).status, 200);
  await waitFor('none left', () => there() === '[]', 30000);
});

test('a provider without an integration holds up no other, and mail and push together raise no alarm', async () => {
  const u = await person();
  await waitFor('the welcome', () => row(u, 'welcome-email') === 'sent', 30000);
  for (const [provider, token] of [['apns', 'a'.repeat(64)], ['expo', 'ExponentPushToken[beside]']]) {
    const r = await u.post('/notifications/device-token', { json: { device_token: token, device_type: 'mobile', provider } });
    assert.equal(r.status, 200, r.text);
  }
  await waitFor('the other one', () => novu.subscribers.get(u.id)?.channels.expo?.length === 1, 30000);
  await waitFor('the end', () => db.sql(`select count(*) from core.job where kind = 'notifications.subscriber' and args->>'account_id' = '${u.id}'`) === '0', 30000);
  assert.match(server.log, /permanently rejects the devices of this provider/);
  publish('payment.succeeded', u, paid);
  await waitFor('both channels', () => db.sql(`select count(*) from notifications.delivery d join notifications.notification n on n.id = d.notification_id
    where n.account_id = '${u.id}' and n.workflow = 'payment-succeeded' and d.channel in (1, 2) and d.state = 'accepted'`) === '2', 30000);
  db.sql(`update notifications.delivery set follow_at = now() where account_id = '${u.id}' and follow_at is not null; select core.job_enqueue('notifications.follow', '{}', 'notifications')`);
  await waitFor('the round', () => db.sql(`select count(*) from notifications.delivery where account_id = '${u.id}' and follow_at <= now()`) === '0', 30000);
  assert.ok(!server.log.includes('channels that are disabled'), 'each row is followed by its own channel');
});

test('a notification queued in Novu is withdrawn when an administrator cancels it', async () => {
  const u = await person();
  await waitFor('the welcome', () => row(u, 'welcome-email') === 'sent');
  const admin = await server.user({ role: 'admin' });
  publish('payment.succeeded', u, paid);
  await waitFor('its end', () => row(u, 'payment-succeeded') === 'sent');
  const [n] = (await admin.get(`/admin/notifications?account_id=${u.id}`)).json.notifications;
  assert.equal(n.workflow_id, 'payment-succeeded');
  const cancel = () => admin.post(`/admin/notifications/${n.id}/cancel`);
  assert.equal((await cancel()).status, 409, 'Novu says that it is too late');
  assert.equal((await u.post(`/admin/notifications/${n.id}/cancel`)).status, 403);
  novu.accepted.get(n.transaction_id).pending = true;
  assert.deepEqual((await cancel()).json, { success: true, status: 'cancelled' });
  assert.deepEqual(novu.requests.filter((r) => r.method === 'DELETE' && r.path.includes('/events/')).map((r) => r.path), Array(2).fill(`/v1/events/trigger/${n.transaction_id}`));
  assert.equal(row(u, 'payment-succeeded'), 'cancelled');
  assert.equal(mail(u, 'payment-succeeded'), 'withdrawn');
  assert.equal((await cancel()).status, 409);
});

test('an account that is no more is forgotten at Novu, too', async () => {
  const u = await person();
  await waitFor('the welcome', () => row(u, 'welcome-email') === 'sent');
  assert.ok(novu.subscribers.has(u.id));
  publish('account.deleted', u);
  await waitFor('nobody', () => !novu.subscribers.has(u.id), 30000);
  await waitFor('nothing', () => db.sql(`select (select count(*) from notifications.subscriber where account_id = '${u.id}') + (select count(*) from notifications.notification where account_id = '${u.id}')`) === '0');
});

test('a bulk of which a part is refused: each row ends by itself', async () => {
  await server.close();
  server = await new Server(options('bulk_size = 20\nbulk_wait_ms = 1000')).start();
  const all = [];
  for (let i = 0; i < 6; i++) all.push(await person());
  for (const u of all) await waitFor('the welcome', () => row(u, 'welcome-email') === 'sent', 30000);
  novu.workflows.delete('payment-failed');
  db.sql(all.map((u, i) => `select core.event_publish('${i % 2 ? 'payment.failed' : 'payment.succeeded'}', '${u.id}', '${JSON.stringify({ account_id: u.id, ...paid, reason: 'card' })}');`).join(' '));
  for (const [i, u] of all.entries()) {
    const workflow = i % 2 ? 'payment-failed' : 'payment-succeeded';
    await waitFor('its end', () => over(u, workflow), 60000);
    assert.equal(mail(u, workflow), i % 2 ? 'refused' : 'accepted');
    assert.deepEqual(novu.taken(u.id, workflow).map((t) => t.times), i % 2 ? [] : [1]);
  }
  assert.ok(novu.requests.some((r) => r.path === '/v1/events/trigger/bulk' && r.body.events.length > 1), 'some went together');
  novu.workflows.add('payment-failed');
});
