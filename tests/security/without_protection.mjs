// Implementation of the script tests/security/without_protection. Exit code 1: a test still passes although its
// protection is disabled, or it could not be run.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { protections } from './lib/protections.mjs';

const here = import.meta.dirname;
const args = process.argv.slice(2);
const only = args.includes('--only') ? args.splice(args.indexOf('--only'), 2)[1] : undefined;
const files = args.length ? args : readdirSync(here).filter((f) => f.endsWith('.test.mjs')).map((f) => f.slice(0, -'.test.mjs'.length));
if (!readFileSync(path.join(process.env.RY_BUILD_DIR, 'bin/runyard')).includes('RY_TEST_WITHOUT'))
  throw new Error(`${process.env.RY_BUILD_DIR} was built without -DRY_TEST_WITHOUT_PROTECTIONS=ON`);

function verdictOf(test) {
  if (test.skipped) return { ok: true, text: `skipped: ${test.skipped}` };
  if (test.passed) return { ok: false, text: 'STILL PASSES' };
  if (test.failure === 'hookFailed') return { ok: false, text: `COULD NOT BE RUN: ${test.message}` };
  const expected = test.code === 'ERR_ASSERTION' || test.failure === 'testTimeoutFailure' || /^not within/.test(test.message);
  return { ok: true, text: expected ? 'fails' : `fails with an unexpected error: ${test.message}` };
}

let run = 0;
const bad = [], used = new Set();
for (const file of files) {
  const source = path.join(here, `${file}.test.mjs`);
  const text = readFileSync(source, 'utf8');
  for (const protection of Object.keys(protections)) {
    if (!text.includes(`'${protection}'`)) continue;
    used.add(protection);
    if (only && protection !== only) continue;
    const r = spawnSync(process.execPath, ['--test-timeout=120000', `--test-reporter=${path.join(here, 'lib/json_reporter.mjs')}`, source],
      { env: { ...process.env, RY_SECURITY_WITHOUT: protection }, encoding: 'utf8', timeout: 600000, maxBuffer: 1 << 26 });
    const tests = r.stdout.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    if (tests.length === 0) tests.push({ name: 'the file', failure: 'hookFailed', message: r.stderr.slice(-500) });
    for (const test of tests) {
      const verdict = verdictOf(test);
      console.log(`${file} without ${protection}: ${test.name}: ${verdict.text}`);
      run++;
      if (!verdict.ok) bad.push(`${file} without ${protection}: ${test.name}`);
    }
  }
}
if (!only && !args.length)
  for (const name of Object.keys(protections)) if (!used.has(name)) bad.push(`no test names the protection ${name}`);
console.log(`${run} tests run without their protection; ${bad.length} problems (tests that still pass or could not be run, untested protections)`);
for (const line of bad) console.log(`  ${line}`);
process.exit(bad.length || !run ? 1 : 0);
