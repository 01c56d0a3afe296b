// Measures the peak resource usage of a server and its commands for ../hostile.mjs; a separate process, because reading
// /proc is slow for processes that are under attack. Prints the peaks as JSON when standard input closes.
//   node peaks.mjs PID DATA_DIR
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { descendants, commandOf } from '../../tests/e2e/lib/processes.mjs';
import { rss } from '../../tests/security/lib/wire.mjs';

const [pid, data] = process.argv.slice(2);
const MiB = 1 << 20, peaks = {};
const peak = (name, value) => { peaks[name] = Math.max(peaks[name] ?? 0, value); };
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let finished = false;

// The proportional set size counts pages that several processes share once.
const pssMib = (id) => { try { return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))[1]) / 1024; } catch { return 0; } };
// Processes below bwrap are commands; the other children of the server are its database.
const commands = () => {
  const children = descendants(pid);
  return new Set(children.filter((id) => /bwrap$/.test(commandOf(id)[0] ?? '')).flatMap((id) => [id, ...descendants(id)]));
};
async function sizeOf(directory) {
  const r = await promisify(execFile)('du', ['-sm', '--apparent-size', directory]).catch((e) => e);
  return Number(/^(\d+)/.exec(r.stdout)?.[1] ?? 0);
}
const loop = async (ms, sample) => { while (!finished) { await sample(); await sleep(ms); } };

const free = statfsSync(data);
const loops = [
  loop(300, () => {
    peak('memory of the server, MiB', rss(pid));
    peak('descriptors of the server', readdirSync(`/proc/${pid}/fd`).length);
    const all = commands();
    peak('processes of all commands', all.size);
    peak('memory of all commands, MiB', [...all].reduce((sum, id) => sum + pssMib(id), 0));
  }),
  loop(2000, async () => {
    peak('workspaces, MiB', await sizeOf(path.join(data, 'modules/sandbox_bubblewrap')));
    peak('upload spool, MiB', await sizeOf(path.join(data, 'spool')));
    const now = statfsSync(data);
    peak('used of the file system, MiB', (free.bfree - now.bfree) * now.bsize / MiB);
  }),
];
process.stdin.resume();
await once(process.stdin, 'end');
finished = true;
await Promise.all(loops);
console.log(JSON.stringify(peaks));
