// An MCP server of protocol revision 2026-07-28, built on the TypeScript SDK v2, with the tool echo and twelve others.
// GET /count returns the number of all other requests so far.
import http from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../tests/e2e/package.json', import.meta.url));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { createMcpHandler, McpServer } = await load('@modelcontextprotocol/server');
const { toNodeHandler } = await load('@modelcontextprotocol/node');
const z = await load('zod/v4');
const handler = toNodeHandler(createMcpHandler(() => {
  const s = new McpServer({ name: 'modern', version: '1.0.0' });
  s.registerTool('echo', { description: 'Echoes what it is given', inputSchema: z.object({ message: z.string().describe('What to echo') }) },
    async ({ message }) => ({ content: [{ type: 'text', text: `Echo: ${message}` }] }));
  for (let i = 0; i < 12; i++) {
    s.registerTool(`other-${i}`, { description: `Tool number ${i}, described at the length that tools usually have.`,
      inputSchema: z.object({ a: z.number().describe('one'), b: z.number().describe('another'), label: z.string().optional().describe('a name for it') }) },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
  }
  return s;
}));
let count = 0;
http.createServer((q, r) => {
  if (q.url === '/count') return r.end(String(count));
  ++count;
  return void handler(q, r);
}).listen(Number(process.env.PORT), '127.0.0.1');
