// Misbehaving MCP servers, over all transports: each case ends within its limit with an error that contains the server
// and the cause, and no resources leak.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, assertMcpError, json, node, result, serverOf, startScriptedServer } from './lib/mcp.mjs';
import { misbehaviors, startMisbehavingServer } from './lib/misbehaving_server.mjs';
import { Server, makeDatabase, sleep, textOf, waitFor } from './lib/server.mjs';

// Time limit of a discovery and of a call, in milliseconds. Failures before it have an error code other than
// MCP_TIMEOUT; a tighter wall-clock bound would depend on the load of the machine.
const limit = 5000;
let database, llm, server, serverWithRuns, admin, dir;
const stubborn = path.join(import.meta.dirname, 'lib/stubborn.mjs');

before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-mcp-hostile-'));
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, set: ['mcp_json.sandbox=none', 'mcp.discovery_timeout_seconds=5', 'mcp.call_timeout_seconds=5', 'mcp.max_message_kb=1024'] }).start();
  serverWithRuns = await new Server({ database, llm, set: ['mcp_json.sandbox=none'] }).start();
  admin = await server.user({ role: 'admin' });
});
after(async () => {
  await server?.close();
  await serverWithRuns?.close();
  await llm?.close();
  database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

const list = (config, type = 'http') => timed(() => admin.post('/admin/mcp/tools', { json: { type, config } }));
const call = (config, type = 'http') => timed(() => admin.post('/admin/mcp/call', { json: { type, config, tool: 'echo', arguments: {} } }));
async function timed(fn) {
  const begun = performance.now();
  const r = await fn();
  r.ms = performance.now() - begun;
  return r;
}
const toolsList = (m) => m.method === 'tools/list';
const events = (res) => { res.writeHead(200, { 'content-type': 'text/event-stream' }); return res; };

const cases = {
  'a stream that ends without a response fails immediately': {
    on: (m, res) => toolsList(m) && (events(res).end(': nothing\n\n'), true), code: 'MCP_CONNECT_FAILED', cause: /without an answer/, within: limit },
  'a connection reset in mid-stream fails immediately': {
    on: (m, res) => toolsList(m) && (events(res).write('data: {"jsonrpc"'), setTimeout(() => res.socket.resetAndDestroy(), 20), true),
    code: 'MCP_CONNECT_FAILED', cause: /./, within: limit },
  'a connection reset before the response fails immediately': {
    on: (m, res) => toolsList(m) && (res.socket.resetAndDestroy(), true), code: 'MCP_CONNECT_FAILED', cause: /./, within: limit },
  'a server that never responds times out': {
    on: (m) => toolsList(m) || undefined, code: 'MCP_TIMEOUT', cause: /5 seconds/, within: 2 * limit },
  'a stream of comments times out': {
    on: (m, res) => { if (!toolsList(m)) return undefined; events(res); const t = setInterval(() => res.write(': wait\n\n'), 50); res.on('close', () => clearInterval(t)); return true; },
    code: 'MCP_TIMEOUT', cause: /5 seconds/, within: 2 * limit },
  'an endless body is rejected': {
    on: (m, res) => { if (!toolsList(m)) return undefined; res.writeHead(200, { 'content-type': 'application/json' }); const more = () => { while (!res.destroyed && res.write('[1,'.repeat(20000))); res.once('drain', more); }; more(); return true; },
    code: 'MCP_PROTOCOL_ERROR', cause: /larger than/, within: limit },
  'an endless event is rejected': {
    on: (m, res) => { if (!toolsList(m)) return undefined; events(res).write('data: '); const more = () => { while (!res.destroyed && res.write('x'.repeat(60000))); res.once('drain', more); }; more(); return true; },
    code: 'MCP_PROTOCOL_ERROR', cause: /larger than/, within: limit },
  'an endless sequence of events is rejected': {
    on: (m, res) => { if (!toolsList(m)) return undefined; events(res); const more = () => { while (!res.destroyed && res.write('data: {"jsonrpc":"2.0","method":"n"}\n\n'.repeat(1000))); res.once('drain', more); }; more(); return true; },
    code: 'MCP_PROTOCOL_ERROR', cause: /larger than/, within: limit },
  'a wrong Content-Length is detected': {
    on: (m, res) => toolsList(m) && (res.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }), res.write('{"jsonrpc":"2.0"'), setTimeout(() => res.socket.end(), 20), true),
    code: 'MCP_PROTOCOL_ERROR', cause: /./, within: limit },
  'the error names invalid JSON': {
    on: (m, res) => toolsList(m) && (res.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'), true), code: 'MCP_PROTOCOL_ERROR', cause: /JSON/, within: limit },
  'the error names an HTML page': {
    on: (m, res) => toolsList(m) && (res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>'), true), code: 'MCP_PROTOCOL_ERROR', cause: /text\/html/, within: limit },
  'too deeply nested JSON is rejected': {
    on: (m, res) => toolsList(m) && (res.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(100000)), true), code: 'MCP_PROTOCOL_ERROR', cause: /./, within: limit },
  'a server that rejects the credentials is reported': {
    on: (m, res) => (res.writeHead(401, { 'www-authenticate': 'Bearer' }).end(), true), code: 'MCP_CONNECT_FAILED', cause: /credentials.*401/, within: limit },
  'an overloaded server is not mistaken for a server of an older revision': {
    on: (m, res) => (res.writeHead(503).end('busy'), true), code: 'MCP_CONNECT_FAILED', cause: /503/, within: limit },
  'a 302 redirect of a POST is not followed': {
    on: (m, res) => (res.writeHead(302, { location: '/elsewhere' }).end(), true), code: 'MCP_PROTOCOL_ERROR', cause: /302/, within: limit },
};
// ---- messages, over all transports ----
for (const type of ['http', 'sse', 'json']) {
  for (const [name, c] of Object.entries(misbehaviors)) {
    test(`${type}: ${name}`, async () => {
      const peer = type === 'json' ? undefined : await startMisbehavingServer(name, type);
      try {
        const r = await list(peer ? { url: peer.url } : { command: node, args: [path.join(import.meta.dirname, 'lib/misbehaving_server.mjs'), name] }, type);
        if (c.code) assertMcpError(r, c.code, c.cause, 2 * limit);
        else { assert.equal(r.status, 200, r.text); assert.equal(r.json.tools.length, c.tools); assert.ok(r.ms < limit, `${r.ms}`); }
      } finally {
        peer?.close();
      }
    });
  }
}

for (const [name, c] of Object.entries(cases)) {
  test(`http: ${name}`, async () => {
    const peer = await startScriptedServer((m, res, req) => c.on(m, res, req) || undefined);
    try {
      const r = await list({ url: peer.url });
      if (c.code) assertMcpError(r, c.code, c.cause, c.within);
      else { assert.equal(r.status, 200, r.text); assert.equal(r.json.tools.length, c.tools, r.text); assert.ok(r.ms < limit); }
      await waitFor('the connections to be closed', () => peer.sockets.size === 0);
    } finally {
      peer.close();
    }
  });
}

test('http: a redirect to another origin is not followed and carries no credentials', async () => {
  const other = await startScriptedServer();
  const peer = await startScriptedServer((m, res) => (res.writeHead(307, { location: other.url.replace('127.0.0.1', 'localhost') }).end(), true));
  const r = await list({ url: peer.url, headers: { Authorization: 'Bearer secret-of-peer' } });
  assert.equal(r.status, 502, r.text);
  assert.equal(other.seen.length, 0);
  peer.close();
  other.close();
});

test('http: an expired session is replaced and the call is repeated once', async () => {
  let sessions = 0;
  const peer = await startScriptedServer((m, res, req) => {
    if (m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': `s${++sessions}` });
    if (m.method === 'tools/call' && req.headers['mcp-session-id'] === 's1') { res.writeHead(404).end(); return true; }
    return undefined;
  });
  const r = await call({ url: peer.url });
  assert.equal(r.status, 200, r.text);
  assert.equal(sessions, 2);
  await waitFor('both sessions to be terminated', () => peer.seen.filter((s) => s.method === 'DELETE').length === 2);
  peer.close();
});

test('http: an interrupted stream is resumed at the last event', async () => {
  let resumed;
  const peer = await startScriptedServer((m, res, req) => {
    if (m.method === 'tools/call') { events(res).end(`id: e1\nretry: 100\ndata:\n\n`); resumed = m.id; return true; }
    if (req.method === 'GET' && req.headers['last-event-id'] === 'e1') { events(res).end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: resumed, result: { content: [{ type: 'text', text: 'resumed' }] } })}\n\n`); return true; }
    return undefined;
  });
  const r = await call({ url: peer.url });
  assert.equal(r.json.content, 'resumed', r.text);
  assert.ok(r.ms < limit, `${r.ms}`);
  peer.close();
});

test('http: a call whose interrupted stream cannot be resumed is not repeated', async () => {
  const peer = await startScriptedServer((m, res, req) => {
    if (m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': 'x' });
    if (m.method === 'tools/call') { events(res).end('id: e1\nretry: 50\ndata:\n\n'); return true; }
    if (req.method === 'GET') { res.writeHead(404).end(); return true; }
    return undefined;
  });
  assertMcpError(await call({ url: peer.url }), 'MCP_CONNECT_FAILED', /interrupted.*404/, limit);
  assert.equal(peer.seen.filter((s) => s.message.method === 'tools/call').length, 1);
  peer.close();
});

test('http: an abandoned call is cancelled at the server, then the session is terminated', async () => {
  const peer = await startScriptedServer((m, res) => {
    if (m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': 'x' });
    return m.method === 'tools/call' || undefined;
  });
  assertMcpError(await call({ url: peer.url }), 'MCP_TIMEOUT', /5 seconds/, 2 * limit);
  await waitFor('the DELETE of the session', () => peer.seen.some((s) => s.method === 'DELETE'));
  const callId = peer.seen.find((s) => s.message.method === 'tools/call').message.id;
  const cancelled = peer.seen.findIndex((s) => s.message.method === 'notifications/cancelled');
  assert.equal(peer.seen[cancelled]?.message.params.requestId, callId);
  assert.ok(cancelled < peer.seen.findIndex((s) => s.method === 'DELETE'));
  peer.close();
});

test('http: the response does not wait for the termination of the session', async () => {
  let deleteClosed = false;
  const peer = await startScriptedServer((m, res, req) => {
    if (m.method === 'initialize') return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': 'x' });
    if (req.method !== 'DELETE') return undefined;
    res.on('close', () => (deleteClosed = true));  // never answered: the server closes it after three seconds
    return true;
  });
  const r = await call({ url: peer.url });
  assert.equal(r.status, 200, r.text);
  assert.equal(deleteClosed, false);
  await waitFor('the DELETE of the session', () => peer.seen.some((s) => s.method === 'DELETE'));
  peer.close();
});

// ---- legacy SSE ----
async function ssePeer(onGet) {
  const server = http.createServer((req, res) => { if (req.method === 'GET') onGet(events(res), req); else { req.resume(); res.writeHead(202).end(); } });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  return { url: `http://127.0.0.1:${server.address().port}/sse`, close: () => { server.closeAllConnections(); server.close(); } };
}
for (const [name, onGet, code, cause, within] of [
  ['a stream without an endpoint event times out', () => {}, 'MCP_TIMEOUT', /5 seconds/, 2 * limit],
  ['an endpoint on another origin is rejected', (res) => res.write('event: endpoint\ndata: http://localhost:9/m\n\n'), 'MCP_PROTOCOL_ERROR', /not its own/, limit],
  ['a stream that ends immediately fails immediately', (res) => res.end(), 'MCP_CONNECT_FAILED', /ended/, limit],
  ['a stream that ends with pending requests fails immediately', (res) => { res.write('event: endpoint\ndata: /m\n\n'); setTimeout(() => res.end(), 100); }, 'MCP_CONNECT_FAILED', /ended/, limit],
  ['an endless event is rejected', (res) => { res.write('data: '); const more = () => { while (!res.destroyed && res.write('x'.repeat(60000))); res.once('drain', more); }; more(); }, 'MCP_PROTOCOL_ERROR', /larger than/, limit]]) {
  test(`sse: ${name}`, async () => {
    const peer = await ssePeer(onGet);
    assertMcpError(await list({ url: peer.url }, 'sse'), code, cause, within);
    peer.close();
  });
}

test('sse: an abandoned call is cancelled at the server before the stream is closed', async () => {
  const seen = [];
  let stream, closed = false;
  const peer = http.createServer((req, res) => {
    if (req.method === 'GET') { stream = events(res); stream.write('event: endpoint\ndata: /m\n\n'); res.on('close', () => (closed = true)); return; }
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => {
      const m = JSON.parse(body);
      seen.push({ m, closed });
      res.writeHead(202).end();
      if (m.method === 'initialize') stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { protocolVersion: '2024-11-05', capabilities: { tools: {} } } })}\n\n`);
    });
  });
  await new Promise((r) => peer.listen(0, '127.0.0.1', r));
  assertMcpError(await call({ url: `http://127.0.0.1:${peer.address().port}/sse` }, 'sse'), 'MCP_TIMEOUT', /5 seconds/, 2 * limit);
  await waitFor('the end of the stream', () => closed);
  const cancelled = seen.find((s) => s.m.method === 'notifications/cancelled');
  assert.equal(cancelled?.m.params.requestId, seen.find((s) => s.m.method === 'tools/call').m.id);
  assert.equal(cancelled.closed, false);
  peer.closeAllConnections();
  peer.close();
});

// ---- local programs ----
const program = (behaviour, note) => ({ command: node, args: [stubborn, behaviour, ...(note ? [note] : [])] });
// Processes whose environment contains RY_MARK with this text.
const marked = (text) => readdirSync('/proc').filter((p) => {
  try { return /^\d+$/.test(p) && isRunning(p) && readFileSync(`/proc/${p}/environ`, 'latin1').includes(`RY_MARK=${text}`); } catch { return false; }
});
const isRunning = (pid) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
for (const behaviour of ['ignore-eof', 'ignore-term', 'grandchild']) {
  test(`json: a program that does not exit (${behaviour}) is killed without delaying the response`, async () => {
    const note = path.join(dir, behaviour);
    const r = await call(program(behaviour, note), 'json');
    assert.equal(r.json?.content, 'still here', r.text);
    const pids = readFileSync(note, 'utf8').split('\n');
    assert.ok(pids.some(isRunning), 'the response was sent before the program exited');
    await waitFor('all its processes to be gone', () => pids.every((p) => !isRunning(p)));
  });
}
for (const behaviour of ['noise', 'flood', 'pings', 'wrong-ids', 'dies-on-discover']) {
  test(`json: a program with ${behaviour} can be listed`, async () => {
    const r = await list(program(behaviour), 'json');
    assert.equal(r.status, 200, r.text);
    assert.deepEqual(r.json.tools.map((t) => t.name), ['echo']);
  });
}
// Waits until the log contains the cause together with the request id or `id`.
const waitForLoggedCause = (r, cause, id = r.headers.get('x-request-id')) => waitFor('the cause in the log', () => server.log.split('\n').some((line) =>
  line.includes('a request to an MCP server failed') && line.includes(id) && cause.test(line)));
test('json: if a program exits early, the error contains its exit code, and the log its stderr', async () => {
  const r = await list(program('exit'), 'json');
  assertMcpError(r, 'MCP_CONNECT_FAILED', /exit code 3$/, limit);
  assert.doesNotMatch(r.text, /licence/);
  await waitForLoggedCause(r, /standard error: no such licence/);
});
test('json: a tool result does not contain stderr either', async () => {
  const u = await serverWithRuns.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type: 'json', config: program('exit'), enabledTools: ['echo'] }] } });
  assert.equal(put.status, 200, put.text);
  const run = await u.start({ prompt: '[call remote__echo {}]' });
  const s = await u.stream(run.json.agent_run_id, { timeout: 60000 });
  assert.match(textOf(s.events), /MCP server "remote": the program ended with exit code 3/);
  assert.doesNotMatch(s.raw, /licence/);
  await waitFor('the cause in the log', () => serverWithRuns.log.split('\n').some((line) => line.includes(run.json.agent_run_id) && line.includes('no such licence')));
});
test('administrators see the message of a JSON-RPC error of a listing, users do not', async () => {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  for (const method of ['tools/list', 'initialize']) {
    const p = await startScriptedServer((m, res) => m.method === method
      && (json(res, 200, { jsonrpc: '2.0', id: m.id, error: { code: -32050, message: 'no route to db7.internal', data: { host: '10.9.8.7' } } }), true) || undefined);
    try {
      const r = await timed(() => u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': p.url, 'x-mcp-type': 'http' } }));
      assertMcpError(r, 'MCP_PROTOCOL_ERROR', new RegExp(`${method} was refused by the server \\(JSON-RPC error -32050\\)$`), limit);
      assert.doesNotMatch(r.text, /db7|10\.9/);
      await waitForLoggedCause(r, /no route to db7\.internal.*10\.9\.8\.7/);
      assertMcpError(await list({ url: p.url }), 'MCP_PROTOCOL_ERROR', /no route to db7.*-32050.*10\.9\.8\.7/, limit);
    } finally {
      p.close();
    }
  }
});
test('network errors are in the log only', async () => {
  for (const type of ['http', 'sse']) {
    const r = await list({ url: 'http://127.0.0.1:1/mcp' }, type);
    assertMcpError(r, 'MCP_CONNECT_FAILED', /: the connection failed$/, limit);
    await waitForLoggedCause(r, /could not connect to 127\.0\.0\.1:1: \S/);
  }
});
test('json: an abandoned call is cancelled at the program', async () => {
  const note = path.join(dir, 'cancelled');
  assertMcpError(await call(program('no-result', note), 'json'), 'MCP_TIMEOUT', /5 seconds/, 2 * limit);
  await waitFor('the note', () => readFileSync(note, 'utf8').includes('cancelled'));
});
test('json: invalid UTF-8 in the output of a program does not corrupt the response', async () => {
  const r = await fetch(`${server.url}/admin/mcp/tools`, { method: 'POST', headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'json', config: program('bytes') }) });
  const text = new TextDecoder('utf-8', { fatal: true }).decode(await r.arrayBuffer());
  assert.match(JSON.parse(text).detail.message, /exit code 4$/);
  await waitForLoggedCause(r, /standard error: .*\ufffdbroken/);
});
test('json: the error names a program that does not exist', async () => {
  assertMcpError(await list({ command: '/no/such/program' }, 'json'), 'MCP_CONNECT_FAILED', /\/no\/such\/program/, limit);
});
test('json: a program that does not respond is terminated after the time limit', async () => {
  assertMcpError(await list(program('silent'), 'json'), 'MCP_TIMEOUT', /5 seconds/, 2 * limit);
});
test('json: an endless line is rejected', async () => {
  assertMcpError(await list(program('endless-line'), 'json'), 'MCP_PROTOCOL_ERROR', /longer than/, limit);
});
test('json: only the configured environment reaches the program', async () => {
  const code = 'process.stderr.write(Object.keys(process.env).sort().join(" ")); process.exit(1)';
  const r = await list({ command: node, args: ['-e', code], env: { GIVEN: 'x' } }, 'json');
  await waitForLoggedCause(r, /standard error: GIVEN HOME LANG LOGNAME PATH SHELL TERM TMPDIR USER/);
});

// ---- local programs in the sandbox ----
test('json: a sandboxed program reaches only its grants and leaves nothing behind', async () => {
  const readable = path.join(import.meta.dirname), writable = path.join(dir, 'shared');
  mkdirSync(writable);
  chmodSync(dir, 0o755);
  chmodSync(writable, 0o777);
  writeFileSync(path.join(dir, 'secret'), 'of the host');
  const sandboxedServer = await new Server({ database: makeDatabase(), llm, set: ['deployment.mode=production', 'auth.jwt.hs256_secret=0123456789abcdef0123456789abcdef', 'mcp.call_timeout_seconds=20'],
    settings: `
[mcp.json]
allowed_commands = ["${node} ${stubborn}", "${node} ${serverOf('memory')}", "${node} ${serverOf('filesystem')}", "/no/such/program"]
allowed_env = ["MEMORY_FILE_PATH", "RY_MARK"]
readable = ["${readable}"]
writable = ["${writable}"]
network = false
memory_mb = 512
` }).start();
  try {
    const u = await sandboxedServer.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const server = (name, config, enabledTools) => ({ name, type: 'json', config: { command: node, ...config }, enabledTools });
    const look = (name, ...args) => server(name, { args: [stubborn, ...args], env: { RY_MARK: `mark-${name}` } }, ['echo']);
    const custom_mcps = [look('eyes', 'look', path.join(dir, 'secret'), writable), look('greedy', 'hoard'), look('gang', 'hoard-together'), look('family', 'grandchild'),
      look('stays', 'ignore-term'), server('memory', { args: [serverOf('memory')], env: { MEMORY_FILE_PATH: path.join(writable, 'm.json') } }, ['create_entities']),
      server('files', { args: [serverOf('filesystem'), writable] }, ['read_text_file']), { name: 'none', type: 'json', config: { command: '/no/such/program' }, enabledTools: ['echo'] }];
    for (const bad of [server('x', { args: ['-e', '1'] }, []), server('x', { command: '/bin/sh' }, [])]) {
      const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [bad] } });
      assert.equal(r.status, 400, r.text);
    }
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } });
    assert.equal(put.status, 200, put.text);
    const use = async (tool, args = {}) => {
      const run = await u.start({ prompt: `[call ${tool} ${JSON.stringify(args)}]` });
      const s = await u.stream(run.json.agent_run_id, { timeout: 60000 });
      return textOf(s.events);
    };
    const seen = JSON.parse((await use('eyes__echo')).replace('said: ', ''));
    assert.equal(seen.secret, 'ENOENT', 'paths that are not granted do not exist');
    assert.equal(seen.home, '/workspace');
    assert.deepEqual(seen.files, [], 'its home is private and empty');
    assert.equal(seen.written, true, 'it can write to its home and to the writable path');
    assert.notEqual(seen.uid, 0);
    assert.ok(seen.processes < 10, `it sees ${seen.processes} processes`);
    assert.deepEqual(seen.interfaces, ['lo']);
    assert.deepEqual(seen.env, ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'RY_MARK', 'SHELL', 'TERM', 'TMPDIR', 'USER']);
    assert.equal(readFileSync(path.join(writable, 'by-the-program'), 'utf8'), 'x');
    const again = JSON.parse((await use('eyes__echo')).replace('said: ', ''));
    assert.deepEqual(again.files, [], 'the next program finds no files of it');
    assert.match(await use('greedy__echo'), /MCP server "greedy": .*(memory|signal|exit code)/i);
    assert.match(await use('gang__echo'), /MCP server "gang": .*\(the limit mcp_json\.memory_mb = 512 was reached\)/);
    assert.match(await use('none__echo'), /MCP server "none": .*exit code 127 \(the sandbox contains/);
    for (const name of ['family', 'stays']) {
      assert.match(await use(`${name}__echo`), /still here/);
      await waitFor(`all processes of ${name} to be gone`, () => marked(`mark-${name}`).length === 0);
    }
    assert.match(await use('memory__create_entities', { entities: [{ name: 'ferry', entityType: 'ship', observations: ['blue'] }] }), /ferry/);
    assert.match(await use('files__read_text_file', { path: path.join(writable, 'm.json') }), /ferry/);
    assert.equal(marked('mark-').length, 0);
  } finally {
    await sandboxedServer.close();
  }
});

test('json: without a sandbox each program has its own home, which is deleted when it exits', async () => {
  const home = async () => JSON.parse((await call(program('look'), 'json')).json.content);
  const [a, b] = [await home(), await home()];
  assert.notEqual(a.home, b.home);
  assert.ok(a.written && b.written);
  await call(program('noise'), 'json');  // leaves its home empty
  await waitFor('all homes to be deleted', () => readdirSync(path.dirname(a.home)).length === 0);
});

test('descriptors, child processes and memory do not leak', async () => {
  const pid = server.process.pid;
  const fds = () => readdirSync(`/proc/${pid}/fd`).length;
  const children = () => readdirSync(`/proc/${pid}/task`).flatMap((t) => readFileSync(`/proc/${pid}/task/${t}/children`, 'utf8').split(' ').filter(Boolean));
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  const truncated = await startScriptedServer((m, res) => toolsList(m) && (events(res).end(), true) || undefined);
  const endless = await startScriptedServer(cases['an endless body is rejected'].on);
  const many = await startMisbehavingServer('a huge tool list is truncated', 'http');
  const round = async () => {
    for (const peer of [truncated, endless, many]) await list({ url: peer.url });
    await call(program('exit'), 'json');
    await list(program('flood'), 'json');
  };
  for (let i = 0; i < 10; i++) await round();
  await sleep(1500);
  const before = { fds: fds(), memory: memory() };
  for (let i = 0; i < 30; i++) await round();
  for (const peer of [truncated, endless, many]) peer.close();
  await waitFor('descriptors to be closed', () => fds() <= before.fds + 3);
  // The remaining child is the shell that terminates leftover processes if the server is killed.
  await waitFor('programs to be gone', () => children().length <= 1);
  const grown = memory() - before.memory;
  assert.ok(grown < 24, `30 rounds took ${grown.toFixed(1)} MiB`);
});
