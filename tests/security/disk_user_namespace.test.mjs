// The limits of disk space where the server is an ordinary user, as the packages run it: commands have its user id, so it
// reads their open files as a user of its own kind.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm, turns } from '../e2e/lib/llm.mjs';
import { Client, Server, binary, build, waitFor } from '../e2e/lib/server.mjs';

const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
const can = (...command) => spawnSync(command[0], command.slice(1)).status === 0;
const works = process.getuid() === 0 && can(...user, 'test', '-x', binary, '-a', '-r', path.join(build, 'modules/runs.so')) &&
  can(...user, 'bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true');
const skip = works ? false : 'root is needed, files that others may read, and user namespaces';
let llm, server;

before(async () => {
  if (!works) return;
  llm = await startLlm((request, reply) => {
    const commands = lastUser(request).split(/\r?\n/);
    const done = turns(request).filter((m) => m.role === 'tool').length;
    if (done >= commands.length) return reply.say('done');
    reply.tools([{ id: `c${done}`, name: 'shell', arguments: { command: commands[done] } }]);
  });
  // With a PostgreSQL of its own: the one of ./test cannot be reached by another user.
  server = new Server({ llm, wrap: user, settings: '[sandbox_bubblewrap]\nworkspace_mb = 64\nworkspace_files = 5000\n' });
  mkdirSync(path.join(server.dir, 'data'));
  execFileSync('chown', ['-R', '65534:65534', server.dir]);
  await server.start({ timeout: 90000 });
});
after(async () => {
  await server?.stop();
  if (server) execFileSync('rm', ['-rf', server.dir]);
  await llm?.close();
});

const workspaces = (...names) => path.join(server.dir, 'data/modules/sandbox_bubblewrap/workspaces', ...names);
// The keys are the user's alone.
const token = (subject) => execFileSync(user[0], [...user.slice(1), binary, 'token', '--config', server.config, '--set', `data_dir=${path.join(server.dir, 'data')}`, '--subject', subject], { encoding: 'utf8' }).trim();
async function run(prompt) {
  const id = randomUUID();
  const u = new Client(server, token(id), id);
  const r = await u.start({ prompt });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id);
  return { u, ...r.json, said: s.events.filter((e) => e.type === 'tool_result').map((e) => e.content) };
}

test('files that were removed and are still open count', { skip }, async () => {
  assert.match(server.log, /sandbox ready confinement=user_namespace/);
  const r = await run(`perl -MIO::Handle -e 'my @f; for (1..40) { open(my $f, ">", "x") or die; print $f "x" x (4 << 20); $f->flush; unlink "x"; push @f, $f } sleep 30; print "all"'`);
  assert.match(r.said[0], /ended, the workspace is full/);
});

test('a process that made itself undumpable does not hide them', { skip }, async () => {
  // PR_SET_DUMPABLE
  const r = await run(`perl -MIO::Handle -e 'syscall(157, 4, 0, 0, 0, 0); my @f; for (1..40) { open(my $f, ">", "x") or die; print $f "x" x (4 << 20); $f->flush; unlink "x"; push @f, $f } sleep 30; print "all"'`);
  assert.match(r.said[0], /ended, the workspace is full/);
});

test('directories that are closed and deep are counted, trimmed and removed', { skip, timeout: 120000 }, async () => {
  const r = await run([`perl -e 'for (1..2000) { mkdir "d"; chdir "d" or last }'`, 'mkdir -p closed/in; echo x > closed/in/file; chmod 0 closed/in closed; ls; echo fine'].join('\n'));
  assert.match(r.said[0], /levels deep; those below are deleted/);
  assert.match(r.said[1], /fine/);
  execFileSync('perl', ['-e', 'chdir $ARGV[0] or die; for (1..5000) { mkdir "e"; chdir "e" or die } ', workspaces(r.project_id)]);
  execFileSync('sh', ['-c', 'chown -R 65534:65534 "$0"', workspaces(r.project_id)]);
  const deleted = await r.u.request('DELETE', `/threads/${r.thread_id}`);
  assert.equal(deleted.status, 204, deleted.text);
  assert.equal(existsSync(workspaces(r.project_id)), false);
  await waitFor('the removal', () => readdirSync(workspaces('.removed')).length === 0, 30000);
});
