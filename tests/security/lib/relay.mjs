// node relay.mjs SOCKET TARGET: accepts connections on the Unix socket SOCKET, which every user may use, and forwards them to TARGET. A
// separate process, because tests block theirs while they wait for programs. It exits when its stdin is closed.
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
