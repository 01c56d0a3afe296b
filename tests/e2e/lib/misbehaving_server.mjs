// MCP servers whose messages misbehave, over any transport. `node misbehaving_server.mjs NAME` runs one over stdio.
import http from 'node:http';
import readline from 'node:readline';

const response = (m, result) => ({ jsonrpc: '2.0', id: m.id, result });
const toolList = (name) => ({ tools: [{ name, inputSchema: {} }] });
const onMethod = (method, respond) => (m) => (m.method === method ? respond(m) : undefined);
const onToolsList = (respond) => onMethod('tools/list', respond);
const toolsResult = (respond) => onToolsList((m) => [response(m, respond(m))]);

// respond(message): the messages to send in response; undefined: respond correctly. `tools`: the expected number of
// tools; otherwise `code` and `cause` of the expected error.
export const misbehaviors = {
  'endless pagination stops at a limit': { respond: toolsResult(({ params }) => ({ ...toolList(`t${params.cursor ?? 0}`), nextCursor: String(Number(params.cursor ?? 0) + 1) })), tools: 100 },
  'a repeated cursor ends the list': { respond: toolsResult(() => ({ ...toolList('one'), nextCursor: 'again' })), tools: 1 },
  'the empty string is a valid cursor': { respond: toolsResult(({ params }) => (params.cursor === '' ? toolList('b') : { ...toolList('a'), nextCursor: '' })), tools: 2 },
  'invalid tools are skipped': { respond: toolsResult(() => ({ tools: [{ name: 'good', inputSchema: {} }, { name: 'bad' }, 7, { inputSchema: {} },
    { name: 'header', inputSchema: { properties: { a: { type: 'string', 'x-mcp-header': 'bad name' } } } }, { name: 'good', inputSchema: { type: 'object' } }] })), tools: 1 },
  'a tool list that is not an array is rejected': { respond: toolsResult(() => ({ tools: 'all of them' })), code: 'MCP_PROTOCOL_ERROR', cause: /list of tools/ },
  'a result that is not an object is rejected': { respond: toolsResult(() => 7), code: 'MCP_PROTOCOL_ERROR', cause: /not answered with an object/ },
  'a result of an unknown type is rejected': { respond: toolsResult(() => ({ ...toolList('x'), resultType: 'perhaps' })), code: 'MCP_PROTOCOL_ERROR', cause: /unknown type/ },
  'an unknown future revision is rejected': { respond: onMethod('initialize', (m) => [response(m, { protocolVersion: '2099-01-01', capabilities: {} })]), code: 'MCP_PROTOCOL_ERROR', cause: /2099-01-01/ },
  'the first revision is accepted': { respond: onMethod('initialize', (m) => [response(m, { protocolVersion: '2024-11-05', capabilities: { tools: {} } })]), tools: 1 },
  'a server without the tools capability has no tools': { respond: onMethod('initialize', (m) => [response(m, { protocolVersion: '2025-11-25', capabilities: {} })]), tools: 0 },
  'an error from the server keeps its code and data': { respond: onToolsList((m) => [{ jsonrpc: '2.0', id: m.id, error: { code: -32042, message: 'not today', data: { until: 'monday' } } }]), code: 'MCP_PROTOCOL_ERROR', cause: /not today.*-32042.*monday/ },
  'responses to other requests are ignored': { respond: onToolsList((m) => [m.id + 1000, String(m.id + 5), null, -1, 1e300, [m.id], { id: m.id }].map((id) => response({ id }, { tools: [] })).concat(response(m, toolList('x')))), tools: 1 },
  'a second response is ignored': { respond: onToolsList((m) => [response(m, toolList('x')), response(m, { tools: [] }), { jsonrpc: '2.0', id: m.id, error: { code: 1, message: 'no' } }]), tools: 1 },
  'a request id returned as a string matches': { respond: onToolsList((m) => [response({ id: String(m.id) }, toolList('x'))]), tools: 1 },
  'a lone surrogate affects neither the list nor its tool': { respond: toolsResult(() => ({ tools: [...toolList('x').tools, { name: 'y', description: 'cut in \ud83d', inputSchema: { title: '\udc00' } }] })), tools: 2 },
  'a JSON-RPC batch is accepted': { respond: onToolsList((m) => [[{ jsonrpc: '2.0', method: 'n' }, response(m, toolList('x'))]]), tools: 1 },
  'requests from the server are answered, whatever their id': { respond: onToolsList((m) => [1, 'a', 'x'.repeat(10000), null, {}, 1.5].map((id) => ({ jsonrpc: '2.0', id, method: 'sampling/createMessage', params: {} })).concat(response(m, toolList('x')))), tools: 1 },
  'a huge tool list is truncated': { respond: toolsResult(() => ({ tools: Array.from({ length: 3000 }, (_, i) => ({ name: `t${i}`, inputSchema: {} })) })), tools: 1000 },
  'a silent server times out': { respond: onToolsList(() => []), code: 'MCP_TIMEOUT', cause: /5 seconds/ },
};

function correctResponse(m) {
  if (m.method === 'initialize') return [response(m, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'misbehaving', version: '1' } })];
  if (m.method === 'tools/list') return [response(m, toolList('echo'))];
  return m.id === undefined || m.method === undefined ? [] : [{ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'Method not found' } }];
}
const messagesFor = (name, m) => (misbehaviors[name].respond(m) ?? correctResponse(m)).map((v) => JSON.stringify(v));

// Starts a server over Streamable HTTP or, with type "sse", over the legacy HTTP+SSE transport: {url, close}.
export async function startMisbehavingServer(name, type) {
  let stream;
  const server = http.createServer((req, res) => {
    let body = '';
    req.on('data', (c) => (body += c)).on('end', () => {
      const events = () => res.writeHead(200, { 'content-type': 'text/event-stream' });
      if (req.method === 'GET' && type === 'sse') { stream = events(); stream.write('event: endpoint\ndata: /m\n\n'); return; }
      if (req.method !== 'POST') { res.writeHead(405).end(); return; }
      const m = JSON.parse(body);
      const texts = messagesFor(name, m);
      if (m.id === undefined || m.method === undefined) { res.writeHead(202).end(); return; }
      if (type === 'sse') res.writeHead(202).end();
      const output = type === 'sse' ? stream : events();
      for (const text of texts) output.write(`data: ${text}\n\n`);
      if (type !== 'sse' && texts.length) output.end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, close: () => { server.closeAllConnections(); server.close(); } };
}

if (process.argv[1] === import.meta.filename) {
  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    for (const text of messagesFor(process.argv[2], JSON.parse(line))) process.stdout.write(text + '\n');
  });
}
