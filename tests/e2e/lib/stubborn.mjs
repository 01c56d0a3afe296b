// A local MCP server that misbehaves. argv: the kind of misbehaviour, then a file to which it writes its process ids.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import readline from 'node:readline';

const [behavior, pidFile] = process.argv.slice(2);
const send = (o) => process.stdout.write(JSON.stringify(o) + '\n');
const pids = [process.pid];
if (behavior === 'grandchild') {
  const grandchild = spawn('/bin/sh', ['-c', 'trap "" TERM HUP; sleep 300 & wait; sleep 300'], { stdio: ['ignore', 'ignore', 'ignore'] });
  pids.push(grandchild.pid);
}
if (pidFile && behavior !== 'look') writeFileSync(pidFile, pids.join('\n'));
if (behavior === 'exit') { console.error('no such licence'); process.exit(3); }
if (behavior === 'bytes') { process.stderr.write(Buffer.concat([Buffer.from('é'.repeat(600)), Buffer.from([0xff, 0xc3]), Buffer.from('broken')])); process.exitCode = 4; process.stdin.destroy(); }
if (behavior === 'noise') console.log('Welcome to the server!\n\n   \n>>> ready');
if (behavior === 'flood') process.stderr.write('x'.repeat(1 << 20));
if (behavior === 'ignore-term' || behavior === 'grandchild') { process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); }
if (behavior === 'ignore-eof' || behavior === 'ignore-term' || behavior === 'grandchild') setInterval(() => {}, 1000);

// Reports what the program can see of the machine. argv: "look", a file to read, a directory to write to.
function inspect() {
  const [secret, shared] = process.argv.slice(3);
  const home = process.env.HOME;
  const files = readdirSync(home);
  const seen = { home, files, uid: process.getuid(), env: Object.keys(process.env).sort(), interfaces: Object.keys(networkInterfaces()),
    processes: readdirSync('/proc').filter((p) => /^\d+$/.test(p)).length };
  try { seen.secret = secret && readFileSync(secret, 'utf8'); } catch (e) { seen.secret = e.code; }
  try {
    writeFileSync(`${home}/mine`, 'x');
    if (shared) writeFileSync(`${shared}/by-the-program`, 'x');
    seen.written = true;
  } catch (e) { seen.written = e.code; }
  return seen;
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  if (behavior === 'silent') return;
  if (behavior === 'endless-line') { const piece = 'x'.repeat(1 << 20); const more = () => { while (process.stdout.write(piece)); process.stdout.once('drain', more); }; return more(); }
  if (m.method === 'server/discover' && behavior === 'dies-on-discover') process.exit(0);
  if (m.method === 'server/discover' && behavior === 'silent-on-discover') return;
  if (m.method === 'initialize') return send({ jsonrpc: '2.0', id: m.id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'stubborn', version: '1' } } });
  if (m.method === 'tools/list') {
    if (behavior === 'pings') send({ jsonrpc: '2.0', id: 'p1', method: 'ping' });
    if (behavior === 'wrong-ids') { send({ jsonrpc: '2.0', id: 9999, result: { tools: [] } }); send({ jsonrpc: '2.0', id: m.id - 1, result: { tools: [] } }); }
    return send({ jsonrpc: '2.0', id: m.id, result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
  }
  if (m.method === 'notifications/cancelled' && pidFile) appendFileSync(pidFile, `\ncancelled ${m.params.requestId}`);
  if (m.method === 'tools/call' && behavior === 'no-result') return;
  if (m.method === 'tools/call' && behavior === 'hoard') { const all = []; for (let i = 0; i < 64; i++) all.push(Buffer.alloc(64 << 20, 1)); }
  if (m.method === 'tools/call' && behavior === 'hoard-together') {
    for (let i = 0; i < 4; i++) spawn('/bin/sh', ['-c', '(head -c 200M /dev/zero; sleep 100) | tail -c 200M'], { stdio: 'ignore' });
    return;
  }
  if (m.method === 'tools/call' && behavior === 'chatty') console.error('called with', JSON.stringify(m.params.arguments));
  if (m.method === 'tools/call' && behavior === 'look') return send({ jsonrpc: '2.0', id: m.id, result: { content: [{ type: 'text', text: JSON.stringify(inspect()) }] } });
  if (m.method === 'tools/call') return send({ jsonrpc: '2.0', id: m.id, result: { content: [{ type: 'text', text: 'still here' }] } });
  if (m.id !== undefined) send({ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'Method not found' } });
});
