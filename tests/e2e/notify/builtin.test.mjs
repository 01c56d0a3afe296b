// The driver `builtin` in the whole server: push messages to a phone and to a browser, and devices that are no more.
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
  service = { got: [], gone: new Set() };
  const s = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c)).on('end', () => {
      const body = Buffer.concat(parts);
      service.got.push({ path: req.url, body, headers: req.headers });
      if (service.gone.has(req.url)) return res.writeHead(410).end();
      if (!req.url.startsWith('/--/')) return res.writeHead(201).end();
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: JSON.parse(body).map((m) => (service.gone.has(m.to)
        ? { status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } } : { status: 'ok', id: `t-${m.to}` })) }));
    });
  });
  await new Promise((r) => s.listen(0, '127.0.0.1', r));
  service.url = `http://127.0.0.1:${s.address().port}`;
  service.close = () => new Promise((r) => { s.closeAllConnections(); s.close(r); });
  // Loopback endpoints are taken in local mode only.
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
const paid = { amount: 20, currency: 'usd', plan_name: 'pro' };
const devices = (u) => db.sql(`select coalesce(string_agg(provider, ',' order by provider), '') from notifications.device_token where account_id = '${u.id}'`);

test('the key that pages subscribe with', async () => {
  const u = await server.user();
  for (const at of ['/notifications', '/api/notifications']) {
    const r = await u.get(`${at}/web-push-key`);
    assert.deepEqual([r.status, r.json], [200, { public_key: vapid.getPublicKey('base64url') }]);
    assert.equal((await fetch(`${server.url}${at}/web-push-key`)).status, 401, 'as all routes of notifications');
  }
});

test('phone and browser get the message; expired registrations are removed', async () => {
  const u = await server.user();
  await u.get('/account');
  const b = browser('/push/u'), dead = browser('/push/dead');
  service.gone.add('/push/dead').add('ExponentPushToken[dead]');
  await add(u, 'ExponentPushToken[good]', 'expo');
  await add(u, 'ExponentPushToken[dead]', 'expo');
  await add(u, b.token, 'web-push');
  await add(u, dead.token, 'web-push');
  assert.equal(devices(u), 'expo,expo,web-push,web-push');
  publish('payment.succeeded', u, paid);
  const message = await waitFor('the browser', () => service.got.find((r) => r.path === '/push/u'));
  const read = b.read(message.body);
  assert.equal(read.workflow, 'payment-succeeded');
  assert.ok(read.title.length > 0 && read.body.length > 0);
  const phone = await waitFor('the phone', () => service.got.find((r) => r.path === '/--/api/v2/push/send'));
  assert.deepEqual(JSON.parse(phone.body).map((m) => m.to).sort(), ['ExponentPushToken[dead]', 'ExponentPushToken[good]']);
  await waitFor('the dead are forgotten', () => devices(u) === 'expo,web-push');
  const deliveries = (await u.get('/notifications/deliveries')).json.deliveries.filter((d) => d.workflow_id === 'payment-succeeded' && d.channel === 'push');
  assert.deepEqual(deliveries.map((d) => d.status).sort(), ['accepted', 'accepted', 'gone', 'gone']);
  const gone = 'The device is no longer registered';
  assert.deepEqual(deliveries.filter((d) => d.status === 'gone').map((d) => d.detail), [gone, gone], 'no text of a push service');
  assert.match(db.sql(`select string_agg(detail, ',') from notifications.delivery where account_id = '${u.id}' and state = 'gone'`), /gone|410/);
  assert.equal(db.sql(`select state from notifications.notification where account_id = '${u.id}' and workflow = 'payment-succeeded'`), 'sent');
});

test('one browser is one device in any notation, and belongs to its last user', async () => {
  const a = await server.user(), b = await server.user();
  const one = browser('/push/shared');
  const other = JSON.stringify({ keys: JSON.parse(one.token).keys, expirationTime: null, endpoint: `${service.url}/push/shared` });
  await add(a, one.token, 'web-push');
  await add(a, other, 'web-push');
  assert.equal(devices(a), 'web-push');
  await add(b, one.token, 'web-push');
  assert.deepEqual([devices(a), devices(b)], ['', 'web-push'], 'nobody gets what is another\'s');
  const drop = (u, token) => u.request('DELETE', `/notifications/device-token/${encodeURIComponent(token)}?provider=web-push`);
  assert.equal((await drop(a, `${service.url}/push/shared`)).status, 200);
  assert.equal(devices(b), 'web-push', 'not by another account');
  assert.equal((await drop(b, `${service.url}/push/shared`)).status, 200);
  assert.equal(devices(b), '', 'its address is its name');
  await add(b, one.token, 'web-push');
  assert.equal((await drop(b, one.token)).status, 200);
  assert.equal(devices(b), '');
});

test('an account sees its devices without their tokens, and removes them by their ids', async () => {
  const a = await server.user(), b = await server.user();
  const list = async (u) => (await u.get('/notifications/device-token')).json.devices;
  assert.deepEqual(await list(a), []);
  await add(a, browser('/push/listed').token, 'web-push');
  await add(a, 'ExponentPushToken[listed]', 'expo');
  const all = await list(a);
  assert.deepEqual(all.map((d) => d.provider), ['expo', 'web-push'], 'the last registered one first');
  assert.deepEqual((await a.get('/api/notifications/device-token')).json.devices, all);
  assert.ok(!JSON.stringify(all).includes('listed'), 'tokens and endpoints are secrets');
  assert.deepEqual(Object.keys(all[0]).sort(), ['device_type', 'id', 'provider', 'registered_at']);
  assert.deepEqual(await list(b), []);
  const drop = (u, id) => u.request('DELETE', `/notifications/device-token/${encodeURIComponent(id)}`);
  assert.equal((await drop(b, all[1].id)).status, 200);
  assert.equal((await list(a)).length, 2, 'not by another account');
  assert.equal((await drop(a, all[1].id)).status, 200);
  assert.deepEqual(await list(a), [all[0]]);
});

test('devices that could never be reached are refused, and providers are read in any case', async () => {
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
  const gone = await u.request('DELETE', `/notifications/device-token/${encodeURIComponent('ExponentPushToken[case]')}?provider=EXPO`);
  assert.equal(gone.status, 200, gone.text);
  assert.equal(devices(u), '');
});

test('without a key in the settings one is made, once for all nodes, and kept sealed', async () => {
  const own = makeDatabase();
  const at = { database: own, set: [`secrets.key=${'0123456789abcdef'.repeat(4)}`], settings: `
[notifications]
allowed_modes = ["local"]
` };
  const first = new Server(at), second = new Server(at);
  try {
    await Promise.all([first.start(), second.start()]);
    const asked = async (s) => (await s.user()).get('/notifications/web-push-key');
    const key = async (s) => (await asked(s)).json.public_key;
    const ours = await key(first);
    assert.equal(Buffer.from(ours, 'base64url').length, 65);
    assert.equal(await key(second), ours);
    const u = await first.user();
    await u.get('/account');
    const b = browser('/push/own');
    await add(u, b.token, 'web-push');
    own.sql(`select core.event_publish('payment.succeeded', '${u.id}', '${JSON.stringify({ account_id: u.id, ...paid })}')`);
    const message = await waitFor('the browser', () => service.got.find((r) => r.path === '/push/own'));
    assert.equal(b.read(message.body).workflow, 'payment-succeeded');
    const [, jwt, k] = /^vapid t=([^,]+), k=(.+)$/.exec(message.headers.authorization);
    assert.equal(k, ours);
    const point = Buffer.from(ours, 'base64url');
    await jwtVerify(jwt, await importJWK({ kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') }, 'ES256'), { audience: service.url });
    await second.stop();
    await first.stop();
    assert.equal(own.sql('select count(*) from notify_builtin.vapid'), '1');
    await first.start();
    assert.equal(await key(first), ours, 'the same after a restart');
    await first.stop();
    own.sql(`update notify_builtin.vapid set sealed = sealed || '\\x00'`);
    await first.start();
    assert.equal((await asked(first)).status, 404, 'another one would turn every subscription useless');
    assert.match(first.log, /Web Push is disabled/);
  } finally {
    await second.close();
    await first.close();
    own.drop();
  }
});

test('a malformed or internal subscription is refused, naming the field', async () => {
  const u = await server.user();
  const r = await u.post('/notifications/device-token', { json: { device_token: '{"endpoint":"ftp://x"}', device_type: 'web', provider: 'web-push' } });
  assert.equal(r.status, 422);
  assert.match(r.json.detail, /endpoint/);
});
