// The official conformance suite of MCP against the MCP endpoint. The suite was written for a special test server; this
// test gives its tools the form of agents: the proxy, which also adds the token, turns their arguments into a prompt.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, makeDatabase, sleep } from './lib/server.mjs';

const suite = path.join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const results = mkdtempSync(path.join(tmpdir(), 'ry-conformance-'));
let database, llm, server, user, proxy;

// The model behind the agents that replace the suite's tools.
async function answer(request, reply) {
  const { tool, args } = JSON.parse(lastUser(request).split('\n')[0]);
  if (tool === 'failing_job' || tool === 'test_error_handling') return reply.fail(401);
  if (tool === 'slow_compute') await sleep(1000 * args.seconds);
  if (tool === 'greet') return reply.say(`Hello, ${args.name}!`);
  if (tool === 'test_tool_with_progress' && turns(request).length === 0) return reply.tools([{ name: 'list_files', arguments: {} }]);
  return reply.say('This is a simple text response for testing.');
}
const agents = ['slow_compute', 'failing_job', 'greet', 'test_simple_text', 'test_error_handling', 'test_tool_with_progress'];

function adapted(body) {
  let m;
  try { m = JSON.parse(body); } catch { return body; }
  if (m.method !== 'tools/call' || !agents.includes(m.params?.name)) return body;
  m.params.arguments = { prompt: JSON.stringify({ tool: m.params.name, args: m.params.arguments }) };
  return JSON.stringify(m);
}
async function startProxy() {
  const to = new URL(server.url);
  const s = http.createServer(async (req, res) => {
    let body = '';
    for await (const piece of req.setEncoding('utf8')) body += piece;
    body = adapted(body);
    const headers = [];
    for (let i = 0; i < req.rawHeaders.length; i += 2)
      if (!/^(content-length|transfer-encoding)$/i.test(req.rawHeaders[i])) headers.push(req.rawHeaders[i], req.rawHeaders[i + 1]);
    headers.push('Authorization', `Bearer ${user.token}`, 'Content-Length', String(Buffer.byteLength(body)));
    const p = http.request({ host: to.hostname, port: to.port, path: req.url, method: req.method, headers, setHost: false }, (a) => { res.writeHead(a.statusCode, a.rawHeaders); a.pipe(res); });
    p.on('error', () => res.destroy());
    res.on('close', () => p.destroy());
    p.end(body);
  });
  await new Promise((resolve) => s.listen(0, '127.0.0.1', resolve));
  return s;
}

before(async () => {
  database = makeDatabase();
  llm = await startLlm(answer);
  server = await new Server({ database, llm, settings: '[mcp_server]\ncalls_per_account = 100\n[accounts.tiers.enterprise]\nconcurrent_runs = 100\n' }).start();
  user = await server.user({ tier: 'enterprise' });
  for (const name of agents) assert.equal((await user.post('/agents', { json: { name } })).status, 201);
  proxy = await startProxy();
});
after(async () => {
  proxy?.close();
  proxy?.closeAllConnections();
  await server?.close();
  await llm?.close();
  database?.drop();
  rmSync(results, { recursive: true, force: true });
});

// Runs a scenario. Returns its checks.
async function run(scenario, version) {
  const to = path.join(results, `${scenario}-${version}`);
  const args = [suite, 'server', '--url', `http://localhost:${proxy.address().port}/mcp`, '--scenario', scenario, '-o', to, ...(version ? ['--spec-version', version] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_TEST_CONTEXT: undefined } });
  let out = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (out += d));
  await new Promise((resolve) => child.on('exit', resolve));
  const file = readdirSync(to, { recursive: true }).find((f) => f.endsWith('checks.json'));
  assert.ok(file, out);
  return JSON.parse(readFileSync(path.join(to, file), 'utf8'));
}

// The checks that cannot succeed, and the reasons.
const noSuchTool = 'needs a tool that requests input from the client or writes log messages';
const noPrompts = 'needs prompts and resources, which the server does not have';
const everyCallIsATask = 'needs a tool that never becomes a task; here every agent does if the client declares the extension';
const noProtocolErrors = 'needs a task that ends with a JSON-RPC error; a failed run is a result with isError';
const noInput = 'needs a task that requests input from the client';
const scenarios = [
  ['server-initialize', ['2025-06-18', '2025-11-25']],
  ['server-session-lifecycle', ['2025-03-26', '2025-06-18', '2025-11-25']],
  ['ping', ['2025-06-18', '2025-11-25']],
  ['tools-list', ['2025-06-18', '2025-11-25', '2026-07-28']],
  ['tools-call-simple-text', ['2025-06-18', '2025-11-25', '2026-07-28']],
  ['tools-call-error', ['2025-06-18', '2025-11-25', '2026-07-28']],
  ['tools-call-with-progress', ['2025-06-18', '2025-11-25', '2026-07-28']],
  ['server-sse-multiple-streams', ['2025-11-25', '2026-07-28']],
  ['dns-rebinding-protection', ['2025-11-25', '2026-07-28']],
  ['http-header-validation', ['2026-07-28']],
  ['server-stateless', ['2026-07-28'], {
    'sep-2575-server-rejects-undeclared-capability': noSuchTool, 'sep-2575-missing-capability-http-400': noSuchTool,
    'sep-2575-http-server-no-independent-requests-on-stream': noSuchTool, 'sep-2575-server-no-log-without-loglevel': noSuchTool }],
  ['caching', ['2026-07-28'], {
    'sep-2549-prompts-list-caching-hints': noPrompts, 'sep-2549-resources-list-caching-hints': noPrompts, 'sep-2549-resources-templates-list-caching-hints': noPrompts }],
  ['tasks-capability-negotiation', [undefined]],
  ['tasks-wire-fields', [undefined]],
  ['tasks-request-headers', [undefined], { 'tasks-headers-tolerate-mcp-method-on-tools-call': everyCallIsATask }],
  ['tasks-lifecycle', [undefined], { 'tasks-sync-tool-call': everyCallIsATask, 'sep-2663-tasks-get-status-failed': noProtocolErrors }],
  ['tasks-dispatch-and-envelope', [undefined], { 'sep-2663-legacy-task-param-ignored': everyCallIsATask, 'tasks-result-type-complete-on-non-task-responses': noInput }],
];
for (const [scenario, versions, excused = {}] of scenarios)
  for (const version of versions)
    test(`${scenario}${version ? ` (${version})` : ''}`, async () => {
      const checks = await run(scenario, version);
      const failed = checks.filter((c) => c.status === 'FAILURE' || c.status === 'WARNING');
      const unexpected = failed.filter((c) => !(c.id in excused));
      assert.deepEqual(unexpected.map((c) => [c.id, c.errorMessage]), []);
      const ids = new Set(failed.map((c) => c.id));
      assert.deepEqual(Object.keys(excused).filter((id) => !ids.has(id)), [], 'checks that succeed need no excuse');
      assert.ok(checks.length > 0);
    });
