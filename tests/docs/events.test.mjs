// docs/events.md and sdk/README.md, which are installed, describe the domain events and the process for authors of
// modules.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../e2e/lib/server.mjs';
import { page } from './lib.mjs';

const rows = new Map([...page('events.md').matchAll(/^\| `([a-z_.]+)` \|[^|]*\|[^|]*\| (.*) \|$/gm)].map((m) => [m[1], m[2]]));
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const files = (dir, form) => readdirSync(path.join(root, dir), { recursive: true }).filter((f) => form.test(f)).map((f) => `${dir}/${f}`);

// Returns each call of core.event_publish in migrations and statements: [kinds, members of the payload].
function published() {
  const out = [];
  for (const file of [...files('modules', /migrations\/.*\.sql$|repository\.cpp$/), 'core/app/admin/admin_database.cpp'])
    for (const call of read(file).replace(/"\s*\n\s*"/g, '').matchAll(/core\.event_publish\((?<kind>[^,]*),[^;]*?(?:jsonb_build_object\((?<payload>[^;]*?)\)\)|;)/g))
      out.push([[...call.groups.kind.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map((m) => m[1]), [...(call.groups.payload ?? '').matchAll(/'([a-z_]+)',/g)].map((m) => m[1])]);
  return [...out.filter(([kinds]) => kinds.length), ...publishedApprovals()];
}

// The same for runs.publish_approvals(), which has common members, those of approval.requested, and those of approval.resolved.
function publishedApprovals() {
  const sql = read('modules/runs/migrations/functions/approvals.sql');
  const [common, requested, resolved] = /function publish_approvals[^]*?end \$\$;/.exec(sql)[0].split(/\|\| case|\n\s+else /)
    .map((part) => [...part.matchAll(/'([a-z_]+)',/g)].map((m) => m[1]));
  const kinds = new Set([...sql.matchAll(/runs\.publish_approvals\('([a-z.]+)'/g)].map((m) => m[1]));
  assert.ok(common.length > 3 && requested.length > 3 && resolved.length);
  return [...kinds].map((kind) => [[kind], [...common, ...(kind === 'approval.requested' ? requested : resolved)]]);
}

test('every kind of event that the modules publish is described with the members of its payload', () => {
  const all = published(), kinds = new Set(all.flatMap(([k]) => k));
  // Published by POST /admin/events, and in the transaction that ends a run.
  for (const kind of ['payment.succeeded', 'payment.failed', 'run.completed', 'run.failed']) kinds.add(kind);
  assert.deepEqual([...rows.keys()].sort(), [...kinds].sort());
  assert.ok(all.length > 12, 'only few calls were found');
  for (const [names, members] of all)
    for (const name of names)
      for (const member of members) {
        const text = /the members of `([^`]+)`/.exec(rows.get(name));
        assert.ok(`${rows.get(name)} ${text ? rows.get(text[1]) : ''}`.includes(`\`${member}\``), `${name}: ${member}`);
      }
});

test('the payload of run.completed is that of the executor', () => {
  const source = /event_json\.emplace\([^]*?;\n/.exec(read('modules/runs/agent/executor.cpp'))?.[0] ?? '';
  const members = [...read('modules/runs/agent/executor.cpp').matchAll(/[{,]\\"([a-z_]+)\\":/g)].map((m) => m[1]);
  assert.ok(source && members.includes('run_id'));
  for (const member of rows.get('run.completed').matchAll(/`([a-z_]+)`/g))
    assert.ok(members.includes(member[1]), `${member[1]} is not in the payload`);
});

test('sdk/README.md describes ry_sys.rs and the ignored SIGPIPE', () => {
  const text = read('sdk/README.md');
  const declared = [...read('sdk/rust/ry_sys.rs').split('\n#!')[0].matchAll(/ry\/[a-z_/]+\.h/g)].map((m) => m[0]);
  assert.ok(declared.length >= 5);
  const sentence = /`rust\/ry_sys\.rs`\s+declares[^]*?\. /.exec(text)?.[0] ?? '';
  assert.deepEqual([...sentence.matchAll(/ry\/[a-z_/]+\.h/g)].map((m) => m[0]).sort(), declared.sort());
  assert.match(text, /ignores SIGPIPE/);
  assert.match(text, /docs\/events\.md/);
});
