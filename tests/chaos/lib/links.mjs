// The network between the machines of a cluster: links that can be cut (nothing arrives, nobody is told) and
// made slow. Two kinds: over loopback, with a relay for each link, which runs everywhere; and of network
// namespaces on a bridge, where packets are lost by the kernel (root and iproute2 are needed).
import { execFileSync } from 'node:child_process';
import net from 'node:net';

// Most bytes that wait in a slow direction before its sender has to wait.
const most = 1 << 20;

// One TCP link, from a port of its own to `to`.
export class Relay {
  #directions = new Set();
  delay = 0;  // milliseconds in each direction
  cut = false;

  constructor(at, to) { Object.assign(this, { at, to }); }
  async listen() {
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      const far = net.connect({ ...this.to, allowHalfOpen: true, noDelay: true });
      this.#carry(near, far);
      this.#carry(far, near);
    });
    await new Promise((resolve, reject) => this.server.once('error', reject).listen({ ...this.at, backlog: 4096 }, resolve));
    return this.at;
  }
  // Connections are refused until listen(); those that are there stay.
  refuse() { this.server.close(); }
  // Bytes, ends and resets of one direction, in order.
  #carry(from, into) {
    const waiting = [];
    let bytes = 0, timer;
    const flush = () => {
      timer = undefined;
      while (waiting.length && !this.cut) {
        const left = waiting[0].at - Date.now();
        if (left > 0) { timer = setTimeout(flush, left); break; }
        const { data, end } = waiting.shift();
        if (data) { bytes -= data.length; into.write(data); }
        else if (end === 'end') into.end();
        else { into.destroy(); this.#directions.delete(flush); }
      }
      if (bytes < most && !into.writableNeedDrain) from.resume();
    };
    const put = (what) => {
      waiting.push({ at: Date.now() + this.delay, ...what });
      if (!timer) flush();
      if (bytes >= most || into.writableNeedDrain) from.pause();
    };
    this.#directions.add(flush);
    from.on('data', (data) => { bytes += data.length; put({ data }); });
    from.on('end', () => put({ end: 'end' }));
    from.on('error', () => {});
    from.on('close', () => put({ end: 'close' }));
    into.on('drain', flush);
    this.sockets ??= new Set();
    this.sockets.add(from);
    from.on('close', () => this.sockets.delete(from));
  }
  setCut(yes) {
    this.cut = yes;
    if (!yes) for (const flush of [...this.#directions]) flush();
  }
  close() {
    for (const s of this.sockets ?? []) s.destroy();
    this.server?.close();
  }
}

// A machine: {name, wrap: what its processes are started by, address, port(): a free one, listening(yes): told
// when its processes are there and when not, as its relays must not take connections for a dead one}.

// Machines are addresses of 127.0.0.0/8 that no other process of these tests takes; their ports are none that
// the kernel gives away.
export class Loopback {
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
    const relay = new Relay({ host: `${this.#subnet}.254`, port: ++this.#port }, at);
    to.into.push(relay);
    const key = `${from.name} ${to.name}`;
    this.#relays.set(key, [...this.#relays.get(key) ?? [], relay]);
    return await relay.listen();
  }
  #between(a, b) {
    return [...this.#relays.get(`${a.name} ${b.name}`) ?? [], ...this.#relays.get(`${b.name} ${a.name}`) ?? []];
  }
  async cut(a, b) { for (const r of this.#between(a, b)) r.setCut(true); }
  async heal(a, b) { for (const r of this.#between(a, b)) r.setCut(false); }
  async slow(a, b, ms) { for (const r of this.#between(a, b)) r.delay = ms; }
  async close() {
    for (const relays of this.#relays.values()) for (const r of relays) r.close();
  }
}

async function listening(relays, yes) {
  for (const r of relays) yes ? await r.listen() : r.refuse();
}

const ip = (...args) => execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

// Machines are network namespaces on one bridge, 10.88.0.0/24.
export class Namespaces {
  #machines = [];
  #relays = [];
  #slow = new Map();
  #port = 5000;
  #tag = `ry${process.pid}`;
  name = 'network namespaces';
  home = '10.88.0.1';

  constructor() {
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
    const machine = { name, space, address, mac, wrap: ['ip', 'netns', 'exec', space] };
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
    const relay = new Relay({ host: this.home, port: ++this.#port }, at);
    this.#relays.push({ to, ends: [from.name, to.name].sort().join(' '), relay });
    return await relay.listen();
  }
  #between(a, b) {
    const ends = [a.name, b.name].sort().join(' ');
    return this.#relays.filter((r) => r.ends === ends).map((r) => r.relay);
  }
  #ways(a, b) { return a.space && b.space ? [[a, b], [b, a]] : []; }
  // Frames go to an address that nobody has.
  async cut(a, b) {
    for (const r of this.#between(a, b)) r.setCut(true);
    for (const [x, y] of this.#ways(a, b))
      ip('-n', x.space, 'neigh', 'replace', y.address, 'lladdr', '02:52:59:ff:ff:ff', 'dev', 'eth0', 'nud', 'permanent');
  }
  async heal(a, b) {
    for (const r of this.#between(a, b)) r.setCut(false);
    for (const [x, y] of this.#ways(a, b))
      ip('-n', x.space, 'neigh', 'replace', y.address, 'lladdr', y.mac, 'dev', 'eth0', 'nud', 'reachable');
  }
  async slow(a, b, ms) {
    for (const r of this.#between(a, b)) r.delay = ms;
    if (this.slowBy !== 'netem') return;
    // With netem all that `a` sends is slow, which is its links both ways and back.
    const now = this.#slow.get(a.space);
    if (now === ms) return;
    this.#slow.set(a.space, ms);
    execFileSync('tc', ['-n', a.space, 'qdisc', 'replace', 'dev', 'eth0', 'root', 'netem', 'delay', `${2 * ms}ms`, 'limit', '100000']);
  }
  async close() {
    for (const { relay } of this.#relays) relay.close();
    for (const m of this.#machines) ip('netns', 'del', m.space);
    ip('link', 'del', this.#tag);
  }
}
