// Push messages checked by independent implementations: http_ece decrypts them like a browser, jose verifies the VAPID
// token, and the official Expo client sends the same requests.
import assert from 'node:assert/strict';
import { createECDH, randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';
import ece from 'http_ece';
import { importJWK, jwtVerify } from 'jose';
import { Channel, Driver, Result, Status } from './driver.mjs';

const vapid = createECDH('prime256v1');
vapid.generateKeys();
const vapidPublic = vapid.getPublicKey('base64url');
// Node.js omits leading zeros.
const vapidPrivate = Buffer.from(vapid.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url');
const drivers = [];
const driver = (settings = {}, mode = 'local') => {
  const d = new Driver('push_driver', { vapid_private_key: vapidPrivate, expo_url: service.url, ...settings }, { mode, folder: 'test_modules' });
  drivers.push(d);
  return d;
};

// Accepts every request and sends the response that respond(request) returns.
let service;
async function startService() {
  const requests = [];
  const out = { requests, respond: () => ({ status: 201 }) };
  const server = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c)).on('end', () => {
      let body = Buffer.concat(parts);
      if (req.headers['content-encoding'] === 'gzip') body = zlib.gunzipSync(body);
      const r = { method: req.method, path: req.url, headers: req.headers, body };
      requests.push(r);
      const { status = 200, headers = {}, json, text = '', destroy } = out.respond(r);
      if (destroy) return res.destroy();
      res.writeHead(status, { ...(json ? { 'content-type': 'application/json' } : {}), ...headers });
      res.end(json ? JSON.stringify(json) : text);
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  out.url = `http://127.0.0.1:${server.address().port}`;
  out.take = () => requests.splice(0);
  out.close = () => new Promise((r) => { server.closeAllConnections(); server.close(r); });
  return out;
}
before(async () => { service = await startService(); });
after(async () => {
  for (const d of drivers) await d.close();
  await service.close();
});

function browser(path = '/push/1') {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const auth = randomBytes(16);
  const subscription = { endpoint: service.url + path, expirationTime: null, keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') } };
  return { token: { provider: 'web-push', token: JSON.stringify(subscription), device_type: 'web' },
    read: (body) => ece.decrypt(body, { version: 'aes128gcm', privateKey: keys, authSecret: auth }).toString('utf8') };
}
const pushCall = (tokens, content = {}, more = {}) => ({ trigger: { channels: Channel.push, workflow: 'task-completed', key: '0123456789abcdef0123456789abcdef',
  to: { account_id: 'a', first_name: 'Ann' }, tokens, content: { title: 'Done', body: 'Report is ready', action_url: 'https://x.test/t/1', ...content }, ...more } });

test('100 encrypted messages: only the subscribed browser can decrypt each of them', async () => {
  const d = driver();
  service.respond = () => ({ status: 201 });
  for (let i = 0; i < 100; i++) {
    const b = browser(`/push/${i}`);
    const text = randomBytes(Math.floor(Math.random() * 1500)).toString('base64') + ' \u{1F642} äöü';
    const a = await d.call(pushCall([b.token], { body: text }));
    assert.deepEqual(a.results.map((r) => [r.channels, r.result, r.token]), [[Channel.push, Result.accepted, b.token.token]]);
    const [r] = service.take();
    assert.equal(r.headers['content-encoding'], 'aes128gcm');
    assert.ok(r.body.length <= 4096);
    assert.deepEqual(JSON.parse(b.read(r.body)), { title: 'Done', body: text, workflow: 'task-completed', tag: '0123456789abcdef0123456789abcdef', url: 'https://x.test/t/1' });
    assert.throws(() => browser().read(r.body));
  }
});

test('the VAPID token is valid for this push service only, and for at most a day', async () => {
  const b = browser();
  await driver().call(pushCall([b.token]));
  const [r] = service.take();
  const [, jwt, k] = /^vapid t=([^,]+), k=(.+)$/.exec(r.headers.authorization);
  assert.equal(k, vapidPublic);
  const point = vapid.getPublicKey();
  const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') };
  const { payload, protectedHeader } = await jwtVerify(jwt, await importJWK(jwk, 'ES256'), { audience: service.url });
  assert.equal(protectedHeader.alg, 'ES256');
  assert.equal(payload.sub, 'mailto:ops@example.org');
  assert.ok(payload.exp > Date.now() / 1000 && payload.exp <= Date.now() / 1000 + 24 * 3600);
  assert.match(r.headers.ttl, /^\d+$/);
  assert.equal(r.headers.topic, '0123456789abcdef0123456789abcdef');
  assert.equal(r.method, 'POST');
});

test('a long text is truncated to fit into a push message', async () => {
  const b = browser();
  await driver().call(pushCall([b.token], { body: '\u{1F642}'.repeat(3000) }));
  const [r] = service.take();
  assert.ok(r.body.length <= 4096 && r.body.length > 4000);
  assert.match(JSON.parse(b.read(r.body)).body, /^\u{1F642}+$/u);
});

test('each response of a push service has its delivery result', async () => {
  const d = driver();
  for (const [status, result] of [[201, Result.accepted], [200, Result.accepted], [404, Result.gone], [410, Result.gone], [403, Result.refused], [400, Result.refused], [401, Result.refused],
    [413, Result.refused], [302, Result.refused], [429, Result.retry], [500, Result.retry], [503, Result.retry]]) {
    service.respond = () => ({ status, headers: { 'retry-after': '17', location: `${service.url}/elsewhere` } });
    const b = browser();
    const a = await d.call(pushCall([b.token]));
    assert.equal(a.results[0].result, result, String(status));
    assert.equal(a.results[0].token, b.token.token);
    if (result === Result.retry) assert.equal(a.results[0].retry_after_s, 17);
    assert.equal(service.take().length, 1, 'redirects are not followed');
  }
  const otherKey = 'the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.';
  for (const [response, result] of [[{ status: 403, json: { reason: 'BadJwtToken' } }, Result.refused], [{ status: 403, text: 'Forbidden' }, Result.refused],
    [{ status: 400, json: { reason: 'VapidPkHashMismatch' } }, Result.gone], [{ status: 403, text: otherKey }, Result.gone],
    [{ status: 401, headers: { 'x-wns-error-description': 'The public key does not belong to this channel Url' } }, Result.gone]]) {
    service.respond = () => response;
    assert.equal((await d.call(pushCall([browser().token]))).results[0].result, result, JSON.stringify(response));
    service.take();
  }
  service.respond = () => ({ destroy: true });
  assert.equal((await d.call(pushCall([browser().token]))).results[0].result, Result.retry);
  service.take();
  service.respond = () => ({ status: 201 });
});

test('a subscription that the browser revoked is reported as gone without a request', async () => {
  const d = driver({}, 'staging');
  const b = browser();
  for (const endpoint of ['https://permanently-removed.invalid/fcm/send/abc', 'https://Permanently-Removed.INVALID:443/fcm/send/abc']) {
    const token = { ...b.token, token: JSON.stringify({ ...JSON.parse(b.token.token), endpoint }) };
    const a = await d.call(pushCall([token]));
    assert.deepEqual(a.results.map((r) => [r.result, r.token]), [[Result.gone, token.token]], endpoint);
  }
  assert.equal(service.take().length, 0);
});

test('a trigger for several devices has one result per device', async () => {
  const good = browser('/good'), gone = browser('/gone');
  service.respond = (r) => (r.path === '/gone' ? { status: 410 } : r.path === '/good' ? { status: 201 } : { json: { data: [{ status: 'ok', id: 't1' }] } });
  const a = await driver().call(pushCall([good.token, gone.token, { provider: 'expo', token: 'ExponentPushToken[a]' }, { provider: 'fcm', token: 'x' }, { provider: 'expo', token: 'nonsense' }]));
  const byToken = Object.fromEntries(a.results.map((r) => [r.token, r]));
  assert.equal(byToken[good.token.token].result, Result.accepted);
  assert.equal(byToken[gone.token.token].result, Result.gone);
  assert.deepEqual([byToken['ExponentPushToken[a]'].result, byToken['ExponentPushToken[a]'].provider_id], [Result.accepted, 't1']);
  assert.equal(byToken.x.result, Result.skipped);
  assert.equal(byToken.nonsense.result, Result.gone, 'an invalid token does not affect the other devices');
  assert.deepEqual(service.requests.filter((r) => r.path.endsWith('/send')).flatMap((r) => JSON.parse(r.body)).map((m) => m.to), ['ExponentPushToken[a]']);
  service.take();
});

test('internal endpoints are rejected at registration and at sending', async () => {
  const d = driver({}, 'staging');
  const at = (endpoint) => ({ ...browser().token, token: JSON.stringify({ ...JSON.parse(browser().token.token), endpoint }) });
  for (const endpoint of ['http://push.example.org/x', 'https://127.0.0.1/x', 'https://[::1]/x', 'https://10.0.0.1/x', 'https://169.254.169.254/x', 'https://localhost/x']) {
    const rejected = await d.call({ accepts: at(endpoint) });
    assert.equal(rejected.status, Status.invalid, endpoint);
    assert.match(rejected.message, /endpoint/);
    const a = await d.call(pushCall([at(endpoint)]));
    assert.equal(a.results[0].result, Result.refused, endpoint);
  }
  assert.equal(service.take().length, 0);
  assert.equal((await d.call({ accepts: at('https://fcm.googleapis.com/fcm/send/x') })).status, Status.ok);
  const restricted = driver({ web_push_hosts: ['googleapis.com'] }, 'staging');
  assert.equal((await restricted.call({ accepts: at('https://fcm.googleapis.com/fcm/send/x') })).status, Status.ok);
  assert.match((await restricted.call({ accepts: at('https://evilgoogleapis.com/x') })).message, /not allowed|allowed here/);
  assert.match((await d.call({ accepts: { provider: 'expo', token: 'x' } })).message, /Expo/);
  assert.match((await d.call({ accepts: { provider: 'fcm', token: 'x' } })).message, /expo, web-push/);
  assert.match((await driver({ vapid_private_key: '' }).call({ accepts: browser().token })).message, /provider must be expo/);
});

test('Expo: the driver sends the same requests and chunks as the official client', async () => {
  // The client reads EXPO_BASE_URL when its module is loaded.
  process.env.EXPO_BASE_URL = service.url;
  const { Expo } = await import('expo-server-sdk');
  const client = new Expo({ accessToken: 'expo-token' });
  const tokens = Array.from({ length: 150 }, (_, i) => `ExponentPushToken[${i}]`);
  for (const t of tokens) assert.ok(Expo.isExpoPushToken(t));
  service.respond = (r) => ({ json: { data: JSON.parse(r.body).map((m) => ({ status: 'ok', id: `id-${m.to}` })) } });
  const d = driver({ expo_access_token: 'expo-token' });
  const a = await d.call(pushCall(tokens.map((token) => ({ provider: 'expo', token }))));
  assert.equal(a.results.length, 150);
  assert.ok(a.results.every((r) => r.result === Result.accepted && r.provider_id === `id-${r.token}`));
  const ours = service.take();
  const messages = ours.flatMap((r) => JSON.parse(r.body));
  const theirChunks = client.chunkPushNotifications(messages);
  assert.deepEqual(ours.map((r) => JSON.parse(r.body).length).sort(), theirChunks.map((c) => c.length).sort());
  for (const chunk of theirChunks) await client.sendPushNotificationsAsync(chunk);
  const theirs = service.take();
  assert.deepEqual(theirs.map((r) => [r.method, r.path, r.headers.authorization]).sort(), ours.map((r) => [r.method, r.path, r.headers.authorization]).sort());
  assert.deepEqual(theirs.flatMap((r) => JSON.parse(r.body)), messages);
  for (const m of messages) {
    assert.deepEqual(Object.keys(m).sort(), ['body', 'data', 'priority', 'sound', 'title', 'to', 'ttl'].sort());
    assert.ok(Number.isInteger(m.ttl));
  }
});

test('Expo: receipts are read, and unregistered devices are reported as gone', async () => {
  const { Expo } = await import('expo-server-sdk');
  const client = new Expo();
  service.respond = (r) => (r.path.endsWith('getReceipts')
    ? { json: { data: { t1: { status: 'ok' }, t2: { status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } } } } }
    : { json: { data: [{ status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } }] } });
  const d = driver();
  const a = await d.call(pushCall([{ provider: 'expo', token: 'ExponentPushToken[z]' }]));
  assert.deepEqual(a.results.map((r) => [r.result, r.token]), [[Result.gone, 'ExponentPushToken[z]']]);
  service.take();
  const f = await d.call({ follow: ['t1', 't2', 't3'].map((id) => ({ channels: Channel.push, key: 'k', provider: 'expo', provider_id: id, token: `ExponentPushToken[${id}]` })) });
  assert.deepEqual(f.results.map((r) => [r.result, r.token]), [[Result.delivered, 'ExponentPushToken[t1]'], [Result.gone, 'ExponentPushToken[t2]'], [Result.accepted, 'ExponentPushToken[t3]']]);
  const [ours] = service.take();
  await client.getPushNotificationReceiptsAsync(['t1', 't2', 't3']);
  const [theirs] = service.take();
  assert.deepEqual([ours.method, ours.path, JSON.parse(ours.body)], [theirs.method, theirs.path, JSON.parse(theirs.body)]);
});

test('Expo: after a rejection of several projects in one request, each device gets its own request', async () => {
  service.respond = (r) => {
    const messages = JSON.parse(r.body);
    return messages.length > 1
      ? { status: 400, json: { errors: [{ code: 'PUSH_TOO_MANY_EXPERIENCE_IDS', message: 'All push notification messages in the same request must be for the same project' }] } }
      : { json: { data: [{ status: 'ok', id: `id-${messages[0].to}` }] } };
  };
  const a = await driver().call(pushCall(['a', 'b'].map((x) => ({ provider: 'expo', token: `ExponentPushToken[${x}]` }))));
  assert.deepEqual(a.results.map((r) => [r.result, r.provider_id]), [[Result.accepted, 'id-ExponentPushToken[a]'], [Result.accepted, 'id-ExponentPushToken[b]']]);
  assert.equal(service.take().length, 3);
});

test('the driver reveals neither the private key nor the access token', async () => {
  service.respond = () => ({ status: 500 });
  const d = driver({ expo_access_token: 'expo-secret-token' });
  const a = await d.call(pushCall([browser().token, { provider: 'expo', token: 'ExponentPushToken[a]' }]));
  const output = JSON.stringify(a) + d.err;
  assert.ok(!output.includes('expo-secret-token') && !output.includes(vapidPrivate));
});
