// Executes the commands of docs/backup.md: after the restore, another server has the data of the backed-up server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Client, Server, binary, statuses } from '../e2e/lib/server.mjs';
import { block, page, replaced } from './lib.mjs';

const postgres = readdirSync('/usr/lib/postgresql').map((v) => `/usr/lib/postgresql/${v}/bin`).at(-1);
const environment = { ...process.env, PATH: `${path.dirname(binary)}:${postgres}:${process.env.PATH}` };

function runBlock(title, data, backup) {
  const text = replaced(block(page('backup.md'), title), [['/var/lib/runyard', data], ['/var/backups/runyard', backup]]);
  const r = spawnSync('bash', ['-euo', 'pipefail', '-c', text], { encoding: 'utf8', env: environment, timeout: 120000 });
  assert.equal(r.status, 0, `${title}: ${r.stdout}\n${r.stderr}`);
  assert.match(r.stdout, new RegExp(`${title}: complete`));
}

test('a restored server has the data of the backed-up one', async () => {
  // If started as root, PostgreSQL runs as another user, which must be able to reach its cluster.
  const dir = mkdtempSync('/tmp/ry-backup-');
  chmodSync(dir, 0o755);
  for (const name of ['one', 'two']) { mkdirSync(path.join(dir, name)); chmodSync(path.join(dir, name), 0o755); }
  const one = new Server({ dir: path.join(dir, 'one') });
  const two = new Server({ dir: path.join(dir, 'two') });
  try {
    await one.start({ timeout: 90000 });
    const user = await one.user();
    const key = await user.post('/api-keys', { json: { name: 'before' } });
    assert.ok(key.status < 300, key.text);
    const started = await user.start({ prompt: 'hello' });
    assert.equal(started.status, 200, started.text);
    const stream = await user.stream(started.json.agent_run_id);
    assert.deepEqual(statuses(stream.events).slice(-1), ['completed']);
    runBlock('backup', path.join(one.dir, 'data'), path.join(dir, 'backup'));
    await one.stop();
    mkdirSync(path.join(two.dir, 'data'), { mode: 0o700 });
    runBlock('restore', path.join(two.dir, 'data'), path.join(dir, 'backup'));
    await two.start({ timeout: 90000 });
    // A token of the first server is valid on the second one, which has the account, its key, the run and its events.
    const again = new Client(two, user.token);
    const run = await again.get(`/agent-run/${started.json.agent_run_id}`);
    assert.equal(run.json?.status, 'completed', run.text);
    assert.deepEqual((await again.stream(started.json.agent_run_id)).events, stream.events);
    assert.ok((await again.get('/api-keys')).text.includes('before'));
    // New runs work on the restored server.
    const next = await again.start({ prompt: 'hello again', thread_id: run.json.thread_id });
    assert.equal(next.status, 200, next.text);
    assert.deepEqual(statuses((await again.stream(next.json.agent_run_id)).events).slice(-1), ['completed']);
  } finally {
    await one.stop();
    await two.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});
