// Keeps runs active while a seeded schedule injects faults into servers, connections and PostgreSQL.
import { sleep, waitFor } from '../../e2e/lib/server.mjs';
import { checkAll, checkSlots } from './checks.mjs';
import { ChaosClient, agui, aisdk } from './client.mjs';
import { promptOf, startModel } from './model.mjs';
import { Nodes } from './nodes.mjs';
import { Postgres } from './postgres.mjs';
import { seeded } from './random.mjs';

const randomPlan = (random) => ({
  tools: random.weighted([[4, 0], [3, 1], [2, 2], [1, 3]]),
  chunks: random.weighted([[3, 5], [4, 20], [2, 60], [1, 120]]),
  pace: random.weighted([[2, 0], [4, 10], [3, 25]]),
  tool: random.weighted([[3, 'true'], [1, 'echo working; sleep 1; echo done']]),
});

export class ChaosRun {
  // limit: concurrent runs of an account, 3 in the tier pro. plan: returns the plan of a run, see promptOf. elsewhere:
  // read runs at other nodes than the one that started them. protocols: also read some runs as AG-UI and UI message
  // streams. maxRunMs: see ChaosClient. postgres: use this server, do not create one.
  constructor({ seed, nodes = 3, accounts = 8, timeoutMs = 240000, cuts = 0.04, lease = 2, crashes, settings, limit = 3, plan = randomPlan, elsewhere, protocols, maxRunMs, postgres }) {
    Object.assign(this, { seed, count: nodes, accounts, cuts, lease, crashes, settings, limit, plan, elsewhere, protocols, maxRunMs, postgres });
    this.random = seeded(seed);
    this.deadline = Date.now() + timeoutMs;
    this.done = [];
    this.injected = {};
    this.violations = [];
  }
  async open() {
    this.postgres ??= await new Postgres().make();
    this.llm = await this.model();
    this.nodes = await new Nodes({ postgres: this.postgres, llm: this.llm, count: this.count, lease: this.lease, crashes: this.crashes, settings: this.settings, ...await this.places?.() }).start();
    this.tokens = [];
    for (let i = 0; i < this.accounts; i++)
      this.tokens.push((await this.nodes.all[0].user({ tier: 'pro' })).token);
    return this;
  }
  model() { return startModel({ random: this.random.fork(), cuts: this.cuts }); }
  async close() {
    await this.nodes?.close();
    await this.llm?.close();
    await this.postgres?.drop();
  }
  client(account, random = this.random.fork()) {
    return new ChaosClient({ nodes: this.nodes, random, token: this.tokens[account], deadline: this.deadline, maxRunMs: this.maxRunMs });
  }

  // ---- load ----
  // Starts `runs` runs, or runs while `runs(begun)` is true, with the concurrency that the accounts may have.
  async load(runs) {
    const startMore = typeof runs === 'function' ? runs : (begun) => begun < runs;
    let next = 0;
    this.allBegun = false;
    const work = async (account, random) => {
      const client = this.client(account, random);
      while (startMore(next)) {
        const number = next++;
        await this.startAndRead(client, random, account, number).catch((e) => this.violations.push(`run number ${number}: ${e.stack}`));
      }
      this.allBegun = true;
    };
    const all = [];
    for (let i = 0; i < this.accounts * this.limit; i++) all.push(work(i % this.accounts, this.random.fork()));
    await Promise.all(all);
  }
  async startAndRead(client, random, account, number) {
    const prompt = promptOf(this.plan(random), `number ${number}`);
    const began = Date.now();
    const r = await client.start(prompt);
    if (r.status !== 200) {
      this.violations.push(`start ${number} was refused: ${r.status} ${r.text}`);
      return;
    }
    const c = { run: r.json.agent_run_id, prompt, account, stopRequested: false, began, answered: Date.now() };
    const avoid = this.elsewhere ? r.node : undefined;
    this.done.push(c);
    const others = [];
    for (let i = random.weighted([[7, 0], [2, 1], [1, 3]]); i > 0; i--)
      others.push(this.client(account, random.fork()).read(c.run, { cuts: 0.05, avoid }));
    const inProtocols = [];
    if (this.protocols && random.chance(0.4))
      for (const protocol of [agui, aisdk]) inProtocols.push(this.client(account, random.fork()).read(c.run, { cuts: 0.03, avoid, protocol, thread: r.json.thread_id }));
    let stopping;
    if (random.chance(0.15)) {
      const after = random.between(0, 1500);
      stopping = sleep(after).then(async () => {
        c.stopRequested = true;
        const answer = await this.client(account, random.fork()).stop(c.run);
        if (answer.status !== 200) this.violations.push(`stop of ${c.run} returned ${answer.status} ${answer.text}`);
        else c.stopStatus = answer.json.status;
      });
    }
    c.reader = await client.read(c.run, { cuts: 0.01, avoid, onEvent: (e) => (c.lastEventAt = e.$at) });
    c.others = await Promise.all(others);
    c.inProtocols = await Promise.all(inProtocols);
    await stopping;
  }

  // ---- faults ----
  #record(fault) { this.injected[fault] = (this.injected[fault] ?? 0) + 1; }
  // `required`: faults that are injected as often as they are listed, in addition to the random schedule.
  async injectFaults(until, { minPause = 250, maxPause = 1200, required = [] } = {}) {
    const random = this.random.fork();
    const pending = new Set();
    const runInBackground = (task) => {
      const p = task.catch((e) => this.violations.push(`fault injection: ${e.stack}`)).finally(() => pending.delete(p));
      pending.add(p);
    };
    let restarting = false;
    const finished = { yes: false };
    until.finally(() => (finished.yes = true));
    while (!finished.yes) {
      // Fewer faults near the end, so that the last model responses can complete.
      await Promise.race([sleep(random.between(minPause, maxPause) * (this.allBegun ? 4 : 1)), until]);
      if (finished.yes) break;
      const fault = required.find((name, i) => (this.injected[name] ?? 0) < required.slice(0, i + 1).filter((n) => n === name).length) ?? random.weighted([[5, 'kill'], [3, 'shutdown'], [2, 'freeze'], [4, 'connections'], [1, 'postgres']]);
      const node = this.nodes.any(random);
      const spare = this.nodes.alive().length > 1;
      const pause = random.between(0, 1200);
      if (fault === 'kill' && spare) {
        this.#record(fault);
        runInBackground((async () => { await this.nodes.kill(node); await sleep(pause); await this.up(node); })());
      } else if (fault === 'shutdown' && spare) {
        this.#record(fault);
        runInBackground((async () => {
          const exit = await this.nodes.stop(node);
          if (exit.code !== 0) this.violations.push(`${node.name} exited with ${JSON.stringify(exit)} after SIGTERM`);
          await sleep(pause);
          await this.up(node);
        })());
      } else if (fault === 'freeze' && spare) {
        this.#record(fault);
        this.nodes.freeze(node);
        runInBackground(sleep(500 + 4 * pause).then(() => this.nodes.thaw(node)));
      } else if (fault === 'connections' && this.postgres.up) {
        this.#record(fault);
        const share = random.pick([0.1, 0.3, 1]);
        runInBackground(this.postgres.rows(`select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid() and random() < ${share}`).catch(() => {}));
      } else if (fault === 'postgres' && !restarting) {
        this.#record(fault);
        restarting = true;
        runInBackground((async () => {
          await this.postgres.stop('immediate');
          await sleep(pause);
          await this.postgres.start();
          restarting = false;
        })());
      }
    }
    while (pending.size) await Promise.all(pending);
  }
  async up(node) {
    // The database may be unavailable at this moment; retries like a service manager.
    for (;;) {
      try { return await this.nodes.up(node); } catch (e) {
        if (Date.now() > this.deadline) throw e;
        await sleep(200);
      }
    }
  }

  // ---- afterwards ----
  async verify() {
    for (const node of this.nodes.all) if (node.state !== 'up') await this.up(node);
    await waitFor('all jobs to end', async () =>
      (await this.postgres.value(`select count(*) from core.job where kind not like 'core.%' and kind not in ('runs.prune', 'runs.admit', 'runs.trim_log')`)) === '0', 30000).catch((e) => this.violations.push(e.message));
    const violations = [...this.violations, ...this.nodes.died, ...await checkAll(this.postgres, this.done)];
    const longPrompt = promptOf({ chunks: 600, pace: 50 }, 'hold the slot');
    violations.push(...await checkSlots(this.tokens.map((_, i) => this.client(i)), this.limit, longPrompt));
    return violations;
  }
  abortedTurns() { return this.postgres.value(`select count(*) from runs.event where payload like '{"type": "turn_aborted"%'`); }
  async summary() {
    const by = await this.postgres.rows('select status, count(*) from runs.runs group by 1 order by 1');
    const aborted = await this.abortedTurns();
    const gaps = await this.postgres.value(`select count(*) from runs.event where payload like '{"type": "gap"%'`);
    const connections = this.done.reduce((n, c) => n + (c.reader?.connections ?? 0), 0);
    return `runs: ${by.map((r) => r.join(' ')).join(', ')}; faults: ${JSON.stringify(this.injected)}; aborted responses: ${aborted}; ` +
      `gap events: ${gaps}; connections of readers: ${connections}; provider disconnects: ${this.llm.state.disconnected}`;
  }
}
