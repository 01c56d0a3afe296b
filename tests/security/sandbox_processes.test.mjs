// Attacks of a hostile command on the limits of its sandbox, on the init of the sandbox and on other processes.
import assert from 'node:assert/strict';
import { descendants } from '../e2e/lib/processes.mjs';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { call, perl, run, startCommandLlm } from './lib/commands.mjs';
import { Server, confinement, makeDatabase, sleep, waitFor } from './lib/server.mjs';

const processes = 64, megabytes = 4, files = 128;
let database, llm, server, u;

setUp(async () => {
  database = makeDatabase();
  llm = await startCommandLlm();
  server = await new Server({ database, llm, settings: `
[sandbox_bubblewrap]
processes = ${processes}
file_mb = ${megabytes}
open_files = ${files}
memory_mb = 512
` }).start();
  u = await server.user();
});
tearDown(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const outputOf = async (...commands) => (await run(u, commands.join('\n'))).results.join('\n');

regular('the kind of sandbox matches the user of the server', () => {
  assert.match(server.log, new RegExp(`sandbox ready confinement=${confinement}`));
});

attack('the init process cannot be traced, written to, signalled or given other limits, and has the limits of its command', ['init_limits'], async () => {
  const attempt = (action, script) => `print +(${script}) ? "did ${action}\\n" : "refused ${action}\\n";`;
  const iov = 'my $i = pack("Q2", 1, 4096); my $p = pack("p", $i);';
  const out = await outputOf(perl(`
    for my $r (16, 0x4206) { ${attempt('trace', `syscall(${call.ptrace}, $r, 1, 0, 0) >= 0`)} }
    ${attempt('write', 'open(my $m, "+<", "/proc/1/mem")')}
    ${attempt('list', 'opendir(my $d, "/proc/1/fd")')}
    ${attempt('enter', 'opendir(my $e, "/proc/1/root/")')}
    ${iov} ${attempt('read memory', `syscall(${call.process_vm_readv}, 1, $p, 1, $p, 1, 0) >= 0`)}
    ${attempt('write memory', `syscall(${call.process_vm_writev}, 1, $p, 1, $p, 1, 0) >= 0`)}
    my $fd = syscall(${call.pidfd_open}, 1, 0);
    ${attempt('take a descriptor', `syscall(${call.pidfd_getfd}, $fd, 0, 0) >= 0`)}
    my $l = pack("Q2", 5000, 5000); ${attempt('set a limit', `syscall(${call.prlimit64}, 1, 6, $l, 0) >= 0`)}
    kill 9, 1; kill 19, 1; print "and lives\\n";`), 'cat /proc/1/limits');
  assert.equal(out.match(/^refused /mg)?.length, 9, out);
  assert.doesNotMatch(out, /^did /m);
  assert.match(out, /and lives/);
  for (const [name, value] of [['processes', processes], ['file size', megabytes << 20], ['open files', files]])
    assert.match(out, new RegExp(`Max ${name} +${value} `));
});

attack('no process has higher limits than the command, not even an orphaned one', ['init_limits', 'processes', 'open_files', 'file_size'], async () => {
  const out = await outputOf(`(setsid sh -c 'sleep 0.3; cat /proc/self/limits > adopted' &); until [ -s adopted ]; do sleep 0.1; done; sleep 0.2; cat adopted /proc/[0-9]*/limits`,
    'ulimit -n 4096; ulimit -u 4096; ulimit -f unlimited; true',
    `head -c 20M /dev/zero > large; stat -c 'large has %s' large`,
    perl('my @f; while (open(my $f, "<", "/dev/null")) { push @f, $f } print "open ", scalar(@f), "\\n"'));
  const values = (name) => [...out.matchAll(new RegExp(`^Max ${name} +(\\S+)`, 'gm'))].map((m) => m[1]);
  for (const [name, value] of [['processes', processes], ['open files', files], ['file size', megabytes << 20]]) {
    assert.ok(values(name).length >= 3, out);
    for (const v of values(name)) assert.ok(Number(v) <= value, `${name}: ${v}\n${out}`);
  }
  assert.match(out, new RegExp(`large has ${megabytes << 20}$`, 'm'));
  assert.ok(Number(/^open (\d+)/m.exec(out)[1]) < files, out);
});

attack('a fork bomb is limited to its number of processes, and other accounts are served', ['processes'], { timeout: 120000 }, async () => {
  const other = await server.user();
  const bomb = outputOf(`${perl('my $until = time + 3; while (time < $until) { fork(); select(undef, undef, undef, 0.01) } sleep 1')} 2>/dev/null; true`);
  let peak = 0, slowest = 0, finished = false;
  bomb.finally(() => { finished = true; });
  while (!finished) {
    const begun = Date.now();
    assert.equal((await other.get('/account')).status, 200);
    slowest = Math.max(slowest, Date.now() - begun);
    peak = Math.max(peak, descendants(server.process.pid).length);
    await sleep(50);
  }
  await bomb;
  // The server itself has some helper processes.
  assert.ok(peak <= processes + 40, `${peak} processes`);
  assert.ok(peak > processes / 2, `only ${peak} processes: the fork bomb did not run`);
  assert.ok(slowest < 5000, `${slowest} ms`);
  await waitFor('the processes to end', () => descendants(server.process.pid).length < 40);
});

attack('the total memory of all processes is limited, including undumpable ones', ['memory'], async () => {
  const hog = (before) => perl(`${before} for (1 .. 64) { if (!fork) { my $x = "x" x (24 << 20); sleep 8; exit } } sleep 8; print "survived\\n"`);
  for (const before of ['', `syscall(${call.prctl}, 4, 0);`]) {
    const out = await outputOf(hog(before));
    assert.match(out, /more memory|MiB of memory together|took more than it may/);
    assert.doesNotMatch(out, /survived/);
  }
});

attack('commands have a lower priority than the server, and cannot raise it', ['priority'], async () => {
  const out = await outputOf(`nice; ionice; ${perl('print eval { setpriority(0, 0, 0); getpriority(0, 0) }, "\\n"')}; (setsid sh -c nice &); sleep 0.3`);
  assert.match(out, /^19\nbest-effort: prio 7\n19\n19\n/m);
});

regular('if memory runs out, the kernel kills a command before the server', async () => {
  assert.match(await outputOf('cat /proc/self/oom_score_adj; (setsid cat /proc/self/oom_score_adj &) ; sleep 0.3'), /^1000\n1000\n/m);
});

regular('processes that leave their process group and ignore signals are killed with their command', async () => {
  const before = descendants(server.process.pid).length;
  const out = await outputOf(`(setsid perl -e '$SIG{$_} = "IGNORE" for qw(HUP INT TERM); if (!fork) { setpgrp; sleep 300 } sleep 300' >/dev/null 2>&1 &); sleep 0.2; echo left`);
  assert.match(out, /left/);
  await waitFor('the processes to end', () => descendants(server.process.pid).length <= before);
});
