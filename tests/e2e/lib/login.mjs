// Helpers of the tests that log in by e-mail: settings, addresses, links in mails, sign-up.
import assert from 'node:assert/strict';

export const password = 'correct horse battery';

// Mail goes to `smtp`; `extra` continues the table [accounts.login].
export const loginSettings = (smtp, extra = '') => `
[mail]
host = "127.0.0.1"
port = ${smtp.port}
security = "none"
from = "runyard@example.org"
[accounts]
local_login = true
[accounts.login]
app_url = "https://app.example.org"
hash_memory_mib = 8
attempts_per_network = 10000
${extra}
`;

let addresses = 0;
export const freshAddress = () => `p${++addresses}.${process.pid}@example.org`;

// The token of the link in a mail; `kind` is verify or reset, either if absent.
export const tokenInMail = (mail, kind = 'verify|reset') =>
  new RegExp(`https://app\\.example\\.org/auth#(?:${kind})=([A-Za-z0-9_-]{43})`).exec(mail.parsed.text)?.[1];

// Signs up and confirms the address; `post(path, body)` resolves to { status, json }. Returns the tokens and the address.
export async function signUp(post, smtp, email = freshAddress(), more = {}) {
  const asked = await post('/auth/sign-up', { email, password, ...more });
  assert.equal(asked.status, 202);
  const done = await post('/auth/verify', { token: tokenInMail(await smtp.mail(email), 'verify'), proof: asked.json.proof });
  assert.equal(done.status, 200, JSON.stringify(done.json));
  return { email, ...done.json };
}
