// Three nodes, PostgreSQL with a replica and three NATS servers, each on its own (simulated) machine, and faults of
// machines and of the links between them. Runs are always in progress and are read at other nodes than those that
// execute them; the test measures the longest gaps between events of their streams.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, sleep, waitFor } from '../../e2e/lib/server.mjs';
import { ChildProcess } from './child_process.mjs';
import { ChaosRun } from './chaos_run.mjs';
import { promptOf } from './model.mjs';
import { NatsCluster } from './nats_cluster.mjs';
import { ReplicatedPostgres } from './replicated_postgres.mjs';

export const hasNats = existsSync(path.join(build, 'modules/bus_nats.so'));

export class Cluster extends ChaosRun {
  // live: concurrent runs. plan: returns the plan of a run. holdMs: milliseconds that each state lasts. selected:
  // whether the act of a name is executed.
  constructor({ network, seed, live, plan, holdMs = 2000, lease, accounts = 10, timeoutMs, maxRunMs, selected = () => true, log = () => {} }) {
    const limit = Math.ceil(live / accounts);
    super({ seed, timeoutMs, maxRunMs, lease, accounts, limit, cuts: 0, elsewhere: true, plan,
            settings: `[accounts.tiers.pro]\nconcurrent_runs = ${limit}\n` });
    Object.assign(this, { network, holdMs, selected, log });
    this.measurements = [];
    this.frozen = [];
  }
  async open() {
    this.postgres = await new ReplicatedPostgres(this.network).make();
    if (hasNats) this.nats = await new NatsCluster(this.network).make();
    await super.open();
    this.tokens.push((await this.nodes.all[0].user({ tier: 'pro' })).token);  // account of the probes in #probe
    return this;
  }
  async model() {
    const model = new ChildProcess('model_process.mjs');
    return { url: await model.ask('start', { host: this.network.home }), state: { disconnected: 0 }, close: () => model.close() };
  }
  async places() {
    const places = [];
    for (let i = 0; i < this.count; i++) {
      const machine = await this.network.machine(`node${i}`);
      const options = { slow: i === 1 };
      places.push({
        machine,
        url: await this.postgres.urlFor(machine, options),
        settings: await this.nats?.settingsFor(machine, options),
        set: [`http.listen=${machine.address}:${machine.port()}`, ...this.nats ? ['modules.bus_nats.enabled=true'] : []],
      });
    }
    return { places };
  }
  async close() {
    await super.close();
    await this.nats?.close();
    await this.network.close();
  }

  // ---- schedule ----
  async #forEachLink(node, act, ...args) {
    for (const server of [...this.postgres.all, ...this.nats?.all ?? []]) await act(node.machine, server.machine, ...args);
  }
  // Returns the acts of the schedule as [name, task], in order.
  acts() {
    const { network, postgres, nats, holdMs } = this;
    const [first, second, third] = this.nodes.all;
    const cut = (a, b) => network.cut(a, b), heal = (a, b) => network.heal(a, b), slow = (a, b, ms) => network.slow(a, b, ms);
    const acts = [
      ['no fault', () => sleep(holdMs)],
      ['links of a node are slow, 40 ms each way', async () => {
        await this.#forEachLink(second, slow, 40);
        await sleep(holdMs);
        await this.#forEachLink(second, slow, 0);
      }],
      ['a node is killed', async () => {
        await this.nodes.kill(first);
        await sleep(holdMs);
        await this.up(first);
      }],
      [`a node does not reach PostgreSQL for ${2 * holdMs / 1000} s`, async () => {
        for (const server of postgres.all) await network.cut(third.machine, server.machine);
        await sleep(2 * holdMs);
        for (const server of postgres.all) await network.heal(third.machine, server.machine);
      }],
    ];
    if (nats) acts.push(
      ['the NATS server that leads the stream is killed', async () => {
        const server = await nats.leader();
        await nats.kill(server);
        await sleep(holdMs);
        await nats.restart(server);
      }],
      [`a NATS server does not reach the others for ${holdMs / 1000} s`, async () => {
        await nats.cut(nats.all[1]);
        await sleep(holdMs);
        await nats.heal(nats.all[1]);
      }],
      [`a node reaches neither PostgreSQL nor NATS for ${2 * holdMs / 1000} s`, async () => {
        await this.#forEachLink(first, cut);
        await sleep(2 * holdMs);
        await this.#forEachLink(first, heal);
      }]);
    acts.push(
      ['PostgreSQL is killed, its replica takes over', () => postgres.failOver()],
      ['the other PostgreSQL becomes a replica again', () => postgres.attach()],
      ['PostgreSQL is silent, its replica takes over', async () => {
        const old = postgres.main;
        await postgres.failOver(async () => {
          for (const node of this.nodes.all) await network.cut(node.machine, old.machine);
        });
        await this.#waitUntilRecovered();
        await old.stop('immediate');
        for (const node of this.nodes.all) await network.heal(node.machine, old.machine);
      }]);
    return acts;
  }
  async runActs() {
    for (const [name, task] of this.acts()) {
      if (!this.selected(name)) continue;
      const from = Date.now();
      await task();
      await this.#waitUntilRecovered();
      if (this.nats) await this.#waitUntilConnected();
      this.measurements.push({ name, from, to: Date.now() });
      this.log(`${name}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
    }
  }
  // Waits until every node is connected to all others through NATS and has received a message.
  async #waitUntilConnected() {
    const metric = (text, name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    await waitFor('all nodes to be connected through NATS', async () => {
      for (const node of this.nodes.all) {
        const { text } = await this.client(this.accounts).ask('GET', '/metrics', { at: node });
        if (metric(text, 'runyard_bus_received_by_all') !== 1 || metric(text, 'runyard_bus_received_total') === 0) return false;
      }
      return true;
    }, 60000);
  }
  // Waits until every stream has resumed and every node has completed a run, so that a slow recovery is attributed to
  // this act and not to the next one.
  async #waitUntilRecovered() {
    const from = Date.now();
    const unfinished = this.done.filter((c) => !c.reader);
    for (const node of this.nodes.all) await this.#probe(node);
    await waitFor('all streams to resume', () => this.nodes.died.length || unfinished.every((c) => c.reader || c.lastEventAt > from), 120000);
    if (this.nodes.died.length) throw new Error(this.nodes.died.join('\n'));
  }
  async #probe(node) {
    const client = this.client(this.accounts);
    const began = Date.now(), prompt = promptOf({ chunks: 1, pace: 0 }, `probe of ${node.name}`);
    const r = await client.start(prompt, {}, { at: node });
    if (r.status !== 200) throw new Error(`a start at ${node.name} returned ${r.status} ${r.text}`);
    const c = { run: r.json.agent_run_id, prompt, began, answered: Date.now() };
    this.done.push(c);
    c.reader = await client.read(c.run, { avoid: node.name });
  }

  // Records when this process itself was not scheduled; the measured processes may have been delayed as well.
  #watchScheduling() {
    let last = Date.now();
    const timer = setInterval(() => {
      const now = Date.now();
      if (now - last > 1500) this.frozen.push({ from: last, ms: now - last });
      last = now;
    }, 200);
    return () => clearInterval(timer);
  }
  // Starts runs until the schedule has ended, and then waits for their end.
  async run() {
    const stop = this.#watchScheduling();
    let finished = false;
    // Some runs end before the last one has started, so 90 % are enough.
    const enough = (n) => n >= 0.9 * this.accounts * this.limit;
    const load = this.load(() => !finished);
    await waitFor('all runs to be in progress', () => enough(this.done.filter((c) => c.lastEventAt && !c.reader).length), 300000);
    try {
      // The initial burst of starts is not part of the schedule.
      for (let i = 0; i < 2; i++) {
        await this.#waitUntilRecovered();
        await sleep(this.holdMs);
      }
      await this.runActs();
    } finally {
      finished = true;
      await load;
      stop();
    }
  }

  // ---- results ----
  // For each act: the longest gap between two events of each stream, the part of the gap after the act began (the
  // recovery; the part before it is the normal pause between two chunks), and the duration of starts.
  measured() {
    const rank = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return this.measurements.map(({ name, from, to }) => {
      const silences = [], recoveries = [], starts = [];
      for (const c of this.done) {
        if (c.began > from && c.began < to) starts.push(c.answered - c.began);
        const events = c.reader?.events ?? [];
        let longest, recovery = 0;
        for (let i = 1; i < events.length; i++) {
          const a = events[i - 1].$at, b = events[i].$at;
          // A gap is attributed to the act that covers most of it.
          if (2 * (Math.min(b, to) - Math.max(a, from)) <= b - a) continue;
          recovery = Math.max(recovery, b - Math.max(a, from));
          if (!(b - a <= longest?.ms)) longest = { ms: b - a, between: [events[i - 1], events[i]].map((e) => `${e.type} at ${((e.$at - from) / 1000).toFixed(1)} s by ${e.$node}`).join(' and ') };
        }
        if (!longest) continue;
        silences.push(longest);
        recoveries.push(recovery);
      }
      silences.sort((a, b) => a.ms - b.ms);
      recoveries.sort((a, b) => a - b);
      starts.sort((a, b) => a - b);
      return { name, took: to - from, streams: silences.length, silences: [0.5, 0.99, 1].map((share) => rank(silences, share)),
        recovery: recoveries.at(-1) ?? 0,
        starts: starts.length, start: starts.at(-1) ?? 0, frozen: this.frozen.filter((f) => f.from < to && f.from + f.ms > from).reduce((n, f) => n + f.ms, 0) };
    });
  }
  report() {
    const lines = [`${this.network.name}; slow links by ${this.network.slowBy}; ${hasNats ? 'three NATS servers' : 'no NATS: the module bus_nats is not built'}`];
    for (const f of this.measured())
      lines.push(`${f.name} (${(f.took / 1000).toFixed(1)} s): ${f.streams} streams with gaps of ${f.silences.map((s) => s?.ms ?? 0).join(', ')} ms (p50, p99, max; the max between ${f.silences[2]?.between}), all streams resumed after ${f.recovery} ms; ${f.starts} starts, the slowest ${f.start} ms` +
        (f.frozen ? `; this process was not scheduled for ${f.frozen} ms` : ''));
    return lines;
  }
}
