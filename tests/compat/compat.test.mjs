// Runs the cases of the topic RY_COMPAT_TOPIC against the real binary: one server, one model per case and API.
// RY_COMPAT_ONLY selects cases by their ids, separated by commas.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Server, freePort, makeDatabase } from '../e2e/lib/server.mjs';
import { match } from '../scenarios/match.mjs';
import { casesOf, knownFailures } from './lib/cases.mjs';
import { model, play } from './lib/play.mjs';
import { startProvider } from './lib/provider.mjs';

const topic = process.env.RY_COMPAT_TOPIC;
const only = process.env.RY_COMPAT_ONLY?.split(',');
const cases = (await casesOf(topic)).filter((c) => !only || only.includes(c.id));
const kinds = ['openai', 'anthropic'];

function settings(provider) {
  const table = (name, lines) => (lines.length ? `[${name}]\n${lines.join('\n')}\n` : '');
  const models = (list, value) => list.flatMap((c) => kinds.map((k) => `"${model(c.id, k)}" = ${value(c)}`));
  return `[accounts]
default_tier = "enterprise"
[accounts.tiers.enterprise]
concurrent_runs = 20
starting_credits = 1000000
models = ["*"]
${cases.flatMap((c) => kinds.map((k) => table(`runs.providers.${c.id}-${k}`,
    [`kind = "${k}"`, `base_url = "${provider.origin}/${c.id}${c.base ?? '/v1'}"`, 'api_key = "test-key"',
      ...(k === 'openai' && c.wire ? [`options = { wire = "${c.wire}" }`] : [])]))).join('')}
${table('runs.vision', models(cases.filter((c) => c.vision), () => 'true'))}
${table('runs.fallbacks', cases.filter((c) => c.fallback).map((c) =>
    `"${model(c.id, c.kind ?? 'openai')}" = ["${model(c.id, c.fallback)}"]`))}
${table('runs.prices',
  models(cases.filter((c) => c.price), (c) => `{ input = ${c.price.input}, output = ${c.price.output} }`))}`;
}

let provider, database, server, admin;
before(async () => {
  provider = await startProvider(cases);
  database = process.env.RY_TEST_DATABASE_URL ? makeDatabase() : undefined;  // otherwise the server starts an embedded one
  const port = await freePort();  // must be known for the consent links
  server = await new Server({ database, settings: settings(provider),
    set: [`http.listen=127.0.0.1:${port}`, `http.public_url=http://127.0.0.1:${port}`] }).start();
  admin = await server.user({ role: 'admin' });
});
after(async () => {
  await server?.close();
  await provider?.close();
  database?.drop();
});

describe(`compatibility: ${topic}`, { concurrency: 4 }, () => {
  for (const c of cases) {
    test(`${c.id}: ${c.title}`, async (t) => {
      let failure;
      try {
        const facts = await play(c, { server, provider, admin });
        if (process.env.RY_COMPAT_SHOW) t.diagnostic(JSON.stringify({ ...facts, log: undefined }, null, 1));
        match(c.expect, facts, c.id);
      } catch (e) {
        e.message = e.message.slice(0, 2000);  // the message contains all facts
        failure = e;
      }
      const known = knownFailures[c.id];
      if (known === undefined) assert.ifError(failure);
      else if (failure) t.todo(known);
      else assert.fail(`${c.id} passes now: remove it from known_failures.json`);
    });
  }
});
