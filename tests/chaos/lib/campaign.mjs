// Runs under load while a schedule from a seed kills what it stands on.
import { sleep, waitFor } from '../../e2e/lib/server.mjs';
import { checkAll, checkSlots } from './checks.mjs';
import { ChaosClient } from './client.mjs';
import { promptOf, startModel } from './model.mjs';
import { Nodes } from './nodes.mjs';
import { Postgres } from './postgres.mjs';
import { seeded } from './random.mjs';

const planned = (random) => ({
  tools: random.weighted([[4, 0], [3, 1], [2, 2], [1, 3]]),
  chunks: random.weighted([[3, 5], [4, 20], [2, 60], [1, 120]]),
  pace: random.weighted([[2, 0], [4, 10], [3, 25]]),
  tool: random.weighted([[3, 'true'], [1, 'echo working; sleep 1; echo done']]),
});

export class Campaign {
  // limit: concurrent runs of an account, 3 in the tier pro. plan: of a run, see promptOf. elsewhere: runs are
  // read at other nodes than the one that started them. longest: see ChaosClient. postgres: an existing one, instead of its own.
  constructor({ seed, nodes = 3, accounts = 8, giveUp = 240000, cuts = 0.04, lease = 2, crashes, settings, limit = 3, plan = planned, elsewhere, longest, postgres }) {
    Object.assign(this, { seed, count: nodes, accounts, cuts, lease, crashes, settings, limit, plan, elsewhere, longest, postgres });
    this.random = seeded(seed);
    this.giveUp = Date.now() + giveUp;
    this.done = [];
    this.acts = {};
    this.wrong = [];
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
    return new ChaosClient({ nodes: this.nodes, random, token: this.tokens[account], giveUp: this.giveUp, longest: this.longest });
  }

  // ---- load ----
  // Starts `runs` runs, or runs while `runs(begun)` is true, with the concurrency that the accounts may have.
  async load(runs) {
    const more = typeof runs === 'function' ? runs : (begun) => begun < runs;
    let next = 0;
    this.allBegun = false;
    const work = async (account, random) => {
      const client = this.client(account, random);
      while (more(next)) {
        const number = next++;
        await this.one(client, random, account, number).catch((e) => this.wrong.push(`run number ${number}: ${e.stack}`));
      }
      this.allBegun = true;
    };
    const all = [];
    for (let i = 0; i < this.accounts * this.limit; i++) all.push(work(i % this.accounts, this.random.fork()));
    await Promise.all(all);
  }
  async one(client, random, account, number) {
    const prompt = promptOf(this.plan(random), `number ${number}`);
    const began = Date.now();
    const r = await client.start(prompt);
    if (r.status !== 200) {
      this.wrong.push(`start ${number} was refused: ${r.status} ${r.text}`);
      return;
    }
    const c = { run: r.json.agent_run_id, prompt, account, stopRequested: false, began, answered: Date.now() };
    const not = this.elsewhere ? r.node : undefined;
    this.done.push(c);
    const others = [];
    for (let i = random.weighted([[7, 0], [2, 1], [1, 3]]); i > 0; i--)
      others.push(this.client(account, random.fork()).read(c.run, { cuts: 0.05, not }));
    let stopping;
    if (random.chance(0.15)) {
      const after = random.between(0, 1500);
      stopping = sleep(after).then(async () => {
        c.stopRequested = true;
        const answer = await this.client(account, random.fork()).stop(c.run);
        if (answer.status !== 200) this.wrong.push(`stop of ${c.run} answered ${answer.status} ${answer.text}`);
        else c.stopStatus = answer.json.status;
      });
    }
    c.reader = await client.read(c.run, { cuts: 0.01, not, onEvent: (e) => (c.heard = e.$at) });
    c.others = await Promise.all(others);
    await stopping;
  }

  // ---- disaster ----
  #note(name) { this.acts[name] = (this.acts[name] ?? 0) + 1; }
  // `sure`: acts that happen, as often as they stand there, whatever chance says.
  async disasters(until, { least = 250, most = 1200, sure = [] } = {}) {
    const random = this.random.fork();
    const pending = new Set();
    const later = (task) => {
      const p = task.catch((e) => this.wrong.push(`disaster: ${e.stack}`)).finally(() => pending.delete(p));
      pending.add(p);
    };
    let restarting = false;
    const over = { yes: false };
    until.finally(() => (over.yes = true));
    while (!over.yes) {
      // The last runs get the calm that an answer needs to be given to its end.
      await Promise.race([sleep(random.between(least, most) * (this.allBegun ? 4 : 1)), until]);
      if (over.yes) break;
      const act = sure.find((name, i) => (this.acts[name] ?? 0) < sure.slice(0, i + 1).filter((n) => n === name).length) ?? random.weighted([[5, 'kill'], [3, 'leave'], [2, 'freeze'], [4, 'connections'], [1, 'postgres']]);
      const node = this.nodes.any(random);
      const spare = this.nodes.alive().length > 1;
      const pause = random.between(0, 1200);
      if (act === 'kill' && spare) {
        this.#note(act);
        later((async () => { await this.nodes.kill(node); await sleep(pause); await this.up(node); })());
      } else if (act === 'leave' && spare) {
        this.#note(act);
        later((async () => {
          const exit = await this.nodes.leave(node);
          if (exit.code !== 0) this.wrong.push(`${node.name} ended with ${JSON.stringify(exit)} after SIGTERM`);
          await sleep(pause);
          await this.up(node);
        })());
      } else if (act === 'freeze' && spare) {
        this.#note(act);
        this.nodes.freeze(node);
        later(sleep(500 + 4 * pause).then(() => this.nodes.thaw(node)));
      } else if (act === 'connections' && this.postgres.up) {
        this.#note(act);
        const share = random.pick([0.1, 0.3, 1]);
        later(this.postgres.rows(`select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid() and random() < ${share}`).catch(() => {}));
      } else if (act === 'postgres' && !restarting) {
        this.#note(act);
        restarting = true;
        later((async () => {
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
    // The database may be away just now: an operator's supervisor tries again.
    for (;;) {
      try { return await this.nodes.up(node); } catch (e) {
        if (Date.now() > this.giveUp) throw e;
        await sleep(200);
      }
    }
  }

  // ---- afterwards ----
  async verify() {
    for (const node of this.nodes.all) if (node.state !== 'up') await this.up(node);
    await waitFor('the end of all jobs', async () =>
      (await this.postgres.value(`select count(*) from core.job where kind not like 'core.%' and kind not in ('runs.prune', 'runs.admit', 'runs.trim_log')`)) === '0', 30000).catch((e) => this.wrong.push(e.message));
    const wrong = [...this.wrong, ...this.nodes.died, ...await checkAll(this.postgres, this.done)];
    const held = promptOf({ chunks: 600, pace: 50 }, 'hold the slot');
    wrong.push(...await checkSlots(this.tokens.map((_, i) => this.client(i)), this.limit, held));
    return wrong;
  }
  answersGivenUp() { return this.postgres.value(`select count(*) from runs.event where payload like '{"type": "turn_aborted"%'`); }
  async summary() {
    const by = await this.postgres.rows('select status, count(*) from runs.runs group by 1 order by 1');
    const take = await this.answersGivenUp();
    const gaps = await this.postgres.value(`select count(*) from runs.event where payload like '{"type": "gap"%'`);
    const connections = this.done.reduce((n, c) => n + (c.reader?.connections ?? 0), 0);
    return `runs: ${by.map((r) => r.join(' ')).join(', ')}; disasters: ${JSON.stringify(this.acts)}; answers given up: ${take}; ` +
      `gap numbers: ${gaps}; connections of readers: ${connections}; provider cuts: ${this.llm.state.cut}`;
  }
}
