// A tool source that cannot list its tools: the run retries, or reports it and continues.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel } from './lib/mcp.mjs';
import { Server, build, makeDatabase, statuses, textOf } from './lib/server.mjs';

let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = await new Server({ database, llm, set: [`modules.path=${build}/modules:${path.join(build, 'tests/abi/moody')}`, 'modules.abi_moody.enabled=true'] }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

// The events of a completed run, while the next n listings of the source fail with `status`.
async function runAfter(status, n, prompt = 'what do you have?') {
  assert.equal((await fetch(`${server.url}/abi_moody/lists/${status}/${n}`, { method: 'POST' })).status, 200);
  const u = await server.user();
  const started = await u.start({ prompt });
  assert.equal(started.status, 200, started.text);
  const s = await u.stream(started.json.agent_run_id, { timeout: 30000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  return s.events;
}
const errorsOf = (events) => events.filter((e) => e.type === 'error').map((e) => [e.error_code, e.recoverable, e.message]);
const missing = [['TOOLS_UNAVAILABLE', true, 'The tools of moody could not be listed; the run continues without them']];

test('a working source provides its tools', async () => {
  const events = await runAfter('unavailable', 0, '[call moody__sing {}]');
  assert.match(textOf(events), /la la la/);
  assert.deepEqual(errorsOf(events), []);
});

test('a temporary failure is retried', async () => {
  const events = await runAfter('unavailable', 2);
  assert.match(textOf(events), /moody__sing/);
  assert.deepEqual(errorsOf(events), []);
});

for (const status of ['unavailable', 'internal', 'noise']) {
  test(`a permanent failure of a source (${status}) is reported in the stream, and the run continues`, async () => {
    const events = await runAfter(status, 100);
    assert.doesNotMatch(textOf(events), /moody__sing/);
    assert.match(textOf(events), /shell/);
    assert.deepEqual(errorsOf(events), missing);
    assert.match(server.log, /the tools of moody could not be listed/);
  });
}

test('the stream reports the failure once, not at each step', async () => {
  const events = await runAfter('internal', 100, '[call list_files {}]');
  assert.ok(events.filter((e) => e.type === 'llm_response_end').length >= 2);
  assert.deepEqual(errorsOf(events), missing);
});

test('a deleted agent has no tools, which is not a failure', async () => {
  assert.deepEqual(errorsOf(await runAfter('not_found', 100)), []);
});
