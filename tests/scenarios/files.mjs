// Reads and checks the scenario files and the table of rows.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ScenarioError, checkStep } from './run.mjs';

// The npm packages of all tests are in tests/e2e.
const { parse } = createRequire(path.join(import.meta.dirname, '../e2e/package.json'))('yaml');
const read = (dir, name) => parse(readFileSync(path.join(dir, name), 'utf8'));
const notScenarios = new Set(['rows.yaml']);

// Returns {id: {text, open?}} in the order of the file. `open`: the reason why no scenario covers the row.
export function rows(dir) {
  const out = new Map();
  for (const [group, list] of Object.entries(read(dir, 'rows.yaml')))
    for (const [id, row] of Object.entries(list)) {
      const full = `${group}.${id}`;
      out.set(full, typeof row === 'string' ? { text: row } : row);
    }
  return out;
}

export function load(dir) {
  const known = rows(dir);
  return readdirSync(dir).filter((f) => f.endsWith('.yaml') && !notScenarios.has(f)).sort().map((f) => {
    const name = f.slice(0, -5);
    const file = { name, server: {}, ...read(dir, f) };
    for (const key of Object.keys(file)) if (!['name', 'server', 'scenarios'].includes(key)) throw new ScenarioError(`${f}: unknown key ${key}`);
    for (const s of file.scenarios) {
      const where = `${f}: ${s.name}`;
      if (!s.name || !s.rows?.length || !s.steps?.length) throw new ScenarioError(`${where}: name, rows and steps are required`);
      for (const key of Object.keys(s)) if (!['name', 'rows', 'accounts', 'steps'].includes(key)) throw new ScenarioError(`${where}: unknown key ${key}`);
      for (const r of s.rows) if (!known.has(r)) throw new ScenarioError(`${where}: there is no row ${r} in rows.yaml`);
      s.steps.forEach((step, i) => checkStep(step, `${where}, step ${i + 1}`));
    }
    return file;
  });
}
