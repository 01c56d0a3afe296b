// The network between the machines of a cluster: links that can be cut (nothing arrives, and no error is reported) and
// made slow. Two kinds: over loopback, with a relay for each link, which runs everywhere; and of network
// namespaces on a bridge, where packets are lost by the kernel (root and iproute2 are needed).
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import { Relays } from './relays.mjs';

// A machine: {name, wrap: what its processes are started by, address, port(): a free one, listening(yes): called
// when its processes start and end, because its relays must not take connections for a dead one}.

// Machines are addresses of 127.0.0.0/8 that no other process of these tests takes; their ports are none that
// the kernel gives away.
export class Loopback {
  #made = new Relays();
  #relays = new Map();
  #machines = 0;
  #subnet = `127.${1 + (process.pid >> 8) % 254}.${process.pid % 256}`;
  #port = 5000;
  name = 'loopback addresses, a relay for each link';
  slowBy = 'relays';
  home = '127.0.0.1';  // where the test itself is reached

  async machine(name) {
    const address = `${this.#subnet}.${++this.#machines}`;
    const into = [];
    let port = 5000;
    return { name, wrap: [], address, into, port: () => ++port, listening: (yes) => listening(into, yes) };
  }
  // Where `from` reaches what listens at `at` on `to`.
  async link(from, to, at) {
    const relay = await this.#made.make({ host: `${this.#subnet}.254`, port: ++this.#port }, at);
    to.into.push(relay);
    const key = `${from.name} ${to.name}`;
    this.#relays.set(key, [...this.#relays.get(key) ?? [], relay]);
    return relay.at;
  }
  #between(a, b) {
    return [...this.#relays.get(`${a.name} ${b.name}`) ?? [], ...this.#relays.get(`${b.name} ${a.name}`) ?? []];
  }
  async cut(a, b) { for (const r of this.#between(a, b)) await r.cut(true); }
  async heal(a, b) { for (const r of this.#between(a, b)) await r.cut(false); }
  async slow(a, b, ms) { for (const r of this.#between(a, b)) await r.slow(ms); }
  async close() { this.#made.close(); }
}

async function listening(relays, yes) {
  for (const r of relays) yes ? await r.listen() : await r.refuse();
}

const ip = (...args) => execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

// Machines are network namespaces on one bridge, 10.88.0.0/24.
export class Namespaces {
  #machines = [];
  #made = new Relays();
  #relays = [];
  #slow = new Map();
  #port = 5000;
  #tag = `ry${process.pid}`;
  name = 'network namespaces';
  home = '10.88.0.1';
  // The measuring process has precedence over the measured ones when the processor is busy.
  #ahead = -10;

  constructor() {
    // With all its threads: it waits for those that collect garbage.
    for (const thread of readdirSync('/proc/self/task')) os.setPriority(Number(thread), this.#ahead);
    ip('link', 'add', this.#tag, 'type', 'bridge');
    ip('addr', 'add', `${this.home}/24`, 'dev', this.#tag);
    ip('link', 'set', this.#tag, 'up');
    // A kernel without netem: slow links lead through a relay at the test's address.
    try {
      execFileSync('tc', ['qdisc', 'add', 'dev', this.#tag, 'root', 'netem', 'delay', '0ms'], { stdio: 'ignore' });
      execFileSync('tc', ['qdisc', 'del', 'dev', this.#tag, 'root'], { stdio: 'ignore' });
      this.slowBy = 'netem';
    } catch {
      this.slowBy = 'relays, as this kernel has no netem';
    }
  }
  async machine(name) {
    const n = this.#machines.length + 11;
    const space = `${this.#tag}-${name}`, outer = `${this.#tag}.${n}`, address = `10.88.0.${n}`;
    const mac = `02:52:59:00:00:${n.toString(16).padStart(2, '0')}`;
    ip('netns', 'add', space);
    const machine = { name, space, address, mac, wrap: ['ip', 'netns', 'exec', space, 'nice', '-n', String(-this.#ahead)] };
    this.#machines.push(machine);
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    ip('-n', space, 'link', 'set', 'eth0', 'address', mac);
    ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', space, 'link', 'set', 'lo', 'up');
    ip('-n', space, 'link', 'set', 'eth0', 'up');
    ip('link', 'set', outer, 'master', this.#tag, 'up');
    let port = 5000;
    machine.port = () => ++port;
    machine.listening = (yes) => listening(this.#relays.filter((r) => r.to === machine).map((r) => r.relay), yes);
    return machine;
  }
  // `slow`: whether slow() is asked of it.
  async link(from, to, at, { slow } = {}) {
    if (this.slowBy === 'netem' || !slow) return at;
    const relay = await this.#made.make({ host: this.home, port: ++this.#port }, at);
    this.#relays.push({ to, ends: [from.name, to.name].sort().join(' '), relay });
    return relay.at;
  }
  #between(a, b) {
    const ends = [a.name, b.name].sort().join(' ');
    return this.#relays.filter((r) => r.ends === ends).map((r) => r.relay);
  }
  #ways(a, b) { return a.space && b.space ? [[a, b], [b, a]] : []; }
  // Frames go to an address without a machine.
  async cut(a, b) {
    for (const r of this.#between(a, b)) await r.cut(true);
    for (const [x, y] of this.#ways(a, b))
      ip('-n', x.space, 'neigh', 'replace', y.address, 'lladdr', '02:52:59:ff:ff:ff', 'dev', 'eth0', 'nud', 'permanent');
  }
  async heal(a, b) {
    for (const r of this.#between(a, b)) await r.cut(false);
    for (const [x, y] of this.#ways(a, b))
      ip('-n', x.space, 'neigh', 'replace', y.address, 'lladdr', y.mac, 'dev', 'eth0', 'nud', 'reachable');
  }
  async slow(a, b, ms) {
    for (const r of this.#between(a, b)) await r.slow(ms);
    if (this.slowBy !== 'netem') return;
    // With netem all that `a` sends is slow, which is its links both ways and back.
    const now = this.#slow.get(a.space);
    if (now === ms) return;
    this.#slow.set(a.space, ms);
    execFileSync('tc', ['-n', a.space, 'qdisc', 'replace', 'dev', 'eth0', 'root', 'netem', 'delay', `${2 * ms}ms`, 'limit', '100000']);
  }
  async close() {
    this.#made.close();
    for (const m of this.#machines) ip('netns', 'del', m.space);
    ip('link', 'del', this.#tag);
  }
}
