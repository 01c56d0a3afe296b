// Finds `co_await` where g++ 12 miscompiles it: inside an operand of `?:`, inside braces that initialise a
// value (T{co_await f()}, g({co_await f()})), and inside the condition of a `switch`; and `?:` inside an argument of an
// awaited call, whose temporaries it destroys twice. usage: node co_await.mjs DIRECTORY_OR_FILE...
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// Replaces comments, string and character literals with spaces; line numbers stay valid.
export function withoutTexts(source) {
  const patterns = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\b(?:u8|[uUL])?R"([^()\\\s]{0,16})\([\s\S]*?\)\1"|"(?:\\[\s\S]|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\[\s\S]|[^'\\\n])+'/g;
  return source.replace(patterns, (text) => text.replace(/[^\n]/g, ' '));
}

const statements = new Set(['if', 'for', 'while', 'switch', 'do', 'try', 'return', 'co_return']);
const withCondition = new Set(['if', 'for', 'while', 'switch', 'constexpr']);

// Returns the findings of one source text: [{line, message}].
export function findings(source) {
  const found = [];
  const text = withoutTexts(source);
  const frames = [];
  const open = (kind, line, head, awaited = false) => frames.push({ kind, line, head, awaited, code: false, awaits: 0, segment: { awaits: 0, question: 0 } });
  const endSegment = (f) => {
    if (f.segment.awaits && f.segment.question)
      found.push({ line: f.segment.awaits, message: 'co_await inside an operand of ?:' });
    f.segment = { awaits: 0, question: 0 };
  };
  open('{', 0, '');
  frames[0].code = true;
  let line = 1, previous = '';
  for (const [token] of text.matchAll(/\n|[A-Za-z_][A-Za-z_0-9]*|[^\sA-Za-z_]/g)) {
    const top = frames[frames.length - 1];
    if (token === '\n') { line++; continue; }
    if ('([{'.includes(token)) {
      // A lambda's parameters, captures and body are no arguments.
      const argument = token === '(' ? top.segment.awaits && !'])'.includes(previous) : top.awaited && '({,'.includes(previous);
      open(token, line, previous, Boolean(argument || token === '(' && top.awaited && previous !== ']'));
    } else if (')]}'.includes(token)) {
      endSegment(top);
      if (frames.length > 1) frames.pop();
      const outer = frames[frames.length - 1];
      // An initialiser list contains no statements; a function body contains only statements.
      const body = top.kind === '{' && (top.code || top.awaits === 0);
      if (body) {
        if (top.code && outer.kind === '{') endSegment(outer);
      } else if (top.awaits) {
        if (top.kind === '(' && top.head === 'switch') found.push({ line: top.awaits, message: 'co_await inside switch ()' });
        if (top.kind === '{') found.push({ line: top.awaits, message: 'co_await inside a braced value' });
        outer.awaits ||= top.awaits;
        // The condition of a statement is a separate expression.
        if (!(top.kind === '(' && withCondition.has(top.head))) outer.segment.awaits ||= top.awaits;
      }
    } else if (token === ';') {
      top.code = true;
      endSegment(top);
    } else if (token === ',') {
      endSegment(top);
    } else if (token === '?') {
      top.segment.question ||= line;
      if (top.awaited) found.push({ line, message: '?: inside an argument of an awaited call' });
    } else if (token === 'co_await') {
      top.awaits ||= line;
      top.segment.awaits ||= line;
    } else if (statements.has(token)) {
      top.code = true;
    }
    previous = token;
  }
  return found.sort((a, b) => a.line - b.line);
}

function* sources(at) {
  if (statSync(at).isFile()) { yield at; return; }
  for (const name of readdirSync(at).sort()) {
    if (name === 'node_modules' || name.startsWith('build') || name.startsWith('.')) continue;
    const file = path.join(at, name);
    if (statSync(file).isDirectory()) yield* sources(file);
    else if (/\.(cpp|hpp|cc|h|ipp)$/.test(name)) yield file;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  let files = 0, bad = 0;
  for (const at of process.argv.slice(2))
    for (const file of sources(at)) {
      files++;
      for (const f of findings(readFileSync(file, 'utf8'))) {
        bad++;
        console.log(`${file}:${f.line}: ${f.message}; g++ 12 miscompiles it, use a named variable`);
      }
    }
  console.log(`${files} files, ${bad} findings`);
  process.exit(bad || !files ? 1 : 0);
}
