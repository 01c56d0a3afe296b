// Tests of abi_tags.mjs: every function in the C headers documents its thread with a tag.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untagged } from './abi_tags.mjs';

const inStruct = (members, structComment = '') => `/* A file comment. */\n#ifndef X\n#define X\n${structComment}typedef struct ry_x_v1 {\n  uint32_t struct_size;\n${members}\n} ry_x_v1;\n#endif\n`;
const names = (text) => untagged(text).map((f) => f.name);

test('a function is tagged by its own comment or by that of its group, struct or file', () => {
  assert.deepEqual(names(inStruct('  /* Does. [any] */\n  void (*a)(void* self);\n  ry_status (*b)(void* self,\n                 ry_str s);')), []);
  assert.deepEqual(names(inStruct('  void (*a)(void* self); /* does [exec] */')), []);
  assert.deepEqual(names(inStruct('  void (*a)(void* self);\n\n  void (*b)(void* self);', '/* All [lifecycle]. */\n')), []);
  assert.deepEqual(names(inStruct('  void (*a)(void* self);', '/* All on the exec of open(), in order. */\n')), []);
  assert.deepEqual(names(`/* x/1. All functions are [any]. */\n${inStruct('  void (*a)(void* self);')}`), []);
  assert.deepEqual(names('/* Ends it. */\ntypedef void (*ry_x_fn)(void* ctx);\n'), [], 'a completion type');
});

test('untagged functions are reported', () => {
  assert.deepEqual(untagged(inStruct('  /* Does. */\n  void (*a)(void* self);')), [{ line: 7, name: 'a' }]);
  assert.deepEqual(names(inStruct('  /* Does. [any] */\n  void (*a)(void* self);\n\n  void (*b)(void* self);')), ['b'], 'another group');
  assert.deepEqual(names(inStruct('  /* Does. [any] */\n  void (*a)(void* self);\n  /* More. */\n  void (*b)(void* self);')), ['b'], 'its own comment ends the group');
  assert.deepEqual(names(inStruct('  /* [main] */\n  void (*a)(void* self);')), ['a'], 'unknown tag');
  assert.deepEqual(names(`/* Tags: [any], [exec]. */\n${inStruct('  void (*a)(void* self);')}`), ['a'], 'a file comment that explains the tags');
  assert.deepEqual(names('/* The symbol. */\nRY_EXPORT const ry_module_v1* ry_module_entry(void);\n'), ['ry_module_entry']);
});
