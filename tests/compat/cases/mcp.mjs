// Unusual responses of MCP servers that the protocol allows.
import { DONE_ANSWER, calling } from '../lib/answers.mjs';

const echo = { name: 'echo', inputSchema: { type: 'object', properties: {} } };
const reply = (result) => ({ headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: '$id', result }) });
const page = (result) => ({ answer: (message) => (message.method === 'tools/list' ? reply(result) : undefined) });
const listed = { replies: { list: [{ status: 200, text: '/echo/' }] } };
// The event stream of a call ends early; each GET returns the next of these bodies.
const resumed = (call, ...gets) => ({ tools: [echo], answer: (message, req, state) => {
  if (message.method === 'tools/call') return { body: call };
  return req.method === 'GET' ? { body: gets[Math.min(state.count++, gets.length - 1)] } : undefined;
} });
const late = 'id: 2\ndata: {"jsonrpc":"2.0","id":"$id","result":{"content":[{"type":"text","text":"late"}]}}\n\n';
const read = (id, title, result, text, more = {}) => ({ id, title, mcp: { tools: [echo], results: { echo: result } },
  answers: [calling('peer__echo'), DONE_ANSWER],
  expect: { run: { status: 'completed' }, request: { results: [{ text }] }, ...more } });

// A server that responds to server/discover in this way.
const discovery = (id, title, status, body) => ({ id, title, steps: [{ list: {} }], expect: listed,
  mcp: { tools: [echo], answer: (message) => (message.method === 'server/discover'
    ? { status, headers: { 'content-type': 'application/json' }, body } : undefined) } });
const unknownMethod = '{"jsonrpc":"2.0","id":"$id","error":{"code":-32601,"message":"Method not found"}}';

export default [
  { id: 'r02a', title: 'a response whose stream ends twice before its message is resumed',
    mcp: resumed('retry: 100\nid: 1\ndata:\n\n', ': nothing yet\n\n', late), steps: [{ call: { tool: 'echo' } }],
    expect: { replies: { call: [{ status: 200, text: '/late/' }] }, resumedFrom: ['1', '1'] } },
  { id: 'r02a-once', title: 'a response whose stream ends once before its message is resumed',
    mcp: resumed('retry: 100\nid: 1\ndata:\n\n', late), steps: [{ call: { tool: 'echo' } }],
    expect: { replies: { call: [{ status: 200, text: '/late/' }] }, resumedFrom: ['1'] } },
  { id: 'r02a-newer', title: 'a stream that ends again is resumed from its latest event',
    mcp: resumed('retry: 100\nid: 1\ndata:\n\n', 'id: 7\ndata:\n\n', late), steps: [{ call: { tool: 'echo' } }],
    expect: { replies: { call: [{ status: 200, text: '/late/' }] }, resumedFrom: ['1', '7'] } },
  { id: 'r03a', title: 'an empty nextCursor ends the list of tools', mcp: page({ tools: [echo], nextCursor: '' }),
    steps: [{ list: {} }], expect: listed },
  { id: 'r03b', title: 'a nextCursor of null ends the list of tools', mcp: page({ tools: [echo], nextCursor: null }),
    steps: [{ list: {} }], expect: listed },
  { id: 'r03b-pages', title: 'all pages of a list of tools are read', steps: [{ list: {} }],
    expect: { replies: { list: [{ status: 200, text: '/echo.*second/' }] } },
    mcp: { answer: (message) => (message.method !== 'tools/list' ? undefined : message.params?.cursor
      ? reply({ tools: [{ ...echo, name: 'second' }], nextCursor: null })
      : reply({ tools: [echo], nextCursor: 'more' })) } },
  read('r04a', 'a result that has only structured content is passed to the model', { structuredContent: { n: 42 }, content: [] },
    '/"n": ?42/'),
  read('r04a-once', 'structured content that repeats the text is passed to the model once',
    { structuredContent: { n: 42 }, content: [{ type: 'text', text: '{"n":42}' }] }, { $not: '/42.*42/' }),
  read('r04a-absent', 'a result with structured content and without the member content is passed to the model',
    { structuredContent: { n: 42 } }, '/"n": ?42/'),
  read('r04a-image', 'image data is not passed to the model as text',
    { content: [{ type: 'text', text: 'drawn' }, { type: 'image', mimeType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==' }] },
    { $not: '/iVBORw0KGgo/' }),
  read('r04a-wrapped', 'a structured result that wraps the text is passed to the model once',
    { structuredContent: { result: 'forty-two' }, content: [{ type: 'text', text: 'forty-two' }] },
    { $not: '/forty-two.*forty-two/' }),

  discovery('m01a', 'a server that does not support server/discover is initialized', 200, unknownMethod),
  discovery('m01a-missing', 'a server that responds to server/discover with 404 and a JSON-RPC error is initialized', 404,
    unknownMethod),
  discovery('m01a-page', 'a server that responds to server/discover with 404 and plain text is initialized', 404, 'Not Found'),
  discovery('m01a-crash', 'a server that responds to server/discover with 500 is initialized', 500,
    'Internal Server Error'),
  discovery('m01a-parameters', 'a server that responds to server/discover with an error for invalid parameters is initialized', 400,
    '{"jsonrpc":"2.0","id":"$id","error":{"code":-32602,"message":"Invalid request parameters"}}'),
  { id: 'm01b', title: 'a server of the revision 2024-11-05 is supported', steps: [{ list: {} }, { call: { tool: 'echo' } }],
    expect: { replies: { list: [{ status: 200, text: '/echo/' }], call: [{ status: 200, text: '/called echo/' }] } },
    mcp: { tools: [echo], answer: (message) => (message.method === 'initialize'
      ? reply({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } })
      : undefined) } },
];
