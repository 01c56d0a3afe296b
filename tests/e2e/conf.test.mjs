// Compares conf/ with the program: conf/modules.d/NAME.toml lists exactly the settings of the module, with their real
// defaults. Needs no database.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binary, build, root } from './lib/server.mjs';

const names = readdirSync(path.join(root, 'conf/modules.d')).filter((f) => f.endsWith('.toml')).map((f) => f.slice(0, -5));
const env = { ...process.env, OPENAI_API_KEY: 'k1-of-the-test', ANTHROPIC_API_KEY: 'k2-of-the-test',
  RUNS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
const setting = /^# ((?:"[^"]*"|[A-Za-z0-9_-]+)(?:\.(?:"[^"]*"|[A-Za-z0-9_-]+))*) = /;
const heading = /^# (\[[A-Za-z0-9_."/-]+\])$/;
// Modules that are disabled by default.
const disabledByDefault = names.filter((n) => /^enabled = false$/m.test(readFileSync(path.join(root, `conf/modules.d/${n}.toml`), 'utf8')));
let dir, schemas, shown;

const runyard = (...args) => execFileSync(binary, args, { encoding: 'utf8', env, cwd: dir });
// Uncomments every setting.
const uncommented = (text) => text.split('\n').map((l) => (setting.test(l) || heading.test(l) ? l.slice(2) : l)).join('\n');
const parts = (key) => [...key.matchAll(/"([^"]*)"|([^.]+)/g)].map((m) => m[1] ?? m[2]);

// Returns the paths of the settings in a file's text.
function keysOf(text) {
  const out = [];
  let table = [];
  for (const line of text.split('\n')) {
    const h = /^(?:# )?\[([^\]]+)\]$/.exec(line);
    if (h) { table = parts(h[1]); continue; }
    const s = setting.exec(line) ?? /^([A-Za-z0-9_."-]+) = /.exec(line);
    if (s) out.push([...table, ...parts(s[1])]);
  }
  return out.filter((k) => k[0] !== 'modules');
}

// Returns {path: default} of a schema; "*" stands for an arbitrary name in a table.
function keysOfSchema(schema, at, out = new Map()) {
  for (const [name, s] of Object.entries(schema.properties ?? {})) {
    const keyPath = [...at, name];
    const isTable = s.type === 'object' && (s.properties || s.additionalProperties);
    if (isTable) keysOfSchema(s, keyPath, out);
    else out.set(keyPath.join('\0'), s.default);
  }
  const free = schema.additionalProperties;
  if (free && typeof free === 'object') {
    if (free.properties) keysOfSchema(free, [...at, '*'], out);
    else if (Object.keys(free).length) out.set([...at, '*'].join('\0'), undefined);
    else out.set(at.join('\0'), undefined);
  }
  return out;
}

const matches = (pattern, key) => {
  const p = pattern.split('\0');
  // The path of an inline table ends before the "*".
  return (p.length === key.length || (p.at(-1) === '*' && p.length === key.length + 1)) && key.every((k, i) => p[i] === '*' || p[i] === k);
};

before(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-conf-'));
  mkdirSync(path.join(dir, 'conf/modules.d'), { recursive: true });
  cpSync(path.join(root, 'conf/runyard.toml'), path.join(dir, 'conf/runyard.toml'));
  for (const n of names)
    writeFileSync(path.join(dir, `conf/modules.d/${n}.toml`), uncommented(readFileSync(path.join(root, `conf/modules.d/${n}.toml`), 'utf8')).replace(/^enabled = false$/m, 'enabled = true'));
  const args = ['--config', 'conf/runyard.toml', '--set', `modules.path=${build}/modules`, '--set', `data_dir=${dir}/data`];
  schemas = Object.fromEntries(JSON.parse(runyard('modules', 'list', '--configured', '--json', ...args)).map((m) => [m.name, m]));
  shown = new Map();
  for (const line of runyard('check', '--show', ...args).split('\n')) {
    const m = /^(.*?) = (.*?)  # (.*)$/.exec(line);
    if (m) shown.set(parts(m[1]).join('\0'), { value: m[2], where: m[3] });
  }
});
after(() => rmSync(dir, { recursive: true, force: true }));

test('every built module has a file, and every file has a module', () => {
  const built = Object.values(schemas).filter((m) => !m.name.startsWith('bench_') && m.state !== 'disabled').map((m) => m.name);
  assert.deepEqual([...names].sort(), built.sort());
  const withoutFile = Object.values(schemas).filter((m) => m.state === 'disabled' && !/^(bench|abi)_/.test(m.name));
  assert.deepEqual(withoutFile.map((m) => m.name), [], 'modules without a file in conf/modules.d');
});

for (const name of names) {
  test(`conf/modules.d/${name}.toml lists exactly the settings of the module`, () => {
    const schema = schemas[name].settings_schema;
    const given = keysOf(readFileSync(path.join(root, `conf/modules.d/${name}.toml`), 'utf8'));
    const known = schema ? keysOfSchema(schema, [name]) : new Map();
    for (const pattern of known.keys())
      assert.ok(given.some((k) => matches(pattern, k)), `${pattern.replaceAll('\0', '.')} is missing`);
    for (const k of given)
      assert.ok([...known.keys()].some((p) => matches(p, k)), `${k.join('.')} is not a setting of the module`);
    for (const [pattern, value] of known) {
      if (value === undefined || pattern.includes('*')) continue;
      const s = shown.get(pattern);
      assert.ok(s?.where.startsWith('conf/modules.d/'), `${pattern.replaceAll('\0', '.')}: ${s?.where}`);
      assert.deepEqual(JSON.parse(s.value), value, `default of ${pattern.replaceAll('\0', '.')}`);
    }
  });
}

test('the committed conf/ is valid', () => {
  const out = runyard('check', '--config', path.join(root, 'conf/runyard.toml'), '--set', `modules.path=${build}/modules`);
  assert.match(out, new RegExp(`configuration and ${names.length - disabledByDefault.length} modules: ok`));
});
