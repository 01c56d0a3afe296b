// The document at /openapi.json is valid, describes every registered route, and changes with the loaded modules.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Document, checkContract } from './lib/openapi.mjs';
import { Client, Server, everything, makeDatabase } from './lib/server.mjs';

let database, server, admin, api;
const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

before(async () => {
  database = makeDatabase();
  server = await new Server({ database, settings: everything }).start();
  admin = new Client(server, server.token({ role: 'super_admin' }));
  api = await read();
});
after(async () => {
  await server?.close();
  database?.drop();
});

const read = async () => (await new Client(server).get('/openapi.json')).json;
// Every operation as [name, operation].
const operations = (d) => Object.entries(d.paths).flatMap(([path, item]) => methods.filter((m) => item[m]).map((m) => [`${m.toUpperCase()} ${path}`, item[m]]));
const follow = (d, node) => (node?.$ref ? follow(d, node.$ref.slice(2).split('/').reduce((o, k) => o[k.replaceAll('~1', '/').replaceAll('~0', '~')], d)) : node);

test('the document is OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(api));
  assert.equal(result.valid, true, JSON.stringify(result.errors)?.slice(0, 2000));
  assert.match(api.openapi, /^3\.1\./);
  const ids = operations(api).map(([, o]) => o.operationId);
  assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i), []);
});

test('every route of the host and the modules is described with request, responses, errors and examples', async () => {
  const modules = (await admin.get('/admin/modules')).json;
  const registered = modules.flatMap((m) => m.routes).map((r) => r.replace('...}', '}'));
  const all = new Map(operations(api));
  for (const route of [...registered, 'GET /healthz', 'GET /readyz', 'GET /metrics', 'GET /openapi.json', 'GET /admin/modules', 'POST /admin/modules/{name}/reload'])
    assert.ok(all.has(route), `${route} is not in the document`);
  const missing = [];
  for (const [name, o] of all) {
    const need = (present, problem) => { if (!present) missing.push(`${name}: ${problem}`); };
    // The bodies of these routes are those of other specifications, which have the examples.
    const external = / \/(a2a|v1|mcp|agui|aisdk|\.well-known)(\/|$)/.test(name) && !name.includes('/mcp/profiles');
    const hasExample = (media) => external || 'example' in media || Object.keys(media.examples ?? {}).length > 0;
    need(o.summary, 'no summary');
    // Some of their operations exist only to be refused.
    need(external || Object.keys(o.responses).some((s) => /^[23]/.test(s)), 'no success response');
    need(!('default' in o.responses), 'a default response');
    for (const [status, at] of Object.entries(o.responses)) {
      const r = follow(api, at);
      need(r.description, `${status} has no description`);
      for (const [type, media] of Object.entries(r.content ?? {})) {
        need(media.schema, `${status} ${type} has no schema`);
        if (type.endsWith('json')) need(hasExample(media), `${status} ${type} has no example`);
      }
    }
    for (const [type, media] of Object.entries(follow(api, o.requestBody)?.content ?? {}))
      if (type !== '*/*') need(media.schema && hasExample(media), `a request of ${type} has no schema or example`);
    const names = (o.parameters ?? []).map((at) => `${follow(api, at).in} ${follow(api, at).name}`);
    need(new Set(names).size === names.length, `duplicate parameters: ${names}`);
    for (const at of o.parameters ?? []) {
      const p = follow(api, at);
      need(p.schema, `the parameter ${p.name} has no schema`);
      // A description has several words, not only the name.
      need(p.description?.split(' ').length > 2, `the parameter ${p.name} has no description`);
    }
  }
  assert.deepEqual(missing, []);
});

test('the examples match the schemas', () => {
  const d = new Document(JSON.stringify(api));
  const violations = [];
  const validateExamples = (where, keys, media, ajv) => {
    const values = 'example' in media ? [media.example] : Object.values(media.examples ?? {}).map((e) => follow(api, e).value);
    for (const value of values) {
      const fault = d.fault(ajv, [...keys, 'schema'], value);
      if (fault) violations.push(`${where}: ${fault}`);
    }
  };
  for (const [path, item] of Object.entries(api.paths))
    for (const method of methods.filter((m) => item[m])) {
      const o = item[method];
      for (const status of Object.keys(o.responses)) {
        const { node, at } = d.resolve(o.responses[status], ['paths', path, method, 'responses', status]);
        for (const [type, media] of Object.entries(node.content ?? {})) validateExamples(`${method} ${path} ${status}`, [...at, 'content', type], media, d.answers);
      }
      const { node, at } = d.resolve(o.requestBody, ['paths', path, method, 'requestBody']);
      for (const [type, media] of Object.entries(node?.content ?? {})) validateExamples(`${method} ${path} request`, [...at, 'content', type], media, d.requests);
      for (const [i, p] of (o.parameters ?? []).entries()) {
        const found = d.resolve(p, ['paths', path, method, 'parameters', i]);
        if ('example' in found.node) validateExamples(`${method} ${path} ${found.node.name}`, found.at, found.node, d.texts);
      }
    }
  assert.deepEqual(violations, []);
});

test('every route documents the responses of the host', () => {
  for (const [name, o] of operations(api)) {
    if (o.security.length > 0) assert.ok('401' in o.responses, name);
    if (name.includes(' /admin/')) assert.ok('403' in o.responses, name);
  }
  const stream = api.paths['/agent-run/{id}/stream'].get;
  assert.deepEqual(stream.security, [{ 'host.bearer': [] }, { 'host.query_token': [] }]);
});

test('with settings that change the routes, the document contains exactly the existing routes', async () => {
  const other = makeDatabase();
  const defaultServer = new Server({ database: other, set: ['mcp_prebuilt.redirect_url=https://app.example.org/connected'] });
  try {
    await defaultServer.start();
    const d = (await new Client(defaultServer).get('/openapi.json')).json;
    assert.equal(d.paths['/auth/sign-up'], undefined);
    assert.equal(d.paths['/auth/webhooks/identity'], undefined);
    assert.deepEqual(Object.keys(d.paths['/mcp/oauth/callback']), ['post']);
    assert.deepEqual(operations(d).filter(([, o]) => !o.summary), []);
    const result = await new Validator().validate(structuredClone(d));
    assert.equal(result.valid, true, JSON.stringify(result.errors)?.slice(0, 2000));
  } finally {
    await defaultServer.close();
    other.drop();
  }
});

test('the document changes when modules are disabled, enabled or reloaded', async () => {
  const code = '/api/v1/referrals/code';
  assert.ok(api.paths[code]);
  assert.equal((await admin.post('/admin/modules/referrals/disable')).status, 200);
  const without = await read();
  assert.equal(without.paths[code], undefined);
  assert.equal(Object.keys(without.components.schemas).some((n) => n.startsWith('referrals.')), false);
  assert.ok(without.paths['/agents']);
  assert.equal((await admin.post('/admin/modules/referrals/enable')).status, 200);
  assert.deepEqual(await read(), api);
  assert.equal((await admin.post('/admin/modules/agents/reload')).status, 200);
  assert.deepEqual(await read(), api);
});

test('the contract check detects differences between document and server', async () => {
  const contract = checkContract(server.url);
  const answer = (status, text) => ({ status, headers: new Headers({ 'content-type': 'application/json' }), text });
  const fault = (name, request, ...a) => contract.fault(name.split(' ')[0], new URL(server.url + name.split(' ')[1]), request, answer(...a));
  assert.equal(await fault('GET /healthz', {}, 200, '{"status": "ok"}'), undefined);
  for (const [a, pattern] of [[[200, '{"status": "good"}'], /must be equal to constant/], [[200, '{"status": "ok", "more": 1}'], /additional/],
    [[200, '{}'], /required property/], [[201, '{"status": "ok"}'], /status 201/], [[200, ''], /no body/]])
    assert.match(await fault('GET /healthz', {}, ...a), pattern);
  assert.match(await fault('GET /nowhere', {}, 200, '{}'), /not there/);
  const key = JSON.stringify({ id: 'x', name: 'n', created_at: '2026-11-20T09:30:00.000Z', expires_at: null, key: 'k' });
  const json = (body) => ({ headers: { 'content-type': 'application/json' }, body });
  assert.equal(await fault('POST /api-keys', json('{"name": "n"}'), 201, key), undefined);
  assert.match(await fault('POST /api-keys', json('{"nome": "n"}'), 201, key), /was taken/);
  assert.match(await fault('POST /api-keys?x=1', json('{}'), 201, key), /query parameter x/);
  assert.equal(await fault('POST /api-keys', json('{"nome": "n"}'), 422, '{"detail": "nome is not a known member"}'), undefined);
  assert.match(await fault('GET /agents?limit=1000', {}, 200, '{"agents": [], "next_cursor": null}'), /limit/);
});
