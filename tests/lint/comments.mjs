// Finds comments that begin with `Who`, `Whoever`, `Nobody` or `What is`: a comment names its actor (CONTRIBUTING.md,
// "Style"). usage: node comments.mjs DIRECTORY_OR_FILE...
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const slashes = '//[/!]?', hash = '#+', dashes = '--';
const markers = { cpp: slashes, hpp: slashes, c: slashes, h: slashes, mjs: slashes, ts: slashes, sh: hash, cmake: hash, toml: hash, service: hash, yaml: hash, sql: dashes };
const scripts = new Set(['quickstart', 'test', 'run', 'CMakeLists.txt']);
const frozen = /(^|\/)(migrations(?!\/functions)|released|node_modules|dist|build[^/]*)(\/|$)/;
const opening = '(?:Whoever|Who|Nobody|What (?:was|is|came|could))\\b';

export function markerOf(file) {
  const name = path.basename(file);
  return scripts.has(name) ? hash : markers[/\.(\w+)$/.exec(name)?.[1]];
}

// Returns [{line, text}] of one source text: comments on their own line, after code, and in C block comments.
export function findings(source, marker) {
  const comment = new RegExp(`^(?:\\s*|.*[;{},)\\]]\\s+)${marker}\\s+(${opening}.*)$`);
  const block = new RegExp(`^\\s*/?\\*+\\s+(${opening}.*)$`);
  return source.split('\n').flatMap((text, i) => {
    const at = comment.exec(text) ?? (marker === slashes ? block.exec(text) : null);
    return at ? [{ line: i + 1, text: at[1] }] : [];
  });
}

export function* sources(at) {
  if (frozen.test(at)) return;
  if (statSync(at).isFile()) { if (markerOf(at)) yield at; return; }
  for (const name of readdirSync(at).sort()) if (!name.startsWith('.')) yield* sources(path.join(at, name));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  let files = 0, bad = 0;
  for (const at of process.argv.slice(2))
    for (const file of sources(at)) {
      files++;
      for (const f of findings(readFileSync(file, 'utf8'), markerOf(file))) {
        bad++;
        console.log(`${file}:${f.line}: name the actor: ${f.text.slice(0, 80)}`);
      }
    }
  console.log(`${files} files, ${bad} findings`);
  process.exit(bad || !files ? 1 : 0);
}
