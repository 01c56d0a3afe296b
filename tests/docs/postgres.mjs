// Helpers of the tests of docs/postgres-upgrade.md: test data of a server, and the commands of the page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client, binary, statuses } from '../e2e/lib/server.mjs';
import { bash, block, page, postgresPrograms, replaced } from './lib.mjs';

const text = page('postgres-upgrade.md');
const environment = (version) => ({ ...process.env, PATH: `${path.dirname(binary)}:${postgresPrograms(version)}:${process.env.PATH}` });

// Runs blocks of the page in one shell, after the block with its variables.
export function upgrade({ data, from, to }, ...titles) {
  const variables = replaced(block(text, 'variables'), [['/var/lib/runyard ', `'${data}' `], ['old=15 new=17', `old=${from} new=${to}`]]);
  return bash(titles.join(', '), [variables, ...titles.map((t) => block(text, t))].join('\n'), environment(to));
}

// `title`: a block of docs/backup.md; `version`: version of the PostgreSQL programs.
export function backup(title, { data, into, version }) {
  const script = replaced(block(page('backup.md'), title), [['/var/lib/runyard', data], ['/var/backups/runyard', into]]);
  assert.match(bash(title, script, environment(version)), new RegExp(`${title}: complete`));
}

// Returns the PostgreSQL version of a started server; its log and its database must agree.
export function versionOf(server) {
  const logged = /embedded PostgreSQL is ready version=(\d+)/.exec(server.log)?.[1];
  assert.equal(Number(query(server, 'show server_version_num').slice(0, -4)), Number(logged));
  return Number(logged);
}

export function query(server, sql) {
  const socket = readFileSync(path.join(server.dir, 'data/postgres/postmaster.pid'), 'utf8').split('\n')[4];
  return execFileSync('psql', ['-XqAt', `postgresql://runyard@/runyard?host=${socket}`, '-c', sql], { encoding: 'utf8' }).trim();
}

// Creates an account with an API key and a completed run.
export async function makeData(server) {
  const user = await server.user();
  const key = await user.post('/api-keys', { json: { name: 'before' } });
  assert.ok(key.status < 300, key.text);
  const started = await user.start({ prompt: 'hello' });
  assert.equal(started.status, 200, started.text);
  const { events } = await user.stream(started.json.agent_run_id);
  assert.deepEqual(statuses(events).slice(-1), ['completed']);
  return { token: user.token, run: started.json.agent_run_id, events };
}

// Checks that the data still exists and that new runs work.
export async function hasData(server, data) {
  const user = new Client(server, data.token);
  const run = await user.get(`/agent-run/${data.run}`);
  assert.equal(run.json?.status, 'completed', run.text);
  assert.deepEqual((await user.stream(data.run)).events, data.events);
  assert.ok((await user.get('/api-keys')).text.includes('before'));
  const next = await user.start({ prompt: 'hello again', thread_id: run.json.thread_id });
  assert.equal(next.status, 200, next.text);
  assert.deepEqual(statuses((await user.stream(next.json.agent_run_id)).events).slice(-1), ['completed']);
}
