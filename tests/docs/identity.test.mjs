// docs/identity.md: each configuration block passes `runyard check` without a warning about identity.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binary, build } from '../e2e/lib/server.mjs';
import { page } from './lib.mjs';

const text = page('identity.md');
const blocks = [...text.matchAll(/^```toml (\S+)\n([\s\S]*?)^```$/gm)].map(([, name, toml]) => ({ name, toml }));
const providers = ['Supabase', 'Auth0', 'Keycloak', 'Clerk', 'Entra', 'Zitadel', 'Authentik', 'Cognito', 'Firebase'];

let dir;
before(() => { dir = mkdtempSync(path.join(tmpdir(), 'ry-identity-')); });
after(() => rmSync(dir, { recursive: true, force: true }));

const values = {
  SUPABASE_HOOK_SECRET: `v1,whsec_${Buffer.alloc(32, 'a').toString('base64')}`,
  CLERK_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 'b').toString('base64')}`,
  PARTNER_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 'c').toString('base64')}`,
  SUPABASE_WEBHOOK_TOKEN: 'a token of thirty-two characters or more',
};

function check(toml) {
  const config = path.join(dir, 'runyard.toml');
  writeFileSync(config, `[modules]\npath = "${build}/modules"\naccounts = { enabled = true }\n${toml}`, { mode: 0o600 });
  return spawnSync(binary, ['check', '--config', config], { encoding: 'utf8', env: { PATH: process.env.PATH, ...values } });
}

test('each provider has a section with a configuration and hints', () => {
  const sections = text.split(/^## /m).slice(1);
  for (const name of providers) {
    const section = sections.find((s) => s.startsWith(`${name}\n`));
    assert.ok(section, `there is no section ${name}`);
    assert.match(section, /^```toml /m, name);
    assert.match(section, /^- /m, name);
  }
  assert.equal(new Set(blocks.map((b) => b.name)).size, blocks.length);
});

for (const { name, toml } of blocks) {
  test(`${name}: the configuration is valid and has issuer and audience`, () => {
    const r = check(toml);
    assert.equal(r.status, 0, r.stdout + r.stderr);
    assert.doesNotMatch(r.stdout + r.stderr, /issuer is not set|audience is not set|subject_prefix is empty/);
  });
}

test('mistakes in a block are reported', () => {
  const keycloak = blocks.find((b) => b.name === 'keycloak').toml, several = blocks.find((b) => b.name === 'several').toml;
  for (const [toml, message] of [
    [keycloak.replace('role_claims', 'role_claim'), /role_claim.*did you mean "role_claims"/],
    [keycloak.replace('realm_access.roles', 'user_metadata.role'), /auth\.jwt\.role_claims.*users can edit/],
    [several.replace('issuer = "https://partner.eu.auth0.com/"\n', ''), /auth\.issuers\.partner\.issuer.*required/],
    [several.replace('https://partner.eu.auth0.com/"', 'https://id.example.org/realms/REALM"'), /auth\.issuers\.partner\.issuer.*another table/],
    [several.replace(/^jwks_url = "https:\/\/partner.*\n/m, ''), /auth\.issuers\.partner.*needs jwks_url/],
  ]) {
    const r = check(toml);
    assert.notEqual(r.status, 0, toml);
    assert.match(r.stdout + r.stderr, message);
  }
});
