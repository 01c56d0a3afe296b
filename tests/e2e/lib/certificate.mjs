import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// Creates a self-signed certificate for the names in `san`: {key, cert, file, remove}.
export function makeCertificate(san = 'DNS:localhost') {
  const dir = mkdtempSync(path.join(tmpdir(), 'ry-cert-'));
  const key = path.join(dir, 'key.pem'), file = path.join(dir, 'cert.pem');
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', '/CN=localhost', '-addext', `subjectAltName=${san}`, '-keyout', key, '-out', file], { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(file), file, remove: () => rmSync(dir, { recursive: true }) };
}
