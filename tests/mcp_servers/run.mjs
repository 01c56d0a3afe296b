// tests/mcp_servers/run [--all | NAME...] [--report] [--tools] [--jobs N]
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeDatabase } from '../e2e/lib/server.mjs';
import { isInstalled, runEntry, startEntry, startHost, toolsOf, versionOf } from './lib.mjs';
import { playwrightSessions } from './playwright.mjs';
import { servers } from './servers.mjs';
import { withResults, table } from './report.mjs';

const { values: options, positionals: names } = parseArgs({ allowPositionals: true, options: {
  all: { type: 'boolean', default: false }, report: { type: 'boolean', default: false },
  tools: { type: 'boolean', default: false }, jobs: { type: 'string', default: '2' } } });
const selected = options.all ? servers : servers.filter((s) => names.includes(s.name));
const unknown = names.filter((name) => !servers.some((s) => s.name === name));
if (!selected.length || unknown.length || (options.report && !options.all)) {
  console.error(unknown.length ? `unknown: ${unknown.join(', ')}` : 'usage: run [--all [--report] | NAME...] [--tools] [--jobs N]');
  process.exit(2);
}

const database = process.env.RY_TEST_DATABASE_URL ? makeDatabase() : undefined;  // otherwise Runyard starts an embedded one
const host = await startHost({ database });
const results = new Map();
async function run(entry) {
  const begun = Date.now();
  const result = { entry, version: isInstalled(entry) ? versionOf(entry) : '', tools: 0 };
  try {
    if (!isInstalled(entry)) throw new Error('the package is not installed');
    if (options.tools) {
      const started = await startEntry(host, entry);
      try {
        for (const t of await toolsOf(host, started)) console.log(t.name, JSON.stringify(t.inputSchema ?? t.input_schema ?? {}));
      } finally {
        await started.close();
      }
    } else {
      Object.assign(result, await runEntry(host, entry));
      if (entry.name === 'playwright') await playwrightSessions(host, entry);
    }
  } catch (e) {
    result.failure = e.message;
  }
  results.set(entry.name, result);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  console.log(`${result.failure ? 'FAILED' : 'ok'}\t${entry.name} ${result.version}\t${result.tools} tools\t${seconds} s`
    + `${result.failure ? `\t${result.failure.slice(0, 1500)}` : ''}`);
}

const waiting = [...selected];
try {
  await Promise.all(Array.from({ length: Number(options.jobs) }, async () => {
    while (waiting.length) await run(waiting.shift());
  }));
} finally {
  await host.close();
  database?.drop();
}
const ordered = selected.map((s) => results.get(s.name));
if (options.report) {
  const file = path.resolve(import.meta.dirname, '../../docs/mcp-servers.md');
  writeFileSync(file, withResults(readFileSync(file, 'utf8'), table(ordered)));
}
const failed = ordered.filter((r) => r.failure);
console.log(`${ordered.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length ? 1 : 0);
