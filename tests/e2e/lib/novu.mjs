// A stateful fake of Novu: subscribers, accepted triggers, responses by idempotency key. It imitates the observed
// behaviour of the real server: every response has an envelope; a response, even an error, is replayed for the same
// idempotency key, except 429; 201 even for triggers that are never sent; one transaction id is sent only once.
//
// script(transactionId or 'subscriberId workflow', [faults]): faults of the first attempts, in order; later ones
// succeed.
//   'time-out'   performed, no response           'lost'               not performed, no response
//   'reset'      performed, truncated response    409, 422, 429, 500   rejected with this status
//   any other string: 201 with this status instead of "processed"
import { createHash } from 'node:crypto';
import http from 'node:http';

export async function startNovu({ key = 'novu-secret-key', v2 = true, idempotency = true, integrations = ['expo', 'fcm'] } = {}) {
  const requests = [];
  const answers = new Map();    // idempotency key -> {hash, status, body} or {hash, open}
  const accepted = new Map();   // transaction id -> {event, times}
  const subscribers = new Map();
  const workflows = new Set(['welcome-email', 'task-completed', 'task-failed', 'payment-succeeded', 'payment-failed', 'credits-low', 'promotional']);
  const messages = [];
  const scripts = new Map();
  const novu = { requests, message: (m) => messages.push({ _id: `m${messages.length}`, _environmentId: 'e', _organizationId: 'o', _notificationId: 'n', _subscriberId: 's',
      createdAt: new Date().toISOString(), read: false, seen: false, cta: {}, ...m }),
    accepted, subscribers, workflows, messages, rate: undefined, key,
    forgetAnswers: () => answers.clear(),
    script: (id, faults) => scripts.set(id, [...faults]),
    // The number of notifications sent for a transaction id: 1 if it was accepted at least once.
    sent: (id) => (accepted.has(id) ? 1 : 0),
    // Accepted triggers of one workflow for one subscriber, with the number of times each was received.
    taken: (subscriber, workflow) => [...accepted.values()].filter((a) => a.event.to?.subscriberId === subscriber && a.event.name === workflow),
    of: (id) => requests.filter((r) => r.body?.transactionId === id || r.body?.events?.some((e) => e.transactionId === id)) };

  function upsert(subscriber) {
    const old = subscribers.get(subscriber.subscriberId) ?? { channels: {} };
    subscribers.set(subscriber.subscriberId, { ...old, ...subscriber, channels: old.channels });
  }
  function trigger(event) {
    if (!workflows.has(event.name)) return { refused: 'workflow_not_found' };
    const known = accepted.get(event.transactionId);
    if (known) known.times++;
    else {
      accepted.set(event.transactionId, { event, times: 1 });
      if (typeof event.to === 'object') upsert(event.to);
      if (event.to?.email) novu.message({ transactionId: event.transactionId, channel: 'email', status: 'sent' });
    }
    return { acknowledged: true, status: 'processed', transactionId: event.transactionId };
  }
  const bad = (status, message, more) => ({ status, body: { statusCode: status, timestamp: new Date().toISOString(), path: '', message, ...more } });
  const good = (data, status = 200) => ({ status, body: { data } });

  function serve(method, pathname, query, body, fault) {
    let m;
    if (method === 'POST' && pathname === '/v1/events/trigger') {
      if (!body?.name) return bad(400, ['name must be a string', 'name should not be empty']);
      if (typeof fault === 'string' && !['time-out', 'reset', 'lost'].includes(fault)) return good({ acknowledged: true, status: fault, transactionId: body.transactionId }, 201);
      const r = trigger(body);
      return r.refused ? bad(422, r.refused) : good(r, 201);
    }
    if (method === 'POST' && pathname === '/v1/events/trigger/bulk') {
      if (!Array.isArray(body?.events) || body.events.length > 100) return bad(400, 'events must have 1 to 100 items');
      return good(body.events.map((e) => { const r = trigger(e); return r.refused ? { acknowledged: true, status: 'error', error: [r.refused] } : r; }), 201);
    }
    if (method === 'DELETE' && (m = /^\/v1\/events\/trigger\/([^/]+)$/.exec(pathname))) return good(accepted.get(m[1])?.pending === true);
    if (method === 'POST' && pathname === (v2 ? '/v2/subscribers' : '/v1/subscribers')) { upsert(body); return good({ ...body, isOnline: false, createdAt: 'x', updatedAt: 'x', _id: 's', _organizationId: 'o', _environmentId: 'e', deleted: false }, 201); }
    if (method === 'DELETE' && (m = new RegExp(`^/${v2 ? 'v2' : 'v1'}/subscribers/([^/]+)$`).exec(pathname))) {
      if (!subscribers.delete(decodeURIComponent(m[1]))) return bad(404, `Subscriber with id ${m[1]} not found`);
      return good({ acknowledged: true, status: 'deleted' });
    }
    if ((method === 'PUT' || method === 'PATCH') && (m = /^\/v1\/subscribers\/([^/]+)\/credentials$/.exec(pathname))) {
      const s = subscribers.get(decodeURIComponent(m[1]));
      if (!s) return bad(400, `SubscriberId: ${m[1]} not found`, { error: 'Bad Request' });
      if (!integrations.includes(body.providerId)) return bad(400, `Subscribers environment (e) do not have active ${body.providerId} integration.`);
      s.channels[body.providerId] = body.credentials.deviceTokens;
      return good({ subscriberId: s.subscriberId, isOnline: false, createdAt: 'x', updatedAt: 'x', _id: 's', _organizationId: 'o', _environmentId: 'e', deleted: false });
    }
    if (method === 'DELETE' && (m = /^\/v1\/subscribers\/([^/]+)\/credentials\/([^/]+)$/.exec(pathname))) {
      const s = subscribers.get(decodeURIComponent(m[1]));
      if (s) delete s.channels[m[2]];
      return { status: 204 };
    }
    const id = query.get('transactionId');
    if (method === 'GET' && pathname === '/v1/messages') {
      const list = messages.filter((x) => x.transactionId === id);
      return { status: 200, body: { data: list, page: 0, pageSize: 10, hasMore: false, totalCount: list.length } };
    }
    if (method === 'GET' && pathname === '/v1/notifications') {
      const a = accepted.get(id);
      const jobs = [{ _id: 'j', type: 'trigger', status: 'completed', executionDetails: [], step: { _id: 's', _templateId: 't', active: true, filters: [] }, providerId: 'novu' }];
      const list = a ? [{ _id: 'n', _environmentId: 'e', _organizationId: 'o', _subscriberId: 's', transactionId: id, jobs }] : [];
      return { status: 200, body: { data: list, page: 0, pageSize: 10, hasMore: false } };
    }
    return bad(404, `Cannot ${method} ${pathname}`, { error: 'Not Found' });
  }

  const server = http.createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (d) => (text += d)).on('end', () => {
      const url = new URL(req.url, 'http://x');
      let body;
      try { body = text ? JSON.parse(text) : undefined; } catch { body = undefined; }
      requests.push({ method: req.method, path: url.pathname, query: url.searchParams, headers: req.headers, body, at: Date.now() });
      const respond = (r, extra = {}) => {
        const out = r.body === undefined ? '' : JSON.stringify(r.body);
        res.writeHead(r.status, { ...(out ? { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(out) } : {}), ...novu.rate?.(), ...extra });
        return { out, end: () => res.end(out) };
      };
      if (req.headers.authorization === undefined) return respond(bad(401, 'Missing authorization header')).end();
      if (req.headers.authorization !== `ApiKey ${key}`) return respond(bad(401, 'API Key not found')).end();
      if (text && body === undefined) return respond(bad(400, 'Unexpected token in JSON')).end();

      const first = body?.events?.[0] ?? body;
      const list = scripts.get(first?.transactionId) ?? scripts.get(`${first?.to?.subscriberId} ${first?.name}`);
      const fault = list?.shift();
      if (fault === 429) return respond(bad(429, 'API rate limit exceeded'), { 'retry-after': '1' }).end();
      if (fault === 'lost') return;
      const idem = idempotency && req.method === 'POST' ? req.headers['idempotency-key'] : undefined;
      if (idem?.length > 255) return respond(bad(400, 'idempotencyKey must be shorter than or equal to 255 characters')).end();
      const hash = createHash('sha256').update(text).digest('hex');
      const replay = idem && answers.get(idem);
      if (replay) {
        if (replay.hash !== hash) return respond(bad(422, `Request with key "${idem}" is being reused for a different body`)).end();
        return respond(replay, { 'idempotency-replay': 'true' }).end();
      }
      if (fault === 409) return respond(bad(409, `Request with key "${idem}" is currently being processed. Please retry after 1 second`), { 'retry-after': '1' }).end();
      let answer;
      if (fault === 422) answer = bad(422, 'workflow_not_found');
      else if (fault === 500) answer = bad(500, 'Internal server error', { errorId: 'e1' });
      else answer = serve(req.method, url.pathname, url.searchParams, body, fault);
      if (idem) answers.set(idem, { hash, ...answer });
      if (fault === 'time-out') return;
      const { out, end } = respond(answer);
      if (fault === 'reset') return res.write(out.slice(0, out.length / 2), () => res.destroy());
      end();
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  novu.url = `http://127.0.0.1:${server.address().port}`;
  novu.close = () => new Promise((r) => { server.closeAllConnections(); server.close(r); });
  return novu;
}
