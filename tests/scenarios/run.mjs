// Executes the steps of one scenario.
import { createHmac } from 'node:crypto';
import http from 'node:http';
import { checkExchange } from '../e2e/lib/openapi.mjs';
import { gapless, statuses, textOf, Client } from '../e2e/lib/server.mjs';
import { filled, match, matchEvents } from './match.mjs';
import { randomUUID, sleep } from './environment.mjs';

const kinds = ['request', 'stream', 'sql', 'sleep', 'set', 'log', 'restart', 'received'];
const fields = {
  request: ['as', 'token', 'headers', 'form', 'files', 'json', 'body', 'times', 'retry_ms', 'expect', 'save'],
  stream: ['as', 'token', 'headers', 'query', 'until', 'expect', 'save'],
  sql: ['equals', 'within_ms'],
  sleep: [], set: [], restart: [], log: ['lacks', 'has'],
  received: ['headers', 'within_ms'],
};
const expectations = {
  request: ['status', 'statuses', 'headers', 'json', 'text', 'lacks', 'within_ms'],
  stream: ['status', 'headers', 'events', 'first', 'last', 'none', 'text', 'raw', 'raw_lacks', 'gapless', 'from', 'ended', 'json', 'within_ms'],
};

export class ScenarioError extends Error {}
const reject = (message) => { throw new ScenarioError(message); };

// Rejects keys that the runner would silently ignore.
export function checkStep(step, where) {
  const kind = kinds.filter((k) => k in step);
  if (kind.length !== 1) reject(`${where}: a step has exactly one of ${kinds.join(', ')}`);
  for (const key of Object.keys(step))
    if (key !== kind[0] && !fields[kind[0]].includes(key)) reject(`${where}: a ${kind[0]} has no "${key}"`);
  for (const key of Object.keys(step.expect ?? {}))
    if (!expectations[kind[0]].includes(key)) reject(`${where}: a ${kind[0]} cannot expect "${key}"`);
  if (kind[0] === 'restart' && !['kill', 'stop'].includes(step.restart)) reject(`${where}: restart is kill or stop`);
  if (kind[0] === 'request') {
    if (!/^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \//.test(step.request)) reject(`${where}: "${step.request}" is not a method and path`);
    if (!step.expect) reject(`${where}: a request needs expect`);
  }
  return kind[0];
}

function save(wanted, got, variables) {
  for (const [name, from] of Object.entries(wanted ?? {})) {
    const value = from.split('.').reduce((o, k) => (Array.isArray(o) && k === 'last' ? o.at(-1) : o?.[k]), got);
    if (value === undefined) throw new Error(`nothing to save as ${name} in ${from}: ${JSON.stringify(got).slice(0, 500)}`);
    variables[name] = value;
  }
}

const plain = (headers) => Object.fromEntries(headers.entries());

// Sends a header whose value is a list as several header lines, which fetch() cannot do.
async function sendLines(client, method, pathname, headers, body) {
  const lines = { ...headers };
  if (client.token) lines.authorization = `Bearer ${client.token}`;
  const encoded = body instanceof FormData ? new Request('http://x', { method: 'POST', body }) : undefined;
  if (encoded) lines['content-type'] = encoded.headers.get('content-type');
  const bytes = encoded ? Buffer.from(await encoded.arrayBuffer()) : Buffer.from(body ?? '');
  const got = await new Promise((resolve, reject) => {
    const r = http.request(client.url + pathname, { method, headers: { ...lines, 'content-length': bytes.length } }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (d) => (text += d));
      res.on('end', () => {
        let json;
        try { json = JSON.parse(text); } catch { json = undefined; }
        resolve({ status: res.statusCode, headers: new Headers(Object.entries(res.headers).map(([k, v]) => [k, String(v)])), text, json });
      });
    });
    r.on('error', reject);
    r.end(bytes);
  });
  await checkExchange(method, client.url + pathname, { headers: lines, body }, got);
  return got;
}

async function send(client, step) {
  const [method, pathname] = [step.request.slice(0, step.request.indexOf(' ')), step.request.slice(step.request.indexOf(' ') + 1)];
  const options = { headers: step.headers ?? {} };
  if (step.json !== undefined) options.json = step.json;
  if (step.body !== undefined) options.body = step.body;
  if (step.form || step.files) {
    options.form = { ...step.form };
    if (step.files) options.form.files = step.files.map((f) => ({ name: f.name, data: f.size ? Buffer.alloc(f.size, 'x') : f.data ?? '' }));
  }
  const began = performance.now();
  let r;
  if (Object.values(options.headers).some(Array.isArray)) {
    let body = options.body ?? (options.json !== undefined ? JSON.stringify(options.json) : undefined);
    if (options.form) {
      body = new FormData();
      for (const [k, v] of Object.entries(options.form)) body.append(k, v);
    }
    r = await sendLines(client, method, pathname, options.headers, body);
  } else {
    r = await client.request(method, pathname, options);
  }
  return { status: r.status, headers: plain(r.headers), text: r.text, json: r.json, ms: performance.now() - began };
}

function checkAnswer(expect, got) {
  const { status, headers, json, text, lacks, within_ms: within } = expect;
  if (status !== undefined) match(status, got.status, `status (${got.text.slice(0, 300)})`);
  if (headers) for (const [k, v] of Object.entries(headers)) match(v, got.headers[k.toLowerCase()], `header ${k}`);
  if (json !== undefined) match(json, got.json, 'body');
  for (const t of [text ?? []].flat()) match(t, got.text, 'text');
  for (const t of [lacks ?? []].flat()) if (got.text.includes(t)) throw new Error(`the body must not contain ${t}`);
  if (within !== undefined && got.ms > within) throw new Error(`took ${Math.round(got.ms)} ms, more than ${within}`);
}

async function request(step, client, variables) {
  const times = step.times ?? 1;
  const end = Date.now() + (step.retry_ms ?? 0);
  for (;;) {
    const all = await Promise.all(Array.from({ length: times }, () => send(client, step)));
    try {
      if (step.expect.statuses) {
        const counted = {};
        for (const a of all) counted[a.status] = (counted[a.status] ?? 0) + 1;
        match({ $only: step.expect.statuses }, counted, 'statuses');
      }
      // With `times`, only the responses with the expected status are checked.
      const checked = times > 1 && step.expect.status !== undefined ? all.filter((a) => a.status === step.expect.status) : all;
      if (times === 1 || step.expect.status !== undefined || step.expect.json !== undefined)
        for (const a of checked) checkAnswer(step.expect, a);
      save(step.save, checked[0] ?? all[0], variables);
      return;
    } catch (e) {
      if (Date.now() >= end) throw e;
      await sleep(50);
    }
  }
}

async function stream(step, client, variables) {
  const began = performance.now();
  const until = step.until ? (e) => { try { match(step.until, e); return true; } catch { return false; } } : undefined;
  const s = await client.stream(step.stream, { headers: step.headers, query: step.query ?? '', until });
  const ms = performance.now() - began;
  const expect = step.expect ?? {};
  match(expect.status ?? 200, s.status, `status (${s.raw.slice(0, 300)})`);
  for (const [k, v] of Object.entries(expect.headers ?? {})) match(v, s.headers.get(k) ?? undefined, `header ${k}`);
  if (expect.json) match(expect.json, JSON.parse(s.raw), 'body');
  if (expect.events) matchEvents(expect.events, s.events);
  if (expect.first) match(expect.first, s.events[0], 'first event');
  if (expect.last) match(expect.last, s.events.at(-1), 'last event');
  for (const none of expect.none ?? [])
    for (const e of s.events) {
      let same = true;
      try { match(none, e); } catch { same = false; }
      if (same) throw new Error(`there must be no event ${JSON.stringify(none)}, but: ${JSON.stringify(e)}`);
    }
  if (expect.text !== undefined) match(expect.text, textOf(s.events), 'text of the model');
  for (const r of [expect.raw ?? []].flat()) match(r, s.raw, 'raw stream');
  for (const r of [expect.raw_lacks ?? []].flat()) if (new RegExp(r, 'm').test(s.raw)) throw new Error(`the raw stream must not contain ${r}`);
  if (expect.gapless) {
    const from = expect.from ?? 1;
    if (!gapless(s.events, from)) throw new Error(`sequence numbers from ${from}: ${s.events.map((e) => `${e.sequence}/${e.$id}`).join(' ')}`);
  }
  if (expect.ended) {
    if (!s.ended) throw new Error(`the server did not end the stream: ${s.error}`);
    const ends = statuses(s.events).filter((x) => x !== 'running');
    if (ends.length !== 1) throw new Error(`terminal events: ${ends.join(', ') || 'none'}`);
  }
  if (expect.within_ms !== undefined && ms > expect.within_ms) throw new Error(`took ${Math.round(ms)} ms, more than ${expect.within_ms}`);
  save(step.save, { events: s.events, raw: s.raw }, variables);
}

async function sql(step, environment) {
  const end = Date.now() + (step.within_ms ?? 0);
  for (;;) {
    const got = environment.database.sql(step.sql);
    if (got === String(step.equals)) return;
    if (Date.now() >= end) throw new Error(`${step.sql}: expected ${step.equals}, got ${got}`);
    await sleep(50);
  }
}

// Waits for a matching webhook message; fails if more than one has arrived by then.
async function received(step, environment) {
  const same = (m) => { try { match(step.received, m.json); return true; } catch { return false; } };
  const end = Date.now() + (step.within_ms ?? 5000);
  for (;;) {
    const found = environment.receiver.messages.filter(same);
    if (found.length > 1) throw new Error(`${found.length} such messages arrived`);
    if (found.length === 1) {
      for (const [k, v] of Object.entries(step.headers ?? {})) match(v, found[0].headers[k], `header ${k}`);
      return;
    }
    if (Date.now() >= end) throw new Error(`no such message arrived: ${JSON.stringify(environment.receiver.messages.map((m) => m.json))}`);
    await sleep(50);
  }
}

// A string is the token itself; otherwise creates a token from the claims, with `exp` and `nbf` in seconds from now,
// signed with the secret or, for other algorithms, with the identity provider's key.
function tokenOf(given, identity) {
  if (typeof given === 'string') return given;
  const { claims, alg = 'HS256', secret = 'a-secret-for-the-scenarios-of-tokens' } = given;
  const now = Math.floor(Date.now() / 1000);
  const all = { ...claims };
  for (const k of ['exp', 'nbf']) if (k in all) all[k] += now;
  const part = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
  const signed = `${part({ alg, typ: 'JWT', ...(identity ? { kid: alg } : {}) })}.${part(all)}`;
  if (identity && ['RS256', 'ES256'].includes(alg)) return `${signed}.${identity.sign(alg, signed)}`;
  const signature = alg === 'none' ? '' : createHmac('sha256', secret).update(signed).digest('base64url');
  return `${signed}.${signature}`;
}

export async function runScenario(scenario, environment) {
  const callers = {};
  const variables = { new_id: randomUUID(), new_id2: randomUUID(), new_key: randomUUID() };
  const accounts = scenario.accounts ?? {};
  // The ids of named accounts can be used in paths and SQL.
  for (const name of Object.keys(accounts)) variables[name] = { id: (await environment.caller(name, callers, accounts)).id };
  for (const [i, raw] of scenario.steps.entries()) {
    const kind = checkStep(raw, `step ${i + 1}`);
    const label = `step ${i + 1} (${kind === 'request' ? raw.request : kind})`;
    try {
      if (kind === 'set') { Object.assign(variables, filled(raw.set, variables)); continue; }
      const step = filled(raw, variables);
      if (kind === 'sleep') await sleep(step.sleep);
      else if (kind === 'restart') await environment.restart(step.restart);
      else if (kind === 'received') await received(step, environment);
      else if (kind === 'sql') await sql(step, environment);
      else if (kind === 'log') {
        for (const t of step.lacks ?? []) if (environment.server.log.includes(t)) throw new Error(`the log contains ${t}`);
        for (const t of step.has ?? []) if (!environment.server.log.includes(t)) throw new Error(`the log lacks ${t}`);
      } else {
        const client = step.token !== undefined ? new Client(environment.server, tokenOf(step.token, environment.identity)) : await environment.caller(step.as ?? 'me', callers, accounts);
        if (client.id) variables[step.as ?? 'me'] = { id: client.id, token: client.token };
        await (kind === 'request' ? request : stream)(step, client, variables);
      }
    } catch (e) {
      e.message = `${label}: ${e.message}`;
      throw e;
    }
  }
}
