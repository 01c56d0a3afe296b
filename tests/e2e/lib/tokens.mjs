// Creates what an identity provider sends: signed tokens, key sets, webhooks.
import { constants, createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

const base64urlJson = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);

export function makeKey(alg) {
  const pair = /^[RP]S/.test(alg) ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : alg === 'EdDSA' ? generateKeyPairSync('ed25519') : alg === 'Ed448' ? generateKeyPairSync('ed448')
      : generateKeyPairSync('ec', { namedCurve: { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg] });
  return { private: pair.privateKey, jwk: pair.publicKey.export({ format: 'jwk' }) };
}

// Creates a JWT. `exp` is an hour from now unless the claims contain it.
export function signToken(alg, key, claims, header = {}) {
  const algName = alg === 'Ed448' ? 'EdDSA' : alg;
  const text = `${base64urlJson({ alg: algName, typ: 'JWT', ...header })}.${base64urlJson({ exp: now() + 3600, ...claims })}`;
  const hash = /^Ed/.test(alg) ? null : `sha${alg.slice(2)}`;
  if (alg.startsWith('HS')) return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`;
  const options = alg.startsWith('ES') ? { dsaEncoding: 'ieee-p1363' }
    : alg.startsWith('PS') ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {};
  return `${text}.${sign(hash, Buffer.from(text), { key, ...options }).toString('base64url')}`;
}

// Creates a self-signed certificate for the key, as PEM.
export function certificateOf(key) {
  const dir = mkdtempSync(path.join(tmpdir(), 'ry-key-')), file = path.join(dir, 'key.pem');
  try {
    writeFileSync(file, key.private.export({ format: 'pem', type: 'pkcs8' }));
    return execFileSync('openssl', ['req', '-x509', '-new', '-key', file, '-days', '2', '-subj', '/CN=keys'], { encoding: 'utf8' });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

// Serves a JWKS document: {url, document, seen, close}. `document` may be replaced; `seen` counts requests.
export async function startKeySet(document) {
  const state = { document, seen: 0 };
  const server = http.createServer((_, res) => {
    state.seen += 1;
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(state.document));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${server.address().port}/jwks`;
  state.close = () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); });
  return state;
}

// Headers of Standard Webhooks ('webhook') or Svix ('svix'). `secret`: whsec_..., or v1,whsec_... as Supabase writes
// it.
export function webhookHeaders(body, secret, { id = `msg_${randomUUID()}`, family = 'webhook', at = now() } = {}) {
  const key = Buffer.from(secret.replace(/^v1,/, '').replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { [`${family}-id`]: id, [`${family}-timestamp`]: String(at), [`${family}-signature`]: `v1,${mac}`, 'content-type': 'application/json' };
}
