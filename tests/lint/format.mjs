// Checks that every C and C++ file has the layout of .clang-format. usage: node format.mjs DIRECTORY_OR_FILE...
// Versions of clang-format differ in details, so only version 14 (Debian 12) checks; without it the test is skipped.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const skipped = 77;
const filesPerCall = 60;

// Returns the command of clang-format 14, or undefined.
export function formatter() {
  for (const command of ['clang-format-14', 'clang-format']) {
    const version = spawnSync(command, ['--version'], { encoding: 'utf8' });
    if (version.status === 0 && /version 14\./.test(version.stdout)) return command;
  }
  return undefined;
}

export function* sources(at) {
  if (statSync(at).isFile()) { yield at; return; }
  for (const name of readdirSync(at).sort()) {
    if (name === 'node_modules' || name.startsWith('build') || name.startsWith('.')) continue;
    const file = path.join(at, name);
    if (statSync(file).isDirectory()) yield* sources(file);
    else if (/\.(cpp|hpp|c|h)$/.test(name)) yield file;
  }
}

// Returns the locations that clang-format would change, as `file:line:column`.
export function misformatted(command, files) {
  const locations = [];
  for (let from = 0; from < files.length; from += filesPerCall) {
    const run = spawnSync(command, ['--dry-run', '--Werror', '--style=file', ...files.slice(from, from + filesPerCall)],
      { encoding: 'utf8', maxBuffer: 1 << 28 });
    for (const [, location] of run.stderr.matchAll(/^(.+?:\d+:\d+): error: code should be clang-formatted/gm)) locations.push(location);
    if (run.status !== 0 && !locations.length) throw new Error(`${command}: ${run.stderr || run.error}`);
  }
  return locations;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const command = formatter();
  if (!command) {
    console.log('clang-format 14 is not installed: the layout of the files was not checked');
    process.exit(skipped);
  }
  const files = process.argv.slice(2).flatMap((at) => [...sources(at)]);
  const locations = misformatted(command, files);
  for (const location of locations) console.log(`${location}: not formatted; run clang-format -i on this file`);
  console.log(`${files.length} files, ${locations.length} findings`);
  process.exit(locations.length || !files.length ? 1 : 0);
}
