// Schemas and names of tools that providers reject: the tool is sent in another form or skipped, and the others are
// kept.
import { DONE_ANSWER, calling } from '../lib/answers.mjs';

const good = { name: 'good', inputSchema: { type: 'object', properties: {} } };
const offered = { run: { status: 'completed' }, request: { tools: { $contains: { name: 'peer__good' } } } };
// A tool with this schema in addition to a valid one.
const tool = (id, title, refuses, inputSchema, { kind = 'openai', expect = offered, ...more } = {}) => ({
  id, title: expect === offered ? `${title} does not fail the run` : title, kind, refuses, expect,
  mcp: { tools: [{ name: 'find', inputSchema }, good] }, ...more,
});
const anthropic = { kind: 'anthropic' };
const string = { type: 'string' };
const object = (properties, more = {}) => ({ type: 'object', properties, ...more });
const idOrUrl = [{ properties: { id: string }, required: ['id'] }, { properties: { url: string }, required: ['url'] }];
const many = { tools: Array.from({ length: 130 }, (_, i) => ({ name: `tool_${i}`, inputSchema: object({}) })) };
const kept = (schema) => ({ ...offered, request: { tools: { $contains: { name: 'peer__find', schema } } } });

export default [
  tool('c16a', 'anyOf at the top level', ['top_level_composition'], { type: 'object', anyOf: idOrUrl }, anthropic),
  tool('c16a-parts', 'the properties of all branches of anyOf are offered', ['openai'],
    { type: 'object', anyOf: idOrUrl }, { expect: kept({ properties: { id: string, url: string } }) }),
  tool('c16b', 'oneOf at the top level', ['top_level_composition'], object({ x: string }, { oneOf: idOrUrl }),
    anthropic),
  tool('c16b-all', 'the properties of all branches of allOf are offered (Messages API)', ['anthropic'],
    { type: 'object', allOf: idOrUrl }, { ...anthropic, expect: kept({ properties: { id: string, url: string } }) }),
  tool('c16b-reference', 'a reference at the top level is resolved', ['anthropic'],
    { $ref: '#/$defs/query', $defs: { query: object({ q: string }, { required: ['q'] }) } },
    { ...anthropic, expect: kept({ type: 'object', properties: { q: string } }) }),
  tool('c16b-cycle', 'a recursive schema', ['openai'],
    object({ node: { $ref: '#/$defs/node' } }, { $defs: { node: object({ next: { $ref: '#/$defs/node' } }) } })),
  tool('c16d', 'not at the top level', ['top_level_composition'], object({ a: string }, { not: { required: ['b'] } })),
  tool('c16d-enum', 'enum at the top level', ['openai'], object({ a: string }, { enum: [{ a: 'x' }] })),

  tool('c17a', 'property names with brackets and a dollar sign', ['property_names'],
    object({ 'filter[name]': string, $top: { type: 'integer' } }), anthropic),
  tool('c17a-called', 'a renamed property is passed to the tool under its original name', ['anthropic'],
    object({ 'filter[name]': string }), 
    { ...anthropic, expect: { run: { status: 'completed' }, called: [{ name: 'find',
        arguments: { 'filter[name]': 'x' } }] },
      answers: [(request) => calling('peer__find',
        { [Object.keys(request.tools.find((t) => t.name === 'peer__find').schema.properties)[0]]: 'x' }),
        DONE_ANSWER] }),
  tool('c17a-inner', 'a property name with a space in a nested object', ['anthropic'],
    object({ filter: object({ 'full name': string }) }), anthropic),
  tool('c17b', 'property names in a non-Latin script', ['property_names'], object({ '\u540d\u524d': string }), anthropic),
  tool('c17b-long', 'a property name of more than 64 characters', ['anthropic'], object({ ['x'.repeat(80)]: string }),
    anthropic),

  tool('c18a', 'a schema without properties', ['properties_present'], { type: 'object' }),
  tool('c18a-empty', 'an empty schema', ['openai'], {}),
  tool('c19a', 'properties that are an empty array', ['properties_object'],
    { type: 'object', properties: [], required: [] }),
  tool('c19a-anthropic', 'properties that are an empty array (Messages API)', ['anthropic'],
    { type: 'object', properties: [], required: [] }, anthropic),
  tool('c19b', 'properties that are an empty array in a nested object', ['properties_object'],
    object({ o: { type: 'object', properties: [] } })),
  tool('c19b-items', 'properties that are an empty array in the items of an array', ['openai'],
    object({ list: { type: 'array', items: { type: 'object', properties: [] } } })),

  tool('c73a', 'required that is an object', ['required_array'], object({ a: string }, { required: {} })),
  tool('c73a-null', 'required that is null in a nested object', ['anthropic'],
    object({ o: object({ a: string }, { required: null }) }), anthropic),
  tool('c73b', 'a schema without a type', ['object_schema'], { properties: { a: string } }),
  tool('c73b-list', 'a schema whose type is a list', ['anthropic'],
    { type: ['object', 'null'], properties: { a: string } }, anthropic),
  tool('c73b-string', 'a schema that does not describe an object', ['openai'], string),
  ...['openai', 'anthropic'].map((kind) => ({ id: `c73b-${kind}`, kind, refuses: [kind], mcp: { tools: [good] },
    title: `an unreachable server does not fail the run of a model of the kind ${kind}`,
    steps: [{ stopServer: {} }, { run: {} }], expect: { run: { status: 'completed' } } })),
  tool('c73d', 'an array without items', ['items_present'], object({ a: { type: 'array' } })),
  tool('c73d-inner', 'an array of arrays without items', ['gemini'],
    object({ a: { type: 'array', items: { type: 'array' } } })),
  tool('c73d-tuple', 'a tuple of draft-07', ['openai'], object({ a: { type: 'array',
    items: [{ type: 'number' }, { type: 'number' }] } })),
  tool('c73f', 'properties that are null', ['properties_object'], { type: 'object', properties: null }),
  tool('c73f-inner', 'properties that are null in a nested object', ['anthropic'],
    object({ o: { type: 'object', properties: null } }), anthropic),

  { id: 'c25a', title: 'more tools than OpenAI accepts do not fail the run', refuses: ['tool_count_128'], mcp: many,
    expect: { run: { status: 'completed' } } },
  { id: 'c25a-anthropic', title: 'more than 128 tools are all sent (Messages API)', kind: 'anthropic', mcp: many,
    expect: { run: { status: 'completed' }, request: { tools: { $contains: { name: 'peer__tool_129' } } } } },
  { id: 'c25a-notice', title: 'a request with too many tools offers a search for the others and reports it in a notice', mcp: many,
    refuses: ['tool_count_128'],
    expect: { run: { status: 'completed', notices: { $contains: 'tool_search' } },
      request: { tools: { $contains: { name: 'find_tools' } } } } },
  { id: 'c25a-last', title: 'a call to a tool that was not sent is executed', refuses: ['tool_count_128'], mcp: many,
    answers: [calling('peer__tool_129'), DONE_ANSWER],
    expect: { run: { status: 'completed' }, called: [{ name: 'tool_129' }] } },
  { id: 'c26a', title: 'a tool of a server whose name begins with a digit is offered', refuses: ['tool_name_start'],
    mcp: { name: '21st', tools: [{ name: 'search', inputSchema: object({}) }] },
    expect: { run: { status: 'completed' }, request: { tools: { $contains: { name: '/search/' } } } } },
  { id: 'c26a-gemini', title: 'a tool of a server whose name begins with a hyphen is offered', refuses: ['gemini'],
    mcp: { name: '-x', tools: [{ name: 'search', inputSchema: object({}) }] },
    expect: { run: { status: 'completed' }, request: { tools: { $contains: { name: '/search/' } } } } },
  { id: 'c69a', title: 'a description of more than 1024 characters is truncated', refuses: ['tool_description_1024'],
    decision: 'Descriptions are truncated at 1024 characters in the Chat Completions API: OpenAI rejects longer ones, and the '
      + 'beginning says what the tool does.',
    mcp: { tools: [{ name: 'x', description: 'Long words. '.repeat(120), inputSchema: object({}) }] },
    expect: { run: { status: 'completed' }, request: { tools: { $contains: { name: 'peer__x' } } } } },
  { id: 'c69a-anthropic', title: 'a description of more than 1024 characters is sent in full (Messages API)',
    kind: 'anthropic',
    mcp: { tools: [{ name: 'x', description: 'Long words. '.repeat(120), inputSchema: object({}) }] },
    expect: { run: { status: 'completed' }, request: { tools: { $contains: { name: 'peer__x',
      description: '/(Long words. ?){120}/' } } } } },
];
