// Admins can find a user's failed run and read the internal cause of its failure; the user cannot.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Client, Server, makeDatabase, statuses, waitFor } from './lib/server.mjs';

const internalCause = 'upstream shard 7 of 10.1.2.3 refused the schema';
let database, provider, server, admin, ann, bob;
const runs = {};

before(async () => {
  database = makeDatabase();
  // A provider that rejects each request with a message that must not reach clients.
  provider = http.createServer((req, res) => {
    req.resume().on('end', () => res.writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: internalCause, type: 'invalid_request_error' } })));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => provider.once('listening', resolve));
  server = new Server({ database, settings: `
[runs.providers.bad]
kind = "openai"
base_url = "http://127.0.0.1:${provider.address().port}/v1"
api_key = "k"
[accounts.tiers.free]
models = ["*"]
[runs.models]
"runyard/basic" = "offline/basic"
"test/refused" = "bad/m"
` });
  await server.start();
  admin = new Client(server, server.token({ role: 'admin' }));
  [ann, bob] = [await server.user(), await server.user()];
  for (const [key, user, model] of [['failed', ann, 'test/refused'], ['other', bob, 'test/refused'], ['fine', ann, 'runyard/basic']]) {
    const r = await user.start({ prompt: `for ${key}`, model_name: model });
    assert.equal(r.status, 200, r.text);
    runs[key] = r.json.agent_run_id;
    const s = await user.stream(runs[key]);
    assert.equal(statuses(s.events).at(-1), key === 'fine' ? 'completed' : 'failed', s.raw);
    assert.ok(!s.raw.includes('shard 7'), s.raw);
  }
});
after(async () => {
  await server?.close();
  provider?.close();
  database?.drop();
});

const found = async (query) => {
  const r = await admin.get(`/admin/runs?${query}`);
  assert.equal(r.status, 200, r.text);
  return r.json.runs.map((run) => run.agent_run_id);
};

test('runs are found by status, account, model, reason and time', async () => {
  assert.deepEqual(await found(''), [], 'without a filter: the runs that have not ended');
  assert.deepEqual(await found('status=all'), [runs.fine, runs.other, runs.failed]);
  assert.deepEqual(await found('status=failed'), [runs.other, runs.failed]);
  assert.deepEqual(await found(`status=failed&account_id=${ann.id}`), [runs.failed]);
  assert.deepEqual(await found(`account_id=${ann.id.toUpperCase()}`), [runs.fine, runs.failed]);
  assert.deepEqual(await found('model=test%2Frefused&reason=llm_error&error_code=LLM_ERROR'), [runs.other, runs.failed]);
  const day = (offset) => new Date(Date.now() + offset * 86400000).toISOString();
  assert.deepEqual(await found(`from=${day(-1)}&to=${day(1)}&status=completed`), [runs.fine]);
  assert.deepEqual(await found(`to=${day(-1).slice(0, 10)}`), []);
  const first = (await admin.get('/admin/runs?status=failed&limit=1')).json;
  assert.deepEqual(first.runs.map((r) => [r.agent_run_id, r.account_id, r.status, r.error_code]), [[runs.other, bob.id, 'failed', 'LLM_ERROR']]);
  assert.deepEqual(await found(`status=failed&limit=1&cursor=${encodeURIComponent(first.next_cursor)}`), [runs.failed]);
  const otherList = await admin.get(`/admin/runs?status=all&cursor=${encodeURIComponent(first.next_cursor)}`);
  assert.equal(otherList.status, 400, 'a cursor from another list is rejected');
});

test('an unknown filter or an invalid value is rejected by name', async () => {
  for (const [query, detail] of [['stauts=failed', /^stauts is not a known parameter/], ['status=broken', /^status must be/], ['account_id=me', /^account_id must be a UUID/],
    ['from=yesterday', /^from must be a date/], ['limit=0', /limit/], ['status=failed&status=all', /^status is given twice/]]) {
    const r = await admin.get(`/admin/runs?${query}`);
    assert.equal(r.status, 422, `${query}: ${r.text}`);
    assert.match(r.json.detail, detail);
  }
});

test('only admins see the internal cause of a failed run', async () => {
  const r = await admin.get(`/admin/runs/${runs.failed}`);
  assert.equal(r.status, 200, r.text);
  assert.equal(r.json.account_id, ann.id);
  assert.deepEqual([r.json.status, r.json.reason, r.json.error_code], ['failed', 'llm_error', 'LLM_ERROR']);
  const [cause] = r.json.causes;
  assert.match(cause.text, /provider bad: .*upstream shard 7/);
  assert.match(cause.at, /^\d{4}-.*Z$/);
  assert.deepEqual((await admin.get(`/admin/runs/${runs.fine}`)).json.causes, []);
  const seenByOwner = await ann.get(`/agent-run/${runs.failed}`);
  assert.ok(seenByOwner.status === 200 && !seenByOwner.text.includes('shard 7'), seenByOwner.text);
  for (const path of [`/admin/runs/${runs.failed}`, '/admin/runs?status=all']) assert.equal((await ann.get(path)).status, 403);
  assert.equal((await admin.get('/admin/runs/01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7d')).status, 404);
  assert.equal((await admin.get('/admin/runs/x')).status, 400);
});

test('the log line about a failed run names the run, the account and the module', async () => {
  const line = await waitFor('the log line', () => server.log.split('\n').find((l) => l.includes('[runs] a run failed') && l.includes(runs.failed)));
  assert.ok(line.includes(ann.id), line);
  assert.match(line, /error_code=LLM_ERROR/);
  assert.match(line, /shard 7/);
  const request = server.log.split('\n').find((l) => l.includes('a model request failed') && l.includes(runs.failed));
  assert.ok(request.includes(ann.id) && /driver=openai/.test(request), request);
});
