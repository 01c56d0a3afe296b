// An account cannot create unlimited rows, not even concurrently: agents, their versions, MCP servers, API keys,
// profiles, threads, devices, inbox entries. Each rejection is counted in the metric of its limit.
import assert from 'node:assert/strict';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { Client, Server, makeDatabase } from './lib/server.mjs';

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
threads = 1
[notifications]
allowed_modes = ["local"]
tokens_per_provider = 2
[notifications.inbox_entries]
free = 3
pro = 5
[accounts.tiers.pro]
api_keys = 3
[mcp_prebuilt]
max_profiles = 2
[mcp_prebuilt.integrations.tracker]
url = "https://tracker.example/mcp"
headers = { Authorization = "Bearer {token}" }
[runs.account_prompt_bytes]
free = 1048576
[secrets]
key = "${'0123456789abcdef'.repeat(4)}"
` }).start();
});
tearDown(async () => {
  await server?.close();
  db?.drop();
});

async function reached(limit) {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^runyard_account_limits_reached_total\\{limit="${limit}"\\} (\\d+)`, 'm').exec(text)?.[1]);
}
async function flood(n, make, status, code, limit) {
  const before = await reached(limit);
  const all = await Promise.all(Array.from({ length: n }, (_, i) => make(i)));
  const made = all.filter((r) => r.status === 201);
  for (const r of all.filter((x) => x.status !== 201)) {
    assert.equal(r.status, status, r.text);
    assert.equal(r.json.detail.error_code, code, r.text);
    assert.ok(r.json.detail.message && r.json.detail.limit, r.text);
  }
  assert.equal(await reached(limit) - before, n - made.length, `the metric of ${limit}`);
  return made;
}

attack('the number of agents is limited', ['row_limits'], async () => {
  const u = await server.user(), pro = await server.user({ tier: 'pro' });
  const before = (await u.get('/agents')).json.agents.length;
  const made = await flood(12, (i) => u.post('/agents', { json: { name: `a${i}`, system_prompt: 'x'.repeat(60000) } }), 402, 'AGENT_LIMIT_EXCEEDED', 'agents');
  assert.equal(before + made.length, 4);
  assert.equal((await u.request('DELETE', `/agents/${made[0].json.agent_id}`)).status, 204);
  assert.equal((await u.post('/agents', { json: { name: 'again' } })).status, 201);
  assert.equal((await flood(6, (i) => pro.post('/agents', { json: { name: `a${i}` } }), 402, 'AGENT_LIMIT_EXCEEDED', 'agents')).length, 6, 'a tier with a higher limit');
});

attack('the number of versions of an agent is limited', ['row_limits'], async () => {
  const u = await server.user();
  const { agent_id: id } = (await u.post('/agents', { json: { name: 'one' } })).json;
  for (let i = 0; i < 9; i++) assert.equal((await u.request('PUT', `/agents/${id}`, { json: { name: `n${i}` } })).status, 200);
  assert.deepEqual((await u.get(`/agents/${id}/versions`)).json.versions.map((v) => v.version), [10, 9, 8]);
  assert.equal(db.sql(`select count(*) from agents.agent_version where agent_id = '${id}'`), '3');
  assert.equal((await u.get(`/agents/${id}`)).json.version, 10);
});

attack('the number of API keys is limited by tier', ['row_limits'], async () => {
  const u = await server.user(), pro = await server.user({ tier: 'pro' });
  assert.equal((await flood(8, () => u.post('/api-keys', { json: {} }), 409, 'API_KEY_LIMIT_EXCEEDED', 'api_keys')).length, 2);
  assert.equal((await flood(8, () => pro.post('/api-keys', { json: {} }), 409, 'API_KEY_LIMIT_EXCEEDED', 'api_keys')).length, 3);
});

attack('the rate of creating and revoking API keys is limited', ['key_rate'], async () => {
  const u = await server.user();
  const rows = () => Number(db.sql(`select (select count(*) from accounts.api_key where account_id = '${u.id}')
    + (select count(*) from accounts.audit where account_id = '${u.id}')`));
  const before = rows();
  let last, made = 0;
  for (; made < 75; made++) {
    last = await u.post('/api-keys', { json: { name: 'x'.repeat(100) } });
    if (last.status !== 201) break;
    for (const time of ['first', 'second']) assert.equal((await u.request('DELETE', `/api-keys/${last.json.id}`)).status, 204, time);
  }
  assert.equal(last.status, 429, last.text);
  assert.ok(Number(last.headers.get('retry-after')) >= 1);
  assert.ok(made >= 60 && rows() - before === 3 * made, 'one key and two audit entries each');
});

attack('the number of profiles is limited', ['row_limits'], async () => {
  const u = await server.user();
  const make = () => u.post('/mcp/profiles', { json: { integration: 'tracker', credentials: { token: 't' } } });
  assert.equal((await flood(8, make, 409, 'PROFILE_LIMIT_EXCEEDED', 'profiles')).length, 2);
});

attack('the number of MCP servers of agents is limited', ['row_limits'], async () => {
  const u = await server.user();
  const { agent_id: id } = (await u.post('/agents', { json: { name: 'one' } })).json;
  const before = await reached('custom_mcps');
  const custom_mcps = ['a', 'b'].map((name) => ({ name, type: 'http', config: { url: `https://${name}.example/mcp` }, enabledTools: [] }));
  const refused = await u.request('PUT', `/agents/${id}/custom-mcp-tools`, { json: { custom_mcps } });
  assert.deepEqual([refused.status, refused.json.detail.error_code], [402, 'CUSTOM_WORKER_LIMIT_EXCEEDED']);
  assert.equal(await reached('custom_mcps') - before, 1);
});

attack('the number of threads is limited', ['row_limits'], async () => {
  const u = await server.user();
  const before = await reached('threads');
  assert.equal((await u.start({ prompt: 'hello' })).status, 200);
  const refused = await u.start({ prompt: 'hello again' });
  assert.deepEqual([refused.status, refused.json.detail.error_code], [402, 'THREAD_LIMIT_EXCEEDED']);
  assert.equal(await reached('threads') - before, 1);
});

attack('the number of devices is limited; the newest are kept', ['row_limits'], async () => {
  const u = await server.user();
  const before = await reached('devices');
  for (let i = 0; i < 5; i++) {
    const r = await u.post('/notifications/device-token', { json: { device_token: `ExponentPushToken[d${i}]`, device_type: 'x', provider: 'expo' } });
    assert.equal(r.status, 200, r.text);
  }
  assert.equal(db.sql(`select count(*) from notifications.device_token where account_id = '${u.id}'`), '2');
  assert.equal(await reached('devices') - before, 3);
});

attack('the number of inbox entries is limited by tier; the newest are kept', ['inbox_limit'], async () => {
  const admin = new Client(server, server.token({ role: 'admin' }));
  for (const [tier, limit] of [['free', 3], ['pro', 5]]) {
    const u = await server.user({ tier });
    await u.get('/account');
    const before = await reached('inbox_entries');
    for (let i = 0; i < 7; i++) {
      const r = await admin.post('/admin/notifications/trigger', { json: { workflow_id: 'promotional', payload_template: { title: `n${i}` }, subscriber_id: u.id } });
      assert.equal(r.status, 200, r.text);
    }
    const kept = (await u.get('/notifications/inbox')).json.notifications;
    assert.deepEqual(kept.map((n) => n.title), Array.from({ length: limit }, (_, i) => `n${6 - i}`), tier);
    assert.equal((await u.get('/notifications/inbox/unread-count')).json.unread_count, limit);
    assert.equal(await reached('inbox_entries') - before, 7 - limit);
  }
});

// A run that is stopped immediately costs nothing, but its prompt stays in the thread.
attack('the prompt bytes per hour are limited', ['prompt_rate'], async () => {
  const u = await server.user(), other = await server.user();
  const before = await reached('prompt_bytes');
  const prompt = 'x'.repeat(300000);
  const accepted = [];
  let refused;
  for (let i = 0; i < 6 && !refused; i++) {
    const r = await u.start({ prompt, ...(accepted.length ? { thread_id: accepted[0].thread_id } : {}) });
    if (r.status === 200) {
      accepted.push(r.json);
      await u.post(`/agent-run/${r.json.agent_run_id}/stop`);
    } else refused = r;
  }
  assert.equal(refused?.status, 429, refused?.text ?? `${accepted.length} starts`);
  assert.equal(refused.json.detail.error_code, 'PROMPT_RATE_EXCEEDED', refused.text);
  assert.ok(Number(refused.headers.get('retry-after')) > 0, 'Retry-After');
  assert.equal(accepted.length, 3);
  assert.equal(await reached('prompt_bytes') - before, 1);
  assert.equal((await other.start({ prompt: 'hello' })).status, 200, 'another account');
});

attack('unsigned reports of an orchestrator do not flood the log', ['warning_pace'], async () => {
  const from = server.log.length;
  for (let i = 0; i < 100; i++) {
    const r = await fetch(`${server.url}/notifications/webhooks/orchestrator`, { method: 'POST', body: JSON.stringify({ type: 'notification.failed', transactionId: `t${i}`, subscriberId: `forged-${i}` }) });
    assert.equal(r.status, 200, await r.text());
  }
  const lines = server.log.slice(from).split('\n').filter((line) => /\[notifications\]/.test(line));
  assert.ok(lines.length > 0 && lines.length <= 60, `${lines.length} lines`);  // 30 per minute; the test may span two minutes
});
