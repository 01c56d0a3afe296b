// Notifications from the event to the mail and the inbox: settings, preferences, suppression, admins.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';
import { startLlm } from './lib/llm.mjs';
import { startSmtp } from './lib/smtp.mjs';

let db, smtp, llm, server, admin;

before(async () => {
  smtp = await startSmtp({ starttls: false });
  llm = await startLlm(async (request, reply) => { reply.text('hello '); await sleep(300); reply.end(); });
  db = makeDatabase();
  server = new Server({
    database: db, llm,
    set: ['deployment.mode=staging', 'http.public_url=https://app.test', 'mail.host=127.0.0.1', `mail.port=${smtp.port}`,
      'mail.security=none', 'mail.from=no-reply@runyard.test', 'mail.per_recipient_hour=1000000'],
  });
  await server.start();
  admin = new Client(server, server.token({ role: 'admin' }));
});
after(async () => {
  await server?.close();
  await llm?.close();
  await smtp?.close();
  db?.drop();
});

const one = async (user, workflow) =>
  waitFor(`a ${workflow}`, async () => (await user.get('/notifications/inbox')).json.notifications.find((n) => n.workflow_id === workflow));
const state = (workflow, user) => db.sql(`select state || ':' || reason from notifications.notification where workflow = '${workflow}' and account_id = '${user.id}' order by id desc limit 1`);
const publish = (kind, user, payload = {}) =>
  db.sql(`select core.event_publish('${kind}', '${user.id}', '${JSON.stringify({ account_id: user.id, ...payload })}')`);
// A run nobody watches, to its end.
async function run(user, prompt = 'Write a poem') {
  const r = await user.start({ prompt });
  assert.equal(r.status, 200, r.text);
  await waitFor('the end of the run', async () => (await user.get(`/agent-run/${r.json.agent_run_id}`)).json.status !== 'running');
  return r.json;
}

test('a new account gets its welcome, by mail', async () => {
  const user = await server.user({ email: 'ann.lee@example.test' });
  await user.get('/account');
  const m = await smtp.mail('ann.lee@example.test');
  assert.equal(m.parsed.subject, 'Welcome to Runyard, ann.lee');
  assert.match(m.parsed.text, /Hello ann\.lee,/);
  assert.ok(m.parsed.html.includes('href="https://app.test"'));
  assert.deepEqual((await user.get('/notifications/inbox')).json.notifications, []);
  assert.equal(smtp.to('ann.lee@example.test').length, 1);
});

test('an account without an address: the welcome fails and says why', async () => {
  const user = await server.user();
  await user.get('/account');
  await waitFor('its end', () => state('welcome-email', user));
  assert.equal(state('welcome-email', user), 'failed:The account has no email');
});

test('a task completes: mail, inbox, unread count, read', async () => {
  const user = await server.user({ email: 'bob@example.test' });
  const { thread_id } = await run(user, 'Write <b>a poem</b> & a song');
  const entry = await one(user, 'task-completed');
  assert.equal(entry.action_url, `https://app.test/#/threads/${thread_id}`);
  assert.deepEqual(Object.keys(entry.payload).sort(), ['first_name', 'task_name', 'task_url']);
  assert.equal(entry.payload.first_name, 'bob');
  assert.equal(entry.read, false);
  const m = await waitFor('the mail', () => smtp.to('bob@example.test').find((x) => /done$/.test(x.parsed.subject)));
  assert.ok(m.parsed.text.includes(entry.action_url));
  assert.ok(!m.parsed.html.includes('<b>'), 'what users typed is text');
  assert.equal((await user.get('/notifications/inbox/unread-count')).json.unread_count, 1);
  const other = await server.user();
  assert.equal((await other.post(`/notifications/inbox/${entry.id}/read`)).status, 404);
  assert.deepEqual((await user.post(`/notifications/inbox/${entry.id}/read`)).json, { success: true, marked: 1, unread_count: 0 });
  assert.deepEqual((await user.post(`/notifications/inbox/${entry.id}/read`)).json, { success: true, marked: 0, unread_count: 0 });
  const log = await waitFor('the delivery', async () => {
    const d = (await user.get('/notifications/deliveries')).json.deliveries;
    return d.some((x) => x.channel === 'email' && x.workflow_id === 'task-completed') && d;
  });
  assert.deepEqual(log.filter((d) => d.workflow_id === 'task-completed').map((d) => [d.channel, d.status]).sort(),
    [['email', 'accepted'], ['in_app', 'delivered'], ['push', 'skipped']]);
});
