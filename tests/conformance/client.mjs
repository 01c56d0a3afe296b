// The client of one scenario: makes a running server list and call the tools of the scenario's MCP server, through the
// HTTP API. If the consent of a user is required, it acts as the user's browser.
//   client.mjs URL     RY_CONFORMANCE_URL, RY_CONFORMANCE_TOKEN: URL of the server and token of an admin
import { UserBrowser } from '../e2e/lib/oauth.mjs';

const target = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';

async function post(path, json) {
  const r = await fetch(process.env.RY_CONFORMANCE_URL + path, {
    method: 'POST', body: JSON.stringify(json),
    headers: { authorization: `Bearer ${process.env.RY_CONFORMANCE_TOKEN}`, 'content-type': 'application/json' } });
  const text = await r.text();
  console.log(`${path} ${r.status} ${text.slice(0, 2000)}`);
  return { ok: r.ok, text, json: text ? JSON.parse(text) : undefined };
}

// Returns the OAuth settings of the context in the form of a profile.
function oauth() {
  const o = {};
  if (context.client_id) o.client_id = context.client_id;
  if (context.client_secret) o.client_secret = context.client_secret;
  if (context.private_key_pem) o.private_key = context.private_key_pem;
  if (context.idp_id_token) {
    Object.assign(o, { grant: 'id_jag', subject_token: context.idp_id_token, idp_issuer: context.idp_issuer, idp_client_id: context.idp_client_id });
  }
  if (scenario.includes('client-credentials')) o.grant = 'client_credentials';
  return o;
}

// Follows the consent link like a user who agrees to everything.
async function consent(profile) {
  const link = await post(`/mcp/profiles/${profile}/connect`, {});
  if (!link.ok) return false;
  const answer = await new UserBrowser().browse(link.json.connect_url);
  console.log(`GET ${answer.url.split('?')[0]} ${answer.status}`);
  return answer.status === 200;
}

let type = 'http';
let config = { url: target };
if (scenario.startsWith('auth/')) {
  const made = await post('/mcp/profiles', { url: target, display_name: scenario, oauth: oauth() });
  if (!made.ok) process.exit(1);
  type = 'prebuilt';
  config = { profile_id: made.json.profile_id };
}

let consents = 0;
async function postWithConsent(path, more = {}) {
  for (;;) {
    const r = await post(path, { type, config, ...more });
    if (r.ok || !config.profile_id || !r.text.includes("requires the user's consent")) return r;
    if (++consents > 3 || !(await consent(config.profile_id))) return r;
  }
}

function argumentsOf(tool, all) {
  if (tool.name === 'add_numbers') return { a: 2, b: 3 };
  // Returns the schema of the other tool as it was parsed.
  if (tool.name === 'json_schema_echo') return { schema: all.find((t) => t !== tool).parameters };
  const values = { string: 'text', integer: 7, number: 7, boolean: true, array: [], object: {} };
  const properties = Object.entries(tool.parameters.properties ?? {});
  return Object.fromEntries(properties.filter(([name]) => tool.parameters.required?.includes(name))
    .map(([name, schema]) => [name, values[schema.type] ?? 'text']));
}

const listed = await postWithConsent('/admin/mcp/tools');
if (!listed.ok) process.exit(1);
const calls = context.toolCalls ?? listed.json.tools.map((t) => ({ name: t.name, arguments: argumentsOf(t, listed.json.tools) }));
let failed = false;
for (const call of calls) {
  const r = await postWithConsent('/admin/mcp/call', { tool: call.name, arguments: call.arguments });
  failed ||= !r.ok;
}
process.exit(failed ? 1 : 0);
