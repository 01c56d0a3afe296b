// Starts the real binary with a separate data directory and a given database, and sends requests to it.
import { spawn, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync, readFileSync, createWriteStream } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkContract, checkEvent } from './openapi.mjs';

export const root = path.resolve(import.meta.dirname, '../../..');
export const build = process.env.RY_BUILD_DIR ?? path.join(root, 'build');
// Factor by which sanitizer builds are slower.
export const slow = process.env.RY_SANITIZE ? 4 : 1;
export const binary = path.join(build, 'bin/runyard');
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

export async function waitFor(what, fn, ms = 15000) {
  const end = Date.now() + ms;
  for (;;) {
    const v = await fn();
    if (v) return v;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await sleep(20);
  }
}

export const freePort = () => new Promise((resolve) => {
  const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => resolve(port)); });
});

let databases = 0;
// A database in the cluster that ./test started.
export function makeDatabase() {
  const base = process.env.RY_TEST_DATABASE_URL;
  if (!base) throw new Error('RY_TEST_DATABASE_URL is not set');
  // Includes the time: process ids are reused, and a database that an earlier test could not drop must not block this
  // one.
  const name = `ry_e2e_${process.pid}_${++databases}_${Date.now().toString(36)}`;
  const psql = (url, sql) => execFileSync('psql', ['-XqAt', '-v', 'ON_ERROR_STOP=1', url, '-c', sql], { encoding: 'utf8' }).trim();
  psql(base, `create database ${name}`);
  const url = base.replace('/postgres?', `/${name}?`);
  return { url, sql: (text) => psql(url, text), drop: () => psql(base, `drop database if exists ${name} with (force)`) };
}

export const modulesOn = ['accounts', 'agents', 'mail', 'referrals', 'notifications', 'notify_builtin', 'webhooks', 'runs', 'llm_openai', 'llm_anthropic', 'llm_offline', 'sandbox_bubblewrap', 'mcp', 'mcp_http', 'mcp_sse', 'mcp_json', 'mcp_prebuilt', 'console', 'openai_api', 'agui', 'aisdk', 'mcp_server', 'a2a'];

// Settings under which every module registers all of its routes.
export const everything = `
[accounts]
local_login = true
[accounts.login]
verify = "none"
[accounts.identity_webhook]
secrets = ["whsec_${Buffer.from('thirty-two bytes for a secret...').toString('base64')}"]
`;

// settings: TOML text appended to the test's configuration. wrap: command that starts the server. programs: with 'any',
// all local MCP servers may be started unless the test configures this; with 'listed', only those that the settings
// allow.
export class Server {
  constructor({ database, settings = '', dir, llm, set = [], wrap = [], programs = 'any' } = {}) {
    this.ownDir = !dir;
    this.dir = dir ?? mkdtempSync(path.join(tmpdir(), 'ry-e2e-'));
    this.database = database;
    const configured = [settings, ...set].join('\n');
    const allowAny = !/^(deployment\.mode=(?!local)|modules\.mcp_json\.enabled=false)/m.test(configured) && !/allowed_commands|allow_any_command/.test(configured);
    this.set = programs === 'any' && allowAny ? [...set, 'mcp_json.allow_any_command=true'] : set;
    this.wrap = wrap;
    this.config = path.join(this.dir, 'runyard.toml');
    writeFileSync(this.config, `
[deployment]
mode = "local"
[http]
listen = "127.0.0.1:0"
[modules]
path = "${build}/modules"
${modulesOn.map((m) => `${m} = { enabled = true }`).join('\n')}
${database ? `[database]\nurl = "${database.url}"` : ''}
${llm ? `
[runs.providers.mock]
kind = "openai"
base_url = "${llm.url}"
api_key = "sk-test-secret-value"
[runs.models]
"runyard/basic" = "mock/basic"
"runyard/power" = "mock/power"
` : ''}
${settings}
`);
  }

  async start({ timeout = 30000 } = {}) {
    this.out = '';
    this.log = '';
    const args = ['serve', '--config', this.config, '--set', `data_dir=${path.join(this.dir, 'data')}`];
    for (const s of this.set) args.push('--set', s);
    const file = createWriteStream(path.join(this.dir, 'server.log'), { flags: 'a' });
    const [command, ...wrapArgs] = [...this.wrap, binary];
    this.process = spawn(command, [...wrapArgs, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.exited = new Promise((resolve) => this.process.on('exit', (code, signal) => resolve({ code, signal })));
    this.process.stdout.on('data', (d) => (this.out += d));
    this.process.stderr.on('data', (d) => { this.log += d; file.write(d); });
    let exit;
    this.exited.then((e) => (exit = e));
    await waitFor('the listening line', () => {
      if (exit) throw new Error(`the server exited with ${JSON.stringify(exit)}:\n${this.log}`);
      return (this.url = /^listening on (http\S+)$/m.exec(this.out)?.[1]);
    }, timeout);
    if (process.env.NODE_TEST_CONTEXT) checkContract(this.url);  // not in benchmarks
    return this;
  }

  // Sends SIGTERM and returns the exit code and signal.
  async stop() {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode) return;
    this.process.kill('SIGTERM');
    return await this.exited;
  }
  async kill() {
    this.process.kill('SIGKILL');
    return await this.exited;
  }
  async close() {
    await this.stop();
    if (this.ownDir && !process.env.RY_KEEP) rmSync(this.dir, { recursive: true, force: true });
  }

  token({ subject = randomUUID(), email, role, ttl } = {}) {
    const args = ['token', '--config', this.config, '--set', `data_dir=${path.join(this.dir, 'data')}`, '--subject', subject];
    for (const s of this.set) args.push('--set', s);
    if (email) args.push('--email', email);
    if (role) args.push('--role', role);
    if (ttl) args.push('--ttl', String(ttl));
    return execFileSync(binary, args, { encoding: 'utf8' }).trim();
  }

  // A client with a new account; an admin assigns `tier`.
  async user({ tier, ...options } = {}) {
    const id = options.subject ?? randomUUID();
    const user = new Client(this, this.token({ ...options, subject: id }), id);
    if (tier) {
      await user.get('/account');
      const admin = new Client(this, this.token({ role: 'admin' }));
      const r = await admin.request('PUT', `/admin/accounts/${id}`, { json: { tier } });
      if (r.status !== 200) throw new Error(`setting the tier: ${r.status} ${r.text}`);
    }
    return user;
  }
}

export class Client {
  constructor(server, token, id) {
    this.server = server;
    this.token = token;
    this.id = id;
  }
  get url() { return this.server.url; }
  async request(method, pathname, { json, form, headers = {}, signal, body } = {}) {
    const h = { ...headers };
    if (this.token) h.authorization = `Bearer ${this.token}`;
    if (json !== undefined) { body = JSON.stringify(json); h['content-type'] = 'application/json'; }
    if (form) {
      body = new FormData();
      for (const [k, v] of Object.entries(form)) {
        if (k === 'files') for (const f of v) body.append('files', new Blob([f.data]), f.name);
        else body.append(k, v);
      }
    }
    const r = await fetch(this.url + pathname, { method, headers: h, body, signal });
    const text = await r.text();
    let parsed;
    try { parsed = JSON.parse(text); } catch { parsed = undefined; }
    return { status: r.status, headers: r.headers, text, json: parsed };
  }
  get(pathname, options) { return this.request('GET', pathname, options); }
  post(pathname, options) { return this.request('POST', pathname, options); }
  start(form, headers) { return this.post('/agent/start', { form, headers }); }

  // Reads a run's stream to its end, or until `until(event)` is true. Returns the events in order, and the raw text.
  async stream(runId, { headers = {}, query = '', until, onEvent, timeout = 60000 } = {}) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error(`stream of ${runId} did not end within ${timeout} ms`)), timeout);
    const r = await fetch(`${this.url}/agent-run/${runId}/stream${query}`, {
      headers: { authorization: `Bearer ${this.token}`, ...headers }, signal: stop.signal });
    const out = { status: r.status, headers: r.headers, raw: '', events: [], pings: 0 };
    if (r.status !== 200) {
      out.raw = await r.text();
      clearTimeout(timer);
      return out;
    }
    const decoder = new TextDecoder();
    let pending = '';
    try {
      for await (const chunk of r.body) {
        const text = decoder.decode(chunk, { stream: true });
        out.raw += text;
        pending += text;
        for (let end; (end = pending.indexOf('\n\n')) >= 0; pending = pending.slice(end + 2)) {
          const block = pending.slice(0, end);
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data === undefined) continue;
          const event = JSON.parse(data);
          await checkEvent(this.url, event);
          if (event.type === 'ping') { out.pings++; continue; }
          const id = /^id: (\d+)$/m.exec(block)?.[1];
          event.$id = id === undefined ? undefined : Number(id);
          out.events.push(event);
          onEvent?.(event);
          if (until?.(event)) { stop.abort(); return out; }
        }
      }
      out.ended = true;
    } catch (e) {
      if (stop.signal.aborted && stop.signal.reason?.message?.includes('did not end')) throw stop.signal.reason;
      out.error = e;
    } finally {
      clearTimeout(timer);
    }
    return out;
  }
}

export const textOf = (events) => {
  // The text that a client shows, without aborted attempts.
  let text = '', current = '';
  for (const e of events) {
    if (e.type === 'llm_response_start') current = '';
    if (e.type === 'llm_response_chunk') current += e.content;
    if (e.type === 'turn_aborted') current = '';
    if (e.type === 'llm_response_end') { text += current; current = ''; }
  }
  return text + current;
};
export const statuses = (events) => events.filter((e) => e.type === 'status').map((e) => e.status);
export const gapless = (events, from = 1) => events.every((e, i) => e.sequence === from + i && e.$id === e.sequence);
export { readFileSync };
