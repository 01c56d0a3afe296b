// Deleted data is removed from the disk, whatever its owner created, and the removal uses few descriptors of the
// server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { attack, setUp, tearDown } from './lib/attack.mjs';
import { run, startCommandLlm } from './lib/commands.mjs';
import { Server, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const descriptors = 1024;
let database, llm, server;

setUp(async () => {
  database = makeDatabase();
  llm = await startCommandLlm();
  server = await new Server({ database, llm, wrap: ['prlimit', `--nofile=${descriptors}:${descriptors}`],
    settings: '[mcp_json]\nsandbox = "none"\n[accounts.tiers.free]\nthreads = 1\n' }).start();
});
tearDown(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const data = (...names) => path.join(server.dir, 'data', ...names);
const workspaces = (...names) => data('modules/sandbox_bubblewrap/workspaces', ...names);
const programs = (...names) => data('modules/mcp_json', ...names);
const workspace = (project) => workspaces(project);
const entries = (directory) => (existsSync(directory) ? readdirSync(directory) : []);
const removed = () => entries(workspaces('.removed'));
const chain = (levels) => `for my $i (1..${levels}) { mkdir "d"; chdir "d" or last } open(my $f, ">", "file"); print $f "x" x 100000`;
// Created by the test, so that the limits of the sandbox do not apply: deeper than paths and descriptors allow. It
// belongs to the owner of the directory.
const makeChain = (directory, levels) =>
  execFileSync('perl', ['-e', `chdir $ARGV[0] or die; my @s = stat "."; $) = $s[5]; $> = $s[4]; ${chain(levels)}`, directory]);
const metric = async (name) => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
};

attack('a workspace with directories deeper than the descriptors of the server is removed', ['tree_removal'], { timeout: 120000 }, async () => {
  const u = await server.user();
  const made = await run(u, `perl -e '${chain(200)}'; mkdir -p a/b c; echo done`);
  assert.match(made.results[0], /done/);
  for (const directory of ['', 'a/b', 'c']) makeChain(path.join(workspace(made.project_id), directory), descriptors * 4);
  let peak = 0;
  let finished = false;
  const watch = (async () => {
    while (!finished) {
      peak = Math.max(peak, readdirSync(`/proc/${server.process.pid}/fd`).length);
      await sleep(5);
    }
  })();
  try {
    const other = await server.user();
    const [deleted, listed] = await Promise.all([u.request('DELETE', `/threads/${made.thread_id}`), other.get('/threads')]);
    assert.equal(deleted.status, 204, deleted.text);
    assert.equal(listed.status, 200, listed.text);
    await waitFor('the removal', () => !existsSync(workspace(made.project_id)) && removed().length === 0, 60000);
  } finally {
    finished = true;
    await watch;
  }
  assert.ok(peak < descriptors / 2, `${peak} descriptors`);
});

attack('a directory that cannot be removed is quarantined, reported and retried; its thread counts until then', ['quarantine'], { timeout: 120000 }, async (t) => {
  const u = await server.user();
  const made = await run(u, 'mkdir -p in && echo precious > in/file');
  const file = path.join(workspace(made.project_id), 'in/file');
  try {
    execFileSync('chattr', ['+i', file], { stdio: 'ignore' });
  } catch {
    return t.skip('the immutable attribute cannot be set here');
  }
  let lockedFile = file;
  try {
    const deleted = await u.request('DELETE', `/threads/${made.thread_id}`);
    assert.equal(deleted.status, 204, deleted.text);
    assert.equal(existsSync(workspace(made.project_id)), false);
    assert.equal(removed().length, 1);
    lockedFile = workspaces('.removed', removed()[0], 'in/file');
    await waitFor('the warning', () => /a deleted directory cannot be removed from the disk/.test(server.log));
    await waitFor('the metric', async () => (await metric('runyard_sandbox_bubblewrap_quarantined_trees')) === 1);
    assert.ok((await metric('runyard_sandbox_bubblewrap_removal_failures_total')) >= 1);
    assert.equal((await u.get(`/threads/${made.thread_id}`)).status, 404);
  } finally {
    execFileSync('chattr', ['-i', lockedFile]);
  }
  await waitFor('the removal', () => removed().length === 0, 60000);
  await waitFor('the metric', async () => (await metric('runyard_sandbox_bubblewrap_quarantined_trees')) === 0);
});

attack('leftovers of an earlier process are removed at startup', ['tree_removal'], { timeout: 120000 }, async () => {
  await server.stop();
  const leftovers = [workspaces('.removed/11111111-1111-4111-8111-111111111111.0123456789abcdef'), programs('mcp/home-1.1-abcdef'), programs('.removed/home.0123456789abcdef')];
  for (const directory of leftovers) {
    mkdirSync(path.join(directory, 'closed'), { recursive: true });
    writeFileSync(path.join(directory, 'closed/file'), 'x');
    makeChain(directory, descriptors * 4);
  }
  await server.start();
  await waitFor('the removal', () => leftovers.every((directory) => !existsSync(directory)) && entries(programs('.removed')).length === 0, 60000);
});

attack('the directory of a local program without a sandbox is removed with it', ['tree_removal'], { timeout: 120000 }, async () => {
  const u = await server.user();
  const agent = (await u.post('/agents', { json: { name: 'local' } })).json.agent_id;
  const config = { command: '/usr/bin/perl', args: ['-e', chain(descriptors * 4)] };
  const put = await u.request('PUT', `/agents/${agent}/custom-mcp-tools`, { json: { custom_mcps: [{ name: 'deep', type: 'json', config, enabledTools: ['x'] }] } });
  assert.equal(put.status, 200, put.text);
  const r = await u.get(`/agents/${agent}/custom-mcp-tools`, { headers: { 'x-mcp-url': 'deep', 'x-mcp-type': 'json' } });
  assert.equal(r.status, 502, r.text);
  await waitFor('the removal', () => entries(programs('mcp')).length === 0 &&
    entries(programs('.removed')).length === 0, 60000);
});

attack('sockets, pipes and symbolic link loops are rejected as files', ['special_files'], { timeout: 60000 }, async () => {
  const u = await server.user();
  const made = await run(u, `perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un("socket")) or die $!'; mkfifo pipe; ln -s loop loop; ln -s socket link; ls`);
  assert.match(made.results[0], /socket/);
  for (const name of ['socket', 'pipe', 'loop', 'link', 'socket/x', 'pipe/x']) {
    const r = await u.get(`/projects/${made.project_id}/files/content?path=${name}`);
    assert.ok([400, 404].includes(r.status), `${name}: ${r.status} ${r.text}`);
  }
  for (const name of ['socket', 'pipe', 'loop', 'link']) {
    const r = await u.get(`/projects/${made.project_id}/files?path=${name}`);
    assert.ok([400, 404].includes(r.status), `${name}: ${r.status} ${r.text}`);
  }
  const list = await u.get(`/projects/${made.project_id}/files`);
  assert.deepEqual(list.json.files.map((f) => `${f.kind} ${f.name}`), ['link link', 'link loop', 'other pipe', 'other socket']);
});
