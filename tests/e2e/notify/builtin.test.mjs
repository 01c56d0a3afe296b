// The driver `builtin` in the complete server: push messages to a phone and a browser, and expired devices.
import assert from 'node:assert/strict';
import { createECDH, randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import ece from 'http_ece';
import { importJWK, jwtVerify } from 'jose';
import { Server, makeDatabase, waitFor } from '../lib/server.mjs';

const vapid = createECDH('prime256v1');
vapid.generateKeys();
let db, server, service;

before(async () => {
  db = makeDatabase();
  service = { requests: [], gone: new Set() };
  const s = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c)).on('end', () => {
      const body = Buffer.concat(parts);
      service.requests.push({ path: req.url, body, headers: req.headers });
      if (service.gone.has(req.url)) return res.writeHead(410).end();
      if (!req.url.startsWith('/--/')) return res.writeHead(201).end();
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: JSON.parse(body).map((m) => (service.gone.has(m.to)
        ? { status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } } : { status: 'ok', id: `t-${m.to}` })) }));
    });
  });
  await new Promise((r) => s.listen(0, '127.0.0.1', r));
  service.url = `http://127.0.0.1:${s.address().port}`;
  service.close = () => new Promise((r) => { s.closeAllConnections(); s.close(r); });
  // Loopback endpoints are accepted in local mode only.
  server = await new Server({ database: db, settings: `
[notifications]
allowed_modes = ["local"]
[notify_builtin]
expo_url = "${service.url}"
vapid_private_key = "${Buffer.from(vapid.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')}"
vapid_subject = "mailto:ops@example.org"
` }).start();
});
after(async () => {
  await server?.close();
  await service?.close();
  db?.drop();
});

function browser(path) {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const auth = randomBytes(16);
  return { token: JSON.stringify({ endpoint: service.url + path, keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') } }),
    read: (body) => JSON.parse(ece.decrypt(body, { version: 'aes128gcm', privateKey: keys, authSecret: auth }).toString('utf8')) };
}
const add = async (u, device_token, provider) => assert.equal((await u.post('/notifications/device-token', { json: { device_token, device_type: 'x', provider } })).status, 200);
const publish = (kind, u, payload) => db.sql(`select core.event_publish('${kind}', '${u.id}', '${JSON.stringify({ account_id: u.id, ...payload })}')`);
const payment = { amount: 20, currency: 'usd', plan_name: 'pro' };
const devices = (u) => db.sql(`select coalesce(string_agg(provider, ',' order by provider), '') from notifications.device_token where account_id = '${u.id}'`);

test('users get the public VAPID key for their push subscriptions', async () => {
  const u = await server.user();
  for (const at of ['/notifications', '/api/notifications']) {
    const r = await u.get(`${at}/web-push-key`);
    assert.deepEqual([r.status, r.json], [200, { public_key: vapid.getPublicKey('base64url') }]);
    assert.equal((await fetch(`${server.url}${at}/web-push-key`)).status, 401, 'authentication is required, as on all routes of notifications');
  }
});

test('a phone and a browser get the message; expired registrations are removed', async () => {
  const u = await server.user();
  await u.get('/account');
  const b = browser('/push/u'), dead = browser('/push/dead');
  service.gone.add('/push/dead').add('ExponentPushToken[dead]');
  await add(u, 'ExponentPushToken[good]', 'expo');
  await add(u, 'ExponentPushToken[dead]', 'expo');
  await add(u, b.token, 'web-push');
  await add(u, dead.token, 'web-push');
  assert.equal(devices(u), 'expo,expo,web-push,web-push');
  publish('payment.succeeded', u, payment);
  const message = await waitFor('the browser', () => service.requests.find((r) => r.path === '/push/u'));
  const read = b.read(message.body);
  assert.equal(read.workflow, 'payment-succeeded');
  assert.ok(read.title.length > 0 && read.body.length > 0);
  const phone = await waitFor('the phone', () => service.requests.find((r) => r.path === '/--/api/v2/push/send'));
  assert.deepEqual(JSON.parse(phone.body).map((m) => m.to).sort(), ['ExponentPushToken[dead]', 'ExponentPushToken[good]']);
  await waitFor('the removal of the expired devices', () => devices(u) === 'expo,web-push');
  const deliveries = (await u.get('/notifications/deliveries')).json.deliveries.filter((d) => d.workflow_id === 'payment-succeeded' && d.channel === 'push');
  assert.deepEqual(deliveries.map((d) => d.status).sort(), ['accepted', 'accepted', 'gone', 'gone']);
  const gone = 'The device is no longer registered';
  assert.deepEqual(deliveries.filter((d) => d.status === 'gone').map((d) => d.detail), [gone, gone], 'users do not see the text of a push service');
  assert.match(db.sql(`select string_agg(detail, ',') from notifications.delivery where account_id = '${u.id}' and state = 'gone'`), /gone|410/);
  assert.equal(db.sql(`select state from notifications.notification where account_id = '${u.id}' and workflow = 'payment-succeeded'`), 'sent');
});

test('a subscription is one device however its JSON is written, and belongs to the account that registered it last', async () => {
  const a = await server.user(), b = await server.user();
  const subscription = browser('/push/shared');
  const reordered = JSON.stringify({ keys: JSON.parse(subscription.token).keys, expirationTime: null, endpoint: `${service.url}/push/shared` });
  await add(a, subscription.token, 'web-push');
  await add(a, reordered, 'web-push');
  assert.equal(devices(a), 'web-push');
  await add(b, subscription.token, 'web-push');
  assert.deepEqual([devices(a), devices(b)], ['', 'web-push'], 'the device moved to the second account');
  const remove = (u, token) => u.request('DELETE', `/notifications/device-token/${encodeURIComponent(token)}?provider=web-push`);
  assert.equal((await remove(a, `${service.url}/push/shared`)).status, 200);
  assert.equal(devices(b), 'web-push', 'another account cannot remove it');
  assert.equal((await remove(b, `${service.url}/push/shared`)).status, 200);
  assert.equal(devices(b), '', 'the endpoint identifies the subscription');
  await add(b, subscription.token, 'web-push');
  assert.equal((await remove(b, subscription.token)).status, 200);
  assert.equal(devices(b), '');
});

test('an account sees its devices without their tokens, and removes them by their ids', async () => {
  const a = await server.user(), b = await server.user();
  const list = async (u) => (await u.get('/notifications/device-token')).json.devices;
  assert.deepEqual(await list(a), []);
  await add(a, browser('/push/listed').token, 'web-push');
  await add(a, 'ExponentPushToken[listed]', 'expo');
  const all = await list(a);
  assert.deepEqual(all.map((d) => d.provider), ['expo', 'web-push'], 'newest first');
  assert.deepEqual((await a.get('/api/notifications/device-token')).json.devices, all);
  assert.ok(!JSON.stringify(all).includes('listed'), 'tokens and endpoints are secrets');
  assert.deepEqual(Object.keys(all[0]).sort(), ['device_type', 'id', 'provider', 'registered_at']);
  assert.deepEqual(await list(b), []);
  const remove = (u, id) => u.request('DELETE', `/notifications/device-token/${encodeURIComponent(id)}`);
  assert.equal((await remove(b, all[1].id)).status, 200);
  assert.equal((await list(a)).length, 2, 'another account cannot remove it');
  assert.equal((await remove(a, all[1].id)).status, 200);
  assert.deepEqual(await list(a), [all[0]]);
});

test('invalid devices are rejected, and provider names are case-insensitive', async () => {
  const u = await server.user();
  const post = (provider, device_token) => u.post('/notifications/device-token', { json: { device_token, device_type: 'mobile', provider } });
  for (const [provider, token, detail] of [['fcm', 'a:b', /^provider must be one of expo, web-push/], ['bogus', 'x', /^provider /], ['expo', 'nonsense', /^device_token/],
    ['expo', 'ExponentPushToken[]', /^device_token/], ['web-push', '{}', /^device_token/], ['web-push', 'x', /^device_token/]]) {
    const r = await post(provider, token);
    assert.equal(r.status, 422, `${provider} ${token}: ${r.text}`);
    assert.match(r.json.detail, detail);
  }
  assert.equal(devices(u), '');
  assert.equal((await post('Expo', 'ExponentPushToken[case]')).status, 200);
  assert.equal(devices(u), 'expo');
  const removed = await u.request('DELETE', `/notifications/device-token/${encodeURIComponent('ExponentPushToken[case]')}?provider=EXPO`);
  assert.equal(removed.status, 200, removed.text);
  assert.equal(devices(u), '');
});

test('without a configured key, the nodes generate one common key and store it encrypted', async () => {
  const database = makeDatabase();
  const options = { database, set: [`secrets.key=${'0123456789abcdef'.repeat(4)}`], settings: `
[notifications]
allowed_modes = ["local"]
` };
  const first = new Server(options), second = new Server(options);
  try {
    await Promise.all([first.start(), second.start()]);
    const requestKey = async (s) => (await s.user()).get('/notifications/web-push-key');
    const key = async (s) => (await requestKey(s)).json.public_key;
    const ours = await key(first);
    assert.equal(Buffer.from(ours, 'base64url').length, 65);
    assert.equal(await key(second), ours);
    const u = await first.user();
    await u.get('/account');
    const b = browser('/push/generated');
    await add(u, b.token, 'web-push');
    database.sql(`select core.event_publish('payment.succeeded', '${u.id}', '${JSON.stringify({ account_id: u.id, ...payment })}')`);
    const message = await waitFor('the browser', () => service.requests.find((r) => r.path === '/push/generated'));
    assert.equal(b.read(message.body).workflow, 'payment-succeeded');
    const [, jwt, publicKey] = /^vapid t=([^,]+), k=(.+)$/.exec(message.headers.authorization);
    assert.equal(publicKey, ours);
    const point = Buffer.from(ours, 'base64url');
    await jwtVerify(jwt, await importJWK({ kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') }, 'ES256'), { audience: service.url });
    await second.stop();
    await first.stop();
    assert.equal(database.sql('select count(*) from notify_builtin.vapid'), '1');
    await first.start();
    assert.equal(await key(first), ours, 'the key survives a restart');
    await first.stop();
    database.sql(`update notify_builtin.vapid set sealed = sealed || '\\x00'`);
    await first.start();
    assert.equal((await requestKey(first)).status, 404, 'a new key would invalidate every subscription');
    assert.match(first.log, /Web Push is disabled/);
  } finally {
    await second.close();
    await first.close();
    database.drop();
  }
});

test('a malformed subscription is rejected with an error that names the field', async () => {
  const u = await server.user();
  const r = await u.post('/notifications/device-token', { json: { device_token: '{"endpoint":"ftp://x"}', device_type: 'web', provider: 'web-push' } });
  assert.equal(r.status, 422);
  assert.match(r.json.detail, /endpoint/);
});
