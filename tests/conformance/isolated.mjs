// Runs a command where only the machine's own loopback interface exists, as the mock servers of the
// suite listen on all addresses: isolated.mjs COMMAND ARG...   Without bubblewrap, or where it may not make a
// network namespace, the command runs as it is, with a word about it.
import { spawnSync } from 'node:child_process';

const command = process.argv.slice(2);
const apart = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--'];
const able = spawnSync('bwrap', [...apart, 'true'], { stdio: 'ignore' }).status === 0;
if (!able) console.log('# bwrap cannot make a network namespace here: the mock servers are reachable from outside while this runs');
const [program, ...args] = able ? ['bwrap', ...apart, ...command] : command;
const r = spawnSync(program, args, { stdio: 'inherit' });
process.exit(r.status ?? 1);
