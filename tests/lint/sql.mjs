// SQL between modules: a module uses its own schema and the functions that sdk/sql declares for it. Checks the strings in C++ sources:
//   node sql.mjs SOURCE_DIRECTORY
// tests/e2e/sql_interfaces.test.mjs checks the functions and views of a migrated database with the same rules.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const schemas = ['core', 'accounts', 'agents', 'mail', 'mcp', 'mcp_prebuilt', 'notifications', 'referrals', 'runs', 'webhooks'];

// [{name, args, result, users}] of one file. `users`: the modules that `-- used by:` names.
export function declarations(text) {
  const out = [];
  let users = [];
  for (const line of text.split('\n')) {
    const named = /^-- used by: (.+)$/.exec(line);
    if (named) users = named[1].split(',').map((u) => u.trim());
    const made = /^create function (\w+\.\w+)\((.*)\) returns (.+);$/.exec(line);
    if (made) out.push({ name: made[1], args: made[2], result: made[3], users });
    else if (/^create /.test(line)) throw new Error(`not understood: ${line}`);
    if (made) users = [];
  }
  return out;
}

export function readDeclarations(root) {
  const folder = path.join(root, 'sdk/sql');
  return readdirSync(folder).filter((f) => f.endsWith('.sql')).sort()
    .flatMap((f) => declarations(readFileSync(path.join(folder, f), 'utf8')).map((d) => ({ ...d, file: f })));
}

const withoutComments = (sql) => sql.replace(/--[^\n]*/g, '').replace(/\/\*[\s\S]*?\*\//g, '');

// Names of other schemas in the SQL of `owner`: called functions, and tables after from, join, into and update.
export function foreignNames(owner, sql) {
  const found = new Set();
  const text = withoutComments(sql);
  const list = schemas.join('|');
  for (const [, name] of text.matchAll(new RegExp(`\\b((?:${list})\\.[a-z_][a-z_0-9]*)\\s*\\(`, 'g'))) found.add(name);
  for (const [, name] of text.matchAll(new RegExp(`\\b(?:from|join|into|update|delete from|only)\\s+((?:${list})\\.[a-z_][a-z_0-9]*)`, 'gi'))) found.add(name);
  return [...found].filter((name) => !name.startsWith(`${owner}.`)).sort();
}

// The faults in the use of these names by `owner`.
export function misuses(owner, names, declared) {
  return names.flatMap((name) => {
    const d = declared.find((x) => x.name === name);
    if (!d) return [`${name} is not declared in sdk/sql`];
    return d.users.includes(owner) ? [] : [`${name} does not name ${owner} as a user in sdk/sql/${d.file}`];
  });
}

// The module whose schema the statements of a source use.
export function moduleOf(file) {
  if (file.startsWith('modules/mcp/transports/prebuilt/')) return 'mcp_prebuilt';
  if (file.startsWith('modules/notifications/webhooks/')) return 'webhooks';
  return file.split('/')[1];
}

// The texts of string literals.
export function stringsOf(source) {
  const out = [];
  const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\b(?:u8|[uUL])?R"([^()\\\s]{0,16})\(([\s\S]*?)\)\1"|"((?:\\.|[^"\\\n])*)"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'/g;
  for (const m of source.matchAll(token)) {
    if (m[2] !== undefined) out.push(m[2]);
    else if (m[3] !== undefined) out.push(m[3]);
  }
  // Adjacent literals are one statement.
  return out.join(' ');
}

function* sources(root, folder) {
  for (const name of readdirSync(path.join(root, folder)).sort()) {
    const at = path.posix.join(folder, name);
    if (statSync(path.join(root, at)).isDirectory()) {
      if (name !== 'node_modules' && name !== 'migrations') yield* sources(root, at);
    } else if (/\.(cpp|hpp)$/.test(name) && !/test\.(cpp|hpp)$/.test(name)) yield at;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2];
  const declared = readDeclarations(root);
  let files = 0, foreign = 0;
  const faults = [];
  for (const file of sources(root, 'modules')) {
    files++;
    const names = foreignNames(moduleOf(file), stringsOf(readFileSync(path.join(root, file), 'utf8')));
    foreign += names.length;
    for (const f of misuses(moduleOf(file), names, declared)) faults.push(`${file}: ${f}`);
  }
  for (const f of faults) console.log(f);
  console.log(`${files} files, ${declared.length} declarations, ${foreign} uses of other schemas, ${faults.length} findings`);
  process.exit(faults.length || !foreign ? 1 : 0);
}
