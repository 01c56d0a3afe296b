// How the console renders Markdown: no text produces a tree too deep for a browser, or takes long to parse.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root, slow } from './lib/server.mjs';

const e2eDir = import.meta.dirname;
let dir, Markdown;
before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-markdown-'));
  const esbuild = createRequire(path.join(e2eDir, 'package.json'))('esbuild');
  const outfile = path.join(dir, 'markdown.mjs');
  await esbuild.build({
    entryPoints: [path.join(root, 'modules/console/web/src/markdown.jsx')], outfile, bundle: true, format: 'esm', platform: 'node',
    jsx: 'automatic', jsxImportSource: 'preact', nodePaths: [path.join(e2eDir, 'node_modules')], logLevel: 'warning',
  });
  ({ Markdown } = await import(pathToFileURL(outfile)));
});
after(() => rmSync(dir, { recursive: true, force: true }));

// Iterative, because recursion would overflow the stack here as well.
function measure(tree) {
  let depth = 0, text = '';
  for (const pending = [[tree, 0]]; pending.length > 0;) {
    const [node, level] = pending.pop();
    depth = Math.max(depth, level);
    if (Array.isArray(node)) pending.push(...node.toReversed().map((n) => [n, level]));
    else if (typeof node === 'string') text += node;
    else if (node?.props) pending.push([node.props.children, level + 1]);
  }
  return { depth, text };
}
const render = (text) => measure(Markdown({ text }));
const types = (text) => {
  const found = new Set();
  for (const pending = [Markdown({ text })]; pending.length > 0;) {
    const node = pending.pop();
    if (Array.isArray(node)) pending.push(...node);
    else if (node?.props) { found.add(node.type); pending.push(node.props.children); }
  }
  return found;
};

test('common markup is formatted', () => {
  const found = types('# A\n\n1. one\n   - *two* and **three**\n     > four\n\n| a | b |\n|---|---|\n| `c` | [d](https://e.example) |\n');
  for (const tag of ['h3', 'ol', 'ul', 'em', 'strong', 'blockquote', 'table', 'code', 'a']) assert.ok(found.has(tag), tag);
  const items = Array.from({ length: 12 }, (_, i) => `${'  '.repeat(i)}- level ${i}`).join('\n');
  assert.ok(types(items).has('ul'));
  assert.match(render(items).text, /level 11/);
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
  test(`deeply nested or expensive input: ${name}`, () => {
    const startedAt = performance.now();
    const { depth, text: all } = render(text);
    assert.ok(depth <= 60, `${depth} levels`);
    assert.match(all, /the end/);
    assert.ok(performance.now() - startedAt < 20_000 * slow, `${performance.now() - startedAt} ms`);
  });
}
