// What a module may include: the SDK, the standard library, its own headers and the libraries of its own trade. Never
// the host's, nor the libraries that only the host uses for networking: Beast, Asio, SOCI, libpq. Reads the dependency
// files that the compiler wrote, so that what a header brings along counts too. Tests are no part of a module.
//   node includes.mjs SOURCE_DIRECTORY BUILD_DIRECTORY
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const forbidden = [
  [/(^|\/)boost\/beast(\/|\.hpp$)/, 'Boost.Beast'],
  [/(^|\/)boost\/asio(\/|\.hpp$)/, 'Boost.Asio'],
  [/(^|\/)soci\//, 'SOCI'],
  [/(^|\/)(libpq-fe|libpq-events|libpq\/[^/]+|postgres_ext|pg_config\w*)\.h$/, 'libpq'],
];

// Why a module must not include this file; undefined: it may.
export function reason(file, source) {
  const of = path.relative(source, path.resolve(source, file));
  if (/^core\//.test(of)) return 'the host';
  return forbidden.find(([pattern]) => pattern.test(file))?.[1];
}

// {object: [dependencies]} of `ninja -t deps`.
export function dependencies(text) {
  const out = new Map();
  let files;
  for (const line of text.split('\n')) {
    const head = /^(\S.*): #deps \d+/.exec(line);
    if (head) out.set(head[1], files = []);
    else if (/^ {4}\S/.test(line)) files?.push(line.trim());
  }
  return out;
}

// Objects of modules: below modules/, but for those of tests.
export const ofModule = (object) => /(^|\/)modules\//.test(object) && !/_(pg)?test(\.dir\/|\.cpp)/.test(object) && !/_fuzz/.test(object);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [source, build] = process.argv.slice(2);
  const all = dependencies(execFileSync('ninja', ['-C', build, '-t', 'deps'], { encoding: 'utf8', maxBuffer: 1 << 30 }));
  let objects = 0, sdk = 0, found = 0;
  for (const [object, files] of all) {
    if (!ofModule(object)) continue;
    objects++;
    sdk += files.some((f) => f.includes('sdk/include/ry/'));
    for (const f of files) {
      const why = reason(path.resolve(build, f), source);
      if (!why) continue;
      found++;
      console.log(`${object} includes ${f}: ${why} is not for modules`);
    }
  }
  console.log(`${objects} objects of modules, ${sdk} of them with the SDK`);
  // Without any, this would look at nothing: a build of another generator, say.
  process.exit(found || !objects || !sdk ? 1 : 0);
}
