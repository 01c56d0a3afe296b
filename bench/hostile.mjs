// A hostile account runs all attacks concurrently (hostile/attacks.mjs) next to an honest account, on two cores with a
// server and its PostgreSQL. Measures the time from start to first chunk of the honest account's runs before, during
// and after the attacks, its failed requests, and the peaks of memory, disk and descriptors against the limits of
// docs/limits.md. The exit code is 1 if a limit was exceeded, a request of the honest account failed, or its p95 is
// more than twice that of the idle server.
//   RY_BUILD_DIR=build node bench/hostile.mjs      as root, for a name server that never answers
// SECONDS: length of the attacks, IDLE_SECONDS: of the phases before and after; DELAY_MS: of the model before its first
// chunk; CORES: the two cores (taskset), EVERY_MS: interval between starts; ONLY=sandbox or ONLY=web: only these
// attacks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { startLlm } from '../tests/e2e/lib/llm.mjs';
import { Server, freePort, sleep } from '../tests/e2e/lib/server.mjs';
import { metric, rss } from '../tests/security/lib/wire.mjs';

const env = (name, otherwise) => Number(process.env[name] ?? otherwise);
const seconds = env('SECONDS', 60), idleSeconds = env('IDLE_SECONDS', 20), delay = env('DELAY_MS', 200), every = env('EVERY_MS', 250);
const cores = process.env.CORES ?? '0,1', only = process.env.ONLY;
const MiB = 1 << 20;
const percentile = (v, p) => v.toSorted((a, b) => a - b)[Math.min(v.length - 1, Math.floor(v.length * p))];

// Limits that suit a machine with two cores and some GB of memory; the others are the defaults.
const limits = { memory_mb: 256, processes: 64, tmp_mb: 32, workspace_mb: 512, workspace_files: 50000, account_sandboxes: 8, account_workspace_mb: 1024,
  account_upload_mb: 128, unsent_mb: 32, mcp_cache_mb: 64, mcp_message_mb: 16, mcp_at_once: 8 };
const modelPort = await freePort();
const dir = mkdtempSync(path.join(tmpdir(), 'ry-hostile-'));
const resolver = path.join(dir, 'resolv.conf');
writeFileSync(resolver, 'nameserver 127.0.0.9\n');
const silent = createSocket('udp4');
await new Promise((resolve, reject) => silent.once('error', reject).bind(53, '127.0.0.9', resolve));
let queries = 0;
silent.on('message', () => queries++);

const llm = await startLlm(async (_, reply) => {
  llm.seen.length = 0;
  await sleep(delay);
  reply.say('word');
});
const server = await new Server({ llm, dir, wrap: ['taskset', '-c', cores, 'unshare', '--mount', 'sh', '-c', `mount --bind ${resolver} /etc/resolv.conf; exec "$@"`, 'sh'], settings: `
[accounts]
local_login = true
[accounts.login]
verify = "none"
[accounts.tiers.pro]
models = ["*"]
[log]
level = "error"
[runs]
account_sandboxes = ${limits.account_sandboxes}
account_workspace_bytes = { pro = ${limits.account_workspace_mb * MiB} }
[runs.providers.evil]
kind = "openai"
base_url = "http://127.0.0.1:${modelPort}/v1"
api_key = "none"
[http.limits]
account_upload_bytes = ${limits.account_upload_mb * MiB}
[mcp]
max_at_once_per_account = ${limits.mcp_at_once}
discovery_timeout_seconds = 10
call_timeout_seconds = 10
[mcp_prebuilt.integrations.tracker]
url = "https://tracker.example/mcp"
headers = { Authorization = "Bearer {token}" }
[secrets]
key = "${'0123456789abcdef'.repeat(4)}"
[sandbox_bubblewrap]
memory_mb = ${limits.memory_mb}
processes = ${limits.processes}
tmp_mb = ${limits.tmp_mb}
workspace_mb = ${limits.workspace_mb}
workspace_files = ${limits.workspace_files}
` }).start({ timeout: 120000 });
const pid = server.process.pid, data = path.join(dir, 'data');

// ---- the honest account ----

const honest = await server.user({ tier: 'enterprise' });
const failures = new Map();
let requests = 0;
const failed = (reason) => failures.set(reason, (failures.get(reason) ?? 0) + 1);
let took = [], starts = [], lists = [], files = [];
async function checked(name, work) {
  requests++;
  const began = performance.now();
  try {
    const r = await work();
    if (r.status !== 200) return failed(`${name}: ${r.status} ${(r.text ?? r.raw).slice(0, 150)}`);
    return Object.assign(r, { ms: performance.now() - began });
  } catch (e) {
    return failed(`${name}: ${e.message} ${e.cause?.code ?? ''}`);
  }
}
let project;
async function oneRun(upload) {
  const began = performance.now();
  const files = upload ? [{ name: 'note.txt', data: Buffer.alloc(100_000, 'x') }] : [];
  const started = await checked(upload ? 'start with a file' : 'start', () => honest.start({ prompt: 'hello', files }));
  if (!started) return;
  if (upload) project = started.json.project_id;
  let first;
  const s = await checked('stream', () => honest.stream(started.json.agent_run_id, { onEvent: (e) => { if (e.type === 'llm_response_chunk') first ??= performance.now(); } }));
  if (s && !first) failed(`stream without a chunk: ${s.error ?? s.raw.slice(-300)}`);
  else if (s && !upload) {
    took.push(first - began);
    starts.push(started.ms);
  }
}
async function phase(length) {
  took = []; starts = []; lists = []; files = [];
  const end = performance.now() + length * 1000, pending = new Set();
  const track = (work) => { const p = work.finally(() => pending.delete(p)); pending.add(p); };
  for (let n = 0; performance.now() < end; n++) {
    track(oneRun(n % 8 === 4));
    if (n % 2) track(checked('list', () => honest.get('/threads')).then((r) => r && lists.push(r.ms)));
    if (n % 4 === 3 && project) track(checked('file', () => honest.get(`/projects/${project}/files/content?path=uploads/note.txt`)).then((r) => r && files.push(r.ms)));
    await sleep(every);
  }
  await Promise.all(pending);
  return { took, starts, lists, files };
}
const summary = (v) => `p50 ${percentile(v, 0.5).toFixed(0)} ms, p95 ${percentile(v, 0.95).toFixed(0)} ms, max ${Math.max(...v).toFixed(0)} ms (${v.length})`;
const show = (name, f) => console.log(`${name}: start to first chunk ${summary(f.took)}; response to the start ${summary(f.starts)}; lists ${summary(f.lists)}; files ${summary(f.files)}; load average ${loadavg()[0].toFixed(1)}`);

// Starts another process of the benchmark on the same cores; stop() returns its output. Hostile clients get the CPU
// time that the server leaves over, because real ones run on other machines; the measuring process keeps its priority.
function helper(name, ...args) {
  const scheduling = name === 'attacks.mjs' ? ['chrt', '-i', '0'] : [];
  const child = spawn('taskset', ['-c', cores, ...scheduling, process.execPath, path.join(import.meta.dirname, 'hostile', name), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (d) => (output += d));
  const exited = once(child, 'exit');
  return {
    begun: async () => { while (!output.includes('begun\n')) await Promise.race([sleep(100), exited.then(() => { throw new Error(`${name} exited`); })]); },
    stop: async () => { child.stdin.end(); await exited; return JSON.parse(output.slice(output.indexOf('{'))); },
  };
}

try {
  await phase(3);
  const before = await phase(idleSeconds);
  show('idle, before', before);
  const idleRss = rss(pid), idleDescriptors = readdirSync(`/proc/${pid}/fd`).length;
  await honest.get('/account');
  const evil = await server.user({ tier: 'pro' });
  const attacks = helper('attacks.mjs', JSON.stringify({ url: server.url, token: evil.token, modelPort, sandbox: only !== 'web', web: only !== 'sandbox' }));
  await attacks.begun();
  const watch = helper('peaks.mjs', String(pid), data);
  const during = await phase(seconds);
  show('under all attacks', during);
  const peaks = await watch.stop();
  console.log('attacks:', JSON.stringify(await attacks.stop()));
  console.log(`DNS queries that were not answered: ${queries}`);
  const refused = ['runyard_http_address_refused_total', 'runyard_http_unsent_refused_total', 'runyard_http_uploads_refused_total', 'runyard_http_slow_readers_total', 'runyard_http_timeouts_total'];
  for (const name of refused) console.log(`${name} ${await metric(server.url, name)}`);
  await sleep(5000);
  const after = await phase(idleSeconds);
  show('idle, after', after);

  const idle = percentile([...before.took, ...after.took], 0.95), attacked = percentile(during.took, 0.95), ratio = attacked / idle;
  const medians = percentile(during.took, 0.5) / percentile([...before.took, ...after.took], 0.5);
  // The sum of the account's limits, plus the overshoot that is possible between two measurements (memory: 0.1 s, disk:
  // 3 s).
  const bounds = {
    'memory of the server, MiB': idleRss + limits.unsent_mb + limits.mcp_cache_mb + limits.mcp_at_once * limits.mcp_message_mb * 2 + 128,
    'descriptors of the server': idleDescriptors + 4000 + 200 + limits.account_sandboxes * 8,
    'memory of all commands, MiB': limits.account_sandboxes * (limits.memory_mb + 50) * 1.25,
    'processes of all commands': limits.account_sandboxes * (limits.processes + 3),
    'workspaces, MiB': limits.account_workspace_mb * 1.5,
    'upload spool, MiB': limits.account_upload_mb + 16,
  };
  let good = failures.size === 0 && ratio <= 2;
  for (const [name, value] of Object.entries(peaks)) {
    const limit = bounds[name];
    if (limit !== undefined && value > limit) good = false;
    console.log(`${name}: at most ${value.toFixed(0)}${limit === undefined ? '' : `, limit ${limit.toFixed(0)}${value > limit ? '  EXCEEDED' : ''}`}`);
  }
  console.log(`p95 ${idle.toFixed(0)} ms idle, ${attacked.toFixed(0)} ms under attack: ratio ${ratio.toFixed(2)}; ratio of the medians ${medians.toFixed(2)}`);
  console.log(`${requests} requests of the honest account, ${[...failures.values()].reduce((a, b) => a + b, 0)} failed`);
  for (const [reason, n] of failures) console.log(`  ${n} x ${reason}`);
  console.log(good ? 'within the limits' : 'NOT WITHIN THE LIMITS');
  process.exitCode = good ? 0 : 1;
} finally {
  await server.close();
  await llm.close();
  silent.close();
  rmSync(dir, { recursive: true, force: true });
}
process.exit();
