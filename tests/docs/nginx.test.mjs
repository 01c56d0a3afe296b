// docs/nginx/runyard.conf in front of two nodes: streams are not buffered, large uploads work, client addresses are
// forwarded, and a stopped node is skipped.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from '../e2e/lib/llm.mjs';
import { Client, Server, makeDatabase, sleep, waitFor } from '../e2e/lib/server.mjs';
import { page, replaced } from './lib.mjs';

const secrets = ['auth.jwt.hs256_secret=a secret of at least thirty-two bytes for this test', `secrets.key=${'5a'.repeat(32)}`];
const freePort = () => new Promise((resolve) => {
  const s = net.createServer().listen(0, '127.0.0.1', () => { const p = s.address().port; s.close(() => resolve(p)); });
});
let dir, database, llm, one, two, nginx, url;

before(async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';  // self-signed certificate
  dir = mkdtempSync('/tmp/ry-nginx-');
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const slow = lastUser(request).includes('[slow]');
    for (let i = 0; i < 5; i++) { reply.text(`w${i} `); if (slow) await sleep(300); }
    reply.end();
  });
  const set = [...secrets, 'http.trusted_proxies=["127.0.0.1"]'];
  // Fixed ports: a restarted node listens where nginx expects it.
  const node = async () => new Server({ database, llm, set: [...set, `http.listen=127.0.0.1:${await freePort()}`] }).start();
  one = await node();
  two = await node();
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=runs.example.org',
    '-keyout', path.join(dir, 'key.pem'), '-out', path.join(dir, 'cert.pem')], { stdio: 'ignore' });
  const [plain, tls] = [await freePort(), await freePort()];
  url = `https://127.0.0.1:${tls}`;
  const site = replaced(page('nginx/runyard.conf'), [
    ['server 127.0.0.1:8080 ', `server ${new URL(one.url).host} `],
    ['# server 10.0.0.2:8080 ', `server ${new URL(two.url).host} `],
    ['listen 80;', `listen 127.0.0.1:${plain};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${tls} ssl http2;`],
    ['/etc/ssl/certs/runs.example.org.pem', path.join(dir, 'cert.pem')],
    ['/etc/ssl/private/runs.example.org.key', path.join(dir, 'key.pem')]]);
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(path.join(dir, name));
  writeFileSync(path.join(dir, 'site.conf'), site);
  writeFileSync(path.join(dir, 'nginx.conf'), `
daemon off; pid ${dir}/pid; error_log ${dir}/error.log; worker_processes 2; ${process.getuid() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi; scgi_temp_path ${dir}/scgi;
  include ${dir}/site.conf;
}`);
  nginx = spawn('/usr/sbin/nginx', ['-p', dir, '-c', path.join(dir, 'nginx.conf')], { stdio: ['ignore', 'inherit', 'inherit'] });
  await waitFor('nginx', async () => { try { return (await fetch(`${url}/readyz`)).status === 200; } catch { return false; } });
});
after(async () => {
  if (nginx) { const exited = new Promise((r) => nginx.on('exit', r)); nginx.kill('SIGTERM'); await exited; }
  await one?.close();
  await two?.close();
  await llm?.close();
  database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

const viaNginx = (user) => new Client({ url }, user.token, user.id);

test('events of a stream arrive without delay', async () => {
  const u = viaNginx(await one.user());
  const r = await u.start({ prompt: '[slow]' });
  assert.equal(r.status, 200, r.text);
  const at = [];
  const s = await u.stream(r.json.agent_run_id, { timeout: 120000, onEvent: (e) => { if (e.type === 'llm_response_chunk') at.push(performance.now()); } });
  assert.equal(s.events.at(-1).status, 'completed');
  assert.ok(at.length >= 5 && at.at(-1) - at[0] > 600, JSON.stringify(at.map((t) => Math.round(t - at[0]))));
});

test('an upload above the default limit of nginx works, and client addresses are forwarded', async () => {
  const u = viaNginx(await one.user());
  const data = 'x'.repeat(3 << 20);
  const r = await u.start({ prompt: 'take it', files: [{ name: 'big.txt', data }] });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 120000 });
  assert.equal(s.events.at(-1).status, 'completed');
  // X-Forwarded-For of a client is ignored.
  const before = one.log.length + two.log.length;
  await fetch(`${url}/healthz`, { headers: { 'x-forwarded-for': '198.51.100.9' } });
  await waitFor('the access log', () => one.log.length + two.log.length > before);
  assert.ok(!(one.log + two.log).includes('198.51.100.9'));
});

test('no request fails when a node stops or is killed', async () => {
  const statusCounts = {};
  let stop = false;
  const load = Array.from({ length: 6 }, async () => {
    while (!stop) {
      let status;
      try { status = (await fetch(`${url}/healthz`)).status; } catch (e) { status = e.cause?.code ?? e.message; }
      statusCounts[status] = (statusCounts[status] ?? 0) + 1;
    }
  });
  await sleep(200);
  assert.equal((await two.stop()).code, 0);
  await sleep(300);
  await two.start();
  await sleep(5500);  // fail_timeout: nginx uses the node again
  await one.kill();
  await sleep(300);
  stop = true;
  await Promise.all(load);
  assert.deepEqual(Object.keys(statusCounts), ['200'], JSON.stringify(statusCounts));
});

test('metrics are restricted to internal addresses', async () => {
  assert.equal((await fetch(`${url}/metrics`)).status, 200, 'from this machine');
  assert.match(page('nginx/runyard.conf'), /location = \/metrics \{ allow 127\.0\.0\.1; deny all;/);
});
