// Definitions and results of MCP tools, as the model of a run receives them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, result, run, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase } from './lib/server.mjs';

let database, llm, server;
const peers = [];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm }).start();
});
after(async () => {
  await server?.close();
  for (const peer of peers) peer.close();
  await llm?.close();
  database?.drop();
});

const nested = (levels, leaf) => (levels === 0 ? leaf : { a: nested(levels - 1, leaf) });

// A user whose default agent has the given servers: [name, tools, results by tool name].
async function agentWith(...servers) {
  const u = await server.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const custom_mcps = [];
  for (const [name, tools, answers = {}] of servers) {
    const peer = await startScriptedServer((m, res) =>
      (m.method === 'tools/call' && m.params.name in answers ? result(res, m, answers[m.params.name]) : undefined), { tools });
    peers.push(peer);
    custom_mcps.push({ name, type: 'http', config: { url: peer.url }, enabledTools: tools.map((t) => t.name) });
  }
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } });
  assert.equal(put.status, 200, put.text);
  return u;
}
const plain = (name) => ({ name, inputSchema: { type: 'object' } });

test('a deeply nested schema of one tool does not remove any tool', async () => {
  const inputSchema = { type: 'object', properties: nested(58, 0.3) };
  const u = await agentWith(['good', [plain('echo')]], ['deep', [plain('flat'), { name: 'nested', inputSchema }]]);
  const offered = await run(u, 'what?');
  for (const name of ['good__echo', 'deep__flat', 'deep__nested']) assert.ok(offered.split(',').includes(name), offered);
  const nestedTool = llm.seen.at(-1).json.tools.find((t) => t.function.name === 'deep__nested');
  assert.deepEqual(nestedTool.function.parameters, inputSchema);
  assert.equal(await run(u, '[call deep__nested {}]'), 'said: called nested');
});

test('a schema nested too deeply for a model request removes only its own tool', async () => {
  const u = await agentWith(['good', [plain('echo')]], ['deep', [plain('flat'), { name: 'nested', inputSchema: nested(100, 1) }]]);
  const offered = (await run(u, 'what?')).split(',');
  assert.ok(offered.includes('good__echo') && offered.includes('deep__flat'), offered.join());
  assert.ok(!offered.includes('deep__nested'), offered.join());
  assert.match(server.log, /a tool is omitted.*deep__nested/);
});

test('structured results, including deeply nested ones, and resources reach the model', async () => {
  const rows = { rows: ['ROW-ALPHA', 'ROW-BETA'] };
  const text = (t) => ({ type: 'text', text: t });
  const u = await agentWith(['odd', ['with_text', 'alone', 'duplicated', 'deep', 'blob'].map(plain), {
    with_text: { content: [text('Found 2 rows')], structuredContent: rows },
    duplicated: { content: [text(JSON.stringify(rows, null, 1))], structuredContent: rows },
    alone: { content: [], structuredContent: rows },
    deep: { content: [], structuredContent: nested(100, 1) },
    blob: { content: [{ type: 'resource', resource: { uri: 'x:y', mimeType: 'text/csv', blob: Buffer.from('a,b').toString('base64') } }] },
  }]);
  assert.equal(await run(u, '[call odd__with_text {}]'), 'said: Found 2 rows');
  assert.equal(await run(u, '[call odd__alone {}]'), `said: ${JSON.stringify(rows)}`);
  assert.equal(await run(u, '[call odd__duplicated {}]'), `said: ${JSON.stringify(rows, null, 1)}`);
  assert.equal(await run(u, '[call odd__deep {}]'), `said: ${JSON.stringify(nested(100, 1))}`);
  assert.equal(await run(u, '[call odd__blob {}]'), 'said: [resource x:y, text/csv]\na,b');
});
