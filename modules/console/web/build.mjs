// Builds the page: `node build.mjs [OUT]`. OUT defaults to dist/ next to this file. The packages come from
// tests/e2e/node_modules; run `npm ci` there first.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const here = import.meta.dirname;
const packages = path.resolve(here, '../../../tests/e2e/node_modules');
const esbuild = createRequire(path.join(packages, 'x.js'))('esbuild');
const out = path.resolve(process.argv[2] ?? path.join(here, 'dist'));

const built = await esbuild.build({
  entryPoints: { app: path.join(here, 'src/main.jsx'), reference: path.join(here, 'src/reference.jsx'), worker: path.join(here, 'src/worker.js') },
  outdir: out, bundle: true, minify: true, format: 'esm', target: ['es2022'], charset: 'utf8',
  jsx: 'automatic', jsxImportSource: 'preact', nodePaths: [packages], absWorkingDir: here,
  legalComments: 'none', logLevel: 'warning', metafile: true,
});
await esbuild.build({
  entryPoints: { app: path.join(here, 'src/style.css'), reference: path.join(here, 'src/reference.css') },
  outdir: out, bundle: true, minify: true, target: ['es2022'], absWorkingDir: here, logLevel: 'warning',
});
mkdirSync(out, { recursive: true });
for (const file of ['index.html', 'reference.html', 'icon.svg']) copyFileSync(path.join(here, file), path.join(out, file));

// Write the licences of all bundled packages to licenses.txt.
const names = new Set();
for (const input of Object.keys(built.metafile.inputs)) {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
  if (name) names.add(name);
}
const texts = [...names].sort().map((name) => {
  const dir = path.join(packages, name);
  const version = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8')).version;
  const licence = ['LICENSE', 'LICENSE.md', 'license'].map((f) => { try { return readFileSync(path.join(dir, f), 'utf8'); } catch { return null; } }).find(Boolean);
  if (!licence) throw new Error(`${name} has no licence file`);
  return `${name} ${version}\n\n${licence.trim()}\n`;
});
writeFileSync(path.join(out, 'licenses.txt'), texts.join('\n' + '-'.repeat(80) + '\n\n'));
