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
test('refuses a declaration that it cannot read', () => assert.throws(() => declarations('create function core.x()\n')));

const uses = {
  'a call': 'select core.job_hold($1, $2)',
  'a table in a join': 'select 1 from a join core.job j on true',
  'an insert': 'insert into core.job (id) values (1)',
  'an update': 'UPDATE core.job set x = 1',
  'a call in a body': 'begin perform core.job_hold (1, 2); end',
};
for (const [name, sql] of Object.entries(uses)) test(`finds ${name}`, () => assert.equal(foreignNames('runs', sql).length, 1, sql));
test('ignores the own schema, comments and members', () =>
  assert.deepEqual(foreignNames('runs', 'select runs.f(1), core.x from runs.job core -- core.job_hold(1)\n'), []));

test('a declared use by a named module is no misuse', () => assert.deepEqual(misuses('mail', ['core.job_hold'], declared), []));
test('an undeclared name, a table and an unnamed user are', () => {
  for (const name of ['core.other', 'core.job']) assert.deepEqual(misuses('mail', [name], declared), [`${name} is not declared in sdk/sql`]);
  assert.equal(misuses('accounts', ['core.job_hold'], declared).length, 1);
});
test('strings of C++, adjacent ones together', () =>
  assert.equal(stringsOf('f("select 1 from "\n  "core.job", R"sql(update x)sql"); // "no"\n'), 'select 1 from  core.job update x'));
test('modules within modules have schemas of their own', () => {
  assert.equal(moduleOf('modules/notifications/webhooks/a.cpp'), 'webhooks');
  assert.equal(moduleOf('modules/runs/a.cpp'), 'runs');
});
