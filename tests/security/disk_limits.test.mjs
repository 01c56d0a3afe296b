// Disk limits of an account's commands: unlinked files that are still open, many small files, deep directories, several
// projects, a nearly full disk. An agent can always delete files of a workspace that is too large.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { call, perl, run, startCommandLlm } from './lib/commands.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

const set = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test'];
let database, llm, server;

setUp(async () => {
  database = makeDatabase();
  llm = await startCommandLlm();
  server = await new Server({ database, llm, set, settings: `
[sandbox_bubblewrap]
workspace_mb = 64
workspace_files = 5000
[runs]
workspace_files = 1000
account_workspace_bytes = { free = 50331648 }
account_workspace_files = { free = 3000 }
` }).start();
});
tearDown(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const workspace = (project) => path.join(server.dir, 'data/modules/sandbox_bubblewrap/workspaces', project);
const terminations = async (reason, of = server) =>
  Number(new RegExp(`^runyard_sandbox_bubblewrap_terminated_total{[^}]*reason="${reason}"[^}]*} (\\S+)$`, 'm').exec(await (await fetch(`${of.url}/metrics`)).text())?.[1] ?? NaN);
// Writes 160 MiB into unlinked files, which the code `keep` keeps open; the limit of the workspaces is 48 MiB.
const unlinked = (keep, before = '') => perl(`${before} my @f; for (1..40) { open(my $f, "+>", "x") or die; print $f "x" x (4 << 20); $f->flush; unlink "x"; ${keep} }
  sleep 10; print "all"`);
const full = /terminated: the workspaces of the account are full/;

attack('unlinked files that are still open count against the limit', ['workspace_bytes', 'unlinked_files'], async () => {
  const u = await server.user();
  const r = await run(u, unlinked('push @f, $f;'));
  assert.match(r.results[0], full);
  assert.doesNotMatch(r.results[0], /all/);
  assert.ok((await terminations('workspace_bytes')) >= 1);
});

attack('commands that exceed the limit repeatedly do not make a workspace grow', ['workspace_growth'], async () => {
  const u = await server.user();
  const jump = (name) => `head -c 62914560 /dev/zero > ${name}`;
  const r = await run(u, ['echo kept > note', ...['one', 'two', 'three', 'four', 'five', 'six'].map(jump), 'cat note; ls'].join('\n'));
  assert.match(r.results.slice(1, 7).join('\n'), /the workspace was far above its limit and was emptied/);
  assert.match(r.results.at(-1), /^kept\n/);
  const all = execFileSync('du', ['-sm', workspace(r.project_id)], { encoding: 'utf8' });
  assert.ok(parseInt(all, 10) < 280, all);
});

attack('too deep directories do not protect a workspace that is far above its limit from being emptied', ['workspace_growth'], { timeout: 120000 }, async () => {
  const u = await server.user();
  const jump = (name) => `head -c 62914560 /dev/zero > ${name}; perl -e 'for my $k (1..5) { mkdir "c$k"; chdir "c$k"; for (1..260) { mkdir "d"; chdir "d" or last } chdir "/workspace" }'; sleep 4; echo survived`;
  const r = await run(u, ['echo kept > note', ...['one', 'two', 'three', 'four', 'five', 'six'].map(jump), 'cat note'].join('\n'));
  assert.match(r.results.slice(1, 7).join('\n'), /the workspace was far above its limit and was emptied/);
  assert.doesNotMatch(r.results.join('\n'), /survived/);
  assert.match(r.results.at(-1), /^kept\n/);
  const all = execFileSync('du', ['-sm', workspace(r.project_id)], { encoding: 'utf8' });
  assert.ok(parseInt(all, 10) < 280, all);
});

const mmap = process.arch === 'arm64' ? 222 : 9;
for (const [condition, ...script] of [
  ['other processes have them open', 'my $p = fork; if (!$p) { sleep 10; exit }'],
  ['they are mapped and closed', `syscall(${mmap}, 0, 4 << 20, 3, 1, fileno($f), 0) > 0 or die; close $f;`],
  ['the process made itself undumpable', 'push @f, $f;', `syscall(${call.prctl}, 4, 0, 0, 0, 0);`],
]) {
  attack(`unlinked files are counted when ${condition}`, ['unlinked_files'], async () => {
    assert.match((await run(await server.user(), unlinked(...script))).results[0], full);
  });
}

attack('a command with more mappings than are searched for unlinked files is terminated', ['counted_mappings'], async () => {
  const r = await run(await server.user(), perl(`open(my $f, "+>", "x") or die; print $f "x" x 4096; $f->flush; unlink "x";
    for (1 .. 60000) { syscall(${mmap}, 0, 4096, 1, 1, fileno($f), 0) > 0 or last } sleep 10; print "survived"`));
  assert.match(r.results[0], /terminated: its processes have too many memory mappings or open files \(50000 mappings per process/);
  assert.doesNotMatch(r.results[0], /survived/);
});

attack('many small files terminate the command, count afterwards and can be removed', ['workspace_files'], { timeout: 120000 }, async () => {
  const u = await server.user();
  const r = await run(u, [`perl -e 'for (1..200000) { open(my $f, ">", "f$_") or die } sleep 10'`, `ls | wc -l; echo x > another`, `find . -delete; ls | wc -l`, 'echo fine'].join('\n'));
  assert.match(r.results[0], /terminated: the workspaces of the account have too many files/);
  assert.match(r.results[2], /^0$/m);
  assert.doesNotMatch(r.results[3], /sandbox: terminated|could not/);
  assert.match(r.results[3], /fine/);
  assert.ok((await terminations('workspace_files')) >= 1);
});

regular('a project with more files than are compared can be used and cleaned up, even by a later run', { timeout: 120000 }, async () => {
  const u = await server.user();
  const first = await run(u, 'echo kept > kept; echo one');
  // The comparison with the database covers twice workspace_files.
  execFileSync('perl', ['-e', 'for (1..2500) { open(my $f, ">", "$ARGV[0]/f$_") or die } my @s = stat $ARGV[0]; chown @s[4, 5], glob("$ARGV[0]/f*")', workspace(first.project_id)]);
  const second = await run(u, 'ls | wc -l\nfind . -name "f*" -delete; ls\necho more > more', first.thread_id);
  assert.match(second.results[0], /^2501$/m);
  assert.match(second.results[0], /more than 1000 files/);
  assert.match(second.results[1], /^kept$/m);
  assert.doesNotMatch(second.results.at(-1), /removed or replaced|could lose/);
  const content = await u.get(`/projects/${first.project_id}/files/content?path=more`);
  assert.equal(content.text, 'more\n');
  assert.equal(database.sql(`select string_agg(path, ',' order by path) from runs.workspace_files where project_id = '${first.project_id}'`), 'kept,more');
});

attack('too deep directories terminate the command and are removed', ['workspace_depth'], async () => {
  const u = await server.user();
  const r = await run(u, [`mkdir -p keep/me; perl -e 'for (1..3000) { mkdir "d"; chdir "d" or last }'`, 'ls; echo fine'].join('\n'));
  assert.match(r.results[0], /levels deep; those below are deleted/);
  assert.match(r.results[1], /fine/);
  assert.match(r.results[1], /^keep$/m);
  const depth = execFileSync('perl', ['-e', 'chdir $ARGV[0]; my $n = 0; $n++ while chdir "d"; print $n', workspace(r.project_id)], { encoding: 'utf8' });
  assert.ok(Number(depth) <= 256, depth);
  assert.ok((await terminations('workspace_depth')) >= 1);
});

attack('deep directories without permissions are counted, trimmed and removed', ['workspace_depth'], { timeout: 120000 }, async () => {
  const u = await server.user();
  const r = await run(u, [`perl -e 'for (1..2000) { mkdir "d"; chdir "d" or last }'`, 'mkdir -p closed/in; echo x > closed/in/file; chmod 0 closed/in closed; ls; echo fine'].join('\n'));
  assert.match(r.results[0], /levels deep; those below are deleted/);
  assert.match(r.results[1], /fine/);
  const directory = workspace(r.project_id);
  const { uid, gid } = statSync(directory);
  execFileSync('perl', ['-e', 'chdir $ARGV[0] or die; for (1..5000) { mkdir "e"; chdir "e" or die } ', directory]);
  execFileSync('chown', ['-R', `${uid}:${gid}`, directory]);
  const deleted = await u.request('DELETE', `/threads/${r.thread_id}`);
  assert.equal(deleted.status, 204, deleted.text);
  await waitFor('the removal', () => !existsSync(directory) && readdirSync(path.join(directory, '../.removed')).length === 0, 20000);
});

attack('all projects of an account share its disk space until they are removed', ['account_workspace'], { timeout: 180000 }, async () => {
  const u = await server.user();
  const write = (mb) => `perl -e 'open(my $f, ">", "big") or die; for (1..${mb}) { print $f rand() x 10 . "x" x ((1 << 20) - 200) } close $f; sleep 3; print "written"'`;
  const one = await run(u, write(30));
  assert.match(one.results[0], /written/);
  const two = await run(u, write(30));
  assert.match(two.results[0], /workspaces of the account are full \(this one may have (1\d|2\d) MiB/);
  // Commands may delete files, but not add any.
  const more = await run(u, 'rm big; ls; echo cleaned', two.thread_id);
  assert.match(more.results[0], /cleaned/);
  assert.doesNotMatch(more.results[0], /sandbox: terminated/);
  // Files uploaded with a start count as well.
  const upload = await u.start({ prompt: 'echo x', files: [{ name: 'a.bin', data: Buffer.alloc(9 << 20, 1) }, { name: 'b.bin', data: Buffer.alloc(9 << 20, 2) }] });
  if (upload.status === 200) await u.stream(upload.json.agent_run_id);
  const again = await u.start({ prompt: 'echo x', files: [{ name: 'c.bin', data: Buffer.alloc(9 << 20, 3) }] });
  assert.equal(again.status, 413, again.text);
  assert.equal(again.json.detail.error_code, 'UPLOAD_TOO_LARGE');
  assert.match(again.json.detail.message, /all your projects/);
  // A rejected upload leaves no data behind.
  assert.equal(database.sql(`select coalesce(sum(length(bytes)), 0) from runs.workspace_chunks where refs = 0`), '0');
  const deleted = await u.request('DELETE', `/threads/${one.thread_id}`);
  assert.equal(deleted.status, 204, deleted.text);
  assert.equal(existsSync(workspace(one.project_id)), false);
  const after = await run(u, write(20), two.thread_id);
  assert.match(after.results[0], /written/);
});

attack('a thread counts against the limit of its account until its data is removed', ['held_threads'], { timeout: 120000 }, async (t) => {
  const u = await server.user();
  const made = [];
  for (let i = 0; i < 10; i++) made.push(await run(u, i === 0 ? 'mkdir in; echo x > in/file' : 'true'));
  assert.equal((await u.start({ prompt: 'one more' })).status, 402);
  const file = path.join(workspace(made[0].project_id), 'in/file');
  try {
    execFileSync('chattr', ['+i', file], { stdio: 'ignore' });
  } catch {
    return t.skip('the immutable attribute cannot be set here');
  }
  const removed = path.join(server.dir, 'data/modules/sandbox_bubblewrap/workspaces/.removed');
  try {
    assert.equal((await u.request('DELETE', `/threads/${made[0].thread_id}`)).status, 204);
    const refused = await u.start({ prompt: 'one more' });
    assert.equal(refused.status, 402, refused.text);
  } finally {
    const [name] = existsSync(removed) ? readdirSync(removed) : [];
    execFileSync('chattr', ['-i', name ? path.join(removed, name, 'in/file') : file]);
  }
  // The next cleanup runs soon after a start.
  await server.stop();
  await server.start();
  await waitFor('the removal', () => readdirSync(removed).length === 0, 40000);
  await waitFor('a free thread', async () => {
    const r = await u.start({ prompt: 'true' });
    if (r.status === 200) await u.stream(r.json.agent_run_id);
    return r.status === 200;
  }, 45000);
  // A thread without a workspace, or with one that is removed immediately, is free immediately.
  assert.equal((await u.start({ prompt: 'one more' })).status, 402);
  assert.equal((await u.request('DELETE', `/threads/${made[1].thread_id}`)).status, 204);
  const next = await u.start({ prompt: 'true' });
  assert.equal(next.status, 200, next.text);
  await u.stream(next.json.agent_run_id);
});

attack('on a nearly full disk, commands are rejected with the reason', ['disk_reserve'], { timeout: 60000 }, async () => {
  const full = await new Server({ database, llm, set, settings: '[sandbox_bubblewrap]\nmin_free_mb = 1000000000\n' }).start();
  try {
    const u = await full.user();
    const r = await run(u, 'echo never > file').catch((e) => ({ results: [String(e)] }));
    assert.match(r.results[0], /the server's disk is nearly full/);
    await waitFor('the warning', () => /the disk with the workspaces is nearly full/.test(full.log));
    const text = await (await fetch(`${full.url}/metrics`)).text();
    assert.match(text, /^runyard_sandbox_bubblewrap_refused_total{[^}]*reason="disk_space"[^}]*} [1-9]/m);
  } finally {
    await full.stop();
    execFileSync('rm', ['-rf', full.dir]);
  }
});

attack('below the disk reserve, the command that fills the disk is terminated and commands of other accounts continue', ['disk_reserve'], { timeout: 120000 }, async (t) => {
  // A separate file system, so that the machine's disk is not filled.
  const small = await new Server({ database, llm, set, settings: '[sandbox_bubblewrap]\nworkspace_mb = 100000\nmin_free_mb = 150\n[runs]\naccount_workspace_bytes = { free = 107374182400 }\n' });
  const data = path.join(small.dir, 'data');
  try {
    execFileSync('mkdir', ['-p', data]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', data], { stdio: 'ignore' });
  } catch {
    execFileSync('rm', ['-rf', small.dir]);
    return t.skip('no file system can be mounted here');
  }
  try {
    await small.start();
    const [honest, hostile] = [await small.user(), await small.user()];
    const [quiet, greedy] = await Promise.all([
      run(honest, 'for i in 1 2 3 4 5 6 7 8; do echo $i >> log; sleep 1; done; wc -l < log'),
      run(hostile, 'sleep 2; head -c 390M /dev/zero > big; sleep 20; echo survived')]);
    assert.doesNotMatch(greedy.results[0], /survived/);
    assert.match(greedy.results[0], /the server's disk is nearly full|No space|ended/);
    assert.ok(statSync(data).isDirectory());
    assert.ok(quiet.results[0].length > 0);
    assert.ok((await terminations('disk_space', small)) >= 1);
  } finally {
    await small.stop();
    execFileSync('umount', ['-l', data]);
    execFileSync('rm', ['-rf', small.dir]);
  }
});
