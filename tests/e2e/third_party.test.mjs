// Third-party transports, built out of tree with only the installed SDK (abi.third_party puts them into third_party/ of
// the build) and installed next to the built-in modules: real runs with real servers, and misbehaving peers.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { bridgeUnix, bridgeWebSocket } from './lib/bridge.mjs';
import { makeCertificate } from './lib/certificate.mjs';
import { startLlm } from './lib/llm.mjs';
import { callingModel, assertMcpError, node, serverOf, startEverything } from './lib/mcp.mjs';
import { Server, binary, build, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

const names = ['websocket', 'unix_c', 'unix_rust'];
const certificate = makeCertificate();
// [label, module, certificate] of each tested transport.
const transports = [['websocket', 'websocket'], ['websocket over TLS', 'websocket', certificate], ['unix_c', 'unix_c'], ['unix_rust', 'unix_rust']];
// Time limit of a discovery and of a call, in milliseconds. Failures before it have an error code other than
// MCP_TIMEOUT; a tighter wall-clock bound would depend on the load of the machine.
const limit = 3000;
const stubborn = path.join(import.meta.dirname, 'lib/stubborn.mjs');
const everything = [node, serverOf('everything'), 'stdio'];
let dir, database, llm, server, admin;

before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-3rd-'));
  const modules = path.join(dir, 'modules');
  mkdirSync(modules);
  for (const file of readdirSync(path.join(build, 'modules')).filter((f) => f.endsWith('.so'))) symlinkSync(path.join(build, 'modules', file), path.join(modules, file));
  for (const name of names) {
    const made = path.join(build, 'third_party', `${name}.so`);
    assert.ok(existsSync(made), `${made} does not exist: run ctest -R abi.third_party to build it`);
    copyFileSync(made, path.join(modules, `${name}.so`));
  }
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: [`modules.path=${modules}`, 'mcp.discovery_timeout_seconds=3', 'mcp.call_timeout_seconds=3',
    'mcp.max_message_kb=1024', `websocket.ca_file=${certificate.file}`, ...names.map((n) => `modules.${n}.enabled=true`)] }).start();
  admin = await server.user({ role: 'admin' });
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
  certificate.remove();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

let sockets = 0;
const startBridge = (name, argv, seen, tls) => (name === 'websocket' ? bridgeWebSocket(argv, seen, tls) : bridgeUnix(path.join(dir, `${++sockets}.sock`), argv));
async function adminRequest(operation, type, config) {
  const begun = performance.now();
  const r = await admin.post(`/admin/mcp/${operation}`, { json: { type, config, ...(operation === 'call' ? { tool: 'echo', arguments: {} } : {}) } });
  r.ms = performance.now() - begun;
  return r;
}

for (const [label, name, tls] of transports) {
  test(`${label}: a run calls a tool of a real server`, async () => {
    const seen = [];
    const peer = await startBridge(name, everything, seen, tls);
    try {
      const u = await server.user({ tier: 'pro' });
      const agent = (await u.get('/agents')).json.agents[0].agent_id;
      const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [
        { name: 'third', type: 'http', customType: name, config: { url: peer.url, headers: { Authorization: 'Bearer for-the-third' } }, enabledTools: ['echo', 'get-sum'] }] } });
      assert.equal(put.status, 200, put.text);
      assert.equal(put.json.data.custom_mcps[0].customType, name);
      for (const [prompt, expected] of [['what do you have?', /third__echo,third__get-sum/], ['[call third__echo {"message":"over there"}]', /Echo: over there/], ['[call third__get-sum {"a":2,"b":3}]', /5/]]) {
        const started = await u.start({ prompt });
        assert.equal(started.status, 200, started.text);
        const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
        assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
        assert.match(textOf(s.events), expected);
      }
      if (name === 'websocket') assert.equal(seen.at(-1).authorization, 'Bearer for-the-third');
      await waitFor('the connections to be closed', () => peer.open.size === 0);
    } finally {
      peer.close();
    }
  });

  for (const behaviour of ['noise', 'flood', 'pings', 'wrong-ids', 'dies-on-discover', 'ignore-term']) {
    test(`${label}: a misbehaving server (${behaviour}) can be listed and called`, async () => {
      const peer = await startBridge(name, [node, stubborn, behaviour], [], tls);
      try {
        const r = await adminRequest('tools', name, { url: peer.url });
        assert.equal(r.status, 200, r.text);
        assert.deepEqual(r.json.tools.map((t) => t.name), ['echo']);
        assert.match((await adminRequest('call', name, { url: peer.url })).text, /still here/);
      } finally {
        peer.close();
      }
    });
  }
  test(`${label}: a silent server is abandoned after the time limit`, async () => {
    const peer = await startBridge(name, [node, stubborn, 'silent'], [], tls);
    assertMcpError(await adminRequest('tools', name, { url: peer.url }), 'MCP_TIMEOUT', /3 seconds/, 2 * limit);
    await waitFor('the connection to be closed', () => peer.open.size === 0);
    peer.close();
  });
  test(`${label}: a server that exits immediately fails immediately`, async () => {
    const peer = await startBridge(name, [node, '-e', 'process.exit(3)'], [], tls);
    assertMcpError(await adminRequest('tools', name, { url: peer.url }), 'MCP_CONNECT_FAILED', /closed|broke/, limit);
    peer.close();
  });
}

test('runyard module check passes for third-party and built-in transports with real servers', { timeout: 300_000 }, async () => {
  const [http, sse, ...peers] = await Promise.all([startEverything('streamableHttp'), startEverything('sse'), ...names.map((n) => startBridge(n, [node, stubborn, 'well-behaved']))]);
  try {
    const third = names.map((n, i) => [path.join(build, 'third_party', `${n}.so`), { url: peers[i].url }]);
    const builtIn = [['mcp_http', { url: http.url }], ['mcp_sse', { url: sse.url }], ['mcp_json', { command: node, args: [stubborn, 'well-behaved'] }]].map(([n, c]) => [path.join(build, 'modules', `${n}.so`), c]);
    // The bridges run in this process, so it must not block.
    await Promise.all([...third, ...builtIn].map(async ([file, config]) => {
      const { stdout } = await promisify(execFile)(binary, ['module', 'check', file, '--server', JSON.stringify(config)]).catch((e) => e);
      assert.match(stdout, /^15 passed, 0 failed, 1 skipped$/m, `${file}\n${stdout}`);
    }));
  } finally {
    for (const p of [http, sse, ...peers]) p.close();
  }
});

for (const name of ['unix_c', 'unix_rust']) {
  test(`${name}: the error names a socket that does not exist`, async () => {
    assertMcpError(await adminRequest('tools', name, { url: 'unix:///no/such/socket' }), 'MCP_CONNECT_FAILED', /\/no\/such\/socket/, limit);
  });
  test(`${name}: an endless line is rejected`, async () => {
    const peer = await startBridge(name, [node, stubborn, 'endless-line']);
    assertMcpError(await adminRequest('tools', name, { url: peer.url }), 'MCP_PROTOCOL_ERROR', /longer than/, limit);
    await waitFor('the connection to be closed', () => peer.open.size === 0);
    peer.close();
  });
  test(`${name}: invalid URLs are rejected`, async () => {
    for (const url of ['http://127.0.0.1/mcp', 'unix://relative', '/plain']) assert.equal((await adminRequest('tools', name, { url })).status, 400, url);
  });
}

// ---- peers that violate the WebSocket protocol ----
const accept = (key) => createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
// after(socket) is called after the handshake response; without it the handshake is not answered.
async function rawPeer(after, { status = 101, headers = '' } = {}) {
  const open = new Set();
  const tcp = net.createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => {});
    let head = '';
    socket.on('data', (d) => {
      if (head.includes('\r\n\r\n')) return;
      head += d;
      if (!head.includes('\r\n\r\n') || after === undefined) return;
      const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1];
      socket.write(status === 101 ? `HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept(key)}\r\n${headers}\r\n`
        : `HTTP/1.1 ${status} No\r\n${headers}content-length: 0\r\n\r\n`);
      after(socket);
    });
  });
  await new Promise((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  return { url: `ws://127.0.0.1:${tcp.address().port}/mcp`, open, close: () => { for (const s of open) s.destroy(); tcp.close(); } };
}
const frame = (opcode, bytes, fin = 0x80) => Buffer.concat([Buffer.from(bytes.length < 126 ? [fin | opcode, bytes.length] : [fin | opcode, 126, bytes.length >> 8, bytes.length & 255]), Buffer.from(bytes)]);
const writeEndlessly = (socket, first, next) => {
  socket.write(first);
  const more = () => { while (!socket.destroyed && socket.write(next)); socket.once('drain', more); };
  more();
};
const cases = {
  'an unanswered handshake times out': { code: 'MCP_TIMEOUT', cause: /3 seconds/, within: 2 * limit },
  'the error names a rejected handshake': { after: () => {}, options: { status: 404 }, code: 'MCP_CONNECT_FAILED', cause: /did not open a WebSocket/, within: limit },
  'a redirect is not followed': { after: () => {}, options: { status: 307, headers: 'location: ws://127.0.0.1:9/\r\n' }, code: 'MCP_CONNECT_FAILED', cause: /did not open/, within: limit },
  'an invalid frame': { after: (s) => s.write(Buffer.alloc(20, 0xff)), code: 'MCP_PROTOCOL_ERROR', cause: /not the WebSocket protocol/, within: limit },
  'a masked frame': { after: (s) => s.write(Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5])), code: 'MCP_PROTOCOL_ERROR', cause: /not the WebSocket protocol/, within: limit },
  'text that is not UTF-8': { after: (s) => s.write(frame(1, [0xc3, 0x28])), code: 'MCP_PROTOCOL_ERROR', cause: /not the WebSocket protocol/, within: limit },
  'a binary message': { after: (s) => s.write(frame(2, Buffer.from('{}'))), code: 'MCP_PROTOCOL_ERROR', cause: /not text/, within: limit },
  'a frame with an excessive length is rejected': { after: (s) => s.write(Buffer.from([0x81, 127, 0x7f, 0, 0, 0, 0, 0, 0, 0])), code: 'MCP_PROTOCOL_ERROR', cause: /larger than/, within: limit },
  'an endlessly fragmented message is rejected': { after: (s) => writeEndlessly(s, frame(1, Buffer.from('{'), 0), frame(0, Buffer.alloc(60000, 0x20), 0)), code: 'MCP_PROTOCOL_ERROR', cause: /larger than/, within: limit },
  'a connection that is reset': { after: (s) => setTimeout(() => s.resetAndDestroy(), 50), code: 'MCP_CONNECT_FAILED', cause: /broke/, within: limit },
  'an immediate close frame': { after: (s) => s.write(frame(8, [0x03, 0xe8])), code: 'MCP_CONNECT_FAILED', cause: /closed/, within: limit },
  'endless pings': { after: (s) => { const t = setInterval(() => s.write(frame(9, [])), 1); s.on('close', () => clearInterval(t)); }, code: 'MCP_TIMEOUT', cause: /3 seconds/, within: 2 * limit },
};
for (const [name, c] of Object.entries(cases)) {
  test(`websocket: ${name}`, async () => {
    const peer = await rawPeer(c.after, c.options);
    try {
      assertMcpError(await adminRequest('tools', 'websocket', { url: peer.url }), c.code, c.cause, c.within);
      await waitFor('the connection to be closed', () => peer.open.size === 0);
    } finally {
      peer.close();
    }
  });
}
test('websocket: messages of many sizes are received completely, even if fragmented', async () => {
  // Answers every request with JSON padded to lengths around the limits of the frame length formats.
  const peer = await rawPeer((socket) => {
    let rest = Buffer.alloc(0);
    socket.on('data', (d) => {
      rest = Buffer.concat([rest, d]);
      for (;;) {
        if (rest.length < 2) return;
        const short = rest[1] & 127;
        const at = short < 126 ? 2 : 4;
        if (short === 127 || rest.length < at + 4) return;
        const size = short < 126 ? short : rest.readUInt16BE(2);
        if (rest.length < at + 4 + size) return;
        const text = Buffer.from(rest.subarray(at + 4, at + 4 + size)).map((b, i) => b ^ rest[at + (i & 3)]);
        const opcode = rest[0] & 15;
        rest = rest.subarray(at + 4 + size);
        if (opcode !== 1) { if (opcode === 8) socket.end(frame(8, text)); continue; }
        const m = JSON.parse(text.toString());
        if (m.id === undefined) continue;
        const result = m.method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }
          : { tools: [125, 126, 127, 65000].map((n) => ({ name: `t${n}`, description: 'é'.repeat(n / 5), inputSchema: { type: 'object' } })) };
        const answer = Buffer.from(JSON.stringify(m.method === 'server/discover' ? { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no' } } : { jsonrpc: '2.0', id: m.id, result }));
        // Fragments of 100 bytes, which split characters, with a ping between them.
        for (let i = 0; i < answer.length; i += 100) {
          const last = i + 100 >= answer.length;
          socket.write(frame(i === 0 ? 1 : 0, answer.subarray(i, i + 100), last ? 0x80 : 0));
          if (i === 100) socket.write(frame(9, [1, 2]));
        }
      }
    });
  });
  try {
    const r = await adminRequest('tools', 'websocket', { url: peer.url });
    assert.equal(r.status, 200, r.text);
    assert.equal(r.json.tools.find((t) => t.name === 't65000').description, 'é'.repeat(13000));
  } finally {
    peer.close();
  }
});
test('websocket: invalid URLs are rejected', async () => {
  for (const url of ['http://127.0.0.1/mcp', 'ws://', 'ws://user@host/', 'ws://a:99999999/', 'ws://a b/', 'wss://', 'WSS://host/', 'wss://host:0x1bb/']) assert.equal((await adminRequest('tools', 'websocket', { url })).status, 400, url);
});
test('websocket over TLS: only a server with a valid certificate for its name is contacted', async () => {
  const untrusted = makeCertificate();
  const [known, unknown, plain] = await Promise.all([bridgeWebSocket([node, stubborn, 'honest'], [], certificate),
    bridgeWebSocket([node, stubborn, 'honest'], [], untrusted), bridgeWebSocket([node, stubborn, 'honest'])]);
  try {
    assert.equal((await adminRequest('tools', 'websocket', { url: known.url })).status, 200);
    for (const url of [`wss://127.0.0.1:${known.port}/mcp`, unknown.url]) {
      assertMcpError(await adminRequest('tools', 'websocket', { url, headers: { Authorization: 'Bearer of-the-user' } }), 'MCP_CONNECT_FAILED', /no TLS with .*certificate verify failed/, limit);
    }
    assertMcpError(await adminRequest('tools', 'websocket', { url: `wss://localhost:${plain.port}/mcp` }), 'MCP_CONNECT_FAILED', /no TLS with localhost/, limit);
    assertMcpError(await adminRequest('tools', 'websocket', { url: `ws://localhost:${known.port}/mcp` }), 'MCP_CONNECT_FAILED', /did not open a WebSocket/, limit);
    assert.deepEqual([...unknown.seen, ...plain.seen], [], 'no message was sent to them');
  } finally {
    for (const p of [known, unknown, plain]) p.close();
    untrusted.remove();
  }
});
test('websocket over TLS: an unanswered TLS handshake times out', async () => {
  const open = new Set();
  const tcp = net.createServer((s) => { open.add(s); s.on('error', () => {}).on('close', () => open.delete(s)).resume(); });
  await new Promise((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  assertMcpError(await adminRequest('tools', 'websocket', { url: `wss://localhost:${tcp.address().port}/mcp` }), 'MCP_TIMEOUT', /3 seconds/, 2 * limit);
  await waitFor('the connection to be closed', () => open.size === 0);
  tcp.close();
});

test('descriptors and threads do not leak', async () => {
  const fds = () => readdirSync(`/proc/${server.process.pid}/fd`).length;
  const threads = () => readdirSync(`/proc/${server.process.pid}/task`).length;
  const peers = await Promise.all(transports.map(([, n, tls]) => startBridge(n, [node, '-e', 'process.exit(3)'], [], tls)));
  for (const [i, [, name]] of transports.entries()) await adminRequest('tools', name, { url: peers[i].url });
  await sleep(1500);
  const before = [fds(), threads()];
  for (let n = 0; n < 20; n++) for (const [i, [, name]] of transports.entries()) await adminRequest('tools', name, { url: peers[i].url });
  await waitFor('descriptors to be closed', () => fds() <= before[0] + 3);
  await waitFor('threads to end', () => threads() <= before[1] + 1);
  for (const p of peers) p.close();
});
