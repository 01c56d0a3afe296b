// Model provider drivers that violate the contract of llm.provider/1: the log names their modules, and runs still end.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, Server, build, makeDatabase, statuses, textOf, waitFor } from './lib/server.mjs';

const models = ['good', 'silent', 'late', 'inside', 'elsewhere'];
let database, server, admin, user;

before(async () => {
  database = makeDatabase();
  server = new Server({ database, settings: `
[accounts.tiers.free]
concurrent_runs = 100
models = ["*"]
[runs]
run_timeout = "4s"
[runs.providers.bad]
kind = "faulty"
[runs.models]
${models.map((m) => `"test/${m}" = "bad/${m}"`).join('\n')}
`, set: [`modules.path=${build}/modules:${path.join(build, 'tests/abi/provider')}`, 'modules.abi_provider.enabled=true'] });
  await server.start();
  admin = new Client(server, server.token({ role: 'admin' }));
  user = await server.user();
});
after(async () => {
  await server?.close();
  database?.drop();
});

const moduleState = async () => (await admin.get('/admin/modules')).json.find((m) => m.name === 'abi_provider');
async function run(model) {
  const r = await user.start({ prompt: 'Say something', model_name: `test/${model}` });
  assert.equal(r.status, 200, r.text);
  return { id: r.json.agent_run_id, ...await user.stream(r.json.agent_run_id, { timeout: 90000 }) };
}
const waitForViolation = (from, rule) => waitFor(`${rule} in the log`, () =>
  server.log.slice(from).split('\n').some((l) => /\[abi_provider\] module contract violated/.test(l) && rule.test(l)));

test('a correct answer is accepted without a violation', async () => {
  const r = await run('good');
  assert.deepEqual([statuses(r.events).at(-1), textOf(r.events)], ['completed', 'a sound answer']);
  assert.equal((await moduleState()).violations, 0);
});

test('data after the end of an answer is discarded and not counted twice', async () => {
  const from = server.log.length;
  const r = await run('late');
  assert.deepEqual([statuses(r.events).at(-1), textOf(r.events)], ['completed', 'a sound answer']);
  await waitForViolation(from, /a callback after on_end.*on_text/);
  assert.match((await moduleState()).last_violation, /a callback after on_end in llm\.provider\/1/);
  const ends = r.events.filter((e) => e.type === 'llm_response_end');
  assert.equal(ends.length, 1);
});

test('an answer inside complete() is accepted and logged as a violation', async () => {
  const from = server.log.length;
  const r = await run('inside');
  assert.deepEqual([statuses(r.events).at(-1), textOf(r.events)], ['completed', 'a sound answer']);
  await waitForViolation(from, /a callback inside of complete\(\)/);
});

test('an answer from a foreign thread ends the run with an error and is logged as a violation', async () => {
  const from = server.log.length;
  const r = await run('elsewhere');
  assert.equal(statuses(r.events).at(-1), 'failed');
  await waitForViolation(from, /a callback on a thread other than the executor's/);
  assert.doesNotMatch(r.raw, /thread|faulty|abi_provider/, 'the client sees no details');
});

test('a run ends at its deadline or on a stop, even if the driver never ends its answer', async () => {
  const from = server.log.length;
  const stopped = await user.start({ prompt: 'Say something', model_name: 'test/silent' });
  assert.equal(stopped.status, 200, stopped.text);
  const timed = run('silent');
  assert.equal((await user.post(`/agent-run/${stopped.json.agent_run_id}/stop`)).status, 200);
  const r = await timed;
  const last = r.events.at(-1);
  assert.deepEqual([last.status, last.reason], ['failed', 'timeout'], r.raw.slice(-500));
  await waitForViolation(from, /an answer that is not ended.*ten seconds after cancel/);
  assert.equal((await user.get(`/agent-run/${stopped.json.agent_run_id}`)).json.status, 'stopped');
  // Neither run occupies a slot any more.
  await waitFor('no live run', async () => /^runyard_runs_live 0$/m.test(await (await fetch(`${server.url}/metrics`)).text()), 60000);
});
