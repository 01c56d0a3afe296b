// Webhooks of runs: the end of each run is sent, signed, to the configured URLs, with retries.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
let database, llm, server, receiver;

// Responds with `respond(message, n)`, or not at all if that is empty, and records the messages. The reference library
// verifies the signatures.
async function startReceiver() {
  const got = [];
  const out = { got, respond: () => [200], unanswered: [] };
  const s = http.createServer((req, res) => {
    const nth = (req.socket.messages = (req.socket.messages ?? 0) + 1);
    let body = '';
    req.setEncoding('utf8').on('data', (d) => (body += d)).on('end', () => {
      const message = { path: req.url, headers: req.headers, nth, body, at: Date.now(), json: JSON.parse(body) };
      message.verified = new Webhook(secret).verify(body, req.headers);
      const n = got.filter((m) => m.path === req.url && m.headers['webhook-id'] === req.headers['webhook-id']).length;
      got.push(message);
      const [status, headers = {}] = out.respond(message, n);
      message.status = status;
      if (status === undefined) return out.unanswered.push(res);
      if (status === 0) return res.destroy();
      res.writeHead(status, headers).end();
    });
  });
  await new Promise((r) => s.listen(0, '127.0.0.1', r));
  out.url = `http://127.0.0.1:${s.address().port}`;
  out.close = () => new Promise((r) => { s.closeAllConnections(); s.close(r); });
  out.hangUp = () => out.unanswered.splice(0).forEach((res) => res.destroy());
  out.of = (id, path) => got.filter((m) => m.json.data.id === id && (!path || m.path === path));
  return out;
}

before(async () => {
  database = makeDatabase();
  receiver = await startReceiver();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    if (prompt.includes('[hang]')) return reply.text('begun ');
    if (prompt.includes('[401]')) return reply.fail(401);
    reply.say('Hello', { input: 100, output: 7 });
  });
  server = await new Server({ database, llm, settings: `
[runs.webhooks.all]
url = "${receiver.url}/all"
secret = "${secret}"
[runs.webhooks.failures]
url = "${receiver.url}/failures"
secret = "${secret}"
statuses = ["failed"]
` }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  await receiver?.close();
  database?.drop();
});

async function run(u, prompt) {
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  return { id: r.json.agent_run_id, ...r.json };
}

test('the end of each run sends one signed webhook that contains the run', async () => {
  const u = await server.user();
  const done = await run(u, 'x');
  await u.stream(done.id);
  await waitFor('the message', () => receiver.of(done.id).length > 0);
  const failed = await run(u, '[401]');
  await u.stream(failed.id);
  await waitFor('both messages', () => receiver.of(failed.id).length > 1);
  const stopped = await run(u, '[hang]');
  await u.stream(stopped.id, { until: (e) => e.type === 'llm_response_chunk' });
  await u.post(`/agent-run/${stopped.id}/stop`);
  await waitFor('the message', () => receiver.of(stopped.id).length > 0);
  await sleep(300);
  for (const [r, status, paths] of [[done, 'completed', ['/all']], [failed, 'failed', ['/all', '/failures']], [stopped, 'stopped', ['/all']]]) {
    const messages = receiver.of(r.id);
    assert.deepEqual(messages.map((m) => m.path).sort(), paths, status);
    for (const m of messages) {
      assert.deepEqual(m.verified, m.json);
      assert.equal(m.headers['content-type'], 'application/json');
      assert.equal(m.json.type, `run.${status}`);
      assert.match(m.json.timestamp, /Z$/);
      const got = (await u.get(`/agent-run/${r.id}`)).json;
      assert.deepEqual(m.json.data, { ...got, account_id: u.id });
      assert.equal(m.json.data.status, status);
    }
  }
  assert.equal(receiver.of(done.id)[0].json.data.usage.input_tokens, 100);
  assert.throws(() => new Webhook('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA').verify(receiver.got[0].body, receiver.got[0].headers));
  assert.ok(!server.log.includes(secret));
});

test('a failing receiver gets retries with the same id and body after its Retry-After', async () => {
  const u = await server.user();
  receiver.respond = (m, n) => (n === 0 ? [503, { 'retry-after': '7' }] : n === 1 ? [302, { location: `${receiver.url}/elsewhere` }] : [200]);
  const r = await run(u, 'again');
  await u.stream(r.id);
  await waitFor('three attempts', () => receiver.of(r.id).length >= 3, 60000);
  const [a, b, c] = receiver.of(r.id);
  // Without Retry-After, the first retry comes after at most five seconds; jobs are polled every second.
  assert.ok(b.at - a.at >= 6900, `${b.at - a.at} ms`);
  assert.deepEqual([b.headers['webhook-id'], c.headers['webhook-id']], [a.headers['webhook-id'], a.headers['webhook-id']]);
  assert.deepEqual([b.body, c.body], [a.body, a.body]);
  assert.ok(Number(b.headers['webhook-timestamp']) > Number(a.headers['webhook-timestamp']));
  assert.equal(receiver.got.filter((m) => m.path === '/elsewhere').length, 0, 'redirects are not followed');
  receiver.respond = () => [410];
  const rejected = await run(u, 'rejected');
  await u.stream(rejected.id);
  await waitFor('the dead letter', () => database.sql(`select count(*) from core.dead_job where kind = 'runs.webhook' and args->>'id' = 'run_${rejected.id}'`) === '1');
  receiver.respond = () => [200];
});

// Receivers close idle connections, possibly while the next message is being sent.
test('a broken keep-alive connection is retried without delay', async () => {
  const u = await server.user();
  let broken = 0;
  receiver.respond = (m) => (m.nth > 1 ? (broken++, [0]) : [200]);
  for (let i = 0; i < 20 && broken < 2; i++) {
    const r = await run(u, `kept ${i}`);
    await u.stream(r.id);
    await waitFor('the job to finish', () => database.sql(`select count(*) from core.job where kind = 'runs.webhook' and args->>'id' = 'run_${r.id}'`) === '0');
    const messages = receiver.of(r.id, '/all');
    if (messages.length > 1) assert.ok(messages.at(-1).at - messages[0].at < 2400, 'resent immediately over another connection');
    assert.equal(messages.at(-1).nth, 1);
  }
  assert.ok(broken > 0, 'a connection was reused');
  receiver.respond = () => [200];
});

test('a pending message survives a server crash', async () => {
  const u = await server.user();
  receiver.respond = () => [0];
  const r = await run(u, 'durable');
  await u.stream(r.id);
  await waitFor('an attempt', () => receiver.of(r.id).length > 0);
  await server.kill();
  receiver.respond = () => [200];
  const before = receiver.of(r.id).length;
  await server.start();
  await waitFor('the message', () => receiver.of(r.id).length > before, 60000);
  await waitFor('the jobs to finish', () => database.sql(`select count(*) from core.job where kind = 'runs.webhook'`) === '0');
});

test('a force-finished run also sends a webhook', async () => {
  const u = await server.user();
  const r = await run(u, '[hang]');
  database.sql(`select runs.force_stop('${r.id}', array['all', 'failures'])`);
  await waitFor('the message', () => receiver.of(r.id, '/all').length > 0);
  assert.equal(receiver.of(r.id, '/all')[0].json.type, 'run.stopped');
});

test('a silent receiver does not delay the others', async () => {
  const u = await server.user({ tier: 'pro' });
  receiver.respond = (m) => (m.path === '/failures' ? [] : [200]);
  const failing = async (count) => {
    const runs = [];
    for (let i = 0; i < count; i++) {
      runs.push(await run(u, '[401]'));
      await u.stream(runs.at(-1).id);
    }
    return runs;
  };
  const reported = (runs, path) => runs.every((r) => receiver.of(r.id, path).some((m) => m.status === 200));
  const jobsInProgress = () => Number(database.sql(`select count(*) from core.job where kind = 'runs.webhook' and state = 1`));
  // More than the concurrency limit: before the endpoint counts as unresponsive, it may occupy all slots.
  const first = await failing(24);
  await waitFor('the other receiver to get all messages', () => reported(first, '/all'), 40000);
  await waitFor('the receiver to count as unresponsive', () => jobsInProgress() <= 1, 40000);
  const tried = receiver.unanswered.length;
  const second = await failing(24);
  await waitFor('the other receiver to get them immediately', () => reported(second, '/all'), 5000);
  assert.ok(receiver.unanswered.length - tried <= 2, `${receiver.unanswered.length - tried} messages to the unresponsive receiver`);
  receiver.respond = () => [200];
  receiver.hangUp();
  await waitFor('the recovered receiver to get all messages', () => reported([...first, ...second], '/failures'), 60000);
});

test('outside local mode, webhooks are not sent to private addresses', async () => {
  const other = makeDatabase();
  const guarded = await new Server({ database: other, llm, set: ['deployment.mode=staging'], settings: `
[runs.webhooks.inside]
url = "${receiver.url}/inside"
secret = "${secret}"
` }).start();
  try {
    const u = await guarded.user();
    const r = await run(u, 'x');
    await u.stream(r.id);
    await waitFor('an attempt', () => other.sql(`select attempt from core.job where kind = 'runs.webhook' and last_error is not null`) !== '');
    assert.match(other.sql(`select last_error from core.job where kind = 'runs.webhook'`), /address/);
    assert.equal(receiver.got.filter((m) => m.path === '/inside').length, 0);
  } finally {
    await guarded.close();
    other.drop();
  }
});
