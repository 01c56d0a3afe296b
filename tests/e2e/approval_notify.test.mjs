// Notifications about approvals: inbox, e-mail and push message, and the link with which a person decides once, without
// logging in.
import assert from 'node:assert/strict';
import { createECDH, createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';
import ece from 'http_ece';
import { startBrowser } from './lib/console.mjs';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, freePort, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

let database, smtp, llm, server, push, browser;
const keys = createECDH('prime256v1');
keys.generateKeys();
const auth = randomBytes(16);

before(async () => {
  database = makeDatabase();
  smtp = await startSmtp({ starttls: false });
  push = http.createServer((req, res) => {
    const parts = [];
    req.on('data', (c) => parts.push(c)).on('end', () => { push.messages.push({ path: req.url, body: Buffer.concat(parts) }); res.writeHead(201).end(); });
  });
  push.messages = [];
  await new Promise((r) => push.listen(0, '127.0.0.1', r));
  llm = await startLlm(async (request, reply) => {
    const done = turns(request).filter((m) => m.role === 'tool');
    if (done.length) return reply.say(`results: ${done.map((m) => m.content).join(' | ')}`);
    return reply.tools([{ id: 'c1', name: 'shell', arguments: { command: lastUser(request), limit: 1e308 } }]);
  });
  const port = await freePort();
  server = await new Server({ database, llm, set: [`http.listen=127.0.0.1:${port}`, `http.public_url=http://127.0.0.1:${port}`], settings: `
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "runyard@example.org"
[notifications]
allowed_modes = ["local"]
[[runs.tool_policy]]
match = "shell"
action = "ask"
` }).start();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.close();
  await llm?.close();
  await smtp?.close();
  push?.closeAllConnections();
  push?.close();
  database?.drop();
});

let people = 0;
const person = async (name, { verified = true } = {}) => {
  const email = `${name}${++people}@example.org`;
  const user = await server.user({ email, tier: 'pro' });
  if (verified) database.sql(`update accounts.account set verified_at = now() where id = '${user.id}'`);
  return Object.assign(user, { email });
};
// Starts a run that waits for an approval.
async function ask(user, command) {
  const started = await user.start({ prompt: command });
  assert.equal(started.status, 200, started.text);
  const { events } = await user.stream(started.json.agent_run_id, { until: (e) => e.type === 'approval_requested' });
  return { run: started.json.agent_run_id, thread: started.json.thread_id, approval: events.at(-1).approval_id };
}
const mailsTo = (user) => smtp.to(user.email).filter((m) => /^Approval needed/.test(m.parsed.subject));
const mailTo = (user, n = 1) => waitFor(`e-mail ${n} to ${user.email}`, () => mailsTo(user)[n - 1], 30000);
const linkIn = (mail) => /http:\/\/127\.0\.0\.1:\d+\/approval-decision\?link=[A-Za-z0-9_-]{43}/.exec(mail.parsed.text)[0];
const decideBy = (link, fields) => fetch(link, { method: 'POST', body: new URLSearchParams(fields) });
const statusOf = (approval) => database.sql(`select status from runs.approvals where id = '${approval}'`);
const notificationOf = (approval) => database.sql(`select n.state || ' ' || n.reason from notifications.notification n join notifications.approval a on a.notification_id = n.id where a.approval_id = '${approval}'`);
const inboxOf = async (user) => (await user.get('/notifications/inbox')).json.notifications.filter((n) => n.workflow_id === 'approval-requested');

test('an approval is announced in the inbox, by e-mail and by push; the link approves once', async () => {
  const ann = await person('ann');
  assert.equal((await ann.post('/notifications/device-token', { json: { provider: 'web-push', device_type: 'web', device_token: JSON.stringify({
    endpoint: `http://127.0.0.1:${push.address().port}/ann`, keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') } }) } })).status, 200);
  const { run, approval } = await ask(ann, 'echo "<b>hello</b>" >> n; cat n');
  const mail = await mailTo(ann);
  assert.equal(mail.parsed.subject, 'Approval needed: shell');
  assert.match(mail.parsed.text, /command: echo "<b>hello<\/b>" >> n; cat n\nlimit: 1E308\n/);
  assert.match(mail.parsed.text, /Without a decision by \d{4}-\d\d-\d\d \d\d:\d\d UTC, the call is denied\./);
  assert.match(mail.parsed.html, /echo &quot;&lt;b&gt;hello/);
  const listed = (await ann.get('/approvals')).text;
  assert.match(listed, /"limit":1E308/, 'a huge number is shown as it is stored');
  const link = linkIn(mail);
  const [entry] = await waitFor('the inbox entry', async () => { const all = await inboxOf(ann); return all.length && all; });
  assert.equal(entry.read, false);
  assert.equal(entry.payload.approval_id, approval);
  assert.ok(!JSON.stringify(entry).includes('approval-decision'), 'the inbox has no link that decides');
  const pushed = await waitFor('the push message', () => push.messages.find((m) => m.path === '/ann'));
  const message = JSON.parse(ece.decrypt(pushed.body, { version: 'aes128gcm', privateKey: keys, authSecret: auth }).toString('utf8'));
  assert.equal(message.decision_url, link);
  assert.match(message.body, /echo "<b>hello/);

  // Mail scanners open links, some of them with HEAD.
  for (const method of ['GET', 'HEAD', 'GET']) {
    const page = await fetch(link, { method });
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('cache-control'), 'no-store');
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
    assert.match(page.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/);
    if (method === 'GET') assert.match(await page.text(), /command: echo &quot;&lt;b&gt;hello/);
  }
  assert.equal(statusOf(approval), 'pending');

  const made = await decideBy(link, { decision: 'approve' });
  assert.equal(made.status, 200);
  assert.match(await made.text(), /You approved the call/);
  const { events } = await ann.stream(run);
  assert.match(textOf(events), /^results: <b>hello<\/b>\n/);
  assert.equal(events.filter((e) => e.type === 'tool_result').length, 1);
  for (const decision of ['approve', 'deny']) {
    const again = await decideBy(link, { decision });
    assert.equal(again.status, 410);
    assert.match(await again.text(), /already used/);
  }
  const used = await fetch(link);
  assert.equal(used.status, 410);
  assert.ok(!(await used.text()).includes('hello'), 'a used link no longer shows the call');
  await waitFor('the inbox entry is read', async () => (await inboxOf(ann))[0].read);
  assert.equal((await inboxOf(ann))[0].payload.status, 'approved');

  // Only the hash of the token is stored.
  const token = link.split('link=')[1];
  assert.equal(database.sql(`select encode(token_hash, 'hex') from runs.approval_links where approval_id = '${approval}'`), createHash('sha256').update(token).digest('hex'));
  const tables = database.sql(`select string_agg(format('select %L where exists (select 1 from %I.%I t where t::text like %L)', table_schema || '.' || table_name, table_schema, table_name, '%${token}%'), ' union all ')
    from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`);
  assert.equal(database.sql(tables), '');
  assert.ok(!server.log.includes(token));
  assert.equal(database.sql(`select count(*) from core.event where kind = 'approval.requested' and payload->>'approval_id' = '${approval}'`), '1');
  assert.equal(mailsTo(ann).length, 1);
});

test('the link denies with a reason, and nothing else', async () => {
  const bob = await person('bob'), eve = await person('eve');
  const first = await ask(bob, 'echo one'), other = await ask(eve, 'echo two');
  const link = linkIn(await mailTo(bob)), otherLink = linkIn(await mailTo(eve));
  for (const fields of [{}, { decision: 'maybe' }, { decision: 'approve%' + 'zz' }, { reason: 'x' }]) {
    const unclear = await decideBy(link, fields);
    assert.equal(unclear.status, 422);
    assert.match(await unclear.text(), /No decision was made/);
  }
  assert.equal(statusOf(first.approval), 'pending');
  const made = await decideBy(link, { decision: 'deny', reason: 'not <today>', remember: 'agent', arguments: '{"command":"echo three"}' });
  assert.equal(made.status, 200);
  assert.match(await made.text(), /You denied the call/);
  assert.match(textOf((await bob.stream(first.run)).events), /the user denied it with the reason: not <today>/);
  assert.equal(database.sql(`select remember || ' ' || (new_arguments is null) from runs.approvals where id = '${first.approval}'`), 'none true');
  assert.equal(statusOf(other.approval), 'pending');
  const token = otherLink.split('link=')[1];
  for (const request of [bob.get('/approvals', { headers: { authorization: `Bearer ${token}` } }), fetch(`${server.url}/approvals?token=${token}`), fetch(`${server.url}/approvals`, { headers: { authorization: `Bearer ${token}` } })])
    assert.ok([200, 401].includes((await request).status));
  assert.equal((await fetch(`${server.url}/approvals`, { headers: { authorization: `Bearer ${token}` } })).status, 401);
  for (const unknown of ['', '?link=', `?link=${'A'.repeat(43)}`, `?link=${token}x`, '?link=%00']) {
    const page = await fetch(`${server.url}/approval-decision${unknown}`);
    assert.equal(page.status, 404, unknown);
    assert.match(await page.text(), /This link does not work/);
    assert.equal((await decideBy(`${server.url}/approval-decision${unknown}`, { decision: 'approve' })).status, 404);
  }
  await eve.post(`/agent-run/${other.run}/stop`);
  const cancelled = await fetch(otherLink);
  assert.equal(cancelled.status, 410);
  assert.match(await cancelled.text(), /was cancelled/);
  assert.equal((await decideBy(otherLink, { decision: 'approve' })).status, 410);
  await waitFor('the inbox entry is read', async () => (await inboxOf(eve))[0].read);
});

test('a link and the API decide at the same time: one decision applies', async () => {
  const user = await person('race');
  for (let i = 0; i < 4; ++i) {
    const { run, approval } = await ask(user, `echo ${i}`);
    const link = linkIn(await mailTo(user, i + 1));
    const [byLink, byApi] = await Promise.all([decideBy(link, { decision: 'approve' }), user.post(`/approvals/${approval}`, { json: { decision: 'deny' } })]);
    assert.deepEqual([byLink.status, byApi.status].sort(), byLink.status === 200 ? [200, 409] : [200, 410]);
    assert.equal(statusOf(approval), byLink.status === 200 ? 'approved' : 'denied');
    const { events } = await user.stream(run);
    assert.equal(events.filter((e) => e.type === 'approval_resolved').length, 1);
    if (byLink.status !== 200) assert.match(await (await fetch(link)).text(), /The call was denied\. The decision was made without this link\./);
  }
});

test('a link expires with its approval', async () => {
  const user = await person('late');
  const { run, approval } = await ask(user, 'echo late');
  const link = linkIn(await mailTo(user));
  database.sql(`update runs.approvals set expires_at = now() where id = '${approval}'`);
  for (const request of [fetch(link), decideBy(link, { decision: 'approve' }), fetch(link)]) {
    const page = await request;
    assert.equal(page.status, 410);
    assert.match(await page.text(), /has expired/);
  }
  assert.equal(statusOf(approval), 'pending', 'the job that ends expired approvals runs each minute');
  await user.post(`/agent-run/${run}/stop`);
});

test('an approval that is decided before the delivery is not announced', async () => {
  const user = await person('quiet');
  const now = new Date(), at = (hours) => new Date(now.getTime() + hours * 3600e3).toISOString().slice(11, 16);
  const quiet = (value) => user.request('PUT', '/notifications/preferences', { json: { quiet_hours: value } });
  assert.equal((await quiet({ from: at(-2), to: at(2) })).status, 200);
  const decided = await ask(user, 'echo decided'), stopped = await ask(user, 'echo stopped'), open = await ask(user, 'echo open');
  for (const { approval } of [decided, stopped, open]) await waitFor('the notification', () => notificationOf(approval) === 'queued');
  await user.post(`/approvals/${decided.approval}`, { json: { decision: 'approve' } });
  await user.post(`/agent-run/${stopped.run}/stop`);
  for (const { approval } of [decided, stopped]) await waitFor('the notification ends', () => notificationOf(approval) === 'suppressed The approval no longer waits for a decision');
  assert.equal((await quiet(null)).status, 200);
  assert.match((await mailTo(user)).parsed.text, /echo open/);
  await sleep(300);
  assert.equal(mailsTo(user).length, 1);
  await user.post(`/approvals/${open.approval}`, { json: { decision: 'deny' } });
});

test('a digest has a link for each approval', async () => {
  const user = await person('digest');
  const digest = (minutes) => user.request('PUT', '/notifications/preferences', { json: { workflows: { 'approval-requested': { digest_minutes: minutes } } } });
  assert.equal((await digest(60)).status, 200);
  const all = [await ask(user, 'echo 1'), await ask(user, 'echo 2'), await ask(user, 'echo 3')];
  for (const { approval } of all) await waitFor('the notification', () => /^(queued|gathered)$/.test(notificationOf(approval)));
  // The one that the others joined; it need not be that of the first run.
  const first = all.find(({ approval }) => notificationOf(approval).startsWith('queued'));
  await user.post(`/approvals/${first.approval}`, { json: { decision: 'approve' } });
  await waitFor('the notification ends', () => notificationOf(first.approval).startsWith('suppressed'));
  assert.equal((await digest(0)).status, 200);
  const mail = await waitFor('the digest', () => smtp.to(user.email).find((m) => m.parsed.subject === '2 calls wait for your approval'), 30000);
  const links = mail.parsed.text.match(/http\S+approval-decision\?link=\S+/g);
  assert.equal(new Set(links).size, 2);
  for (const link of links) assert.equal((await decideBy(link, { decision: 'deny' })).status, 200);
  for (const { approval } of all.filter((a) => a !== first)) assert.equal(statusOf(approval), 'denied');
});

test('an address that is not verified gets neither the arguments nor a link', async () => {
  const user = await person('unverified', { verified: false });
  const { run } = await ask(user, 'echo confidential');
  const { parsed } = await mailTo(user);
  assert.match(parsed.text, /needs your approval for a call of the tool shell/);
  assert.doesNotMatch(parsed.text + parsed.html, /approval-decision|command:/);
  await user.post(`/agent-run/${run}/stop`);
});

test('nothing is sent while the user views the thread', async () => {
  const user = await person('viewer');
  const first = await ask(user, 'echo 1');
  await mailTo(user);
  await user.post(`/approvals/${first.approval}`, { json: { decision: 'deny' } });
  await user.stream(first.run);
  assert.equal((await user.post('/presence/update', { json: { session_id: 's', active_thread_id: first.thread } })).status, 200);
  const started = await user.start({ prompt: 'echo 2', thread_id: first.thread });
  const { events } = await user.stream(started.json.agent_run_id, { until: (e) => e.type === 'approval_requested' });
  await waitFor('the notification', () => notificationOf(events.at(-1).approval_id) === 'suppressed User is actively viewing thread');
});

test('kills between the event and the delivery: one e-mail for each approval', async () => {
  const user = await person('kill');
  const all = [];
  for (const wait of [0, 40, 150]) {
    const asked = await ask(user, `echo ${wait}`);
    await sleep(wait);
    await server.kill();
    await server.start();
    all.push(asked);
    await mailTo(user, all.length);
  }
  await sleep(500);
  assert.equal(new Set(mailsTo(user).map((m) => m.parsed.messageId)).size, all.length, 'a repeated e-mail has the same Message-ID');
  for (const { approval } of all) {
    assert.equal(database.sql(`select count(*) from core.event where kind = 'approval.requested' and payload->>'approval_id' = '${approval}'`), '1');
    assert.equal(database.sql(`select count(*) from notifications.notification where payload->>'approval_id' = '${approval}'`), '1');
  }
  const link = linkIn(mailsTo(user)[0]);
  assert.equal((await decideBy(link, { decision: 'approve' })).status, 200);
  assert.deepEqual(statuses((await user.stream(all[0].run, { timeout: 40_000 })).events).slice(-1), ['completed']);
});

test('the page works without scripts, on a phone and on a wide screen, light and dark', async () => {
  const user = await person('page');
  let mails = 0;
  for (const [width, scheme, button, result] of [[390, 'light', 'Approve', 'You approved the call'], [1920, 'dark', 'Deny', 'You denied the call']]) {
    const { approval } = await ask(user, `git push origin main --force # ${'a-long-word-without-blanks'.repeat(8)}`);
    const link = linkIn(await mailTo(user, ++mails));
    const page = await browser.person({ viewport: { width, height: 900 }, scheme });
    await page.setJavaScriptEnabled(false);
    await page.goto(link);
    const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await page.shot(`approval-page-${width}-${scheme}`);
    assert.match(await page.text(), /Agent: .+\nTask: .+\nTool: shell\n/);
    if (button === 'Deny') await page.fill('Reason for the agent, if you deny the call (optional)', 'not now');
    await Promise.all([page.waitForNavigation(), page.press(button)]);
    assert.ok((await page.text()).includes(result));
    await page.shot(`approval-page-${width}-${scheme}-done`);
    assert.equal(statusOf(approval), button === 'Approve' ? 'approved' : 'denied');
    assert.deepEqual(page.complaints, []);
    await page.leave();
  }
});

test('requests of a network are limited', async () => {
  const other = makeDatabase();
  const limited = new Server({ database: other, set: ['runs.decision_requests_per_hour=3'] });
  try {
    await limited.start();
    const codes = [];
    for (let i = 0; i < 4; ++i) codes.push((await fetch(`${limited.url}/approval-decision?link=${i}`)).status);
    assert.deepEqual(codes, [404, 404, 404, 429]);
    const refused = await decideBy(`${limited.url}/approval-decision?link=x`, { decision: 'approve' });
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.match(await refused.text(), /Too many requests/);
  } finally {
    await limited.close();
    other.drop();
  }
});
