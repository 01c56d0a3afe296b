// Broadcasts in the web console in a real browser: preview, test, send, schedule, pause, resume, cancel, and progress.
// RY_SCREENSHOTS=DIR saves screenshots.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { phone, startBrowser } from './lib/console.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

let db, smtp, server, browser, admin, page;

before(async () => {
  smtp = await startSmtp({ starttls: false });
  db = makeDatabase();
  server = await new Server({
    database: db,
    set: ['deployment.mode=staging', 'accounts.local_login=false', 'http.public_url=https://app.test', 'mail.host=127.0.0.1',
      `mail.port=${smtp.port}`, 'mail.security=none', 'mail.from=no-reply@runyard.test'],
  }).start();
  browser = await startBrowser();
  admin = await server.user({ role: 'admin', email: 'alice@example.test' });
  for (const name of ['ann', 'bob', 'cat']) await (await server.user({ email: `${name}@example.test` })).get('/account');
  await admin.get('/account');
  page = await browser.of(server, admin);
});
after(async () => {
  await browser?.close();
  await server?.close();
  await smtp?.close();
  db?.drop();
});

const broadcasts = async () => (await admin.get('/admin/notifications/broadcasts')).json.broadcasts;
// Types into fields of the form by their names.
async function write(p, fields) {
  for (const [name, text] of Object.entries(fields)) {
    const field = await p.waitForSelector(`form [name=${name}]`);
    await field.click({ count: 3 });
    await field.type(text);
  }
}
const setTime = (p, date) => p.evaluate((ms) => {
  const field = document.querySelector('[name=at]');
  const at = new Date(ms);
  field.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}, date.getTime());
const buttons = (p) => p.evaluate(() => [...document.querySelectorAll('main button')].map((b) => b.getAttribute('aria-label') ?? b.innerText));
const recipientsOf = (subject) => ['ann', 'bob', 'cat', 'alice'].filter((n) => smtp.to(`${n}@example.test`).some((m) => m.parsed.subject === subject));

test('a broadcast can only be sent after a preview of exactly this text', async () => {
  await page.press('Notifications', 'link');
  await page.sees('No broadcasts yet.');
  assert.ok(!(await buttons(page)).some((b) => /^Send to|^Schedule/.test(b)));
  await write(page, { title: 'Hello {{first_name}}', message: 'A new version is out.' });
  await page.press('Preview');
  await page.sees('There are 4 accounts.');
  await page.sees('4 will get the broadcast by e-mail, 0 by push and 4 in the inbox');
  await page.sees('Hello alice');
  await (await page.waitForSelector('summary')).click();
  await page.sees('You received this e-mail because');
  assert.ok(!(await page.text()).includes('{{unsubscribe_url}}'));
  assert.deepEqual(await page.faults(), []);
  assert.ok(await page.overflow() <= 0);
  await page.shot('broadcast-check');
  assert.ok((await buttons(page)).includes('Send to 4 accounts'));
  await write(page, { message: 'Another text.' });
  assert.ok(!(await buttons(page)).includes('Send to 4 accounts'), 'editing the text invalidates the preview');
  assert.equal((await broadcasts()).length, 0);
});

test('a test is sent only to the admin', async () => {
  await page.press('Send a test to me');
  await page.sees('The test message is on its way to you.');
  await waitFor('the e-mail', () => recipientsOf('Hello alice').length === 1);
  assert.equal((await broadcasts()).length, 0);
});

test('a broadcast to all accounts shows its progress', async () => {
  await page.press('Preview');
  await page.press('Send to 4 accounts');
  await page.sees('The broadcast has started.');
  await page.sees('4 of 4 accounts done.', 30000);
  await waitFor('the e-mails', () => ['ann', 'bob', 'cat'].every((n) => recipientsOf(`Hello ${n}`).length === 1));
  assert.equal(await page.evaluate(() => document.querySelector('progress').value), 4);
  assert.equal(await page.evaluate(() => document.querySelector('form [name=title]').value), '', 'the form is cleared');
  const [b] = await broadcasts();
  assert.deepEqual([b.status, b.written], ['completed', 4]);
  assert.ok(!(await buttons(page)).some((x) => /^(Pause|Cancel|Resume): Hello/.test(x)), 'a completed broadcast has no controls');
  assert.deepEqual(await page.faults(), []);
});

test('errors from the server are shown', async () => {
  await write(page, { title: ' ' });
  await page.press('Preview');
  await page.sees('produces an empty title');
});

test('a broadcast can be scheduled, paused, resumed and cancelled', async () => {
  await write(page, { title: 'Later', message: 'At night.' });
  await setTime(page, new Date(Date.now() + 3600000));
  await page.press('Preview');
  await page.press('Schedule for 4 accounts');
  await page.sees('The broadcast is scheduled.');
  await page.sees('Scheduled');
  await page.sees('No account has been reached yet.');
  const state = async () => (await broadcasts())[0].status;
  assert.equal(await state(), 'scheduled');
  await page.press('Pause: Later');
  await page.sees('Paused');
  assert.equal(await state(), 'paused');
  await page.press('Resume: Later');
  await waitFor('the broadcast to be scheduled again', async () => (await state()) === 'scheduled');
  await page.press('Cancel: Later');
  await page.press('Keep it');
  assert.equal(await state(), 'scheduled', 'declining the confirmation keeps the broadcast');
  await page.press('Cancel: Later');
  await page.shot('broadcast-cancel');
  assert.deepEqual(await page.faults(), []);
  await page.press('Cancel the broadcast');
  await page.sees('Cancelled');
  assert.equal(await state(), 'cancelled');
  assert.deepEqual(recipientsOf('Later'), []);
});

test('a broadcast that waits in the outbox can still be cancelled', async () => {
  smtp.faults.rcpt = () => [451, '4.3.0 Not now'];
  await write(page, { title: 'Held', message: 'x' });
  db.sql(`insert into notifications.preference (account_id, quiet_from, quiet_to, time_zone) select id, '00:00', '23:59', 'UTC' from accounts.ids_after(null, 100) id
    on conflict (account_id) do update set quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to`);
  await page.press('Preview');
  await page.press('Send to 4 accounts');
  await page.sees('0 of 4 accounts done.');
  await page.sees('Waiting: 4');
  await page.press('Cancel: Held');
  await page.press('Cancel the broadcast');
  await waitFor('the cancellation', async () => (await broadcasts())[0].status === 'cancelled');
  db.sql(`update notifications.preference set quiet_from = null, quiet_to = null`);
  db.sql(`update core.job set run_at = now() where kind = 'notifications.deliver' and state = 3`);
  await page.sees('Cancelled: 4');
  delete smtp.faults.rcpt;
  assert.deepEqual(recipientsOf('Held'), []);
  assert.deepEqual(page.complaints, []);
});

test('on a phone in dark mode', async () => {
  const small = await browser.of(server, admin, { viewport: phone, scheme: 'dark' });
  await small.goto(`${server.url}/console#/notifications`);
  await small.sees('Held');
  await write(small, { title: 'Small', message: 'Screen' });
  await small.press('Preview');
  await small.sees('There are 4 accounts.');
  assert.deepEqual(await small.faults(), []);
  assert.ok(await small.overflow() <= 0);
  await small.shot('broadcast-phone');
  assert.deepEqual(small.complaints, []);
  await small.leave();
});

test('users who are not admins do not see the page', async () => {
  const user = await server.user({ email: 'dan@example.test' });
  const other = await browser.of(server, user);
  await other.waitForSelector('.bell');
  assert.doesNotMatch(await other.evaluate(() => document.querySelector('nav').innerText), /Notifications/);
  await other.goto(`${server.url}/console#/notifications`);
  await waitFor('an empty page', async () => (await other.evaluate(() => document.querySelector('main').innerText.trim())) === '');
  await other.leave();
});
