// The include graph: no upward include between the components of core and of the largest modules, and no cycle between
// units (a source and its header count as one unit). Reads the #include lines of the tree.
//   node cycles.mjs SOURCE_DIRECTORY
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// From low to high. A component is a folder or a unit: the longest entry that matches a file determines its component, so
// the entry of a module contains what no other entry names. A component may include only those of lower lines, not those
// of its own line.
export const layers = [
  ['core/exec', 'core/app/config'],
  ['core/observe'],
  ['core/module'],
  ['core/process', 'core/db', 'core/http', 'core/schema'],
  ['core/auth', 'core/limits', 'core/jobs'],
  ['core/events'],
  ['core/app/client'],
  ['core/app/boot'],
  ['core/app/admin', 'core/app/devkit'],
  ['core/app/cli'],

  ['modules/runs/text', 'modules/runs/account_limits', 'modules/runs/llm', 'modules/runs/extract', 'modules/runs/sandbox'],
  ['modules/runs/error_response', 'modules/runs/settings', 'modules/runs/stream'],
  ['modules/runs/types', 'modules/runs/run_metrics', 'modules/runs/models'],
  ['modules/runs/store'],
  ['modules/runs/run'],
  ['modules/runs/start', 'modules/runs/workspace'],
  ['modules/runs/module_context'],
  ['modules/runs/agent', 'modules/runs/api'],
  ['modules/runs/model_check'],
  ['modules/runs'],

  ['modules/notifications/settings', 'modules/notifications/types', 'modules/notifications/workflows', 'modules/notifications/push'],
  ['modules/notifications/store', 'modules/notifications/drivers', 'modules/notifications/webhooks'],
  ['modules/notifications/module_context'],
  ['modules/notifications/api', 'modules/notifications/delivery', 'modules/notifications/events'],
  ['modules/notifications'],
];

// Existing cycles, each as the sorted list of its units. This list may only become shorter.
export const known = [
  // A worker owns its connections, and they call it for every event. Separating them would cost a virtual call per
  // event.
  ['core/http/connection', 'core/http/worker'],
];

const isSource = (name) => /\.(cpp|hpp|c|h)$/.test(name) && !/_(pg)?test\.(cpp|hpp)$/.test(name);
// `x_impl.hpp` is the private part of the unit `x`.
export const unitOf = (file) => file.replace(/(_impl)?\.(cpp|hpp|c|h)$/, '');

export function componentOf(file, all = layers.flat()) {
  return all.filter((c) => file.startsWith(`${c}/`) || unitOf(file) === c).sort((a, b) => b.length - a.length)[0];
}

// The folder of a file and those around it: modules name their own headers relative to the module's folder.
function ancestors(file) {
  const out = [];
  for (let f = path.posix.dirname(file); f !== '.'; f = path.posix.dirname(f)) out.push(f);
  return out;
}

// The file of this name in another folder, such as a library that the target links: the one with most folders in common.
function nearest(file, name, files) {
  const own = file.split('/');
  const common = (other) => other.split('/').findIndex((part, i) => part !== own[i]);
  return Object.keys(files).filter((f) => f.endsWith(`/${name}`)).sort((a, b) => common(b) - common(a))[0];
}

// [{from, to, line}] of the includes between files of the tree. `files`: {path: text}.
export function includes(files, folders = ['', 'sdk/include', 'modules']) {
  const out = [];
  for (const [file, text] of Object.entries(files))
    text.split('\n').forEach((lineText, i) => {
      const [, mark, name] = /^\s*#\s*include\s+(["<])([^">]+)[">]/.exec(lineText) ?? [];
      if (!name) return;
      const near = mark === '"' ? ancestors(file) : [];
      const to = [...near, ...folders].map((f) => path.posix.join(f, name)).find((p) => p in files)
        ?? (mark === '"' ? nearest(file, name, files) : undefined);
      if (to) out.push({ from: file, to, line: i + 1 });
    });
  return out;
}

export function upward(edges, order = layers) {
  const all = order.flat();
  const level = (c) => order.findIndex((l) => l.includes(c));
  return edges.flatMap(({ from, to, line }) => {
    const a = componentOf(from, all), b = componentOf(to, all);
    return a && b && a !== b && level(b) >= level(a) ? [`${from}:${line}: ${a} must not include ${to} of ${b}`] : [];
  });
}

// Returns the strongly connected components with more than one unit (Tarjan).
export function cycles(edges) {
  const next = new Map();
  for (const { from, to } of edges) {
    const a = unitOf(from), b = unitOf(to);
    for (const u of [a, b]) if (!next.has(u)) next.set(u, new Set());
    if (a !== b) next.get(a).add(b);
  }
  const index = new Map(), low = new Map(), stack = [], on = new Set(), found = [];
  const visit = (v) => {
    index.set(v, index.size);
    low.set(v, index.get(v));
    stack.push(v);
    on.add(v);
    for (const w of next.get(v)) {
      if (!index.has(w)) {
        visit(w);
        low.set(v, Math.min(low.get(v), low.get(w)));
      } else if (on.has(w)) {
        low.set(v, Math.min(low.get(v), index.get(w)));
      }
    }
    if (low.get(v) !== index.get(v)) return;
    const group = [];
    for (let w; w !== v;) {
      w = stack.pop();
      on.delete(w);
      group.push(w);
    }
    if (group.length > 1) found.push(group.sort());
  };
  for (const v of next.keys()) if (!index.has(v)) visit(v);
  return found.sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

function read(root) {
  const files = {};
  const walk = (directory) => {
    for (const name of readdirSync(path.join(root, directory)).sort()) {
      const at = path.posix.join(directory, name);
      if (statSync(path.join(root, at)).isDirectory()) {
        if (name !== 'node_modules' && name !== 'migrations') walk(at);
      } else if (isSource(name)) files[at] = readFileSync(path.join(root, at), 'utf8');
    }
  };
  for (const directory of ['core', 'modules', 'sdk/include']) if (existsSync(path.join(root, directory))) walk(directory);
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = read(process.argv[2]);
  const edges = includes(files);
  const problems = upward(edges);
  const text = (group) => group.join(' ');
  const current = new Set(cycles(edges).map(text)), allowed = new Set(known.map(text));
  for (const c of current) if (!allowed.has(c)) problems.push(`a new include cycle: ${c}`);
  for (const c of allowed) if (!current.has(c)) problems.push(`no longer a cycle, remove it from the list: ${c}`);
  for (const f of problems) console.log(f);
  console.log(`${Object.keys(files).length} files, ${edges.length} includes, ${current.size} known cycles, ${problems.length} findings`);
  process.exit(problems.length || !edges.length ? 1 : 0);
}
