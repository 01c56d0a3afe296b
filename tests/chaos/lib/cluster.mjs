// Three nodes, PostgreSQL with a replica and three NATS servers, each on a machine of its own, and faults of
// machines and of the links between them. Runs are always live and are read at other nodes than those that
// execute them; the test measures how long their streams are silent.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, sleep, waitFor } from '../../e2e/lib/server.mjs';
import { Apart } from './apart.mjs';
import { Campaign } from './campaign.mjs';
import { promptOf } from './model.mjs';
import { NatsCluster } from './nats_cluster.mjs';
import { Pair } from './pair.mjs';

export const hasNats = existsSync(path.join(build, 'modules/bus_nats.so'));

export class Cluster extends Campaign {
  // live: concurrent runs. plan: of each. breath: milliseconds that each state lasts. wanted: selects acts by
  // name.
  constructor({ network, seed, live, plan, breath = 2000, lease, accounts = 10, giveUp, longest, wanted = () => true, say = () => {} }) {
    const limit = Math.ceil(live / accounts);
    super({ seed, giveUp, longest, lease, accounts, limit, cuts: 0, elsewhere: true, plan,
            settings: `[accounts.tiers.pro]\nconcurrent_runs = ${limit}\n` });
    Object.assign(this, { network, breath, wanted, say });
    this.figures = [];
    this.frozen = [];
  }
  async open() {
    this.postgres = await new Pair(this.network).make();
    if (hasNats) this.nats = await new NatsCluster(this.network).make();
    await super.open();
    this.tokens.push((await this.nodes.all[0].user({ tier: 'pro' })).token);  // of those who ask whether a node is there
    return this;
  }
  async model() {
    const model = new Apart('apart_model.mjs');
    return { url: await model.ask('start', { host: this.network.home }), state: { cut: 0 }, close: () => model.close() };
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

  // ---- what happens ----
  async #links(node, act, ...more) {
    for (const server of [...this.postgres.all, ...this.nats?.all ?? []]) await act(node.machine, server.machine, ...more);
  }
  // [name, task] of what happens, in order.
  chapters() {
    const { network, postgres, nats, breath } = this;
    const [first, second, third] = this.nodes.all;
    const cut = (a, b) => network.cut(a, b), heal = (a, b) => network.heal(a, b), slow = (a, b, ms) => network.slow(a, b, ms);
    const acts = [
      ['nothing', () => sleep(breath)],
      ['links of a node are slow, 40 ms each way', async () => {
        await this.#links(second, slow, 40);
        await sleep(breath);
        await this.#links(second, slow, 0);
      }],
      ['a node is killed', async () => {
        await this.nodes.kill(first);
        await sleep(breath);
        await this.up(first);
      }],
      [`a node does not reach PostgreSQL for ${2 * breath / 1000} s`, async () => {
        for (const server of postgres.all) await network.cut(third.machine, server.machine);
        await sleep(2 * breath);
        for (const server of postgres.all) await network.heal(third.machine, server.machine);
      }],
    ];
    if (nats) acts.push(
      ['the NATS server that leads the stream is killed', async () => {
        const server = await nats.leader();
        await nats.kill(server);
        await sleep(breath);
        await nats.again(server);
      }],
      [`a NATS server does not reach the others for ${breath / 1000} s`, async () => {
        await nats.cut(nats.all[1]);
        await sleep(breath);
        await nats.heal(nats.all[1]);
      }],
      [`a node reaches neither PostgreSQL nor NATS for ${2 * breath / 1000} s`, async () => {
        await this.#links(first, cut);
        await sleep(2 * breath);
        await this.#links(first, heal);
      }]);
    acts.push(
      ['PostgreSQL is killed, its replica takes over', () => postgres.failOver()],
      ['the other PostgreSQL becomes a replica again', () => postgres.attach()],
      ['PostgreSQL is silent, its replica takes over', async () => {
        const old = postgres.main;
        await postgres.failOver(async () => {
          for (const node of this.nodes.all) await network.cut(node.machine, old.machine);
        });
        await this.#calm();
        await old.stop('immediate');
        for (const node of this.nodes.all) await network.heal(node.machine, old.machine);
      }]);
    return acts;
  }
  async story() {
    for (const [name, task] of this.chapters()) {
      if (!this.wanted(name)) continue;
      const from = Date.now();
      await task();
      await this.#calm();
      if (this.nats) await this.#together();
      this.figures.push({ name, from, to: Date.now() });
      this.say(`${name}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
    }
  }
  // Until every node hears all others by NATS, and has heard something.
  async #together() {
    const heard = (text, name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    await waitFor('all nodes to hear each other by NATS', async () => {
      for (const node of this.nodes.all) {
        const { text } = await this.client(this.accounts).ask('GET', '/metrics', { at: node });
        if (heard(text, 'runyard_bus_heard_by_all') !== 1 || heard(text, 'runyard_bus_received_total') === 0) return false;
      }
      return true;
    }, 60000);
  }
  // Until every stream has gone on and every node has taken a run and shown its end: what takes longer is of
  // this act, and not of the next one.
  async #calm() {
    const from = Date.now();
    const begun = this.done.filter((c) => !c.reader);
    for (const node of this.nodes.all) await this.#ask(node);
    await waitFor('all streams to go on', () => this.nodes.died.length || begun.every((c) => c.reader || c.heard > from), 120000);
    if (this.nodes.died.length) throw new Error(this.nodes.died.join('\n'));
  }
  async #ask(node) {
    const client = this.client(this.accounts);
    const began = Date.now(), prompt = promptOf({ chunks: 1, pace: 0 }, `is ${node.name} there`);
    const r = await client.start(prompt, {}, { at: node });
    if (r.status !== 200) throw new Error(`a start at ${node.name} answered ${r.status} ${r.text}`);
    const c = { run: r.json.agent_run_id, prompt, began, answered: Date.now() };
    this.done.push(c);
    c.reader = await client.read(c.run, { not: node.name });
  }

  // Times in which this process itself got no processor: others may have got none either.
  #watch() {
    let last = Date.now();
    const timer = setInterval(() => {
      const now = Date.now();
      if (now - last > 1500) this.frozen.push({ from: last, ms: now - last });
      last = now;
    }, 200);
    return () => clearInterval(timer);
  }
  // Starts runs until the scenario has ended, and then waits for their end.
  async run() {
    const stop = this.#watch();
    let over = false;
    // Some are over before the last is begun.
    const begun = (n) => n >= 0.9 * this.accounts * this.limit;
    const load = this.load(() => !over);
    await waitFor('all to be alive', () => begun(this.done.filter((c) => c.heard && !c.reader).length), 300000);
    try {
      // The initial burst of starts is not part of the scenario.
      for (let i = 0; i < 2; i++) {
        await this.#calm();
        await sleep(this.breath);
      }
      await this.story();
    } finally {
      over = true;
      await load;
      stop();
    }
  }

  // ---- figures ----
  // For each act: the longest silence of the streams that were read in it, the part of it after the act began
  // (the recovery; the part before it is the pause between two words), and the duration of starts.
  measured() {
    const rank = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return this.figures.map(({ name, from, to }) => {
      const silences = [], recoveries = [], starts = [];
      for (const c of this.done) {
        if (c.began > from && c.began < to) starts.push(c.answered - c.began);
        const events = c.reader?.events ?? [];
        let longest, recovery = 0;
        for (let i = 1; i < events.length; i++) {
          const a = events[i - 1].$at, b = events[i].$at;
          // A silence belongs to the act that most of it lies in.
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
      lines.push(`${f.name} (${(f.took / 1000).toFixed(1)} s): ${f.streams} streams silent for ${f.silences.map((s) => s?.ms ?? 0).join(', ')} ms (p50, p99, most, this between ${f.silences[2]?.between}), all had gone on after ${f.recovery} ms; ${f.starts} starts, the slowest ${f.start} ms` +
        (f.frozen ? `; this machine stood still for ${f.frozen} ms` : ''));
    return lines;
  }
}
