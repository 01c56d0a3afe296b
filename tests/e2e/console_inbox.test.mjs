// The inbox of the web console in a real browser: live unread count, settings, and the suppression of notifications
// while their thread is open. RY_SCREENSHOTS=DIR saves screenshots.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { phone, startBrowser } from './lib/console.mjs';
import { startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

let db, smtp, llm, server, browser, ann, page;

const waitForBadge = (p, count) => p.waitForFunction((n) => (document.querySelector('.badge')?.innerText.split('\n')[0].trim() ?? '') === n, {}, String(count));
async function run(user, form) {
  const r = await user.start(form);
  assert.equal(r.status, 200, r.text);
  await waitFor('the end of the run', async () => (await user.get(`/agent-run/${r.json.agent_run_id}`)).json.status !== 'running');
  return r.json;
}
const deliveryStates = (user) => db.sql(`select string_agg(state, ',' order by id) from notifications.notification where workflow = 'task-completed' and account_id = '${user.id}'`);

before(async () => {
  smtp = await startSmtp({ starttls: false });
  llm = await startLlm((request, reply) => reply.say('done'));
  db = makeDatabase();
  server = await new Server({
    database: db, llm,
    set: ['deployment.mode=staging', 'accounts.local_login=false', 'http.public_url=https://app.test', 'mail.host=127.0.0.1',
      `mail.port=${smtp.port}`, 'mail.security=none', 'mail.from=no-reply@runyard.test'],
  }).start();
  browser = await startBrowser();
  ann = await server.user({ email: 'ann@example.test', tier: 'pro' });
  page = await browser.of(server, ann);
  await page.evaluate(() => { window.notReloaded = true; });
});
after(async () => {
  await browser?.close();
  await server?.close();
  await llm?.close();
  await smtp?.close();
  db?.drop();
});

test('the badge is incremented without a reload when a task completes', async () => {
  await page.waitForSelector('.bell');
  await run(ann, { prompt: 'Count the apples' });
  await waitForBadge(page, 1);
  await run(ann, { prompt: 'Count the pears' });
  await waitForBadge(page, 2);
  assert.equal(await page.evaluate(() => window.notReloaded), true);
});

test('notifications are marked as read one by one and all together', async () => {
  await page.goto(`${server.url}/console#/inbox`);
  await page.sees('Your task "Count the pears" is done');
  await page.sees('Your task "Count the apples" is done');
  assert.deepEqual(await page.faults(), []);
  assert.ok(await page.overflow() <= 0);
  await page.shot('inbox');
  await page.press('Mark as read');
  await waitForBadge(page, 1);
  await page.press('Mark all as read');
  await waitForBadge(page, '');
  assert.equal((await ann.get('/notifications/inbox/unread-count')).json.unread_count, 0);
});

test('preferences are saved immediately', async () => {
  await (await page.waitForSelector('::-p-aria([name="E-mail"][role="checkbox"])')).click();
  await waitFor('the setting', async () => (await ann.get('/notifications/settings')).json.settings.email_enabled === false);
  await (await page.waitForSelector('::-p-aria([name="Task failed: Push"][role="checkbox"])')).click();
  await waitFor('the preference', async () => (await ann.get('/notifications/preferences')).json.preferences.workflows['task-failed'].push === false);
  await page.select('select[aria-label="Task completed: digest"]', '60');
  await waitFor('the digest', async () => (await ann.get('/notifications/preferences')).json.preferences.workflows['task-completed'].digest_minutes === 60);
  const minMinutes = async () => (await ann.get('/notifications/preferences')).json.preferences.workflows['task-completed'].min_minutes;
  const lengthSelector = 'select[aria-label="Task completed: e-mail for runs of"]';
  await page.select(lengthSelector, '5');
  await waitFor('the length', async () => (await minMinutes()) === 5);
  // A value set by another client is shown even if it is not one of the choices.
  await ann.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': { min_minutes: 7 } } } });
  await page.reload();
  await page.waitForFunction((s) => document.querySelector(s)?.selectedOptions[0]?.innerText === '7 min', {}, lengthSelector);
  assert.equal(await page.evaluate((s) => document.querySelector(s.replace('completed', 'failed')).selectedOptions[0].innerText, lengthSelector), 'Default length');
  await page.select(lengthSelector, '');
  await waitFor('the default', async () => (await minMinutes()) === undefined);
  assert.equal((await page.$$('select[aria-label="News: e-mail for runs of"]')).length, 0);
  // Simulates the use of an unsubscribe link.
  assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /You unsubscribed/);
  db.sql(`select notifications.follow_subscription('${ann.id}', notifications.mail_category('credits-low'), false)`);
  await page.reload();
  await page.sees('You unsubscribed with the link in an e-mail.');
  const described = () => page.evaluate(() => [...document.querySelectorAll('input[aria-describedby]')]
    .map((i) => [i.ariaLabel, i.checked, document.getElementById(i.getAttribute('aria-describedby')).innerText]));
  assert.deepEqual(await described(), [['Credits low: E-mail', false, 'You unsubscribed with the link in an e-mail.']]);
  assert.deepEqual(await page.faults(), []);
  assert.ok(await page.overflow() <= 0);
  await page.shot('inbox-settings');
  assert.ok(!/Notifications$/m.test(await page.evaluate(() => document.querySelector('nav').innerText)), 'the notifications page is only for admins');
});

test('devices are listed and removed', async () => {
  const r = await ann.post('/notifications/device-token', { json: { device_token: 'ExponentPushToken[console]', device_type: 'mobile', provider: 'expo' } });
  assert.equal(r.status, 200, r.text);
  await page.sees('Devices that receive push messages', 15000);
  assert.deepEqual(await page.faults(), []);
  await page.press('Remove');
  await page.waitForFunction(() => !document.body.innerText.includes('Devices that receive push messages'));
  assert.deepEqual((await ann.get('/notifications/device-token')).json.devices, []);
});

test('no notification is sent while the thread is open in a tab', async () => {
  await ann.request('PUT', '/notifications/settings', { json: { email_enabled: true } });
  await ann.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': null } } });
  const mails = () => smtp.to('ann@example.test').map((m) => m.parsed.subject).filter((s) => /"The /.test(s)).sort();
  const { thread_id } = await run(ann, { prompt: 'The first of the thread' });
  await waitForBadge(page, 1);
  // Wait for the e-mail, because opening the thread would suppress it.
  await waitFor('the e-mail about the first run', () => mails().length === 1);
  await page.goto(`${server.url}/console#/threads/${thread_id}`);
  await page.sees('The first of the thread');
  await waitFor('the presence of the tab', () => db.sql(`select count(*) from notifications.presence where thread_id = '${thread_id}'`) === '1');
  const before = [deliveryStates(ann)];
  await run(ann, { prompt: 'The second', thread_id });
  await waitFor('the delivery decision', () => deliveryStates(ann) !== before[0]);
  assert.equal(deliveryStates(ann), `${before[0]},suppressed`);
  await waitForBadge(page, 1);
  await page.goto(`${server.url}/console#/`);
  await waitFor('the presence to end', () => db.sql(`select count(*) from notifications.presence where thread_id = '${thread_id}'`) === '0');
  await run(ann, { prompt: 'The third', thread_id });
  await waitForBadge(page, 2);
  await waitFor('the e-mail about the third run', () => mails().length >= 2);
  assert.deepEqual(mails(), ['Your task "The first of the thread" is done', 'Your task "The third" is done'], 'no e-mail about the second run');
  assert.deepEqual(page.complaints, []);
});

// Opens eight tabs of one browser profile: more than the six connections per host that browsers allow over HTTP/1.1.
async function eightTabs(setUp = () => {}) {
  const user = await server.user({ email: `tabs${Math.random()}@example.test`, tier: 'pro' });
  const first = await browser.person();
  const tabs = [];
  let streams = 0;
  for (let n = 0; n < 8; n++) {
    const tab = n === 0 ? first : await browser.tab(first.context);
    tab.on('request', (r) => { if (r.url().endsWith('/notifications/inbox/stream')) streams++; });
    await setUp(tab, n);
    await browser.logIn(tab, server, user);
    await tab.goto(`${server.url}/console`, { timeout: 20000 });
    tabs.push(tab);
    await waitFor(`tab ${n + 1}`, async () => /What should the agent do/.test(await tab.text()) && (await tab.$('.bell')) !== null);
  }
  const badgeText = (tab) => tab.evaluate(() => document.querySelector('.badge')?.innerText.split('\n')[0].trim() ?? '');
  const waitForAllBadges = (count) => waitFor(`${count} in ${tabs.length} tabs`, async () => (await Promise.all(tabs.map(badgeText))).every((t) => t === count));
  return { user, tabs, waitForAllBadges, badgeText, context: first.context, streams: () => streams };
}

test('eight tabs share one stream, and another tab takes over when the reading tab is closed', async () => {
  const { user, tabs, waitForAllBadges, context, streams } = await eightTabs();
  await run(user, { prompt: 'Count the plums' });
  await waitForAllBadges('1');
  assert.equal(streams(), 1);
  await tabs.shift().close();
  await waitFor('another tab to open the stream', () => streams() === 2);
  await run(user, { prompt: 'Count the figs' });
  await waitForAllBadges('2');
  assert.equal(streams(), 2);
  assert.deepEqual(tabs.flatMap((t) => t.complaints), []);
  await context.close();
});

test('without the Web Locks API (http://) only visible tabs read the stream', async () => {
  const { user, tabs, badgeText, context, streams } = await eightTabs((tab, n) => tab.evaluateOnNewDocument((visible) => {
    Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });
    let state = visible ? 'visible' : 'hidden';
    Object.defineProperty(Document.prototype, 'visibilityState', { get: () => state });
    window.show = (to) => { state = to; document.dispatchEvent(new Event('visibilitychange')); };
  }, n === 7));
  assert.equal(streams(), 1);
  await run(user, { prompt: 'Count the quinces' });
  await waitFor('the badge', async () => await badgeText(tabs[7]) === '1');
  await tabs[7].evaluate(() => window.show('hidden'));
  await tabs[3].evaluate(() => window.show('visible'));
  await run(user, { prompt: 'Count the medlars' });
  await waitFor('the badge', async () => await badgeText(tabs[3]) === '2');
  assert.equal(streams(), 2);
  assert.deepEqual(tabs.flatMap((t) => t.complaints), []);
  await context.close();
});

test('an admin sends a message to one account, on a phone', async () => {
  const admin = await server.user({ role: 'admin', email: 'alice@example.test' });
  const adminPage = await browser.of(server, admin, { viewport: phone, scheme: 'dark' });
  await adminPage.press('Notifications', 'link');
  await adminPage.sees('Message to one account');
  assert.deepEqual(await adminPage.faults(), []);
  assert.ok(await adminPage.overflow() <= 0);
  const fillMessageForm = async (to, title) => {
    const form = await adminPage.evaluateHandle(() => document.querySelector('[name=to]').form);
    for (const [name, text] of [['to', to], ['title', title]]) {
      const field = await form.$(`[name=${name}]`);
      await field.click({ count: 3 });
      await field.type(text);
    }
  };
  await fillMessageForm('ann@example.test', 'Hello {{first_name}}');
  await adminPage.press('Send');
  await adminPage.sees('The message is on its way.');
  await adminPage.sees('News');
  await waitForBadge(page, 3);
  assert.equal((await ann.get('/notifications/inbox')).json.notifications[0].title, 'Hello ann');
  await adminPage.shot('inbox-admin-phone');

  // A failed message is listed and can be retried.
  const eve = await server.user({ email: 'eve@example.test' });
  await eve.get('/account');
  await smtp.mail('eve@example.test');
  smtp.faults.rcpt = ({ to }) => (to === 'eve@example.test' ? [550, '5.1.1 No such user'] : undefined);
  await fillMessageForm('eve@example.test', 'For Eve');
  await adminPage.press('Send');
  await waitFor('the rejection', () => db.sql(`select count(*) from mail.message where address = 'eve@example.test' and state = 'refused'`) === '1');
  delete smtp.faults.rcpt;
  db.sql(`delete from mail.subscription where address = 'eve@example.test'`);
  db.sql(`update notifications.delivery set follow_at = now() where follow_at is not null`);
  db.sql(`select core.job_enqueue('notifications.follow', '{}', 'notifications')`);
  // The list updates itself.
  await adminPage.press('Try again');
  await waitFor('the e-mail', () => smtp.to('eve@example.test').some((m) => m.parsed.subject === 'For Eve'));
  await adminPage.waitForFunction(() => !document.body.innerText.includes('Try again'));
  await adminPage.press('Details');
  await adminPage.sees('E-mail: accepted (mail)');
  assert.deepEqual(await adminPage.faults(), []);
  assert.deepEqual(adminPage.complaints, []);
});
