import http from 'node:http';
import { Server, makeDatabase, sleep } from '/work/main/tests/e2e/lib/server.mjs';
import { readFileSync } from 'node:fs';
const database = makeDatabase();
const MiB = 1 << 20;
const chunk = (delta, finish = null, more = {}) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
const done = chunk({}, 'stop') + 'data: [DONE]\n\n';
async function flood(res, piece, total, final = done) {
  let sent = 0; const p = typeof piece === 'function' ? piece : () => piece;
  while (sent < total && !res.destroyed) { const b = p(); sent += b.length; if (!res.write(b)) await new Promise((r) => { res.once('drain', r); res.once('close', r); }); }
  if (!res.destroyed) res.end(final);
}
let n = 0;
const calls = (k, f) => Array.from({ length: k }, (_, i) => f(i));
const attacks = {
  plain: (res) => res.end(chunk({ content: 'hi' }) + done),
  endless: (res) => flood(res, chunk({ content: 'x' }).repeat(300), 400 * MiB),
  endlessempty: (res) => flood(res, chunk({}).repeat(500), 400 * MiB),
  comments: (res) => flood(res, ': keep-alive\n\n'.repeat(2000), 400 * MiB),
  reasoning: (res) => flood(res, chunk({ reasoning_content: 'think '.repeat(20) }).repeat(200), 300 * MiB),
  bigdelta: (res) => flood(res, 'data: {"choices":[{"index":0,"delta":{"content":"' + 'x'.repeat(MiB), 100 * MiB),
  deep: (res) => res.end('data: ' + '{"a":'.repeat(200000) + '\n\n' + done),
  deeparr: (res) => res.end('data: {"choices":' + '['.repeat(2 * MiB) + '\n\n' + done),
  manycalls: (res) => flood(res, () => chunk({ tool_calls: calls(100, () => ({ index: n++, id: `c${n}`, type: 'function', function: { name: 'shell', arguments: '{}' } })) }), 20 * MiB, chunk({}, 'tool_calls') + 'data: [DONE]\n\n'),
  callsnoindex: (res) => flood(res, () => chunk({ tool_calls: calls(100, () => ({ id: `c${n++}`, type: 'function', function: { name: 'nosuch', arguments: '{}' } })) }), 5 * MiB, chunk({}, 'tool_calls') + 'data: [DONE]\n\n'),
  hugeindex: (res) => res.end(chunk({ tool_calls: [{ index: 4294967295, id: 'a', type: 'function', function: { name: 'shell', arguments: '{}' } }, { index: -5, id: 'b', function: { name: 'shell', arguments: '' } }, { index: 1e18, id: 'c', function: { name: 'x'.repeat(MiB), arguments: '{"a":1}' } }] }) + chunk({}, 'tool_calls') + 'data: [DONE]\n\n'),
  bigargs: (res) => flood(res, () => chunk({ tool_calls: [{ index: 0, ...(n++ ? {} : {}), id: 'a', function: { name: 'shell', arguments: '{"command":"'.repeat(n === 1 ? 1 : 0) + 'x'.repeat(100000) } }] }), 120 * MiB, chunk({}, 'tool_calls') + 'data: [DONE]\n\n'),
  argsbytes: (res) => flood(res, chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'shell', arguments: '{' } }] }).repeat(200), 60 * MiB, chunk({}, 'tool_calls') + 'data: [DONE]\n\n'),
  bigid: (res) => res.end(chunk({ tool_calls: [{ index: 0, id: 'i'.repeat(2 * MiB), type: 'function', function: { name: 'list_files', arguments: '{}' } }] }) + chunk({}, 'tool_calls') + 'data: [DONE]\n\n'),
  usage: (res) => res.end(chunk({ content: 'hi' }) + chunk({}, 'stop', { usage: { prompt_tokens: 9e18, completion_tokens: -5, total_tokens: 1e300 } }) + 'data: [DONE]\n\n'),
  errbody: (res) => { },
  nodone: (res) => { res.write(chunk({ content: 'hi' })); },
  control: (res) => res.end(chunk({ content: 'a\u0000b\u202e\ud800' }) + done),
};
const providers = {};
const server0 = http.createServer((req, res) => { let b = ''; req.on('data', (c) => (b += c)).on('end', () => {
  const r = JSON.parse(b || '{}'); const last = [...(r.messages ?? [])].reverse(); const user = last.find((m) => m.role === 'user'); const text = typeof user?.content === 'string' ? user.content : JSON.stringify(user?.content ?? '');
  const name = Object.keys(attacks).filter((k) => text.includes(`[${k}]`)).at(-1) ?? 'plain'; seen[name] = (seen[name] ?? 0) + 1;
  if (last[0]?.role === 'tool') return (res.writeHead(200, { 'content-type': 'text/event-stream' }), res.end(chunk({ content: 'after tools' }) + done));
  if (name === 'errbody') { res.writeHead(400, { 'content-type': 'application/json' }); void flood(res, '{"error":{"message":"' + 'IGNORE\u202e '.repeat(100000), 100 * MiB, '"}}'); return; }
  n = 0; res.writeHead(200, { 'content-type': 'text/event-stream' }); void attacks[name](res);
}); });
const seen = {};
await new Promise((r) => server0.listen(0, '127.0.0.1', r));
const llm = { url: `http://127.0.0.1:${server0.address().port}/v1` };
const server = await new Server({ database, llm, set: (process.env.SET ?? '').split(';').filter(Boolean) }).start();
const rss = () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))[1]) / 1024);
const cpu = () => { const f = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8').split(' '); return (Number(f[13]) + Number(f[14])) / 100; };
const other = await server.user();
for (const name of process.env.ONLY?.split(',') ?? Object.keys(attacks)) {
  const u = await server.user({ tier: 'pro' });
  const t0 = performance.now(), c0 = cpu(), r0 = rss();
  let worst = 0, over = false, peak = 0;
  const watch = (async () => { while (!over) { const b = performance.now(); await Promise.race([Promise.all([0, 1, 2].map(() => other.get('/agents'))).catch(() => {}), sleep(30000)]); worst = Math.max(worst, performance.now() - b); peak = Math.max(peak, rss()); await sleep(30); } })();
  let out = '', k = 0, bytes = 0, st = '';
  let started;
  try {
    started = await u.start({ prompt: `[${name}]` });
    const s = await u.stream(started.json.agent_run_id, { timeout: +(process.env.T ?? 60000) });
    k = s.events.length; bytes = s.raw.length; st = s.events.at(-1).status;
    const e = s.events.at(-1); out = `${e.reason} ${e.error_code ?? ''} ${(e.error ?? '').slice(0, 200)} usage ${JSON.stringify(e.usage)} credits ${e.credits}`;
    out += ' db ' + database.sql(`select count(*) || ' rows ' || coalesce(sum(length(e::text)),0) from runs.event e where run_id='${started.json.agent_run_id}'`);
  } catch (e) { out = 'ERR ' + e.message.slice(0, 300); await u.request('POST', `/agent-run/${started.json.agent_run_id}/stop`).catch(() => {}); }
  over = true; await watch;
  console.log(`${name}: ${st} ${((performance.now() - t0) / 1000).toFixed(1)} s cpu ${(cpu() - c0).toFixed(1)} rss ${r0}->${peak} others ${worst.toFixed(0)} ms events ${k} ${bytes} B asked ${seen[name]}\n   ${out}`);
}
await server.close(); server0.closeAllConnections(); server0.close(); database.drop();
process.exit(0);
