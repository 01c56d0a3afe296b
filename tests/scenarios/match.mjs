// Matchers of expected values; see README.md. match() throws an Error with the path of the mismatch.
const shapes = {
  $uuid: (v) => typeof v === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(v),
  $time: (v) => typeof v === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(v),
  $text: (v) => typeof v === 'string' && v !== '',
  $number: (v) => typeof v === 'number',
  $positive: (v) => typeof v === 'number' && v > 0,
  $integer: (v) => Number.isInteger(v),
  $boolean: (v) => typeof v === 'boolean',
  $list: (v) => Array.isArray(v),
  $object: (v) => v !== null && typeof v === 'object' && !Array.isArray(v),
  $any: (v) => v !== undefined,
  $absent: (v) => v === undefined,
};
const show = (v) => (v === undefined ? 'nothing' : JSON.stringify(v));
const fail = (at, expected, got) => { throw new Error(`${at}: expected ${expected}, got ${show(got)}`); };
const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

export function match(want, got, at = 'value') {
  if (typeof want === 'string' && want.startsWith('$')) {
    if (!shapes[want]) throw new Error(`${at}: there is no matcher ${want}`);
    return shapes[want](got) ? undefined : fail(at, want, got);
  }
  if (typeof want === 'string' && want.length > 2 && want.startsWith('/') && want.endsWith('/')) {
    if (typeof got !== 'string' || !new RegExp(want.slice(1, -1), 's').test(got)) fail(at, `a text matching ${want}`, got);
    return undefined;
  }
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) fail(at, `a list of ${want.length}`, got);
    want.forEach((w, i) => match(w, got[i], `${at}[${i}]`));
    return undefined;
  }
  if (isObject(want)) {
    const names = Object.keys(want);
    if (names.length === 1 && names[0].startsWith('$')) return special(names[0], want[names[0]], got, at);
    if (!isObject(got)) fail(at, 'an object', got);
    for (const name of names) match(want[name], got[name], `${at}.${name}`);
    return undefined;
  }
  if (want !== got) fail(at, show(want), got);
  return undefined;
}

function special(name, want, got, at) {
  switch (name) {
    case '$only': {
      if (!isObject(got)) fail(at, 'an object', got);
      const extra = Object.keys(got).filter((k) => !(k in want));
      if (extra.length) throw new Error(`${at}: unexpected members ${extra.join(', ')}`);
      for (const key of Object.keys(want)) match(want[key], got[key], `${at}.${key}`);
      return;
    }
    case '$contains': {
      if (!Array.isArray(got)) fail(at, 'a list', got);
      for (const w of [want].flat()) if (!got.some((g) => matches(w, g))) fail(at, `a list with ${show(w)}`, got);
      return;
    }
    case '$each': {
      if (!Array.isArray(got)) fail(at, 'a list', got);
      got.forEach((g, i) => match(want, g, `${at}[${i}]`));
      return;
    }
    case '$length': if (got?.length !== want) fail(at, `a length of ${want}`, got); return;
    case '$not': if (matches(want, got)) fail(at, `not ${show(want)}`, got); return;
    case '$oneof': if (!want.some((w) => matches(w, got))) fail(at, `one of ${show(want)}`, got); return;
    case '$least': if (!(got >= want)) fail(at, `at least ${want}`, got); return;
    case '$most': if (!(got <= want)) fail(at, `at most ${want}`, got); return;
    default: throw new Error(`${at}: there is no matcher ${name}`);
  }
}

export function matches(want, got) {
  try {
    match(want, got);
    return true;
  } catch {
    return false;
  }
}

// Replaces ${name} or ${name|upper} in strings, also in lists and objects. A string that is only ${name} keeps the
// value's type.
export function filled(value, variables) {
  const of = (name) => {
    const [path, filter] = name.split('|');
    const v = path.split('.').reduce((o, k) => o?.[k], variables);
    if (v === undefined) throw new Error(`there is no variable ${path}`);
    if (filter && filter !== 'upper') throw new Error(`there is no filter ${filter}`);
    return filter ? String(v).toUpperCase() : v;
  };
  if (typeof value === 'string') {
    const whole = /^\$\{([^}]+)\}$/.exec(value);
    if (whole) return of(whole[1]);
    return value.replace(/\$\{([^}]+)\}/g, (_, name) => String(of(name)));
  }
  if (Array.isArray(value)) return value.map((v) => filled(v, variables));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([k, v]) => [filled(k, variables), filled(v, variables)]));
  return value;
}

// Checks that the expected events occur in this order; others may occur between them.
export function matchEvents(wanted, events, at = 'events') {
  let i = 0;
  for (const want of wanted) {
    let near = '';
    for (;; i++) {
      if (i >= events.length) throw new Error(`${at}: no ${show(want)} at this position${near}; received: ${events.map((e) => e.type).join(' ')}`);
      try {
        match(want, events[i], at);
        i++;
        break;
      } catch (e) {
        if (events[i].type === want.type) near = ` (${e.message})`;
      }
    }
  }
}
