// Compares modules/mcp with the TypeScript SDK, a lower bound of plain system calls, and mcp-hub: the same server
// processes, measured alternately. Except in the rows "kept", each operation has its own connection: connect,
// initialize, tools/list or tools/call, close.
//   node bench/mcp.mjs [--rounds 3] [--n 50] [--warm 20] [--only http,sse,modern,tiny,stdio,kept]
// Needs a build (ninja -C build bench_mcp mcp_floor mcp_tiny), npm ci in tests/e2e and in bench/mcp, and Node 22 or
// later.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { serverOf } from '../tests/e2e/lib/mcp.mjs';
import { build, freePort, sleep, waitFor } from '../tests/e2e/lib/server.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const option = (name, otherwise) => { const at = process.argv.indexOf(`--${name}`); return at < 0 ? otherwise : process.argv[at + 1]; };
const rounds = Number(option('rounds', 3)), n = Number(option('n', 50)), warm = Number(option('warm', 20));
const only = option('only', 'http,sse,modern,tiny,stdio,kept').split(',');
const require = createRequire(path.join(here, 'mcp/package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const program = (name) => path.join(build, 'bench', name);
const run = promisify(execFile);
const children = [];
process.on('exit', () => { for (const c of children) c.kill('SIGKILL'); });
const quantile = (values, q) => { const s = [...values].sort((a, b) => a - b); return s[Math.max(1, Math.ceil(q * s.length)) - 1]; };
const median = (values) => quantile(values, 0.5);
const isUp = async (url) => { try { await fetch(url, { signal: AbortSignal.timeout(1000) }).then((r) => r.body?.cancel()); return true; } catch { return false; } };

async function startServer(args, env = {}) {
  const port = await freePort();
  const child = spawn(process.execPath, args, { env: { ...process.env, PORT: String(port), ...env }, stdio: 'ignore' });
  children.push(child);
  await waitFor(`the server of ${args.at(-1)}`, () => isUp(`http://127.0.0.1:${port}/nothing`));
  return { port, child };
}
const everything = (mode) => startServer(['--require', path.join(here, '../tests/e2e/lib/loopback.cjs'), serverOf('everything'), mode]);

// ---- the clients (C++ programs, JavaScript operations): {median, p95, cpu} of n operations after `warm` ----
async function runProgram(file, args) {
  const { stdout } = await run(program(file), args.map(String), { maxBuffer: 1 << 20 });
  const r = JSON.parse(stdout.trim().split('\n').at(-1));
  return { median: r.median_ms, p95: r.p95_ms, cpu: r.client_cpu_ms_per_op };
}
async function timed(operation, count = n, before = warm) {
  for (let i = 0; i < before; i++) await operation();
  const times = [];
  const cpu = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    const begun = performance.now();
    await operation();
    times.push(performance.now() - begun);
  }
  const used = process.cpuUsage(cpu);
  return { median: median(times), p95: quantile(times, 0.95), cpu: (used.user + used.system) / 1000 / count };
}
// CPU milliseconds of a process so far; a clock tick is 10 ms.
const cpuOf = (pid) => { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' '); return (Number(f[11]) + Number(f[12])) * 10; };
async function work(client, op) {
  if (op === 'list') {
    if ((await client.listTools()).tools.length === 0) throw new Error('no tools');
  } else if ((await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).content[0].text !== 'Echo: hi') {
    throw new Error('an unexpected response');
  }
}
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { SSEClientTransport } = await load('@modelcontextprotocol/sdk/client/sse.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
// end(transport): ends the session with the server.
const sdk = (transport, op, end = async () => {}) => async () => {
  const client = new Client({ name: 'bench', version: '1' });
  const t = transport();
  await client.connect(t);
  await work(client, op);
  await end(t);
  await client.close();
};

// ---- rows ----
const rows = [];
// clients: name -> function that measures one round. The client "peer" is the one that Runyard is compared with.
async function row(name, clients) {
  const got = {};
  for (let i = 0; i < rounds; i++) {
    for (const [client, measure] of Object.entries(clients)) (got[client] ??= []).push(await measure());
  }
  const all = (client, metric) => got[client]?.map((r) => r[metric]);
  const ratio = (other) => (got[other] ? median(got.runyard.map((r, i) => r.median / got[other][i].median)) : NaN);
  const r = { name, floor: ratio('floor'), peer: ratio('peer') };
  for (const client of Object.keys(clients)) r[client + '_ms'] = median(all(client, 'median'));
  r.p95 = median(all('runyard', 'p95'));
  r.cpu = median(all('runyard', 'cpu'));
  r.peer_cpu = got.peer ? median(all('peer', 'cpu')) : NaN;
  rows.push(r);
  console.error(JSON.stringify(r));
}

if (only.includes('http') || only.includes('sse')) {
  for (const [mode, type, transport] of [['http', 'streamableHttp', (u) => new StreamableHTTPClientTransport(u)], ['sse', 'sse', (u) => new SSEClientTransport(u)]]) {
    if (!only.includes(mode)) continue;
    const { port, child } = await everything(type);
    const url = new URL(`http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`);
    for (const op of ['list', 'call']) {
      // The server's JIT compiles its code as it is used, so warm up each operation before its measurement.
      await timed(sdk(() => transport(url), op), 60, 0);
      await row(`${mode}, ${op}`, {
        floor: () => runProgram('mcp_floor', [mode, port, op, n, warm]),
        runyard: () => runProgram('bench_mcp', [mode, port, op, n, warm]),
        peer: () => timed(sdk(() => transport(url), op)),
      });
      // Runyard always ends its session, the SDK only on request.
      if (mode === 'http') {
        await row(`http, ${op}; all end their session`, {
          floor: () => runProgram('mcp_floor', ['http-delete', port, op, n, warm]),
          runyard: () => runProgram('bench_mcp', [mode, port, op, n, warm]),
          peer: () => timed(sdk(() => transport(url), op, (t) => t.terminateSession())),
        });
      }
    }
    child.kill('SIGKILL');
  }
}
if (only.includes('modern')) {
  const { Client: Client2, StreamableHTTPClientTransport: Http2 } = await load('@modelcontextprotocol/client');
  const { port, child } = await startServer([path.join(here, 'mcp/modern.mjs')]);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
  const first = new Client2({ name: 'bench', version: '1' }, pinned);
  await first.connect(new Http2(url));
  const prior = { kind: 'modern', discover: first.getDiscoverResult() };
  await first.close();
  const operation = (op) => async () => {
    const client = new Client2({ name: 'bench', version: '1' }, pinned);
    await client.connect(new Http2(url), { prior });
    await work(client, op);
    await client.close();
  };
  for (const op of ['list', 'call']) {
    await timed(operation(op), 60, 0);
    await row(`2026-07-28, revision known, ${op}`, {
      floor: () => runProgram('mcp_floor', ['modern', port, op, n, warm]),
      runyard: () => runProgram('bench_mcp', ['modern', port, op, n, warm]),
      peer: () => timed(operation(op)),
    });
  }
  // The first operation needs an additional request to find out the revision; each later one is a single request.
  const count = async () => Number(await (await fetch(`http://127.0.0.1:${port}/count`)).text());
  const before = await count();
  await runProgram('bench_mcp', ['modern', port, 'call', 100, 1]);
  console.log(`requests of 101 calls to a server of 2026-07-28: ${await count() - before} (one of them finds out the revision)\n`);
  child.kill('SIGKILL');
}
const local = (command, op) => sdk(() => new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'ignore' }), op);
if (only.includes('tiny')) {
  await row('stdio, tiny server in the sandbox, call', { runyard: () => runProgram('bench_mcp', ['stdio-boxed', 'call', n, warm, program('mcp_tiny')]) });
  for (const op of ['list', 'call']) {
    const command = [program('mcp_tiny')];
    await row(`stdio, tiny server, ${op}`, {
      floor: () => runProgram('mcp_floor', ['stdio', op, n, warm, ...command]),
      runyard: () => runProgram('bench_mcp', ['stdio', op, n, warm, ...command]),
      peer: () => timed(local(command, op)),
    });
  }
}
if (only.includes('stdio')) {
  const few = Math.max(5, Math.round(n / 5));
  for (const op of ['list', 'call']) {
    const command = [process.execPath, serverOf('everything'), 'stdio'];
    await row(`stdio, server-everything, ${op}`, {
      floor: () => runProgram('mcp_floor', ['stdio', op, few, 1, ...command]),
      runyard: () => runProgram('bench_mcp', ['stdio', op, few, 1, ...command]),
      peer: () => timed(local(command, op), few, 1),
    });
  }
}
if (only.includes('kept')) {
  const [http, sse] = [await everything('streamableHttp'), await everything('sse')];
  const dir = mkdtempSync(path.join(tmpdir(), 'bench-mcp-'));
  const stdio = [process.execPath, serverOf('everything'), 'stdio'];
  writeFileSync(path.join(dir, 'hub.json'), JSON.stringify({ mcpServers: {
    http: { url: `http://127.0.0.1:${http.port}/mcp` }, sse: { url: `http://127.0.0.1:${sse.port}/sse` },
    stdio: { command: stdio[0], args: stdio.slice(1) }, tiny: { command: program('mcp_tiny'), args: [] } } }));
  const hubPort = await freePort();
  const hub = spawn(process.execPath, ['--require', path.join(here, '../tests/e2e/lib/loopback.cjs'), path.join(path.dirname(require.resolve('mcp-hub/package.json')), 'dist/cli.js'),
    '--port', String(hubPort), '--config', path.join(dir, 'hub.json')], { stdio: 'ignore', env: { ...process.env, HOME: dir, XDG_STATE_HOME: dir, XDG_CONFIG_HOME: dir, https_proxy: 'http://127.0.0.1:9' } });  // otherwise it fetches a catalogue
  children.push(hub);
  const ask = async (server) => {
    const r = await fetch(`http://127.0.0.1:${hubPort}/api/servers/tools`, { method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ server_name: server, tool: 'echo', arguments: { message: 'hi' } }) });
    const text = await r.text();
    if (!text.includes('Echo: hi')) throw new Error(`mcp-hub: ${r.status} ${text}`);
  };
  await waitFor('mcp-hub and its servers', async () => { try { for (const s of ['http', 'sse', 'stdio', 'tiny']) await ask(s); return true; } catch { await sleep(200); return false; } }, 60000);
  const many = n * 4;
  for (const [name, server, args] of [['http', 'http', ['http-kept', http.port, 'call', many, warm]], ['sse', 'sse', ['sse-kept', sse.port, 'call', many, warm]],
    ['stdio, server-everything', 'stdio', ['stdio-kept', 'call', many, warm, ...stdio]], ['stdio, tiny server', 'tiny', ['stdio-kept', 'call', many, warm, program('mcp_tiny')]]]) {
    await row(`kept, ${name}, call; peer mcp-hub`, { runyard: () => runProgram('bench_mcp', args), peer: async () => {
      const begun = cpuOf(hub.pid);
      const r = await timed(() => ask(server), many);
      return { ...r, cpu: (cpuOf(hub.pid) - begun) / (many + warm) };
    } });
  }
  rmSync(dir, { recursive: true, force: true });
}

const f = (v, digits = 2) => (v === undefined || Number.isNaN(v) ? '' : v.toFixed(digits));
console.log('| operation | floor, ms | runyard, ms (p95) | peer, ms | runyard/floor | runyard/peer | CPU of runyard, ms | CPU of the peer, ms |');
console.log('|---|---|---|---|---|---|---|---|');
for (const r of rows) {
  console.log(`| ${r.name} | ${f(r.floor_ms)} | ${f(r.runyard_ms)} (${f(r.p95)}) | ${f(r.peer_ms)} | ${f(r.floor)} | ${f(r.peer)} | ${f(r.cpu, 3)} | ${f(r.peer_cpu)} |`);
}
process.exit(0);
