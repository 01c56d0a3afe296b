// The cases of all topics, and the list of known failures.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const directory = path.resolve(import.meta.dirname, '..');
export const topics = readdirSync(path.join(directory, 'cases')).map((file) => path.basename(file, '.mjs'));
const members = new Set(['id', 'title', 'decision', 'kind', 'wire', 'answers', 'refuses', 'limit', 'vision', 'price',
  'fallback', 'base', 'mcp', 'site', 'metadata', 'resourceMetadata', 'steps', 'expect']);

export async function casesOf(topic) {
  const { default: cases } = await import(`../cases/${topic}.mjs`);
  for (const c of cases) {
    if (!/^[a-z]\d\d[a-z](-\w+)?$/.test(c.id)) throw new Error(`${topic}: ${c.id} does not have the form c01a or c01a-variant`);
    for (const name of ['title', 'expect']) if (!c[name]) throw new Error(`${c.id} has no ${name}`);
    for (const name of Object.keys(c)) if (!members.has(name)) throw new Error(`${c.id}: unknown member ${name}`);
  }
  return cases;
}

export const knownFailures = JSON.parse(readFileSync(path.join(directory, 'known_failures.json'), 'utf8'));
