// Attacks of a hostile command on the kernel: unneeded system calls, memory that is not charged to a process, and
// floods of output and of in-memory files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { call, perl, run, startCommandLlm } from './lib/commands.mjs';
import { Server, makeDatabase } from './lib/server.mjs';
import { rss } from './lib/wire.mjs';

let database, llm, server, u;

setUp(async () => {
  database = makeDatabase();
  llm = await startCommandLlm();
  server = await new Server({ database, llm, settings: `
[sandbox_bubblewrap]
processes = 64
open_files = 128
memory_mb = 512
tmp_mb = 16
output_kb = 8
` }).start();
  u = await server.user();
});
tearDown(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const outputOf = async (...commands) => (await run(u, commands.join('\n'))).results.join('\n');
const kernelKiB = () => Number(/^SUnreclaim:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]);

// {system call: [expected error, arguments]}
const denied = {
  keyctl: ['EPERM', '0, -3, 1'], add_key: ['EPERM', '$type, $name, $name, 5, -3'], request_key: ['EPERM', '$type, $name, 0, -3'],
  bpf: ['EPERM', '0, 0, 0'], perf_event_open: ['EPERM', '0, 0, -1, -1, 0'], userfaultfd: ['EPERM', '1'], setns: ['EPERM', '0, 0'],
  ptrace: ['EPERM', '0, 0, 0, 0'], process_vm_readv: ['EPERM', '1, 0, 0, 0, 0, 0'], process_vm_writev: ['EPERM', '1, 0, 0, 0, 0, 0'],
  kcmp: ['EPERM', '$$, $$, 0, 0, 0'], pidfd_getfd: ['EPERM', '-1, 0, 0'],
  clone3: ['ENOSYS', '0, 0'], memfd_create: ['ENOSYS', '$name, 0'], memfd_secret: ['ENOSYS', '0'],
  io_uring_setup: ['ENOSYS', '8, 0'], io_uring_enter: ['ENOSYS', '-1, 0, 0, 0, 0'], io_uring_register: ['ENOSYS', '-1, 0, 0, 0'],
  semget: ['ENOSYS', '0, 32000, 0600'], msgget: ['ENOSYS', '0, 0600'],
};
const namespaces = { mount: 0x20000, cgroup: 0x2000000, uts: 0x4000000, ipc: 0x8000000, user: 0x10000000, pid: 0x20000000, net: 0x40000000, time: 0x80 };

attack('system calls for keys, BPF, other processes and namespaces are denied', ['system_calls'], async () => {
  const tries = Object.entries(denied).map(([name, [error, args]]) =>
    `$r = syscall(${call[name]}, ${args}); print "${name} ", $r == -1 && $!{${error}} ? "refused" : "not refused: $r $!", "\\n";`);
  const unshares = Object.entries(namespaces).map(([name, flag]) =>
    `$r = syscall(${call.unshare}, ${flag}); print "unshare ${name} ", $r == -1 && $!{EPERM} ? "refused" : "not refused", "\\n";`);
  const clones = Object.entries(namespaces).filter(([name]) => name !== 'time').map(([name, flag]) =>
    `$r = syscall(${call.clone}, ${flag | 17}, 0, 0, 0, 0); exit if $r == 0; print "clone ${name} ", $r == -1 && $!{EPERM} ? "refused" : "not refused", "\\n";`);
  const lines = [...tries, ...unshares, ...clones];
  const out = await outputOf(perl(`$| = 1; my ($r, $type, $name) = (0, "user", "name"); ${lines.join(' ')}`));
  assert.doesNotMatch(out, /not refused/);
  assert.equal(out.match(/ refused$/gm)?.length, lines.length, out);
});

attack('kernel files that help an attacker are empty', ['kernel_files'], async () => {
  const out = await outputOf('for f in cmdline config.gz kallsyms; do echo "$f has $(cat /proc/$f 2>/dev/null | head -c 100 | wc -c)"; done');
  assert.deepEqual([...out.matchAll(/(\S+) has (\d+)/g)].map((m) => `${m[1]} ${m[2]}`), ['cmdline 0', 'config.gz 0', 'kallsyms 0'], out);
});

attack('disk space cannot be allocated without being written', ['system_calls'], async () => {
  const [resvsp, resvsp64, zeroRange, allocsp, allocsp64, setExtentSize] = [0x40305828, 0x4030582a, 0x40305839, 0x4030580a, 0x40305824, 0x401c5820];
  const requests = [resvsp, resvsp64, zeroRange, allocsp, allocsp64, setExtentSize, `(1 << 32 | ${resvsp})`];
  const out = await outputOf(perl(`open(my $f, "+>", "x") or die; print $f "x" x 8192; $f->flush; my $r;
    for my $mode (0, 1, 16, 17, 64) { $r = syscall(${call.fallocate}, fileno($f), $mode, 0, 1 << 30); print "mode $mode ", $r == -1 && $!{EOPNOTSUPP} ? "refused" : "not refused: $!", "\\n" }
    for my $request (${requests.join(', ')}) { $r = syscall(${call.ioctl}, fileno($f), $request, 0); print "request $request ", $r == -1 && $!{EOPNOTSUPP} ? "refused" : "not refused: $!", "\\n" }`),
  'fallocate --punch-hole --offset 0 --length 4096 x; fallocate --posix --length 1M y && stat --format "size %s" x y');
  assert.doesNotMatch(out, /not refused/);
  assert.equal(out.match(/ refused$/gm)?.length, 5 + requests.length, out);
  assert.match(out, /size 8192\nsize 1048576/);
});

attack('System V semaphores and message queues are denied, and shared segments are small', ['system_calls'], async () => {
  const before = kernelKiB();
  const out = await outputOf(perl(`my ($n, $m) = (0, 0);
    for (1 .. 200) { $n++ if syscall(${call.semget}, 0, 32000, 0600) >= 0; $n++ if syscall(${call.msgget}, 0, 0600) >= 0 }
    for (1 .. 200) { $m++ if syscall(${call.shmget}, 0, 1 << 20, 0600) >= 0 }
    print "got $n and $m\\n"; print "small ", syscall(${call.shmget}, 0, 4096, 0600) >= 0 ? "works" : "fails", "\\n"`));
  assert.match(out, /got 0 and 0\n/);
  assert.match(out, /small works/);
  assert.ok(kernelKiB() - before < 200_000);
});

attack('only Unix, IP and netlink sockets can be created', ['system_calls'], async () => {
  const out = await outputOf(perl(`for my $f (0 .. 64, 1 << 32 | 40) { for my $t (1, 2, 3, 5) { if (syscall(${call.socket}, $f, $t, 0) >= 0) { print "family $f\\n"; last } } }
    for my $f (2 .. 64) { print "pair of $f\\n" if syscall(${call.socketpair}, $f, 1, 0, "x" x 16) >= 0 }`));
  assert.deepEqual([...out.matchAll(/family (\d+)/g)].map((m) => Number(m[1])), [1, 2, 10, 16]);
  assert.doesNotMatch(out, /pair of/);
});

regular('watches, timers and queues use little kernel memory before they are denied', { timeout: 120000 }, async () => {
  const before = kernelKiB();
  const out = await outputOf(perl(`my $t = "x" x 8; for (1 .. 40) { next if fork; my @k;
    for (1 .. 200) { last if syscall(${call.inotify_init1}, 0) < 0 }
    for (1 .. 3000) { last if syscall(${call.timer_create}, 1, 0, $t) < 0 }
    for (1 .. 200) { my $a = pack("q8", 0, 10, 8192, 0, 0, 0, 0, 0); last if syscall(${call.mq_open}, "q$$.$_", 0102, 0600, $a) < 0 }
    sleep 2; exit } sleep 1; print "made\\n"`), 'true');
  assert.match(out, /made/);
  assert.ok(kernelKiB() - before < 500_000, `${kernelKiB() - before} KiB`);
});

attack('in-memory file systems are small, and the others are read-only', ['tmp_size'], async () => {
  const out = await outputOf(...['/tmp', '/dev/shm'].map((at) => `head -c 64M /dev/zero > ${at}/large; stat -c 'large has %s' ${at}/large; rm ${at}/large`),
    'for at in / /dev /etc /usr /opt /proc /run /sys /var; do { mkdir -p $at/mine && echo "made $at"; } 2>/dev/null; done; true');
  assert.deepEqual([...out.matchAll(/large has (\d+)/g)].map((m) => Number(m[1])), [16 << 20, 16 << 20]);
  assert.doesNotMatch(out, /^made/m);
});

attack('excessive output is truncated and uses no memory of the server', ['output_size'], { timeout: 120000 }, async () => {
  const before = rss(server.process.pid);
  const out = await outputOf('head -c 50M /dev/zero | tr "\\0" x; head -c 50M /dev/zero | tr "\\0" y >&2');
  assert.ok(out.length < 10_000, `${out.length} characters`);
  assert.ok(rss(server.process.pid) - before < 100, `${rss(server.process.pid) - before} MiB more`);
});
