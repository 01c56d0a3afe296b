// The ids that each actor has received in responses, and their owners.
import { kindOf } from './requests.mjs';

const maxIds = 60;
const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
export const uuidsIn = (text) => new Set((text.match(uuids) ?? []).map((u) => u.toLowerCase()));

const byMember = { agent_id: 'agent', agent_run_id: 'run', thread_id: 'thread', project_id: 'project', profile_id: 'profile', account_id: 'account', referral_code: 'code', device_token: 'device' };
// The kind of the members "id" and "name" in the responses of a path.
const lists = [[/^\/api-keys/, 'api_key'], [/^\/auth\/sessions/, 'session'], [/inbox/, 'inbox'], [/^\/admin\/jobs/, 'job'], [/^\/admin\/mail/, 'mail'],
  [/^\/admin\/notifications\/broadcasts/, 'broadcast'], [/^\/admin\/notifications/, 'notification'], [/^\/admin\/referrals/, 'referral'], [/^\/admin\/nodes/, 'node'], [/^\/admin\/modules/, 'module'], [/^\/admin\/webhooks/, 'webhook']];

export class Known {
  #pools = new Map();    // "actor kind" -> ids
  #gone = new Map();
  #owner = new Map();    // uuid -> actor
  #stored = new Map();   // actor -> values of others that the actor itself stored
  #tokens = [];          // for event streams, each valid for one path
  placed = [];           // values of others in the current request
  // `document`: public text.
  constructor(deployment, document) {
    this.open = uuidsIn(document);
    this.deployment = deployment;
    this.victims = new Set(Object.values(deployment.owns.cyd).flat());
    for (const [actor, own] of Object.entries(deployment.owns)) {
      for (const [kind, ids] of Object.entries(own)) for (const id of ids.filter(Boolean)) {
        if (actor !== 'cyd') this.add(actor, kind, id);
        if (['account', 'code', 'referral', 'run'].includes(kind) && actor !== 'cyd') this.add('admin', kind, id);
        if (uuidsIn(id).size) this.#owner.set(id, actor);
      }
    }
    for (const actor of ['ann', 'ben', 'anonymous', 'admin']) {
      this.add(actor, 'orchestrator', 'builtin');
      this.add(actor, 'address', 'refused.ann@example.test');
    }
  }
  add(actor, kind, id) {
    if (actor === 'admin' && this.victims.has(id)) return;
    if (this.open.has(id)) return;  // an example in the document
    const pool = this.#pool(this.#pools, actor, kind);
    if (pool.includes(id)) return;
    if (pool.length >= maxIds) pool.splice(Math.floor(pool.length / 2), 1);
    pool.push(id);
  }
  #pool(map, actor, kind) {
    const key = `${actor} ${kind}`;
    if (!map.has(key)) map.set(key, []);
    return map.get(key);
  }
  pick(actor, kind, r) {
    const pool = this.#pool(this.#pools, actor, kind);
    if (pool.length === 0) return undefined;
    return r.chance(0.3) ? pool[0] : r.pick(pool);
  }
  deleted(actor, kind, r) {
    const pool = this.#pool(this.#gone, actor, kind);
    return pool.length ? r.pick(pool) : undefined;
  }
  // Returns an id of another account, preferably of cyd, which sends no requests.
  foreign(actor, kind, r) {
    if (actor === 'admin') return undefined;
    const own = this.deployment.owns.cyd[kind];
    const id = own && r.chance(0.6) ? r.pick(own) : this.pick(actor === 'ann' ? 'ben' : 'ann', kind, r);
    if (id !== undefined) this.placed.push(id);
    return id;
  }
  // Returns a stream token for another path.
  tokenOfAnotherPath(path, r) {
    const others = this.#tokens.filter((t) => t.path !== path);
    return others.length ? r.pick(others).token : undefined;
  }
  resetToken(actor) {
    const person = this.deployment[actor];
    const mail = person?.email && this.deployment.smtp.to(person.email).findLast((m) => m.raw.includes('#reset='));
    return mail ? /#reset=(?:3D)?([A-Za-z0-9_-]{43})/.exec(mail.parsed.text)?.[1] ?? 'x' : 'x';
  }

  // Values of others that an actor itself stored are not a leak when they are returned.
  stored(actor, values) {
    if (!this.#stored.has(actor)) this.#stored.set(actor, new Set());
    for (const v of values) this.#stored.get(actor).add(v);
  }
  hasStored(actor, value) { return this.#stored.get(actor)?.has(value) ?? false; }
  ownerOf(uuid) { return this.#owner.get(uuid); }

  // Records the ids of a successful response for later requests, and their owner.
  learn(request, text, json) {
    const { actor, at } = request;
    if (request.method === 'DELETE' && request.pathId !== undefined && !request.foreignPath) {
      const pool = this.#pool(this.#pools, actor, request.kind);
      const i = pool.indexOf(request.pathId);
      if (i >= 0) {
        pool.splice(i, 1);
        this.#pool(this.#gone, actor, request.kind).push(request.pathId);
      }
    }
    // With another credential the response is not for the actor: anonymous clients get an alias of the account of a
    // code.
    if ((actor === 'ann' || actor === 'ben') && request.credential === request.sentCredential) {
      const sent = uuidsIn(request.bytes.toString('latin1'));
      for (const u of uuidsIn(text)) if (!sent.has(u) && !this.#owner.has(u) && !this.open.has(u)) this.#owner.set(u, actor);
    }
    if (json !== undefined) this.#collect(actor, at.path, json, 0);
    if (at.path.endsWith('/stream-token') && json?.token) {
      // The path in the token: the request may have used another spelling.
      this.#tokens.push({ token: json.token, path: JSON.parse(Buffer.from(json.token.split('.')[1], 'base64url')).path });
      if (this.#tokens.length > maxIds) this.#tokens.shift();
    }
    if (at.path === '/console') for (const [, name] of text.matchAll(/assets\/([\w.-]+)/g)) this.add(actor, 'asset', name);
  }
  #collect(actor, path, node, depth) {
    if (node === null || typeof node !== 'object' || depth > 6) return;
    if (Array.isArray(node)) {
      for (const v of node.slice(0, 50)) this.#collect(actor, path, v, depth + 1);
      return;
    }
    for (const [name, value] of Object.entries(node)) {
      if (typeof value === 'string' && value !== '') {
        if (name in byMember) this.add(actor, byMember[name], value);
        const kind = lists.find(([pattern]) => pattern.test(path))?.[1];
        if (kind && (name === 'id' || (name === 'name' && (kind === 'webhook' || (kind === 'module' && depth < 2 && /^\w+$/.test(value)))))) this.add(actor, kind, value);
        if (kind === 'node' && name === 'node_id') this.add(actor, 'node', value);
        if (name === 'next_cursor') this.add(actor, `cursor ${path}`, value);
        if (name === 'connect_url') this.add(actor, 'ticket', new URL(value).searchParams.get('ticket') ?? value);
        if (kindOf(path) === 'mail' && name === 'address') this.add(actor, 'address', value);
      } else if (typeof value === 'number' && name === 'id') {
        const kind = lists.find(([pattern]) => pattern.test(path))?.[1];
        if (kind) this.add(actor, kind, String(value));
      } else this.#collect(actor, path, value, depth + 1);
    }
  }
}
