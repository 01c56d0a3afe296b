// Generates requests from /openapi.json: valid ones, with ids of earlier responses, and mutated ones.
import { createHmac } from 'node:crypto';
import { jsonText, make, oddString, oddValue, mutate, mutateText } from './values.mjs';

// The kind of object that a path parameter identifies.
const kinds = [
  [/^\/agents\/\{/, 'agent'], [/^\/agent-runs?\/\{/, 'run'], [/^\/threads?\/\{/, 'thread'], [/^\/projects\/\{/, 'project'], [/^\/api-keys\/\{/, 'api_key'],
  [/^\/auth\/sessions\/\{/, 'session'], [/inbox\/\{/, 'inbox'], [/^\/mcp\/profiles\/\{/, 'profile'], [/^\/admin\/accounts\/\{/, 'account'], [/^\/admin\/jobs\/\{/, 'job'],
  [/^\/admin\/runs\/\{/, 'run'], [/^\/admin\/notifications\/broadcasts\/\{/, 'broadcast'], [/^\/admin\/mail\/\{/, 'mail'], [/^\/admin\/notifications\/\{/, 'notification'], [/^\/admin\/referrals\/codes\/\{/, 'code'], [/^\/admin\/referrals\/\{/, 'referral'],
  [/device-token\/\{/, 'device'], [/^\/admin\/nodes\/\{/, 'node'], [/^\/admin\/modules\/\{/, 'module'], [/^\/admin\/webhooks\/\{/, 'webhook'], [/\/webhooks\/\{orch/, 'orchestrator'],
  [/suppressions\/\{/, 'address'], [/unsubscribe\/\{/, 'unsubscribe'], [/assets\/\{/, 'asset'],
];
export const kindOf = (path) => kinds.find(([pattern]) => pattern.test(path))?.[1];

export const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];
export const operationsOf = (json) => Object.entries(json.paths).flatMap(([path, item]) =>
  methods.filter((m) => item[m]).map((m) => ({ name: `${m.toUpperCase()} ${path}`, path, method: m.toUpperCase(), operation: item[m], secured: (item[m].security ?? []).length > 0 })));

const oddIds = ['', '0', '-1', 'null', 'undefined', 'me', '*', '.', '..', '%2e%2e', '..%2f..%2fetc%2fpasswd', '%00', 'a%00b', '%ff%fe', '%', '%zz', '%25', '%2f', '\\', ';', ';a=b', '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '00000000-0000-0000-0000-00000000000', '9223372036854775807', '9223372036854775808', '1e3', '0x1', "'", '%27%20or%201=1', '<b>', '%0d%0aX-A:%201', 'a'.repeat(3000), '%e2%82', '\u{1f600}', '$1', '{id}'];
const oddQuery = ['limit=0', 'limit=-1', 'limit=1', 'limit=100', 'limit=101', 'limit=2147483648', 'limit=1e3', 'limit=', 'limit', 'limit=%00', 'limit=1&limit=2', 'cursor=', 'cursor=x', 'cursor=%00', 'cursor=%ff', 'cursor=AAAAAAAAAAAAAAAAAAAAAAAA', 'cursor=eyJhIjoxfQ',
  'cursor=' + 'A'.repeat(2000), 'order=desc', 'order=asc', 'order=x', 'status=running', 'status=%F0%9F%98%80', 'state=dead', 'path=', 'path=/', 'path=..', 'path=../../etc/passwd', 'path=%2e%2e%2f%2e%2e%2fetc/passwd', 'path=uploads/../../..', 'path=%00', 'path=a%00b', 'path=%ff', 'path=/proc/self/environ', 'path=' + 'a/'.repeat(1000), 'path=.',
  'offset=-1', 'offset=9223372036854775807', 'offset=9223372036854775808', 'offset=1e9', 'offset=999999999', 'unread=true', 'unread=maybe', 'last_event_id=-1', 'last_event_id=18446744073709551615', 'last_id=x', 'mode=snapshot', 'mode=x', 'coalesce_ms=10001', 'token=x', 'token=', 'access_token=x', 'a[b]=c', 'a=b&a=c', '=', '&&&', '%', '%zz=1', '?', 'x=' + 'y'.repeat(4000), '__proto__=1', 'revoke_api_keys=maybe', 'account_id=x', 'actor=%00', 'action=%27'];
const oddHeaders = [['Range', 'bytes=0-0'], ['Range', 'bytes=5-1'], ['Range', 'bytes=-1'], ['Range', 'bytes=0-0,1-1,2-2,3-3'], ['Range', 'bytes=18446744073709551615-'], ['Range', 'lines=1'], ['If-Match', '*'], ['If-Match', '"x"'], ['If-None-Match', '*'], ['If-None-Match', '"'], ['If-None-Match', 'W/"x", "y"'], ['If-Modified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'], ['If-Modified-Since', 'yesterday'], ['If-Range', '"x"'],
  ['Accept', 'application/xml'], ['Accept', ''], ['Accept', '*/*;q=0'], ['Accept-Encoding', 'gzip;q=0, *;q=0'], ['Accept-Encoding', 'br, zstd'], ['Content-Encoding', 'gzip'], ['Content-Encoding', 'x'], ['Idempotency-Key', ''], ['Idempotency-Key', 'k'.repeat(300)], ['Idempotency-Key', 'same'], ['Idempotency-Key', '\xff\x80'], ['Last-Event-ID', ''], ['Last-Event-ID', '-1'], ['Last-Event-ID', '1.5'], ['Last-Event-ID', '99999999999999999999'], ['Last-Event-ID', '4294967296'], ['Last-Event-ID', 'x\xff'],
  ['X-HTTP-Method-Override', 'DELETE'], ['X-Forwarded-For', '10.0.0.1, ::1'], ['X-Forwarded-Proto', 'https'], ['Forwarded', 'for=x'], ['X-Request-Id', '\xff'], ['X-Request-Id', 'a'.repeat(2000)], ['traceparent', '00-0-0-0'], ['traceparent', '00-' + 'f'.repeat(32) + '-' + 'f'.repeat(16) + '-01'], ['tracestate', '='.repeat(600)], ['Origin', 'null'], ['Origin', 'https://evil.test'], ['Cookie', 'ry_session=x'], ['Cookie', ';;;='], ['Cookie', 'a='.repeat(2000)], ['Expect', '100-continue'], ['Expect', 'x'], ['Upgrade', 'websocket'], ['Connection', 'Upgrade, HTTP2-Settings'], ['TE', 'trailers'], ['X-MCP-URL', 'file:///etc/passwd'], ['X-MCP-URL', 'http://127.0.0.1:1/'], ['X-MCP-Type', 'x'], ['X-MCP-Headers', '{'], ['X-MCP-Headers', '[1]'], ['X-MCP-Headers', '{"Host":"x","Content-Length":"1"}'], ['X-MCP-Headers', '{"A\\nB":"c\\r\\nd"}'], ['Prefer', 'respond-async'], ['A', 'b'.repeat(20000)], ['Accept-Language', '\xe9']];
const oddTypes = [undefined, 'text/plain', 'application/xml', 'application/json; charset=utf-16', 'application/json;charset="utf-8', 'APPLICATION/JSON', 'application/problem+json', 'multipart/form-data', 'multipart/form-data; boundary=', `multipart/form-data; boundary=${'b'.repeat(200)}`, 'application/x-www-form-urlencoded', 'application/octet-stream', '*/*', 'x', '', 'application/json, text/html', 'text/html; charset=\xff'];
const oddAuthorization = ['Bearer ', 'Bearer x', 'Basic dXNlcjpwYXNz', 'bearer', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.', 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.AAAA', `Bearer ${'a.'.repeat(2000)}b`, 'Bearer \xff\xfe', 'Bearer a b', 'Digest username="x"', 'Bearer ry_0000000000000000_00000000000000000000000000000000', ''];

const pathSafe = (text) => encodeURIComponent(text).replaceAll('%3A', ':');

function multipart(fields, r, mutated) {
  const boundary = `----walk${r.hex(12)}`;
  const parts = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((v) => (name === 'files' ? { name, file: v } : { name, value: String(v) })));
  let odd;
  if (mutated) {
    odd = r.pick(['no end', 'other boundary', 'no name', 'twice', 'odd file name', 'many parts', 'long name', 'line ends', 'binary', 'unknown part', 'empty part', 'no head']);
    if (odd === 'twice' && parts.length) parts.push(r.pick(parts), { ...r.pick(parts), value: oddString(r) });
    if (odd === 'odd file name') parts.push({ name: 'files', file: { name: r.pick(['../../x', '/etc/passwd', '', '.', '..', 'a\0b', 'con', 'x'.repeat(500), '\u202efdp.exe', 'a"b', 'a/b\\c', '\u{1f600}.txt', '-rf', '~', '.git/config']), data: 'x' } });
    if (odd === 'many parts') for (let i = 0; i < r.pick([50, 3000]); i++) parts.push({ name: `f${i}`, value: 'x' });
    if (odd === 'long name') parts.push({ name: 'n'.repeat(20000), value: 'x' });
    if (odd === 'binary') parts.push({ name: r.pick(['prompt', 'thread_id', 'agent_id', 'budget_credits']), bytes: Buffer.from([0, 0xff, 0xfe, 0xc0, 0x80, 13, 10]) });
    if (odd === 'unknown part') parts.push({ name: r.pick(['account_id', '', 'role', '__proto__', 'a\0']), value: oddString(r) });
    if (odd === 'empty part') parts.push({ name: 'prompt', value: '' });
  }
  const pieces = [];
  const line = odd === 'line ends' ? '\n' : '\r\n';
  parts.forEach((p, i) => {
    const quote = (s) => Buffer.from(s.replace(/["\r\n]/g, (c) => encodeURIComponent(c))).toString('latin1');
    let head = `Content-Disposition: form-data; name="${quote(p.name)}"${p.file ? `; filename="${quote(p.file.name)}"${line}Content-Type: application/octet-stream` : ''}`;
    if (i === 0 && odd === 'no name') head = r.pick(['Content-Disposition: form-data', 'Content-Disposition: attachment; name=x', 'X: y', `Content-Disposition: form-data; name="a${line}b"`, `A: ${'b'.repeat(20000)}`]);
    if (i === 0 && odd === 'no head') head = '';
    pieces.push(Buffer.from(`--${boundary}${line}${head}${line}${line}`, 'latin1'), p.bytes ?? Buffer.from(p.file ? p.file.data : p.value), Buffer.from(line));
  });
  if (odd !== 'no end') pieces.push(Buffer.from(`--${boundary}--${line}`));
  return { type: `multipart/form-data; boundary=${odd === 'other boundary' ? 'other' : boundary}`, body: Buffer.concat(pieces), odd: odd && `multipart: ${odd}` };
}

export class RequestMaker {
  // `document`: a Document of tests/e2e/lib/openapi.mjs. `known`: Known of known.mjs.
  constructor(deployment, document, known) {
    Object.assign(this, { deployment, document, known });
    this.numbers = 0;
  }

  // Returns a function that gives a meaningful value for a member of an operation's request.
  #hint(at, actor, r, valid) {
    const { deployment, known } = this;
    const marker = deployment[actor]?.marker ?? `mark-${actor}`;
    const own = (kind) => known.pick(actor, kind, r);
    // A mutated request may contain a secret in a member that is returned.
    const secret = (label) => `${label} ${marker} ${valid ? 'secret' : 'shown'}`;
    const person = deployment[actor]?.email ? deployment[actor] : undefined;
    const email = () => (at.path.startsWith('/auth/sign-up') || !person || at.path.includes('referrals') ? `new-${++this.numbers}-${r.hex(8)}@example.test` : person.email);
    return (name, node) => {
      if (node.type && [node.type].flat().includes('boolean')) return undefined;
      switch (name) {
        case '*': return `${marker} ${r.hex(4)}`;
        case 'email': case 'emails': return node.type === 'array' ? undefined : email();
        case 'password': case 'current_password': case 'new_password': return person?.password ?? `a new password ${r.hex(4)}`;
        case 'refresh_token': return person?.session?.refresh_token ?? 'x';
        case 'token': return at.path.includes('reset') ? known.resetToken(actor) : undefined;
        case 'session': return r.pick(['body', 'cookie']);
        case 'agent_id': return own('agent');
        case 'thread_id': return r.chance(0.3) ? own('thread') : '';
        case 'active_thread_id': return r.chance(0.5) ? own('thread') : null;
        case 'project_id': return r.chance(0.2) ? own('project') : '';
        case 'account_id': case 'subscriber_id': return actor === 'admin' ? own('account') : r.uuid();
        case 'subscriber_email': return null;
        case 'broadcast': return false;
        case 'code': case 'referral_code': return at.path.startsWith('/mcp/') ? `code-${r.hex(8)}` : own('code') ?? 'ABCD2345';
        case 'model_name': return r.pick(['runyard/basic', 'runyard/power']);
        case 'budget_credits': return r.pick(['', '1', '10.5']);
        case 'temperature': case 'top_p': return r.pick(['', '0.5', '1']);
        case 'max_output_tokens': return r.pick(['', '100']);
        case 'tool_choice': return r.pick(['', 'auto', 'none']);
        case 'mode': return at.path.endsWith('/stream') ? r.pick(['events', 'snapshot']) : undefined;
        case 'optimistic': return r.chance(0.2) ? 'true' : 'false';
        case 'memory_enabled': case 'queue': return r.pick(['true', 'false']);
        case 'prompt': return r.chance(0.04) ? `$ echo ${marker} >> file.txt` : `${r.chance(0.1) ? '[slowly] ' : ''}${marker} prompt`;
        case 'files': return r.chance(0.5) ? [] : [{ name: `${marker}.txt`, data: `content ${marker} ${r.hex(8)}` }];
        case 'url': return r.chance(0.15) ? deployment.oauth.url : deployment.mcp.url;
        case 'server': return r.pick(['Hand', deployment.mcp.url]);
        case 'tool': return 'echo';
        case 'type': return at.path.includes('identity') ? r.pick(['user.created', 'user.updated', 'INSERT']) : 'http';
        case 'customType': return null;
        case 'custom_mcps': case 'customMcps': return [{ name: 'Hand', type: 'http', config: { url: deployment.mcp.url, headers: { 'X-Key': secret('header') } }, enabledTools: ['echo'] }];
        case 'config': return r.pick([{ url: deployment.mcp.url, headers: { 'X-Key': secret('header') } }, { url: deployment.mcp.url, reuse: true, session: 'run', timeout_seconds: 5 }]);
        case 'arguments': return { message: marker };
        case 'integration': return r.pick(['tracker', 'machine']);
        case 'credentials': return { token: secret('credential') };
        case 'oauth': return r.pick([{ scope: 'tools:read' }, { grant: 'client_credentials', client_id: 'x', client_secret: secret('client'), issuer: deployment.sink.url }]);
        case 'enabled_tools': case 'enabledTools': return ['echo'];
        case 'data': return at.path.includes('identity') ? { id: r.uuid(), email: `hook-${r.hex(8)}@example.test`, email_verified: true } : undefined;
        case 'device_token': return r.chance(0.5) ? `device ${marker} ${r.hex(4)}` : `ExponentPushToken[${r.hex(8)}]`;
        case 'device_type': return 'mobile';
        case 'provider': return r.pick(['expo', 'web-push', 'fcm']);
        case 'workflow_id': return r.pick(['promotional', 'task-completed', 'task-failed']);
        case 'payload_template': return { title: `Hello ${r.hex(4)}`, message: 'News {{first_name}}', task_name: 'A task' };
        case 'time_zone': return r.pick(['Europe/Berlin', 'UTC']);
        case 'quiet_hours': return { from: '22:00', to: '07:00' };
        case 'workflows': return { 'task-completed': { email: r.chance(0.5), digest_minutes: r.below(3) } };
        case 'tier': return r.pick(['free', 'pro', 'pro']);
        case 'role': return null;
        case 'credits': return 1 + r.below(1000);
        case 'expected_version': return r.chance(0.7) ? null : 1 + r.below(4);
        case 'is_default': return r.pick([null, true]);
        case 'setup_code': return null;
        case 'ticket': case 'confirm': case 'state': return own(name) ?? `${name}-${r.hex(8)}`;
        case 'cursor': return own(`cursor ${at.path}`) ?? undefined;
        case 'path': return r.pick(['', 'kept.txt', 'uploads', `uploads/${marker}.txt`, 'file.txt']);
        case 'X-MCP-URL': return deployment.mcp.url;
        case 'X-MCP-Type': return 'http';
        case 'X-MCP-Headers': return JSON.stringify({ 'X-Key': secret('header') });
        case 'Cache-Control': return 'no-cache';
        case 'Idempotency-Key': return `key-${++this.numbers}-${r.hex(8)}`;
        case 'last_event_id': case 'last_id': case 'Last-Event-ID': return r.below(6);
        case 'status': return at.path === '/agent-runs' ? r.pick(['running', 'completed', 'failed', 'stopped']) : undefined;
        default: return undefined;
      }
    };
  }

  #parameters(at, actor, r, hint) {
    const query = [], headers = [], path = {};
    const kind = kindOf(at.path);
    for (const p of at.operation.parameters ?? []) {
      const { node } = this.document.resolve(p, []);
      if (node.in === 'path') {
        const id = this.known.pick(actor, kind, r);
        path[node.name] = id ?? (node.schema?.format === 'uuid' ? r.uuid() : `none-${r.hex(8)}`);
        continue;
      }
      if (!node.required && !r.chance(node.name === 'path' ? 0.9 : 0.35)) continue;
      if (node.name === 'cursor' && this.known.pick(actor, `cursor ${at.path}`, r) === undefined) continue;
      const value = make(this.document, node.schema ?? {}, r, hint, node.name);
      if (node.in === 'query' && node.style === 'deepObject') for (const [k, v] of Object.entries(value)) query.push([`${node.name}[${k}]`, String(v)]);
      else if (node.in === 'query') query.push([node.name, String(value)]);
      else if (node.in === 'header') headers.push([node.name, String(value)]);
    }
    return { query, headers, path };
  }

  #body(at, r, hint) {
    const { node } = this.document.resolve(at.operation.requestBody, []);
    if (!node?.content || (!node.required && r.chance(0.3))) return {};
    const media = r.pick(Object.keys(node.content));
    if (media === '*/*') return { type: 'text/plain', value: 'x' };
    return { type: media, value: make(this.document, node.content[media].schema ?? {}, r, hint) };
  }

  // Returns a request to an operation by an actor: {method, target, headers, body, given, mutated}. `mutated` lists the
  // mutations; if it is empty, the request is valid. `given`: the body for the checks against the document.
  make(at, actor, r, credential, { valid = false } = {}) {
    const mutated = [];
    this.known.placed = [];
    const hint = this.#hint(at, actor, r, valid);
    if (!valid && r.chance(0.3)) {
      hint.edges = 0.3;
      mutated.push('edges of the schema');
    }
    const { query, headers, path } = this.#parameters(at, actor, r, hint);
    let { type, value } = this.#body(at, r, hint);
    let method = at.method, target = at.path, body, halfClose = false, foreignPath = false;
    const kind = kindOf(at.path);
    const modes = valid ? [] : Array.from({ length: r.pick([1, 1, 1, 2, 3]) }, () => r.pick(['body', 'body', 'body', 'text', 'text', 'path', 'path', 'query', 'query', 'header', 'header', 'type', 'method', 'authorization', 'foreign', 'foreign', 'foreign', 'length']));
    const has = (mode) => modes.includes(mode);
    // ids of another account, of a deleted object, and malformed ones
    for (const name of Object.keys(path)) {
      let text = pathSafe(path[name]);
      if (has('foreign')) {
        const id = this.known.foreign(actor, kind, r);
        if (id !== undefined) { text = pathSafe(id); foreignPath = true; mutated.push('a foreign id in the path'); }
      } else if (has('path')) {
        text = r.chance(0.2) ? pathSafe(this.known.deleted(actor, kind, r) ?? r.uuid()) : Buffer.from(r.pick(oddIds)).toString('latin1');
        if (r.chance(0.1)) text = text.toUpperCase();
        mutated.push('another id');
      }
      target = target.replace(`{${name}}`, () => text);
    }
    if (has('path') && (Object.keys(path).length === 0 || r.chance(0.15))) {
      target = r.pick([`${target}/`, `/${target}`, target.replace('/', '//'), `${target}/..`, `/x/..${target}`, target.toUpperCase(), `${target}%00`, `${target};x`, `${target}/${'a/'.repeat(300)}`, target.slice(0, -1), `${target}.json`, target.replace(/.$/, (c) => `%${c.charCodeAt(0).toString(16)}`)]);
      mutated.push('another path');
    }
    if (has('query')) {
      if (query.length && r.chance(0.4)) r.pick(query)[1] = String(r.pick([oddString(r), JSON.stringify(oddValue(r)) ?? '']));
      mutated.push('another query');
    }
    let search = query.map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v.toWellFormed())}`).join('&');
    if (has('query') && r.chance(0.7)) search = [search, r.pick(oddQuery)].filter(Boolean).join('&');
    if (has('foreign') && r.chance(0.2)) {
      const id = this.known.foreign(actor, r.pick(['account', 'agent', 'thread', 'run', 'project']), r);
      if (id) { search = [search, `${r.pick(['account_id', 'thread_id', 'id', 'user_id', 'subject'])}=${id}`].filter(Boolean).join('&'); mutated.push('a foreign id in the query'); }
    }
    if (!valid && actor === 'anonymous' && at.path.endsWith('/stream') && r.chance(0.3)) {
      const token = this.known.tokenOfAnotherPath(target, r);
      if (token) { search = [search, `token=${encodeURIComponent(token)}`].filter(Boolean).join('&'); mutated.push('a token for another path'); }
    }
    if (search) target += `?${search.slice(0, 6000)}`;
    // the body
    const trusted = at.path === '/auth/webhooks/identity';  // messages of the operator's identity provider contain account ids
    const anyForeign = () => (trusted ? undefined : this.known.foreign(actor, r.pick(['agent', 'thread', 'run', 'project', 'profile', 'code', 'inbox', 'api_key']), r));
    if (value === undefined && !valid && method !== 'GET' && r.chance(0.2)) { value = oddValue(r); type = 'application/json'; mutated.push('a body'); }
    if (value !== undefined) {
      const form = type !== 'application/json';
      if (has('body') || (has('foreign') && !foreignPath)) {
        if (form && value !== null && typeof value === 'object') {
          const name = r.pick(Object.keys(value).concat('prompt'));
          if (name !== 'files') {
            const id = has('foreign') ? this.known.foreign(actor, { thread_id: 'thread', agent_id: 'agent', project_id: 'project' }[name] ?? 'thread', r) : undefined;
            value[id && r.chance(0.8) ? r.pick(['thread_id', 'agent_id', 'project_id']) : name] = id ?? oddString(r);
            mutated.push(id ? 'a foreign id in a field' : 'another field');
          }
        } else {
          const times = r.pick([1, 1, 2]);
          for (let i = 0; i < times; i++) {
            const [v, mutation] = mutate(value, r, has('foreign') ? anyForeign : () => undefined);
            value = v;
            mutated.push(mutation);
          }
        }
      }
      if (type === 'multipart/form-data') {
        const m = multipart(value, r, has('text'));
        type = m.type;
        body = m.body;
        if (m.odd) mutated.push(m.odd);
      } else if (form) {
        body = Buffer.from(value !== null && typeof value === 'object' ? Object.entries(value).filter(([k]) => k !== 'files').map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(String(v).toWellFormed())}`).join('&') : String(value));
        if (has('text')) { body = Buffer.concat([body, Buffer.from(r.pick(['&', '&prompt=%', '&prompt=%ff', '&a=b'.repeat(5000), '&prompt=%00', '=', '&thread_id=1&thread_id=2']))]); mutated.push('another form'); }
      } else {
        const text = jsonText(value);
        body = Buffer.from(text);
        if (has('text')) {
          const [bytes, mutation] = mutateText(text, r);
          body = bytes;
          mutated.push(mutation);
        }
      }
      if (!valid && r.chance(0.01)) { body = Buffer.concat([body, Buffer.alloc(r.pick([300000, 1048577]), 0x20)]); mutated.push('a large body'); }
    }
    if (has('type')) {
      type = r.pick(oddTypes);
      if (r.chance(0.3)) body ??= Buffer.from(r.pick(['{}', 'a=b', '<a/>']));
      mutated.push(`content type ${type}`);
    }
    if (has('method')) {
      method = r.pick(['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'POST', 'GET', 'TRACE', 'CONNECT', 'PROPFIND', 'get', 'X', 'A'.repeat(40)]);
      mutated.push(`method ${method}`);
    }
    if (has('header')) {
      const n = r.pick([1, 1, 2, 5]);
      for (let i = 0; i < n; i++) headers.push(r.pick(oddHeaders));
      if (r.chance(0.02)) for (let i = 0; i < 500; i++) headers.push([`X-${i}`, 'v']);
      mutated.push('another header');
    }
    let authorization = credential;
    if (has('authorization')) { authorization = r.pick(oddAuthorization); mutated.push('another credential'); }
    if (authorization !== undefined) headers.push(['Authorization', authorization]);
    if (type !== undefined && body !== undefined) headers.push(['Content-Type', type]);
    if (trusted && body && r.chance(0.9)) headers.push(...this.#signed(body, r));
    // framing
    let sent = body;
    if (body !== undefined || method !== 'GET') {
      const length = body?.length ?? 0;
      if (has('length') && body?.length) {
        if (r.chance(0.5)) {
          headers.push(['Transfer-Encoding', 'chunked']);
          const at1 = r.below(length + 1);
          sent = Buffer.concat([body.subarray(0, at1), body.subarray(at1)].filter((b) => b.length).flatMap((b) => [Buffer.from(`${b.length.toString(16)}\r\n`), b, Buffer.from('\r\n')]).concat(Buffer.from('0\r\n\r\n')));
          mutated.push('chunks');
        } else {
          headers.push(['Content-Length', String(length + 1 + r.below(100))]);
          halfClose = true;
          mutated.push('a truncated body');
        }
      } else headers.push(['Content-Length', String(length)]);
    }
    const { host } = new URL(this.deployment.server.url);
    const head = `${method} ${target.replace(/[ \r\n]/g, '+')} HTTP/1.1\r\n${[['Host', host], ...headers].map(([k, v]) => `${k}: ${v}`).join('\r\n')}\r\n\r\n`;
    const bytes = Buffer.concat([Buffer.from(head, 'latin1'), sent ?? Buffer.alloc(0)]);
    return { at, actor, method, target: target.replace(/[ \r\n]/g, '+'), headers, body, bytes, halfClose, foreignPath, mutated, kind, pathId: Object.values(path)[0],
      credential: authorization, sentCredential: credential, placed: this.known.placed, given: { type, value, mutatedText: has('text') || has('type') } };
  }

  // Returns the signature headers of Standard Webhooks.
  #signed(body, r) {
    const id = `msg_${r.hex(16)}`, at = String(Math.floor(Date.now() / 1000));
    const key = Buffer.from(this.deployment.hooks[0].slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(Buffer.concat([Buffer.from(`${id}.${at}.`), body])).digest('base64');
    return [['webhook-id', id], ['webhook-timestamp', at], ['webhook-signature', `v1,${signature}`]];
  }
}

// Returns the request as a command line; for a long one, its length and beginning.
export function commandOf(request, url) {
  const quote = (s) => `'${s.replaceAll("'", "'\\''")}'`;
  const plain = /^[\x20-\x7e]*$/;
  const body = request.body?.toString('latin1') ?? '';
  const odd = request.halfClose || !plain.test(request.bytes.subarray(0, request.bytes.indexOf('\r\n\r\n')).toString('latin1').replaceAll('\r\n', ''));
  if (odd || request.bytes.length > 20000) {
    const { hostname, port } = new URL(url);
    return request.bytes.length > 20000 ? `(${request.bytes.length} bytes) ${request.bytes.subarray(0, 600).toString('latin1')}` : `echo ${request.bytes.toString('base64')} | base64 -d | nc -q 5 ${hostname} ${port}`;
  }
  const headers = request.headers.filter(([k]) => !/^(content-length|transfer-encoding)$/i.test(k)).map(([k, v]) => ` -H ${quote(v === '' ? `${k};` : `${k}: ${v}`)}`).join('');
  const call = `curl -sS -i --path-as-is -X ${quote(request.method)}${request.method === 'HEAD' ? ' -I' : ''} ${quote(url + request.target)}${headers}`;
  if (!request.body) return call;
  return plain.test(body) ? `${call} --data-binary ${quote(body)}` : `echo ${request.body.toString('base64')} | base64 -d | ${call} --data-binary @-`;
}
