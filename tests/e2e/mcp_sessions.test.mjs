// MCP sessions shared by the calls of a run or thread: state kept in a session is visible to later calls of the same
// run or thread, and to no other.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { json, node, result, startScriptedServer } from './lib/mcp.mjs';
import { startScriptedOAuthServer } from './lib/oauth.mjs';
import { Server, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, server, shortIdleServer, unsandboxedServer;
before(async () => {
  database = makeDatabase();
  // Prompt syntax: "[put x , get ; get]" makes the model call put and get in one response, then get; finally the model
  // returns all tool results.
  llm = await startLlm(async (request, reply) => {
    const currentTurn = turns(request);
    const results = currentTurn.filter((m) => m.role === 'tool').map((m) => m.content);
    const responses = currentTurn.filter((m) => m.role === 'assistant').length;
    const step = /\[(.*)\]/.exec(lastUser(request))[1].split(' ; ')[responses];
    if (!step) return reply.say(`said: ${results.join(' | ')}`);
    reply.tools(step.split(' , ').map((call) => {
      const [name, ...value] = call.split(' ');
      return { name: `remote__${name}`, arguments: value.length ? { value: value.join(' ') } : {} };
    }));
  });
  server = new Server({ database, llm, set: [`mcp_json.readable=["${path.dirname(path.dirname(node))}"]`] });
  unsandboxedServer = await new Server({ database, llm, set: ['mcp_json.sandbox=none'] }).start();
  await server.start();
  shortIdleServer = await new Server({ database, llm, set: ['mcp.session_idle_seconds=1'] }).start();
});
after(async () => {
  await server?.close();
  await shortIdleServer?.close();
  await unsandboxedServer?.close();
  await llm?.close();
  database?.drop();
});

// A server that stores one value per session and answers a call after `delayMs`.
async function sessionServer(delayMs = 100, issuesSessionIds = true) {
  const values = new Map();
  const p = await startScriptedServer((m, res, req) => {
    if (m.method === 'initialize') {
      const id = `s${values.size + 1}`;
      values.set(id, 'nothing');
      return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, issuesSessionIds ? { 'mcp-session-id': id } : {});
    }
    const id = req.headers['mcp-session-id'] ?? (issuesSessionIds ? undefined : 's1');
    if (req.method === 'POST' && !values.has(id)) return json(res, 400, { jsonrpc: '2.0', id: m.id ?? null, error: { code: -32000, message: 'No session' } });
    if (m.method !== 'tools/call') return undefined;
    if (--p.forgetAfter === 0) res.on('finish', () => values.clear());
    p.maxConcurrent = Math.max(p.maxConcurrent, ++p.concurrent);
    setTimeout(() => {
      p.concurrent--;
      if (m.params.name === 'put') values.set(id, m.params.arguments.value);
      result(res, m, { content: [{ type: 'text', text: m.params.name === 'get' ? values.get(id) : 'ok' }] });
    }, delayMs);
    return true;
  }, { tools: [{ name: 'put', inputSchema: { type: 'object' } }, { name: 'get', inputSchema: { type: 'object' } }] });
  return Object.assign(p, { concurrent: 0, maxConcurrent: 0, values });
}
async function userWithServer(instance, config, type = 'http') {
  const u = await instance.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'remote', type, config, enabledTools: ['put', 'get', 'pid'] }] } });
  assert.equal(r.status, 200, r.text);
  return u;
}
async function run(u, prompt, more = {}) {
  const started = await u.start({ prompt: `[${prompt}]`, ...more });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return { text: textOf(s.events).replace(/^said: /, ''), thread: started.json.thread_id };
}

test('by default, the calls of a run share the session that the server issues; other runs do not use it', async () => {
  const p = await sessionServer();
  try {
    const u = await userWithServer(server, { url: p.url });
    const all = await Promise.all(['a', 'b'].map((v) => run(u, `put ${v} ; get , get ; get`)));
    assert.deepEqual(all.map((r) => r.text), ['a', 'b'].map((v) => `ok | ${v} | ${v} | ${v}`));
    assert.equal((await run(u, 'get', { thread_id: all[0].thread })).text, 'nothing');
    assert.equal(p.maxConcurrent, 2, 'one call of each run at a time');
  } finally {
    p.close();
  }
});

test('by default, calls to a server without sessions run concurrently', async () => {
  const p = await sessionServer(400, false);
  try {
    const u = await userWithServer(server, { url: p.url });
    await run(u, 'get');
    assert.equal((await run(u, 'put a ; get , get , get')).text, 'ok | a | a | a');
    assert.ok(p.maxConcurrent > 1, `${p.maxConcurrent} concurrent calls`);
  } finally {
    p.close();
  }
});

// A local program that stores a value and reports its process id.
const program = {
  command: node,
  args: ['-e', `
    let value = 'nothing';
    const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const m = JSON.parse(line);
      if (m.method === 'initialize') say(m.id, { protocolVersion: '2025-11-25', capabilities: { tools: {} } });
      else if (m.method === 'tools/list') say(m.id, { tools: ['put', 'get', 'pid'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
      else if (m.method === 'tools/call') {
        if (m.params.name === 'put') value = m.params.arguments.value;
        say(m.id, { content: [{ type: 'text', text: m.params.name === 'pid' ? String(process.pid) : m.params.name === 'get' ? value : 'ok' }] });
      } else if (m.id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no' } }) + '\\n');
    });`.replaceAll('\n', ' ')],
};
const alive = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };

test('a local program runs as long as its run, and concurrent runs use separate programs', async () => {
  const u = await userWithServer(unsandboxedServer, program, 'json');
  const all = await Promise.all(['a', 'b'].map((v) => run(u, `put ${v} ; get , pid ; get , pid`)));
  const pids = all.map((r, i) => {
    const [ok, first, pid, second, again] = r.text.split(' | ');
    assert.deepEqual([ok, first, second], ['ok', ['a', 'b'][i], ['a', 'b'][i]]);
    assert.equal(pid, again);
    return Number(pid);
  });
  assert.notEqual(pids[0], pids[1]);
  await waitFor('the programs to exit', () => !pids.some(alive));
});

test('a local program in the sandbox keeps its state during a run', async () => {
  const u = await userWithServer(server, program, 'json');
  assert.equal((await run(u, 'put a ; get ; get')).text, 'ok | a | a');
});

test('session = "call" uses a new session for each call', async () => {
  const p = await sessionServer();
  try {
    const u = await userWithServer(server, { url: p.url, session: 'call' });
    assert.equal((await run(u, 'put a ; get')).text, 'ok | nothing');
  } finally {
    p.close();
  }
});

test('with session = "run" the calls of a run share a session, and other runs do not use it', async () => {
  const p = await sessionServer();
  try {
    const u = await userWithServer(server, { url: p.url, session: 'run' });
    const all = await Promise.all(['a', 'b', 'c'].map((v) => run(u, `put ${v} ; get , get ; get`)));
    assert.deepEqual(all.map((r) => r.text), ['a', 'b', 'c'].map((v) => `ok | ${v} | ${v} | ${v}`));
    assert.equal((await run(u, 'get', { thread_id: all[0].thread })).text, 'nothing');
  } finally {
    p.close();
  }
});

test('calls in one session are executed one at a time', async () => {
  const p = await sessionServer(200);
  try {
    const u = await userWithServer(server, { url: p.url, session: 'run' });
    assert.equal((await run(u, 'put a ; get , get , get')).text, 'ok | a | a | a');
    assert.equal(p.maxConcurrent, 1);
  } finally {
    p.close();
  }
});

test('the runs of a thread share a session on any event loop; other threads do not use it', async () => {
  const p = await sessionServer(1);
  try {
    const u = await userWithServer(server, { url: p.url, session: 'thread' });
    const first = await run(u, 'put 0');
    for (let i = 1; i < 12; i++) assert.equal((await run(u, `get ; put ${i}`, { thread_id: first.thread })).text, `${i - 1} | ok`);
    assert.equal((await run(u, 'get')).text, 'nothing');
  } finally {
    p.close();
  }
});

test('two servers with the same configuration have separate sessions, and neither is reported as lost', async () => {
  const p = await sessionServer(1);
  try {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const custom_mcps = ['remote', 'remote__two'].map((name) => ({ name, type: 'http', config: { url: p.url, session: 'run' }, enabledTools: ['put', 'get'] }));
    assert.equal((await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } })).status, 200);
    assert.equal((await run(u, 'put a ; two__put b ; get ; two__get')).text, 'ok | ok | a | b');
  } finally {
    p.close();
  }
});

test('the model is informed once when the server has lost the session', async () => {
  const p = await sessionServer(1);
  try {
    const u = await userWithServer(server, { url: p.url });
    p.forgetAfter = 2;
    assert.equal((await run(u, 'put a ; get ; get ; get')).text,
      'ok | a | nothing\n[a new session with this server was started; the state of the previous one is lost] | nothing');
  } finally {
    p.close();
  }
});

test('renewing the credentials during a run does not end its session', async () => {
  const values = new Map();
  const tools = ['put', 'get'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  let tokens = 0, valid;
  const peer = await startScriptedOAuthServer({ secret: 's', handle: (pathname, req, body, res) => {
    if (pathname === '/token') return json(res, 200, { access_token: valid = `t${++tokens}`, token_type: 'Bearer', expires_in: 3600 }), true;
    if (pathname !== '/mcp' || req.method !== 'POST') return pathname === '/mcp' ? (json(res, 405, {}), true) : undefined;
    if (req.headers.authorization !== `Bearer ${valid}`) {
      return res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', peer.url)}"` }).end(), true;
    }
    const m = JSON.parse(body), id = req.headers['mcp-session-id'];
    if (m.method === 'initialize') {
      const sessionId = `s${values.size + 1}`;
      values.set(sessionId, 'nothing');
      return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': sessionId }), true;
    }
    if (m.id === undefined) return res.writeHead(202).end(), true;
    if (m.method === 'tools/list') return result(res, m, { tools }), true;
    if (m.method !== 'tools/call') return json(res, 400, { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no' } }), true;
    if (m.params.name === 'put') values.set(id, m.params.arguments.value);
    else valid = 'another one';  // revokes the access token, so the next request must renew it
    return result(res, m, { content: [{ type: 'text', text: m.params.name === 'get' ? values.get(id) : 'ok' }] }), true;
  } });
  try {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const made = await u.post('/mcp/profiles', { json: { url: peer.url, display_name: 'Mine', oauth: { grant: 'client_credentials', client_id: 'me', client_secret: 's' } } });
    assert.equal(made.status, 201, made.text);
    const custom_mcps = [{ name: 'remote', type: 'prebuilt', config: { profile_id: made.json.profile_id }, enabledTools: ['put', 'get'] }];
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } });
    assert.equal(put.status, 200, put.text);
    assert.equal((await run(u, 'put a ; get ; get ; put b ; get')).text, 'ok | a | a | ok | b');
    assert.ok(tokens >= 3, `${tokens} tokens`);
  } finally {
    peer.close();
  }
});

test('the model is informed of an expired session', async () => {
  const p = await sessionServer(1);
  try {
    const u = await userWithServer(shortIdleServer, { url: p.url, session: 'thread' });
    const first = await run(u, 'put a ; get');
    assert.equal(first.text, 'ok | a');
    await sleep(2000);
    const second = await run(u, 'get ; get', { thread_id: first.thread });
    assert.equal(second.text, 'nothing\n[a new session with this server was started; the state of the previous one is lost] | nothing');
  } finally {
    p.close();
  }
});

test('after the worker is killed, the model is informed of the lost session', async () => {
  const p = await sessionServer(1000);
  try {
    const u = await userWithServer(unsandboxedServer, { url: p.url });
    const started = await u.start({ prompt: '[put a ; get ; get ; get]' });
    const first = await u.stream(started.json.agent_run_id, { until: (e) => e.type === 'tool_result' });
    await waitFor('the second call', () => p.concurrent === 1);
    await unsandboxedServer.kill();
    await unsandboxedServer.start();
    const rest = await u.stream(started.json.agent_run_id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) }, timeout: 60000 });
    const results = textOf([...first.events, ...rest.events]).split(' | ');
    assert.match(results[1], /outcome of this call is unknown/);
    assert.match(results[2], /^nothing\n\[a new session with this server was started/);
    assert.equal(results[3], 'nothing');
  } finally {
    p.close();
  }
});
