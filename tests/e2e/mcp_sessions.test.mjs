// Sessions that the calls of a run or a thread share: what a server keeps in one is there for the next call, and for no
// other run or thread.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { json, node, result, startScriptedServer } from './lib/mcp.mjs';
import { startScriptedOAuthServer } from './lib/oauth.mjs';
import { Server, makeDatabase, sleep, statuses, textOf, waitFor } from './lib/server.mjs';

let database, llm, server, hasty, bare;
before(async () => {
  database = makeDatabase();
  // "a {} , b {} ; c {}": a and b in one answer, then c; at the end what all of them said.
  llm = await startLlm(async (request, reply) => {
    const since = turns(request);
    const said = since.filter((m) => m.role === 'tool').map((m) => m.content);
    const answers = since.filter((m) => m.role === 'assistant').length;
    const step = /\[(.*)\]/.exec(lastUser(request))[1].split(' ; ')[answers];
    if (!step) return reply.say(`said: ${said.join(' | ')}`);
    reply.tools(step.split(' , ').map((each) => {
      const [name, ...value] = each.split(' ');
      return { name: `far__${name}`, arguments: value.length ? { value: value.join(' ') } : {} };
    }));
  });
  server = new Server({ database, llm, set: [`mcp_json.readable=["${path.dirname(path.dirname(node))}"]`] });
  bare = await new Server({ database, llm, set: ['mcp_json.sandbox=none'] }).start();
  await server.start();
  hasty = await new Server({ database, llm, set: ['mcp.session_idle_seconds=1'] }).start();
});
after(async () => {
  await server?.close();
  await hasty?.close();
  await bare?.close();
  await llm?.close();
  database?.drop();
});

// A server that keeps a value in each session, and takes its time for a call.
async function keeper(ms = 100, issues = true) {
  const values = new Map();
  const p = await startScriptedServer((m, res, req) => {
    if (m.method === 'initialize') {
      const id = `s${values.size + 1}`;
      values.set(id, 'nothing');
      return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, issues ? { 'mcp-session-id': id } : {});
    }
    const id = req.headers['mcp-session-id'] ?? (issues ? undefined : 's1');
    if (req.method === 'POST' && !values.has(id)) return json(res, 400, { jsonrpc: '2.0', id: m.id ?? null, error: { code: -32000, message: 'No session' } });
    if (m.method !== 'tools/call') return undefined;
    if (--p.forgetAfter === 0) res.on('finish', () => values.clear());
    p.most = Math.max(p.most, ++p.now);
    setTimeout(() => {
      p.now--;
      if (m.params.name === 'put') values.set(id, m.params.arguments.value);
      result(res, m, { content: [{ type: 'text', text: m.params.name === 'get' ? values.get(id) : 'ok' }] });
    }, ms);
    return true;
  }, { tools: [{ name: 'put', inputSchema: { type: 'object' } }, { name: 'get', inputSchema: { type: 'object' } }] });
  return Object.assign(p, { now: 0, most: 0, values });
}
async function userOf(at, config, type = 'http') {
  const u = await at.user({ tier: 'pro' });
  const agent = (await u.get('/agents')).json.agents[0].agent_id;
  const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'far', type, config, enabledTools: ['put', 'get', 'pid'] }] } });
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

test('without the setting the calls of a run share the session of a server that issues one, and no other run does', async () => {
  const p = await keeper();
  try {
    const u = await userOf(server, { url: p.url });
    const all = await Promise.all(['a', 'b'].map((v) => run(u, `put ${v} ; get , get ; get`)));
    assert.deepEqual(all.map((r) => r.text), ['a', 'b'].map((v) => `ok | ${v} | ${v} | ${v}`));
    assert.equal((await run(u, 'get', { thread_id: all[0].thread })).text, 'nothing');
    assert.equal(p.most, 2, 'one call of each run at a time');
  } finally {
    p.close();
  }
});

test('without the setting calls of a server that issues no session are made side by side', async () => {
  const p = await keeper(400, false);
  try {
    const u = await userOf(server, { url: p.url });
    await run(u, 'get');
    assert.equal((await run(u, 'put a ; get , get , get')).text, 'ok | a | a | a');
    assert.ok(p.most > 1, `${p.most} at once`);
  } finally {
    p.close();
  }
});

// A local program that keeps a value and reports its process id.
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

test('a local program lives as long as its run, and concurrent runs have their own', async () => {
  const u = await userOf(bare, program, 'json');
  const all = await Promise.all(['a', 'b'].map((v) => run(u, `put ${v} ; get , pid ; get , pid`)));
  const pids = all.map((r, i) => {
    const [ok, first, pid, second, again] = r.text.split(' | ');
    assert.deepEqual([ok, first, second], ['ok', ['a', 'b'][i], ['a', 'b'][i]]);
    assert.equal(pid, again);
    return Number(pid);
  });
  assert.notEqual(pids[0], pids[1]);
  await waitFor('the end of the programs', () => !pids.some(alive));
});

test('a local program in the sandbox keeps its state during a run', async () => {
  const u = await userOf(server, program, 'json');
  assert.equal((await run(u, 'put a ; get ; get')).text, 'ok | a | a');
});

test('session = "call" gives each call a session of its own', async () => {
  const p = await keeper();
  try {
    const u = await userOf(server, { url: p.url, session: 'call' });
    assert.equal((await run(u, 'put a ; get')).text, 'ok | nothing');
  } finally {
    p.close();
  }
});

test('the calls of a run share a session, one after the other, and no other run does', async () => {
  const p = await keeper();
  try {
    const u = await userOf(server, { url: p.url, session: 'run' });
    const all = await Promise.all(['a', 'b', 'c'].map((v) => run(u, `put ${v} ; get , get ; get`)));
    assert.deepEqual(all.map((r) => r.text), ['a', 'b', 'c'].map((v) => `ok | ${v} | ${v} | ${v}`));
    assert.equal((await run(u, 'get', { thread_id: all[0].thread })).text, 'nothing');
  } finally {
    p.close();
  }
});

test('calls in one session are made one at a time', async () => {
  const p = await keeper(200);
  try {
    const u = await userOf(server, { url: p.url, session: 'run' });
    assert.equal((await run(u, 'put a ; get , get , get')).text, 'ok | a | a | a');
    assert.equal(p.most, 1);
  } finally {
    p.close();
  }
});

test('the runs of a thread share a session, whichever loop they are on, and another thread does not', async () => {
  const p = await keeper(1);
  try {
    const u = await userOf(server, { url: p.url, session: 'thread' });
    const first = await run(u, 'put 0');
    for (let i = 1; i < 12; i++) assert.equal((await run(u, `get ; put ${i}`, { thread_id: first.thread })).text, `${i - 1} | ok`);
    assert.equal((await run(u, 'get')).text, 'nothing');
  } finally {
    p.close();
  }
});

test('two servers of one configuration have a session each, and neither is reported as lost', async () => {
  const p = await keeper(1);
  try {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const custom_mcps = ['far', 'far__two'].map((name) => ({ name, type: 'http', config: { url: p.url, session: 'run' }, enabledTools: ['put', 'get'] }));
    assert.equal((await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } })).status, 200);
    assert.equal((await run(u, 'put a ; two__put b ; get ; two__get')).text, 'ok | ok | a | b');
  } finally {
    p.close();
  }
});

test('the model is informed once when the server has lost the session', async () => {
  const p = await keeper(1);
  try {
    const u = await userOf(server, { url: p.url });
    p.forgetAfter = 2;
    assert.equal((await run(u, 'put a ; get ; get ; get')).text,
      'ok | a | nothing\n[a new session with this server was started; the state of the previous one is lost] | nothing');
  } finally {
    p.close();
  }
});

test('credentials that are renewed during a run do not end its session', async () => {
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
      const made = `s${values.size + 1}`;
      values.set(made, 'nothing');
      return result(res, m, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': made }), true;
    }
    if (m.id === undefined) return res.writeHead(202).end(), true;
    if (m.method === 'tools/list') return result(res, m, { tools }), true;
    if (m.method !== 'tools/call') return json(res, 400, { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no' } }), true;
    if (m.params.name === 'put') values.set(id, m.params.arguments.value);
    else valid = 'another one';
    return result(res, m, { content: [{ type: 'text', text: m.params.name === 'get' ? values.get(id) : 'ok' }] }), true;
  } });
  try {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const made = await u.post('/mcp/profiles', { json: { url: peer.url, display_name: 'Mine', oauth: { grant: 'client_credentials', client_id: 'me', client_secret: 's' } } });
    assert.equal(made.status, 201, made.text);
    const custom_mcps = [{ name: 'far', type: 'prebuilt', config: { profile_id: made.json.profile_id }, enabledTools: ['put', 'get'] }];
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps } });
    assert.equal(put.status, 200, put.text);
    assert.equal((await run(u, 'put a ; get ; get ; put b ; get')).text, 'ok | a | a | ok | b');
    assert.ok(tokens >= 3, `${tokens} tokens`);
  } finally {
    peer.close();
  }
});

test('the model is informed of an ended session', async () => {
  const p = await keeper(1);
  try {
    const u = await userOf(hasty, { url: p.url, session: 'thread' });
    const first = await run(u, 'put a ; get');
    assert.equal(first.text, 'ok | a');
    await sleep(2000);
    const again = await run(u, 'get ; get', { thread_id: first.thread });
    assert.equal(again.text, 'nothing\n[a new session with this server was started; the state of the previous one is lost] | nothing');
  } finally {
    p.close();
  }
});

test('after the worker is killed, the model is informed of the lost session', async () => {
  const p = await keeper(1000);
  try {
    const u = await userOf(bare, { url: p.url });
    const started = await u.start({ prompt: '[put a ; get ; get ; get]' });
    const first = await u.stream(started.json.agent_run_id, { until: (e) => e.type === 'tool_result' });
    await waitFor('the second call', () => p.now === 1);
    await bare.kill();
    await bare.start();
    const rest = await u.stream(started.json.agent_run_id, { headers: { 'last-event-id': String(first.events.at(-1).sequence) }, timeout: 60000 });
    const said = textOf([...first.events, ...rest.events]).split(' | ');
    assert.match(said[1], /outcome of this call is unknown/);
    assert.match(said[2], /^nothing\n\[a new session with this server was started/);
    assert.equal(said[3], 'nothing');
  } finally {
    p.close();
  }
});
