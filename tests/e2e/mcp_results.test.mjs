// Descriptions and results of tools of MCP servers, as the model of a run receives them.
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

// An agent with the given servers: [name, tools, answers by the tool's name].
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

test('a deep schema of one tool loses no tool', async () => {
  const inputSchema = { type: 'object', properties: nested(58, 0.3) };
  const u = await agentWith(['good', [plain('echo')]], ['deep', [plain('near'), { name: 'far', inputSchema }]]);
  const offered = await run(u, 'what?');
  for (const name of ['good__echo', 'deep__near', 'deep__far']) assert.ok(offered.split(',').includes(name), offered);
  const far = llm.seen.at(-1).json.tools.find((t) => t.function.name === 'deep__far');
  assert.deepEqual(far.function.parameters, inputSchema);
  assert.equal(await run(u, '[call deep__far {}]'), 'said: called far');
});

test('a schema too deep for a request loses that tool alone', async () => {
  const u = await agentWith(['good', [plain('echo')]], ['deep', [plain('near'), { name: 'far', inputSchema: nested(100, 1) }]]);
  const offered = (await run(u, 'what?')).split(',');
  assert.ok(offered.includes('good__echo') && offered.includes('deep__near'), offered.join());
  assert.ok(!offered.includes('deep__far'), offered.join());
  assert.match(server.log, /a tool is left out.*deep__far/);
});

test('structured results, deep ones too, and resources reach the model', async () => {
  const rows = { rows: ['ROW-ALPHA', 'ROW-BETA'] };
  const text = (t) => ({ type: 'text', text: t });
  const u = await agentWith(['odd', ['beside', 'alone', 'twice', 'deep', 'blob'].map(plain), {
    beside: { content: [text('Found 2 rows')], structuredContent: rows },
    twice: { content: [text(JSON.stringify(rows, null, 1))], structuredContent: rows },
    alone: { content: [], structuredContent: rows },
    deep: { content: [], structuredContent: nested(100, 1) },
    blob: { content: [{ type: 'resource', resource: { uri: 'x:y', mimeType: 'text/csv', blob: Buffer.from('a,b').toString('base64') } }] },
  }]);
  assert.equal(await run(u, '[call odd__beside {}]'), 'said: Found 2 rows');
  assert.equal(await run(u, '[call odd__alone {}]'), `said: ${JSON.stringify(rows)}`);
  assert.equal(await run(u, '[call odd__twice {}]'), `said: ${JSON.stringify(rows, null, 1)}`);
  assert.equal(await run(u, '[call odd__deep {}]'), `said: ${JSON.stringify(nested(100, 1))}`);
  assert.equal(await run(u, '[call odd__blob {}]'), 'said: [resource x:y, text/csv]\na,b');
});
