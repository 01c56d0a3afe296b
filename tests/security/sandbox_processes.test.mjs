// Attacks of a hostile command on the limits of its sandbox, in both sandbox modes: with a server of root and with one of an
// unprivileged user.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { below } from '../e2e/lib/processes.mjs';
import { lastUser, startLlm, turns } from '../e2e/lib/llm.mjs';
import { Server, binary, build, makeDatabase, sleep, waitFor } from '../e2e/lib/server.mjs';

const processes = 64, megabytes = 4;
const set = [`sandbox_bubblewrap.processes=${processes}`, `sandbox_bubblewrap.file_mb=${megabytes}`, 'sandbox_bubblewrap.open_files=128', 'sandbox_bubblewrap.memory_mb=512'];
const ordinary = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
const able = process.getuid() === 0 && spawnSync(ordinary[0], [...ordinary.slice(1), 'test', '-x', binary, '-a', '-r', path.join(build, 'modules/runs.so')]).status === 0 &&
  spawnSync(ordinary[0], [...ordinary.slice(1), 'bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true']).status === 0;
let database, llm;

// The prompt is the command that the model runs.
before(async () => {
  database = makeDatabase();
  llm = await startLlm((request, reply) => {
    if (turns(request).some((m) => m.role === 'tool')) return reply.say('done');
    reply.tools([{ id: 'c1', name: 'shell', arguments: { command: lastUser(request) } }]);
  });
});
after(async () => {
  await llm?.close();
  database?.drop();
});

async function attack(u, command) {
  const r = await u.start({ prompt: command });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 90000 });
  return s.events.find((e) => e.type === 'tool_result').content;
}
// Numbers of system calls.
const call = { x64: { ptrace: 101, process_vm_readv: 310, semget: 64, msgget: 68, socket: 41, prctl: 157 },
  arm64: { ptrace: 117, process_vm_readv: 270, semget: 190, msgget: 186, socket: 198, prctl: 167 } }[process.arch];
const perl = (script) => `perl -MErrno -MSocket -e '${script}'`;
const usedKiB = () => {
  const text = readFileSync('/proc/meminfo', 'utf8'), of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)[1]);
  return of('SUnreclaim');
};

function attacks(mode, startServer) {
  const skip = mode === 'user_namespace' && process.getuid() === 0 && !able ? 'another user has no sandbox here, or may not read the build' : false;
  let server, u;
  const it = (what, body) => test(`${mode}: ${what}`, { skip }, async () => {
    if (!server) {
      server = await startServer();
      assert.match(server.log, new RegExp(`"?confinement"?[=:] ?"?${mode}`), server.log);
      u = await server.user();
    }
    await body();
  });
  after(() => server?.close());

  it('process 1 cannot be traced, written to or used', async () => {
    const said = await attack(u, `${perl(`for my $r (16, 0x4206) { print syscall(${call.ptrace}, $r, 1, 0, 0) < 0 ? "refused\\n" : "traced\\n" }`)}
      ${perl('open(my $m, "+<", "/proc/1/mem") ? print "opened\\n" : print "refused\\n"')}
      ls /proc/1/fd /proc/1/root/ >/dev/null 2>&1 && echo listed || echo refused
      ${perl(`my $i = pack("Q2", 1, 4096); my $p = pack("p", $i); print syscall(${call.process_vm_readv}, 1, $p, 1, $p, 1, 0) < 0 ? "refused\\n" : "read\\n"`)}
      kill -9 1; kill -STOP 1; cat /proc/1/limits`);
    assert.equal(said.match(/^refused$/mg)?.length, 5, said);
    assert.doesNotMatch(said, /traced|opened|listed|^read$/m);
    assert.match(said, new RegExp(`Max processes +${processes} `));
    assert.match(said, new RegExp(`Max file size +${megabytes << 20} `));
    assert.match(said, /Max open files +128 /);
  });

  it('no process has higher limits than the command', async () => {
    // Also one that its parent has left, which process 1 adopts.
    const said = await attack(u, `(setsid sh -c 'sleep 0.5; cat /proc/self/limits > adopted' &) ; sleep 2; cat adopted /proc/[0-9]*/limits`);
    const values = (name) => [...said.matchAll(new RegExp(`^${name} +(\\S+)`, 'gm'))].map((m) => m[1]);
    for (const [name, value] of [['Max processes', processes], ['Max open files', 128], ['Max file size', megabytes << 20]]) {
      assert.ok(values(name).length >= 3, said);
      for (const v of values(name)) assert.ok(Number(v) <= value, `${name}: ${v}\n${said}`);
    }
  });

  it('a fork bomb has its processes and no more, and others are served', async () => {
    const other = await server.user();
    const bomb = attack(u, `${perl('my $until = time + 6; while (time < $until) { fork(); } sleep 1')} 2>/dev/null; true`);
    let most = 0, slowest = 0;
    for (let i = 0; i < 40; i++) {
      const begun = Date.now();
      assert.equal((await other.get('/account')).status, 200);
      slowest = Math.max(slowest, Date.now() - begun);
      most = Math.max(most, below(server.process.pid).length);
      await sleep(100);
    }
    await bomb;
    // Of the server itself there are its database and helpers.
    assert.ok(most <= processes + 40, `${most} processes`);
    assert.ok(most > processes / 2, `${most} processes: no bomb`);
    assert.ok(slowest < 5000, `${slowest} ms`);
    await waitFor('them to be gone', () => below(server.process.pid).length < 40);
  });

  it('the kernel ends a command before the server when memory runs out', async () => {
    assert.match(await attack(u, 'cat /proc/self/oom_score_adj; (setsid cat /proc/self/oom_score_adj &) ; sleep 0.3'), /^1000\n1000\n/);
  });

  it('commands have a lower priority than the server, and cannot raise it', async () => {
    const said = await attack(u, `nice; ionice; ${perl('print eval { setpriority(0, 0, 0); getpriority(0, 0) }, "\\n"')}; (setsid sh -c nice &); sleep 0.3`);
    assert.match(said, /^19\nbest-effort: prio 7\n19\n19\n/);
  });

  it('System V semaphores and message queues are denied', async () => {
    const before = usedKiB();
    const said = await attack(u, perl(`my $n = 0; for (1 .. 200) { $n++ if syscall(${call.semget}, 0, 32000, 0600) >= 0; $n++ if syscall(${call.msgget}, 0, 0600) >= 0; } print "got $n\\n"`));
    assert.match(said, /got 0\n/);
    assert.ok(usedKiB() - before < 200_000);
  });

  it('there are no sockets but those of Unix, IP and netlink', async () => {
    const said = await attack(u, perl(`for my $f (0 .. 64) { for my $t (1, 2, 3, 5) { if (syscall(${call.socket}, $f, $t, 0) >= 0) { print "family $f\\n"; last } } }`));
    assert.deepEqual([...said.matchAll(/family (\d+)/g)].map((m) => Number(m[1])), [1, 2, 10, 16]);
  });

  it('a command that cannot be dumped is still measured', async () => {
    const said = await attack(u, perl(`syscall(${call.prctl}, 4, 0); for (1 .. 64) { if (!fork) { my $x = "x" x (24 << 20); sleep 30; exit } } sleep 30; print "survived\\n"`));
    assert.match(said, /more memory|MiB of memory together|exceeded a resource limit/, said);
    assert.doesNotMatch(said, /survived/);
  });
}

attacks(process.getuid() === 0 ? 'drop_root' : 'user_namespace', async () => await new Server({ database, llm, set }).start());
if (process.getuid() === 0) {
  attacks('user_namespace', async () => {
    // With a PostgreSQL of its own: the one of ./test cannot be reached by another user.
    const server = new Server({ llm, set, wrap: ordinary });
    mkdirSync(path.join(server.dir, 'data'));
    execFileSync('chown', ['-R', '65534:65534', server.dir]);
    return await server.start({ timeout: 90000 });
  });
}
