// Runs one case: executes its steps against a server and collects the facts that are checked (see README.md).
import { browse } from '../../e2e/lib/oauth.mjs';
import { sleep, textOf } from '../../e2e/lib/server.mjs';
import { viewOf } from './request_view.mjs';
import { startMcp, startSite } from './site.mjs';

export const model = (id, kind) => `${id}-${kind}/m`;

async function run(u, c, facts, { prompt = 'hi', kind = c.kind ?? 'openai', thread, files }) {
  const form = { prompt, model_name: model(c.id, kind) };
  if (thread === 'same') form.thread_id = facts.runs.at(-1).thread;
  if (files) form.files = files;
  const started = await u.start(form);
  if (started.status !== 200) {
    facts.runs.push({ status: `refused ${started.status}`, error: started.text, thread: facts.runs.at(-1)?.thread });
    return;
  }
  const { agent_run_id: id, thread_id } = started.json;
  const { events, raw } = await u.stream(id);
  const of = (type) => events.filter((e) => e.type === type);
  const end = of('status').at(-1);
  const thoughts = events.filter((e) => e.type !== 'llm_response_chunk')
    .map((e) => (e.type === 'reasoning_chunk' ? { ...e, type: 'llm_response_chunk' } : e));
  const snapshot = await u.stream(id, { query: '?mode=snapshot' });
  facts.runs.push({ thread: thread_id, status: end.status, reason: end.reason, error: end.error,
    error_code: end.error_code, credits: end.credits, usage: end.usage, text: textOf(events),
    thoughts: textOf(thoughts), finish: of('llm_response_end').map((e) => e.finish),
    calls: of('tool_call').map((e) => ({ name: e.name, arguments: e.arguments })),
    results: of('tool_result').map((e) => JSON.stringify(e)), aborted: of('turn_aborted').length,
    notices: of('notice').map((e) => e.code), compacted: of('context_compacted').length, raw, snapshot: snapshot.raw });
}

const agentTools = async (u) => `/agents/${(await u.get('/agents')).json.agents[0].agent_id}/custom-mcp-tools`;
async function enable(u, peer, { name = 'peer', tools }) {
  const enabledTools = tools.map((t) => t.name);
  const custom_mcps = [{ name, type: 'http', config: { url: peer.url }, enabledTools }];
  const r = await u.request('PUT', await agentTools(u), { json: { custom_mcps } });
  if (r.status !== 200) throw new Error(`enabling the tools: ${r.status} ${r.text}`);
}

const steps = {
  run: (w, options) => run(w.user, w.case, w.facts, options),
  list: async (w) => w.record('list', await w.admin.post('/admin/mcp/tools',
    { json: { type: 'http', config: { url: w.peer.url } } })),
  call: async (w, { tool, args = {} }) => w.record('call', await w.admin.post('/admin/mcp/call',
    { json: { type: 'http', config: { url: w.peer.url }, tool, arguments: args } })),
  profile: async (w, more) => {
    const made = await w.user.post('/mcp/profiles', { json: { url: w.peer.url, display_name: 'Mine', ...more } });
    w.profile = w.record('profile', made).json.profile_id;
  },
  // Requests the link and follows it like the user's browser.
  consent: async (w) => {
    const link = w.record('connect', await w.user.post(`/mcp/profiles/${w.profile}/connect`, { json: {} }));
    if (link.status === 200) w.record('consent', await browse(link.json.connect_url));
  },
  tools: async (w) => w.record('tools', await w.user.get(await agentTools(w.user),
    { headers: { 'x-mcp-url': w.profile, 'x-mcp-type': 'prebuilt', 'cache-control': 'no-cache' } })),
  stopServer: (w) => w.peer.close(),
  revokeTokens: (w) => w.peer.revokeTokens(),
  forgetClients: (w) => w.peer.forgetClients(),
};

// Runs a case and returns its facts.
export async function play(c, { server, provider, admin }) {
  const { requests, refusals } = provider.of(c.id);
  const facts = { runs: [], replies: {}, refusals };
  const logged = server.log.length;
  const peer = c.site ? await startSite(c) : c.mcp ? await startMcp(c.mcp) : undefined;
  const w = { case: c, facts, peer, admin, user: await server.user(),
    record: (step, r) => { (facts.replies[step] ??= []).push({ status: r.status, text: r.text }); return r; } };
  try {
    if (c.mcp?.tools && !c.site) await enable(w.user, peer, c.mcp);
    for (const step of c.steps ?? [{ run: {} }]) {
      const [[verb, options]] = Object.entries(step);
      if (!steps[verb]) throw new Error(`there is no step ${verb}`);
      await steps[verb](w, options);
    }
    await sleep(20);  // the last lines of the log
  } finally {
    peer?.close();
  }
  const sent = peer?.messages ?? [];
  return { ...facts, run: facts.runs.at(-1), request: requests.length ? viewOf(requests.at(-1).body) : undefined,
    body: requests.at(-1)?.body, requests: requests.length, paths: requests.map((q) => q.path),
    pauses: requests.slice(1).map((q, i) => q.at - requests[i].at),
    called: sent.filter((q) => q.message.method === 'tools/call').map((q) => q.message.params),
    resumedFrom: sent.filter((q) => q.method === 'GET').map((q) => q.headers['last-event-id']),
    registrations: c.site ? peer.requests.filter((q) => q.path === '/register').length : undefined,
    log: server.log.slice(logged) };
}
