// Writes src/schema.d.ts: `node generate.mjs [URL or FILE of an openapi.json] [OUT]`. The packages are those beside this
// file (npm install), else those of tests/e2e.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const here = import.meta.dirname;
const packages = createRequire(path.join(here, 'x.js'));
const found = packages.resolve('openapi-typescript', { paths: [here, path.join(here, '../../tests/e2e')] });
const { default: openapiTS, astToString } = packages(found);

const from = process.argv[2] ?? 'http://127.0.0.1:8080/openapi.json';
const text = /^https?:/.test(from) ? await (await fetch(from)).text() : readFileSync(from, 'utf8');
const out = process.argv[3] ?? path.join(here, 'src/schema.d.ts');
const types = astToString(await openapiTS(JSON.parse(text), { alphabetize: true }));
writeFileSync(out, `// Made by generate.mjs of /openapi.json with all modules.\n${types}`);
