// Queries processes through /proc. Process ids are strings.
import { readFileSync, readdirSync } from 'node:fs';

export const commandOf = (pid) => { try { return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean); } catch { return []; } };
const childrenOf = (pid) => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((t) => readFileSync(`/proc/${pid}/task/${t}/children`, 'utf8').split(' ').filter(Boolean));
  } catch { return []; }
};
// The children of a process, their children and so on.
export const descendants = (pid) => childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
// The init processes of unused sandboxes below `pid`; used ones have "--used" on their command line.
export const waitingSandboxes = (pid) => descendants(pid).filter((p) => /^\/\.sandbox-exec enter --wait /.test(commandOf(p).join(' ')));
