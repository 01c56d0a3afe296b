// The server as process 1 of a container: it reaps orphaned processes of commands and handles signals.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startLlm } from './lib/llm.mjs';
import { callingModel } from './lib/mcp.mjs';
import { Client, Server, makeDatabase, statuses, waitFor } from './lib/server.mjs';

let database, llm, server;

before(async () => {
  database = makeDatabase();
  llm = await startLlm(callingModel);
  server = new Server({ database, llm, wrap: ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] });
  await server.start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const processes = () => readdirSync('/proc').filter((d) => /^\d+$/.test(d)).flatMap((pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [{ pid: Number(pid), state, parent: Number(parent), name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')) }];
  } catch { return []; }
});
// All descendants of the process that the test started.
const below = (root) => {
  const all = processes(), ids = new Set([root]);
  for (let before = 0; before !== ids.size;) {
    before = ids.size;
    for (const p of all) if (ids.has(p.parent)) ids.add(p.pid);
  }
  return all.filter((p) => ids.has(p.pid));
};

test('orphaned processes of commands are reaped', async () => {
  const u = await server.user();
  for (let i = 0; i < 5; i++) {
    const r = await u.start({ prompt: '[call shell {"command":"sleep 0.1 & echo done"}]' });
    assert.equal(r.status, 200, r.text);
    const s = await u.stream(r.json.agent_run_id);
    assert.equal(statuses(s.events).at(-1), 'completed', s.raw);
    assert.match(s.raw, /done/);
  }
  await waitFor('no zombie process', () => below(server.process.pid).every((p) => p.state !== 'Z'));
});

test('SIGTERM to process 1 shuts the server down gracefully with exit code 0', async () => {
  const first = below(server.process.pid).find((p) => p.parent === server.process.pid);
  assert.equal((await new Client(server).get('/healthz')).status, 200);
  process.kill(first.pid, 'SIGTERM');
  assert.equal((await server.exited).code, 0);
  assert.match(server.log, /stopping.*SIGTERM[^]*stopped/);
});
