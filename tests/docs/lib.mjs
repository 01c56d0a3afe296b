// What the tests of docs/ share.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from '../e2e/lib/server.mjs';

export const page = (name) => readFileSync(path.join(root, 'docs', name), 'utf8');

// Compares a generated page with its file and names the first line that differs.
export function assertUpToDate(name, generated, generator) {
  const have = page(name).split('\n'), want = generated.split('\n');
  const at = Math.max(want.findIndex((line, i) => line !== have[i]), 0);
  assert.ok(page(name) === generated,
    `docs/${name}, line ${at + 1} is\n  ${have[at]}\nand not\n  ${want[at]}\nRegenerate it: node tests/docs/${generator} > docs/${name}`);
}

// The block ```LANGUAGE TITLE of a page.
export function block(text, title) {
  const found = new RegExp(`^\`\`\`[a-z]+ ${title}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text);
  if (!found) throw new Error(`there is no block "${title}"`);
  return found[1];
}

// Replaces exactly what the page says; what it no longer says is an error.
export function replaced(text, pairs) {
  for (const [from, to] of pairs) {
    if (!text.includes(from)) throw new Error(`the text has no ${JSON.stringify(from)}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

// Runs a script of a page in Bash and stops at the first error. Answers its standard output.
export function bash(name, script, env = process.env) {
  const r = spawnSync('bash', ['-euo', 'pipefail', '-c', script], { encoding: 'utf8', env, timeout: 240000 });
  if (r.status !== 0) throw new Error(`${name} ended with ${r.status ?? r.signal}:\n${r.stdout}\n${r.stderr}`);
  return r.stdout;
}

// Major versions of PostgreSQL in Debian's directories, the newest first.
export const postgresPrograms = (version) => `/usr/lib/postgresql/${version}/bin`;
export const postgresVersions = readdirSync('/usr/lib/postgresql').map(Number)
  .filter((version) => version && existsSync(`${postgresPrograms(version)}/initdb`)).sort((a, b) => b - a);
// scripts/platforms.tsv, a line each.
export const platforms = (() => {
  const [header, ...rows] = readFileSync(path.join(root, 'scripts/platforms.tsv'), 'utf8').split('\n').filter((l) => l && !l.startsWith('#')).map((l) => l.split('\t'));
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [header[i], cell])));
})();
