// Generates values from JSON schemas, and mutates them. All randomness comes from a seed.

export class Random {
  #state;
  constructor(...seeds) {
    this.#state = 0x9e3779b9;
    for (const s of seeds) this.#state = Math.imul(this.#state ^ (s >>> 0), 0x85ebca6b) ^ (this.#state >>> 13);
  }
  next() {  // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(n) { return Math.floor(this.next() * n); }
  chance(p) { return this.next() < p; }
  pick(list) { return list[this.below(list.length)]; }
  hex(n) { return Array.from({ length: n }, () => '0123456789abcdef'[this.below(16)]).join(''); }
  uuid() { return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`; }
}

// jsonText() writes {[raw]: text} verbatim, so that a value can contain text that JSON.stringify() never writes.
export const raw = Symbol('raw');
const rawNode = (text) => ({ [raw]: text });

export const oddStrings = [
  '', ' ', '\t\r\n', '\0', 'a\0b', '\u0001\u001f\u007f', '\ud800', 'a\udfffb', '\ud83d', '\u202e\u2066abc', '\ufeffx', '\u{1f469}\u200d\u{1f680}', 'e\u0301'.repeat(50),
  '../../../../etc/passwd', '..\\..\\secret', '/etc/passwd', 'file:///etc/passwd', '....//....//x', '%2e%2e%2f', '%00', '%', '%zz',
  "'; drop table accounts.account; --", '" or ""="', '$1', '{}', '{{first_name}}', '${HOME}', '$(id)', '`id`', '%s%s%s%n', '<script>alert(1)</script>', '\r\nX-Injected: 1', '\r\n\r\nHTTP/1.1 200 OK',
  'null', 'true', '0', '-1', '1e999', 'NaN', '0x10', '9'.repeat(400), '[', '{"a":', 'javascript:alert(1)', 'http://127.0.0.1:1/', 'http://[::1]:1/', 'http://', 'http://user:pw@127.0.0.1:1/', 'http://x.invalid/', 'ftp://127.0.0.1/',
  'a@b', '@', 'a@b@c', '"a b"@example.test', 'x@' + 'a.'.repeat(200) + 'test', 'J\u00f6rg@ex\u00e4mple.test', '2026-13-45T99:99:99Z', '0001-01-01T00:00:00Z', '999999-12-31', 'Europe/Berlin', '../Berlin', 'con', '.', '..', '-', '--help',
  '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-00000000000g', '{00000000-0000-0000-0000-000000000000}', '00000000000000000000000000000000',
];
const longStrings = [['x', 65537], ['\u20ac', 5000], ['\0', 300], ['a,', 3000], ['"', 2000], ['../', 1500], ['(', 3000], ['\u{1f600}', 1025]];
export const oddNumbers = [0, -0, -1, 1, 0.5, -0.1, 255, 256, 65536, 2147483647, 2147483648, -2147483649, 4294967296, 9007199254740991, 9007199254740993, 1e18, 1e19, -1e19, 1e308, 5e-324];
const rawValues = ['1e400', '-1e400', '18446744073709551616', '-9223372036854775809', '01', '+1', '.5', '1.', '0x1', 'NaN', 'Infinity', 'undefined', "'x'", '"\\x41"', '"\\u12"', '"\\ud800\\u0041"', '"\n"', '"\\u0000"', '1' + '0'.repeat(400), '0.' + '0'.repeat(400) + '1', '[1,]', '{"a":1,}', '/* */1', 'tru', '"', ''];

const nested = (depth, open, close) => open.repeat(depth) + '1' + close.repeat(depth);

export function oddString(r) {
  if (r.chance(0.08)) return '';
  if (r.chance(0.12)) {
    const [unit, times] = r.pick(longStrings);
    return unit.repeat(times);
  }
  return r.pick(oddStrings);
}

export function oddValue(r) {
  switch (r.below(9)) {
    case 0: return null;
    case 1: return r.chance(0.5);
    case 2: return r.pick(oddNumbers);
    case 3: return r.pick([[], [[]], [null], [1, 'a', {}], Array.from({ length: 2000 }, (_, i) => i), Array(300).fill('x')]);
    case 4: return r.pick([{}, { '': '' }, { a: { b: { c: null } } }, { __proto__: null, constructor: 1 }, { $ref: '#' }, { sealed: 'AAAA' }, Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, i])), { ['k'.repeat(20000)]: 1 }]);
    case 5: return rawNode(r.pick(rawValues));
    case 6: return rawNode(r.pick([nested(40, '[', ']'), nested(40, '{"a":', '}'), nested(1000, '[', ']'), nested(20000, '[', ']'), nested(20000, '{"a":', '}'), '['.repeat(50000)]));
    default: return oddString(r);
  }
}

// Returns a value just inside or outside the limits of a schema, or undefined.
function edge(node, type, r) {
  if (type === 'string') {
    const n = r.pick([node.minLength ?? 0, (node.minLength ?? 1) - 1, node.maxLength ?? 3, (node.maxLength ?? 3) + 1]);
    return n < 0 ? undefined : r.pick(['x', '\u20ac']).repeat(n);
  }
  if (type === 'integer' || type === 'number') return r.pick([node.minimum ?? 0, (node.minimum ?? 0) - 1, node.maximum ?? 2147483647, (node.maximum ?? 2147483647) + 1, 0.5]);
  if (type === 'array' && (node.minItems !== undefined || node.maxItems !== undefined)) return Array(r.pick([(node.minItems ?? 1) - 1, (node.maxItems ?? 0) + 1])).fill('x');
  return undefined;
}

// `document`: a Document of tests/e2e/lib/openapi.mjs. `hint(name, schema)`: returns a meaningful value for the member
// (name '*': any text), or undefined; `hint.edges`: probability of a value at the limits of the schema.
export function make(document, schema, r, hint, name = '', depth = 0) {
  const { node } = document.resolve(schema, []);
  if (node === true || Object.keys(node).length === 0) return `any ${r.hex(4)}`;
  if ('const' in node) return node.const;
  const types = [node.type].flat();
  if (hint.edges && r.chance(hint.edges)) {
    const value = edge(node, types.find((t) => t !== 'null'), r);
    if (value !== undefined) return value;
  }
  const fitting = hint(name, node);
  if (fitting !== undefined) return fitting;
  if (types.includes('null') && r.chance(0.08)) return null;
  if (node.enum) return r.pick(node.enum);
  const type = types.find((t) => t !== 'null');
  if (type === 'object' || node.properties) return makeObject(document, node, r, hint, depth);
  // The schema of a case-insensitive name is an enumeration or any text; other texts are rarely accepted.
  const names = node.anyOf?.find((one) => one.enum);
  if (names && r.chance(0.95)) return make(document, names, r, hint, name, depth);
  if (node.oneOf || node.anyOf || node.allOf) return make(document, r.pick(node.oneOf ?? node.anyOf ?? node.allOf), r, hint, name, depth);
  switch (type) {
    case 'array': {
      const n = Math.max(node.minItems ?? 0, Math.min(node.maxItems ?? 3, r.below(4)));
      return Array.from({ length: n }, () => make(document, node.items ?? {}, r, hint, name, depth + 1));
    }
    case 'boolean': return r.chance(0.5);
    case 'integer':
    case 'number': {
      const from = node.minimum ?? 0, to = Math.min(node.maximum ?? from + 1000, from + 1000);
      return r.chance(0.3) ? r.pick([from, node.maximum ?? to]) : from + r.below(to - from + 1);
    }
    default: {
      if (node.format === 'uuid') return r.uuid();
      if (node.format === 'date-time') return '2026-11-20T09:30:00.000Z';
      const text = hint('*', node) ?? `text ${r.hex(6)}`;
      return text.slice(0, node.maxLength ?? text.length).padEnd(node.minLength ?? 0, 'x');
    }
  }
}

function makeObject(document, node, r, hint, depth) {
  const out = {};
  const needed = new Set(node.required ?? []);
  if (node.anyOf) for (const name of r.pick(node.anyOf).required ?? []) needed.add(name);
  for (const [name, schema] of Object.entries(node.properties ?? {}))
    if (needed.has(name) || (depth < 4 && r.chance(name === 'prompt' ? 0.9 : 0.5))) out[name] = make(document, schema, r, hint, name, depth + 1);
  if ((node.minProperties ?? 0) > Object.keys(out).length) {
    const [name, schema] = r.pick(Object.entries(node.properties));
    out[name] = make(document, schema, r, hint, name, depth + 1);
  }
  return out;
}

// Returns every member and element of a value: [holder, key].
function slots(value, out = []) {
  if (value === null || typeof value !== 'object' || value[raw] !== undefined) return out;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    out.push([value, key]);
    slots(value[key], out);
  }
  return out;
}

// Mutates one member of a value; returns it (or another value) and the name of the mutation. `foreign()`: returns an id
// of another account, or undefined.
export function mutate(value, r, foreign) {
  const all = slots(value);
  if (all.length === 0 || r.chance(0.06)) return [oddValue(r), 'another body'];
  const [holder, key] = r.pick(all);
  switch (r.below(8)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(key, 1);
      else delete holder[key];
      return [value, 'a missing member'];
    case 1:
      if (Array.isArray(holder)) holder.push(oddValue(r));
      else holder[r.pick(['unknown', '', 'id', 'account_id', '__proto__', 'constructor', 'a\0b', '\ud800', 'role', 'tier', 'owner', 'Name'])] = oddValue(r);
      return [value, 'an unknown member'];
    case 2: {
      const id = foreign();
      if (id === undefined || typeof holder[key] !== 'string') break;
      holder[key] = id;
      return [value, 'a foreign id'];
    }
    case 3:
      if (typeof holder[key] === 'number') holder[key] = r.pick(oddNumbers);
      else if (typeof holder[key] === 'string') holder[key] = r.pick([holder[key].toUpperCase(), holder[key] + ' ', ` ${holder[key]}`, holder[key] + '\0', holder[key].repeat(60), holder[key].slice(1), oddString(r)]);
      else holder[key] = oddValue(r);
      return [value, 'a boundary value'];
    case 4:
      if (!Array.isArray(holder)) {
        const kept = holder[key];
        delete holder[key];
        holder[r.chance(0.5) ? String(key).toUpperCase() : `${key}\0`] = kept;
        return [value, 'a renamed member'];
      }
      break;
    default:
  }
  holder[key] = oddValue(r);
  return [value, 'another value'];
}

// Each raw text is a placeholder in private-use characters during JSON.stringify(), and is inserted afterwards.
export function jsonText(value) {
  const texts = [];
  const text = JSON.stringify(value, (_, v) => {
    if (v === null || typeof v !== 'object' || v[raw] === undefined) return v;
    texts.push(v[raw]);
    return `\ue000${texts.length - 1}\ue001`;
  });
  return (text ?? '').replace(/"\ue000(\d+)\ue001"/g, (_, n) => texts[n]);
}

// Mutates the bytes of a JSON text.
export function mutateText(text, r) {
  const bytes = Buffer.from(text);
  const truncated = () => bytes.subarray(0, r.below(bytes.length + 1));
  switch (r.below(11)) {
    case 0: return [truncated(), 'a truncated text'];
    case 1: return [Buffer.concat([bytes, Buffer.from(r.pick(['x', '{}', '\0', ']', ' 1', '\n\n{"a":1}']))]), 'text after the end'];
    case 2: return [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]), 'a byte order mark'];
    case 3: return [Buffer.from(text, 'utf16le'), 'UTF-16'];
    case 4: {
      const quote = bytes.lastIndexOf('"');
      const odd = r.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80], [0], [0x1f]]);
      return [Buffer.concat([bytes.subarray(0, Math.max(quote, 0)), Buffer.from(odd), bytes.subarray(Math.max(quote, 0))]), 'invalid UTF-8 or a control character'];
    }
    case 5: {
      const member = /"([^"\\]+)":/.exec(text);
      if (!member) return [truncated(), 'a truncated text'];
      const odd = jsonText(oddValue(r)) || '1';
      return [Buffer.from(text.replace(member[0], () => `${member[0]}${odd},${member[0]}`)), 'a duplicated key'];
    }
    case 6: {
      const copy = Buffer.from(bytes);
      for (let i = r.below(4); i >= 0 && copy.length; i--) copy[r.below(copy.length)] = r.below(256);
      return [copy, 'other bytes'];
    }
    case 7: return [Buffer.from(r.pick(['', ' ', 'null', '[]', '""', '0', 'true', '{', '[', '"', '{}', '\0'])), 'another text'];
    case 8: return [Buffer.concat([Buffer.from(' '.repeat(r.pick([1, 1000, 100000]))), bytes]), 'white space before the text'];
    case 9: return [Buffer.from(text.replaceAll(':', '=')), 'not JSON'];
    default: return [Buffer.from(r.pick(['[', '{"a":', '[{"a":[']).repeat(30000)), 'deep nesting'];
  }
}
