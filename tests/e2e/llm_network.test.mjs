// Model providers behind proxies and private certificate authorities, configured by settings of the provider or by the
// environment. Most tests use `runyard model check`, which sends requests as the server does; one test runs a server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { makeCertificate } from './lib/certificate.mjs';
import { Server, binary, build, makeDatabase } from './lib/server.mjs';

const name = 'model.provider.test';  // only the proxy can resolve it
const listen = (s) => new Promise((resolve) => s.listen(0, '127.0.0.1', () => resolve(s.address().port)));

// A provider that sends the same response to every request.
const seen = [];
function respond(req, res) {
  req.resume().on('end', () => {
    seen.push({ url: req.url, headers: req.headers });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of ['all ', 'is ', 'well'])
      res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`);
    res.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 5, completion_tokens: 3 } })}\n\ndata: [DONE]\n\n`);
  });
}

let dir, certificate, plain, secure, proxy, ports = {}, proxied = [];
before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-network-'));
  certificate = makeCertificate(`DNS:${name}`);
  plain = http.createServer(respond);
  secure = https.createServer({ key: certificate.key, cert: certificate.cert }, respond);
  ports = { plain: await listen(plain), secure: await listen(secure) };
  // The proxy forwards every request to one of the two providers above.
  proxy = http.createServer((req, res) => {
    proxied.push({ method: req.method, url: req.url, authorization: req.headers['proxy-authorization'] });
    if (rejectsCredentials) return res.writeHead(407, { 'proxy-authenticate': 'Basic realm="x"' }).end();
    const { 'proxy-authorization': _, ...headers } = req.headers;
    const { pathname, search } = new URL(req.url);
    const upstream = http.request({ host: '127.0.0.1', port: ports.plain, method: req.method, path: pathname + search, headers }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    req.pipe(upstream);
  });
  proxy.on('connect', (req, socket) => {
    proxied.push({ method: 'CONNECT', url: req.url, authorization: req.headers['proxy-authorization'] });
    if (rejectsCredentials) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const upstream = net.connect(ports.secure, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const s of [upstream, socket]) s.on('error', () => {});
  });
  ports.proxy = await listen(proxy);
});
after(() => {
  for (const s of [plain, secure, proxy]) { s?.closeAllConnections(); s?.close(); }
  certificate?.remove();
  rmSync(dir, { recursive: true, force: true });
});

let rejectsCredentials = false;
const credentials = 'ann:very-secret-word';
const basic = `Basic ${Buffer.from(credentials).toString('base64')}`;
const proxyUrl = (auth = '') => `http://${auth && `${auth}@`}127.0.0.1:${ports.proxy}`;
const providerToml = (base, more) => `[runs.providers.far]\nkind = "openai"\nbase_url = "${base}"\n${more}\n`;

async function command(args, base, more = '', env = {}) {
  proxied = [];
  seen.length = 0;
  const file = path.join(dir, 'a.toml');
  writeFileSync(file, `modules.path = "${build}/modules"\ndata_dir = "${dir}/data"\ndatabase.url = "postgresql://nobody@127.0.0.1:1/none"
${['accounts', 'agents', 'runs', 'llm_openai', 'llm_offline'].map((m) => `[modules.${m}]\nenabled = true`).join('\n')}\n${providerToml(base, more)}`);
  const child = spawn(binary, [...args, '--config', file], { env: { PATH: process.env.PATH, ...env } });
  let out = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (out += d));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.ok(!out.includes('very-secret-word') && !out.includes(basic.slice(6)), 'the password is never shown');
  return { code, out };
}
// Runs `runyard model check` and returns the result of its text check.
async function checkText(base, more, env) {
  const { out } = await command(['model', 'check', 'far/m'], base, more, env);
  return /^ {2}text +(.*)$/m.exec(out)?.[1] ?? out;
}

test('http requests use the absolute form, and only the proxy receives its credentials', async () => {
  assert.match(await checkText(`http://${name}/v1`, `proxy = "${proxyUrl(credentials)}"\nheaders = { "X-Team" = "blue" }`), /^ok /);
  assert.equal(proxied[0].method, 'POST');
  assert.equal(proxied[0].url, `http://${name}/v1/chat/completions`);
  assert.equal(proxied[0].authorization, basic);
  assert.equal(seen[0].headers.host, name);
  assert.equal(seen[0].headers['proxy-authorization'], undefined);
  assert.equal(seen[0].headers['x-team'], 'blue');
});

test('https requests use CONNECT, and ca_file applies only to its provider', async () => {
  const more = `proxy = "${proxyUrl(credentials)}"\nca_file = "${certificate.file}"\napi_key = "sk-for-the-provider"`;
  assert.match(await checkText(`https://${name}/v1`, more), /^ok /);
  assert.deepEqual(proxied[0], { method: 'CONNECT', url: `${name}:443`, authorization: basic });
  assert.equal(seen[0].headers.authorization, 'Bearer sk-for-the-provider');
  assert.equal(seen[0].headers['proxy-authorization'], undefined);
  assert.match(await checkText(`https://${name}/v1`, `proxy = "${proxyUrl()}"`), /^failed .*TLS with model\.provider\.test failed/);
});

test('proxy variables and NO_PROXY are used; the setting of the provider takes precedence', async () => {
  const env = { HTTP_PROXY: proxyUrl(credentials), HTTPS_PROXY: `127.0.0.1:${ports.proxy}`, NO_PROXY: 'localhost,127.0.0.1' };
  assert.match(await checkText(`http://${name}/v1`, '', env), /^ok /);
  assert.equal(proxied[0].authorization, basic);
  assert.match(await checkText(`https://${name}/v1`, `ca_file = "${certificate.file}"`, env), /^ok /);
  assert.equal(proxied[0].method, 'CONNECT');
  const direct = `http://127.0.0.1:${ports.plain}/v1`;
  assert.match(await checkText(direct, '', env), /^ok /);
  assert.equal(proxied.length, 0, 'NO_PROXY excludes the provider');
  assert.match(await checkText(direct, '', { http_proxy: proxyUrl() }), /^ok /);
  assert.ok(proxied.length > 0, 'lower-case variables work, and loopback is not excluded by default');
  for (const none of ['none', '']) {
    assert.match(await checkText(direct, `proxy = "${none}"`, { HTTP_PROXY: proxyUrl() }), /^ok /);
    assert.equal(proxied.length, 0, `proxy = "${none}"`);
  }
  assert.match(await checkText(direct, `proxy = "${proxyUrl()}"`, { ...env, HTTP_PROXY: 'http://127.0.0.1:1' }), /^ok /);
  assert.ok(proxied.length > 0, 'NO_PROXY applies only to proxies from the environment');
});

test('errors name a proxy that rejects requests or is unreachable', async () => {
  rejectsCredentials = true;
  for (const base of [`http://${name}/v1`, `https://${name}/v1`])
    assert.match(await checkText(base, `proxy = "${proxyUrl(credentials)}"`), /^failed .*the proxy 127\.0\.0\.1:\d+ rejected or requires credentials/);
  assert.equal(proxied.length, 1, 'the request is not retried');
  rejectsCredentials = false;
  assert.match(await checkText(`https://${name}/v1`, 'proxy = "http://ann:very-secret-word@127.0.0.1:1"'), /^failed .*could not connect to the proxy 127\.0\.0\.1:1/);
  assert.match(await checkText(`https://${name}/v1`, '', { HTTPS_PROXY: 'socks5://ann:very-secret-word@127.0.0.1:1' }), /^failed .*HTTPS_PROXY .*only http:\/\/ proxies/);
});

test('runyard check rejects invalid values by setting name', async () => {
  const invalidPem = path.join(dir, 'no.pem');
  writeFileSync(invalidPem, 'not a certificate');
  for (const [more, message] of [
    ['proxy = "socks5://ann:very-secret-word@h"', /runs\.providers\.far\.proxy: must be http:/],
    ['proxy = "https://ann:very-secret-word@h"', /runs\.providers\.far\.proxy: must be http:/],
    [`ca_file = "${dir}/missing.pem"`, /runs\.providers\.far\.ca_file: cannot be read/],
    [`ca_file = "${invalidPem}"`, /runs\.providers\.far\.ca_file: cannot be used: there is no certificate in PEM form/],
    ['headers = { "bad name" = "x" }', /runs\.providers\.far\.headers.*is not a header name/],
  ]) {
    const { code, out } = await command(['check'], `http://${name}/v1`, more);
    assert.equal(code, 2, out);
    assert.match(out, message);
  }
  const { code, out } = await command(['check', '--show'], `http://${name}/v1`, `proxy = "${proxyUrl(credentials)}"\nca_file = "${certificate.file}"`);
  assert.equal(code, 0, out);
});

test('a run uses the proxy of its provider, and the credentials are not logged', async () => {
  const database = makeDatabase();
  const settings = `${providerToml(`https://${name}/v1`, `proxy = "${proxyUrl(credentials)}"\nca_file = "${certificate.file}"`)}[runs.models]\n"runyard/basic" = "far/m"`;
  const server = await new Server({ database, settings }).start();
  try {
    proxied = [];
    const user = await server.user();
    const run = (await user.start({ prompt: 'hello' })).json;
    const { events } = await user.stream(run.agent_run_id, { timeout: 20_000 });
    assert.equal(events.at(-1).status, 'completed', JSON.stringify(events.at(-1)));
    assert.deepEqual(proxied[0], { method: 'CONNECT', url: `${name}:443`, authorization: basic });
    assert.ok(!readFileSync(path.join(server.dir, 'server.log'), 'utf8').includes('very-secret-word'));
  } finally {
    await server.close();
    database.drop();
  }
});
