// Processes of this machine, by what /proc says of them. Numbers of processes are texts.
import { readFileSync, readdirSync } from 'node:fs';

export const commandOf = (pid) => { try { return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean); } catch { return []; } };
const childrenOf = (pid) => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((t) => readFileSync(`/proc/${pid}/task/${t}/children`, 'utf8').split(' ').filter(Boolean));
  } catch { return []; }
};
// Its children, their children and so on.
export const descendants = (pid) => childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
// The inits of the sandboxes that wait for their program below a process; of others it says "--used".
export const waitingSandboxes = (pid) => descendants(pid).filter((p) => /^\/\.sandbox-exec enter --wait /.test(commandOf(p).join(' ')));
