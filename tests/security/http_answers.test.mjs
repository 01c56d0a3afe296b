// Security headers of responses, and paths that are not valid UTF-8.
import assert from 'node:assert/strict';
import { attack, regular, setUp, tearDown } from './lib/attack.mjs';
import { Server, makeDatabase } from './lib/server.mjs';
import { ask } from './lib/wire.mjs';

let database, server, user, admin;

setUp(async () => {
  database = makeDatabase();
  server = await new Server({ database }).start();
  user = await server.user();
  admin = await server.user({ role: 'super_admin' });
});
tearDown(async () => {
  await server?.close();
  database?.drop();
});

const routes = async () => {
  const doc = (await ask(server.url, 'GET', '/openapi.json')).json;
  return Object.entries(doc.paths).flatMap(([path, item]) => Object.keys(item)
    .filter((m) => ['get', 'put', 'post', 'patch', 'delete'].includes(m)).map((m) => [m.toUpperCase(), path]));
};

attack('every route with path parameters responds with 4xx to invalid UTF-8', ['utf8_paths'], { timeout: 120000 }, async () => {
  const all = (await routes()).filter(([, path]) => path.includes('{'));
  assert.ok(all.length > 30, `${all.length} routes`);
  for (const bad of ['%ff', '%c3', '%c3%28', '%ed%a0%80', '%f5%80%80%80', '%c0%af', 'a%80b']) {
    for (const [method, path] of all) {
      const r = await ask(server.url, method, path.replace(/\{[^}]*\}/g, bad), {
        headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' }, body: method === 'GET' ? undefined : '{}' });
      assert.ok(r.status >= 400 && r.status < 500, `${method} ${path} with ${bad}: ${r.status} ${r.text}`);
    }
  }
});

regular('invalid UTF-8 in queries and bodies causes no 5xx', async () => {
  for (const target of ['/threads?cursor=%ff', '/agents?limit=%ff', '/agents?cursor=%c3%28', '/notifications?cursor=%ff', '/admin/accounts?q=%ff', '/admin/jobs?kind=%ff']) {
    const r = await ask(server.url, 'GET', target, { headers: { authorization: `Bearer ${admin.token}` } });
    assert.ok(r.status < 500, `${target}: ${r.status} ${r.text}`);
  }
  const r = await ask(server.url, 'POST', '/agents', { headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' }, body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from('"}')]).toString('latin1') });
  assert.ok(r.status < 500, r.text);
});

attack('responses forbid content sniffing, and responses to an account are not cacheable', ['response_headers'], { timeout: 60000 }, async () => {
  for (const [method, path] of await routes()) {
    if (method !== 'GET' || /stream/.test(path)) continue;
    const target = path.replace(/\{[^}]*\}/g, '0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11');
    const mine = await ask(server.url, 'GET', target, { headers: { authorization: `Bearer ${user.token}` } });
    assert.equal(mine.header('x-content-type-options'), 'nosniff', `${path}: ${mine.head}`);
    assert.ok(mine.header('cache-control'), `${path}: ${mine.head}`);
    assert.doesNotMatch(mine.header('cache-control'), /public/, path);
    const refused = await ask(server.url, 'GET', target);
    assert.equal(refused.header('x-content-type-options'), 'nosniff', path);
  }
  for (const target of ['/account', '/threads', '/agents', '/agents/0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11'])
    assert.equal((await ask(server.url, 'GET', target, { headers: { authorization: `Bearer ${user.token}` } })).header('cache-control'), 'no-store', target);
});
