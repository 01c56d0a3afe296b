// The module webhooks: signed domain events for the operator's systems, with retries; permanently failing endpoints are
// disabled.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const oldSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`, newSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
let database, server, receiver, admin;

async function startReceiver() {
  const out = { got: [], respond: () => [200] };
  const s = http.createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (d) => (body += d)).on('end', () => {
      const message = { path: req.url, headers: req.headers, body, json: JSON.parse(body), at: Date.now() };
      out.got.push(message);
      const [status, headers = {}] = out.respond(message);
      if (status === 0) return res.destroy();
      res.writeHead(status, headers).end();
    });
  });
  await new Promise((r) => s.listen(0, '127.0.0.1', r));
  out.url = `http://127.0.0.1:${s.address().port}`;
  out.of = (path, type, account) => out.got.filter((m) => m.path === path && m.json.type === type && (!account || m.json.data.account_id === account));
  out.close = () => new Promise((r) => { s.closeAllConnections(); s.close(r); });
  return out;
}
const state = async (name) => (await admin.get('/admin/webhooks')).json.endpoints.find((e) => e.name === name);

before(async () => {
  database = makeDatabase();
  receiver = await startReceiver();
  server = await new Server({ database, settings: `
[webhooks.endpoints.all]
url = "${receiver.url}/all?token=hidden"
secrets = ["${newSecret}", "${oldSecret}"]
[webhooks.endpoints.accounts]
url = "${receiver.url}/accounts"
secrets = ["${oldSecret}"]
events = ["account.created"]
` }).start();
  admin = await server.user({ role: 'admin' });
});
after(async () => {
  await server?.close();
  await receiver?.close();
  database?.drop();
});

test('each event is sent once to its endpoints, signed with every secret', async () => {
  const u = await server.user({ email: 'ann@example.org' });
  assert.equal((await u.get('/account')).status, 200);
  const all = '/all?token=hidden';
  await waitFor('both messages', () => receiver.of(all, 'account.created', u.id).length && receiver.of('/accounts', 'account.created', u.id).length);
  await server.user({ tier: 'pro', subject: u.id });
  await waitFor('the message about the tier', () => receiver.of(all, 'account.tier', u.id).length);
  await sleep(300);
  assert.equal(receiver.of('/accounts', 'account.tier').length, 0);
  assert.equal(receiver.of(all, 'account.created', u.id).length, 1);
  const [m] = receiver.of(all, 'account.created', u.id);
  for (const secret of [oldSecret, newSecret]) assert.deepEqual(new Webhook(secret).verify(m.body, m.headers), m.json);
  assert.throws(() => new Webhook(newSecret).verify(receiver.of('/accounts', 'account.created', u.id)[0].body, receiver.of('/accounts', 'account.created', u.id)[0].headers));
  assert.match(m.headers['webhook-id'], /^evt_\d+$/);
  assert.match(m.json.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(m.json.data.email, 'ann@example.org');
  assert.ok(!server.log.includes(oldSecret) && !server.log.includes('token=hidden'));
});

test('a failing endpoint gets retries with the same id and body', async () => {
  let failures = 2;
  receiver.respond = (m) => (m.path === '/accounts' && failures-- > 0 ? [503, { 'retry-after': '1' }] : [200]);
  const u = await server.user();
  await u.get('/account');
  await waitFor('three attempts', () => receiver.of('/accounts', 'account.created', u.id).length >= 3, 30000);
  const [a, b, c] = receiver.of('/accounts', 'account.created', u.id);
  assert.deepEqual([b.body, c.body], [a.body, a.body]);
  assert.deepEqual([b.headers['webhook-id'], c.headers['webhook-id']], [a.headers['webhook-id'], a.headers['webhook-id']]);
  await waitFor('the failure to be cleared', async () => (await state('accounts')).failing_since === null);
  receiver.respond = () => [200];
});

test('a permanently failing endpoint is disabled; the others continue; an administrator re-enables it', async () => {
  receiver.respond = (m) => (m.path === '/accounts' ? [500, { 'retry-after': '1' }] : [200]);
  const u = await server.user();
  await u.get('/account');
  await waitFor('a failure', async () => (await state('accounts')).failing_since !== null);
  assert.match((await state('accounts')).last_error, /webhooks\.endpoints\.accounts answered 500/);
  assert.equal((await state('accounts')).disabled_at, null);
  database.sql("update webhooks.endpoint set failing_since = now() - interval '6 days' where name = 'accounts'");
  await waitFor('the endpoint to be disabled', async () => (await state('accounts')).disabled_at !== null, 30000);
  assert.match(server.log, /a receiver of webhooks is disabled/);
  receiver.respond = () => [200];
  const before = receiver.of('/accounts', 'account.created').length;
  const v = await server.user();
  await v.get('/account');
  await waitFor('the message to the other endpoint', () => receiver.of('/all?token=hidden', 'account.created', v.id).length);
  await sleep(300);
  assert.equal(receiver.of('/accounts', 'account.created').length, before);
  assert.equal((await admin.post('/admin/webhooks/accounts/test')).status, 409);
  assert.equal((await admin.post('/admin/webhooks/accounts/enable')).status, 200);
  const sent = await admin.post('/admin/webhooks/accounts/test');
  assert.equal(sent.status, 202);
  await waitFor('the test message', () => receiver.of('/accounts', 'webhook.test').some((m) => m.headers['webhook-id'] === sent.json.id));
});

test('a 410 response disables the endpoint', async () => {
  receiver.respond = (m) => (m.path === '/accounts' ? [410] : [200]);
  assert.equal((await admin.post('/admin/webhooks/accounts/test')).status, 202);
  await waitFor('the endpoint to be disabled', async () => (await state('accounts')).disabled_at !== null, 15000);
  receiver.respond = () => [200];
  await admin.post('/admin/webhooks/accounts/enable');
});

test('only administrators have access; unknown endpoints return 404; URLs are shown without secrets', async () => {
  const u = await server.user();
  for (const [method, path] of [['GET', '/admin/webhooks'], ['POST', '/admin/webhooks/all/test'], ['POST', '/admin/webhooks/all/enable']]) {
    assert.equal((await u.request(method, path)).status, 403, path);
  }
  assert.equal((await admin.post('/admin/webhooks/unknown/test')).status, 404);
  assert.equal((await admin.post('/admin/webhooks/unknown/enable')).status, 404);
  const all = await state('all');
  assert.equal(all.url, `${receiver.url}/all`);
  assert.ok(all.delivered > 0);
  assert.deepEqual((await state('accounts')).events, ['account.created']);
  assert.ok(!JSON.stringify(all).includes('whsec'));
});

test('outside local mode, nothing is sent to private addresses', async () => {
  const other = makeDatabase();
  const privateUrls = { v4: receiver.url, name: receiver.url.replace('127.0.0.1', 'localhost'), mapped: receiver.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'), metadata: 'http://169.254.169.254/latest' };
  const guarded = await new Server({ database: other, set: ['deployment.mode=staging'],
    settings: Object.entries(privateUrls).map(([name, url]) => `[webhooks.endpoints.${name}]\nurl = "${url}/guarded"\nsecrets = ["${oldSecret}"]\n`).join('') }).start();
  try {
    const guardedAdmin = await guarded.user({ role: 'admin' });
    for (const name of Object.keys(privateUrls)) assert.equal((await guardedAdmin.post(`/admin/webhooks/${name}/test`)).status, 202);
    await waitFor('the refusals', async () => (await guardedAdmin.get('/admin/webhooks')).json.endpoints.every((e) => /private or local address/.test(e.last_error)));
    assert.equal(receiver.got.filter((m) => m.path === '/guarded').length, 0);
  } finally {
    await guarded.close();
    other.drop();
  }
});

test('a pending message survives a server crash', async () => {
  receiver.respond = () => [0];
  const u = await server.user();
  await u.get('/account');
  await waitFor('an attempt', () => receiver.of('/accounts', 'account.created', u.id).length > 0);
  await server.kill();
  const before = receiver.of('/accounts', 'account.created', u.id).length;
  receiver.respond = () => [200];
  await server.start();
  await waitFor('the message', () => receiver.of('/accounts', 'account.created', u.id).length > before, 60000);
});
