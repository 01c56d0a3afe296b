// The web console in a real browser: an invitation from the e-mail to the credits, runs with files, stopping, hostile
// model output, and accessibility. RY_SCREENSHOTS=DIR saves screenshots.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { desktop, phone, startBrowser } from './lib/console.mjs';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Client, Server, freePort, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

const password = 'correct horse battery';
const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\n\n[press](javascript:window.hacked=1) '
  + '![pixel](https://tracker.example/x.png) <a href="javascript:window.hacked=1">here</a>\n\n| a | b |\n|---|---|\n| <b>1</b> | `<i>` |\n\n'
  + '```html\n<script>window.hacked=1</script>\n```\n';
let db, smtp, llm, server, browser, dir, release;

const report = `## Apples

The harvest has **three** months. The best was *September*:

| month | kg |
|---|---|
| August | 120 |
| September | 310 |
| October | 95 |

1. Keep the September apples cool.
2. Press the rest.

\`\`\`python
total = sum([120, 310, 95])
\`\`\``;

// One answer in three parts; the first two are truncated at the output limit.
const limited = ['The **harv', 'est** is larg', 'er than last year.'];

async function answer(request, reply) {
  const messages = turns(request);
  const prompt = lastUser(request);
  if (prompt.includes('[hostile]')) return reply.say(hostile);
  if (prompt.includes('[nested]')) return reply.say(`${'- '.repeat(400)}x\n\nThe end of it.`);
  if (prompt.includes('[slow]')) {
    for (let i = 0; i < 400 && !reply.res.destroyed; ++i) { reply.text(`word${i} `); await sleep(50); }
    return reply.end();
  }
  if (prompt.includes('[wait]')) {
    reply.text('The first half. ');
    await new Promise((resolve) => { release = resolve; });
    reply.text('The second half.');
    return reply.end();
  }
  if (request.messages.some((m) => m.role === 'user' && String(m.content).includes('[limit]'))) {
    const before = request.messages.findLast((m) => m.role === 'assistant')?.content ?? '';
    const rest = limited.slice(limited.findIndex((_, n) => limited.slice(0, n).join('') === before));
    reply.text(rest[0]);
    return rest.length > 1 ? reply.truncate() : reply.end();
  }
  if (messages.length === 0) {
    reply.text('I will read the file first.');
    return reply.tools([{ name: 'shell', arguments: { command: 'cat uploads/harvest.csv' } }]);
  }
  for (const piece of report.match(/[\s\S]{1,24}/g)) { reply.text(piece); await sleep(5); }
  return reply.end();
}

before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-console-'));
  writeFileSync(path.join(dir, 'harvest.csv'), 'month,apples_kg\nAugust,120\nSeptember,310\nOctober,95\n');
  smtp = await startSmtp();
  llm = await startLlm(answer);
  db = makeDatabase();
  const port = await freePort();
  server = await new Server({
    database: db, llm, set: [`http.listen=127.0.0.1:${port}`, `http.public_url=http://127.0.0.1:${port}`],
    settings: `
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "runyard@example.org"
[accounts]
local_login = true
[accounts.login]
hash_memory_mib = 8
attempts_per_network = 10000
`,
  }).start();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.close();
  await llm?.close();
  await smtp?.close();
  db?.drop();
  rmSync(dir, { recursive: true, force: true });
});

const linkInMail = (mail) => /(http:\/\/\S+\/auth\S*)/.exec(mail.parsed.text)[1];
const balance = (email) => db.sql(`select accounts.credits(balance_micro) from accounts.account where email = '${email}'`);
async function assertUsable(page, label) {
  assert.deepEqual(await page.faults(), [], label);
  assert.ok(await page.overflow() <= 0, `${label} is wider than the window`);
}
async function signUp(page, email, name) {
  await page.fill('E-mail address', email);
  await page.fill('Password', password);
  if (name) await page.fill('Name (optional)', name);
  await page.press('Sign up');
  await page.sees('Check your inbox');
  const mail = await waitFor('the e-mail', () => smtp.to(email).find((m) => m.parsed.subject.startsWith('Confirm')));
  await page.goto(linkInMail(mail));
  await page.sees('What should the agent do?');
}
async function attach(page, file) {
  const input = await page.waitForSelector('input[type=file]');
  await input.uploadFile(file);
}

describe('a user at a desktop', () => {
  let ann;
  before(async () => { ann = await browser.person(); });
  after(() => ann.leave());

  test('signs up and is logged in', async () => {
    await ann.goto(`${server.url}/auth`);
    await ann.sees('Log in');
    await assertUsable(ann, 'log in');
    await ann.shot('desktop-log-in');
    await ann.press('Create an account');
    await assertUsable(ann, 'sign up');
    await signUp(ann, 'ann@example.org', 'Ann Bee');
    assert.equal(new URL(ann.url()).hash, '#/', 'the token of the link is removed from the URL');
    await assertUsable(ann, 'new run');
    await ann.shot('desktop-new-run');
  });

  test('starts a run with a file and watches it', async () => {
    await ann.fill('Task', 'Read the attached harvest and tell me what is in it.');
    await attach(ann, path.join(dir, 'harvest.csv'));
    await ann.sees('harvest.csv');
    await ann.press('Start');
    await ann.sees('I will read the file first.');
    await ann.waitForSelector('.chips li');
    await ann.sees('Press the rest.');
    await ann.sees('Completed');
    const details = await ann.$('details.tool');
    await details.$eval('summary', (s) => s.click());
    await ann.sees('September,310');
    assert.equal(await ann.$$eval('.prose table td', (all) => all.length), 6);
    await assertUsable(ann, 'a completed run');
    await ann.shot('desktop-run');
    await ann.evaluate(() => scrollTo(0, 0));
    await ann.shot('desktop-run-top');
  });

  test('continues in the same thread and sees everything after a reload', async () => {
    await ann.fill('Next prompt', 'And once more?');
    await ann.press('Start');
    await ann.waitForFunction(() => document.querySelectorAll('.status.completed').length === 2);
    await ann.reload();
    await ann.sees('Press the rest.');
    assert.equal(await ann.$$eval('.turn', (all) => all.length), 2);
    assert.equal(await ann.$$eval('details.tool', (all) => all.length), 2);
  });

  test('stops a run', async () => {
    await ann.goto(`${server.url}/console#/`);
    await ann.fill('Task', '[slow] Count.');
    await ann.press('Start');
    await ann.sees('word12');
    await assertUsable(ann, 'a running run');
    await ann.shot('desktop-running');
    await ann.press('Stop');
    await ann.sees('Stopped');
    assert.equal(db.sql(`select status from runs.runs order by id desc limit 1`), 'stopped');
  });

  test('an answer continued after the output limit is shown as one text, live and after a reload', async () => {
    await ann.goto(`${server.url}/console#/`);
    await ann.fill('Task', '[limit] How large is the harvest?');
    await ann.press('Start');
    await ann.sees('Completed');
    for (const when of ['live', 'after a reload']) {
      const texts = await ann.$$eval('.run .prose', (all) => all.map((p) => p.innerText.trim()));
      assert.deepEqual(texts, ['The harvest is larger than last year.'], when);
      await ann.reload();
      await ann.sees('larger than last year');
    }
  });

  test('after a lost connection the stream resumes without duplicates', async () => {
    await ann.goto(`${server.url}/console#/`);
    await ann.fill('Task', '[wait] Tell.');
    await ann.press('Start');
    await ann.sees('The first half.');
    await ann.setOfflineMode(true);
    await sleep(300);
    release();
    await sleep(700);
    await ann.setOfflineMode(false);
    await ann.sees('The second half.', 60000);
    await ann.sees('Completed');
    const text = await ann.$eval('.run', (r) => r.innerText);
    assert.equal(text.split('The first half.').length, 2, text);
  });

  test('retrying a start whose response was lost creates one run; starting again creates another', async () => {
    await ann.goto(`${server.url}/console#/`);
    const cdp = await ann.createCDPSession();
    await cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*/agent/start', requestStage: 'Response' }] });
    const responseLost = new Promise((resolve) => cdp.once('Fetch.requestPaused', (e) => cdp.send('Fetch.failRequest', { requestId: e.requestId, errorReason: 'ConnectionReset' }).then(resolve)));
    await ann.fill('Task', 'Only once, please.');
    await ann.press('Start');
    await responseLost;
    await ann.sees('The server cannot be reached');
    await assertUsable(ann, 'a start whose response was lost');
    await cdp.send('Fetch.disable');
    await ann.press('Start');
    await ann.sees('Completed');
    const runs = () => db.sql(`select count(*) from runs.messages where role = 'user' and body like '%Only once%'`);
    assert.equal(runs(), '1');
    await ann.goto(`${server.url}/console#/`);
    await ann.fill('Task', 'Only once, please.');
    await ann.press('Start');
    await ann.sees('Completed');
    assert.equal(runs(), '2');
  });

  test('model output never becomes HTML', async () => {
    await ann.goto(`${server.url}/console#/`);
    await ann.fill('Task', '[hostile] <img src=x onerror="window.hacked=1">');
    await ann.press('Start');
    await ann.sees('Completed');
    for (const when of ['live', 'from the thread']) {
      assert.equal(await ann.evaluate(() => window.hacked), undefined, when);
      assert.equal(await ann.$$eval('.run img, .run script, .run b, .asked img', (all) => all.length), 0, when);
      assert.deepEqual(await ann.$$eval('.run a', (all) => all.map((a) => `${a.href} ${a.rel} ${a.target}`)),
        ['https://tracker.example/x.png noopener noreferrer nofollow _blank'], when);
      assert.match(await ann.text(), /<script>window\.hacked=1<\/script>/, when);
      await ann.reload();
      await ann.sees('onerror');
    }
  });

  test('a deeply nested answer is shown', async () => {
    await ann.goto(`${server.url}/console#/`);
    await ann.fill('Task', '[nested] Write.');
    await ann.press('Start');
    await ann.sees('Completed');
    await ann.sees('The end of it.');
    await ann.reload();
    await ann.sees('The end of it.');
    await ann.sees('Next prompt');
  });

  test('a rendering error of one part does not affect the rest of the page', async () => {
    const broken = await ann.evaluateOnNewDocument(() => {
      const all = String.prototype.matchAll;
      String.prototype.matchAll = function (pattern) {
        if (this.includes('[undrawable]')) throw new RangeError('cannot be drawn');
        return all.call(this, pattern);
      };
    });
    await ann.goto(`${server.url}/console#/`);
    await ann.reload();
    await ann.fill('Task', '[undrawable] [nested] Write.');
    await ann.press('Start');
    await ann.sees('This part could not be shown.');
    await ann.sees('The end of it.');
    await ann.removeScriptToEvaluateOnNewDocument(broken.identifier);
    await ann.reload();
    await ann.sees('[undrawable]');
  });

  test('threads, account, sessions', async () => {
    await ann.press('Threads', 'link');
    await ann.sees('Read the attached harvest');
    await assertUsable(ann, 'threads');
    await ann.shot('desktop-threads');
    await ann.press('Account', 'link');
    await ann.sees('this session');
    await assertUsable(ann, 'account');
    await ann.shot('desktop-account');
  });

  test('a rate-limited token refresh does not end the session', async () => {
    const rateLimit = (request) => (new URL(request.url()).pathname.endsWith('/auth/refresh')
      ? request.respond({ status: 429, contentType: 'application/json', headers: { 'retry-after': '1' }, body: '{"detail":"Too many requests, try again later"}' })
      : request.continue());
    await ann.setRequestInterception(true);
    ann.on('request', rateLimit);
    await ann.goto(`${server.url}/console#/`);
    await ann.reload();
    await ann.sees('Too many requests, try again later');
    ann.off('request', rateLimit);
    await ann.setRequestInterception(false);
    await ann.reload();
    await ann.sees('What should the agent do?');
  });

  test('works with the keyboard alone', async () => {
    await ann.goto(`${server.url}/console#/`);
    await ann.sees('What should the agent do?');
    // Navigation moves the focus to the heading of the new page.
    const focused = (tag) => waitFor(`the focus on ${tag}`, () => ann.evaluate((t) => document.activeElement.tagName === t, tag), 5000);
    await focused('H1');
    await ann.keyboard.press('Tab');
    await focused('TEXTAREA');
    await ann.keyboard.type('Once more, by the keyboard.');
    await ann.keyboard.press('Tab');
    assert.equal(await ann.evaluate(() => document.activeElement.type), 'file');
    await ann.keyboard.down('Control');
    await ann.keyboard.press('Enter');
    await ann.keyboard.up('Control');
    await ann.focus('textarea');
    await ann.keyboard.down('Control');
    await ann.keyboard.press('Enter');
    await ann.keyboard.up('Control');
    await ann.sees('Completed');
    await ann.evaluate(() => document.querySelector('.skip').focus());
    await ann.keyboard.press('Enter');
    await focused('H1');
  });

  test('logs out and logs in again', async () => {
    await ann.press('Account', 'link');
    await ann.press('Log out');
    await ann.sees('Log in');
    await ann.goto(`${server.url}/console`);
    await ann.sees('Log in');
    await ann.fill('E-mail address', 'ann@example.org');
    await ann.fill('Password', 'a wrong password');
    await ann.press('Log in');
    await ann.sees('Wrong e-mail address or password');
    await assertUsable(ann, 'a rejected login');
    await ann.shot('desktop-refused');
    await ann.fill('Password', password);
    await ann.press('Log in');
    await ann.sees('What should the agent do?');
  });

  test('resets a forgotten password', async () => {
    const page = await browser.person();
    await page.goto(`${server.url}/auth`);
    await page.press('Forgot your password?');
    await page.fill('E-mail address', 'ann@example.org');
    await page.press('Send the link');
    await page.sees('Check your inbox');
    const mail = await waitFor('the e-mail', () => smtp.to('ann@example.org').find((m) => m.parsed.subject === 'Choose a new password'));
    await page.goto(linkInMail(mail));
    await page.fill('New password', 'the next password');
    await page.press('Save and log in');
    await page.sees('What should the agent do?');
    assert.deepEqual(page.complaints, []);
    await page.leave();
    await ann.goto(`${server.url}/console#/threads`);
    await ann.reload();
    await ann.sees('Log in');
  });

  test('the browser reported no errors', () => assert.deepEqual(ann.complaints, []));
});

describe('an invitation', () => {
  test('A invites B; B opens the link, signs up and verifies; both get 100 credits; A sees the referral', async () => {
    const a = await browser.person();
    await a.goto(`${server.url}/auth`);
    await a.press('Create an account');
    await signUp(a, 'alice@example.org', 'Alice');
    const before = Number(balance('alice@example.org'));
    await a.press('Referrals', 'link');
    await a.fill('E-mail addresses', 'bob@example.org');
    await a.press('Send invitations');
    const mail = await waitFor('the invitation', () => smtp.to('bob@example.org')[0]);
    await a.sees('Sent 1 of 1 invitations');
    await assertUsable(a, 'referrals');
    await a.shot('desktop-invited');
    const link = linkInMail(mail);
    assert.match(link, /\/auth\?ref=[A-Z2-9]{8}$/);
    assert.equal(await a.$eval('#link', (i) => i.value), link, 'the page shows the same link');
    assert.equal(await a.$eval('#emails', (t) => t.value), '', 'no rejected addresses remain');
    await a.fill('E-mail addresses', 'carl@example.org, no address');
    await a.press('Send invitations');
    await a.sees('Sent 1 of 3 invitations');
    assert.equal(await a.$eval('#emails', (t) => t.value), 'no\naddress');

    const b = await browser.person({ viewport: phone });
    await b.goto(link);
    await b.sees('You were invited');
    await b.sees(new URL(link).searchParams.get('ref'));
    await assertUsable(b, 'an invitation on a phone');
    await b.shot('phone-invited');
    await signUp(b, 'bob@example.org', 'Bob');
    await waitFor('both accounts to get their credits', () => Number(balance('alice@example.org')) === before + 100 && Number(balance('bob@example.org')) === before + 100);
    await b.press('Referrals', 'link');
    await b.sees('Your link');
    await b.sees('You received 100 credits for signing up with a referral code.');
    await assertUsable(b, 'referrals of a referee');
    await b.shot('phone-referrals');
    const original = db.sql(`select status, settled_at, credits_awarded, referee_credits from referrals.referral`).split('|');
    db.sql(`update referrals.referral set review = 'flagged', status = 'pending', settled_at = null, credits_awarded = 0, referee_credits = 0`);
    await b.reload();
    await b.sees('Your 100 credits are pending.');
    await b.sees('Your referral is being reviewed.');
    db.sql(`update referrals.referral set review = null, status = '${original[0]}', settled_at = '${original[1]}', credits_awarded = ${original[2]}, referee_credits = ${original[3]}`);

    await a.reload();
    await a.sees('Successful');
    await a.sees('1 of 1');
    assert.equal(await a.$eval('td.number', (td) => td.innerText), '100');
    await assertUsable(a, 'history of referrals');
    await a.shot('desktop-referrals');

    // More than one page of referrals through the old link.
    db.sql(`insert into referrals.referral (referrer_id, referred_account_id, code_id, void_reason, voided_at, referred_at)
      select r.referrer_id, gen_random_uuid(), r.code_id, 'code_refreshed', now(), now() - interval '1 day' - n * interval '1 minute' from referrals.referral r, generate_series(1, 60) n`);
    await a.reload();
    await a.sees('The code was refreshed before this referral counted.');
    await a.sees('Does not count');
    assert.equal((await a.$$('tbody tr')).length, 50);
    await a.press('More');
    await a.waitForFunction(() => document.querySelectorAll('tbody tr').length === 61);
    assert.equal(await a.$('section > button'), null, 'there are no more pages');
    await assertUsable(a, 'a long history');
    await a.evaluate(() => scrollTo(0, 0));
    await a.shot('desktop-reasons');
    db.sql(`delete from referrals.referral where void_reason = 'code_refreshed'`);

    const admin = new Client(server, server.token({ role: 'admin' }));
    const id = db.sql('select id from referrals.referral');
    assert.equal((await admin.post(`/admin/referrals/${id}/revoke`, { json: { reason: 'test' } })).status, 200);
    await a.reload();
    await a.sees('This referral was revoked.');
    await a.sees('0 of 1');
    assert.equal(await a.$eval('td.number', (td) => td.innerText), '0');
    await assertUsable(a, 'why a referral does not count');
    await a.shot('desktop-revoked');
    await b.reload();
    await b.sees('you will not receive credits for it');
    await b.sees('The referral code was not valid any more.');
    assert.deepEqual([...a.complaints, ...b.complaints], []);
    await a.leave();
    await b.leave();
  });
});

describe('on a phone in dark mode', () => {
  test('signs up on another device than the one that reads the e-mail, runs an agent, and opens all pages', async () => {
    const signUpPage = await browser.person({ viewport: desktop });
    await signUpPage.goto(`${server.url}/auth?ref=NOSUCH22`);
    await signUpPage.sees('is no longer valid');
    await signUpPage.fill('E-mail address', 'cleo@example.org');
    await signUpPage.fill('Password', password);
    await signUpPage.press('Sign up');
    await signUpPage.sees('Check your inbox');
    await signUpPage.leave();

    const page = await browser.person({ viewport: phone, scheme: 'dark' });
    const mail = await waitFor('the e-mail', () => smtp.to('cleo@example.org')[0]);
    await page.goto(linkInMail(mail));
    await page.sees('enter the password that you chose');
    await assertUsable(page, 'confirm');
    await page.shot('phone-confirm');
    await page.fill('Password', password);
    await page.press('Confirm and log in');
    await page.sees('What should the agent do?');
    await assertUsable(page, 'new run');
    await page.shot('phone-new-run');
    await page.fill('Task', 'Read the attached harvest and tell me what is in it.');
    await attach(page, path.join(dir, 'harvest.csv'));
    await page.press('Start');
    await page.sees('Completed');
    await assertUsable(page, 'run');
    await page.shot('phone-run');
    for (const section of ['Threads', 'Referrals', 'Account']) {
      await page.press(section, 'link');
      await page.waitForFunction((t) => document.querySelector('h1')?.innerText === t && !document.body.innerText.includes('Loading'), {}, section);
      await assertUsable(page, section);
      await page.shot(`phone-${section.toLowerCase()}`);
    }
    assert.deepEqual(page.complaints, []);
    await page.leave();
  });
});

describe('without local login', () => {
  test('the page accepts a token', async () => {
    const database = makeDatabase();
    const plain = await new Server({ database, llm }).start();
    const page = await browser.person();
    try {
      await page.goto(plain.url);
      await page.sees('identity provider');
      await assertUsable(page, 'token');
      await page.fill('Access token or API key', 'nonsense');
      await page.press('Log in');
      await page.sees('not accepted');
      await page.fill('Access token or API key', plain.token());
      await page.press('Log in');
      await page.sees('What should the agent do?');
      await page.reload();
      await page.sees('What should the agent do?');
      assert.deepEqual(page.complaints, []);
    } finally {
      await page.leave();
      await plain.close();
      database.drop();
    }
  });
});
