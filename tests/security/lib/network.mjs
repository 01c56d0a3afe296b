// A network namespace with public addresses that are routed to this machine, and a DNS server of the test.
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const remote = '20.20.20.20';  // not assigned to an interface: stands in for a remote server
export const own = '20.20.20.21';     // assigned to an interface of this machine

// Runs `file` again in such a namespace instead of in this process. Returns true inside it, false if it cannot be
// created.
export function enterNetwork(file) {
  if (process.env.RY_IN_NETWORK_NAMESPACE) return true;
  if (spawnSync('unshare', ['--net', '--mount', 'true']).status !== 0) return false;
  const dir = mkdtempSync(path.join(tmpdir(), 'ry-network-'));
  const at = (name) => path.join(dir, name);
  writeFileSync(at('hosts'), '127.0.0.1 localhost\n');
  writeFileSync(at('resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:5 attempts:2\n');
  const enter = `set -e; ip link set lo up; ip route add local ${remote}/32 dev lo; ip addr add ${own}/32 dev lo
    for f in hosts resolv.conf; do mount --bind ${dir}/$f /etc/$f; done; exec "$@"`;
  const r = spawnSync('unshare', ['--net', '--mount', '--', 'sh', '-c', enter, 'sh', process.execPath, ...process.execArgv, file],
    { env: { ...process.env, RY_IN_NETWORK_NAMESPACE: '1' }, stdio: 'inherit' });
  rmSync(dir, { recursive: true, force: true });
  process.exit(r.status ?? 1);
}

// A DNS server that answers A queries with `addressOf(name)`, and does not answer if it is undefined.
export async function startNames(addressOf) {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    let name = '', at = 12;
    for (let n; (n = question[at]) > 0; at += n + 1) name += `${name && '.'}${question.toString('latin1', at + 1, at + 1 + n)}`;
    const address = addressOf(name.toLowerCase()), wantsV4 = question.readUInt16BE(at + 1) === 1;
    if (!address) return;
    const head = Buffer.from(question.subarray(0, at + 5));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(wantsV4 ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]);
    socket.send(wantsV4 ? Buffer.concat([head, answer]) : head, from.port, from.address);
  });
  await new Promise((resolve) => socket.bind(53, '127.0.0.1', resolve));
  return socket;
}
