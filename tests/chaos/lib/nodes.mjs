// Several servers on one database, which the test can start, stop, kill and freeze.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Server } from '../../e2e/lib/server.mjs';
import { prices } from './model.mjs';

export class Nodes {
  // lease: seconds until the runs of an unresponsive node are claimed. crashes: how many workers may die while they
  // execute a run; high, because random kills hit a run more often than the default allows. places: {machine, url,
  // settings, set} of each node, if they differ.
  constructor({ postgres, llm, count = 3, lease = 2, crashes = 1000, settings = '', places = [] }) {
    this.dir = mkdtempSync(path.join(tmpdir(), 'ry-chaos-'));
    this.died = [];  // a message for each node that exited unexpectedly
    const set = [
      'auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test',
      'database.connections=8',
      `jobs.lease_seconds=${lease}`,
      'jobs.poll_seconds=0.25',
      'log.level=warn',
    ];
    this.all = Array.from({ length: count }, (_, i) => {
      const dir = mkdtempSync(path.join(this.dir, `node${i}-`));
      const { machine, url = postgres.url, settings: extraSettings = '', set: extraSet = [] } = places[i] ?? {};
      const server = new Server({
        database: { url }, llm, dir, set: [...set, ...extraSet], wrap: machine?.wrap,
        settings: `[runs]\nmax_crashes = ${crashes}\n${prices}${settings}${extraSettings}`,
      });
      return Object.assign(server, { name: `node${i}`, state: 'down', machine });
    });
  }
  async start() {
    await this.up(this.all[0]);  // creates the tables
    await Promise.all(this.all.slice(1).map((n) => this.up(n)));
    return this;
  }
  alive() { return this.all.filter((n) => n.state === 'up'); }
  // Returns a node that is up; if possible, not the one named `avoid`.
  any(random, avoid) {
    const up = this.alive(), others = up.filter((n) => n.name !== avoid);
    return up.length ? random.pick(others.length ? others : up) : undefined;
  }

  async up(node) {
    node.state = 'starting';
    await node.start({ timeout: 60000 });
    node.state = 'up';
    node.exited.then(({ code, signal }) => {
      if (node.state === 'down' || node.state === 'stopping') return;
      node.state = 'down';
      this.died.push(`${node.name} exited unexpectedly (${signal ?? code}): ${node.log.trim().split('\n').slice(-3).join(' | ')}`);
    });
  }
  async kill(node) {
    node.state = 'down';
    if (node.process.exitCode !== null || node.process.signalCode) return;
    node.process.kill('SIGKILL');
    await node.exited;
  }
  // Shuts the node down with SIGTERM and returns its exit status.
  async stop(node) {
    node.state = 'stopping';
    const exit = await node.stop();
    node.state = 'down';
    return exit;
  }
  freeze(node) { node.state = 'frozen'; node.process.kill('SIGSTOP'); }
  thaw(node) { node.process.kill('SIGCONT'); node.state = 'up'; }
  async close() {
    for (const n of this.all) {
      if (!n.process || n.process.exitCode !== null || n.process.signalCode) continue;
      n.process.kill('SIGCONT');
      n.process.kill('SIGTERM');
    }
    const timeout = new Promise((r) => setTimeout(r, 15000).unref());
    await Promise.race([timeout, Promise.all(this.all.map((n) => n.process && n.exited))]);
    for (const n of this.all) await this.kill(n);
    if (!process.env.RY_KEEP) rmSync(this.dir, { recursive: true, force: true });
  }
}
