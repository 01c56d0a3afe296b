// Three NATS servers with replicated JetStream; each link between them can be cut.
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitFor } from '../../e2e/lib/server.mjs';

export class NatsCluster {
  constructor(network) { this.network = network; }
  async make() {
    this.dir = mkdtempSync(path.join(tmpdir(), 'ry-chaos-nats-'));
    this.all = [];
    for (const name of ['nats0', 'nats1', 'nats2']) {
      const machine = await this.network.machine(name);
      this.all.push({ name, machine, port: machine.port(), routes: machine.port(), monitor: machine.port(), dir: path.join(this.dir, name) });
    }
    // Servers announce this relay's address to each other as their own, so that it can be cut as well.
    this.gossip = { name: 'gossip' };
    for (const server of this.all) {
      const at = { host: server.machine.address, port: server.routes };
      const routes = [];
      for (const other of this.all) {
        if (other === server) continue;
        const to = await this.network.link(server.machine, other.machine, { host: other.machine.address, port: other.routes });
        routes.push(`"nats://${to.host}:${to.port}"`);
      }
      const advertised = await this.network.link(this.gossip, server.machine, at);
      server.config = `${server.dir}.conf`;
      writeFileSync(server.config, `
server_name: ${server.name}
listen: "${server.machine.address}:${server.port}"
http: "${server.machine.address}:${server.monitor}"
jetstream { store_dir: "${server.dir}", max_memory_store: 256MB, max_file_store: 1GB }
cluster {
  name: runyard
  listen: "${at.host}:${at.port}"
  advertise: "${advertised.host}:${advertised.port}"
  no_advertise: true
  routes: [${routes.join(', ')}]
}
`);
    }
    for (const server of this.all) this.start(server);
    for (const server of this.all) await this.ready(server);
    await waitFor('the NATS servers to choose a leader', () => this.all.some((s) => /JetStream cluster new metadata leader/.test(s.log)), 60000);
    return this;
  }
  start(server) {
    const [command, ...args] = [...server.machine.wrap, 'nats-server', '-c', server.config];
    server.log = '';
    server.process = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const file = createWriteStream(`${server.dir}.log`, { flags: 'a' });
    server.process.stderr.on('data', (d) => { server.log += d; file.write(d); });
    server.exited = new Promise((resolve) => server.process.on('exit', resolve));
  }
  ready(server) {
    return waitFor(`${server.name} to be ready`, () => {
      if (server.process.exitCode !== null) throw new Error(`nats-server exited:\n${server.log}`);
      return /Server is ready/.test(server.log);
    }, 60000);
  }
  // Returns the server that leads the Raft group of the event stream.
  async leader() {
    let leader;
    await waitFor('the stream of the events to have a leader', async () => {
      for (const s of this.all) {
        const r = await fetch(`http://${s.machine.address}:${s.monitor}/jsz?accounts=1&streams=1`, { signal: AbortSignal.timeout(2000) });
        const stream = (await r.json()).account_details?.flatMap((a) => a.stream_detail ?? []).find((d) => d.name === 'RUNYARD');
        leader ??= this.all.find((each) => each.name === stream?.cluster?.leader);
      }
      return leader;
    }, 30000);
    return leader;
  }
  async kill(server) {
    server.process.kill('SIGKILL');
    await server.exited;
    await server.machine.listening(false);
  }
  async restart(server) {
    this.start(server);
    await this.ready(server);
    await server.machine.listening(true);
  }
  async cut(server) {
    for (const other of [...this.all.filter((s) => s !== server).map((s) => s.machine), this.gossip])
      await this.network.cut(server.machine, other);
  }
  async heal(server) {
    for (const other of [...this.all.filter((s) => s !== server).map((s) => s.machine), this.gossip])
      await this.network.heal(server.machine, other);
  }
  async settingsFor(machine, options) {
    const urls = [];
    for (const server of this.all) {
      const at = await this.network.link(machine, server.machine, { host: server.machine.address, port: server.port }, options);
      urls.push(`"nats://${at.host}:${at.port}"`);
    }
    return `[bus_nats]\nurls = [${urls.join(', ')}]\nreplicas = 3\nstorage = "file"\n`;
  }
  async close() {
    for (const server of this.all ?? []) if (server.process && server.process.exitCode === null && !server.process.signalCode) await this.kill(server);
    if (!process.env.RY_KEEP) rmSync(this.dir, { recursive: true, force: true });
  }
}
