// Operations on runs: pagination of lists, identifiers, and the reason and cost of an ended run.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { Server, makeDatabase, sleep, statuses } from './lib/server.mjs';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const nil = '00000000-0000-0000-0000-000000000000';
let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    if (prompt.includes('[hang]')) { reply.text('begun '); return; }
    if (prompt.includes('[late]')) await sleep(60);
    if (prompt.includes('[401]')) return reply.fail(401);
    reply.say('Hello', { input: 100, output: 7 });
  });
  server = await new Server({ database, llm, settings: `
[runs.prices."mock/basic"]
input = 1000000
output = 2000000
` }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

async function runToEnd(u, form) {
  const r = await u.start(form);
  assert.equal(r.status, 200, r.text);
  return { ...r.json, ...(await u.stream(r.json.agent_run_id)) };
}

test('the terminal event and the run contain the reason and the cost', async () => {
  const u = await server.user();
  const r = await runToEnd(u, { prompt: '[late]' });
  const end = r.events.at(-1);
  assert.equal(end.status, 'completed');
  assert.equal(end.reason, 'ok');
  assert.deepEqual(end.usage, { input_tokens: 100, output_tokens: 7, cached_tokens: 0 });
  assert.equal(end.tokens, 107);
  assert.equal(end.credits, 0.000114);
  assert.ok(end.duration_ms >= end.time_to_first_token_ms, JSON.stringify(end));
  assert.ok(end.time_to_first_token_ms >= 60, JSON.stringify(end));
  assert.ok(Number.isInteger(end.queue_wait_ms) && end.queue_wait_ms <= end.time_to_first_token_ms);
  const got = (await u.get(`/agent-run/${r.agent_run_id}`)).json;
  assert.equal(got.reason, 'ok');
  assert.equal(got.time_to_first_token_ms, end.time_to_first_token_ms);
  assert.equal(got.queue_wait_ms, end.queue_wait_ms);
  // The event is created before the commit that contains it, so its duration may be slightly shorter.
  assert.ok(got.duration_ms >= end.duration_ms - 50 && got.duration_ms < end.duration_ms + 5000, `${got.duration_ms} ${end.duration_ms}`);
  const failed = (await runToEnd(u, { prompt: '[401]' })).events.at(-1);
  assert.deepEqual([failed.status, failed.reason, failed.time_to_first_token_ms], ['failed', 'llm_error', null]);
  assert.ok(failed.error && failed.error_code);
});

test('the response to a start contains its duration in Server-Timing', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'x' });
  assert.match(r.headers.get('server-timing'), /^setup;dur=\d+\.\d{3}$/);
  await u.stream(r.json.agent_run_id);
});

test('the runs of a thread are paginated, newest first, without duplicates or gaps', async () => {
  const u = await server.user({ tier: 'pro' });
  const first = await runToEnd(u, { prompt: '1' });
  const ids = [first.agent_run_id];
  for (let i = 0; i < 6; i++) ids.unshift((await runToEnd(u, { prompt: 'again', thread_id: first.thread_id })).agent_run_id);
  await runToEnd(u, { prompt: 'another thread' });
  for (const path of [`/thread/${first.thread_id}/agent-runs`, `/threads/${first.thread_id}/agent-runs`]) {
    const seen = [];
    let cursor = '', pages = 0;
    do {
      const page = await u.get(`${path}?limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      assert.equal(page.status, 200, page.text);
      assert.ok(page.json.agent_runs.length <= 3);
      seen.push(...page.json.agent_runs.map((x) => x.id));
      cursor = page.json.next_cursor;
      pages++;
    } while (cursor);
    assert.deepEqual(seen, ids);
    assert.equal(pages, 3);
    const completed = await u.get(`${path}?status=Completed&limit=6`);
    assert.deepEqual(completed.json.agent_runs.map((x) => x.id), ids.slice(0, 6));
    assert.equal((await u.get(`${path}?status=completed&cursor=${encodeURIComponent(completed.json.next_cursor)}`)).json.agent_runs.length, 1);
    assert.equal((await u.get(`${path}?cursor=${encodeURIComponent(completed.json.next_cursor)}`)).status, 400, 'the cursor of another list');
    assert.deepEqual((await u.get(`${path}?status=running`)).json.agent_runs, []);
    assert.equal((await u.get(`${path}?status=open`)).status, 422);
  }
});

test('a page of messages is limited to some MB regardless of its limit, and the next page continues it', async () => {
  const u = await server.user({ tier: 'pro' });
  const { thread_id: thread, agent_run_id: run } = await runToEnd(u, { prompt: 'first' });
  database.sql(`insert into runs.messages (thread_id, id, run_id, role, body) select '${thread}', gen_random_uuid(), '${run}', 'user', '{"role":"user","content":"' || n || repeat(' .', 500000) || '"}' from generate_series(1, 7) n`);
  for (const order of ['asc', 'desc']) {
    const sizes = [], seen = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await u.get(`/threads/${thread}/messages?order=${order}&limit=100${cursor && `&cursor=${cursor}`}`);
      assert.equal(page.status, 200, page.text);
      sizes.push(page.text.length);
      seen.push(...page.json.messages.filter((m) => m.role === 'user').map((m) => m.content[0]));
      cursor = page.json.next_cursor;
    }
    assert.deepEqual(seen, order === 'asc' ? ['f', '1', '2', '3', '4', '5', '6', '7'] : ['7', '6', '5', '4', '3', '2', '1', 'f']);
    assert.ok(sizes.length === 2 && sizes.every((n) => n < 5.5e6), `${sizes}`);
  }
});

test('a page of agents or of their versions is limited to some MB, and the next page continues it', async () => {
  const u = await server.user({ tier: 'pro' });
  const readAllPages = async (path, items, name) => {
    const sizes = [], seen = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await u.get(`${path}?limit=100${cursor && `&cursor=${cursor}`}`);
      assert.equal(page.status, 200, page.text);
      sizes.push(page.text.length);
      seen.push(...page.json[items].map(name));
      cursor = page.json.next_cursor;
    }
    assert.ok(sizes.length > 1 && sizes.every((n) => n < 5.5e6), `${sizes}`);
    return seen;
  };
  const tools = Array.from({ length: 200 }, (_, i) => `${i}${'x'.repeat(4000)}`);
  const agent = (n) => ({ name: `agent ${n}`, custom_mcps: [{ name: 'large', type: 'http', config: { url: 'http://127.0.0.1:9/mcp' }, enabledTools: tools }] });
  const names = [];
  let id;
  for (let n = 0; n < 8; n++) {
    const made = await u.post('/agents', { json: agent(n) });
    assert.equal(made.status, 201, made.text);
    names.unshift(made.json.name);
    id = made.json.agent_id;
  }
  const listed = await readAllPages('/agents', 'agents', (a) => a.name);
  assert.deepEqual(listed.filter((name) => name.startsWith('agent ')), names);
  assert.equal(listed.length, 9, 'with the default agent');
  for (let n = 0; n < 6; n++) assert.equal((await u.request('PUT', `/agents/${id}`, { json: { name: `version ${n}` } })).status, 200);
  assert.deepEqual(await readAllPages(`/agents/${id}/versions`, 'versions', (v) => v.version), [7, 6, 5, 4, 3, 2, 1]);
});

test('a malformed cursor or a cursor of another list is rejected', async () => {
  const u = await server.user({ tier: 'pro' });
  const a = await runToEnd(u, { prompt: '1' });
  await runToEnd(u, { prompt: '2', thread_id: a.thread_id });
  const b = await runToEnd(u, { prompt: '3' });
  const lists = ['/agent-runs?', '/agent-runs?status=completed&', '/threads?', `/thread/${a.thread_id}/agent-runs?`,
    `/thread/${b.thread_id}/agent-runs?`, `/threads/${a.thread_id}/messages?order=asc&`, `/threads/${a.thread_id}/messages?order=desc&`,
    `/threads/${b.thread_id}/messages?order=asc&`];
  const cursors = [];
  for (const list of lists) {
    const page = await u.get(`${list}limit=1`);
    assert.equal(page.status, 200, list + page.text);
    assert.ok(page.json.next_cursor, list + page.text);
    cursors.push(page.json.next_cursor);
  }
  for (const [i, list] of lists.entries()) {
    for (const [j, cursor] of cursors.entries()) {
      const r = await u.get(`${list}limit=1&cursor=${encodeURIComponent(cursor)}`);
      assert.equal(r.status, i === j ? 200 : 400, `${list} with the cursor of ${lists[j]}: ${r.text}`);
      if (i !== j) assert.match(r.json.detail, /cursor/);
    }
    for (const bad of ['x', '!!', 'AAAA', 'a'.repeat(1000), '%00', Buffer.from('runs,x,y').toString('base64url')])
      assert.equal((await u.get(`${list}cursor=${encodeURIComponent(bad)}`)).status, 400, list + bad);
  }
  for (const time of ['9223372036854775807', '-1', '253402300800000001']) {
    const r = await u.get(`/threads?cursor=${Buffer.from(`threads,${time},${a.thread_id}`).toString('base64url')}`);
    assert.deepEqual([r.status, r.json], [400, { detail: 'cursor is not valid for this list' }], time);
  }
  for (const bad of ['0', '-1', '101', 'x', '1.5', '99999999999999999999'])
    assert.equal((await u.get(`/thread/${a.thread_id}/agent-runs?limit=${bad}`)).status, 422, bad);
});

test('malformed UUIDs return 400; the nil and the max UUID are unknown ids', async () => {
  const u = await server.user();
  const paths = [['GET', (id) => `/agent-run/${id}`], ['GET', (id) => `/agent-runs/${id}/status`], ['POST', (id) => `/agent-run/${id}/stop`],
    ['GET', (id) => `/agent-run/${id}/stream`], ['POST', (id) => `/agent-run/${id}/stream-token`], ['GET', (id) => `/thread/${id}/agent-runs`],
    ['GET', (id) => `/threads/${id}`], ['DELETE', (id) => `/threads/${id}`], ['GET', (id) => `/threads/${id}/messages`],
    ['GET', (id) => `/projects/${id}/files`], ['GET', (id) => `/projects/${id}/files/content?path=x`]];
  for (const [method, path] of paths) {
    for (const bad of ['x', '1234', `${randomUUID()}0`, `{${randomUUID()}}`, '%27%20or%201=1', 'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz']) {
      const r = await u.request(method, path(bad));
      assert.deepEqual([r.status, r.json], [400, { detail: 'Invalid UUID format' }], `${method} ${path(bad)}: ${r.text}`);
    }
    for (const unknown of [randomUUID(), nil, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '018f0000-0000-7000-8000-000000000000'])
      assert.equal((await u.request(method, path(unknown))).status, 404, path(unknown));
  }
  const start = await u.start({ prompt: 'x', thread_id: nil });
  assert.equal(start.status, 404, start.text);
  assert.match(randomUUID(), uuid);
});

test('/workspaceX is not /workspace/X', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'x', files: [{ name: 'note.txt', data: 'hello' }] });
  assert.equal(r.status, 200, r.text);
  await u.stream(r.json.agent_run_id);
  const files = (path) => u.get(`/projects/${r.json.project_id}/files/content?path=${encodeURIComponent(path)}`);
  for (const good of ['uploads/note.txt', '/workspace/uploads/note.txt', '/uploads/note.txt'])
    assert.equal((await files(good)).text, 'hello', good);
  for (const bad of ['/workspaceuploads/note.txt', 'workspace/uploads/note.txt', '/workspaces/uploads/note.txt', '/workspace/../uploads/note.txt/..'])
    assert.ok([400, 404].includes((await files(bad)).status), bad);
});

test('a run whose worker was killed can be stopped', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: '[hang]' });
  const id = r.json.agent_run_id;
  await u.stream(id, { until: (e) => e.type === 'llm_response_chunk' });
  await server.kill();
  await server.start();
  const began = Date.now();
  const stop = await u.post(`/agent-run/${id}/stop`);
  assert.deepEqual([stop.status, stop.json], [200, { status: 'stopped' }]);
  assert.ok(Date.now() - began < 1500, `${Date.now() - began} ms`);
  const s = await u.stream(id);
  assert.deepEqual(statuses(s.events).slice(-1), ['stopped']);
  const end = s.events.at(-1);
  assert.equal(end.reason, 'user_stop');
  assert.ok(Number.isInteger(end.duration_ms) && end.usage && 'queue_wait_ms' in end && 'time_to_first_token_ms' in end);
});
