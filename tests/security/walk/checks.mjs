// Properties that a response must never have.
import { uuidsIn } from './known.mjs';

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const noRoute = new Set([204, 400, 401, 403, 404, 405, 408, 411, 413, 414, 415, 417, 431]);
// Messages of the database, the runtime and the file system may appear only in the log.
const internals = [/SQLSTATE/, /syntax error at or near/, /violates (check|unique|foreign|not-null)/, /invalid (input syntax|byte sequence)/, /\bstd::/, /\.(cpp|hpp):\d+/, /terminate called/, /Traceback/, /\/tmp\/ry-e2e-/, /\/work\/|\/build\/modules\//, /postgresql:\/\//];
const secretText = /(header|credential|client) mark-[\w-]+ secret|pass mark-[\w-]+ word/;
// Here, deleting something that does not exist is a success.
const idempotent = /^DELETE (\/api)?\/notifications\/device-token\/|^DELETE \/auth\/sessions\//;

export class Checks {
  // `contract`: see tests/e2e/lib/openapi.mjs; the document must not change during the walk. `allowed(request,
  // status)`: whether a 5xx is caused by the services around the server.
  constructor(deployment, contract, known, allowed) {
    Object.assign(this, { deployment, contract, known, allowed });
    this.people = ['ann', 'ben', 'cyd'];
  }

  // Returns the findings in one response: [{kind, detail}].
  examine(request, response) {
    const out = [];
    const found = (kind, detail = '') => out.push({ kind, detail: String(detail).slice(0, 600) });
    if (response.failure) {
      const excused = request.halfClose || request.bytes.length > 250000;
      if (!excused || response.timedOut) found('no response', response.failure);
      return out;
    }
    const { status } = response;
    const text = response.body.toString('utf8');
    const described = this.#described(request, response, text, found);
    const probe = request.at.path === '/readyz' && status === 503;  // while the administrator drains the node
    if (status >= 500) {
      const limit = probe || (status === 503 && response.header('retry-after') !== undefined) || (status === 501 && !knownMethods.has(request.method));
      if (!limit && !this.allowed(request, status)) found(`status ${status}`, text);
    }
    if ((status === 429 || status === 503) && !probe && response.header('retry-after') === undefined) found('no Retry-After', `${status} ${text}`);
    if (status === 405 && response.header('allow') === undefined) found('no Allow header', text);
    for (const [name] of response.headers) if (/^x-(injected|a)$/i.test(name)) found('an injected header', name);
    this.#access(request, status, described, text, found);
    this.#leaks(request, response, text, found);
    return out;
  }

  #described(request, response, text, found) {
    const [pathname, search = ''] = [request.target.split('?')[0], request.target.split('?').slice(1).join('?')];
    const { status } = response;
    const operation = /^[A-Z]+$/.test(request.method) ? this.contract.document.find(request.method, pathname) : undefined;
    const media = (response.header('content-type') ?? '').split(';')[0].toLowerCase();
    let json;
    if (media.endsWith('json') && text !== '') {
      try {
        json = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(response.body));
      } catch (e) {
        found('a body that is not JSON', `${e.message}: ${text.slice(0, 200)}`);
        return operation;
      }
      response.json = json;
    }
    if (!operation) {
      if (status < 500 && !noRoute.has(status)) found('a status of a route that is not described', `${status} ${text}`);
      return undefined;
    }
    const headers = { get: (name) => response.header(name) ?? null };
    const shown = request.method === 'HEAD' || response.stream ? undefined : (text === '' && media === '') || media.endsWith('json') ? text : '-';
    const fault = this.contract.answerFault(operation, status, headers, shown);
    if (fault) found('a response that is not as described', `${status}: ${fault}: ${text.slice(0, 300)}`);
    if (response.stream && status === 200) this.#events(operation, text, found);
    // JSON-RPC reports refused requests with status 200.
    const refused = media.endsWith('json') && /^\{"jsonrpc":"2\.0",.*"error":\{"code":-/s.test(text);
    if (status >= 200 && status < 300 && !refused) {
      const fault = this.#requestFault(request, operation, pathname, search);
      if (fault) found('a request that is not as described was taken', `${status}: ${fault}`);
    }
    return operation;
  }

  #events(operation, text, found) {
    const schema = operation.path === '/agent-run/{id}/stream' ? 'runs.Event' : 'notifications.InboxEvent';
    for (const block of text.split('\n\n').slice(0, -1)) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      let event;
      try { event = JSON.parse(data); } catch { found('an event that is not JSON', data); continue; }
      const fault = this.contract.document.fault(this.contract.document.answers, ['components', 'schemas', schema], event);
      if (fault && event.type !== 'ping') found('an event that is not as described', `${fault}: ${data}`);
    }
  }

  #requestFault(request, operation, pathname, search) {
    const { body } = request;
    const { node } = this.contract.document.resolve(operation.operation.requestBody, []);
    let value, media = request.headers.findLast(([k]) => k === 'Content-Type')?.[1].split(';')[0].trim().toLowerCase() ?? '';
    if (node?.content?.['application/json'] && body?.toString('latin1').trim()) {
      media = 'application/json';
      try {
        value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
      } catch (e) {
        return `the body is not JSON (${e.message}): ${body.subarray(0, 200).toString('latin1')}`;
      }
    }
    // The server uses the first of several headers or parameters with the same name.
    const headers = new Headers();
    for (const [k, v] of request.headers) if (v !== '' && !/[^\x20-\x7e]/.test(v) && !headers.has(k)) headers.append(k, v);
    const url = new URL(`http://x${pathname.replace(/[^\x21-\x7e]/g, '')}`);
    for (const [k, v] of new URLSearchParams(search)) if (!url.searchParams.has(k)) url.searchParams.append(k, v);
    // Of two spellings of a member it uses the one with underscores.
    for (const [one, other] of [['custom_mcps', 'customMcps'], ['enabled_tools', 'enabledTools']]) if (value && typeof value === 'object' && one in value) delete value[other];
    // It trims a name before it checks the length.
    if (typeof value?.name === 'string') value.name = value.name.trim();
    if (headers.has('last-event-id')) url.searchParams.delete('last_event_id');
    if (headers.has('last-event-id') || url.searchParams.has('last_event_id')) url.searchParams.delete('last_id');
    const given = body?.length && value !== undefined ? { media, value } : undefined;
    if (node?.required && !given && !node.content['application/json']) return undefined;  // a form
    const fault = this.contract.requestFault(operation, url, headers, given);
    if (!fault || /^the query parameter .* is not described$/s.test(fault)) return undefined;
    return `${fault}: ${JSON.stringify(value)?.slice(0, 300)}`;
  }

  #access(request, status, operation, text, found) {
    if (!operation) return;
    const { actor } = request;
    const success = status < 400;
    const secured = (operation.operation.security ?? []).length > 0;
    const none = actor === 'anonymous' || request.credential !== request.sentCredential;
    if (secured && none && success) found('a success without credentials', `${status} ${text}`);
    if (operation.path.startsWith('/admin/') && actor !== 'admin' && success) found('a success of an administrator’s route', `${status} ${text}`);
    if (request.foreignPath && success && !idempotent.test(`${request.method} ${operation.path}`) && request.kind !== 'orchestrator' && !['asset', 'unsubscribe'].includes(request.kind))
      found('a success with an id of another account', `${status} ${text}`);
  }

  #leaks(request, response, text, found) {
    const all = `${response.headers.map(([k, v]) => `${k}: ${v}`).join('\n')}\n\n${text}`;
    for (const s of this.deployment.secrets) if (all.includes(s)) found('a secret', s);
    const shown = secretText.exec(all);
    if (shown) found('a secret', `${shown[0]} in ${text.slice(0, 300)}`);
    const { actor } = request;
    if (actor === 'admin') return;
    for (const pattern of internals) if (pattern.test(all) && !pattern.test(request.bytes.toString('latin1'))) found('internal text', `${pattern}: ${text}`);
    const mine = (value) => request.placed.includes(value) || this.known.hasStored(actor, value);
    for (const uuid of uuidsIn(all)) {
      const owner = this.known.ownerOf(uuid);
      if (owner !== undefined && owner !== actor && !mine(uuid)) found('an id of another account', `${uuid} of ${owner} in ${text.slice(0, 300)}`);
    }
    const lower = all.toLowerCase();
    for (const name of this.people) {
      if (name === actor) continue;
      const person = this.deployment[name], own = this.deployment.owns[name];
      if (lower.includes(person.marker)) {
        // The page of an unsubscribe link shows the e-mail address.
        const shared = [...own.device, ...(own.unsubscribe ?? [])].some((d) => mine(d));
        if (!shared) found('text of another account', `${person.marker} in ${text.slice(0, 300)}`);
      }
      for (const value of [...person.keys, ...own.api_key, ...own.code, person.session?.access_token, person.session?.refresh_token])
        if (value && all.includes(value) && !mine(value)) found('a value of another account', `${value} of ${name} in ${text.slice(0, 300)}`);
    }
  }
}
