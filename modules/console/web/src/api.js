// Requests to this server, and who is logged in. The access token lives in memory only; the session is a cookie
// that no script can read. With an identity provider elsewhere, its token is pasted and kept for this tab.
// The page lies beside the routes, whatever path a proxy puts before both.
const base = new URL('.', document.baseURI).href.replace(/\/$/, '');
const kept = 'ry_token';
// Tells only that there may be a session: without it a first visit need not ask.
const maybe = 'ry_session';

let token = null;
let pasted = false;
let refreshing = null;
let onLost = () => {};

export const whenLost = (fn) => { onLost = fn; };
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
  try { detail = (await response.json()).detail; } catch { /* no JSON: the status says enough */ }
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
// Logged in here, not by a token from elsewhere.
export const hasSession = () => token !== null && !pasted;

export function accept(answer) {
  token = answer.access_token;
  pasted = false;
  localStorage.setItem(maybe, '1');
}
export async function usePasted(text) {
  token = text;
  pasted = true;
  try {
    const me = await get('/account');
    sessionStorage.setItem(kept, text);
    return me;
  } catch (e) {
    token = null;
    throw e.status === 401 ? new Failure(401, 'This token was not accepted.') : e;
  }
}

// True when there is a session.
export async function resume() {
  const text = sessionStorage.getItem(kept);
  if (text) { token = text; pasted = true; return true; }
  return localStorage.getItem(maybe) !== null && renew();
}

// Several requests that find the token expired share one renewal.
function renew() {
  refreshing ??= (async () => {
    try {
      const response = await send('/auth/refresh', asJson('POST', {}));
      // Only a refusal ends the session; a limit or a busy server does not.
      if (response.status === 429 || response.status >= 500) throw await failure(response);
      if (!response.ok) { token = null; localStorage.removeItem(maybe); return false; }
      accept(await response.json());
      return true;
    } finally {
      refreshing = null;
    }
  })();
  return refreshing;
}

export async function logOut() {
  const wasPasted = pasted;
  token = null;
  pasted = false;
  sessionStorage.removeItem(kept);
  localStorage.removeItem(maybe);
  if (!wasPasted) await post('/auth/log-out', {});
}

// A request as the one who is logged in; renews the token once when it has expired.
export async function request(path, options = {}) {
  for (let attempt = 0; ; ++attempt) {
    const used = token;
    const response = await send(path, { ...options, headers: { ...options.headers, authorization: `Bearer ${used}` } });
    if (response.status !== 401) return response;
    if (attempt === 0 && !pasted && (token !== used || await renew())) continue;
    token = null;
    sessionStorage.removeItem(kept);
    onLost();
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
