// A deployment with every module that needs no vendor, with fakes of the services around it and accounts that own
// objects of every kind. ann, ben, the administrator and an anonymous client send requests; cyd only owns objects that
// the others must never see or change.
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { lastUser, startLlm, turns } from '../../e2e/lib/llm.mjs';
import { startScriptedServer } from '../../e2e/lib/mcp.mjs';
import { UserBrowser, startSdk } from '../../e2e/lib/oauth.mjs';
import { Client, Server, freePort, makeDatabase, slow, waitFor } from '../../e2e/lib/server.mjs';
import { startSmtp } from '../../e2e/lib/smtp.mjs';

const wait = 15000 * slow;
const whsec = () => `whsec_${randomBytes(32).toString('base64')}`;

const startSink = () => new Promise((resolve) => {
  const server = http.createServer((req, res) => { req.resume().on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}')); });
  server.listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } }));
});

// A prompt "$ COMMAND" makes the model run the command; "[slowly]" delays the response by a second.
async function model(request, reply) {
  const prompt = lastUser(request);
  const command = /^\$ (.+)$/m.exec(prompt)?.[1];
  if (command && !turns(request).some((m) => m.role === 'tool')) return reply.tools([{ name: 'shell', arguments: { command } }]);
  reply.text('a part ');
  if (prompt.includes('[slowly]')) await new Promise((go) => setTimeout(go, 1000));
  reply.say('and the rest');
}

// An account that logs in with a password. Every text that it sends contains `marker`, so that a leak to another
// account is detected.
class Person {
  constructor(deployment, name) {
    this.deployment = deployment;
    this.name = name;
    this.marker = `mark-${name}-${randomBytes(6).toString('hex')}`;
    this.email = `${name}.${this.marker}@example.test`;
    this.password = `pass ${this.marker} word`;
    this.keys = [];
  }
  async signUp(code) {
    const r = await this.deployment.anonymous.post('/auth/sign-up', { json: { email: this.email, password: this.password, name: this.marker, ...(code ? { referral_code: code } : {}) } });
    if (r.status !== 201) throw new Error(`sign-up of ${this.name}: ${r.status} ${r.text}`);
    this.session = r.json;
    this.id = r.json.account_id;
    this.newToken();
    await this.api.get('/account');
    return this;
  }
  newToken() {
    this.api = new Client(this.deployment.server, this.deployment.server.token({ subject: this.id, email: this.email }), this.id);
  }
  async logIn() {
    const r = await this.deployment.anonymous.post('/auth/log-in', { json: { email: this.email, password: this.password } });
    if (r.status === 200) this.session = r.json;
  }
}

async function expectStatus(promise, status, label) {
  const r = await promise;
  if (r.status !== status) throw new Error(`${label}: ${r.status} ${r.text}`);
  return r.json;
}

// Creates one object of every kind for a person; returns {kind: [ids]}.
async function createObjects(deployment, person) {
  const { api, marker } = person;
  const own = { account: [person.id] };
  const agent = await expectStatus(api.post('/agents', { json: { name: `agent ${marker}`, system_prompt: marker,
    custom_mcps: [{ name: 'Hand', type: 'http', config: { url: deployment.mcp.url, headers: { 'X-Key': `header ${marker} secret` } }, enabledTools: ['echo'] }] } }), 201, 'an agent');
  own.agent = [agent.agent_id];
  const started = await expectStatus(api.start({ prompt: `$ echo ${marker} > kept.txt\n${marker}`, agent_id: agent.agent_id, files: [{ name: `${marker}.txt`, data: `content ${marker}` }] }), 200, 'a run');
  await waitFor('the end of a run', async () => (await api.get(`/agent-run/${started.agent_run_id}`)).json.status !== 'running', wait);
  const run = (await api.get(`/agent-run/${started.agent_run_id}`)).json;
  if (run.status !== 'completed') throw new Error(`the run of ${person.name} ended: ${JSON.stringify(run)}`);
  Object.assign(own, { run: [started.agent_run_id], thread: [started.thread_id], project: [started.project_id ?? run.project_id] });
  const key = await expectStatus(api.post('/api-keys', { json: { name: `key ${marker}` } }), 201, 'an API key');
  own.api_key = [key.id];
  person.keys.push(key.key);
  await expectStatus(api.post('/notifications/device-token', { json: { device_token: `ExponentPushToken[${marker}]`, device_type: 'mobile', provider: 'expo' } }), 200, 'a device');
  own.device = [`ExponentPushToken[${marker}]`];
  const profile = await expectStatus(api.post('/mcp/profiles', { json: { integration: 'tracker', credentials: { token: `credential ${marker} secret` }, display_name: marker } }), 201, 'a profile');
  const consent = await expectStatus(api.post('/mcp/profiles', { json: { url: deployment.oauth.url, display_name: `oauth ${marker}` } }), 201, 'a profile with OAuth');
  own.profile = [consent.profile_id, profile.profile_id];
  const { connect_url: link } = await expectStatus(api.post(`/mcp/profiles/${consent.profile_id}/connect`, { json: {} }), 200, 'a link');
  const page = await new UserBrowser().browse(link);
  if (page.status !== 200) throw new Error(`the consent: ${page.status} ${page.text}`);
  const inbox = await waitFor('an inbox entry', async () => {
    const r = await api.get('/notifications/inbox');
    return r.json.notifications.length > 0 && r.json.notifications;
  }, wait);
  own.inbox = inbox.map((n) => n.id);
  own.session = (await expectStatus(new Client(deployment.server, person.session.access_token).get('/auth/sessions'), 200, 'sessions')).sessions.map((s) => s.id);
  own.code = [(await expectStatus(api.get('/api/v1/referrals/code'), 200, 'a code')).referral_code];
  // A friend who used the code, and one who is invited.
  const friend = await new Person(deployment, `friend-of-${person.name}`).signUp(own.code[0]);
  await expectStatus(friend.api.get('/account'), 200, 'a friend');
  const referrals = await waitFor('a referral', async () => {
    const { json } = await api.get('/api/v1/referrals/history');
    return json.length > 0 && json;
  }, wait);
  own.referral = referrals.map((x) => x.id);
  await expectStatus(api.post('/api/v1/referrals/send', { json: { email: `invited-${marker}@example.test` } }), 200, 'an invitation');
  const mail = await deployment.smtp.mail(`invited-${marker}@example.test`, wait);
  own.unsubscribe = [/\/mail\/unsubscribe\/([\w-]+)/.exec(mail.raw.replace(/=\r?\n/g, ''))?.[1]];
  return own;
}

// Returns the state of cyd's objects in the API and the database; other clients must not change it.
export async function inventory(deployment) {
  const { api, id, keys } = deployment.cyd, own = deployment.owns.cyd, out = {};
  const record = async (path) => {
    const r = await api.get(path);
    out[path] = r.status === 200 ? r.text : `${r.status} ${r.text}`;
  };
  for (const path of [`/threads/${own.thread[0]}`, `/threads/${own.thread[0]}/messages`, `/agent-run/${own.run[0]}`, `/projects/${own.project[0]}/files`,
    `/projects/${own.project[0]}/files/content?path=kept.txt`, '/mcp/profiles', '/notifications/preferences', '/notifications/settings', '/api/v1/referrals/code'])
    await record(path);
  const agent = (await api.get(`/agents/${own.agent[0]}`)).json;
  out.agent = JSON.stringify({ ...agent, updated_at: undefined });
  out.key = String((await new Client(deployment.server, keys[0]).get('/account')).status);
  // Any account may sign up with cyd's code, which earns credits for cyd.
  const history = (await api.get('/api/v1/referrals/history')).json;
  const earned = Number(deployment.db.sql(`select coalesce(sum(credits_awarded), 0) from referrals.referral where referrer_id = '${id}'`));
  out.referrals = JSON.stringify(history.filter((referral) => own.referral.includes(referral.id)));
  const { balance_credits, tier, role } = (await api.get('/account')).json;
  out.account = JSON.stringify({ balance_credits: balance_credits - earned, tier, role });
  out.sessions = deployment.db.sql(`select count(*) from accounts.session where account_id = '${id}'`);
  out.devices = deployment.db.sql(`select count(*) from notifications.device_token where account_id = '${id}'`);
  const read = (await api.get('/notifications/inbox')).json.notifications.filter((n) => own.inbox.includes(n.id)).map((n) => [n.id, n.read]);
  out.inbox = JSON.stringify(read);
  return out;
}

// `settings`, `set`: additional settings of the server.
export async function startDeployment({ settings = '', set = [] } = {}) {
  const deployment = { hooks: [whsec()], closers: [], signedUp: 0 };
  const closing = (x) => { deployment.closers.unshift(() => x.close()); return x; };
  deployment.close = async () => { for (const c of deployment.closers.splice(0)) await c(); };
  try {
    deployment.smtp = closing(await startSmtp({ starttls: false, faults: { rcpt: ({ to }) => (to.startsWith('refused') ? [550, '5.1.1 no such user'] : null) } }));
    deployment.llm = closing(await startLlm(model));
    deployment.mcp = closing(await startScriptedServer());
    deployment.oauth = closing(await startSdk());
    deployment.sink = closing(await startSink());
    deployment.db = makeDatabase();
    deployment.closers.push(() => deployment.db.drop());
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const sealing = randomBytes(32).toString('hex');
    deployment.secrets = ['sk-test-secret-value', sealing, ...deployment.hooks, 'integration client secret'];
    deployment.server = new Server({ database: deployment.db, llm: deployment.llm, programs: 'listed', set, settings: `
[mail]
host = "127.0.0.1"
port = ${deployment.smtp.port}
security = "none"
from = "runyard@example.test"
per_recipient_hour = 1000000
[secrets]
key = "${sealing}"
[accounts]
local_login = true
[accounts.login]
verify = "none"
hash_memory_mib = 8
attempts_per_network = 1000000
[accounts.identity_webhook]
secrets = ["${deployment.hooks[0]}"]
[accounts.tiers.pro]
concurrent_runs = 4
starting_credits = 100000
[notifications]
allowed_modes = ["local"]
[notify_builtin]
expo_url = "${deployment.sink.url}"
[mcp_prebuilt]
max_profiles = 1000
[mcp_prebuilt.integrations.tracker]
url = "${deployment.mcp.url}"
headers = { Authorization = "Bearer {token}" }
[mcp_prebuilt.integrations.machine]
url = "${deployment.mcp.url}"
[mcp_prebuilt.integrations.machine.oauth]
grant = "client_credentials"
client_id = "runyard"
client_secret = "integration client secret"
issuer = "${deployment.sink.url}"
[webhooks.endpoints.sink]
url = "${deployment.sink.url}/hook"
secrets = ["${deployment.hooks[0]}"]
${settings}
` });
    deployment.server.set = [...deployment.server.set, `http.listen=127.0.0.1:${port}`, `http.public_url=${url}`];
    deployment.closers.unshift(() => deployment.server.close());
    await deployment.server.start({ timeout: 60000 * slow });
    deployment.anonymous = new Client(deployment.server);
    deployment.admin = await deployment.server.user({ role: 'super_admin' });
    deployment.newAdmin = (id) => new Client(deployment.server, deployment.server.token({ subject: id, role: 'super_admin' }), id);
    await deployment.admin.get('/account');
    const people = ['ann', 'ben', 'cyd'];
    deployment.owns = {};
    for (const name of people) {
      const person = (deployment[name] = await new Person(deployment, name).signUp());
      await expectStatus(deployment.admin.request('PUT', `/admin/accounts/${person.id}`, { json: { tier: 'pro' } }), 200, 'the tier');
      await expectStatus(deployment.admin.post(`/admin/accounts/${person.id}/grant`, { json: { credits: 100000 } }), 200, 'credits');
      deployment.owns[name] = await createObjects(deployment, person);
    }
    await expectStatus(deployment.ann.api.post('/api/v1/referrals/send', { json: { email: 'refused.ann@example.test' } }), 200, 'an invitation that is refused');
    deployment.before = await inventory(deployment);
    return deployment;
  } catch (e) {
    await deployment.close();
    throw e;
  }
}
