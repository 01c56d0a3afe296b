// The network between the machines of a cluster. Links can be cut (nothing arrives, and no error is reported) and
// delayed. Two implementations: loopback addresses with a relay per link, which runs everywhere; and network namespaces
// on a bridge, where the kernel drops the packets (needs root and iproute2).
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import { Relays } from './relays.mjs';

// A machine: {name, wrap: command prefix that starts its processes, address, port(): returns a free port,
// listening(on): called when its processes start and exit, because its relays must not accept connections for a dead
// process}.

// Machines are addresses in 127.0.0.0/8 that no other process of these tests uses; their ports are outside the kernel's
// ephemeral range.
export class Loopback {
  #made = new Relays();
  #relays = new Map();
  #machines = 0;
  #subnet = `127.${1 + (process.pid >> 8) % 254}.${process.pid % 256}`;
  #port = 5000;
  name = 'loopback addresses, a relay for each link';
  slowBy = 'relays';
  home = '127.0.0.1';  // address of the test process itself

  async machine(name) {
    const address = `${this.#subnet}.${++this.#machines}`;
    const into = [];
    let port = 5000;
    return { name, wrap: [], address, into, port: () => ++port, listening: (on) => listening(into, on) };
  }
  // Returns the address at which `from` reaches the service that listens at `at` on `to`.
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

async function listening(relays, on) {
  for (const r of relays) on ? await r.listen() : await r.refuse();
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
  // Niceness of the measuring process: it takes precedence over the measured ones when the CPU is busy.
  #priority = -10;

  constructor() {
    // For all threads, because the main thread waits for those of the garbage collector.
    for (const thread of readdirSync('/proc/self/task')) os.setPriority(Number(thread), this.#priority);
    ip('link', 'add', this.#tag, 'type', 'bridge');
    ip('addr', 'add', `${this.home}/24`, 'dev', this.#tag);
    ip('link', 'set', this.#tag, 'up');
    // Without netem in the kernel, slow links go through a relay at the test's address.
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
    const namespace = `${this.#tag}-${name}`, hostSide = `${this.#tag}.${n}`, address = `10.88.0.${n}`;
    const mac = `02:52:59:00:00:${n.toString(16).padStart(2, '0')}`;
    ip('netns', 'add', namespace);
    const machine = { name, namespace, address, mac, wrap: ['ip', 'netns', 'exec', namespace, 'nice', '-n', String(-this.#priority)] };
    this.#machines.push(machine);
    ip('link', 'add', hostSide, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('-n', namespace, 'link', 'set', 'eth0', 'address', mac);
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
    ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    ip('link', 'set', hostSide, 'master', this.#tag, 'up');
    let port = 5000;
    machine.port = () => ++port;
    machine.listening = (on) => listening(this.#relays.filter((r) => r.to === machine).map((r) => r.relay), on);
    return machine;
  }
  // `slow`: whether slow() will be called for this link.
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
  #directions(a, b) { return a.namespace && b.namespace ? [[a, b], [b, a]] : []; }
  // Redirects frames to a MAC address that no machine has.
  async cut(a, b) {
    for (const r of this.#between(a, b)) await r.cut(true);
    for (const [x, y] of this.#directions(a, b))
      ip('-n', x.namespace, 'neigh', 'replace', y.address, 'lladdr', '02:52:59:ff:ff:ff', 'dev', 'eth0', 'nud', 'permanent');
  }
  async heal(a, b) {
    for (const r of this.#between(a, b)) await r.cut(false);
    for (const [x, y] of this.#directions(a, b))
      ip('-n', x.namespace, 'neigh', 'replace', y.address, 'lladdr', y.mac, 'dev', 'eth0', 'nud', 'reachable');
  }
  async slow(a, b, ms) {
    for (const r of this.#between(a, b)) await r.slow(ms);
    if (this.slowBy !== 'netem') return;
    // netem delays everything that `a` sends, so it is given the delay of both directions.
    const current = this.#slow.get(a.namespace);
    if (current === ms) return;
    this.#slow.set(a.namespace, ms);
    execFileSync('tc', ['-n', a.namespace, 'qdisc', 'replace', 'dev', 'eth0', 'root', 'netem', 'delay', `${2 * ms}ms`, 'limit', '100000']);
  }
  async close() {
    this.#made.close();
    for (const m of this.#machines) ip('netns', 'del', m.namespace);
    ip('link', 'del', this.#tag);
  }
}
