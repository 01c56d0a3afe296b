// The walk: requests to all operations by all actors; every response is checked.
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

// These operations return 502 or 504 if a third-party server does not respond, or if a mutated request contains its
// URL.
const outward = /\/custom-mcp-tools|^\/admin\/mcp\/|^\/mcp\/profiles\/\{id\}\/connect|^\/mcp\/oauth\/(callback|connect)/;

export const descriptors = (pid) => readdirSync(`/proc/${pid}/fd`).length;

// Modules that an administrator may disable for a moment; the walk needs the others.
const disableable = new Set(['referrals', 'webhooks', 'mcp_sse', 'llm_offline']);

const users = ['ann', 'ben', 'admin'];

// Requests that revoke all tokens of their account. At the rate of the walk an account would rarely have a valid token,
// so an actor sends each of them only after a pause.
const endsTokens = /^(DELETE \/auth\/sessions|POST \/auth\/(password|reset\/complete))$/;
const pauseMs = 60000;

// A token that was issued in the same second as the revocation is rejected as well.
const renewMs = 2000;

export class Walk {
  // `deployment`: see deployment.mjs. `log(line)` is called for each finding. A response that takes longer than
  // `limitMs` is a finding.
  constructor(deployment, { seed, log = () => {}, limitMs = 45000 * slow }) {
    Object.assign(this, { deployment, seed, log, limitMs, actors: [...users, 'anonymous'] });
    this.contract = checkContract(deployment.server.url);
    this.wire = new WireClient(deployment.server.url);
    this.findings = new Map();
    this.sent = 0;
    this.statuses = {};
    this.renewed = new Map();  // actor -> time of its latest tokens
    this.ended = new Map();  // actor and operation -> time at which it last ended the actor's tokens
    this.expendable = new Map();  // actor -> subject of an account that the actor may close
    this.away = 0;  // requests in progress that disable a module
    this.awayUntil = 0;
    this.successes = new Map();
    this.refusals = new Map();  // operation -> the last error response to a valid request
  }

  async prepare() {
    await this.contract.read();
    this.operations = operationsOf(this.contract.document.json);
    this.known = new Known(this.deployment, JSON.stringify(this.contract.document.json));
    this.checks = new Checks(this.deployment, this.contract, this.known, (request, status) => (status === 502 || status === 504) && outward.test(request.at.path));
    this.maker = new RequestMaker(this.deployment, this.contract.document, this.known);
  }

  report({ kind, detail }, request, n) {
    const key = `${kind} | ${request ? request.at.name : ''} | ${detail.replace(/[0-9a-f-]{16,}|\d+/g, '#').slice(0, 90)}`;
    const known = this.findings.get(key);
    if (known) { known.count++; return; }
    const finding = { kind, detail, count: 1, actor: request?.actor, operation: request?.at.name, mutated: request?.mutated, number: n, command: request && commandOf(request, this.deployment.server.url) };
    this.findings.set(key, finding);
    this.log(`FINDING ${kind} (${finding.actor ?? ''} ${finding.operation ?? ''}; ${finding.mutated?.join(', ') || 'as described'}; request ${n})\n  ${detail}\n  ${finding.command ?? ''}`);
  }

  #credential(actor, r) {
    const person = this.deployment[actor];
    if (actor === 'anonymous') return undefined;
    if (actor === 'admin') return `Bearer ${person.token}`;
    const x = r.next();
    if (x < 0.25 && person.session) return `Bearer ${person.session.access_token}`;
    if (x < 0.4 && person.keys.length) return `Bearer ${r.pick(person.keys)}`;
    return `Bearer ${person.api.token}`;
  }

  // Deleting its account would leave an actor without objects, so a separate account is deleted instead.
  #ofExpendable(actor) {
    if (!this.expendable.has(actor)) this.expendable.set(actor, randomUUID());
    const subject = this.expendable.get(actor);
    return `Bearer ${this.deployment.server.token({ subject, ...(actor === 'admin' ? { role: 'super_admin' } : { email: `${subject}@example.test` }) })}`;
  }

  // Whether a request may be sent: some would end the walk or leave an actor without a token.
  #maySend(request) {
    const { path } = request.at;
    if (endsTokens.test(`${request.method} ${path}`) && request.actor !== 'anonymous') {
      const act = `${request.actor} ${request.at.name}`;
      if (Date.now() - (this.ended.get(act) ?? 0) < pauseMs) return false;
      this.ended.set(act, Date.now());
    }
    if (request.actor !== 'admin') return true;
    if (/^\/admin\/modules\/\{name\}\/disable/.test(path)) return request.method !== 'POST' || disableable.has(request.pathId);
    return true;
  }

  async send(n, at, actor, valid) {
    const r = new Random(this.seed, n);
    at ??= r.pick(this.operations);
    actor ??= r.chance(0.1) ? 'anonymous' : r.pick(users);
    valid ??= r.chance(0.2);
    if (/\/(reload|drain)$/.test(at.path) && actor === 'admin' && !r.chance(0.05)) return undefined;
    const closes = actor !== 'anonymous' && at.path === '/account' && (at.method === 'DELETE' || !valid);
    const request = this.maker.make(at, actor, r, closes ? this.#ofExpendable(actor) : this.#credential(actor, r), { valid });
    if (!this.#maySend(request)) return undefined;
    const disables = at.path === '/admin/modules/{name}/disable' && request.method === 'POST';
    if (disables) this.away++;
    const began = Date.now();
    const response = await this.wire.exchange(request.bytes, { method: request.method, limitMs: this.limitMs, fresh: r.chance(0.2), halfClose: request.halfClose });
    this.sent++;
    this.slowest = Math.max(this.slowest ?? 0, response.ms);
    this.statuses[response.status ?? 'none'] = (this.statuses[response.status ?? 'none'] ?? 0) + 1;
    if (!request.mutated.length && response.status >= 400) this.refusals.set(at.name, `${response.status} ${response.body.toString('utf8', 0, 120)}`);
    // A module that the walk itself has temporarily disabled has no routes.
    const mayBeAway = response.status === 404 && (this.away > 0 || this.awayUntil >= began);
    const found = this.checks.examine(request, response).filter((f) => !(mayBeAway && f.kind === 'a response that is not as described'));
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

  // Reverts effects that would end the walk, and stores data for later requests.
  async #after(request, response) {
    const { at, actor } = request;
    const person = this.deployment[actor];
    if (request.method === 'DELETE' && at.path === '/account') this.expendable.delete(actor);
    if (request.method !== at.method) return;
    if (at.path === '/admin/modules/{name}/disable') await this.deployment.admin.post(`/admin/modules/${request.pathId}/enable`);
    if (at.path === '/admin/nodes/{id}/drain') await this.deployment.admin.post(`/admin/nodes/${request.pathId}/undrain`);
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
      } catch { /* a body that is not JSON was not accepted */ }
    }
  }
  // A password change and a log-out of all sessions revoke earlier tokens; without new ones the rest of the walk would
  // be anonymous.
  async #renew({ actor, credential }) {
    const person = this.deployment[actor];
    if (!person) return;
    const key = person.keys?.findIndex((k) => credential === `Bearer ${k}`) ?? -1;
    if (key >= 0) person.keys.splice(key, 1);
    if (Date.now() - (this.renewed.get(actor) ?? 0) < renewMs) return;
    this.renewed.set(actor, Date.now());
    if (actor === 'admin' && credential === `Bearer ${person.token}`) this.deployment.admin = this.deployment.newAdmin(person.id);
    if (!person.email) return;
    if (credential === `Bearer ${person.api.token}`) person.newToken();
    if (person.session && credential === `Bearer ${person.session.access_token}`) person.session = undefined;
    if (!person.session) await person.logIn();
  }

  // Sends a valid request to every operation, by a permitted actor: the responses provide ids for later requests.
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
  // Several attempts: optional members may contradict each other, and a token may just have been revoked.
  async #visit(n, at, actor) {
    for (let i = 0; i < 6; i++) {
      const response = await this.send(n + i, at, actor, true);
      if (!response || (response.status ?? 500) < 400) return;
      if (response.status === 401 && at.secured) await new Promise((go) => setTimeout(go, renewMs));
    }
  }

  // Sends requests until `until(walk)` is true, `workers` concurrently.
  async run({ until, workers = 6 }) {
    let n = 0, failure;
    this.began = Date.now();
    const alive = () => this.deployment.server.process.exitCode === null && this.deployment.server.process.signalCode === null;
    const work = async () => {
      while (!failure && !until(this)) {
        if (!alive()) {
          failure ??= 'the server exited';
          this.report({ kind: 'the server exited', detail: (this.deployment.server.log ?? '').slice(-3000) });
          return;
        }
        await this.send(n++);
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  get neverSucceeded() { return this.operations.filter((o) => !this.successes.has(o.name)).map((o) => o.name); }
  // Seconds since run() began.
  get seconds() { return (Date.now() - this.began) / 1000; }
  close() { this.wire.close(); }
}

// Waits until the server has at most `limit` open descriptors; returns their number.
export async function descriptorsAtRest(pid, limit, ms = 30000 * slow) {
  let count;
  await waitFor('descriptors', () => (count = descriptors(pid)) <= limit, ms).catch(() => {});
  return count;
}

// Walks a deployment until its server exits. Resolves to the walk with its counts and findings.
export async function walkDeployment(deployment, { seed, until, workers, log = () => {} }) {
  const walk = new Walk(deployment, { seed, log });
  const { pid } = deployment.server.process;
  try {
    await walk.prepare();
    await walk.visitAll();
    const before = descriptors(pid);
    await walk.run({ until, workers });
    walk.close();
    const alive = deployment.server.process.exitCode === null && deployment.server.process.signalCode === null;
    if (alive) {
      const limit = before + 40;
      const now = await descriptorsAtRest(pid, limit);
      if (now > limit) walk.report({ kind: 'descriptors', detail: `${before} after each operation was called once, ${now} at the end` });
      const after = await inventory(deployment);
      for (const [name, value] of Object.entries(after))
        if (value !== deployment.before[name]) walk.report({ kind: 'data of an uninvolved account was changed', detail: `${name}: ${deployment.before[name]} -> ${value}` });
      const exit = await deployment.server.stop();
      if (exit.code !== 0) walk.report({ kind: 'the exit of the server', detail: `${JSON.stringify(exit)} ${deployment.server.log.slice(-2000)}` });
    }
    const { log: text } = deployment.server;
    const sanitizer = /^.*(AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:)[^]{0,4000}/m.exec(text);
    if (sanitizer) walk.report({ kind: 'a sanitizer report', detail: sanitizer[0] });
    for (const name of ['ann', 'ben', 'cyd'])
      for (const secret of [`pass ${deployment[name].marker} word`, `header ${deployment[name].marker} secret`, `credential ${deployment[name].marker} secret`, ...deployment[name].keys])
        if (text.includes(secret)) walk.report({ kind: 'a secret in the log', detail: text.slice(Math.max(0, text.indexOf(secret) - 200)).slice(0, 500) });
  } finally {
    walk.close();
  }
  return walk;
}

