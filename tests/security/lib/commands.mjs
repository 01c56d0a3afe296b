// Commands of an agent: the model runs each line of a prompt as a command, one after the other.
import assert from 'node:assert/strict';
import { lastUser, startLlm, turns } from '../../e2e/lib/llm.mjs';

export const startCommandLlm = () => startLlm((request, reply) => {
  const commands = lastUser(request).split(/\r?\n/);
  const done = turns(request).filter((m) => m.role === 'tool').length;
  if (done >= commands.length) return reply.say('done');
  reply.tools([{ id: `c${done}`, name: 'shell', arguments: { command: commands[done] } }]);
});

// Starts a run and waits for its end. `results`: the results of its commands.
export async function run(u, prompt, thread) {
  const r = await u.start({ prompt, ...(thread ? { thread_id: thread } : {}) });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 90000 });
  assert.ok(s.events.some((e) => e.type === 'status' && e.status === 'completed'), s.raw);
  return { ...r.json, results: s.events.filter((e) => e.type === 'tool_result').map((e) => e.content) };
}

// A Perl script as one command.
export const perl = (script) => `perl -MErrno -MSocket -MIO::Handle -e '${script.replace(/\s*\n\s*/g, ' ')}'`;

// System call numbers: [x86_64, arm64], or one number if both are equal.
const numbers = {
  ptrace: [101, 117], process_vm_readv: [310, 270], process_vm_writev: [311, 271], prlimit64: [302, 261], kcmp: [312, 272], pidfd_open: 434, pidfd_getfd: 438,
  semget: [64, 190], msgget: [68, 186], shmget: [29, 194], socket: [41, 198], socketpair: [53, 199], prctl: [157, 167], unshare: [272, 97], clone: [56, 220],
  clone3: 435, setns: [308, 268], add_key: [248, 217], request_key: [249, 218], keyctl: [250, 219], memfd_create: [319, 279], memfd_secret: 447,
  bpf: [321, 280], perf_event_open: [298, 241], userfaultfd: [323, 282], io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427,
  timer_create: [222, 107], inotify_init1: [294, 26], mq_open: [240, 180], fallocate: [285, 47], ioctl: [16, 29],
};
export const call = Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, Array.isArray(n) ? n[process.arch === 'arm64' ? 1 : 0] : n]));
