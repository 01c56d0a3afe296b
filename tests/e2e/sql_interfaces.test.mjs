// The SQL functions that sdk/sql declares exist in a migrated database with these signatures, and the functions and
// views of each module use only declared names of other schemas.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { foreignNames, misuses, readDeclarations, schemas } from '../lint/sql.mjs';
import { binary, build, makeDatabase, root } from './lib/server.mjs';

const declared = readDeclarations(root);
let database, dir;
const rows = (sql) => JSON.parse(database.sql(`select coalesce(json_agg(t), '[]') from (${sql}) t`));

const migrate = () => JSON.parse(execFileSync(binary, ['migrate', '--json', '--config', path.join(root, 'conf/runyard.toml'), '--set', `modules.path=${build}/modules`,
  '--set', `data_dir=${dir}`, '--set', `database.url=${database.url}`], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' }));

before(() => {
  database = makeDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'ry-sql-'));
  assert.deepEqual(migrate().warnings, []);
});
after(() => {
  database?.drop();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

test('declared functions exist with the declared signatures', () => {
  const present = new Map();
  for (const f of rows(`select n.nspname || '.' || p.proname as name, pg_get_function_arguments(p.oid) as args, pg_get_function_result(p.oid) as result
                          from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any('{${schemas}}')`))
    present.set(f.name, [...(present.get(f.name) ?? []), `(${f.args}) returns ${f.result}`]);
  assert.ok(declared.length > 30);
  for (const d of declared) assert.deepEqual(present.get(d.name), [`(${d.args}) returns ${d.result}`], d.name);
});

test('functions and views use only declared names of other schemas', () => {
  const bodies = rows(`select n.nspname as owner, p.proname as name, p.prosrc as body from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                        where n.nspname = any('{${schemas}}')
                       union all select schemaname, viewname, definition from pg_views where schemaname = any('{${schemas}}')`);
  assert.ok(bodies.length > 200);
  const faults = bodies.flatMap(({ owner, name, body }) => misuses(owner, foreignNames(owner, body), declared).map((f) => `${owner}.${name}: ${f}`));
  assert.deepEqual(faults, []);
});

test('every declared user uses the declared function', () => {
  const used = new Set();
  for (const { owner, body } of rows(`select n.nspname as owner, p.prosrc as body from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                                       where n.nspname = any('{${schemas}}')`))
    for (const name of foreignNames(owner, body)) used.add(`${owner} ${name}`);
  const sources = execFileSync('grep', ['-rhoE', `\\b(${schemas.join('|')})\\.[a-z_]+`, path.join(root, 'modules'), '--include=*.cpp', '--include=*.hpp'], { encoding: 'utf8' });
  const inSources = new Set(sources.split('\n'));
  for (const d of declared) for (const user of d.users)
    assert.ok(used.has(`${user} ${d.name}`) || inSources.has(d.name), `${user} does not use ${d.name}`);
});

test('runyard migrate names functions that a module promises with its services and does not define', () => {
  database.sql(`drop function accounts.profile(uuid); drop function accounts.can_verify(uuid);
    create function accounts.can_verify(account text) returns boolean language sql as 'select true'`);
  assert.deepEqual(migrate().warnings, [
    { module: 'accounts', message: 'provides accounts/1, but its SQL function accounts.profile(account uuid) returns TABLE(phone text, avatar text) is missing: modules that call it fail' },
    { module: 'accounts', message: 'provides accounts/1, but its SQL function accounts.can_verify(account text) returns boolean must be accounts.can_verify(account uuid) returns boolean: modules that call it fail' },
  ]);
});
