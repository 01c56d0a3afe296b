// Markdown of answers, as the console makes it: no text makes a tree that a browser cannot draw, or takes long to read.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root, slow } from './lib/server.mjs';

const here = import.meta.dirname;
let dir, Markdown;
before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-markdown-'));
  const esbuild = createRequire(path.join(here, 'package.json'))('esbuild');
  const outfile = path.join(dir, 'markdown.mjs');
  await esbuild.build({
    entryPoints: [path.join(root, 'modules/console/web/src/markdown.jsx')], outfile, bundle: true, format: 'esm', platform: 'node',
    jsx: 'automatic', jsxImportSource: 'preact', nodePaths: [path.join(here, 'node_modules')], logLevel: 'warning',
  });
  ({ Markdown } = await import(pathToFileURL(outfile)));
});
after(() => rmSync(dir, { recursive: true, force: true }));

// Without recursion, which would overflow the stack here too.
function measured(tree) {
  let depth = 0, text = '';
  for (const waiting = [[tree, 0]]; waiting.length > 0;) {
    const [node, level] = waiting.pop();
    depth = Math.max(depth, level);
    if (Array.isArray(node)) waiting.push(...node.toReversed().map((n) => [n, level]));
    else if (typeof node === 'string') text += node;
    else if (node?.props) waiting.push([node.props.children, level + 1]);
  }
  return { depth, text };
}
const shown = (text) => measured(Markdown({ text }));
const types = (text) => {
  const found = new Set();
  for (const waiting = [Markdown({ text })]; waiting.length > 0;) {
    const node = waiting.pop();
    if (Array.isArray(node)) waiting.push(...node);
    else if (node?.props) { found.add(node.type); waiting.push(node.props.children); }
  }
  return found;
};

test('usual markup is formatted', () => {
  const found = types('# A\n\n1. one\n   - *two* and **three**\n     > four\n\n| a | b |\n|---|---|\n| `c` | [d](https://e.example) |\n');
  for (const tag of ['h3', 'ol', 'ul', 'em', 'strong', 'blockquote', 'table', 'code', 'a']) assert.ok(found.has(tag), tag);
  const items = Array.from({ length: 12 }, (_, i) => `${'  '.repeat(i)}- level ${i}`).join('\n');
  assert.ok(types(items).has('ul'));
  assert.match(shown(items).text, /level 11/);
  assert.ok(types(Array.from({ length: 2000 }, (_, i) => `*word* ${i}\n\n`).join('')).has('em'));
});

const deep = {
  lists: '- '.repeat(400) + 'the end',
  'numbered lists': '1. '.repeat(400) + 'the end',
  quotes: '>'.repeat(800) + 'the end',
  'quotes of lists': '> - '.repeat(1500) + 'the end',
  indents: Array.from({ length: 1000 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n') + '\n\nthe end',
  emphasis: '*a '.repeat(20_000) + 'the end',
  'emphasis in emphasis': '**a _b '.repeat(40) + 'the end' + '_ **'.repeat(40),
  brackets: '['.repeat(30_000) + 'the end',
  'emphasis within words': 'a*'.repeat(100_000) + 'the end',
  'links in brackets': 'http://a.example/('.repeat(15_000) + 'the end',
  'many paragraphs': '*a '.repeat(900).concat('\n\n').repeat(90) + 'the end',
  'a long text': 'a\n\n'.repeat(200_000) + 'the end',
};
for (const [name, text] of Object.entries(deep)) {
  test(`deep or costly: ${name}`, () => {
    const begun = performance.now();
    const { depth, text: all } = shown(text);
    assert.ok(depth <= 60, `${depth} levels`);
    assert.match(all, /the end/);
    assert.ok(performance.now() - begun < 20_000 * slow, `${performance.now() - begun} ms`);
  });
}
