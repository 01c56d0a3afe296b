// Finds comments that do not name their actor (CONTRIBUTING.md, "Style"): they begin with `Who` or `What is`, or contain
// a word such as `nobody` (except "user nobody", the Unix user). usage: node comments.mjs DIRECTORY_OR_FILE...
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const slashes = '//[/!]?', hash = '#+', dashes = '--';
const markers = { cpp: slashes, hpp: slashes, c: slashes, h: slashes, mjs: slashes, js: slashes, cjs: slashes, jsx: slashes, ts: slashes, rs: slashes, sh: hash, cmake: hash, toml: hash, service: hash, in: hash, conf: hash, yml: hash, py: hash, yaml: hash, sql: dashes };
const scripts = new Set(['quickstart', 'test', 'run', 'CMakeLists.txt']);
const frozen = /(^|\/)(migrations(?!\/functions)|released|node_modules|dist|build[^/]*)(\/|$)/;
const opening = '(?:Who|What (?:was|is|came|could))\\b';
const anywhere = '(?<!\\buser |`)\\b(?:[Ww]hoever|[Nn]obody|[Ss]omebody)\\b';
const finding = `((?:${opening}|.*${anywhere}).*)$`;

export function markerOf(file) {
  const name = path.basename(file);
  return scripts.has(name) ? hash : markers[/\.(\w+)$/.exec(name)?.[1]];
}

// Returns [{line, text}] of one source text: comments on their own line, after code, and in C block comments.
export function findings(source, marker) {
  const comment = new RegExp(`^(?:\\s*|.*[;{},)\\]]\\s+)${marker}\\s+${finding}`);
  const block = new RegExp(`^\\s*/?\\*+\\s+${finding}`);
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
