// Claude Code as an MCP client: it adds the server, checks it, and a prompt calls an agent. Its model is simulated.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startAnthropic } from './lib/anthropic.mjs';
import { startHarness } from './lib/harness.mjs';
import { makeHome, run } from './lib/program.mjs';

const program = path.join(import.meta.dirname, `node_modules/@anthropic-ai/claude-code-linux-${process.arch}/claude`);
let harness, user, home, anthropic;

before(async () => {
  home = makeHome();
  harness = await startHarness();
  user = await harness.user();
  assert.equal((await user.post('/agents', { json: { name: 'Data Analyst', description: 'Analyses data' } })).status, 201);
  anthropic = await startAnthropic({ tool: 'mcp__runyard__Data_Analyst', input: { prompt: 'Say hello' } });
});
after(async () => {
  anthropic?.close();
  await harness?.close();
  home?.remove();
});

const claude = (...args) => run(program, args, { home, env: {
  ANTHROPIC_API_KEY: 'sk-ant-test', ANTHROPIC_BASE_URL: anthropic.url, ENABLE_TOOL_SEARCH: 'false', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } });

test('claude mcp add and list', async () => {
  const added = await claude('mcp', 'add', '--scope', 'user', '--transport', 'http', 'runyard', `${harness.server.url}/mcp`, '--header', `Authorization: Bearer ${user.token}`);
  assert.equal(added.code, 0, added.stderr);
  const denied = await claude('mcp', 'add', '--scope', 'user', '--transport', 'http', 'denied', `${harness.server.url}/mcp`, '--header', 'Authorization: Bearer wrong');
  assert.equal(denied.code, 0, denied.stderr);
  const listed = await claude('mcp', 'list');
  assert.match(listed.stdout, /^runyard: .*Connected/m, listed.stderr);
  assert.doesNotMatch(listed.stdout, /^denied: .*✔? ?Connected/m);
  assert.equal((await claude('mcp', 'remove', '--scope', 'user', 'denied')).code, 0);
});

test('a prompt calls an agent', async () => {
  const r = await claude('-p', 'Ask the analyst', '--output-format', 'json', '--allowedTools', 'mcp__runyard__Data_Analyst');
  assert.equal(r.code, 0, r.stderr || r.stdout);
  const offered = anthropic.requests.flatMap((q) => q.tools ?? []).map((t) => t.name);
  for (const name of ['mcp__runyard__Data_Analyst', 'mcp__runyard__get_run', 'mcp__runyard__stop_run']) assert.ok(offered.includes(name), `${name}: ${[...new Set(offered)]}`);
  assert.match(JSON.parse(r.stdout).result, /^The tool said: .*Hello from the model/);
});
