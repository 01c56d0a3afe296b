// Helpers for tests of the e-mail login: settings, addresses, tokens in e-mails, sign-up.
import assert from 'node:assert/strict';

export const password = 'correct horse battery';

// E-mails are sent to `smtp`; `extra` is appended to the table [accounts.login].
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

let addressCount = 0;
export const freshAddress = () => `p${++addressCount}.${process.pid}@example.org`;

// The token of the link in an e-mail; `kind` is verify or reset (default: either).
export const tokenInMail = (mail, kind = 'verify|reset') =>
  new RegExp(`https://app\\.example\\.org/auth#(?:${kind})=([A-Za-z0-9_-]{43})`).exec(mail.parsed.text)?.[1];

// Signs up and confirms the address; `post(path, body)` resolves to { status, json }. Returns the tokens and the
// address.
export async function signUp(post, smtp, email = freshAddress(), more = {}) {
  const requested = await post('/auth/sign-up', { email, password, ...more });
  assert.equal(requested.status, 202);
  const verified = await post('/auth/verify', { token: tokenInMail(await smtp.mail(email), 'verify'), proof: requested.json.proof });
  assert.equal(verified.status, 200, JSON.stringify(verified.json));
  return { email, ...verified.json };
}
