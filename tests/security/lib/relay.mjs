// node relay.mjs SOCKET TARGET: connections to the Unix socket SOCKET, which every user may use, go on to TARGET. A process of its
// own, as tests block theirs while they wait for programs. It ends with its standard input.
import { chmodSync } from 'node:fs';
import net from 'node:net';

const [socket, target] = process.argv.slice(2);
net.createServer((inner) => {
  const outer = net.connect(target);
  for (const [from, to] of [[inner, outer], [outer, inner]]) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}).listen(socket, () => chmodSync(socket, 0o777));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
