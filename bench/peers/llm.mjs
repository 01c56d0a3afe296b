// A model provider for benchmarks: streamed OpenAI chat completions with fixed content, on 127.0.0.1.
//   node llm.mjs PORT
// The last user message sets the response: [n=20 d=0 hang=0 stamp=0]
//   n      chunks of 20 bytes          d      milliseconds between them (0: all in one write)
//   hang   1: one chunk, then nothing  stamp  1: a chunk is the time at which it is sent, "t<microseconds> "
// GET /stats: {requests, open, aborted}, aborted = connections that the caller closed during a response.
import http from 'node:http';
import { performance } from 'node:perf_hooks';

const stats = { requests: 0, open: 0, aborted: 0 };
const microseconds = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
const chunk = (i) => `tok-${String(i).padStart(5, '0')} abcdefghi `;
const frame = (model, delta, reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const text = (model, content) => frame(model, { content });
const ending = (model, n) => `${frame(model, {}, 'stop')}data: ${JSON.stringify({
  id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [], usage: { prompt_tokens: 10, completion_tokens: n, total_tokens: n + 10 } })}\n\ndata: [DONE]\n\n`;

const complete = new Map();
function completeAnswer(model, n) {
  const key = `${model} ${n}`;
  let bytes = complete.get(key);
  if (!bytes) {
    let all = '';
    for (let i = 0; i < n; i++) all += text(model, chunk(i));
    complete.set(key, (bytes = Buffer.from(all + ending(model, n))));
  }
  return bytes;
}

function answer(res, body) {
  const { model, messages } = JSON.parse(body);
  const last = messages.findLast((m) => m.role === 'user')?.content ?? '';
  const prompt = typeof last === 'string' ? last : last.map((p) => p.text ?? '').join('');
  const shape = { n: 20, d: 0, hang: 0, stamp: 0 };
  for (const [, k, v] of (/\[([^\]]*)\]/.exec(prompt)?.[1] ?? '').matchAll(/(\w+)=(\d+)/g)) if (k in shape) shape[k] = Number(v);
  stats.open++;
  let timer;
  res.on('close', () => {
    stats.open--;
    clearTimeout(timer);
    if (!res.writableFinished) stats.aborted++;
  });
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  if (shape.hang) return res.write(text(model, chunk(0)));
  if (shape.d === 0 && !shape.stamp) return res.end(completeAnswer(model, shape.n));
  let i = 0;
  const began = performance.now();
  const next = () => {
    if (res.destroyed) return;
    res.write(text(model, shape.stamp ? `t${microseconds()} ` : chunk(i)));
    if (++i === shape.n) return res.end(ending(model, shape.n));
    timer = setTimeout(next, Math.max(0, began + i * shape.d - performance.now()));
  };
  return next();
}

const server = http.createServer((req, res) => {
  if (req.method !== 'POST') return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(stats));
  stats.requests++;
  let body = '';
  return req.setEncoding('utf8').on('data', (d) => (body += d)).on('end', () => answer(res, body));
});
server.requestTimeout = server.headersTimeout = server.maxRequestsPerSocket = 0;
server.keepAliveTimeout = 120_000;
server.listen(Number(process.argv[2] ?? 4010), '127.0.0.1', 4096, () => console.log('ready'));
