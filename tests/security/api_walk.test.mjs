// A short walk of the API (walk_api.mjs runs long ones), and proof that a walk detects each kind of finding, with a
// small server that has one fault at a time.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { slow } from '../e2e/lib/server.mjs';
import { startDeployment } from './walk/deployment.mjs';
import { Walk, walkDeployment } from './walk/walk.mjs';

const seconds = 8;

test('no client gets a 5xx, data of others or an undescribed response', { timeout: 300000 }, async (t) => {
  const deployment = await startDeployment();
  try {
    const walk = await walkDeployment(deployment, { seed: 1, until: (w) => w.seconds > seconds });
    t.diagnostic(`${walk.sent} requests of ${walk.operations.length} operations: ${JSON.stringify(walk.statuses)}`);
    assert.deepEqual([...walk.findings.values()], []);
    // Valid requests must reach the code behind most operations.
    assert.ok(walk.operations.length > 120, `${walk.operations.length} operations`);
    // The bodies of other specifications are only described roughly, so few generated ones are valid.
    const own = walk.neverSucceeded.filter((name) => !/ \/(a2a|v1|mcp|agui|aisdk|\.well-known)(\/|$)/.test(name));
    assert.ok(own.length < walk.operations.length / 4, `never successful: ${own.join(', ')}`);
  } finally {
    await deployment.close();
  }
});

const uuid = (n) => `0191f2c0-7d5a-7b7e-9d2b-${String(n).padStart(12, '0')}`;
const error = { type: 'object', required: ['detail'], properties: { detail: {} } };
const answer = (schema) => ({ description: 'x', content: { 'application/json': { schema } } });
const refusals = Object.fromEntries(['400', '401', '403', '404', '413', '415', '422', '429', '503'].map((s) => [s, answer(error)]));
const thing = { type: 'object', required: ['agent_id', 'name'], properties: { agent_id: { type: 'string', format: 'uuid' }, name: { type: 'string' } } };
const secured = [{ bearer: [] }];
const document = JSON.stringify({
  openapi: '3.1.1', info: { title: 'x', version: '1' }, servers: [{ url: '/' }], components: { schemas: {} },
  paths: {
    '/agents': {
      get: { security: secured, responses: { 200: answer({ type: 'array', items: thing }), ...refusals } },
      post: { security: secured, requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', required: ['name'], additionalProperties: false, properties: { name: { type: 'string', minLength: 1, maxLength: 100 } } } } } },
        responses: { 201: answer(thing), ...refusals } },
    },
    '/agents/{id}': { get: { security: secured, parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }], responses: { 200: answer(thing), ...refusals } } },
    '/admin/nodes': { get: { security: secured, responses: { 200: answer({ type: 'array' }), ...refusals } } },
  },
});

// A correct server of agents, except for the fault that `fault(exchange)` injects: it may respond itself and return
// true. exchange: {req, res, send(status, value, headers), me, body, things}.
async function startSmallServer(fault = () => false) {
  const things = new Map([['ann', [{ agent_id: uuid(1), name: 'mark-ann-000001' }]], ['ben', [{ agent_id: uuid(2), name: 'mark-ben-000002' }]], ['cyd', [{ agent_id: uuid(3), name: 'mark-cyd-000003' }]], ['admin', []]]);
  let made = 100;
  const server = http.createServer({ requestTimeout: 0 }, (req, res) => {
    const pieces = [];
    req.on('error', () => {});
    req.on('data', (d) => pieces.push(d)).on('end', () => {
      const send = (status, value, headers = {}) => res.writeHead(status, { 'content-type': 'application/json', ...(status === 405 ? { allow: 'GET, POST' } : {}), ...headers }).end(value === undefined ? undefined : JSON.stringify(value));
      const me = /^Bearer token-(\w+)$/.exec(req.headers.authorization ?? '')?.[1];
      const path = req.url.split('?')[0];
      if (path === '/openapi.json') return res.writeHead(200, { 'content-type': 'application/json' }).end(document);
      let body;
      try { body = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces))); } catch { body = undefined; }
      const exchange = { req, res, send, me, body, things, path };
      if (fault(exchange)) return undefined;
      const known = path === '/agents' || /^\/agents\/[^/]+$/.test(path) || path === '/admin/nodes';
      if (!known) return send(404, { detail: 'Not Found' });
      if (!['GET', 'HEAD'].includes(req.method) && !(req.method === 'POST' && path === '/agents')) return send(405, { detail: 'Method not allowed' });
      if (!things.has(me)) return send(401, { detail: 'Not authenticated' });
      if (path === '/admin/nodes') return me === 'admin' ? send(200, []) : send(403, { detail: 'Forbidden' });
      if (req.method === 'POST') {
        const name = body?.name;
        if (typeof name !== 'string' || name === '' || name.length > 100 || Object.keys(body).length > 1) return send(422, { detail: 'name' });
        things.get(me).push({ agent_id: uuid(made++), name });
        return send(201, things.get(me).at(-1));
      }
      if (path === '/agents') return send(200, things.get(me));
      const one = things.get(me).find((x) => path === `/agents/${x.agent_id}`);
      return one ? send(200, one) : send(404, { detail: 'Not found' });
    });
  });
  const refuse = (status) => (_, socket) => socket.end(`HTTP/1.1 ${status} x\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"detail":"x"}`);
  server.on('clientError', refuse(400)).on('connect', refuse(501)).on('checkExpectation', (req, res) => res.writeHead(417, { 'content-type': 'application/json' }).end('{"detail":"x"}'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const person = (name, n) => ({ email: undefined, marker: `mark-${name}-00000${n}`, keys: [], api: { token: `token-${name}` } });
  const own = (n) => ({ agent: [uuid(n)], api_key: [], code: [], device: [], account: [] });
  return {
    server: { url: `http://127.0.0.1:${server.address().port}`, process: { exitCode: null, signalCode: null, pid: process.pid }, log: '' },
    secrets: ['the deployment secret'], hooks: ['whsec_AAAA'], smtp: { to: () => [] }, mcp: { url: 'http://127.0.0.1:1' }, oauth: { url: 'http://127.0.0.1:1' }, sink: { url: 'http://127.0.0.1:1' },
    ann: person('ann', 1), ben: person('ben', 2), cyd: person('cyd', 3), admin: { token: 'token-admin' }, owns: { ann: own(1), ben: own(2), cyd: own(3) },
    close: () => { server.closeAllConnections(); server.close(); },
  };
}

async function findingsWith(fault, { maxRequests = 1200, limitMs } = {}) {
  const deployment = await startSmallServer(fault);
  const walk = new Walk(deployment, { seed: 7, ...(limitMs ? { limitMs } : {}) });
  try {
    await walk.prepare();
    await walk.visitAll();
    await walk.run({ workers: 4, until: (w) => w.sent >= maxRequests || (fault && w.findings.size > 0) });
    return [...walk.findings.values()];
  } finally {
    walk.close();
    deployment.close();
  }
}

test('a correct server has no findings', async () => {
  assert.deepEqual(await findingsWith(undefined), []);
});

const list = (e) => e.req.method === 'GET' && e.path === '/agents' && e.things.has(e.me);
const faults = {
  'status 500': (e) => e.req.method === 'POST' && e.body?.name === '' && (e.send(500, { detail: 'oops' }), true),
  'no Retry-After': (e) => list(e) && (e.send(503, { detail: 'busy' }), true),
  'no Allow header': (e) => e.req.method === 'DELETE' && (e.res.writeHead(405, { 'content-type': 'application/json' }).end('{"detail":"no"}'), true),
  'a response that is not as described': (e) => list(e) && (e.send(200, [{ agent_id: uuid(9), name: 'x', more: 1 }]), true),
  'a body that is not JSON': (e) => list(e) && (e.res.writeHead(200, { 'content-type': 'application/json' }).end('[}'), true),
  'a status of a route that is not described': (e) => e.path !== '/agents' && e.path.startsWith('/agents/') && e.path.split('/').length > 3 && (e.send(200, {}), true),
  'a request that is not as described was taken': (e) => e.req.method === 'POST' && e.me === 'ann' && e.path === '/agents' && (e.send(201, { agent_id: uuid(50), name: 'mark-ann-000001' }), true),
  'a success without credentials': (e) => e.req.method === 'GET' && e.path === '/agents' && e.me === undefined && (e.send(200, []), true),
  'a success of an administrator’s route': (e) => e.path === '/admin/nodes' && e.me === 'ben' && e.req.method === 'GET' && (e.send(200, []), true),
  'a success with an id of another account': (e) => e.path === `/agents/${uuid(3)}` && e.req.method === 'GET' && e.things.has(e.me) && (e.send(200, { agent_id: uuid(3), name: 'hidden' }), true),
  'an id of another account': (e) => list(e) && e.me === 'ben' && (e.send(200, [...e.things.get('ben'), { agent_id: uuid(1), name: 'x' }]), true),
  'text of another account': (e) => list(e) && e.me === 'ann' && (e.send(200, [{ agent_id: uuid(60), name: 'of mark-cyd-000003' }]), true),
  'a secret': (e) => list(e) && e.me === 'admin' && (e.send(200, [{ agent_id: uuid(61), name: 'the deployment secret' }]), true),
  'internal text': (e) => e.req.method === 'POST' && e.body && typeof e.body.name !== 'string' && (e.send(422, { detail: 'ERROR: invalid input syntax for type uuid' }), true),
  'an injected header': (e) => e.path.includes('%') && (e.send(404, { detail: 'Not Found' }, { 'X-A': '1' }), true),
  'no response': (e) => e.req.method === 'GET' && e.path === '/agents' && e.req.url.includes('limit=0') && (e.res.destroy(), true),
};
for (const [kind, fault] of Object.entries(faults))
  test(`detects: ${kind}`, async () => {
    const found = await findingsWith(fault, { maxRequests: 6000 });
    const one = found.find((f) => f.kind === kind);
    assert.ok(one, JSON.stringify(found));
    assert.match(one.command, /^(curl|echo .*(curl|nc -q)|\(\d+ bytes\) \S)/);
  });

test('detects a request that hangs and a server that exited', async () => {
  const hung = await findingsWith((e) => list(e) && e.me === 'ben', { limitMs: 500 * slow });
  assert.match(hung.find((f) => f.kind === 'no response').detail, /no complete response/);
  const deployment = await startSmallServer();
  const walk = new Walk(deployment, { seed: 1 });
  await walk.prepare();
  deployment.server.process.exitCode = 134;
  deployment.server.log = 'AddressSanitizer: heap-use-after-free';
  await walk.run({ until: () => false });
  assert.match([...walk.findings.values()].find((f) => f.kind === 'the server exited').detail, /AddressSanitizer/);
  walk.close();
  deployment.close();
});
