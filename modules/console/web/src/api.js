// Requests to this server, and the login state. The access token is kept in memory only; the session is a cookie that
// scripts cannot read. With an external identity provider, the user pastes its token, which is kept for this tab.
// The page is served next to the routes, also if a proxy adds a path prefix.
const base = new URL('.', document.baseURI).href.replace(/\/$/, '');
const pastedTokenKey = 'ry_token';
// Stored if there may be a session, so that a first visit does not request a token.
const sessionHintKey = 'ry_session';

let token = null;
let pasted = false;
let renewal = null;
let onLoginLost = () => {};

export const whenLost = (fn) => { onLoginLost = fn; };
export const url = (path) => base + path;

export class Failure extends Error {
  constructor(status, detail, retryAfter) {
    super(typeof detail === 'string' ? detail : detail?.message ?? `The server responded with status ${status}`);
    this.status = status;
    this.code = typeof detail === 'object' ? detail?.error_code : undefined;
    this.retryAfter = retryAfter;
  }
}

async function failure(response) {
  let detail;
  try { detail = (await response.json()).detail; } catch { /* not JSON: the status is sufficient */ }
  return new Failure(response.status, detail, Number(response.headers.get('retry-after')) || undefined);
}

async function send(path, options) {
  try {
    return await fetch(url(path), options);
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new Failure(0, 'The server cannot be reached. Check the connection and try again.');
  }
}

const asJson = (method, body) => ({ method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

// Public requests.
export async function post(path, body) {
  const response = await send(path, asJson('POST', body));
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : response.json();
}
export async function config() {
  const response = await send('/auth/config', {});
  return response.ok ? response.json() : { local_login: false };
}

export const isLoggedIn = () => token !== null;
// Whether the user logged in on this server, not with a pasted token.
export const hasSession = () => token !== null && !pasted;

export function accept(answer) {
  token = answer.access_token;
  pasted = false;
  localStorage.setItem(sessionHintKey, '1');
}
export async function usePasted(text) {
  token = text;
  pasted = true;
  try {
    const me = await get('/account');
    sessionStorage.setItem(pastedTokenKey, text);
    return me;
  } catch (e) {
    token = null;
    throw e.status === 401 ? new Failure(401, 'This token was not accepted.') : e;
  }
}

// Restores a login after the page was loaded; true if there is one.
export async function resume() {
  const text = sessionStorage.getItem(pastedTokenKey);
  if (text) { token = text; pasted = true; return true; }
  return localStorage.getItem(sessionHintKey) !== null && renew();
}

// Renews the access token. Concurrent requests share one renewal.
function renew() {
  renewal ??= (async () => {
    try {
      const response = await send('/auth/refresh', asJson('POST', {}));
      // Only a refusal ends the session; a rate limit or a busy server does not.
      if (response.status === 429 || response.status >= 500) throw await failure(response);
      if (!response.ok) { token = null; localStorage.removeItem(sessionHintKey); return false; }
      accept(await response.json());
      return true;
    } finally {
      renewal = null;
    }
  })();
  return renewal;
}

export async function logOut() {
  const wasPasted = pasted;
  token = null;
  pasted = false;
  sessionStorage.removeItem(pastedTokenKey);
  localStorage.removeItem(sessionHintKey);
  if (!wasPasted) await post('/auth/log-out', {});
}

// Sends a request with the access token, and renews the token once if it has expired.
export async function request(path, options = {}) {
  for (let attempt = 0; ; ++attempt) {
    const usedToken = token;
    const response = await send(path, { ...options, headers: { ...options.headers, authorization: `Bearer ${usedToken}` } });
    if (response.status !== 401) return response;
    if (attempt === 0 && !pasted && (token !== usedToken || await renew())) continue;
    token = null;
    sessionStorage.removeItem(pastedTokenKey);
    onLoginLost();
    throw await failure(response);
  }
}
async function value(path, options) {
  const response = await request(path, options);
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : response.json();
}
export const get = (path) => value(path);
export const call = (path, body = {}) => value(path, asJson('POST', body));
export const change = (path, body) => value(path, asJson('PUT', body));
export const remove = (path) => value(path, { method: 'DELETE' });
export const sendForm = (path, form, key) => value(path, { method: 'POST', body: form, headers: { 'idempotency-key': key } });
