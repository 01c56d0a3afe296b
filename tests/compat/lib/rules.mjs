// Requests that providers reject with status 400. A rule takes the view of a request and returns an error message, or
// undefined.
import { viewOf } from './request_view.mjs';

// Returns the first error message that `check` returns for an item.
const find = (items, check) => {
  for (const item of items) {
    const message = check(item);
    if (message) return message;
  }
  return undefined;
};
function* subschemas(schema) {
  if (!schema || typeof schema !== 'object') return;
  yield schema;
  for (const inner of Object.values(schema.properties ?? {})) yield* subschemas(inner);
  for (const inner of [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) {
    if (!Array.isArray(inner)) yield* subschemas(inner);
  }
}
const eachSchema = (view, check) => find(view.tools, (t) => find([...subschemas(t.schema)], (s) => check(s, t)));
const ids = (view) => [...view.calls, ...view.results].map((x) => x.id);
const bytes = (image) => Buffer.from(image.data, 'base64');
const signatures = { 'image/png': '89504e470d0a1a0a', 'image/jpeg': 'ffd8ff', 'image/gif': '47494638',
  'image/webp': '52494646' };
// The longer side of a PNG; 0 for other formats.
function longerSide(image) {
  const b = bytes(image);
  return image.type === 'image/png' && b.length > 24 ? Math.max(b.readUInt32BE(16), b.readUInt32BE(20)) : 0;
}

export const rules = {
  blank_text: (v) => (v.texts.some((t) => t.trim() === '') ? 'a text block is blank' : undefined),
  tool_id_pattern: (v) => find(ids(v), (id) => !/^[a-zA-Z0-9_-]{1,64}$/.test(id)
    && `the tool call id ${id} has a character that is not allowed, or too many`),
  tool_id_unique: (v) => (new Set(v.calls.map((c) => c.id)).size < v.calls.length ? 'two tool calls have the same id'
    : undefined),
  tool_id_40: (v) => find(ids(v), (id) => id.length > 40 && `the tool call id ${id} is longer than 40 characters`),
  tool_id_9: (v) => find(ids(v), (id) => !/^[a-zA-Z0-9]{9}$/.test(id)
    && `the tool call id ${id} is not nine letters and digits`),
  paired_results: (v) =>
    find(v.results, (r) => !v.calls.some((c) => c.id === r.id) && `the tool result ${r.id} has no call`)
    ?? find(v.calls, (c) => !v.results.some((r) => r.id === c.id) && `the tool call ${c.id} has no result`),
  error_result: (v) => (v.results.some((r) => r.error && r.text === '') ? 'a tool result with is_error has no content'
    : undefined),
  alternating_roles: (v) => {
    const roles = v.roles.filter((r) => r !== 'system');
    return find(roles.keys(), (i) => roles[i] !== 'tool' && roles[i] === roles[i + 1]
      && `two messages in succession have the role ${roles[i]}`);
  },
  user_after_tool: (v) => (v.roles.some((r, i) => r === 'tool' && v.roles[i + 1] === 'user')
    ? 'a user message follows a tool message' : undefined),
  thought_signature: (v) => find(v.messages.flatMap((m) => (m.tool_calls ?? []).slice(0, 1)),
    (c) => !c.extra_content?.google?.thought_signature && `the function call ${c.id} has no thought signature`),

  image_type: (v) => find(v.images, (i) => {
    if (!signatures[i.type]) return `the image type ${i.type} is not supported`;
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(i.data)) return 'the data of an image is not base64';
    return !bytes(i).toString('hex').startsWith(signatures[i.type]) && `the data of an image does not match ${i.type}`;
  }),
  image_complete: (v) => (v.images.some((i) => i.type === 'image/png' && !bytes(i).includes('IEND'))
    ? 'an image cannot be decoded' : undefined),
  image_8000_pixels: (v) => (v.images.some((i) => longerSide(i) > 8000)
    ? 'a side of an image is longer than 8000 pixels' : undefined),
  image_2000_pixels: (v) => (v.images.length > 20 && v.images.some((i) => longerSide(i) > 2000)
    ? 'one of more than 20 images is larger than 2000 pixels' : undefined),

  top_level_composition: (v) => find(v.tools, (t) =>
    ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref'].some((k) => k in (t.schema ?? {}))
    && `the schema of ${t.name} is composed at the top level`),
  object_schema: (v) => find(v.tools, (t) => t.schema?.type !== 'object'
    && `the schema of ${t.name} is not of the type object`),
  properties_object: (v) => eachSchema(v, (s, t) => 'properties' in s
    && (s.properties === null || typeof s.properties !== 'object' || Array.isArray(s.properties))
    && `${t.name}: properties is not an object`),
  properties_present: (v) => find(v.tools, (t) => !('properties' in (t.schema ?? {}))
    && `the schema of ${t.name} has no properties`),
  required_array: (v) => eachSchema(v, (s, t) => 'required' in s && !Array.isArray(s.required)
    && `${t.name}: required is not an array`),
  property_names: (v) => eachSchema(v, (s) => find(Object.keys(s.properties ?? {}),
    (k) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(k) && `the property name ${k} is not allowed`)),
  items_present: (v) => eachSchema(v, (s, t) => s.type === 'array' && !('items' in s)
    && `${t.name}: an array has no items`),
  items_schema: (v) => eachSchema(v, (s, t) => Array.isArray(s.items) && `${t.name}: items is an array`),
  tool_count_128: (v) => (v.tools.length > 128 ? `${v.tools.length} tools are more than 128` : undefined),
  tool_name_start: (v) => find(v.tools, (t) => !/^[a-zA-Z_]/.test(t.name)
    && `the function name ${t.name} does not begin with a letter or an underscore`),
  tool_description_1024: (v) => find(v.tools, (t) => t.description.length > 1024
    && `the description of ${t.name} is longer than 1024 characters`),
};

// All rules of one provider; a case can list these as well. They apply only to the API of the provider.
const schemas = ['object_schema', 'properties_object', 'required_array', 'items_schema'];
export const profiles = {
  anthropic: ['blank_text', 'tool_id_pattern', 'tool_id_unique', 'paired_results', 'error_result', 'image_type',
    'image_complete', 'image_8000_pixels', 'image_2000_pixels',
    ...schemas, 'top_level_composition', 'property_names'],
  openai: ['tool_id_40', 'tool_id_unique', 'paired_results', 'image_type', ...schemas, 'properties_present',
    'items_present', 'top_level_composition', 'tool_count_128'],
  mistral: ['tool_id_9', 'tool_id_unique', 'paired_results', 'user_after_tool', 'alternating_roles', 'image_type',
    ...schemas],
  gemini: ['paired_results', 'tool_name_start', 'image_type', ...schemas, 'items_present'],
};

// Returns the message of the first rule or profile in `names` that the request breaks in an API ('chat', 'messages',
// 'responses').
export function refusal(names, request, wire) {
  const view = viewOf(request);
  const applies = (name) => !profiles[name] || (name === 'anthropic') === (wire === 'messages');
  return find(names.filter(applies).flatMap((n) => profiles[n] ?? [n]), (name) => {
    if (!rules[name]) throw new Error(`there is no rule ${name}`);
    return rules[name](view);
  });
}
