// docs/models.md: each configuration block passes `runyard check`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binary, build } from '../e2e/lib/server.mjs';
import { page } from './lib.mjs';

const text = page('models.md');
const blocks = [...text.matchAll(/^```toml (\S+)\n([\s\S]*?)^```$/gm)].map(([, name, toml]) => ({ name, toml }));
const providers = ['OpenAI', 'Azure', 'Anthropic', 'Gemini', 'Mistral', 'DeepSeek', 'xAI', 'OpenRouter', 'Groq', 'vLLM',
  'llama.cpp', 'Ollama', 'LM Studio'];
const modules = ['accounts', 'agents', 'runs', 'llm_openai', 'llm_anthropic', 'llm_offline', 'sandbox_bubblewrap'];

let dir;
before(() => { dir = mkdtempSync(path.join(tmpdir(), 'ry-models-')); });
after(() => rmSync(dir, { recursive: true, force: true }));

// Runs `runyard check` on a block, with all environment variables that it uses.
function check(toml) {
  const config = path.join(dir, 'runyard.toml');
  writeFileSync(config, `[deployment]\nmode = "local"\n[modules]\npath = "${build}/modules"\n`
    + `${modules.map((m) => `${m} = { enabled = true }`).join('\n')}\n${toml}`);
  const variables = Object.fromEntries([...toml.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'a-key']));
  return spawnSync(binary, ['check', '--config', config], { encoding: 'utf8',
    env: { PATH: process.env.PATH, ...variables } });
}

test('each provider has a section with a configuration and limitations', () => {
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
  test(`${name}: the configuration is valid`, () => {
    const r = check(toml);
    assert.equal(r.status, 0, r.stdout + r.stderr);
  });
  test(`${name}: models refer to the provider of the block`, () => {
    const provider = /^\[runs\.providers\.([\w-]+)\]$/m.exec(toml)[1];
    const models = [...toml.matchAll(/^"runyard\/\w+" = "(.*)"$/gm)].map((m) => m[1]);
    assert.ok(models.length > 0);
    for (const model of models) assert.ok(model.startsWith(`${provider}/`), model);
    for (const [, key] of toml.matchAll(/^"((?!runyard\/)[^"]+)" = \S+$/gm)) assert.ok(models.includes(key), key);
  });
}

test('a mistake in a block is reported', () => {
  const { toml } = blocks.find((b) => b.name === 'anthropic');
  const r = check(toml.replace('max_tokens', 'max_token'));
  assert.notEqual(r.status, 0);
  assert.match(r.stdout + r.stderr, /max_token/);
});
