// A module may include the SDK, the standard library, its own headers and the libraries it needs, but no headers of the
// host and none of the libraries reserved for the host: Beast, Asio, SOCI, libpq. Reads the dependencies that
// ninja recorded from the compiler (ninja -t deps), so that indirect includes count. Tests are not part of a module.
//   node includes.mjs SOURCE_DIRECTORY BUILD_DIRECTORY
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const forbidden = [
  [/(^|\/)boost\/beast(\/|\.hpp$)/, 'Boost.Beast'],
  [/(^|\/)boost\/asio(\/|\.hpp$)/, 'Boost.Asio'],
  [/(^|\/)soci\//, 'SOCI'],
  [/(^|\/)(libpq-fe|libpq-events|libpq\/[^/]+|postgres_ext|pg_config\w*)\.h$/, 'libpq'],
];

// Returns the reason why a module must not include this file, or undefined.
export function reasonToForbid(file, source) {
  const relative = path.relative(source, path.resolve(source, file));
  if (/^core\//.test(relative)) return 'the host';
  return forbidden.find(([pattern]) => pattern.test(file))?.[1];
}

// Parses the output of `ninja -t deps`: {object: [dependencies]}.
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

// Whether an object belongs to a module: it is below modules/ and does not belong to a test.
export const isModuleObject = (object) => /(^|\/)modules\//.test(object) && !/_(pg)?test(\.dir\/|\.cpp)/.test(object) && !/_fuzz/.test(object);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [source, build] = process.argv.slice(2);
  const all = dependencies(execFileSync('ninja', ['-C', build, '-t', 'deps'], { encoding: 'utf8', maxBuffer: 1 << 30 }));
  let objects = 0, sdk = 0, found = 0;
  for (const [object, files] of all) {
    if (!isModuleObject(object)) continue;
    objects++;
    sdk += files.some((f) => f.includes('sdk/include/ry/'));
    for (const f of files) {
      const reason = reasonToForbid(path.resolve(build, f), source);
      if (!reason) continue;
      found++;
      console.log(`${object} includes ${f}: modules must not use ${reason}`);
    }
  }
  console.log(`${objects} objects of modules, ${sdk} of them with the SDK`);
  // Fails if nothing was checked, for example because the build uses another generator.
  process.exit(found || !objects || !sdk ? 1 : 0);
}
