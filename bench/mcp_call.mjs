#!/usr/bin/env node
// Time and CPU time of a call of a small local MCP program: Runyard in its default sandbox, measured alternately with
// the official TypeScript SDK, which has no sandbox, and plain system calls. A call is start, `initialize`,
// `tools/call`, exit.
//   node bench/mcp_call.mjs [--rounds 15] [--n 40] [--warm 10] [--pause 0,20] [--before DIR]
// --pause: milliseconds between two calls, one table row each. --before: a second build, measured in the same rounds.
// Needs a build and `npm ci` in tests/e2e. RY_BUILD_DIR as for the other benchmarks. CPU time is that of all
// processes and needs a control group, that is root; otherwise the columns stay empty.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const here = path.dirname(fileURLToPath(import.meta.url));
const option = (name, otherwise) => { const at = process.argv.indexOf(`--${name}`); return at < 0 ? otherwise : process.argv[at + 1]; };
const quantile = (values, q) => { const s = [...values].sort((a, b) => a - b); return s[Math.max(1, Math.ceil(q * s.length)) - 1]; };
const median = (values) => quantile(values, 0.5);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

// ---- the SDK client, in a separate process: --sdk N WARM PAUSE COMMAND ----
async function sdk(n, warm, pause, command) {
  const require = createRequire(path.join(here, '../tests/e2e/package.json'));
  const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)).href);
  const [{ Client }, { StdioClientTransport }] = [await load('index'), await load('stdio')];
  const times = [];
  for (let i = -warm; i < n; i++) {
    const begun = performance.now();
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(new StdioClientTransport({ command, stderr: 'ignore' }));
    const response = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    if (response.content[0].text !== 'Echo: hi') throw new Error('an unexpected response');
    await client.close();
    if (i >= 0) times.push(performance.now() - begun);
    if (pause > 0) await sleep(pause);
  }
  console.log(JSON.stringify({ median_ms: median(times), p95_ms: quantile(times, 0.95), min_ms: Math.min(...times) }));
}
if (process.argv[2] === '--sdk') {
  await sdk(Number(process.argv[3]), Number(process.argv[4]), Number(process.argv[5]), process.argv[6]);
  process.exit(0);
}

// ---- CPU time of all processes of a program, including those that outlive their parents ----
function controlGroup() {
  for (const [dir, read] of [
    ['/sys/fs/cgroup/cpuacct', (at) => Number(readFileSync(`${at}/cpuacct.usage`, 'utf8')) / 1e6],
    ['/sys/fs/cgroup', (at) => Number(/usage_usec (\d+)/.exec(readFileSync(`${at}/cpu.stat`, 'utf8'))[1]) / 1e3],
  ]) {
    const at = `${dir}/runyard-bench-${process.pid}`;
    if (!existsSync(`${dir}/cgroup.procs`)) continue;
    try { mkdirSync(at); read(at); } catch { continue; }
    process.on('exit', () => { try { rmdirSync(at); } catch { /* a sandbox has not exited yet */ } });
    return { at, used: () => read(at) };
  }
  return undefined;
}
const group = controlGroup();
const run = promisify(execFile);
async function measured(argv, env = {}) {
  const before = group?.used();
  // A shell enters the group first, so that no part of the program runs outside it.
  const command = group ? ['/bin/sh', '-c', `echo $$ > ${group.at}/cgroup.procs; exec "$@"`, 'sh', ...argv] : argv;
  const { stdout } = await run(command[0], command.slice(1), { env: { ...process.env, ...env } });
  await sleep(100);  // until the sandboxes have exited
  return { ...JSON.parse(stdout.trim().split('\n').at(-1)), cpu: group ? group.used() - before : NaN };
}

const rounds = Number(option('rounds', 15)), n = Number(option('n', 40)), warm = Number(option('warm', 10));
const builds = { runyard: process.env.RY_BUILD_DIR ?? path.join(here, '../build') };
if (option('before')) builds.before = option('before');
const program = (name, build = builds.runyard) => path.resolve(build, 'bench', name);

async function row(pause) {
  const tiny = (build) => program('mcp_tiny', build);
  const clients = {
    sdk: (count) => measured([process.execPath, fileURLToPath(import.meta.url), '--sdk', String(count), String(warm), String(pause), tiny()]),
    floor: (count) => measured([program('mcp_floor'), 'stdio', 'call', String(count), String(warm), tiny()]),
  };
  for (const [name, build] of Object.entries(builds)) {
    clients[name] = (count) => measured([program('bench_mcp', build), 'stdio-boxed', 'call', String(count), String(warm), tiny(build)],
      { BENCH_PAUSE_MS: String(pause) });
  }
  const got = Object.fromEntries(Object.keys(clients).map((name) => [name, []]));
  for (let i = 0; i < rounds; i++) {
    for (const [name, client] of Object.entries(clients)) {
      // Subtracts the cost of starting the measuring program itself.
      const [one, all] = [await client(1), await client(n)];
      got[name].push({ ...all, cpu: (all.cpu - one.cpu) / (n - 1) });
    }
  }
  const all = (name, metric) => got[name].map((r) => r[metric]);
  const ratio = (name, other, metric) => median(got[name].map((r, i) => r[metric] / got[other][i][metric]));
  for (const name of Object.keys(clients)) {
    const r = { pause, name, median: median(all(name, 'median_ms')), best: Math.min(...all(name, 'median_ms')), min: Math.min(...all(name, 'min_ms')),
      p95: median(all(name, 'p95_ms')), cpu: median(all(name, 'cpu')), sdk: ratio(name, 'sdk', 'median_ms'),
      sdk_best: Math.min(...all(name, 'median_ms')) / Math.min(...all('sdk', 'median_ms')), sdk_cpu: ratio(name, 'sdk', 'cpu') };
    const f = (v, digits = 2) => (Number.isNaN(v) ? '' : v.toFixed(digits));
    console.log(`| ${pause} | ${name} | ${f(r.median)} | ${f(r.best)} | ${f(r.min)} | ${f(r.p95)} | ${f(r.cpu)} | ${f(r.sdk)} | ${f(r.sdk_best)} | ${f(r.sdk_cpu)} |`);
  }
}
console.log('| pause, ms | client | median, ms | best round\'s median, ms | minimum, ms | p95, ms | CPU time, ms | median / SDK | best round / SDK | CPU time / SDK |');
console.log('|---|---|---|---|---|---|---|---|---|---|');
for (const pause of option('pause', '0,20').split(',').map(Number)) await row(pause);
