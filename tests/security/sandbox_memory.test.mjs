// The memory reserve of the machine. Which command is terminated below the reserve is tested in
// modules/runs/sandbox/bubblewrap (watchdog_test.cpp), with simulated memory.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from '../e2e/lib/llm.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm((request, reply) => {
    if (turns(request).some((m) => m.role === 'tool')) return reply.say('done');
    reply.tools([{ id: 'c1', name: 'shell', arguments: { command: lastUser(request) } }]);
  });
  server = await new Server({ database, llm, set: ['sandbox_bubblewrap.min_available_mb=1000000000'] }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const metric = async (line) => Number(new RegExp(`^runyard_sandbox_bubblewrap_${line} (\\S+)$`, 'm').exec(await (await fetch(`${server.url}/metrics`)).text())?.[1] ?? NaN);

test('below the memory reserve, commands are rejected with the reason', async () => {
  const u = await server.user();
  const r = await u.start({ prompt: 'echo executed' });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id);
  const result = s.events.find((e) => e.type === 'tool_result').content;
  assert.match(result, /the command was not started: .*nearly out of memory/);
  assert.doesNotMatch(result, /executed/);
  assert.ok(s.events.some((e) => e.type === 'status' && e.status === 'completed'), s.raw);
  await waitFor('the warning', () => /the machine is nearly out of memory.*min_available_mb/.test(server.log));
  assert.ok((await metric('refused_total{[^}]*reason="machine_memory"[^}]*}')) >= 1);
  assert.ok((await metric('memory_available_bytes(?:{[^}]*})?')) > 0);
});

test('the server stays ready: the probe of the sandbox ignores the reserve', async () => {
  assert.match(server.log, /sandbox ready/);
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
});
