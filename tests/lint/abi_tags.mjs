// Every function in the C headers must carry one of the thread tags defined in ry/abi.h: [lifecycle], [exec], [any] or
// [blocking-ok]. The tag is in the comment above the function, above its group (functions without an empty line between
// them), above the enclosing struct, or, if the whole file has a single tag, in the head comment. Callbacks may use one
// of these phrases instead: "on the exec of open()", "callable at any time". Completion types (typedef ..._fn) need no
// tag: abi.h specifies their thread once for all.
//   node abi_tags.mjs DIRECTORY
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const tag = /\[(lifecycle|exec|any|blocking-ok)\]/;
const phrase = /\bon (the|its|that) ([a-z]+'s )?exec(utor)?\b|\bcallable at any time\b/i;
const functions = /\(\*\s*(\w+)\)\s*\(/g;

// Returns the functions of a header without a tag: [{line, name}].
export function untagged(text) {
  const out = [];
  // Replaces comments with spaces, so that offsets and line numbers stay valid.
  const comments = [];
  const code = text.replace(/\/\*[\s\S]*?\*\//g, (all, at) => {
    comments.push({ at, end: at + all.length, tagged: tag.test(all) || phrase.test(all), text: all });
    return all.replace(/[^\n]/g, ' ');
  });
  const tagsInHeadComment = new Set([...(comments[0]?.text ?? '').matchAll(new RegExp(tag, 'g'))].map((m) => m[1]));
  const wholeFileTagged = tagsInHeadComment.size === 1 && code.slice(0, comments[0].at).trim() === '';
  const lineOf = (at) => text.slice(0, at).split('\n').length;
  // Returns the comment that ends right before `at`, separated only by blanks and at most one newline.
  const above = (at) => comments.findLast((c) => c.end <= at && /^[ \t]*\n?[ \t]*$/.test(text.slice(c.end, at)));
  // Statements: members of structs, typedefs, declarations.
  const open = [];
  let begin = 0, group = false;
  for (let i = 0; i < code.length; i++) {
    const c = code[i];
    if (c === '#' && code.slice(0, i).endsWith('\n')) { i = code.indexOf('\n', i); begin = i + 1; continue; }
    if (c === '{') {
      const first = begin + /^\s*/.exec(code.slice(begin))[0].length;
      const transparent = /^extern\s+"C"/.test(code.slice(first));
      if (!transparent) open.push({ tagged: above(first)?.tagged ?? false });
      begin = i + 1; group = false;
    } else if (c === '}') {
      open.pop();
      begin = i + 1; group = false;
    } else if (c === ';') {
      const statement = code.slice(begin, i);
      const first = begin + /^\s*/.exec(statement)[0].length;
      const innerComments = comments.filter((k) => k.at >= begin && k.end <= i);
      const blank = /\n[ \t]*\n/.test(text.slice(begin, first).replace(/\/\*[\s\S]*?\*\//g, 'x'));
      const name = [...statement.matchAll(functions)][0]?.[1] ?? /^\s*(?:RY_EXPORT)[\s\S]*?(\w+)\s*\(/.exec(statement)?.[1];
      if (innerComments.length) group = innerComments.some((k) => k.tagged);
      else if (blank) group = false;
      const trailing = comments.find((k) => k.at > i && /^[ \t]*$/.test(text.slice(i + 1, k.at)));
      const completion = /^\s*typedef\b/.test(statement) && /_fn$/.test(name ?? '');
      if (name && !completion && !group && !trailing?.tagged && !open.some((o) => o.tagged) && !wholeFileTagged)
        out.push({ line: lineOf(first), name });
      begin = i + 1;
    }
  }
  return out;
}

function* headers(dir) {
  for (const name of readdirSync(dir).sort()) {
    const file = path.join(dir, name);
    if (statSync(file).isDirectory()) yield* headers(file);
    else if (name.endsWith('.h')) yield file;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let found = 0, seen = 0;
  for (const file of headers(process.argv[2])) {
    seen++;
    for (const { line, name } of untagged(readFileSync(file, 'utf8'))) {
      found++;
      console.log(`${file}:${line}: ${name} has no thread tag`);
    }
  }
  if (seen === 0) { console.log(`no headers below ${process.argv[2]}`); found++; }
  process.exit(found ? 1 : 0);
}
