// External services of a server in a scenario file: a webhook receiver and an identity provider.
import { generateKeyPairSync, sign } from 'node:crypto';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const { Webhook } = createRequire(path.join(import.meta.dirname, '../e2e/package.json'))('standardwebhooks');
export const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

async function serve(handler) {
  const server = http.createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (d) => (body += d)).on('end', () => handler(req, res, body));
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((r) => { server.closeAllConnections(); server.close(r); }),
  };
}

// Stores messages with a valid signature and rejects others.
export async function startReceiver() {
  const messages = [];
  const at = await serve((req, res, body) => {
    try {
      messages.push({ path: req.url, headers: req.headers, json: new Webhook(webhookSecret).verify(body, req.headers) });
      res.writeHead(200).end();
    } catch {
      res.writeHead(400).end();
    }
  });
  return { ...at, messages };
}

// Publishes the public halves of its keys and signs with the private ones; kid = alg.
export async function startIdentity() {
  const pairs = { RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }), ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
  const keys = Object.entries(pairs).map(([alg, p]) => ({ ...p.publicKey.export({ format: 'jwk' }), alg, kid: alg, use: 'sig' }));
  const at = await serve((req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys })));
  return {
    ...at,
    sign: (alg, text) => sign('sha256', text, { key: pairs[alg].privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
  };
}
