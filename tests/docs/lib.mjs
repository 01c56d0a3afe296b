// Helpers of the tests of docs/.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from '../e2e/lib/server.mjs';

export const page = (name) => readFileSync(path.join(root, 'docs', name), 'utf8');

// Compares a generated page with its file and reports the first line that differs.
export function assertUpToDate(name, generated, generator) {
  const have = page(name).split('\n'), want = generated.split('\n');
  const at = Math.max(want.findIndex((line, i) => line !== have[i]), 0);
  assert.ok(page(name) === generated,
    `docs/${name}, line ${at + 1} is\n  ${have[at]}\ninstead of\n  ${want[at]}\nRegenerate it: node tests/docs/${generator} > docs/${name}`);
}

// Returns the block ```LANGUAGE TITLE of a page.
export function block(text, title) {
  const found = new RegExp(`^\`\`\`[a-z]+ ${title}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text);
  if (!found) throw new Error(`there is no block "${title}"`);
  return found[1];
}

// Replaces texts of a page; throws if a text is missing.
export function replaced(text, pairs) {
  for (const [from, to] of pairs) {
    if (!text.includes(from)) throw new Error(`the text has no ${JSON.stringify(from)}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

// Runs a script of a page in Bash, which stops at the first error. Returns its stdout.
export function bash(name, script, env = process.env) {
  const r = spawnSync('bash', ['-euo', 'pipefail', '-c', script], { encoding: 'utf8', env, timeout: 240000 });
  if (r.status !== 0) throw new Error(`${name} exited with ${r.status ?? r.signal}:\n${r.stdout}\n${r.stderr}`);
  return r.stdout;
}

// Major versions of PostgreSQL in Debian's directories, the newest first.
export const postgresPrograms = (version) => `/usr/lib/postgresql/${version}/bin`;
export const postgresVersions = readdirSync('/usr/lib/postgresql').map(Number)
  .filter((version) => version && existsSync(`${postgresPrograms(version)}/initdb`)).sort((a, b) => b - a);
// The rows of scripts/platforms.tsv.
export const platforms = (() => {
  const [header, ...rows] = readFileSync(path.join(root, 'scripts/platforms.tsv'), 'utf8').split('\n').filter((l) => l && !l.startsWith('#')).map((l) => l.split('\t'));
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [header[i], cell])));
})();
