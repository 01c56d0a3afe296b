// Runs the client scenarios of @modelcontextprotocol/conformance against a real server, for both revisions that the
// suite has requirements for, and the scenarios of revision 2025-03-26 that later revisions removed. The suite starts
// client.mjs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { node } from '../e2e/lib/mcp.mjs';
import { Server, freePort, makeDatabase } from '../e2e/lib/server.mjs';

const here = import.meta.dirname;
const e2e = path.resolve(here, '../e2e');
const yaml = createRequire(path.join(e2e, 'package.json'))('yaml');
const suite = path.join(e2e, 'node_modules/@modelcontextprotocol/conformance');
const read = (file) => yaml.parse(readFileSync(file, 'utf8'));
const notApplicable = read(path.join(here, 'not-applicable.yaml'));
const revisions = ['2025-11-25', '2026-07-28'];
const documents = Object.fromEntries(revisions.map((r) => [r, read(path.join(suite, `requirements/${r}.yaml`))]));
const scenariosOf = (revision) => {
  const unscored = documents[revision].not_scored.filter((s) => s.leg === 'client' && s.reason !== 'pending');
  return { scored: documents[revision].client, unscored: unscored.map((s) => s.scenario) };
};

let database, server, results;
before(async () => {
  database = makeDatabase();
  results = mkdtempSync(path.join(tmpdir(), 'ry-conformance-'));
  const port = await freePort();
  server = await new Server({ database, set: [`http.listen=127.0.0.1:${port}`, `http.public_url=http://127.0.0.1:${port}`,
    'mcp_prebuilt.max_profiles=1000', 'mcp.call_timeout_seconds=10',
    'mcp_prebuilt.client_metadata_url=https://conformance-test.local/client-metadata.json'] }).start();
  process.env.RY_CONFORMANCE_URL = server.url;
  process.env.RY_CONFORMANCE_TOKEN = server.token({ role: 'admin' });
});
after(async () => {
  await server?.close();
  database?.drop();
  rmSync(results, { recursive: true, force: true });
});

// Runs one scenario; returns its checks and the output.
async function run(scenario, revision) {
  const out = mkdtempSync(path.join(results, 'run-'));
  const child = spawn(node, [path.join(suite, 'dist/index.js'), 'client', '--command', `${node} ${path.join(here, 'client.mjs')}`,
    '--scenario', scenario, '--spec-version', revision, '--force', '--timeout', '40000', '-o', out], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (d) => (output += d));
  await new Promise((resolve) => child.on('exit', resolve));
  const file = readdirSync(out, { recursive: true }).find((f) => path.basename(f) === 'checks.json');
  assert.ok(file, `the suite wrote no result of ${scenario}:\n${output}`);
  return { checks: JSON.parse(readFileSync(path.join(out, file), 'utf8')), output };
}

const testScenario = (scenario, revision) => test(scenario, async () => {
  const { checks, output } = await run(scenario, revision);
  const bad = checks.filter((c) => c.status === 'FAILURE' || c.status === 'WARNING')
    .map((c) => `${c.status} ${c.id}: ${c.errorMessage ?? c.description}`);
  if (notApplicable.some((e) => e.scenario === scenario && e.revisions.includes(revision))) {
    assert.ok(bad.length > 0, `${scenario} passes: remove it from not-applicable.yaml`);
    return;
  }
  assert.ok(checks.some((c) => c.status === 'SUCCESS'), `nothing was checked:\n${output}`);
  assert.deepEqual(bad, [], output);
});

// Endpoints of an authorization server, before resource metadata was introduced.
describe('2025-03-26', () => {
  for (const scenario of ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback']) testScenario(scenario, '2025-03-26');
});

for (const revision of revisions) {
  describe(revision, { concurrency: 3 }, () => {
    const { scored, unscored } = scenariosOf(revision);
    for (const scenario of [...scored, ...unscored]) testScenario(scenario, revision);
    test('each scenario listed as not applicable is in the suite and has a reason', () => {
      for (const e of notApplicable.filter((each) => each.revisions.includes(revision))) {
        assert.ok([...scored, ...unscored].includes(e.scenario), e.scenario);
        assert.ok(e.reason.length > 20, e.scenario);
      }
    });
  });
}
