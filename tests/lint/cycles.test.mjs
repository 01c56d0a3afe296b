import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { componentOf, cycles, includes, layers, unitOf, upward } from './cycles.mjs';

const root = new URL('../../', import.meta.url).pathname;
const tree = (files) => includes(files, ['']);

test('a source and its headers are one unit', () => {
  assert.equal(unitOf('core/db/pool.cpp'), unitOf('core/db/pool.hpp'));
  assert.equal(unitOf('core/db/database_impl.hpp'), unitOf('core/db/database.hpp'));
});

test('finds a cycle through a source file', () => assert.deepEqual(
  cycles(tree({ 'a.hpp': '', 'a.cpp': '#include "a.hpp"\n#include "b.hpp"', 'b.hpp': '#include "c.hpp"', 'c.hpp': '', 'c.cpp': '  #  include "a.hpp"' })),
  [['a', 'b', 'c']]));

test('finds separate cycles', () => assert.equal(
  cycles(tree({ 'a.hpp': '#include "b.hpp"', 'b.hpp': '#include "a.hpp"', 'c.hpp': '#include "d.hpp"', 'd.hpp': '#include "c.hpp"' })).length, 2));

test('accepts a graph without cycles', () => assert.deepEqual(
  cycles(tree({ 'a.hpp': '', 'b.hpp': '#include "a.hpp"', 'c.cpp': '#include "a.hpp"\n#include "b.hpp"' })), []));

test('resolves names from the folders around the file, and those in angle brackets from the folders for includes', () => {
  const files = { 'x/top.hpp': '', 'x/y/a.cpp': '#include "top.hpp"\n#include <x/top.hpp>\n#include <top.hpp>' };
  assert.deepEqual(tree(files).map(({ to, line }) => [to, line]), [['x/top.hpp', 1], ['x/top.hpp', 2]]);
});

test('resolves names of a linked library to the nearest file', () => assert.deepEqual(
  tree({ 'm/a/x.cpp': '#include "lib.hpp"\n#include "generated.hpp"', 'm/common/lib.hpp': '', 'n/lib.hpp': '' }).map(({ to }) => to), ['m/common/lib.hpp']));

test('resolves names in the folder of the file first', () => assert.deepEqual(
  tree({ 'x/a.cpp': '#include "b.hpp"', 'x/b.hpp': '', 'b.hpp': '' }).map(({ to }) => to), ['x/b.hpp']));

const order = [['low'], ['left', 'right'], ['top', 'top/inner']];
test('reports an include of a higher component or of one in the same layer', () => assert.equal(
  upward(tree({ 'low/a.hpp': '#include "top/b.hpp"', 'top/b.hpp': '', 'left/c.hpp': '#include "right/d.hpp"', 'right/d.hpp': '' }), order).length, 2));
test('accepts an include of a lower component', () => assert.deepEqual(
  upward(tree({ 'top/b.hpp': '#include "low/a.hpp"\n#include "left/c.hpp"', 'low/a.hpp': '', 'left/c.hpp': '' }), order), []));
test('the longest matching path determines the component', () => assert.equal(componentOf('top/inner/a.hpp', order.flat()), 'top/inner'));

const module = [['m/text'], ['m/types'], ['m/context'], ['m/api'], ['m']];
test('a unit can be a component, and the entry of a module contains its other files', () => assert.deepEqual(
  ['m/text.hpp', 'm/text.cpp', 'm/texts.hpp', 'm/types/a.hpp', 'm/module.cpp', 'm/new/a.cpp', 'other/a.cpp']
    .map((file) => componentOf(file, module.flat())), ['m/text', 'm/text', 'm', 'm/types', 'm', 'm', undefined]));
test('reports an upward include between a unit and a folder', () => {
  const found = (from, to) => upward(tree({ [from]: `#include "${to}"`, [to]: '' }), module).length;
  assert.equal(found('m/api/a.cpp', 'm/context.hpp'), 0);
  assert.equal(found('m/types/a.hpp', 'm/context.hpp'), 1);
  assert.equal(found('m/context.hpp', 'm/api/a.hpp'), 1);
  assert.equal(found('m/module.cpp', 'm/api/a.hpp'), 0);
  assert.equal(found('m/api/a.cpp', 'm/unlisted.hpp'), 1);
});
test('every component exists', () => {
  for (const component of layers.flat()) assert.ok(['', '.hpp', '.cpp'].some((e) => existsSync(root + component + e)), component);
});
