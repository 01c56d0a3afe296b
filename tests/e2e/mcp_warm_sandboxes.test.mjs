// Warm sandboxes: after a call of a local MCP program the next sandbox is started in advance. It serves one program,
// has the same view as a sandbox started on demand, and ends with the server, its module or its idle timeout.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel, node, run } from './lib/mcp.mjs';
import { descendants, commandOf, waitingSandboxes } from './lib/processes.mjs';
import { Server, makeDatabase, statuses, waitFor } from './lib/server.mjs';

const stubborn = path.join(import.meta.dirname, 'lib/stubborn.mjs');
let database, llm, server, admin, dir, lateMount;
before(async () => {
  database = makeDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'ry-warm-'));
  chmodSync(dir, 0o755);
  lateMount = path.join(dir, 'later');
  // One event loop, so that each call finds the sandbox that the previous call started.
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: ['http.threads=1', 'sandbox_bubblewrap.warm=1', 'sandbox_bubblewrap.warm_seconds=15', 'mcp_json.wall_seconds=8'], settings: `
[mcp.json]
readable = ["${import.meta.dirname}", "${lateMount}"]
` }).start();
  admin = await server.user({ role: 'admin' });
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

const use = async (u, ...args) => {
  const r = await u.post('/admin/mcp/call', { json: { type: 'json', config: { command: node, args: [stubborn, ...args] }, tool: 'echo', arguments: {} } });
  return { ...r, seen: r.status === 200 && args[0] === 'look' ? JSON.parse(r.json.content) : undefined };
};
// Host process ids of warm sandboxes that wait for a program.
const waiting = () => waitingSandboxes(server.process.pid);
const waitForWarmSandbox = async () => {
  await waitFor('one sandbox to wait', () => waiting().length === 1, 20000);
  return waiting()[0];
};

test('the next program runs in the warm sandbox as the user of its account, without files of others', async () => {
  const users = [];
  for (let i = 0; i < 2; i++) {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const r = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'eyes', type: 'json', config: { command: node, args: [stubborn, 'look'] }, enabledTools: ['echo'] }] } });
    assert.equal(r.status, 200, r.text);
    users.push(u);
  }
  assert.equal((await use(admin, 'echo')).json.content, 'still here');
  const uids = [];
  for (const u of users) {
    const before = await waitForWarmSandbox();
    const seen = JSON.parse((await run(u, '[call eyes__echo {}]')).replace('said: ', ''));
    await waitFor('the sandbox to be used', () => !waiting().includes(before));
    uids.push(seen.uid);
    assert.equal(seen.home, '/workspace');
    assert.deepEqual(seen.files, []);
    assert.equal(seen.written, true);
    assert.ok(seen.processes < 10, `it sees ${seen.processes} processes`);
    assert.deepEqual(seen.env, ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TMPDIR', 'USER']);
  }
  assert.ok(!uids.includes(0));
  // A server without root privileges runs all programs as its own user, each in a separate user namespace.
  if (process.getuid() === 0) assert.notEqual(uids[0], uids[1]);
});

test('a warm sandbox belongs to the trace of the run that uses it', async () => {
  for (let i = 0; i < 2; i++) {
    const u = await server.user({ tier: 'pro' });
    const agent = (await u.get('/agents')).json.agents[0].agent_id;
    const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'traced', type: 'json', config: { command: node, args: [stubborn, 'echo'] }, enabledTools: ['echo'] }] } });
    assert.equal(put.status, 200, put.text);
    await waitForWarmSandbox();
    // Two runs of the account: the second run may reuse the program of the first.
    for (let k = 0; k < 2; k++) {
      const trace = randomBytes(16).toString('hex'), firstCall = llm.seen.length;
      const r = await u.start({ prompt: '[call traced__echo {}]' }, { traceparent: `00-${trace}-${randomBytes(8).toString('hex')}-01`, tracestate: `account=${i}` });
      assert.equal(r.status, 200, r.text);
      const { events } = await u.stream(r.json.agent_run_id);
      assert.deepEqual(statuses(events).slice(-1), ['completed']);
      const calls = llm.seen.slice(firstCall).map((call) => call.headers);
      assert.equal(calls.length, 2);
      for (const { traceparent, tracestate } of calls) {
        assert.equal(traceparent.split('-')[1], trace);
        assert.equal(tracestate, `account=${i}`);
      }
    }
  }
});

test('the time limit of a program starts when it enters its sandbox', async () => {
  await use(admin, 'echo');
  const pid = await waitForWarmSandbox();
  const begun = Date.now();
  const hanging = use(admin, 'no-result');
  await waitFor('the program in the warm sandbox', () => descendants(pid).some((p) => commandOf(p).includes('no-result')), 7500);
  const r = await hanging;
  assert.match(r.json.detail.message, /ended because it exceeded its time limit/, r.text);
  assert.ok(Date.now() - begun >= 8000, `terminated after ${Date.now() - begun} ms`);
  await waitFor('the program to be gone', () => !descendants(server.process.pid).some((p) => commandOf(p).includes('no-result')));
});

test('a sandbox that was started before a mounted path appeared is not used', async () => {
  const file = path.join(lateMount, 'file');
  assert.equal((await use(admin, 'look', file)).seen.secret, 'ENOENT');
  await waitForWarmSandbox();
  mkdirSync(lateMount);
  writeFileSync(file, 'came later');
  assert.equal((await use(admin, 'look', file)).seen.secret, 'came later');
});

test('a warm sandbox that dies is replaced', async () => {
  await use(admin, 'echo');
  await waitFor('a sandbox', () => waiting().length > 0);
  const killed = waiting();
  for (const pid of killed) process.kill(Number(pid), 'SIGKILL');
  await waitFor('the killed sandboxes to be gone', () => !waiting().some((pid) => killed.includes(pid)));
  assert.equal((await use(admin, 'echo')).json.content, 'still here');
  await waitFor('a new sandbox', () => waiting().length > 0);
});

test('warm sandboxes end with their module and after their idle timeout', async () => {
  await use(admin, 'echo');
  await waitFor('a sandbox', () => waiting().length > 0);
  const old = waiting();
  const r = await admin.post('/admin/modules/sandbox_bubblewrap/reload');
  assert.equal(r.status, 200, r.text);
  await waitFor('the sandboxes of the old module to be gone', () => !waiting().some((pid) => old.includes(pid)));
  assert.equal((await use(admin, 'echo')).json.content, 'still here');
  await waitFor('a sandbox of the new module', () => waiting().length > 0);
  await waitFor('all sandboxes to be gone', () => waiting().length === 0, 40000);
});
