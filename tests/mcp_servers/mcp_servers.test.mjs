// Checks the list in servers.mjs, runs the servers marked `fast` (tests/e2e also installs their packages), and tests the
// browser sessions of Playwright. tests/mcp_servers/run --all runs the complete list.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeDatabase } from '../e2e/lib/server.mjs';
import { chromium, isInstalled, runEntry, startHost, userWith } from './lib.mjs';
import { playwrightSessions } from './playwright.mjs';
import { rowsOf } from './report.mjs';
import { servers } from './servers.mjs';

const json = (file) => JSON.parse(readFileSync(path.join(import.meta.dirname, file), 'utf8'));
const page = readFileSync(path.join(import.meta.dirname, '../../docs/mcp-servers.md'), 'utf8');
const { dependencies } = json('package.json');
const fast = servers.filter((s) => s.fast);

test('each entry is complete, and each package has an entry', () => {
  assert.equal(new Set(servers.map((s) => s.name)).size, servers.length);
  for (const s of servers) {
    assert.ok(['stdio', 'http', 'sse'].includes(s.transport), s.name);
    assert.ok(s.calls.length > 0 && s.calls.every(([tool, args, expected]) => tool && args && expected), s.name);
    assert.match(dependencies[s.package] ?? '', /^\d+\.\d+\.\d+$/, `${s.package} has no exact version`);
  }
  // A pattern that matches anything does not prove that a server works.
  for (const s of servers.filter((each) => !each.needs)) assert.ok(s.calls.every(([, , expected]) => expected !== '.'), s.name);
  assert.deepEqual(Object.keys(dependencies).filter((name) => !servers.some((s) => s.package === name)), []);
  // More than 30 packages work in a run.
  assert.ok(new Set(servers.filter((s) => !s.needs).map((s) => s.package)).size > 30);
});

test('docs/mcp-servers.md has the results of the versions in package.json', () => {
  assert.deepEqual(rowsOf(page), servers.map((s) => [s.name, s.package, dependencies[s.package]]));
});

describe('real servers', () => {
  let database, host;
  before(async () => {
    database = makeDatabase();
    host = await startHost({ database });
  });
  after(async () => {
    await host?.close();
    database?.drop();
  });

  for (const entry of fast) {
    test(`${entry.name} in a run`, async () => {
      assert.ok(isInstalled(entry), `${entry.package} is not installed`);
      const { tools, results } = await runEntry(host, entry);
      assert.ok(tools > 0 && results.length === entry.calls.length);
    });
  }

  test('an unexpected result is reported', async () => {
    const wrong = { ...fast[0], calls: [[...fast[0].calls[0].slice(0, 2), 'something else']] };
    await assert.rejects(runEntry(host, wrong), /returned .* instead of something else/);
  });

  test('a browser keeps its page during a run, and concurrent runs have separate pages', async () => {
    assert.ok(chromium, 'Chromium is not installed');
    await playwrightSessions(host, servers.find((s) => s.name === 'playwright'));
  });

  const blocks = [...page.matchAll(/^```json (\S+)\n([\s\S]*?)^```$/gm)];
  test('the configurations of docs/mcp-servers.md are accepted', async () => {
    assert.ok(blocks.length >= 8);
    for (const [, title, text] of blocks) {
      const { name, type, config, enabledTools } = JSON.parse(text);
      await userWith(host, name, { type, config }, enabledTools.map((tool) => ({ name: tool })))
        .catch((e) => assert.fail(`${title}: ${e.message}`));
    }
  });
});
