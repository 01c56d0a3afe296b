// clients/typescript: the committed code is generated from /openapi.json, its types are correct, and it works in Node
// and in a browser, even if its streams are disconnected repeatedly.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import esbuild from 'esbuild';
import { startBrowser } from './lib/console.mjs';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, everything, makeDatabase, root, sleep } from './lib/server.mjs';

const sources = path.join(root, 'clients/typescript');
const packages = path.join(import.meta.dirname, 'node_modules');
const words = Array.from({ length: 60 }, (_, i) => `w${i} `);
let dir, database, llm, server, site, bundle, client, token;

// A relay to the server that disconnects the first six streams in the middle of a chunk after `limit` bytes.
async function startDisconnectingRelay(port, limit) {
  const open = new Set();
  const listener = net.createServer((socket) => {
    const upstream = net.connect(port, '127.0.0.1');
    let streaming = false;
    let passed = 0;
    open.add(socket);
    socket.pipe(upstream);
    upstream.on('data', (d) => {
      streaming ||= d.includes('text/event-stream');
      if (streaming) passed += d.length;
      if (passed <= limit || relay.disconnects === 6) return socket.write(d);
      relay.disconnects++;
      return socket.write(d.subarray(0, Math.ceil(d.length / 2)), () => socket.destroy());
    });
    for (const s of [socket, upstream]) s.on('error', () => {});
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => { open.delete(socket); upstream.destroy(); });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const relay = { disconnects: 0, url: `http://127.0.0.1:${listener.address().port}`, close: () => { for (const s of open) s.destroy(); listener.close(); } };
  return relay;
}

before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-client-'));
  bundle = path.join(dir, 'client.mjs');
  await esbuild.build({ entryPoints: [path.join(sources, 'src/index.ts')], outfile: bundle, bundle: true, format: 'esm', target: 'es2022', nodePaths: [packages], logLevel: 'warning' });
  client = await import(pathToFileURL(bundle));
  site = http.createServer((request, response) => {
    response.setHeader('content-type', request.url === '/client.js' ? 'text/javascript' : 'text/html');
    response.end(request.url === '/client.js' ? readFileSync(bundle) : '<!doctype html><title>a page elsewhere</title>');
  });
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
  site.url = `http://127.0.0.1:${site.address().port}`;
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const done = turns(request).filter((m) => m.role === 'tool');
    if (lastUser(request) === 'Where am I?' && done.length < 2)
      return reply.tools([done.length ? { id: 'c2', name: 'shell', arguments: { command: 'echo one' } } : { id: 'c1', name: 'get_location', arguments: {} }]);
    if (done.length) return reply.say(done.map((m) => m.content.trim()).join(' '));
    for (const w of words) { reply.text(w); await sleep(5); }
    reply.end();
  });
  server = new Server({ database, llm, settings: `${everything}\n[[runs.tool_policy]]\nmatch = "shell"\naction = "ask"\n`, set: [`http.cors.origins=["${site.url}"]`] });
  await server.start();
  token = server.token({ role: 'super_admin' });
});
after(async () => {
  await server?.close();
  await llm?.close();
  site?.close();
  database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

const connect = (options = {}) => new client.Runyard({ baseUrl: server.url, token, ...options });

test('the committed types match the API document', async () => {
  const out = path.join(dir, 'schema.d.ts');
  const document = path.join(dir, 'openapi.json');
  writeFileSync(document, await (await fetch(`${server.url}/openapi.json`)).text());
  execFileSync(process.execPath, [path.join(sources, 'generate.mjs'), document, out]);
  assert.equal(readFileSync(path.join(sources, 'src/schema.d.ts'), 'utf8') === readFileSync(out, 'utf8'), true,
    'start a server with all modules and run node clients/typescript/generate.mjs URL/openapi.json');
});

test('the types accept correct uses and reject incorrect ones', () => {
  const config = path.join(dir, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({
    extends: path.join(sources, 'tsconfig.json'),
    compilerOptions: { noEmit: true, rootDir: '/', paths: { 'eventsource-parser': [path.join(packages, 'eventsource-parser')], 'openapi-fetch': [path.join(packages, 'openapi-fetch')] } },
    include: [path.join(sources, 'src'), path.join(sources, 'test')],
  }));
  try {
    execFileSync(process.execPath, [path.join(packages, 'typescript/bin/tsc'), '-p', config], { encoding: 'utf8' });
  } catch (e) {
    assert.fail(e.stdout);
  }
});

test('operations are available as typed calls', async () => {
  const { api } = connect();
  const made = await api.POST('/agents', { body: { name: 'Made by the client' } });
  assert.equal(made.response.status, 201);
  const { data } = await api.GET('/agents/{id}', { params: { path: { id: made.data.agent_id } } });
  assert.equal(data.name, 'Made by the client');
  const { error, response } = await api.GET('/agents/{id}', { params: { path: { id: '0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11' } } });
  assert.deepEqual([response.status, error], [404, { detail: 'Worker not found' }]);
});

function assertComplete(events, from = 1) {
  assert.deepEqual(events.map((e) => e.sequence), events.map((_, i) => from + i), 'each event once, in order');
  assert.equal(events.at(-1).type, 'status');
  assert.equal(events.at(-1).status, 'completed');
  assert.equal(events.filter((e) => e.type === 'status' && e.status !== 'running').length, 1);
}
const textOf = (events) => events.filter((e) => e.type === 'llm_response_chunk').map((e) => e.content).join('');

test('a run waits for the tools of the client and for a decision, which the client sends', async () => {
  const runyard = connect();
  const run = await runyard.start({ prompt: 'Where am I?', client_tools: JSON.stringify([{ name: 'get_location', description: 'Location', parameters: { type: 'object', properties: {} } }]) });
  const events = [];
  for await (const event of runyard.follow(run.agent_run_id)) {
    events.push(event);
    if (event.type === 'tool_results_requested') await runyard.sendToolResults(run.agent_run_id, event.tool_call_ids.map((id) => ({ tool_call_id: id, content: 'Berlin' })));
    if (event.type !== 'approval_requested') continue;
    const approval = await runyard.decide(event.approval_id, { decision: 'approve', arguments: { command: 'echo two' } });
    assert.equal(approval.status, 'approved');
    await assert.rejects(runyard.decide(event.approval_id, { decision: 'deny' }), (e) => e.status === 409 && e.detail.error_code === 'APPROVAL_DECIDED');
  }
  assertComplete(events);
  assert.match(textOf(events), /^Berlin two\n/);
  assert.deepEqual(events.find((e) => e.type === 'approval_resolved').arguments, { command: 'echo two' });
});

test('Node: start a run with files and follow it over a connection that breaks repeatedly', async () => {
  const relay = await startDisconnectingRelay(new URL(server.url).port, 900);
  try {
    const runyard = connect({ baseUrl: relay.url });
    const key = crypto.randomUUID();
    const fields = { prompt: 'go', files: [{ name: 'notes.txt', data: new Blob(['one line']) }] };
    const run = await runyard.start(fields, { idempotencyKey: key });
    assert.equal(run.status, 'running');
    assert.equal((await runyard.start(fields, { idempotencyKey: key })).agent_run_id, run.agent_run_id);
    const events = [];
    const states = [];
    for await (const e of runyard.follow(run.agent_run_id, { onState: (s) => states.push(s) })) events.push(e);
    assertComplete(events);
    assert.equal(textOf(events), words.join(''));
    assert.ok(relay.disconnects > 2, `only ${relay.disconnects} disconnects`);
    assert.ok(states.filter((s) => s === 'lost').length >= relay.disconnects);

    // Follow the run again from the middle, and after its last event.
    const rest = [];
    for await (const e of runyard.follow(run.agent_run_id, { after: 20 })) rest.push(e);
    assertComplete(rest, 21);
    for await (const e of runyard.follow(run.agent_run_id, { after: events.length })) assert.fail(`an event after the last one: ${e.type}`);
    const short = [];
    for await (const e of connect().follow(run.agent_run_id, { mode: 'snapshot' })) short.push(e);
    assert.deepEqual(short.map((e) => e.type), ['snapshot', 'status']);
    assert.equal(short[0].content, words.join(''));
  } finally {
    relay.close();
  }
});

test('Node: the server is killed and restarted while a run is followed', async () => {
  const port = new URL(server.url).port;
  const runyard = connect();
  const run = await runyard.start({ prompt: 'go' });
  const events = [];
  let killed = false;
  for await (const e of runyard.follow(run.agent_run_id)) {
    events.push(e);
    if (events.length === 12 && !killed) {
      killed = true;
      await server.kill();
      server.set = [...server.set.filter((s) => !s.startsWith('http.listen')), `http.listen="127.0.0.1:${port}"`];
      await server.start();
    }
  }
  assert.ok(killed);
  assertComplete(events);
});

test('Node: permanent errors are thrown; an abort ends the stream; a token is renewed', async () => {
  const unknown = connect().follow('0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11');
  await assert.rejects(unknown.next(), (e) => e instanceof client.RequestFailed && e.status === 404 && e.message === 'Run not found' && e.requestId !== null);
  await assert.rejects(connect({ token: 'nonsense' }).start({ prompt: 'x' }), (e) => e.status === 401 && e.detail === 'Not authenticated');
  const unreachable = new client.Runyard({ baseUrl: 'http://127.0.0.1:9', token: 'x' });
  await assert.rejects(unreachable.follow('0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11', { attempts: 2 }).next());

  const run = await connect().start({ prompt: 'go' });
  const tokens = ['nonsense'];
  const events = [];
  for await (const e of connect({ token: () => tokens.shift() ?? token }).follow(run.agent_run_id)) events.push(e);
  assertComplete(events);

  const stop = new AbortController();
  let n = 0;
  const second = await connect().start({ prompt: 'go' });
  for await (const e of connect().follow(second.agent_run_id, { signal: stop.signal })) if (++n === 3) stop.abort();
  assert.ok(n >= 3 && n < 60, `${n} events`);
  const { data } = await connect().api.POST('/agent-run/{id}/stop', { params: { path: { id: second.agent_run_id } } });
  assert.equal(data.status, 'stopped');
});

test('a silent connection is closed and reopened', async () => {
  const run = await connect().start({ prompt: 'go' });
  let requests = 0;
  const runyard = connect({ fetch: (url, init) => {
    if (++requests > 1) return fetch(url, init);
    // Opens the stream and sends nothing until it is aborted.
    const body = new ReadableStream({ start: (c) => init.signal.addEventListener('abort', () => c.error(new Error('aborted'))) });
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  } });
  const events = [];
  for await (const e of runyard.follow(run.agent_run_id, { silenceMs: 1500 })) events.push(e);
  assertComplete(events);
  assert.equal(requests, 2);
});

test('Chromium: start a run with a file and follow it over a breaking connection, from a page of another origin', async () => {
  const relay = await startDisconnectingRelay(new URL(server.url).port, 900);
  const browser = await startBrowser();
  try {
    const page = await browser.person();
    await page.goto(site.url);
    const got = await page.evaluate(async (baseUrl, token) => {
      const { Runyard, RequestFailed } = await import('/client.js');
      const runyard = new Runyard({ baseUrl, token: async () => token });
      const run = await runyard.start({ prompt: 'go', files: [new File(['one line'], 'notes.txt')] });
      const events = [];
      for await (const e of runyard.follow(run.agent_run_id)) events.push(e);
      const { data } = await runyard.api.GET('/agent-run/{id}', { params: { path: { id: run.agent_run_id } } });
      const failed = await runyard.follow('0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11').next().catch((e) => e);
      return { events, run: data, failed: [failed instanceof RequestFailed, failed.status, failed.message] };
    }, relay.url, token);
    assertComplete(got.events);
    assert.equal(textOf(got.events), words.join(''));
    assert.equal(got.run.status, 'completed');
    assert.deepEqual(got.failed, [true, 404, 'Run not found']);
    assert.ok(relay.disconnects > 2, `only ${relay.disconnects} disconnects`);
  } finally {
    await browser.close();
    relay.close();
  }
});
