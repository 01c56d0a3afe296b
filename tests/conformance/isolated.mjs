// Runs a command in a network namespace that has only a loopback interface, because the mock servers of the suite
// listen on all addresses: isolated.mjs COMMAND ARG...   Without bubblewrap, or if it cannot create a network
// namespace, the command runs without isolation, with a warning.
import { spawnSync } from 'node:child_process';

const command = process.argv.slice(2);
const isolation = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--'];
const supported = spawnSync('bwrap', [...isolation, 'true'], { stdio: 'ignore' }).status === 0;
if (!supported) console.log('# bwrap cannot create a network namespace here: the mock servers are reachable from other machines while this runs');
const [program, ...args] = supported ? ['bwrap', ...isolation, ...command] : command;
const r = spawnSync(program, args, { stdio: 'inherit' });
process.exit(r.status ?? 1);
