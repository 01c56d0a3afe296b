// A simulated model provider with the OpenAI chat completions API, controlled by the test:
// `answer(request, reply)` is called for every completion. `seen` records the requests and how each
// connection ended.
import http from 'node:http';

export async function startLlm(answer, { host = '127.0.0.1', port = 0 } = {}) {
  const seen = [];
  const sockets = new Set();
  const server = http.createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8');
    req.on('data', (c) => (body += c));
    req.on('end', async () => {
      const call = { path: req.url, headers: req.headers, json: JSON.parse(body || '{}'), aborted: null, at: Date.now() };
      seen.push(call);
      call.closed = new Promise((resolve) =>
        res.on('close', () => { call.aborted = !res.writableFinished; call.closedAt = Date.now(); resolve(); }));
      const reply = makeReply(res, call.json);
      try {
        await answer(call.json, reply, seen.length - 1);
      } catch (e) {
        if (!res.headersSent) res.writeHead(500);
        res.end(String(e));
      }
    });
  });
  server.on('connection', (s) => { sockets.add(s); s.on('close', () => sockets.delete(s)); });
  // Thousands of runs start together; a connection that overflows the backlog would be retried only after seconds.
  await new Promise((resolve) => server.listen({ port, host, backlog: 4096 }, resolve));
  return {
    url: `http://${host}:${server.address().port}/v1`,
    seen,
    set answer(fn) { answer = fn; },
    close: () => new Promise((resolve) => { for (const s of sockets) s.destroy(); server.close(resolve); }),
  };
}

// A provider that begins each response and finishes it when letGo() is called.
export async function startHeldLlm() {
  const waiting = [];
  const llm = await startLlm(async (request, reply) => {
    reply.text('begun ');
    await new Promise((resolve) => waiting.push(resolve));
    reply.end();
  });
  return Object.assign(llm, { letGo: () => waiting.splice(0).forEach((resolve) => resolve()) });
}

function makeReply(res, request) {
  const head = () => {
    if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
  };
  const frame = (choice, extra = {}) => {
    head();
    res.write(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: request.model, choices: choice ? [choice] : [], ...extra })}\n\n`);
  };
  const finish = (reason, usage) => {
    frame({ index: 0, delta: {}, finish_reason: reason });
    frame(null, { usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output } });
    res.end('data: [DONE]\n\n');
  };
  return {
    res,
    text: (content) => frame({ index: 0, delta: { role: 'assistant', content }, finish_reason: null }),
    end: (usage = { input: 10, output: 5 }) => finish('stop', usage),
    truncate: (usage = { input: 10, output: 5 }) => finish('length', usage),
    say(content, usage) { this.text(content); this.end(usage); },
    tools(calls, usage = { input: 10, output: 5 }) {
      calls.forEach((c, index) =>
        frame({ index: 0, delta: { tool_calls: [{ index, id: c.id ?? `call_${index}`, type: 'function', function: { name: c.name, arguments: JSON.stringify(c.arguments ?? {}) } }] }, finish_reason: null }));
      finish('tool_calls', usage);
    },
    fail(status, headers = {}, message = 'simulated failure') {
      res.writeHead(status, { 'content-type': 'application/json', ...headers });
      res.end(JSON.stringify({ error: { message, type: 'server_error', code: null } }));
    },
    cut: () => res.destroy(),
  };
}

// The messages after the last user message.
export const turns = (request) => {
  const last = request.messages.findLastIndex((m) => m.role === 'user');
  return request.messages.slice(last + 1);
};
export const lastUser = (request) => {
  const m = request.messages.findLast((m) => m.role === 'user');
  return typeof m.content === 'string' ? m.content : m.content.map((p) => p.text ?? '').join('');
};
