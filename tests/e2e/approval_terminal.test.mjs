// `runyard run` asks about approvals in a terminal (a pseudo-terminal of script(1)), and waits without one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, binary, makeDatabase, waitFor } from './lib/server.mjs';

let database, llm, server;
before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const done = turns(request).filter((m) => m.role === 'tool');
    const commands = lastUser(request).split(';');
    if (done.length < commands.length) return reply.tools([{ id: `c${done.length}`, name: 'shell', arguments: { command: commands[done.length].trim() } }]);
    return reply.say(`results: ${done.map((m) => m.content).join(' | ')}`);
  });
  server = await new Server({ database, llm, settings: '[[runs.tool_policy]]\nmatch = "shell"\naction = "ask"\n' }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// Starts `runyard run`. terminal: its standard streams are a pseudo-terminal.
function command(user, prompt, { terminal = true, args = [] } = {}) {
  const words = [binary, 'run', prompt, '--url', server.url, ...args];
  const env = { ...process.env, RUNYARD_TOKEN: user.token };
  const quoted = words.map((w) => `'${w.replaceAll("'", "'\\''")}'`).join(' ');
  const child = terminal ? spawn('script', ['-qfec', quoted, '/dev/null'], { env }) : spawn(words[0], words.slice(1), { env });
  const it = { child, out: '', err: '', sees: (pattern, from = 0) => waitFor(`the output ${pattern}: ${it.out}${it.err}`, () => pattern.exec((it.out + it.err).slice(from)), 30000) };
  child.stdout.on('data', (d) => { it.out += d; });
  child.stderr.on('data', (d) => { it.err += d; });
  child.stdin.on('error', () => {});  // the program may have ended
  it.exited = new Promise((resolve) => child.on('close', (code) => resolve(code)));
  it.type = (text) => child.stdin.write(text);
  return it;
}
const question = /Approve the call\? \[y\]es \/ \[n\]o \/ \[a\]lways for this run: $/;
const approvals = (run) => database.sql(`select string_agg(status || ' ' || remember || coalesce(' ' || reason, ''), ', ' order by id) from runs.approvals where run_id = '${run}'`);
const runOf = (it) => /run ([0-9a-f-]{36})/.exec(it.out + it.err)[1];

test('yes executes the call, no sends the reason to the model', async () => {
  const u = await server.user();
  const it = command(u, 'echo first; echo second');
  await it.sees(/\? shell needs an approval until \S+\s+command: echo first\b/);
  await it.sees(question);
  it.type('perhaps\n');
  await it.sees(new RegExp(`perhaps\\s+${question.source}`));
  it.type('y\n');
  await it.sees(/\* approved[\s\S]*command: echo second\b/);
  await it.sees(question);
  it.type('n\n');
  await it.sees(/Reason for the agent \(optional\): $/);
  it.type('not this one\n');
  assert.equal(await it.exited, 0);
  assert.match(it.out, /results: first\s.*\| .*the user denied it with the reason: not this one/s);
  assert.equal(approvals(runOf(it)), 'approved none, denied none not this one');
});

test('always approves the later calls of the run', async () => {
  const u = await server.user();
  const it = command(u, 'echo first; echo second; echo third');
  await it.sees(question);
  it.type('A\n');
  assert.equal(await it.exited, 0);
  assert.match(it.out, /results: first\s.*second\s.*third/s);
  assert.equal(it.out.match(/Approve the call/g).length, 1);
  assert.match(approvals(runOf(it)), /^approved run/);
});

test('a decision of another client ends the question', async () => {
  const u = await server.user();
  const it = command(u, 'echo first');
  await it.sees(question);
  const [{ approval_id: id }] = (await u.get('/approvals?status=pending')).json.approvals;
  assert.equal((await u.post(`/approvals/${id}`, { json: { decision: 'approve' } })).status, 200);
  assert.equal(await it.exited, 0);
  assert.match(it.out, /the decision was made elsewhere[\s\S]*results: first/);
});

test('the end of the input and SIGINT leave the run waiting', async () => {
  const u = await server.user();
  const ended = command(u, 'echo first');
  await ended.sees(question);
  ended.type('\x04');
  await ended.sees(/decide with POST http\S+\/approvals\/[0-9a-f-]{36} /);
  const [{ approval_id: id }] = (await u.get('/approvals?status=pending')).json.approvals;
  assert.equal((await u.post(`/approvals/${id}`, { json: { decision: 'approve' } })).status, 200);
  assert.equal(await ended.exited, 0);
  const stopped = command(u, 'echo second');
  await stopped.sees(question);
  stopped.type('\x03');
  await stopped.exited;
  assert.match(stopped.out, /stopped watching; run [0-9a-f-]{36} continues/);
  assert.equal(approvals(runOf(stopped)), 'pending none');
});

test('without a terminal the command names the approval and the request, and waits', async () => {
  const u = await server.user();
  const it = command(u, 'echo first', { terminal: false });
  const [, url, id] = await it.sees(/Approve it with POST (http\S+)\/approvals\/([0-9a-f-]{36}) \{"decision": "approve"\}/);
  assert.equal(url, server.url);
  assert.ok(!it.err.includes('[y]es'));
  assert.equal((await u.post(`/approvals/${id}`, { json: { decision: 'approve' } })).status, 200);
  assert.equal(await it.exited, 0);
  assert.match(it.out, /^results: first/);
  const lines = command(u, 'echo first', { args: ['--json'] });
  await lines.sees(/"approval_requested"/);
  const [{ approval_id: next }] = (await u.get('/approvals?status=pending')).json.approvals;
  await u.post(`/approvals/${next}`, { json: { decision: 'deny' } });
  assert.equal(await lines.exited, 0);
  assert.ok(!lines.out.includes('Approve the call'), 'with --json only events are written');
});
