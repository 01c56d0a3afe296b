import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dependencies, ofModule, reason } from './includes.mjs';

test('includes of private headers are findings', () => {
  const why = (file) => reason(file, '/src');
  assert.equal(why('/usr/include/boost/beast/http.hpp'), 'Boost.Beast');
  assert.equal(why('/usr/include/boost/beast.hpp'), 'Boost.Beast');
  assert.equal(why('/usr/include/boost/asio/io_context.hpp'), 'Boost.Asio');
  assert.equal(why('/usr/include/soci/session.h'), 'SOCI');
  assert.equal(why('/usr/include/postgresql/libpq-fe.h'), 'libpq');
  assert.equal(why('/src/core/http/uri.hpp'), 'the host');
  assert.equal(why('/src/build/../core/http/uri.hpp'), 'the host');
  for (const file of ['/src/sdk/include/ry/ry.hpp', '/usr/include/boost/json.hpp', '/usr/include/boost/json/core/x.hpp', '/src/modules/mcp/core/x.hpp', '/usr/include/sodium.h'])
    assert.equal(why(file), undefined, file);
});

test('dependency files are read, and tests are no modules', () => {
  const all = dependencies('a/b.o: #deps 2, deps mtime 1 (VALID)\n    /x/y.h\n    ../z.h\n\nc.o: #deps 0, deps mtime 2 (VALID)\n');
  assert.deepEqual([...all], [['a/b.o', ['/x/y.h', '../z.h']], ['c.o', []]]);
  assert.ok(ofModule('modules/runs/CMakeFiles/runs.dir/module.cpp.o'));
  assert.ok(!ofModule('modules/runs/CMakeFiles/runs_module_test.dir/text_test.cpp.o'));
  assert.ok(!ofModule('modules/runs/CMakeFiles/runs_module_pgtest.dir/text.cpp.o'));
  assert.ok(!ofModule('core/http/CMakeFiles/ry_http.dir/uri.cpp.o'));
});
