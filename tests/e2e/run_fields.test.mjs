// Metadata, output schemas and webhooks of single runs.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const city = { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'], additionalProperties: false };
let database, llm, server, receiver, hold;

const repairs = (request) => request.messages.filter((m) => m.role === 'user' && `${m.content}`.includes('does not match the required JSON Schema')).length;

async function startReceiver() {
  const out = { got: [], respond: () => 200 };
  const s = http.createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (d) => (body += d)).on('end', () => {
      const message = { path: req.url, headers: req.headers, body, json: JSON.parse(body) };
      out.got.push(message);
      res.writeHead(out.respond(message, out.of(message.json.data.id).length)).end();
    });
  });
  await new Promise((r) => s.listen(0, '127.0.0.1', r));
  out.url = `http://127.0.0.1:${s.address().port}`;
  out.of = (run) => out.got.filter((m) => m.json.data.id === run);
  out.close = () => new Promise((r) => { s.closeAllConnections(); s.close(r); });
  return out;
}

before(async () => {
  database = makeDatabase();
  receiver = await startReceiver();
  llm = await startLlm(async (request, reply) => {
    const prompt = request.messages.find((m) => m.role === 'user').content;
    const n = repairs(request);
    if (prompt.includes('[hold]') && n > 0) { reply.text('{"ci'); await new Promise((r) => (hold = r)); return reply.cut(); }
    if (prompt.includes('[never]')) return reply.say('{"city": "X"}');
    if (prompt.includes('[repair]') && n === 0) return reply.say('The city is Paris.');
    if (prompt.includes('[parts]') && !lastUser(request).includes('cut off')) { reply.text('{"city":'); return reply.truncate(); }
    if (prompt.includes('[parts]')) return reply.say(' "Paris"}');
    if (prompt.includes('[fence]')) return reply.say('```json\n{"city": "Paris"}\n```');
    if (prompt.includes('[fail]')) return reply.fail(401);
    if (prompt.includes('[hang]')) return reply.text('begun ');
    reply.say('{"city": "Paris"}');
  });
  server = await new Server({ database, settings: `
[runs.providers.mock]
kind = "openai"
base_url = "${llm.url}"
[runs.providers.native]
kind = "openai"
base_url = "${llm.url}"
options = { output_schema = "native" }
[runs.models]
"runyard/basic" = "mock/basic"
"runyard/power" = "native/basic"
` }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  await receiver?.close();
  database?.drop();
});

const schema = (s = city) => ({ output_schema: JSON.stringify(s) });
async function finished(u, form) {
  const r = await u.start(form);
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id);
  return { id: r.json.agent_run_id, thread: r.json.thread_id, events: s.events, end: s.events.at(-1), run: (await u.get(`/agent-run/${r.json.agent_run_id}`)).json };
}
const lastRequest = () => llm.seen.at(-1).json;

test('metadata is returned by reads and filters all lists', async () => {
  const u = await server.user({ tier: 'pro' });
  const a = await finished(u, { prompt: 'x', metadata: '{"customer": "c1", "env": "test"}' });
  const b = await finished(u, { prompt: 'x', thread_id: a.thread, metadata: '{"customer": "c2", "env": "test"}' });
  const c = await finished(u, { prompt: 'x' });
  assert.deepEqual([a.run.metadata, c.run.metadata], [{ customer: 'c1', env: 'test' }, {}]);
  const ids = async (path, member = 'agent_runs') => {
    const r = await u.get(path);
    assert.equal(r.status, 200, r.text);
    return r.json[member].map((x) => x.agent_run_id);
  };
  assert.deepEqual(await ids('/agent-runs'), [c.id, b.id, a.id]);
  assert.deepEqual(await ids('/agent-runs?metadata[env]=test'), [b.id, a.id]);
  assert.deepEqual(await ids('/agent-runs?metadata%5Benv%5D=test&metadata%5Bcustomer%5D=c1&status=completed'), [a.id]);
  assert.deepEqual(await ids('/agent-runs?metadata[env]=other'), []);
  assert.deepEqual(await ids(`/threads/${a.thread}/agent-runs?metadata[customer]=c2`), [b.id]);
  const page = await u.get('/agent-runs?metadata[env]=test&limit=1');
  assert.deepEqual(await ids(`/agent-runs?metadata[env]=test&limit=1&cursor=${page.json.next_cursor}`), [a.id]);
  assert.equal((await u.get(`/agent-runs?metadata[env]=other&cursor=${page.json.next_cursor}`)).status, 400);
  const bad = await u.get('/agent-runs?metadata[a]=1&metadata[a]=2');
  assert.deepEqual([bad.status, bad.json.detail], [422, 'metadata[a] is given twice']);
  const other = await server.user();
  assert.deepEqual((await other.get('/agent-runs?metadata[env]=test')).json.agent_runs, []);

  const hanging = await u.start({ prompt: '[hang]', metadata: '{"customer": "c1"}' });
  await u.stream(hanging.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  assert.deepEqual(await ids('/agent-runs/active?metadata[customer]=c1', 'active_runs'), [hanging.json.agent_run_id]);
  assert.deepEqual(await ids('/agent-runs/active?metadata[customer]=c2', 'active_runs'), []);
  await u.post(`/agent-run/${hanging.json.agent_run_id}/stop`);

  const admin = await server.user({ role: 'admin' });
  const all = await admin.get(`/admin/runs?account_id=${u.id}&metadata[customer]=c2`);
  assert.deepEqual(all.json.runs.map((x) => [x.agent_run_id, x.metadata]), [[b.id, { customer: 'c2', env: 'test' }]]);
});

test('invalid metadata is refused by name', async () => {
  const u = await server.user();
  for (const [metadata, detail] of [['[]', 'metadata must be a JSON object of strings'], ['{"a": 1}', 'metadata.a must be a string'],
    [JSON.stringify({ a: 'x'.repeat(513) }), 'metadata.a: the value must have at most 512 characters']]) {
    const r = await u.start({ prompt: 'x', metadata });
    assert.deepEqual([r.status, r.json.detail], [422, detail]);
  }
});

test('the answer becomes the output; a provider that supports schemas gets the schema', async () => {
  const u = await server.user({ tier: 'pro' });
  const prompted = await finished(u, { prompt: 'x', ...schema() });
  assert.deepEqual([prompted.end.status, prompted.end.output, prompted.run.output], ['completed', { city: 'Paris' }, { city: 'Paris' }]);
  assert.match(lastRequest().messages[0].content, /valid against the following JSON Schema/);
  assert.equal(lastRequest().response_format, undefined);
  assert.equal((await u.get('/agent-runs')).json.agent_runs[0].output, undefined);

  const native = await finished(u, { prompt: 'x', model_name: 'runyard/power', ...schema({ ...city, properties: { city: { type: 'string' } } }) });
  assert.deepEqual(native.run.output, { city: 'Paris' });
  assert.equal(lastRequest().response_format.json_schema.schema.properties.city.type, 'string');
  assert.doesNotMatch(JSON.stringify(lastRequest().messages), /JSON Schema/);

  assert.deepEqual((await finished(u, { prompt: '[parts]', ...schema() })).run.output, { city: 'Paris' });
  assert.deepEqual((await finished(u, { prompt: '[fence]', ...schema() })).run.output, { city: 'Paris' });
  const without = await finished(u, { prompt: 'x' });
  assert.ok(!('output' in without.run) && !('output' in without.end));
});

test('an invalid answer is corrected once', async () => {
  const u = await server.user({ tier: 'pro' });
  const r = await finished(u, { prompt: '[repair]', ...schema() });
  assert.deepEqual([r.run.status, r.run.output], ['completed', { city: 'Paris' }]);
  const error = r.events.find((e) => e.type === 'error');
  assert.deepEqual([error.error_code, error.recoverable], ['OUTPUT_INVALID', true]);
  assert.match(lastUser(lastRequest()), /the output is not a JSON text/);
  const messages = (await u.get(`/threads/${r.thread}/messages`)).json.messages;
  assert.deepEqual(messages.map((m) => m.role), ['user', 'assistant', 'assistant']);

  const before = llm.seen.length;
  const failed = await finished(u, { prompt: '[never]', ...schema() });
  assert.equal(llm.seen.length - before, 2);
  assert.deepEqual([failed.run.status, failed.run.reason, failed.run.error_code], ['failed', 'output_invalid', 'OUTPUT_INVALID']);
  assert.equal(failed.run.error, 'The output does not match output_schema: /city must have at least 2 characters');
  assert.ok(!('output' in failed.run));
});

test('hostile and unsupported schemas are refused with the pointer', async () => {
  const u = await server.user();
  const nested = (n) => `${'{"items":'.repeat(n)}{}${'}'.repeat(n)}`;
  const doubled = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, i === 39 ? {} : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]));
  for (const [text, detail] of [
    ['{"$ref": "#"}', /refers to itself/],
    [JSON.stringify({ $ref: '#/$defs/d0', $defs: doubled }), /too many subschemas/],
    [nested(2000), /nested more deeply/],
    [JSON.stringify({ title: 'x'.repeat(70000) }), /at most 64\.0 KB/],
    ['{"properties": {"a": {"pattern": "(a+)+$(?=b)"}}}', /\/properties\/a\/pattern is not a supported regular expression: lookahead/],
    ['{"properties": {"a": {"$ref": "http://169.254.169.254/"}}}', /\/properties\/a\/\$ref must be a reference into the same schema/],
    ['{"items": {"unevaluatedProperties": false}}', /\/items\/unevaluatedProperties is not a supported keyword/],
    ['{', /must be a JSON Schema object/],
  ]) {
    const r = await u.start({ prompt: 'x', output_schema: text });
    assert.equal(r.status, 400, r.text);
    assert.match(r.json.detail, detail);
  }
  // A pattern that takes exponential time in other engines.
  const r = await finished(u, { prompt: 'x', ...schema({ type: 'object', properties: { city: { pattern: '^(a|a?)+$' } } }) });
  assert.match(r.run.error, /\/city must match the pattern/);
});

test('a worker that claims the run after the request for a correction does not ask again', async () => {
  const u = await server.user({ tier: 'pro' });
  const r = await u.start({ prompt: '[hold] [repair]', ...schema() });
  const id = r.json.agent_run_id;
  await waitFor('the correction', () => hold !== undefined);
  await server.kill();
  hold();
  llm.answer = async (request, reply) => reply.say('{"city": 1}');
  const before = llm.seen.length;
  await server.start();
  await waitFor('the end of the run', async () => (await u.get(`/agent-run/${id}`)).json.status === 'failed', 60000);
  const run = (await u.get(`/agent-run/${id}`)).json;
  assert.deepEqual([run.reason, run.error_code], ['output_invalid', 'OUTPUT_INVALID']);
  assert.equal(llm.seen.length - before, 1);
  assert.equal(repairs(lastRequest()), 1);
  assert.equal(database.sql(`select count(*) from runs.messages where run_id = '${id}' and role = 'repair'`), '1');
  llm.answer = async (request, reply) => {
    const prompt = lastUser(request);
    if (prompt.includes('[fail]')) return reply.fail(401);
    if (prompt.includes('[hang]')) return reply.text('begun ');
    reply.say('{"city": "Paris"}');
  };
});

test('the end of a run is sent to the webhook of its start, signed with its secret', async () => {
  const u = await server.user({ tier: 'pro' });
  const hook = { webhook_url: `${receiver.url}/hook?token=hidden`, webhook_secret: secret };
  const r = await finished(u, { prompt: 'x', metadata: '{"a": "b"}', ...schema(), ...hook });
  const failed = await finished(u, { prompt: '[fail]', ...hook });
  const hanging = await u.start({ prompt: '[hang]', ...hook });
  await u.stream(hanging.json.agent_run_id, { until: (e) => e.type === 'llm_response_chunk' });
  await u.post(`/agent-run/${hanging.json.agent_run_id}/stop`);
  for (const [id, type] of [[r.id, 'run.completed'], [failed.id, 'run.failed'], [hanging.json.agent_run_id, 'run.stopped']]) {
    await waitFor(type, () => receiver.of(id).length === 1);
    const [m] = receiver.of(id);
    assert.deepEqual(new Webhook(secret).verify(m.body, m.headers), m.json);
    assert.throws(() => new Webhook(`whsec_${Buffer.alloc(32, 1).toString('base64')}`).verify(m.body, m.headers));
    assert.deepEqual([m.path, m.headers['webhook-id'], m.json.type, m.json.data.account_id], ['/hook?token=hidden', `run_${id}`, type, u.id]);
    const { account_id, ...data } = m.json.data;
    assert.deepEqual(data, (await u.get(`/agent-run/${id}`)).json);
  }
  assert.deepEqual(receiver.of(r.id)[0].json.data.output, { city: 'Paris' });
  await finished(u, { prompt: 'x' });
  await sleep(200);
  assert.equal(receiver.got.length, 3);

  // Neither the URL nor the secret is visible.
  const admin = await server.user({ role: 'admin' });
  const shown = [JSON.stringify(r.run), (await admin.get(`/admin/runs/${r.id}`)).text, server.log, database.sql('select webhook_secret from runs.runs where webhook_secret is not null')];
  for (const text of shown) assert.ok(!text.includes('token=hidden') && !text.includes(secret));
});

test('a message that is not accepted is sent again with the same id, also after a crash', async () => {
  const u = await server.user({ tier: 'pro' });
  receiver.respond = () => 503;
  const r = await finished(u, { prompt: 'x', webhook_url: `${receiver.url}/retry`, webhook_secret: secret });
  await waitFor('an attempt', () => receiver.of(r.id).length > 0);
  await server.kill();
  receiver.respond = () => 200;
  database.sql("update core.job set run_at = now() where kind = 'runs.start_webhook'");
  const before = receiver.of(r.id).length;
  await server.start();
  await waitFor('another attempt', () => receiver.of(r.id).length > before, 60000);
  const all = receiver.of(r.id);
  assert.deepEqual(new Set(all.map((m) => m.headers['webhook-id'])), new Set([`run_${r.id}`]));
  assert.equal(new Set(all.map((m) => m.body)).size, 1);
});

test('outside local mode, webhooks need https and never reach private addresses', async () => {
  const other = makeDatabase();
  const guarded = await new Server({ database: other, llm, set: ['deployment.mode=staging'] }).start();
  try {
    const u = await guarded.user();
    const start = (webhook_url) => u.start({ prompt: 'x', webhook_url, webhook_secret: secret });
    for (const [url, detail] of [
      [`${receiver.url}/private`, 'webhook_url must begin with https://'],
      ['https://127.0.0.1/', 'webhook_url must not refer to a private or local address'],
      ['https://[::ffff:10.0.0.1]/', 'webhook_url must not refer to a private or local address'],
      ['https://169.254.169.254/latest', 'webhook_url must not refer to a private or local address'],
      ['https://localhost/', 'webhook_url must not refer to a private or local address'],
      ['https://user:password@example.com/', 'webhook_url must not contain a user or a password: the messages are signed with webhook_secret'],
    ]) {
      const r = await start(url);
      assert.deepEqual([r.status, r.json.detail], [422, detail], url);
    }
    assert.equal((await u.start({ prompt: 'x', webhook_url: 'https://example.com/' })).json.detail, 'webhook_url requires webhook_secret');
    assert.equal(other.sql('select count(*) from runs.runs'), '0');
  } finally {
    await guarded.close();
    other.drop();
  }
});
