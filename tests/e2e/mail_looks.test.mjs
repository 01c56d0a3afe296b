// Every kind of e-mail, rendered in Chromium in light and dark mode and at the width of a phone. RY_SCREENSHOTS=DIR
// saves screenshots.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startBrowser } from './lib/console.mjs';
import { lastUser, startLlm } from './lib/llm.mjs';
import { password } from './lib/login.mjs';
import { Client, Server, freePort, makeDatabase, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';
import { webhookHeaders } from './lib/tokens.mjs';

const views = [
  { name: 'light', width: 1000, scheme: 'light' }, { name: 'dark', width: 1000, scheme: 'dark' },
  { name: 'phone', width: 390, scheme: 'light' }, { name: 'phone-dark', width: 390, scheme: 'dark' },
];
const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`;
let db, smtp, llm, server, browser, app, provider;
const mails = new Map();  // by kind

before(async () => {
  smtp = await startSmtp({ starttls: false });
  llm = await startLlm((request, reply) => {
    if (lastUser(request).startsWith('Publish')) return reply.tools([{ id: 'c1', name: 'shell', arguments: { command: `git push origin main --force\n# ${'a-very-long-word-without-blanks'.repeat(5)}`, timeout: 60 } }]);
    reply.text('# The quarterly numbers\n\n- Revenue: 12.3 M\n- Costs: 9.8 M\n\nMargins improved in all regions.');
    return reply.end();
  });
  db = makeDatabase();
  const port = await freePort();
  app = `http://127.0.0.1:${port}`;
  server = new Server({ database: db, llm, set: [`http.listen=127.0.0.1:${port}`, `http.public_url=${app}`], settings: `
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
[accounts.identity_webhook]
secrets = ["${webhookSecret}"]
[notifications]
allowed_modes = ["local"]
[referrals]
app_url = "${app}"
[[runs.tool_policy]]
match = "shell"
action = "ask"
` });
  await server.start();
  browser = await startBrowser();
  provider = createServer((_, reply) => reply.end('confirmed'));
  await new Promise((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  provider?.close();
  provider?.closeAllConnections();
  await browser?.close();
  await server?.close();
  await llm?.close();
  await smtp?.close();
  db?.drop();
});

const post = async (path, body, token) => {
  const r = await fetch(server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify(body) });
  return { status: r.status, json: r.status === 204 ? null : await r.json().catch(() => null) };
};
const waitForMail = (to, pattern) => waitFor(`an e-mail like ${pattern} to ${to}`, () => smtp.to(to).find((m) => pattern.test(m.parsed.subject)), 30000);
const collect = async (kind, to, pattern) => mails.set(kind, await waitForMail(to, pattern));
const tokenOf = (mail, kind) => new RegExp(`/auth#${kind}=([A-Za-z0-9_-]{43})`).exec(mail.parsed.text)[1];

test('every kind of e-mail is sent', async () => {
  const email = 'zoe@example.org';
  const signedUp = await post('/auth/sign-up', { email, password, name: 'Zoë O’Brien-Smith' });
  assert.equal(signedUp.status, 202);
  await collect('confirm', email, /^Confirm/);
  const done = await post('/auth/verify', { token: tokenOf(mails.get('confirm'), 'verify'), proof: signedUp.json.proof });
  assert.equal(done.status, 200, JSON.stringify(done.json));
  await collect('welcome', email, /^Welcome/);
  await post('/auth/sign-up', { email, password });
  await collect('known', email, /already have/);
  await post('/auth/reset', { email });
  await collect('reset', email, /new password/);
  const again = await post('/auth/reset/complete', { token: tokenOf(mails.get('reset'), 'reset'), password: `${password}!` });
  assert.equal(again.status, 200, JSON.stringify(again.json));
  await collect('changed', email, /password was changed/);
  const zoe = new Client(server, again.json.access_token);
  zoe.id = (await zoe.get('/account')).json.id;
  assert.equal((await post('/api/v1/referrals/send', { email: 'friend@example.org' }, zoe.token)).json.success, true);
  await collect('invitation', 'friend@example.org', /invites you/);
  await zoe.start({ prompt: 'Summarise the quarterly numbers, please' });
  await collect('task-completed', email, /is done$/);
  await zoe.start({ prompt: 'Publish the new website, please' });
  await collect('approval-requested', email, /^Approval needed: shell$/);
  const publish = (kind, payload) => db.sql(`select core.event_publish('${kind}', '${zoe.id}', '${JSON.stringify({ account_id: zoe.id, ...payload }).replaceAll("'", "''")}')`);
  const thread = '0190b1e4-0000-7000-8000-000000000001';
  publish('run.failed', { thread_id: thread, title: 'Deploy <b>the</b> "site"', error: 'The model could not be reached.', duration_ms: 61000, charged_micro: 250000 });
  await collect('task-failed', email, /didn't finish$/);
  publish('payment.succeeded', { amount: 19.9, currency: 'EUR', plan_name: 'Pro' });
  await collect('payment-succeeded', email, /Payment received/);
  publish('payment.failed', { amount: 19, currency: 'USD', reason: 'Your card was declined.' });
  await collect('payment-failed', email, /payment of/);
  publish('credits.low', { balance_micro: 50_000_000, threshold_percent: 20 });
  await collect('credits-low', email, /credits left/);
  publish('referral.successful', { referral_id: thread, referrer_id: zoe.id, referred_account_id: thread, credits_awarded: 100 });
  await collect('referral-successful', email, /100 credits/);
  assert.equal((await zoe.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': { digest_minutes: 60 } } } })).status, 200);
  for (const title of ['Summarise the report', 'A very long title of a task that does not fit into one line of a telephone and has-a-very-long-word-without-any-blank-in-it-that-must-not-scroll']) publish('run.completed', { thread_id: thread, title });
  await waitFor('both notifications to be gathered', () => db.sql(`select count(*) from notifications.notification where account_id = '${zoe.id}' and workflow = 'task-completed' and state in ('queued', 'gathered')`) === '2');
  // Turning the digest off releases the gathered notifications.
  await zoe.request('PUT', '/notifications/preferences', { json: { workflows: { 'task-completed': { digest_minutes: 0 } } } });
  await collect('digest', email, /^2 tasks are done/);
  const admin = new Client(server, server.token({ role: 'admin' }));
  const sent = await admin.post('/admin/notifications/trigger', { json: { workflow_id: 'newsletter', broadcast: true,
    payload_template: { title: 'News for {{first_name}}', message: 'Agents are faster now.\nTry it with a long task.', action_url: `${app}/` } } });
  assert.equal(sent.status, 200, sent.text);
  await collect('broadcast', email, /^News for/);
  assert.equal((await zoe.post('/api-keys', { json: { name: 'Laptop' } })).status, 201);
  await collect('new-key', email, /^A new API key/);
  assert.ok((await zoe.request('DELETE', '/auth/sessions')).status < 300);
  await collect('ended', email, /^You were logged out everywhere/);
  assert.equal(mails.size, 17);
});

test('every kind of e-mail for an identity provider is sent', async () => {
  const kinds = { signup: /^Confirm your e-mail address/, invite: /^You have been invited/, magiclink: /^Your log-in link/, recovery: /^Choose a new password/,
    email_change: /^Confirm your new e-mail address/, reauthentication: /^Confirm that it is you/ };
  for (const [action, pattern] of Object.entries(kinds)) {
    const email = `${action}@example.org`;
    const body = JSON.stringify({ user: { id: randomUUID(), email, user_metadata: {} }, email_data: { token: '305805', token_hash: '7d5b7b1964cf5d388340', token_new: '',
      token_hash_new: '', redirect_to: `${app}/`, email_action_type: action, site_url: `http://127.0.0.1:${provider.address().port}` } });
    const created = await new Client(server).post('/auth/webhooks/identity', { body, headers: webhookHeaders(body, webhookSecret) });
    assert.equal(created.status, 200, created.text);
    await collect(`provider-${action}`, email, pattern);
  }
  assert.match(mails.get('provider-reauthentication').parsed.text, /305805/);
  assert.equal(mails.size, 23);
});

// Returns the visual defects of the page: little text, serif fonts, small text, low contrast, links without text.
function inspect() {
  const parse = (css) => { const [r, g, b, a = 1] = css.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
  const luminance = ({ r, g, b }) => {
    const linear = (v) => { const s = v / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const backgroundOf = (e) => {
    for (let ancestor = e; ancestor; ancestor = ancestor.parentElement) { const c = parse(getComputedStyle(ancestor).backgroundColor); if (c.a === 1) return c; }
    return matchMedia('(prefers-color-scheme: dark)').matches ? { r: 18, g: 18, b: 18 } : { r: 255, g: 255, b: 255 };
  };
  const defects = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility({ checkOpacity: true })) continue;
    words += n.data.trim().split(/\s+/).length;
    const style = getComputedStyle(e);
    if (!/sans-serif|monospace/.test(style.fontFamily)) defects.push(`font ${style.fontFamily}: ${n.data.trim()}`);
    if (parseFloat(style.fontSize) < 12) defects.push(`size ${style.fontSize}: ${n.data.trim()}`);
    const a = luminance(parse(style.color)), b = luminance(backgroundOf(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) defects.push(`contrast ${contrast.toFixed(2)}: ${n.data.trim()}`);
  }
  if (words < 12) defects.push(`only ${words} words`);
  for (const a of document.querySelectorAll('a')) if (!a.textContent.trim()) defects.push(`link without text: ${a.outerHTML}`);
  const wide = document.scrollingElement.scrollWidth - innerWidth;
  if (wide > 0) defects.push(`${wide} pixels too wide`);
  return { defects, background: getComputedStyle(document.body).backgroundColor, title: document.title, links: [...document.querySelectorAll('a')].map((a) => a.getAttribute('href')) };
}

test('e-mails have no visual defects in light and dark mode and on a phone, and every link works', async () => {
  const statuses = new Map();
  const works = async (link) => {
    const url = link.includes('/approval-decision') ? link : link.split(/[?#]/)[0];  // the page handles query and fragment
    if (!statuses.has(url)) statuses.set(url, (await fetch(url)).status);
    return statuses.get(url) === 200;
  };
  for (const view of views) {
    const page = await browser.person({ viewport: { width: view.width, height: 900 }, scheme: view.scheme });
    for (const [kind, mail] of mails) {
      await page.setContent(mail.parsed.html);
      const seen = await page.evaluate(inspect);
      assert.deepEqual(seen.defects, [], `${kind}, ${view.name}`);
      assert.equal(seen.background === 'rgb(16, 18, 20)', view.scheme === 'dark', `${kind}, ${view.name}: ${seen.background}`);
      assert.equal(seen.title, mail.parsed.subject, kind);
      for (const link of seen.links) {
        assert.match(link ?? '', /^http:\/\/127\.0\.0\.1:/, `${kind}: ${link}`);
        assert.ok(await works(link), `${kind}: ${link} has status ${statuses.get(link.split(/[?#]/)[0])}`);
        assert.ok(mail.parsed.text.includes(link), `${kind}: the text part lacks ${link}`);
      }
      if (process.env.RY_SCREENSHOTS) {
        mkdirSync(process.env.RY_SCREENSHOTS, { recursive: true });
        await page.screenshot({ path: path.join(process.env.RY_SCREENSHOTS, `mail-${kind}-${view.name}.png`), fullPage: true });
      }
    }
    assert.deepEqual(page.complaints, []);
    await page.leave();
  }
});

test('e-mails state why they were sent and the beginning of the result', () => {
  for (const [kind, { parsed }] of mails) {
    assert.ok(parsed.text.trim().length > 60, kind);
    assert.match(parsed.text, /You received this e-mail/, kind);
    assert.match(parsed.html, /You received this e-mail/, kind);
    assert.ok(!/\{\{|undefined/.test(parsed.text + parsed.html), kind);
  }
  const done = mails.get('task-completed').parsed;
  assert.match(done.text, /Revenue: 12\.3 M[\s\S]*Took \d+ s\./);
  assert.match(done.html, /Revenue: 12\.3 M/);
  assert.match(mails.get('payment-succeeded').parsed.subject, /€19\.90/);
  assert.match(mails.get('credits-low').parsed.subject, /^You have 50 credits left$/);
  for (const kind of ['broadcast', 'invitation', 'task-completed']) assert.ok(mails.get(kind).parsed.headers.get('list')?.unsubscribe?.url, `${kind} lacks List-Unsubscribe`);
  for (const kind of ['confirm', 'reset', 'changed', 'payment-failed']) assert.equal(mails.get(kind).parsed.headers.get('list'), undefined, kind);
});

test('the unsubscribe page names the subscription, asks for confirmation and offers to resubscribe', async () => {
  const url = mails.get('broadcast').parsed.headers.get('list').unsubscribe.url;
  for (const view of views) {
    const page = await browser.person({ viewport: { width: view.width, height: 900 }, scheme: view.scheme });
    await page.goto(url);
    await page.sees('zoe@example.org');
    const seen = await page.evaluate(inspect);
    assert.deepEqual(seen.defects.filter((f) => !f.startsWith('only')), [], view.name);
    assert.deepEqual(await page.faults().then((all) => all.filter((f) => !/^(region|landmark|page-has)/.test(f))), []);
    if (process.env.RY_SCREENSHOTS) await page.screenshot({ path: path.join(process.env.RY_SCREENSHOTS, `page-unsubscribe-${view.name}.png`) });
    await page.press('Unsubscribe');
    await page.sees('You are unsubscribed');
    await page.press('Subscribe again');
    await page.sees('You are subscribed again');
    assert.deepEqual(page.complaints, []);
    await page.leave();
  }
});

test('without http.public_url e-mails have text but no links', async () => {
  const otherDatabase = makeDatabase();
  const s = new Server({ database: otherDatabase, set: ['deployment.mode=staging', 'mail.host=127.0.0.1', `mail.port=${smtp.port}`, 'mail.security=none', 'mail.from=no-reply@example.org'] });
  try {
    await s.start();
    const user = await s.user({ email: 'nowhere@example.org' });
    await user.get('/account');
    otherDatabase.sql(`select core.event_publish('run.completed', '${user.id}', '{"thread_id": "0190b1e4-0000-7000-8000-000000000001", "title": "Poem"}')`);
    const page = await browser.person();
    for (const pattern of [/^Welcome/, /is done$/]) {
      const { parsed } = await waitForMail('nowhere@example.org', pattern);
      await page.setContent(parsed.html);
      const seen = await page.evaluate(inspect);
      assert.deepEqual(seen.defects, []);
      assert.deepEqual(seen.links, []);
      assert.ok(parsed.text.includes(pattern.test('Welcome') ? 'Your account is ready.' : 'Your task "Poem" is done.'));
    }
    await page.leave();
  } finally {
    await s.close();
    otherDatabase.drop();
  }
});
