// The inbox of the page in a real browser: the count moves without a reload, settings, and what an open thread keeps
// from being sent. RY_SCREENSHOTS=DIR keeps pictures.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { phone, startBrowser } from './lib/console.mjs';
import { startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

let db, smtp, llm, server, browser, ann, page;

const badge = (p, want) => p.waitForFunction((n) => (document.querySelector('.badge')?.innerText.split('\n')[0].trim() ?? '') === n, {}, String(want));
async function run(user, form) {
  const r = await user.start(form);
  assert.equal(r.status, 200, r.text);
  await waitFor('the end of the run', async () => (await user.get(`/agent-run/${r.json.agent_run_id}`)).json.status !== 'running');
  return r.json;
}
const verdicts = (user) => db.sql(`select string_agg(state, ',' order by id) from notifications.notification where workflow = 'task-completed' and account_id = '${user.id}'`);

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

test('a task completes and the badge counts up, without a reload', async () => {
  await page.waitForSelector('.bell');
  await run(ann, { prompt: 'Count the apples' });
  await badge(page, 1);
  await run(ann, { prompt: 'Count the pears' });
  await badge(page, 2);
  assert.equal(await page.evaluate(() => window.notReloaded), true);
});

test('the inbox, read one by one and all at once', async () => {
  await page.goto(`${server.url}/console#/inbox`);
  await page.sees('Your task "Count the pears" is done');
  await page.sees('Your task "Count the apples" is done');
  assert.deepEqual(await page.faults(), []);
  assert.ok(await page.overflow() <= 0);
  await page.shot('inbox');
  await page.press('Mark as read');
  await badge(page, 1);
  await page.press('Mark all as read');
  await badge(page, '');
  assert.equal((await ann.get('/notifications/inbox/unread-count')).json.unread_count, 0);
});

test('preferences are changed in place', async () => {
  await (await page.waitForSelector('::-p-aria([name="E-mail"][role="checkbox"])')).click();
  await waitFor('the switch', async () => (await ann.get('/notifications/settings')).json.settings.email_enabled === false);
  await (await page.waitForSelector('::-p-aria([name="Task failed: Push"][role="checkbox"])')).click();
  await waitFor('the preference', async () => (await ann.get('/notifications/preferences')).json.preferences.workflows['task-failed'].push === false);
  await page.select('select[aria-label="Task completed: digest"]', '60');
  await waitFor('the digest', async () => (await ann.get('/notifications/preferences')).json.preferences.workflows['task-completed'].digest_minutes === 60);
  const length = async () => (await ann.get('/notifications/preferences')).json.preferences.workflows['task-completed'].min_minutes;
  const lengths = 'select[aria-label="Task completed: e-mail for runs of"]';
  await page.select(lengths, '5');
  await waitFor('the length', async () => (await length()) === 5);
  // A number that another client chose is shown as it is.
  await ann.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': { min_minutes: 7 } } } });
  await page.reload();
  await page.waitForFunction((s) => document.querySelector(s)?.selectedOptions[0]?.innerText === '7 min', {}, lengths);
  assert.equal(await page.evaluate((s) => document.querySelector(s.replace('completed', 'failed')).selectedOptions[0].innerText, lengths), 'Default length');
  await page.select(lengths, '');
  await waitFor('the default', async () => (await length()) === undefined);
  assert.equal((await page.$$('select[aria-label="News: e-mail for runs of"]')).length, 0);
  // An unsubscribe link was used.
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
  assert.ok(!/Notifications$/m.test(await page.evaluate(() => document.querySelector('nav').innerText)), 'that is for admins');
});

test('devices are listed and removed', async () => {
  const r = await ann.post('/notifications/device-token', { json: { device_token: 'ExponentPushToken[console]', device_type: 'mobile', provider: 'expo' } });
  assert.equal(r.status, 200, r.text);
  await page.sees('Devices with push messages', 15000);
  assert.deepEqual(await page.faults(), []);
  await page.press('Remove');
  await page.waitForFunction(() => !document.body.innerText.includes('Devices with push messages'));
  assert.deepEqual((await ann.get('/notifications/device-token')).json.devices, []);
});

test('with the thread open in a tab nothing is sent', async () => {
  await ann.request('PUT', '/notifications/settings', { json: { email_enabled: true } });
  await ann.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': null } } });
  const mails = () => smtp.to('ann@example.test').map((m) => m.parsed.subject).filter((s) => /"The /.test(s)).sort();
  const { thread_id } = await run(ann, { prompt: 'The first of the thread' });
  await badge(page, 1);
  // A mail that has not left when the thread is opened need not leave any more.
  await waitFor('the mail about the first', () => mails().length === 1);
  await page.goto(`${server.url}/console#/threads/${thread_id}`);
  await page.sees('The first of the thread');
  await waitFor('the tab to be known', () => db.sql(`select count(*) from notifications.presence where thread_id = '${thread_id}'`) === '1');
  const before = [verdicts(ann)];
  await run(ann, { prompt: 'The second', thread_id });
  await waitFor('the verdict', () => verdicts(ann) !== before[0]);
  assert.equal(verdicts(ann), `${before[0]},suppressed`);
  await badge(page, 1);
  await page.goto(`${server.url}/console#/`);
  await waitFor('the tab to be gone', () => db.sql(`select count(*) from notifications.presence where thread_id = '${thread_id}'`) === '0');
  await run(ann, { prompt: 'The third', thread_id });
  await badge(page, 2);
  await waitFor('the mail about the third', () => mails().length >= 2);
  assert.deepEqual(mails(), ['Your task "The first of the thread" is done', 'Your task "The third" is done'], 'none about the second');
  assert.deepEqual(page.complaints, []);
});

// A browser opens six connections to a host over HTTP/1.1. All tabs of a person, each with what it says of the inbox.
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
  const say = (tab) => tab.evaluate(() => document.querySelector('.badge')?.innerText.split('\n')[0].trim() ?? '');
  const all = (want) => waitFor(`${want} in ${tabs.length} tabs`, async () => (await Promise.all(tabs.map(say))).every((t) => t === want));
  return { user, tabs, all, say, context: first.context, streams: () => streams };
}

test('eight tabs share one stream, and another tab goes on when the one that reads it is closed', async () => {
  const { user, tabs, all, context, streams } = await eightTabs();
  await run(user, { prompt: 'Count the plums' });
  await all('1');
  assert.equal(streams(), 1);
  await tabs.shift().close();
  await waitFor('another reader', () => streams() === 2);
  await run(user, { prompt: 'Count the figs' });
  await all('2');
  assert.equal(streams(), 2);
  assert.deepEqual(tabs.flatMap((t) => t.complaints), []);
  await context.close();
});

test('without locks (http://) only tabs that are visible read the stream', async () => {
  const { user, tabs, say, context, streams } = await eightTabs((tab, n) => tab.evaluateOnNewDocument((visible) => {
    Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });
    let state = visible ? 'visible' : 'hidden';
    Object.defineProperty(Document.prototype, 'visibilityState', { get: () => state });
    window.show = (to) => { state = to; document.dispatchEvent(new Event('visibilitychange')); };
  }, n === 7));
  assert.equal(streams(), 1);
  await run(user, { prompt: 'Count the quinces' });
  await waitFor('the badge', async () => await say(tabs[7]) === '1');
  await tabs[7].evaluate(() => window.show('hidden'));
  await tabs[3].evaluate(() => window.show('visible'));
  await run(user, { prompt: 'Count the medlars' });
  await waitFor('the badge', async () => await say(tabs[3]) === '2');
  assert.equal(streams(), 2);
  assert.deepEqual(tabs.flatMap((t) => t.complaints), []);
  await context.close();
});

test('an admin sends a message to one account, on a phone', async () => {
  const boss = await server.user({ role: 'admin', email: 'boss@example.test' });
  const desk = await browser.of(server, boss, { viewport: phone, scheme: 'dark' });
  await desk.press('Notifications', 'link');
  await desk.sees('Message to one account');
  assert.deepEqual(await desk.faults(), []);
  assert.ok(await desk.overflow() <= 0);
  const fillOne = async (to, title) => {
    const form = await desk.evaluateHandle(() => document.querySelector('[name=to]').form);
    for (const [name, text] of [['to', to], ['title', title]]) {
      const field = await form.$(`[name=${name}]`);
      await field.click({ count: 3 });
      await field.type(text);
    }
  };
  await fillOne('ann@example.test', 'Hello {{first_name}}');
  await desk.press('Send');
  await desk.sees('The message is on its way.');
  await desk.sees('News');
  await badge(page, 3);
  assert.equal((await ann.get('/notifications/inbox')).json.notifications[0].title, 'Hello ann');
  await desk.shot('inbox-admin-phone');

  // One that fails is seen to, and tried again.
  const eve = await server.user({ email: 'eve@example.test' });
  await eve.get('/account');
  await smtp.mail('eve@example.test');
  smtp.faults.rcpt = ({ to }) => (to === 'eve@example.test' ? [550, '5.1.1 No such user'] : undefined);
  await fillOne('eve@example.test', 'For Eve');
  await desk.press('Send');
  await waitFor('the refusal', () => db.sql(`select count(*) from mail.message where address = 'eve@example.test' and state = 'refused'`) === '1');
  delete smtp.faults.rcpt;
  db.sql(`delete from mail.subscription where address = 'eve@example.test'`);
  db.sql(`update notifications.delivery set follow_at = now() where follow_at is not null`);
  db.sql(`select core.job_enqueue('notifications.follow', '{}', 'notifications')`);
  // The list follows by itself.
  await desk.press('Try again');
  await waitFor('the mail', () => smtp.to('eve@example.test').some((m) => m.parsed.subject === 'For Eve'));
  await desk.waitForFunction(() => !document.body.innerText.includes('Try again'));
  await desk.press('Details');
  await desk.sees('E-mail: accepted (mail)');
  assert.deepEqual(await desk.faults(), []);
  assert.deepEqual(desk.complaints, []);
});
