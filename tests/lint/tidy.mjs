// Runs clang-tidy with .clang-tidy over the sources of server and modules. usage: node tidy.mjs BUILD_DIR [PATTERN]
// Reads the commands from BUILD_DIR/compile_commands.json. The sources of a target are checked together: clang parses
// the headers of Boost once, and names of anonymous namespaces that clash in a unity build are found. PATTERN: only
// targets whose path contains it. Versions of clang-tidy differ in their checks, so only version 14 (Debian 12) checks;
// without it the test is skipped.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const skipped = 77;
const sourcesPerCall = 24;
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

// Returns the command of clang-tidy 14, or undefined.
export function tidy() {
  for (const command of ['clang-tidy-14', 'clang-tidy']) {
    const version = spawnSync(command, ['--version'], { encoding: 'utf8' });
    if (version.status === 0 && /version 14\./.test(version.stdout)) return command;
  }
  return undefined;
}

// Splits a command line into words, with quotes and backslashes interpreted as by the shell.
export function words(line) {
  return [...line.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, double, single, escaped) =>
      double !== undefined ? double.replace(/\\(["\\$`])/g, '$1') : single ?? escaped));
}

// Returns the compiler options that affect preprocessing and parsing, without file names.
export function options(command) {
  const [, ...all] = words(command).filter((word) => !/(^|\/)ccache$/.test(word));
  const out = [];
  for (let i = 0; i < all.length; i++) {
    if (all[i] === '-isystem' || all[i] === '-include') out.push(all[i], all[++i]);
    else if (/^-(I|D|U|std=|f(PIC|visibility))/.test(all[i])) out.push(all[i]);
  }
  return out;
}

const isUnity = (file) => /\/Unity\/unity_\d+_cxx\.cxx$/.test(file);

// Returns the sources that a unity file includes; for any other file, the file itself.
export function included(file) {
  if (!isUnity(file)) return [file];
  return [...readFileSync(file, 'utf8').matchAll(/^#include "(.+)"$/gm)].map(([, source]) => source);
}

// Returns groups of sources with the same target and options: [{ target, sources, options }]. A source that a unity
// build compiles separately is checked separately.
export function groups(commands, pattern = '') {
  const byTarget = new Map();
  for (const { file, command } of commands) {
    const target = command.match(/ -o (\S+?)\.dir\//)?.[1] ?? '';
    if (!/^(core|modules)\//.test(target) || /(test|_replay|fixtures?\/)/.test(target) || !target.includes(pattern)) continue;
    if (!/\.(cpp|cxx)$/.test(file)) continue;
    const sources = included(file).filter((s) => s.startsWith(`${root}/`) && !s.startsWith(`${root}/build`));
    if (!sources.length) continue;
    const alone = isUnity(file) || !commands.some((c) => isUnity(c.file)) ? '' : file;
    const key = `${target} ${options(command).join(' ')} ${alone}`;
    if (!byTarget.has(key)) byTarget.set(key, { target, options: options(command), sources: [] });
    byTarget.get(key).sources.push(...sources);
  }
  return [...byTarget.values()].flatMap((g) => Array.from({ length: Math.ceil(g.sources.length / sourcesPerCall) }, (_, i) =>
    ({ ...g, sources: g.sources.slice(i * sourcesPerCall, (i + 1) * sourcesPerCall) })));
}

// Returns the findings of one call as lines "file:line:column: text [check]".
export function check(command, group, unityFile, config = path.join(root, '.clang-tidy')) {
  mkdirSync(path.dirname(unityFile), { recursive: true });
  writeFileSync(unityFile, group.sources.map((s) => `#include "${s}"\n`).join(''));
  return new Promise((resolve, reject) => {
    const run = spawn(command, [`--config-file=${config}`, '--quiet', unityFile, '--', ...group.options, '-Wno-everything'],
      { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '', errors = '';
    run.stdout.on('data', (data) => { out += data; });
    run.stderr.on('data', (data) => { errors += data; });
    run.on('error', reject);
    run.on('close', (code) => {
      const found = out.split('\n').filter((line) => /: (warning|error): /.test(line));
      if (code !== 0 && !found.length) reject(new Error(`${command}: ${errors || `exited with ${code}`}`));
      else resolve(found);
    });
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const command = tidy();
  if (!command) {
    console.log('clang-tidy 14 is not installed: the sources were not checked');
    process.exit(skipped);
  }
  // Runs in the idle time of the other tests. clang-tidy inherits the priority.
  os.setPriority(os.constants.priority.PRIORITY_LOW);
  const [build, pattern] = process.argv.slice(2);
  const todo = groups(JSON.parse(readFileSync(path.join(build, 'compile_commands.json'), 'utf8')), pattern);
  const total = todo.reduce((sum, g) => sum + g.sources.length, 0);
  const findings = new Set();
  const next = async () => {
    for (let n; (n = todo.length) > 0;) {
      const group = todo.pop();
      const name = `${group.target.replaceAll('/', '_')}_${n}.cpp`;
      for (const line of await check(command, group, path.join(build, 'tidy', name))) findings.add(line.replace(`${root}/`, ''));
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, os.availableParallelism?.() ?? 2) }, next));
  for (const line of [...findings].sort()) console.log(line);
  console.log(`${total} sources, ${findings.size} findings`);
  process.exit(findings.size || !total ? 1 : 0);
}
