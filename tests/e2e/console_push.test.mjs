// Web Push in the web console: the button, the registered device, and the notification that the service worker shows.
// Chromium cannot subscribe without Google's push service, so PushManager is mocked. The real server sends the message;
// the test decrypts it with http_ece and delivers it to the real service worker.
import assert from 'node:assert/strict';
import { createECDH, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import vm from 'node:vm';
import ece from 'http_ece';
import { startBrowser } from './lib/console.mjs';
import { startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, root, waitFor } from './lib/server.mjs';

let db, llm, server, browser, service;
const keys = createECDH('prime256v1');
keys.generateKeys();
const auth = randomBytes(16);

before(async () => {
  service = { messages: [] };
  const s = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c)).on('end', () => { service.messages.push({ path: req.url, body: Buffer.concat(parts) }); res.writeHead(201).end(); });
  });
  await new Promise((r) => s.listen(0, '127.0.0.1', r));
  service.url = `http://127.0.0.1:${s.address().port}`;
  service.close = () => new Promise((r) => { s.closeAllConnections(); s.close(r); });
  llm = await startLlm((request, reply) => reply.say('done'));
  db = makeDatabase();
  server = await new Server({ database: db, llm, set: ['accounts.local_login=false'], settings: '[notifications]\nallowed_modes = ["local"]\n' }).start();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.close();
  await llm?.close();
  await service?.close();
  db?.drop();
});

// Replaces PushManager as a browser with a push service would implement it.
function mockPushManager(endpoint, p256dh, auth) {
  let current = null;
  window.subscriptionOptions = [];
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async (options) => {
    window.subscriptionOptions.push(options);
    const json = { endpoint, expirationTime: null, keys: { p256dh, auth } };
    current = { endpoint, toJSON: () => json, unsubscribe: async () => { current = null; return true; } };
    return current;
  };
}
// Hands a message to the service worker as a push service would, and resolves when the worker has handled it. Do not
// call getNotifications() before that: when Chromium reads the list between storing and displaying a notification, it
// takes the notification for a closed one, deletes it, and never lists it.
async function deliver(cdp, message) {
  await cdp.send('BackgroundService.startObserving', { service: 'pushMessaging' });
  await cdp.send('BackgroundService.setRecording', { service: 'pushMessaging', shouldRecord: true });
  let status;
  cdp.on('BackgroundService.backgroundServiceEventReceived', ({ backgroundServiceEvent: e }) => {
    if (e.eventName === 'Push event completed') status = e.eventMetadata.find((m) => m.key === 'Status')?.value;
  });
  await cdp.send('ServiceWorker.deliverPushMessage', message);
  assert.equal(await waitFor('the service worker to handle the push message', () => status), 'Success');
}
const devices = (user) => db.sql(`select count(*) from notifications.device_token where account_id = '${user.id}'`);

test('subscribe with the button, get a push message while another page is open, and unsubscribe', async () => {
  const ann = await server.user({ email: 'ann@example.test', tier: 'pro' });
  const page = await browser.person();
  await page.context.overridePermissions(server.url, ['notifications']);
  await page.evaluateOnNewDocument(mockPushManager, `${service.url}/push/ann`, keys.getPublicKey('base64url'), auth.toString('base64url'));
  await browser.logIn(page, server, ann);
  await page.goto(`${server.url}/console#/inbox`);
  await page.press('Turn on push messages');
  await waitFor('the device', () => devices(ann) === '1');
  await page.sees('Turn off push messages');
  const { public_key } = (await ann.get('/notifications/web-push-key')).json;
  assert.deepEqual(await page.evaluate(() => window.subscriptionOptions), [{ userVisibleOnly: true, applicationServerKey: public_key }]);
  assert.deepEqual(await page.faults(), []);

  const cdp = await page.createCDPSession();
  const registration = new Promise((resolve) => cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [r] }) => r && resolve(r)));
  await cdp.send('ServiceWorker.enable');
  const { registrationId, scopeURL } = await registration;
  assert.equal(scopeURL, `${server.url}/console/`);

  const r = await ann.start({ prompt: 'Count <the> apples' });
  assert.equal(r.status, 200);
  const pushed = await waitFor('the message', () => service.messages.find((m) => m.path === '/push/ann'));
  const text = ece.decrypt(pushed.body, { version: 'aes128gcm', privateKey: keys, authSecret: auth }).toString('utf8');
  const message = JSON.parse(text);
  await deliver(cdp, { origin: server.url, registrationId, data: text });
  const shown = await page.evaluate(async () => {
    const r = await navigator.serviceWorker.getRegistration('/console/');
    return (await r.getNotifications()).map((n) => ({ title: n.title, body: n.body, tag: n.tag, url: n.data?.url }));
  });
  assert.deepEqual(shown, [{ title: message.title, body: message.body, tag: message.tag, url: message.url }]);
  assert.equal(message.title, 'Your task "Count <the> apples" is done');
  assert.match(message.url, new RegExp(`/#/threads/${r.json.thread_id}$`));

  // After a reload the browser is registered again, but listed only once.
  await page.reload();
  await page.press('Turn on push messages');
  await waitFor('the device', () => devices(ann) === '1');
  await page.press('Turn off push messages');
  await waitFor('no device', () => devices(ann) === '0');
  await page.sees('Turn on push messages');

  // Logging out unregisters the browser.
  await page.press('Turn on push messages');
  await waitFor('the device', () => devices(ann) === '1');
  await page.goto(`${server.url}/console#/account`);
  await page.press('Log out');
  await waitFor('no device', () => devices(ann) === '0');
  assert.deepEqual(page.complaints, []);
});

test('a browser that denies the permission is not asked again', async () => {
  const bob = await server.user({ email: 'bob@example.test' });
  const page = await browser.person();
  await page.context.overridePermissions(server.url, []);
  await page.evaluateOnNewDocument(() => { Object.defineProperty(Notification, 'permission', { get: () => 'denied' }); });
  await browser.logIn(page, server, bob);
  await page.goto(`${server.url}/console#/inbox`);
  await page.sees('This browser blocks notifications from this page');
  assert.ok(!(await page.text()).includes('Turn on push messages'));
});

test('a failing server is distinguished from one without Web Push', async () => {
  const eve = await server.user({ email: 'eve@example.test' });
  const page = await browser.person();
  let status = 500;
  await page.setRequestInterception(true);
  page.on('request', (r) => (status && r.url().endsWith('/web-push-key')
    ? r.respond({ status, contentType: 'application/json', body: JSON.stringify({ detail: 'The key cannot be read.' }) }) : r.continue()));
  await browser.logIn(page, server, eve);
  await page.goto(`${server.url}/console#/inbox`);
  await page.sees('The key cannot be read.');
  await page.sees('This browser');
  assert.ok(!(await page.text()).includes('Turn on push messages'));
  assert.deepEqual(await page.faults(), []);
  await page.shot('web-push-fails');
  status = 0;
  await page.press('Try again');
  await page.sees('Turn on push messages');
  assert.ok(!(await page.text()).includes('The key cannot be read.'));

  status = 404;
  const keyResponse = page.waitForResponse((r) => r.url().endsWith('/web-push-key'));
  await page.reload();
  await keyResponse;
  await page.sees('Quiet hours');
  assert.doesNotMatch(await page.text(), /This browser|The key cannot be read/);
});

// Runs the service worker as it is served, and records what it shows and opens.
async function worker({ tabs = [], answer } = {}) {
  const on = {}, shown = [], opened = [], focused = [], sent = [];
  const self = {
    location: { origin: 'https://x.test' },
    fetch: async (url, options) => { sent.push([url, options.method, String(options.body), options.credentials]); return answer(); },
    registration: { showNotification: async (title, options) => shown.push([title, options]) },
    clients: { matchAll: async () => tabs.map((url) => ({ url, focus: async () => focused.push(url) })), openWindow: async (url) => opened.push(url) },
    addEventListener: (name, fn) => { on[name] = fn; },
  };
  vm.runInNewContext(readFileSync(path.join(root, 'modules/console/web/dist/worker.js'), 'utf8'), { self, URL, URLSearchParams });
  const fire = async (name, event) => { let work; on[name]({ ...event, waitUntil: (p) => { work = p; } }); await work; };
  return { shown, opened, focused, sent,
    act: (action, notification) => fire('notificationclick', { action, notification: { close: () => {}, ...notification } }),
    push: (data) => fire('push', { data: data === undefined ? null : { json: () => JSON.parse(data) } }),
    click: (url) => { let closed = 0; return fire('notificationclick', { notification: { data: { url }, close: () => { closed++; } } }).then(() => closed); } };
}

test('every push message is shown, and links only to web addresses', async () => {
  const w = await worker({ tabs: ['https://x.test/console#/a'] });
  await w.push(JSON.stringify({ title: 'T', body: 'B', tag: 'k', url: 'https://x.test/#/t' }));
  await w.push(JSON.stringify({ title: 'T', url: 'javascript:alert(1)' }));
  await w.push('not JSON');
  await w.push();
  await w.push('null');
  await w.push(JSON.stringify({ title: { a: 1 }, body: 7 }));
  assert.deepEqual(JSON.parse(JSON.stringify(w.shown)), [
    ['T', { body: 'B', tag: 'k', data: { url: 'https://x.test/#/t' } }], ['T', { body: '', data: { url: null } }],
    ...Array(3).fill(['Runyard', { body: '', data: { url: null } }]), ['[object Object]', { body: '7', data: { url: null } }]]);
  assert.equal(await w.click('https://x.test/#/t'), 1);
  await w.click('https://x.test/console#/a');
  await w.click(null);
  assert.deepEqual([w.opened, w.focused], [['https://x.test/#/t'], ['https://x.test/console#/a']]);
});

test('actions of a push message decide about an approval, and the result is shown', async () => {
  const link = 'https://x.test/approval-decision?link=abc';
  let answer = async () => ({ status: 200 });
  const w = await worker({ answer: () => answer() });
  await w.push(JSON.stringify({ title: 'T', body: 'B', tag: 'k', url: 'https://x.test/#/t', decision_url: link }));
  await w.push(JSON.stringify({ title: 'T', decision_url: 'https://evil.test/approval-decision?link=abc' }));
  const [[, options], [, foreign]] = JSON.parse(JSON.stringify(w.shown.splice(0)));
  assert.deepEqual(options.actions, [{ action: 'approve', title: 'Approve' }, { action: 'deny', title: 'Deny' }]);
  assert.deepEqual(options.data, { url: 'https://x.test/#/t', decision: link });
  assert.deepEqual(foreign, { body: '', data: { url: null } }, 'no decision is sent to another host');
  const notification = { title: 'T', tag: 'k', data: options.data };
  const results = [];
  for (const [action, response] of [['approve', 200], ['deny', 200], ['approve', 410], ['approve', 503], ['deny', null]]) {
    answer = async () => { if (!response) throw new TypeError('offline'); return { status: response }; };
    await w.act(action, notification);
    const [title, { body, tag, data }] = w.shown.pop();
    results.push([title, body, tag, data.url]);
  }
  assert.deepEqual(results, [['T', 'Approved', 'k', null], ['T', 'Denied', 'k', null], ['T', 'The decision was already made, or the approval has expired', 'k', null],
    ...Array(2).fill(['T', 'The decision could not be sent. Open the notification to decide.', 'k', link])]);
  assert.deepEqual(w.sent[1], [link, 'POST', 'decision=deny', 'omit']);
  await w.act('', notification);
  assert.deepEqual([w.sent.length, w.opened], [5, ['https://x.test/#/t']]);
});

test('navigation during the first rendering of the page is not lost', async () => {
  const fay = await server.user({ email: 'fay@example.test' });
  const page = await browser.person();
  await page.evaluateOnNewDocument(() => {
    // Navigates as soon as the first view is rendered, before anything that follows it.
    new MutationObserver((_, self) => {
      if (!document.querySelector('main h1')) return;
      self.disconnect();
      location.hash = '#/inbox';
    }).observe(document, { childList: true, subtree: true });
  });
  await browser.logIn(page, server, fay);
  await page.goto(`${server.url}/console#/threads`);
  await page.sees('Notification settings');
});
