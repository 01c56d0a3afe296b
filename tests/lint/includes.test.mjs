import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dependencies, isModuleObject, reasonToForbid } from './includes.mjs';

test('includes of private headers are reported', () => {
  const reason = (file) => reasonToForbid(file, '/src');
  assert.equal(reason('/usr/include/boost/beast/http.hpp'), 'Boost.Beast');
  assert.equal(reason('/usr/include/boost/beast.hpp'), 'Boost.Beast');
  assert.equal(reason('/usr/include/boost/asio/io_context.hpp'), 'Boost.Asio');
  assert.equal(reason('/usr/include/soci/session.h'), 'SOCI');
  assert.equal(reason('/usr/include/postgresql/libpq-fe.h'), 'libpq');
  assert.equal(reason('/src/core/http/uri.hpp'), 'the host');
  assert.equal(reason('/src/build/../core/http/uri.hpp'), 'the host');
  for (const file of ['/src/sdk/include/ry/ry.hpp', '/usr/include/boost/json.hpp', '/usr/include/boost/json/core/x.hpp', '/src/modules/mcp/core/x.hpp', '/usr/include/sodium.h'])
    assert.equal(reason(file), undefined, file);
});

test('parses `ninja -t deps`; objects of tests do not count as module objects', () => {
  const all = dependencies('a/b.o: #deps 2, deps mtime 1 (VALID)\n    /x/y.h\n    ../z.h\n\nc.o: #deps 0, deps mtime 2 (VALID)\n');
  assert.deepEqual([...all], [['a/b.o', ['/x/y.h', '../z.h']], ['c.o', []]]);
  assert.ok(isModuleObject('modules/runs/CMakeFiles/runs.dir/module.cpp.o'));
  assert.ok(!isModuleObject('modules/runs/CMakeFiles/runs_module_test.dir/text_test.cpp.o'));
  assert.ok(!isModuleObject('modules/runs/CMakeFiles/runs_module_pgtest.dir/text.cpp.o'));
  assert.ok(!isModuleObject('core/http/CMakeFiles/ry_http.dir/uri.cpp.o'));
});
