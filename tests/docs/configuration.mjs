// docs/configuration.md: the tables that `runyard settings` prints. Settings without a description in their schema get the comment
// from conf/.
//   node tests/docs/configuration.mjs > docs/configuration.md
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { binary, build, root } from '../e2e/lib/server.mjs';

const head = `# Configuration

This page lists all settings of the host and of the modules in this repository. The tables are generated from the settings schemas (\`runyard settings\`
prints them for the installed modules, including third-party ones). Do not edit this page: run
\`node tests/docs/configuration.mjs > docs/configuration.md\`. A test checks that it is up to date.

A setting \`a.b\` can be set

- in \`/etc/runyard/runyard.toml\` or a file in \`/etc/runyard/modules.d/\` (read afterwards, in order of their names), as
  \`b = ...\` below \`[a]\`;
- in the environment: \`RUNYARD_A__B=...\`, with "__" for each dot of the key. The name matches a key of a file regardless of case, and
  "_" matches every character that is not a letter or digit: \`RUNYARD_RUNS__MODELS__RUNYARD_BASIC\` is
  \`runs.models."runyard/basic"\`. A key that is in no file is read in lower case; keys that cannot be written this way
  need a file or \`--set\`;
- on the command line: \`--set a.b=...\`.

Later items of this list override earlier ones. \`\${NAME}\` in a string is replaced by the environment variable NAME. \`runyard check\`
reports all errors; \`runyard check --show\` prints the effective settings and the source of each. In the tables, NAME stands for a name of your choice.

Settings of a module that is not enabled have no effect and are not checked, because only the module knows them;
\`runyard check\` names such tables. A table that belongs to no installed module is refused.

`;

// Comments above the settings: {key: text}.
export function explanations(text) {
  const out = new Map();
  let table = '', block = [], used = false, first = '';
  for (const line of text.split('\n')) {
    const heading = /^(?:# )?\[([A-Za-z0-9_.]+)\]$/.exec(line);
    const setting = /^(?:# )?([A-Za-z0-9_.]+) = /.exec(line);
    if (heading) { table = `${heading[1]}.`; block = []; used = false; continue; }
    if (setting) {
      if (!used) first = table + setting[1];
      if (block.length) out.set(table + setting[1], { text: block.join(' '), again: used, first });
      used = true;
      continue;
    }
    if (!line.startsWith('#')) { block = []; used = false; continue; }
    if (used) { block = []; used = false; }
    block.push(line.replace(/^#\s?/, '').trim());
  }
  return out;
}

const file = path.join(root, 'conf/runyard.toml');

// The output of `runyard settings`, including modules that are off by default.
export function settings(...flags) {
  const drop = (name) => readFileSync(path.join(root, 'conf/modules.d', name), 'utf8');
  const on = readdirSync(path.join(root, 'conf/modules.d')).filter((f) => /^enabled = false$/m.test(drop(f)))
    .flatMap((f) => ['--set', `modules.${f.slice(0, -5)}.enabled=true`]).concat('--set', 'bus_nats.urls=["nats://127.0.0.1:4222"]');
  return execFileSync(binary, ['settings', ...flags, '--config', file, '--set', `modules.path=${build}/modules`, ...on],
    { encoding: 'utf8', env: { ...process.env, RUNYARD_CONFIG: '' } });
}

export function configuration() {
  const table = settings();
  const known = explanations(readFileSync(file, 'utf8'));
  for (const name of readdirSync(path.join(root, 'conf/modules.d')).sort())
    for (const [k, v] of explanations(readFileSync(path.join(root, 'conf/modules.d', name), 'utf8'))) known.set(k, v);
  const keyOf = (line) => /^\| `([^`]+)` \|.*\|  \|$/.exec(line)?.[1];
  const undescribed = new Set(table.split('\n').map(keyOf));
  const rows = table.split('\n').map((line) => {
    const found = known.get(keyOf(line));
    const text = found?.again && undescribed.has(found.first) ? `see \`${found.first}\`` : found?.text.replaceAll('|', '\\|');
    return found ? `${line.slice(0, -3)} ${text} |` : line;
  });
  return head + rows.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(configuration());
