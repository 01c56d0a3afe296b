// The command line of the MCP Inspector against the MCP endpoint, with the protocol revisions before and from 2026-07-28.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startHarness } from './lib/harness.mjs';
import { makeHome, run } from './lib/program.mjs';

const program = path.join(import.meta.dirname, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
let harness, user, home;

before(async () => {
  home = makeHome();
  harness = await startHarness();
  user = await harness.user();
  assert.equal((await user.post('/agents', { json: { name: 'Data Analyst', description: 'Analyses data' } })).status, 201);
});
after(async () => {
  await harness?.close();
  home?.remove();
});

const inspect = (args, { token = user.token } = {}) => run(process.execPath, [
  program, '--cli', `${harness.server.url}/mcp`, '--transport', 'http', '--stored-auth-only', '--format', 'json', '--quiet',
  ...(token ? ['--header', `Authorization: Bearer ${token}`] : []), ...args], { home });
async function result(args) {
  const r = await inspect(args);
  assert.equal(r.code, 0, r.stderr || r.stdout);
  const json = JSON.parse(r.stdout);
  return json.result ?? json;
}

for (const era of ['legacy', 'modern', 'auto']) {
  test(`tools/list and tools/call, ${era}`, async () => {
    const { tools } = await result(['--protocol-era', era, '--method', 'tools/list', '--strict']);
    assert.deepEqual(tools.map((t) => t.name).filter((n) => n !== 'Data_Analyst').slice(-2), ['get_run', 'stop_run']);
    const called = await result(['--protocol-era', era, '--method', 'tools/call', '--tool-name', 'Data_Analyst', '--tool-arg', 'prompt=Say hello']);
    assert.equal(called.content[0].text, 'Hello from the model');
    assert.equal(called.structuredContent.status, 'completed');
    const looked = await result(['--protocol-era', era, '--method', 'tools/call', '--tool-name', 'get_run', '--tool-arg', `run_id=${called.structuredContent.run_id}`]);
    assert.equal(looked.structuredContent.text, 'Hello from the model');
  });
}

test('errors of the server are shown', async () => {
  const invalid = await inspect(['--method', 'tools/call', '--tool-name', 'Data_Analyst', '--tool-args-json', '{}']);
  assert.match(invalid.stdout + invalid.stderr, /prompt/);
  const denied = await inspect(['--method', 'tools/list'], { token: null });
  assert.notEqual(denied.code, 0);
  assert.match(denied.stdout + denied.stderr, /auth/i);
});
