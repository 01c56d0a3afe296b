// The walk: requests of all operations by all actors, each held against the checks.
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { checkContract } from '../../e2e/lib/openapi.mjs';
import { slow, waitFor } from '../../e2e/lib/server.mjs';
import { Checks } from './checks.mjs';
import { inventory } from './deployment.mjs';
import { Known } from './known.mjs';
import { RequestMaker, commandOf, operationsOf } from './requests.mjs';
import { Random } from './values.mjs';
import { WireClient } from './wire.mjs';

// A server of another party that does not answer is a 502 or 504 of these, and so are addresses that a mutated request names.
const outward = /\/custom-mcp-tools|^\/admin\/mcp\/|^\/mcp\/profiles\/\{id\}\/connect|^\/mcp\/oauth\/(callback|connect)/;

export const descriptors = (pid) => readdirSync(`/proc/${pid}/fd`).length;

// Modules that an administrator may take out for a moment; without the others nothing is left to walk.
const expendable = new Set(['referrals', 'webhooks', 'mcp_sse', 'llm_offline']);

const users = ['ann', 'ben', 'admin'];

// Requests that end all tokens of their account. At the rate of the walk an account would rarely have a token that works,
// so an actor sends each of them only after a pause.
const endsTokens = /^(DELETE \/auth\/sessions|POST \/auth\/(password|reset\/complete))$/;
const pauseMs = 60000;

// A token that was issued in the second in which the tokens of its account ended is refused as well.
const renewMs = 2000;

export class Walk {
  // `world`: of deployment.mjs. `log(line)` is called for each finding. A response that takes longer than `limitMs` is one.
  constructor(world, { seed, log = () => {}, limitMs = 45000 * slow }) {
    Object.assign(this, { world, seed, log, limitMs, actors: [...users, 'anonymous'] });
    this.contract = checkContract(world.server.url);
    this.wire = new WireClient(world.server.url);
    this.findings = new Map();
    this.sent = 0;
    this.statuses = {};
    this.renewed = new Map();  // actor -> time of its latest tokens
    this.ended = new Map();  // actor and operation -> time at which it last ended the actor's tokens
    this.expendable = new Map();  // actor -> subject of an account that the actor may close
    this.away = 0;  // requests in progress that disable a module
    this.awayUntil = 0;
    this.successes = new Map();
    this.refusals = new Map();  // operation -> the last answer to a request as described that was no success
  }

  async prepare() {
    await this.contract.read();
    this.operations = operationsOf(this.contract.document.json);
    this.known = new Known(this.world, JSON.stringify(this.contract.document.json));
    this.checks = new Checks(this.world, this.contract, this.known, (request, status) => (status === 502 || status === 504) && outward.test(request.at.path));
    this.maker = new RequestMaker(this.world, this.contract.document, this.known);
  }

  report({ what, detail }, request, n) {
    const key = `${what} | ${request ? request.at.name : ''} | ${detail.replace(/[0-9a-f-]{16,}|\d+/g, '#').slice(0, 90)}`;
    const known = this.findings.get(key);
    if (known) { known.count++; return; }
    const finding = { what, detail, count: 1, actor: request?.actor, operation: request?.at.name, mutated: request?.mutated, number: n, command: request && commandOf(request, this.world.server.url) };
    this.findings.set(key, finding);
    this.log(`FINDING ${what} (${finding.actor ?? ''} ${finding.operation ?? ''}; ${finding.mutated?.join(', ') || 'as described'}; request ${n})\n  ${detail}\n  ${finding.command ?? ''}`);
  }

  #credential(actor, r) {
    const person = this.world[actor];
    if (actor === 'anonymous') return undefined;
    if (actor === 'admin') return `Bearer ${person.token}`;
    const x = r.next();
    if (x < 0.25 && person.session) return `Bearer ${person.session.access_token}`;
    if (x < 0.4 && person.keys.length) return `Bearer ${r.pick(person.keys)}`;
    return `Bearer ${person.api.token}`;
  }

  // Closing its account would leave an actor without the objects that the walk is about, so an account made for the purpose is closed.
  #ofExpendable(actor) {
    if (!this.expendable.has(actor)) this.expendable.set(actor, randomUUID());
    const subject = this.expendable.get(actor);
    return `Bearer ${this.world.server.token({ subject, ...(actor === 'admin' ? { role: 'super_admin' } : { email: `${subject}@example.test` }) })}`;
  }

  // Requests that would end the walk, or leave an actor without a token, are sent with care or not at all.
  #careful(request) {
    const { path } = request.at;
    if (endsTokens.test(`${request.method} ${path}`) && request.actor !== 'anonymous') {
      const act = `${request.actor} ${request.at.name}`;
      if (Date.now() - (this.ended.get(act) ?? 0) < pauseMs) return false;
      this.ended.set(act, Date.now());
    }
    if (request.actor !== 'admin') return true;
    if (/^\/admin\/modules\/\{name\}\/disable/.test(path)) return request.method !== 'POST' || expendable.has(request.pathId);
    return true;
  }

  async one(n, at, actor, valid) {
    const r = new Random(this.seed, n);
    at ??= r.pick(this.operations);
    actor ??= r.chance(0.1) ? 'anonymous' : r.pick(users);
    valid ??= r.chance(0.2);
    if (/\/(reload|drain)$/.test(at.path) && actor === 'admin' && !r.chance(0.05)) return undefined;
    const closes = actor !== 'anonymous' && at.path === '/account' && (at.method === 'DELETE' || !valid);
    const request = this.maker.make(at, actor, r, closes ? this.#ofExpendable(actor) : this.#credential(actor, r), { valid });
    if (!this.#careful(request)) return undefined;
    const disables = at.path === '/admin/modules/{name}/disable' && request.method === 'POST';
    if (disables) this.away++;
    const began = Date.now();
    const response = await this.wire.exchange(request.bytes, { method: request.method, limitMs: this.limitMs, fresh: r.chance(0.2), halfClose: request.halfClose });
    this.sent++;
    this.slowest = Math.max(this.slowest ?? 0, response.ms);
    this.statuses[response.status ?? 'none'] = (this.statuses[response.status ?? 'none'] ?? 0) + 1;
    if (!request.mutated.length && response.status >= 400) this.refusals.set(at.name, `${response.status} ${response.body.toString('utf8', 0, 120)}`);
    // A module that the walk itself has disabled for a moment has no routes.
    const mayBeAway = response.status === 404 && (this.away > 0 || this.awayUntil >= began);
    const found = this.checks.examine(request, response).filter((f) => !(mayBeAway && f.what === 'a response that is not as described'));
    for (const f of found) this.report(f, request, n);
    if (response.status >= 200 && response.status < 400) {
      if (!request.mutated.length || request.method === at.method) this.successes.set(at.name, (this.successes.get(at.name) ?? 0) + 1);
      if (request.placed.length) this.known.stored(actor, request.placed);
      if (found.length === 0 && response.status < 300) this.known.learn(request, response.body.toString('utf8'), response.json);
      await this.#after(request, response);
    }
    if (disables) {
      this.away--;
      this.awayUntil = Date.now();
    }
    if (response.status === 401 && request.credential === request.sentCredential) await this.#renew(request);
    return response;
  }

  // Undoes what would end the walk, and keeps what later requests need.
  async #after(request, response) {
    const { at, actor } = request;
    const person = this.world[actor];
    if (request.method === 'DELETE' && at.path === '/account') this.expendable.delete(actor);
    if (request.method !== at.method) return;
    if (at.path === '/admin/modules/{name}/disable') await this.world.admin.post(`/admin/modules/${request.pathId}/enable`);
    if (at.path === '/admin/nodes/{id}/drain') await this.world.admin.post(`/admin/nodes/${request.pathId}/undrain`);
    if (!person?.email) return;
    if (/^\/auth\/(log-in|refresh|reset\/complete)$/.test(at.path) && response.json?.account_id === person.id && response.json.refresh_token) person.session = response.json;
    if (at.path === '/api-keys' && response.json?.key) {
      person.keys.push(response.json.key);
      if (person.keys.length > 8) person.keys.splice(1, 1);
    }
    if (/^\/auth\/(password|reset\/complete)$/.test(at.path)) {
      try {
        const sent = JSON.parse(request.body.toString());
        person.password = sent.new_password ?? sent.password ?? person.password;
      } catch { /* a text that JSON.parse() does not read was not taken */ }
    }
  }
  // A change of the password and a log-out of all sessions end earlier tokens; without new ones the rest of the walk would be anonymous.
  async #renew({ actor, credential }) {
    const person = this.world[actor];
    if (!person) return;
    const key = person.keys?.findIndex((k) => credential === `Bearer ${k}`) ?? -1;
    if (key >= 0) person.keys.splice(key, 1);
    if (Date.now() - (this.renewed.get(actor) ?? 0) < renewMs) return;
    this.renewed.set(actor, Date.now());
    if (actor === 'admin' && credential === `Bearer ${person.token}`) this.world.admin = this.world.newAdmin(person.id);
    if (!person.email) return;
    if (credential === `Bearer ${person.api.token}`) person.newToken();
    if (person.session && credential === `Bearer ${person.session.access_token}`) person.session = undefined;
    if (!person.session) await person.logIn();
  }

  // Every operation as described, by an actor who may: what it answers feeds the later requests.
  async visitAll() {
    let n = 1_000_000_000;
    const rank = { POST: 0, PUT: 1, GET: 2, HEAD: 2, PATCH: 2, OPTIONS: 2, DELETE: 3 };
    const last = (o) => (/\/auth\/(log-out|sessions|password|reset\/complete)/.test(o.path) ? 10 : 0);
    const ordered = [...this.operations].sort((a, b) => last(a) + rank[a.method] - last(b) - rank[b.method]);
    for (const reads of [true, false, true])
      for (const at of ordered.filter((o) => (o.method === 'GET') === reads)) {
        if (/\/(disable|reload|drain)$/.test(at.path)) continue;
        const actors = at.path.startsWith('/admin/') ? ['admin'] : at.secured ? ['ann', 'ben'] : ['anonymous', 'ann'];
        for (const actor of actors.filter((a) => this.actors.includes(a))) await this.#visit(n += 10, at, actor);
      }
  }
  // One choice of optional members may contradict another, and a token may just have ended: a few attempts.
  async #visit(n, at, actor) {
    for (let i = 0; i < 6; i++) {
      const response = await this.one(n + i, at, actor, true);
      if (!response || (response.status ?? 500) < 400) return;
      if (response.status === 401 && at.secured) await new Promise((go) => setTimeout(go, renewMs));
    }
  }

  // Requests until `until(walk)`, `workers` at a time.
  async run({ until, workers = 6 }) {
    let n = 0, failure;
    this.began = Date.now();
    const alive = () => this.world.server.process.exitCode === null && this.world.server.process.signalCode === null;
    const work = async () => {
      while (!failure && !until(this)) {
        if (!alive()) {
          failure ??= 'the server ended';
          this.report({ what: 'the server ended', detail: (this.world.server.log ?? '').slice(-3000) });
          return;
        }
        await this.one(n++);
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  get neverSucceeded() { return this.operations.filter((o) => !this.successes.has(o.name)).map((o) => o.name); }
  // Seconds since run() began.
  get seconds() { return (Date.now() - this.began) / 1000; }
  close() { this.wire.close(); }
}

// Waits until the server holds no more descriptors than `most`; the number at the end.
export async function descriptorsAtRest(pid, most, ms = 30000 * slow) {
  let now;
  await waitFor('descriptors', () => (now = descriptors(pid)) <= most, ms).catch(() => {});
  return now;
}

// The walk of a deployment from its start to the exit of its server. Resolves to the counts and findings.
export async function walkDeployment(world, { seed, until, workers, log = () => {} }) {
  const walk = new Walk(world, { seed, log });
  const { pid } = world.server.process;
  try {
    await walk.prepare();
    await walk.visitAll();
    const before = descriptors(pid);
    await walk.run({ until, workers });
    walk.close();
    const alive = world.server.process.exitCode === null && world.server.process.signalCode === null;
    if (alive) {
      const most = before + 40;
      const now = await descriptorsAtRest(pid, most);
      if (now > most) walk.report({ what: 'descriptors', detail: `${before} after each operation was called once, ${now} at the end` });
      const after = await inventory(world);
      for (const [name, value] of Object.entries(after))
        if (value !== world.before[name]) walk.report({ what: 'data of an account that took no part was changed', detail: `${name}: ${world.before[name]} -> ${value}` });
      const exit = await world.server.stop();
      if (exit.code !== 0) walk.report({ what: 'the exit of the server', detail: `${JSON.stringify(exit)} ${world.server.log.slice(-2000)}` });
    }
    const { log: text } = world.server;
    const sanitizer = /^.*(AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:)[^]{0,4000}/m.exec(text);
    if (sanitizer) walk.report({ what: 'a sanitizer’s report', detail: sanitizer[0] });
    for (const name of ['ann', 'ben', 'cyd'])
      for (const secret of [`pass ${world[name].marker} word`, `header ${world[name].marker} secret`, `credential ${world[name].marker} secret`, ...world[name].keys])
        if (text.includes(secret)) walk.report({ what: 'a secret in the log', detail: text.slice(Math.max(0, text.indexOf(secret) - 200)).slice(0, 500) });
  } finally {
    walk.close();
  }
  return walk;
}

