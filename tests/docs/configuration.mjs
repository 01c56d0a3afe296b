// docs/configuration.md: the table that `runyard settings` prints, with the explanations that stand in conf/
// where a schema has none.
//   node tests/docs/configuration.mjs > docs/configuration.md
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { binary, build, root } from '../e2e/lib/server.mjs';

const head = `# Configuration

Every setting of the host and of the modules that come with it, made from the schemas that check them
(\`runyard settings\` prints the same tables for the modules that are installed, third-party ones too). Do not edit:
\`node tests/docs/configuration.mjs > docs/configuration.md\` writes it, and a test compares.

A setting \`a.b\` of the table can be given

- in \`/etc/runyard/runyard.toml\` or a file of \`/etc/runyard/modules.d/\` (read after it, in order of their names):
  \`[a]\` and below it \`b = ...\`;
- in the environment: \`RUNYARD_A__B=...\` ("__" where the key has a dot). A key that stands in a file is meant whatever its case, and
  "_" stands for any of its characters that is no letter or digit: \`RUNYARD_RUNS__MODELS__RUNYARD_BASIC\` is
  \`runs.models."runyard/basic"\`. A key that stands in no file is taken in lower case; one that cannot be written so
  needs a file or \`--set\`;
- on the command line: \`--set a.b=...\`.

The later in this list wins. \`\${NAME}\` in a text is the environment variable NAME. \`runyard check\` tells everything that
is wrong; \`runyard check --show\` what is in force, and where it comes from. NAME stands for a name of your choice.

The settings of a module that is not enabled have no effect. They are not checked either, as only the module knows them;
\`runyard check\` names such tables. A table of a name that belongs to no installed module is refused.

`;

// What the comment above a setting says: {key: text}.
export function explanations(text) {
  const out = new Map();
  let table = '', block = [], used = false;
  for (const line of text.split('\n')) {
    const heading = /^(?:# )?\[([A-Za-z0-9_.]+)\]$/.exec(line);
    const setting = /^(?:# )?([A-Za-z0-9_.]+) = /.exec(line);
    if (heading) { table = `${heading[1]}.`; block = []; used = false; continue; }
    if (setting) {
      if (block.length) out.set(table + setting[1], { text: block.join(' '), again: used });
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
  const rows = table.split('\n').map((line) => {
    const m = /^\| `([^`]+)` \|.*\|  \|$/.exec(line);
    const found = m && known.get(m[1]);
    return found ? `${line.slice(0, -3)} ${found.again ? 'as above' : found.text.replaceAll('|', '\\|')} |` : line;
  });
  return head + rows.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(configuration());
