// The environment of a scenario file: the real binary on a separate database, a model that follows the tags in the
// prompt, and accounts.
import { randomUUID } from 'node:crypto';
import { lastUser, startLlm, turns } from '../e2e/lib/llm.mjs';
import { Client, Server, makeDatabase, sleep } from '../e2e/lib/server.mjs';
import { startSmtp } from '../e2e/lib/smtp.mjs';
import { startIdentity, startReceiver, webhookSecret } from './external_services.mjs';

// Follows the tags in the user's prompt; see README.md.
async function respondToTags(request, reply) {
  const prompt = lastUser(request);
  const results = turns(request).filter((m) => m.role === 'tool');
  const tool = [...prompt.matchAll(/\[tool (\w+) (\{.*?\})\]/g)];
  if (tool.length && results.length === 0)
    return reply.tools(tool.map((m, i) => ({ id: `call_${i}`, name: m[1], arguments: JSON.parse(m[2]) })));
  if (results.length) return reply.say(`tools said: ${results.map((m) => m.content).join(' | ')}`);
  const status = /\[fail (\d+)\]/.exec(prompt);
  if (status) return reply.fail(Number(status[1]), {}, 'the model was told to fail');
  if (prompt.includes('[cut]')) { reply.text('half an '); return reply.cut(); }
  if (prompt.includes('[hang]')) { reply.text('begun '); return undefined; }
  if (prompt.includes('[slow]')) {
    for (let i = 0; i < 400 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(50); }
    return reply.end();
  }
  if (prompt.includes('[think]')) {
    reply.text('');  // sends the response head
    reply.res.write(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: request.model, choices: [{ index: 0, delta: { reasoning_content: 'Let me see.' }, finish_reason: null }] })}\n\n`);
  }
  const usage = /\[usage (\d+) (\d+)\]/.exec(prompt);
  for (const word of ['Hello', ' from', ' the', ' model']) reply.text(word);
  return reply.end(usage ? { input: Number(usage[1]), output: Number(usage[2]) } : undefined);
}

export class Environment {
  // `options`: the `server` part of a file.
  constructor(options = {}) {
    for (const key of Object.keys(options))
      if (!['settings', 'model', 'set', 'base_path', 'receiver', 'identity', 'smtp'].includes(key)) throw new Error(`a server has no "${key}"`);
    this.options = options;
  }
  async open() {
    const { settings = '', model = 'mock', receiver, identity, smtp } = this.options;
    this.database = makeDatabase();
    if (model === 'mock') this.llm = await startLlm(respondToTags);
    if (receiver) this.receiver = await startReceiver();
    if (identity) this.identity = await startIdentity();
    if (smtp) {
      const faults = { rcpt: ({ to }) => (/^refuse/.test(to) ? [550, '5.1.1 No such user'] : /^later/.test(to) ? [451, '4.7.1 Greylisted'] : undefined) };
      this.smtp = await startSmtp({ starttls: false, faults });
    }
    const known = { receiver: this.receiver?.url, identity: this.identity?.url, secret: webhookSecret, smtp: this.smtp?.port };
    this.server = new Server({
      database: this.database, llm: this.llm, set: this.options.set ?? [],
      settings: settings.replace(/\$\{(\w+)\}/g, (all, name) => known[name] ?? all),
    });
    await this.start();
    this.admin = new Client(this.server, this.server.token({ role: 'super_admin' }));
  }
  async start() {
    await this.server.start();
    this.server.url += this.options.base_path ?? '';
  }
  // mode: kill (SIGKILL) or stop (SIGTERM).
  async restart(mode) {
    await this.server[mode]();
    await this.start();
  }
  async close() {
    await this.server?.close();
    for (const other of [this.llm, this.receiver, this.identity, this.smtp]) await other?.close();
    this.database?.drop();
  }

  // Creates an account; an admin sets `tier` and `credits`.
  async account({ tier, credits, ...options } = {}) {
    const user = await this.server.user(options);
    if (tier || credits !== undefined) await user.get('/account');
    const adminCall = async (method, pathname, json) => {
      const r = await this.admin.request(method, pathname, { json });
      if (r.status !== 200) throw new Error(`${method} ${pathname}: ${r.status} ${r.text}`);
      return r.json;
    };
    const at = `/admin/accounts/${user.id}`;
    if (tier) await adminCall('PUT', at, { tier });
    if (credits !== undefined) {
      const { balance_credits: now } = (await this.admin.get(at)).json;
      if (credits > now) await adminCall('POST', `${at}/grant`, { credits: credits - now });
      if (credits < now) await adminCall('POST', `${at}/revoke`, { credits: now - credits });
    }
    return user;
  }

  // Returns a caller of a scenario, which is created on first use.
  async caller(name, callers, spec = {}) {
    if (name === 'nobody') return new Client(this.server);
    if (callers[name]) return callers[name];
    const roles = { admin: 'admin', super_admin: 'super_admin' };
    const made = await this.account({ ...(roles[name] ? { role: roles[name] } : {}), ...spec[name] });
    return (callers[name] = made);
  }
}
export { randomUUID, sleep };
