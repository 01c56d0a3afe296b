// SQL between modules: a module may use its own schema and the functions that sdk/sql declares for it. Checks the
// string literals in C++ sources:
//   node sql.mjs SOURCE_DIRECTORY
// tests/e2e/sql_interfaces.test.mjs checks the functions and views of a migrated database with the same rules.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const schemas = ['core', 'a2a', 'accounts', 'agents', 'mail', 'mcp', 'mcp_prebuilt', 'notifications', 'openai_api', 'referrals', 'runs', 'webhooks'];

// Parses the declarations of one file: [{name, args, result, users}]. `users`: the modules in the `-- used by:` line.
export function declarations(text) {
  const out = [];
  let users = [];
  for (const line of text.split('\n')) {
    const usedBy = /^-- used by: (.+)$/.exec(line);
    if (usedBy) users = usedBy[1].split(',').map((u) => u.trim());
    const declared = /^create function (\w+\.\w+)\((.*)\) returns (.+);$/.exec(line);
    if (declared) out.push({ name: declared[1], args: declared[2], result: declared[3], users });
    else if (/^create /.test(line)) throw new Error(`cannot parse: ${line}`);
    if (declared) users = [];
  }
  return out;
}

export function readDeclarations(root) {
  const directory = path.join(root, 'sdk/sql');
  return readdirSync(directory).filter((f) => f.endsWith('.sql')).sort()
    .flatMap((f) => declarations(readFileSync(path.join(directory, f), 'utf8')).map((d) => ({ ...d, file: f })));
}

const withoutComments = (sql) => sql.replace(/--[^\n]*/g, '').replace(/\/\*[\s\S]*?\*\//g, '');

// Returns the names of other schemas in the SQL of `owner`: called functions, and tables after from, join, into,
// update.
export function foreignNames(owner, sql) {
  const found = new Set();
  const text = withoutComments(sql);
  const list = schemas.join('|');
  for (const [, name] of text.matchAll(new RegExp(`\\b((?:${list})\\.[a-z_][a-z_0-9]*)\\s*\\(`, 'g'))) found.add(name);
  for (const [, name] of text.matchAll(new RegExp(`\\b(?:from|join|into|update|delete from|only)\\s+((?:${list})\\.[a-z_][a-z_0-9]*)`, 'gi'))) found.add(name);
  return [...found].filter((name) => !name.startsWith(`${owner}.`)).sort();
}

// Returns descriptions of the undeclared uses of these names by `owner`.
export function misuses(owner, names, declared) {
  return names.flatMap((name) => {
    const d = declared.find((x) => x.name === name);
    if (!d) return [`${name} is not declared in sdk/sql`];
    return d.users.includes(owner) ? [] : [`${name} does not name ${owner} as a user in sdk/sql/${d.file}`];
  });
}

// Returns the module whose schema the statements of a source file use.
export function moduleOf(file) {
  if (file.startsWith('modules/mcp/transports/prebuilt/')) return 'mcp_prebuilt';
  if (file.startsWith('modules/notifications/webhooks/')) return 'webhooks';
  return file.split('/')[1];
}

// Returns the contents of all string literals.
export function stringsOf(source) {
  const out = [];
  const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\b(?:u8|[uUL])?R"([^()\\\s]{0,16})\(([\s\S]*?)\)\1"|"((?:\\.|[^"\\\n])*)"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'/g;
  for (const m of source.matchAll(token)) {
    if (m[2] !== undefined) out.push(m[2]);
    else if (m[3] !== undefined) out.push(m[3]);
  }
  // Adjacent literals form one statement.
  return out.join(' ');
}

function* sources(root, directory) {
  for (const name of readdirSync(path.join(root, directory)).sort()) {
    const at = path.posix.join(directory, name);
    if (statSync(path.join(root, at)).isDirectory()) {
      if (name !== 'node_modules' && name !== 'migrations') yield* sources(root, at);
    } else if (/\.(cpp|hpp)$/.test(name) && !/test\.(cpp|hpp)$/.test(name)) yield at;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2];
  const declared = readDeclarations(root);
  let files = 0, foreign = 0;
  const problems = [];
  for (const file of sources(root, 'modules')) {
    files++;
    const names = foreignNames(moduleOf(file), stringsOf(readFileSync(path.join(root, file), 'utf8')));
    foreign += names.length;
    for (const f of misuses(moduleOf(file), names, declared)) problems.push(`${file}: ${f}`);
  }
  for (const f of problems) console.log(f);
  console.log(`${files} files, ${declared.length} declarations, ${foreign} uses of other schemas, ${problems.length} findings`);
  process.exit(problems.length || !foreign ? 1 : 0);
}
