// Checks the requests and responses of the tests against the server's own /openapi.json. It covers every fetch() of
// this process to a server that was passed to checkContract():
// - the status, content type and body of a response are described, and the body has no undescribed members;
// - a request that was not rejected as malformed matches the document.
// A violation fails the request; even if a test swallows the error, the process exits with 1.
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createHash } from 'node:crypto';

const originalFetch = globalThis.fetch;
const documents = new Map();  // digest of the text -> Document
const servers = new Map();    // origin -> Contract
const violations = new Set();

// Statuses of requests that are invalid or were not examined.
const malformed = new Set([400, 401, 403, 404, 405, 408, 411, 413, 414, 415, 416, 417, 422, 431]);
// Statuses that the server returns before it finds a route, or while the route's module is being replaced.
const beforeRoutes = new Set([400, 408, 413, 414, 417, 431, 503]);
const forbiddenHostOrOrigin = /"error_code":"(HOST|ORIGIN)_NOT_ALLOWED"/;
const noRoute = '{"detail":"Not Found"}';

const escaped = (key) => encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
const pointerOf = (...keys) => '#' + keys.map((k) => '/' + escaped(k)).join('');

function decoded(segment) {
  try { return decodeURIComponent(segment); } catch { return segment; }
}

// Disallows members that the schema does not name.
function closed(node) {
  if (Array.isArray(node)) return node.map(closed);
  if (node === null || typeof node !== 'object') return node;
  const out = Object.fromEntries(Object.entries(node).map(([k, v]) => [k, k === 'example' || k === 'examples' ? v : closed(v)]));
  if (out.properties && !('additionalProperties' in out)) out.additionalProperties = false;
  return out;
}

export class Document {
  constructor(text) {
    this.json = JSON.parse(text);
    const ajv = (json, options) => {
      const a = new Ajv2020({ strict: false, ...options });
      addFormats(a);
      a.addSchema(json, 'doc');
      return a;
    };
    this.answers = ajv(closed(this.json));
    this.requests = ajv(this.json);
    this.texts = ajv(this.json, { coerceTypes: true });  // parameters come as text
    this.base = this.json.servers[0].url.replace(/\/$/, '');
    this.routes = Object.entries(this.json.paths).map(([path, item]) => ({ path, item, parts: path.split('/') }))
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  }
  resolve(node, at) {
    while (node?.$ref) {
      at = node.$ref.slice(2).split('/');
      node = at.reduce((o, k) => o[k.replaceAll('~1', '/').replaceAll('~0', '~')], this.json);
    }
    return { node, at };
  }
  // The operation that describes a requested path; undefined if there is none.
  find(method, pathname) {
    const within = pathname.startsWith(this.base + '/') ? pathname.slice(this.base.length) : undefined;
    for (const { path, item, parts } of this.routes) {
      const operation = item[method.toLowerCase()] ?? (method === 'HEAD' ? item.get : undefined);
      const sent = operation?.servers ? pathname : within;
      if (!operation || sent === undefined) continue;
      const given = sent.split('/').map(decoded);
      const values = {};
      const same = given.length === parts.length && parts.every((p, i) => {
        if (!p.startsWith('{')) return p === given[i];
        values[p.slice(1, -1)] = given[i];
        return given[i] !== '';
      });
      if (same) return { path, method: method === 'HEAD' && !item.head ? 'get' : method.toLowerCase(), operation, values };
    }
    // A trailing slash is the same route.
    return /[^/]\/$/.test(pathname) ? this.find(method, pathname.slice(0, -1)) : undefined;
  }
  // Returns the first violation in a value, or undefined.
  fault(ajv, at, value) {
    const check = ajv.getSchema('doc' + pointerOf(...at));
    if (!check) return `no schema at ${at.join('/')}`;
    return check(value) ? undefined : ajv.errorsText(check.errors.slice(0, 3), { dataVar: 'body' });
  }
}

const mediaOf = (header) => (header ?? '').split(';')[0].trim().toLowerCase();

function described(content, media) {
  if (!content) return undefined;
  return [media, `${media.split('/')[0]}/*`, '*/*'].find((m) => m in content);
}

function bodyOf(body, headers) {
  const media = mediaOf(headers.get('content-type'));
  if (body === undefined || body === null) return undefined;
  if (body instanceof FormData) {
    const value = {};
    for (const [k, v] of body) {
      if (typeof v === 'string') value[k] = v;
      else (value[k] ??= []).push(v.name);
    }
    return { media: 'multipart/form-data', value };
  }
  if (body instanceof URLSearchParams) return { media: 'application/x-www-form-urlencoded', value: Object.fromEntries(body) };
  if (typeof body !== 'string') return { media };
  if (body === '') return undefined;
  if (media === 'application/x-www-form-urlencoded') return { media, value: Object.fromEntries(new URLSearchParams(body)) };
  try { return { media: media || 'application/json', value: JSON.parse(body) }; } catch { return { media }; }
}

class Contract {
  constructor(url) { this.origin = new URL(url).origin; }
  async read() {
    const r = await originalFetch(`${this.origin}/openapi.json`);
    if (r.status !== 200) return undefined;
    const text = await r.text();
    const digest = createHash('sha256').update(text).digest('hex');
    if (!documents.has(digest)) documents.set(digest, new Document(text));
    return (this.document = documents.get(digest));
  }
  // Reads the document again for unknown routes, because modules can be enabled while the server runs.
  async find(method, pathname) {
    const known = this.document?.find(method, pathname);
    if (known) return known;
    // A server that has just been restarted describes the routes of modules that have not started yet only later.
    for (let i = 0; i < 12; i++) {
      try {
        const ready = (await originalFetch(`${this.origin}/readyz`)).status === 200;
        await this.read();
        const found = this.document?.find(method, pathname);
        if (found || ready) return found;
      } catch { return undefined; }  // the server is down
      await new Promise((r) => setTimeout(r, 250));
    }
    return undefined;
  }

  requestFault(found, url, headers, body) {
    const { operation, path, method, values } = found;
    const d = this.document;
    const given = { path: values, query: Object.fromEntries(url.searchParams), header: Object.fromEntries(headers) };
    for (const [name, value] of url.searchParams) {  // style deepObject
      const [, object, key] = /^([^[]+)\[(.*)\]$/.exec(name) ?? [];
      if (object === undefined) continue;
      (given.query[object] ??= {})[key] = value;
      delete given.query[name];
    }
    const known = new Set(operation.security?.some((s) => 'host.query_token' in s) ? ['token'] : []);
    for (const [i, p] of (operation.parameters ?? []).entries()) {
      const { node, at } = d.resolve(p, ['paths', path, method, 'parameters', i]);
      if (node.in === 'query') known.add(node.name);
      const value = given[node.in]?.[node.in === 'header' ? node.name.toLowerCase() : node.name];
      if (value === undefined || value === null) {
        if (node.required) return `the ${node.in} parameter ${node.name} is missing`;
        continue;
      }
      const fault = d.fault(d.texts, [...at, 'schema'], value);
      if (fault) return `the ${node.in} parameter ${node.name}: ${fault}`;
    }
    for (const name of Object.keys(given.query)) if (!known.has(name)) return `the query parameter ${name} is not described`;
    const { node, at } = d.resolve(operation.requestBody, ['paths', path, method, 'requestBody']);
    if (!body) return node?.required ? 'it has no body' : undefined;
    if (!node) return undefined;  // a body that the server ignores
    let media = described(node.content, body.media);
    // The content type that fetch() sets for a string body.
    if (!media && body.media === 'text/plain' && body.value !== undefined) media = described(node.content, 'application/json');
    if (!media) return `its content type ${body.media} is not described`;
    if (body.value === undefined) return undefined;
    return d.fault(d.requests, [...at, 'content', media, 'schema'], body.value);
  }

  answerFault(found, status, headers, text) {
    const { operation, path, method } = found;
    const d = this.document;
    const key = [String(status), 'default'].find((k) => k in operation.responses);
    const before = beforeRoutes.has(status) || (status === 404 && text === noRoute) || (status === 403 && forbiddenHostOrOrigin.test(text));
    if (!key) return before ? undefined : `the status ${status} is not described`;
    const { node, at } = d.resolve(operation.responses[key], ['paths', path, method, 'responses', key]);
    if (text === undefined) return undefined;  // HEAD, a stream
    if (text === '') return node.content && status !== 304 ? 'it has no body' : undefined;
    const media = described(node.content, mediaOf(headers.get('content-type')));
    if (!media) return key === 'default' || (before && /^\{\s*"detail"/.test(text)) ? undefined : `a body of the type ${headers.get('content-type')} is not described`;
    if (!media.endsWith('json')) return undefined;
    return d.fault(d.answers, [...at, 'content', media, 'schema'], JSON.parse(text));
  }

  // Returns the first violation in a request and its response, or undefined. answer.text: the body of the response, or
  // undefined to skip its check.
  async fault(method, url, { headers = {}, body } = {}, answer) {
    const sent = new Headers(headers);
    const found = await this.find(method, url.pathname);
    if (!this.document) return undefined;
    const name = `${method} ${url.pathname}${url.search}`;
    const { status } = answer;
    if (!found) return status < 500 && ![204, 400, 403, 404, 405].includes(status) ? `${name}: answers ${status}, but is not there` : undefined;
    const answerFault = this.answerFault(found, status, answer.headers, answer.text);
    if (answerFault) return `${name}: the response (${status}) is not as described: ${answerFault}: ${answer.text?.slice(0, 400)}`;
    if (malformed.has(status) || status >= 500) return undefined;
    const given = bodyOf(body, sent);
    const fault = this.requestFault(found, url, sent, given);
    return fault && `${name}: the request was taken (${status}), but is not as described: ${fault}: ${JSON.stringify(given?.value)?.slice(0, 400)}`;
  }
}

function report(violation) {
  if (!violation) return;
  violations.add(violation);
  throw new Error(`/openapi.json: ${violation}`);
}
process.on('exit', () => {
  if (violations.size === 0) return;
  console.error(`violations of /openapi.json:\n${[...violations].join('\n')}`);
  process.exitCode = 1;
});

// From now on, requests to this server and its responses are checked.
export function checkContract(url) {
  const contract = new Contract(url);
  servers.set(contract.origin, contract);
  return contract;
}

// Checks one event of a run's stream.
export async function checkEvent(url, event) {
  const contract = servers.get(new URL(url).origin);
  const d = contract && (contract.document ?? (await contract.read().catch(() => undefined)));
  if (!d?.json.components.schemas['runs.Event']) return;
  const fault = d.fault(d.answers, ['components', 'schemas', 'runs.' + (eventNames(d)[event.type] ?? 'Event')], event);
  if (fault) report(`an event is not as described: ${fault}: ${JSON.stringify(event).slice(0, 400)}`);
}
// The schema of each event type: its error messages are more specific than those of the union.
function eventNames(d) {
  return (d.events ??= Object.fromEntries(d.json.components.schemas['runs.Event'].oneOf.map(({ $ref }) => {
    const name = $ref.split('/').at(-1);
    return [d.json.components.schemas[name].properties.type.const, name.slice('runs.'.length)];
  })));
}

// For requests that are not made by fetch().
export async function checkExchange(method, url, { headers, body }, answer) {
  const at = new URL(url);
  const lines = Object.entries(headers).map(([k, v]) => [k, [v].flat().join(', ')]);
  report(await servers.get(at.origin)?.fault(method, at, { headers: lines, body }, answer));
}

globalThis.fetch = async (input, init = {}) => {
  const contract = servers.get(new URL(input instanceof Request ? input.url : input).origin);
  const r = await originalFetch(input, init);
  if (!contract || input instanceof Request || r.redirected) return r;
  const method = (init.method ?? 'GET').toUpperCase();
  const media = mediaOf(r.headers.get('content-type'));
  const other = media === 'text/event-stream' || method === 'HEAD' ? undefined : '-';
  const text = method !== 'HEAD' && (media === '' || media.endsWith('json')) ? await r.clone().text() : other;
  report(await contract.fault(method, new URL(input), init, { status: r.status, headers: r.headers, text }));
  return r;
};
