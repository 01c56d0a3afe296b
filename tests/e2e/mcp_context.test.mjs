// What MCP servers add to a run beside their tools: instructions for the system prompt, resources, and results that are
// stored in the workspace.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { png } from './lib/documents.mjs';
import { startLlm, turns } from './lib/llm.mjs';
import { callingModel, json, result, run, startScriptedServer } from './lib/mcp.mjs';
import { Server, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, server;
const peers = [];
before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: ['mcp.list_wait_seconds=1', 'mcp.max_files_kb=1024'] }).start();
});
after(async () => {
  await server?.close();
  for (const peer of peers) peer.close();
  await llm?.close();
  database?.drop();
});

const plain = (name) => ({ name, inputSchema: { type: 'object' } });
// A server with these answers by method; of initialize: what is added to the usual one.
async function peerWith(answers, tools = [plain('echo')]) {
  const peer = await startScriptedServer((m, res) => {
    const given = answers[m.method];
    if (given === undefined) return undefined;
    if (m.method === 'initialize')
      return result(res, m, { protocolVersion: '2025-11-25', serverInfo: { name: 'hand', version: '1' }, ...given, capabilities: { tools: {}, ...given.capabilities } });
    const value = typeof given === 'function' ? given(m.params ?? {}) : given;
    return value.error ? json(res, 200, { jsonrpc: '2.0', id: m.id, error: value.error }) : result(res, m, value);
  }, { tools });
  peers.push(peer);
  return peer;
}
async function agentOf(u, servers) {
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const custom_mcps = servers.map(([name, peer, config = {}, enabledTools = ['echo']]) =>
    ({ name, type: 'http', config: { url: peer.url, ...config }, enabledTools }));
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } });
  assert.equal(put.status, 200, put.text);
  return put.json.data.custom_mcps;
}
// Until all servers have answered, the tools are described by their names.
const listed = (u) => waitFor('all lists of tools', async () => {
  await run(u, 'hello');
  return !llm.seen.at(-1).json.tools.some((t) => /^The tool .* of .*\.$/.test(t.function.description ?? ''));
}, 60_000);
const promptOf = (request) => request.messages.filter((m) => m.role === 'system').map((m) => m.content).join('');
const offered = (request) => request.tools.map((t) => t.function.name);

test('the instructions of servers are in the system prompt, marked and bounded', async () => {
  const u = await server.user({ tier: 'pro' });
  const kind = await peerWith({ initialize: { instructions: 'Always say please.' } });
  const long = await peerWith({ initialize: { instructions: 'x'.repeat(10_000) } });
  const off = await peerWith({ initialize: { instructions: 'Never show this.' } });
  const unused = await peerWith({ initialize: { instructions: 'Nor this.' } });
  const stored = await agentOf(u, [['kind', kind], ['long', long], ['off', off, { instructions: false }], ['unused', unused, {}, []]]);
  assert.equal(stored[2].config.instructions, false);
  let prompt;
  // A run that comes before a server has answered goes without.
  await waitFor('both', async () => {
    await run(u, 'hello');
    prompt = promptOf(llm.seen.at(-1).json);
    return /mcp:kind/.test(prompt) && /mcp:long/.test(prompt);
  }, 60_000);
  assert.match(prompt, /<tool_server_instructions server="mcp:kind">\nAlways say please\.\n<\/tool_server_instructions>/);
  assert.match(prompt, /server="mcp:long">\nx{4096}\n\[cut: 5904 more bytes\]\n</);
  assert.doesNotMatch(prompt, /Never show|Nor this/);
  assert.doesNotMatch(JSON.stringify(llm.seen.at(-1).json.tools), /Always say please/);
});

test('a server that is slow at first delays a run no longer than its tools do', async () => {
  const u = await server.user({ tier: 'pro' });
  let go;
  const held = new Promise((resolve) => { go = resolve; });
  const slow = await startScriptedServer((m, res) => {
    if (m.method !== 'initialize') return undefined;
    void held.then(() => result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' }, instructions: 'Patience.' }));
    return true;
  });
  peers.push(slow);
  await agentOf(u, [['slow', slow]]);
  await run(u, 'one');
  assert.doesNotMatch(promptOf(llm.seen.at(-1).json), /Patience/);
  go();
  await waitFor('instructions', async () => {
    await run(u, 'two');
    return /Patience\./.test(promptOf(llm.seen.at(-1).json));
  }, 60_000);
});

const files = Array.from({ length: 3 }, (_, i) => ({ uri: `file:///data/${i}.txt`, name: `${i}.txt`, mimeType: 'text/plain' }));
const resourceful = () => peerWith({
  initialize: { capabilities: { resources: {} } },
  'resources/list': ({ cursor }) => (cursor ? { resources: files.slice(2) } : { resources: files.slice(0, 2), nextCursor: 'p2' }),
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'row://{id}', name: 'row' }] },
  'resources/read': ({ uri }) => {
    if (uri === 'row://7') return { contents: [{ uri, mimeType: 'application/json', text: '{"id":7}' }] };
    if (uri === 'file:///data/blob.zip') return { contents: [{ uri, mimeType: 'application/zip', blob: Buffer.from('zip-bytes').toString('base64') }] };
    if (uri === 'file:///data/long.txt') return { contents: [{ uri, mimeType: 'text/plain', text: `begin ${'y'.repeat(60_000)} end` }] };
    return { error: { code: -32002, message: 'Resource not found' } };
  },
});

// The last run's project and the tool's result for the model.
async function reported(u, prompt) {
  const started = await u.start({ prompt });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { project: started.json.project_id, text: textOf(s.events).replace(/^said: /, '') };
}
const stored = async (u, project, path) => (await fetch(`${u.url}/projects/${project}/files/content?path=${encodeURIComponent(path)}`,
  { headers: { authorization: `Bearer ${u.token}` } })).arrayBuffer().then((b) => Buffer.from(b));
const tokenInMail = (text) => /\[stored in the workspace: (\S+) \(/.exec(text)?.[1];

test('resources are listed and read, templates and binary contents included', async () => {
  const u = await server.user({ tier: 'pro' });
  const peer = await resourceful(), bare = await peerWith({});
  await agentOf(u, [['docs', peer], ['bare', bare]]);
  await listed(u);
  const list = await reported(u, '[call list_resources {}]');
  assert.equal(list.text, `4 resources:\n${files.map((f) => `${f.uri} (${f.name}, text/plain)`).join('\n')}\ntemplate row://{id} (row)`);
  assert.deepEqual(offered(llm.seen.at(-1).json).filter((n) => n.includes('resource')), ['list_resources', 'read_resource']);
  assert.equal((await reported(u, '[call list_resources {"server":"docs","filter":"2.TXT"}]')).text, '1 resource:\nfile:///data/2.txt (2.txt, text/plain)');
  assert.equal((await reported(u, '[call read_resource {"uri":"row://7"}]')).text, '[resource row://7, application/json]\n{"id":7}');
  assert.match((await reported(u, '[call read_resource {"uri":"x:y"}]')).text, /Resource not found/);
  assert.match((await reported(u, '[call read_resource {"uri":"x:y","server":"bare2"}]')).text, /"server" must be one of: docs/);
  const blob = await reported(u, '[call read_resource {"uri":"file:///data/blob.zip"}]');
  assert.match(tokenInMail(blob.text) ?? blob.text, /^tool_results\/blob-[0-9a-f]{12}\.zip$/);
  assert.equal((await stored(u, blob.project, tokenInMail(blob.text))).toString(), 'zip-bytes');
  const long = await reported(u, '[call read_resource {"uri":"file:///data/long.txt"}]');
  assert.match(long.text, /bytes left out/);
  const whole = (await stored(u, long.project, tokenInMail(long.text))).toString();
  assert.ok(whole.includes('begin yyy') && whole.endsWith('yyy end'), whole.slice(0, 100));
});

test('the resource tools follow the capability and the setting of each server', async () => {
  const u = await server.user({ tier: 'pro' });
  const peer = await resourceful(), other = await resourceful(), bare = await peerWith({});
  const asks = async (...servers) => {
    await agentOf(u, servers);
    await listed(u);
    return llm.seen.at(-1).json.tools.filter((t) => t.function.name.endsWith('_resource') || t.function.name.endsWith('_resources'));
  };
  assert.deepEqual(await asks(['bare', bare]), []);
  assert.deepEqual(await asks(['docs', peer, { resources: false }]), []);
  const both = await asks(['docs', peer], ['more', other, { resources: true }, []], ['bare', bare]);
  assert.deepEqual(both.map((t) => t.function.parameters.properties.server.enum), [['docs', 'more'], ['docs', 'more']]);
  assert.deepEqual(both[1].function.parameters.required.toSorted(), ['server', 'uri']);
  assert.match((await reported(u, '[call read_resource {"uri":"row://7"}]')).text, /"server" is missing; it must be one of: docs, more/);
  assert.match((await reported(u, '[call read_resource {"uri":"row://7","server":"more"}]')).text, /\{"id":7\}/);
});

test('sound and other bytes of results are stored in the workspace, with a link and safe names', async () => {
  const u = await server.user({ tier: 'pro' });
  const wav = Buffer.from('RIFF....WAVEfmt sound'), image = png(2, 2);
  const peer = await peerWith({
    'tools/call': ({ name }) => ({
      sound: { content: [{ type: 'text', text: 'Here.' }, { type: 'audio', mimeType: 'audio/wav', data: wav.toString('base64') }] },
      escape: { content: [{ type: 'resource', resource: { uri: 'file:///..%2f../../../..', mimeType: 'application/x-thing', blob: wav.toString('base64') } }] },
      picture: { content: [{ type: 'image', mimeType: 'image/png', data: image.toString('base64') }] },
      huge: { content: [{ type: 'audio', mimeType: 'audio/wav', data: Buffer.alloc(900_000).toString('base64') }] },
    })[name],
  }, ['sound', 'escape', 'picture', 'huge'].map(plain));
  await agentOf(u, [['box', peer, {}, ['sound', 'escape', 'picture', 'huge']]]);
  const sound = await reported(u, '[call box__sound {}]');
  assert.match(sound.text, /^Here\.\n\[audio, audio\/wav, \d+ bytes\]\n\[stored in the workspace: tool_results\/audio-[0-9a-f]{12}\.wav \(audio\/wav, 21 B\)\]$/);
  assert.deepEqual(await stored(u, sound.project, tokenInMail(sound.text)), wav);
  const escape = await reported(u, '[call box__escape {}]');
  assert.match(tokenInMail(escape.text) ?? escape.text, /^tool_results\/[^/]+\.bin$/);
  assert.deepEqual(await stored(u, escape.project, tokenInMail(escape.text)), wav);
  // The model of this test is configured without vision.
  const picture = await reported(u, '[call box__picture {}]');
  assert.match(tokenInMail(picture.text) ?? picture.text, /^tool_results\/image-[0-9a-f]{12}\.png$/);
  assert.deepEqual(await stored(u, picture.project, tokenInMail(picture.text)), image);
  assert.ok(!JSON.stringify(turns(llm.seen.at(-1).json)).includes(image.toString('base64')));
  const huge = await reported(u, '[call box__huge {}]');
  assert.match(huge.text, /left out: too large/);
  assert.doesNotMatch(huge.text, /stored in the workspace/);
});
