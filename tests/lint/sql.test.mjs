import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declarations, foreignNames, misuses, moduleOf, stringsOf } from './sql.mjs';

const declared = declarations(`-- A function.
-- used by: runs, mail
create function core.job_hold(p_id bigint, p_fence bigint) returns void;
`);

test('reads functions and their users', () => assert.deepEqual(declared, [
  { name: 'core.job_hold', args: 'p_id bigint, p_fence bigint', result: 'void', users: ['runs', 'mail'] },
]));
test('rejects a declaration that it cannot parse', () => assert.throws(() => declarations('create function core.x()\n')));

const uses = {
  'a call': 'select core.job_hold($1, $2)',
  'a table in a join': 'select 1 from a join core.job j on true',
  'an insert': 'insert into core.job (id) values (1)',
  'an update': 'UPDATE core.job set x = 1',
  'a call in a body': 'begin perform core.job_hold (1, 2); end',
};
for (const [name, sql] of Object.entries(uses)) test(`finds ${name}`, () => assert.equal(foreignNames('runs', sql).length, 1, sql));
test('ignores names of its own schema, comments and column references', () =>
  assert.deepEqual(foreignNames('runs', 'select runs.f(1), core.x from runs.job core -- core.job_hold(1)\n'), []));

test('accepts a declared use by a listed module', () => assert.deepEqual(misuses('mail', ['core.job_hold'], declared), []));
test('reports an undeclared name, a table and an unlisted user', () => {
  for (const name of ['core.other', 'core.job']) assert.deepEqual(misuses('mail', [name], declared), [`${name} is not declared in sdk/sql`]);
  assert.equal(misuses('accounts', ['core.job_hold'], declared).length, 1);
});
test('joins adjacent C++ string literals', () =>
  assert.equal(stringsOf('f("select 1 from "\n  "core.job", R"sql(update x)sql"); // "no"\n'), 'select 1 from  core.job update x'));
test('modules inside other modules have separate schemas', () => {
  assert.equal(moduleOf('modules/notifications/webhooks/a.cpp'), 'webhooks');
  assert.equal(moduleOf('modules/runs/a.cpp'), 'runs');
});
