// Tests of the cases and the rules themselves: all references exist, and each rule rejects what it should.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DONE_ANSWER, calling, encode } from './lib/answers.mjs';
import { casesOf, knownFailures, topics } from './lib/cases.mjs';
import { viewOf } from './lib/request_view.mjs';
import { profiles, refusal, rules } from './lib/rules.mjs';

const all = (await Promise.all(topics.map(casesOf))).flat();
const png = (width, end = 'IEND') => { const b = Buffer.alloc(40); b.write('\x89PNG\r\n\x1a\n',
  'latin1'); b.writeUInt32BE(width, 16); b.write(end, 30); return b.toString('base64'); };
const image = (media_type, data) => ({ type: 'image', source: { type: 'base64', media_type, data } });
const user = (content) => ({ role: 'user', content });
const call = (id) => ({ role: 'assistant', tool_calls: [{ id, type: 'function',
  function: { name: 'f', arguments: '{}' } }] });
const answer = (tool_call_id) => ({ role: 'tool', tool_call_id, content: 'ok' });
const request = (...messages) => ({ messages });
const tool = (parameters, { name = 'f', description = '' } = {}) => ({ messages: [user('hi')],
  tools: [{ type: 'function', function: { name, description, parameters } }] });
const object = (properties, more = {}) => ({ type: 'object', properties, ...more });

// For each rule a request that breaks only this one of the rules listed here.
const broken = {
  blank_text: request(user([{ type: 'text', text: ' \n' }])),
  tool_id_pattern: request(call('f.f:0'), answer('f.f:0')),
  tool_id_unique: request(call('a'), answer('a'), call('a'), answer('a')),
  tool_id_40: request(call('x'.repeat(41)), answer('x'.repeat(41))),
  tool_id_9: request(call('call_1'), answer('call_1')),
  paired_results: request(call('a'), answer('b')),
  error_result: request({ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    user([{ type: 'tool_result', tool_use_id: 'a', is_error: true, content: '' }])),
  alternating_roles: request(user('one'), user('two')),
  user_after_tool: request(call('a'), answer('a'), user('next')),
  thought_signature: request(call('a'), answer('a')),
  image_type: request(user([image('image/svg+xml', 'PHN2Zy8+')])),
  image_complete: request(user([image('image/png', png(10, 'gone'))])),
  image_8000_pixels: request(user([image('image/png', png(9000))])),
  image_2000_pixels: request(user(Array.from({ length: 21 }, () => image('image/png', png(2400))))),
  top_level_composition: tool(object({}, { anyOf: [{ required: ['a'] }] })),
  object_schema: tool({ properties: {} }),
  properties_object: tool({ type: 'object', properties: [] }),
  properties_present: tool({ type: 'object' }),
  required_array: tool(object({}, { required: {} })),
  property_names: tool(object({ 'filter[name]': {} })),
  items_present: tool(object({ a: { type: 'array' } })),
  items_schema: tool(object({ a: { type: 'array', items: [{ type: 'string' }] } })),
  tool_count_128: { ...tool(object({})), tools: Array.from({ length: 129 }, () => tool(object({})).tools[0]) },
  tool_name_start: tool(object({}), { name: '1f' }),
  tool_description_1024: tool(object({}), { description: 'x'.repeat(1025) }),
};
const valid = [
  { ...request({ role: 'system', content: 's' }, user('hi'), { role: 'assistant', content: null,
      tool_calls: [{ id: 'abcdefgh1', function: { name: 'f', arguments: '{}' } }] }, answer('abcdefgh1'),
      { role: 'assistant', content: 'done' }, user('next')),
    tools: tool(object({ a: { type: 'array', items: { type: 'string' } } }, { required: ['a'] })).tools },
  { system: 's', messages: [user('hi'), { role: 'assistant',
      content: [{ type: 'tool_use', id: 'abcdefgh1', name: 'f', input: {} }] },
    user([{ type: 'tool_result', tool_use_id: 'abcdefgh1', content: [{ type: 'text', text: 'ok' },
      image('image/png', png(10))] }])], tools: [{ name: 'f', input_schema: object({}) }] },
];

test('case ids are unique', () => {
  const ids = all.map((c) => c.id);
  assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) < i), []);
});

test('each case refers to existing rules, and titles are unique', () => {
  for (const c of all) for (const name of c.refuses ?? []) assert.ok(rules[name] ?? profiles[name], `${c.id}: ${name}`);
  const titles = all.map((c) => c.title);
  assert.deepEqual(titles.filter((title, i) => titles.indexOf(title) < i), []);
});

test('each known failure is a case and has a reason', () => {
  for (const [id, reason] of Object.entries(knownFailures)) {
    assert.ok(all.some((c) => c.id === id), `there is no case ${id}`);
    assert.match(reason, /^\S.{15,}\.$/, id);
  }
});

for (const name of Object.keys(rules)) {
  test(`the rule ${name} rejects a request that breaks it, and no valid request`, () => {
    assert.ok(refusal([name], broken[name], 'chat'), name);
    const others = name === 'thought_signature' ? valid.slice(1) : valid;  // the first has a call without a thought signature
    for (const other of others) assert.equal(refusal([name], other, 'chat'), undefined);
  });
}

test('a call has the same view in both APIs', () => {
  const [chat, messages] = valid.map(viewOf);
  for (const view of [chat, messages]) {
    assert.deepEqual(view.calls.map(({ id, name, arguments: args }) => [id, name, args]), [['abcdefgh1', 'f', {}]]);
    assert.deepEqual(view.results, [{ id: 'abcdefgh1', text: 'ok', error: false }]);
    assert.deepEqual(view.tools.map((t) => [t.name, t.schema.type]), [['f', 'object']]);
  }
  assert.equal(messages.images.length, 1);
});

test('a response is encoded as events of its API', () => {
  assert.match(String(encode(DONE_ANSWER, 'chat').body), /^data: \{"choices".*"done".*\n\ndata: \[DONE\]\n\n$/s);
  assert.match(String(encode(calling('f', { a: 1 }), 'messages').body),
    /event: content_block_start\ndata: .*"tool_use".*event: message_stop\n/s);
  assert.deepEqual(encode({ status: 429, headers: { 'content-type': 'text/plain' }, body: 'no' }, 'chat'),
    { status: 429, headers: { 'content-type': 'text/plain' }, body: Buffer.from('no') });
});
