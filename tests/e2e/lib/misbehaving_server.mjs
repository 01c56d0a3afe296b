// MCP servers that misbehave in what they say, whatever carries it. As a program: `node misbehaving_server.mjs NAME` speaks over standard
// input and output.
import http from 'node:http';
import readline from 'node:readline';

const answer = (m, result) => ({ jsonrpc: '2.0', id: m.id, result });
const one = (name) => ({ tools: [{ name, inputSchema: {} }] });
const asked = (method, say) => (m) => (m.method === method ? say(m) : undefined);
const listed = (say) => asked('tools/list', say);
const said = (say) => listed((m) => [answer(m, say(m))]);

// say(message): the messages to send for it; undefined: the answer of a correct server. Returns the number of
// tools, or the code of the error and its cause.
export const misbehaviors = {
  'pages that never end stop at a bound': { say: said(({ params }) => ({ ...one(`t${params.cursor ?? 0}`), nextCursor: String(Number(params.cursor ?? 0) + 1) })), tools: 100 },
  'a cursor that repeats ends the list': { say: said(() => ({ ...one('one'), nextCursor: 'again' })), tools: 1 },
  'the empty cursor is a cursor': { say: said(({ params }) => (params.cursor === '' ? one('b') : { ...one('a'), nextCursor: '' })), tools: 2 },
  'bad tools among good ones are left out': { say: said(() => ({ tools: [{ name: 'good', inputSchema: {} }, { name: 'bad' }, 7, { inputSchema: {} },
    { name: 'header', inputSchema: { properties: { a: { type: 'string', 'x-mcp-header': 'bad name' } } } }, { name: 'good', inputSchema: { type: 'object' } }] })), tools: 1 },
  'a list that is none is refused': { say: said(() => ({ tools: 'all of them' })), code: 'MCP_PROTOCOL_ERROR', cause: /list of tools/ },
  'a result that is none is refused': { say: said(() => 7), code: 'MCP_PROTOCOL_ERROR', cause: /not answered with an object/ },
  'a result of an unknown kind is refused': { say: said(() => ({ ...one('x'), resultType: 'perhaps' })), code: 'MCP_PROTOCOL_ERROR', cause: /unknown type/ },
  'a revision from the future is refused': { say: asked('initialize', (m) => [answer(m, { protocolVersion: '2099-01-01', capabilities: {} })]), code: 'MCP_PROTOCOL_ERROR', cause: /2099-01-01/ },
  'the first revision is taken': { say: asked('initialize', (m) => [answer(m, { protocolVersion: '2024-11-05', capabilities: { tools: {} } })]), tools: 1 },
  'a server without tools has none': { say: asked('initialize', (m) => [answer(m, { protocolVersion: '2025-11-25', capabilities: {} })]), tools: 0 },
  'an error of the server keeps its code and its data': { say: listed((m) => [{ jsonrpc: '2.0', id: m.id, error: { code: -32042, message: 'not today', data: { until: 'monday' } } }]), code: 'MCP_PROTOCOL_ERROR', cause: /not today.*-32042.*monday/ },
  'answers to other questions are ignored': { say: listed((m) => [m.id + 1000, String(m.id + 5), null, -1, 1e300, [m.id], { id: m.id }].map((id) => answer({ id }, { tools: [] })).concat(answer(m, one('x')))), tools: 1 },
  'a second answer is ignored': { say: listed((m) => [answer(m, one('x')), answer(m, { tools: [] }), { jsonrpc: '2.0', id: m.id, error: { code: 1, message: 'no' } }]), tools: 1 },
  'an id as text is its number': { say: listed((m) => [answer({ id: String(m.id) }, one('x'))]), tools: 1 },
  'half a character spoils neither a list nor its tool': { say: said(() => ({ tools: [...one('x').tools, { name: 'y', description: 'cut in \ud83d', inputSchema: { title: '\udc00' } }] })), tools: 2 },
  'a batch is read': { say: listed((m) => [[{ jsonrpc: '2.0', method: 'n' }, answer(m, one('x'))]]), tools: 1 },
  'questions of the server are answered, whatever their id': { say: listed((m) => [1, 'a', 'x'.repeat(10000), null, {}, 1.5].map((id) => ({ jsonrpc: '2.0', id, method: 'sampling/createMessage', params: {} })).concat(answer(m, one('x')))), tools: 1 },
  'tools without number are cut': { say: said(() => ({ tools: Array.from({ length: 3000 }, (_, i) => ({ name: `t${i}`, inputSchema: {} })) })), tools: 1000 },
  'a server that is silent is given up in time': { say: listed(() => []), code: 'MCP_TIMEOUT', cause: /5 seconds/ },
};

function honestly(m) {
  if (m.method === 'initialize') return [answer(m, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'talk', version: '1' } })];
  if (m.method === 'tools/list') return [answer(m, one('echo'))];
  return m.id === undefined || m.method === undefined ? [] : [{ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'Method not found' } }];
}
const words = (name, m) => (misbehaviors[name].say(m) ?? honestly(m)).map((v) => JSON.stringify(v));

// Over Streamable HTTP, or as the legacy HTTP+SSE: {url, close}.
export async function startMisbehavingServer(name, type) {
  let stream;
  const server = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => {
      const events = () => res.writeHead(200, { 'content-type': 'text/event-stream' });
      if (req.method === 'GET' && type === 'sse') { stream = events(); stream.write('event: endpoint\ndata: /m\n\n'); return; }
      if (req.method !== 'POST') { res.writeHead(405).end(); return; }
      const m = JSON.parse(body);
      const texts = words(name, m);
      if (m.id === undefined || m.method === undefined) { res.writeHead(202).end(); return; }
      if (type === 'sse') res.writeHead(202).end();
      const to = type === 'sse' ? stream : events();
      for (const text of texts) to.write(`data: ${text}\n\n`);
      if (type !== 'sse' && texts.length) to.end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, close: () => { server.closeAllConnections(); server.close(); } };
}

if (process.argv[1] === import.meta.filename) {
  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    for (const text of words(process.argv[2], JSON.parse(line))) process.stdout.write(text + '\n');
  });
}
