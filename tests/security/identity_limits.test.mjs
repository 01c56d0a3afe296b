// An account cannot make rows without end: agents, their versions, API keys, profiles; also not many at once.
import assert from 'node:assert/strict';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { Server, makeDatabase } from './lib/server.mjs';

let db, server;
setUp(async () => {
  db = makeDatabase();
  server = await new Server({ database: db, settings: `
[agents]
versions_kept = 3
[agents.max_agents]
free = 4
[accounts.tiers.free]
api_keys = 2
[accounts.tiers.pro]
api_keys = 3
[mcp_prebuilt]
max_profiles = 2
[mcp_prebuilt.integrations.tracker]
url = "https://tracker.example/mcp"
headers = { Authorization = "Bearer {token}" }
[secrets]
key = "${'0123456789abcdef'.repeat(4)}"
` }).start();
});
tearDown(async () => {
  await server?.close();
  db?.drop();
});

async function flood(n, make, status, code) {
  const all = await Promise.all(Array.from({ length: n }, (_, i) => make(i)));
  const made = all.filter((r) => r.status === 201);
  for (const r of all.filter((x) => x.status !== 201)) {
    assert.equal(r.status, status, r.text);
    assert.equal(r.json.detail.error_code, code, r.text);
    assert.ok(r.json.detail.message && r.json.detail.limit, r.text);
  }
  return made;
}

attack('agents', ['row_limits'], async () => {
  const u = await server.user(), pro = await server.user({ tier: 'pro' });
  const before = (await u.get('/agents')).json.agents.length;
  const made = await flood(12, (i) => u.post('/agents', { json: { name: `a${i}`, system_prompt: 'x'.repeat(60000) } }), 402, 'AGENT_LIMIT_EXCEEDED');
  assert.equal(before + made.length, 4);
  assert.equal((await u.request('DELETE', `/agents/${made[0].json.agent_id}`)).status, 204);
  assert.equal((await u.post('/agents', { json: { name: 'again' } })).status, 201);
  assert.equal((await flood(6, (i) => pro.post('/agents', { json: { name: `a${i}` } }), 402, 'AGENT_LIMIT_EXCEEDED')).length, 6, 'a plan that allows more');
});

attack('versions of an agent', ['row_limits'], async () => {
  const u = await server.user();
  const { agent_id: id } = (await u.post('/agents', { json: { name: 'one' } })).json;
  for (let i = 0; i < 9; i++) assert.equal((await u.request('PUT', `/agents/${id}`, { json: { name: `n${i}` } })).status, 200);
  assert.deepEqual((await u.get(`/agents/${id}/versions`)).json.versions.map((v) => v.version), [10, 9, 8]);
  assert.equal(db.sql(`select count(*) from agents.agent_version where agent_id = '${id}'`), '3');
  assert.equal((await u.get(`/agents/${id}`)).json.version, 10);
});

attack('API keys, by plan', ['row_limits'], async () => {
  const u = await server.user(), pro = await server.user({ tier: 'pro' });
  assert.equal((await flood(8, () => u.post('/api-keys', { json: {} }), 409, 'API_KEY_LIMIT_EXCEEDED')).length, 2);
  assert.equal((await flood(8, () => pro.post('/api-keys', { json: {} }), 409, 'API_KEY_LIMIT_EXCEEDED')).length, 3);
});

attack('profiles', ['row_limits'], async () => {
  const u = await server.user();
  const make = () => u.post('/mcp/profiles', { json: { integration: 'tracker', credentials: { token: 't' } } });
  assert.equal((await flood(8, make, 409, 'PROFILE_LIMIT_EXCEEDED')).length, 2);
});

attack('inbox entries', ['inbox_limit'], async () => {
  const u = await server.user();
  await u.get('/account');
  const add = "select notifications.inbox_add('" + u.id + "', gen_random_uuid(), 'w', 't', 'b', '', '{}') from generate_series(1, 1200)";
  db.sql(add);
  assert.equal(db.sql(`select count(*) || ' ' || min(seq) || ' ' || max(seq) from notifications.inbox where account_id = '${u.id}'`), '1000 201 1200');
  assert.equal(db.sql(`select unread from notifications.inbox_head where account_id = '${u.id}'`), '1000');
});
