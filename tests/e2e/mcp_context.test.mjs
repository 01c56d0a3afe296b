// What MCP servers contribute to a run in addition to tools: instructions for the system prompt, resources, and results
// that are stored in the workspace.
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
// A server with these results by method; the value for initialize is merged into the default result.
async function peerWith(answers, tools = [plain('echo')]) {
  const peer = await startScriptedServer((m, res) => {
    const override = answers[m.method];
    if (override === undefined) return undefined;
    if (m.method === 'initialize')
      return result(res, m, { protocolVersion: '2025-11-25', serverInfo: { name: 'hand', version: '1' }, ...override, capabilities: { tools: {}, ...override.capabilities } });
    const value = typeof override === 'function' ? override(m.params ?? {}) : override;
    return value.error ? json(res, 200, { jsonrpc: '2.0', id: m.id, error: value.error }) : result(res, m, value);
  }, { tools });
  peers.push(peer);
  return peer;
}
async function configureServers(u, servers) {
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const custom_mcps = servers.map(([name, peer, config = {}, enabledTools = ['echo']]) =>
    ({ name, type: 'http', config: { url: peer.url, ...config }, enabledTools }));
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } });
  assert.equal(put.status, 200, put.text);
  return put.json.data.custom_mcps;
}
// Until all servers have answered, tool descriptions are placeholders made from the tool names.
const waitForToolLists = (u) => waitFor('all tool lists', async () => {
  await run(u, 'hello');
  return !llm.seen.at(-1).json.tools.some((t) => /^The tool .* of .*\.$/.test(t.function.description ?? ''));
}, 60_000);
const promptOf = (request) => request.messages.filter((m) => m.role === 'system').map((m) => m.content).join('');
const offered = (request) => request.tools.map((t) => t.function.name);

test('server instructions are in the system prompt, marked with their server and truncated', async () => {
  const u = await server.user({ tier: 'pro' });
  const kind = await peerWith({ initialize: { instructions: 'Always say please.' } });
  const long = await peerWith({ initialize: { instructions: 'x'.repeat(10_000) } });
  const off = await peerWith({ initialize: { instructions: 'Never show this.' } });
  const unused = await peerWith({ initialize: { instructions: 'Nor this.' } });
  const stored = await configureServers(u, [['kind', kind], ['long', long], ['off', off, { instructions: false }], ['unused', unused, {}, []]]);
  assert.equal(stored[2].config.instructions, false);
  let prompt;
  // A run that starts before a server has answered does not include its instructions.
  await waitFor('the instructions of both servers', async () => {
    await run(u, 'hello');
    prompt = promptOf(llm.seen.at(-1).json);
    return /mcp:kind/.test(prompt) && /mcp:long/.test(prompt);
  }, 60_000);
  assert.match(prompt, /<tool_server_instructions server="mcp:kind">\nAlways say please\.\n<\/tool_server_instructions>/);
  assert.match(prompt, /server="mcp:long">\nx{4096}\n\[cut: 5904 more bytes\]\n</);
  assert.doesNotMatch(prompt, /Never show|Nor this/);
  assert.doesNotMatch(JSON.stringify(llm.seen.at(-1).json.tools), /Always say please/);
});

test('waiting for the instructions of a slow server delays a run no longer than its tools', async () => {
  const u = await server.user({ tier: 'pro' });
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  const slow = await startScriptedServer((m, res) => {
    if (m.method !== 'initialize') return undefined;
    void held.then(() => result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' }, instructions: 'Patience.' }));
    return true;
  });
  peers.push(slow);
  await configureServers(u, [['slow', slow]]);
  await run(u, 'one');
  assert.doesNotMatch(promptOf(llm.seen.at(-1).json), /Patience/);
  release();
  await waitFor('the instructions', async () => {
    await run(u, 'two');
    return /Patience\./.test(promptOf(llm.seen.at(-1).json));
  }, 60_000);
});

const files = Array.from({ length: 3 }, (_, i) => ({ uri: `file:///data/${i}.txt`, name: `${i}.txt`, mimeType: 'text/plain' }));
const peerWithResources = () => peerWith({
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

// Runs the prompt; returns the project and the tool result that the model received.
async function runForResult(u, prompt) {
  const started = await u.start({ prompt });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { project: started.json.project_id, text: textOf(s.events).replace(/^said: /, '') };
}
const storedFile = async (u, project, path) => (await fetch(`${u.url}/projects/${project}/files/content?path=${encodeURIComponent(path)}`,
  { headers: { authorization: `Bearer ${u.token}` } })).arrayBuffer().then((b) => Buffer.from(b));
const storedPathIn = (text) => /\[stored in the workspace: (\S+) \(/.exec(text)?.[1];

test('resources are listed and read, including templates and binary contents', async () => {
  const u = await server.user({ tier: 'pro' });
  const peer = await peerWithResources(), withoutResources = await peerWith({});
  await configureServers(u, [['docs', peer], ['bare', withoutResources]]);
  await waitForToolLists(u);
  const list = await runForResult(u, '[call list_resources {}]');
  assert.equal(list.text, `4 resources:\n${files.map((f) => `${f.uri} (${f.name}, text/plain)`).join('\n')}\ntemplate row://{id} (row)`);
  assert.deepEqual(offered(llm.seen.at(-1).json).filter((n) => n.includes('resource')), ['list_resources', 'read_resource']);
  assert.equal((await runForResult(u, '[call list_resources {"server":"docs","filter":"2.TXT"}]')).text, '1 resource:\nfile:///data/2.txt (2.txt, text/plain)');
  assert.equal((await runForResult(u, '[call read_resource {"uri":"row://7"}]')).text, '[resource row://7, application/json]\n{"id":7}');
  assert.match((await runForResult(u, '[call read_resource {"uri":"x:y"}]')).text, /Resource not found/);
  assert.match((await runForResult(u, '[call read_resource {"uri":"x:y","server":"bare2"}]')).text, /"server" must be one of: docs/);
  const blob = await runForResult(u, '[call read_resource {"uri":"file:///data/blob.zip"}]');
  assert.match(storedPathIn(blob.text) ?? blob.text, /^tool_results\/blob-[0-9a-f]{12}\.zip$/);
  assert.equal((await storedFile(u, blob.project, storedPathIn(blob.text))).toString(), 'zip-bytes');
  const long = await runForResult(u, '[call read_resource {"uri":"file:///data/long.txt"}]');
  assert.match(long.text, /bytes omitted/);
  const storedText = (await storedFile(u, long.project, storedPathIn(long.text))).toString();
  assert.ok(storedText.includes('begin yyy') && storedText.endsWith('yyy end'), storedText.slice(0, 100));
});

test('the resource tools follow the capability and the setting of each server', async () => {
  const u = await server.user({ tier: 'pro' });
  const peer = await peerWithResources(), other = await peerWithResources(), withoutResources = await peerWith({});
  const resourceTools = async (...servers) => {
    await configureServers(u, servers);
    await waitForToolLists(u);
    return llm.seen.at(-1).json.tools.filter((t) => t.function.name.endsWith('_resource') || t.function.name.endsWith('_resources'));
  };
  assert.deepEqual(await resourceTools(['bare', withoutResources]), []);
  assert.deepEqual(await resourceTools(['docs', peer, { resources: false }]), []);
  const both = await resourceTools(['docs', peer], ['more', other, { resources: true }, []], ['bare', withoutResources]);
  assert.deepEqual(both.map((t) => t.function.parameters.properties.server.enum), [['docs', 'more'], ['docs', 'more']]);
  assert.deepEqual(both[1].function.parameters.required.toSorted(), ['server', 'uri']);
  assert.match((await runForResult(u, '[call read_resource {"uri":"row://7"}]')).text, /"server" is missing; it must be one of: docs, more/);
  assert.match((await runForResult(u, '[call read_resource {"uri":"row://7","server":"more"}]')).text, /\{"id":7\}/);
});

test('audio and other binary results are stored in the workspace, with a link and safe names', async () => {
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
  await configureServers(u, [['box', peer, {}, ['sound', 'escape', 'picture', 'huge']]]);
  const sound = await runForResult(u, '[call box__sound {}]');
  assert.match(sound.text, /^Here\.\n\[audio, audio\/wav, \d+ bytes\]\n\[stored in the workspace: tool_results\/audio-[0-9a-f]{12}\.wav \(audio\/wav, 21 B\)\]$/);
  assert.deepEqual(await storedFile(u, sound.project, storedPathIn(sound.text)), wav);
  const escape = await runForResult(u, '[call box__escape {}]');
  assert.match(storedPathIn(escape.text) ?? escape.text, /^tool_results\/[^/]+\.bin$/);
  assert.deepEqual(await storedFile(u, escape.project, storedPathIn(escape.text)), wav);
  // The model of this test is configured without vision.
  const picture = await runForResult(u, '[call box__picture {}]');
  assert.match(storedPathIn(picture.text) ?? picture.text, /^tool_results\/image-[0-9a-f]{12}\.png$/);
  assert.deepEqual(await storedFile(u, picture.project, storedPathIn(picture.text)), image);
  assert.ok(!JSON.stringify(turns(llm.seen.at(-1).json)).includes(image.toString('base64')));
  const huge = await runForResult(u, '[call box__huge {}]');
  assert.match(huge.text, /omitted: too large/);
  assert.doesNotMatch(huge.text, /stored in the workspace/);
});
