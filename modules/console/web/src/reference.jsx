// Renders /openapi.json as the reference of this server's operations. All texts of the document are shown as text, never
// as HTML.
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];

const resolveRef = (api, ref) => ref.slice(2).split('/').reduce((o, k) => o?.[k.replaceAll('~1', '/').replaceAll('~0', '~')], api);
const follow = (api, node) => (node?.$ref ? { ...follow(api, resolveRef(api, node.$ref)), ...node, $ref: undefined } : node ?? {});
const nameOf = (ref) => ref?.slice(ref.lastIndexOf('/') + 1);

// Renders `code` within a text.
const Text = ({ of }) => (of ?? '').split('`').map((part, i) => (i % 2 ? <code>{part}</code> : part));

function limits(s) {
  const out = [];
  if (s.minimum !== undefined || s.maximum !== undefined) out.push(`${s.minimum ?? ''}..${s.maximum ?? ''}`);
  if (s.minLength !== undefined || s.maxLength !== undefined) out.push(`${s.minLength ?? 0}..${s.maxLength ?? ''} characters`);
  if (s.minItems !== undefined || s.maxItems !== undefined) out.push(`${s.minItems ?? 0}..${s.maxItems ?? ''} items`);
  if (s.default !== undefined) out.push(`default ${JSON.stringify(s.default)}`);
  return out.join(', ');
}

function typeName(s) {
  if (s.const !== undefined) return JSON.stringify(s.const);
  if (s.enum) return s.enum.map((e) => JSON.stringify(e)).join(' | ');
  const type = [s.type ?? (s.properties ? 'object' : 'any')].flat().join(' or ');
  return s.format ? `${type} (${s.format})` : type;
}

// A schema's members. Those of a referenced schema are shown on request, because schemas may be recursive.
function Schema({ api, of }) {
  const s = follow(api, of);
  if (s.oneOf || s.anyOf?.some((x) => x.properties || x.$ref)) {
    return <ul class="members">{(s.oneOf ?? s.anyOf).map((x) => <li><Value api={api} of={x} /></li>)}</ul>;
  }
  if (s.items) return <><span class="type">items: </span><Value api={api} of={s.items} /></>;
  const members = Object.entries(s.properties ?? {});
  if (members.length === 0) {
    return s.additionalProperties && s.additionalProperties !== true ? <><span class="type">members: </span><Value api={api} of={s.additionalProperties} /></> : null;
  }
  return (
    <ul class="members">
      {members.map(([name, member]) => (
        <li key={name}><code>{name}</code>{' '}{s.required?.includes(name) && <span class="needed">required </span>}<Value api={api} of={member} /></li>
      ))}
    </ul>
  );
}

function Value({ api, of }) {
  const s = follow(api, of);
  const hasMembers = s.properties || s.items || s.oneOf || (s.additionalProperties && s.additionalProperties !== true);
  return (
    <>
      <span class="type">{typeName(s)}{limits(s) && `, ${limits(s)}`}</span>{' '}
      <Text of={s.description} />
      {hasMembers && <Later label={nameOf(of?.$ref) ?? 'members'}>{() => <Schema api={api} of={of} />}</Later>}
    </>
  );
}

function Later({ label, children }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{label}</summary>
      {open && children()}
    </details>
  );
}

function Examples({ api, media, label }) {
  const all = 'example' in media ? [['', media.example]] : Object.entries(media.examples ?? {}).map(([name, e]) => [`, ${name}`, follow(api, e).value]);
  return all.map(([name, value]) => (
    <pre key={name} tabIndex={0} role="region" aria-label={label + name}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
  ));
}

const Content = ({ api, content, label }) => Object.entries(content ?? {}).map(([type, media]) => (
  <div key={type}>
    <p class="type">{type}</p>
    <Schema api={api} of={media.schema} />
    {media['x-event-schema'] && <p>Each event: <Value api={api} of={media['x-event-schema']} /></p>}
    <Examples api={api} media={media} label={`${label}, ${type}`} />
  </div>
));

function access(o) {
  if (!o.security?.length) return 'Public';
  const schemes = o.security.map((s) => (s['host.query_token'] ? '?token=' : 'Authorization: Bearer'));
  return `${schemes.join(' or ')}${o.responses['403']?.$ref?.endsWith('/host.Forbidden') ? ', admins' : ''}`;
}

function Operation({ api, path, method, o }) {
  const [open, setOpen] = useState(location.hash === `#${o.operationId}`);
  const body = follow(api, o.requestBody);
  return (
    <details class="operation" id={o.operationId} open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary><span class={`method ${method}`}>{method.toUpperCase()}</span><span class="path">{path}</span><span class="gist">{o.summary}</span></summary>
      {open && (
        <div>
          {o.description && <p><Text of={o.description} /></p>}
          <p class="hint">{access(o)} · <a href={`#${o.operationId}`}>{o.operationId}</a></p>
          {o.parameters?.length > 0 && (
            <>
              <h3>Parameters</h3>
              <ul class="members">
                {o.parameters.map((p) => follow(api, p)).map((p) => (
                  <li key={p.in + p.name}><code>{p.name}</code> <span class="type">{p.in}</span>{' '}{p.required && <span class="needed">required </span>}<Value api={api} of={{ ...follow(api, p.schema), description: p.description }} /></li>
                ))}
              </ul>
            </>
          )}
          {body.content && <><h3>Request</h3><Content api={api} content={body.content} label="Example of a request" /></>}
          <h3>Responses</h3>
          {Object.entries(o.responses).map(([status, r]) => {
            const response = follow(api, r);
            return (
              <div key={status}>
                <h4>{status} · {response.description}</h4>
                {response.content && <Later label="Body">{() => <Content api={api} content={response.content} label={`Example of ${status}`} />}</Later>}
              </div>
            );
          })}
        </div>
      )}
    </details>
  );
}

function Reference({ api }) {
  const [query, setQuery] = useState('');
  const groups = useMemo(() => {
    const out = new Map(api.tags.map((t) => [t.name, { ...t, operations: [] }]));
    for (const [path, item] of Object.entries(api.paths)) {
      for (const method of methods) {
        const o = item[method];
        if (!o) continue;
        const tag = o.tags?.[0] ?? 'other';
        if (!out.has(tag)) out.set(tag, { name: tag, operations: [] });
        out.get(tag).operations.push({ path, method, o });
      }
    }
    return [...out.values()];
  }, [api]);
  useEffect(() => { document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView(); }, []);
  const words = query.toLowerCase().split(/\s+/);
  const shown = groups.map((g) => ({ ...g, operations: g.operations.filter(({ path, method, o }) => words.every((w) => `${method} ${path} ${o.summary ?? ''} ${o.operationId}`.toLowerCase().includes(w))) })).filter((g) => g.operations.length > 0);
  return (
    <>
      <header><a class="brand" href="console"><span class="mark" aria-hidden="true" />Runyard</a><nav aria-label="Pages"><a href="reference" aria-current="page">Reference</a></nav></header>
      <main class="reference">
        <h1>Reference</h1>
        <p>{api.info.summary}. Version {api.info.version}. <a href="openapi.json">openapi.json</a></p>
        <p><Text of={api.info.description} /></p>
        <div class="field"><label for="find">Find an operation</label><input id="find" type="search" value={query} onInput={(e) => setQuery(e.currentTarget.value)} /></div>
        <p class="unseen" role="status">{shown.reduce((n, g) => n + g.operations.length, 0)} operations</p>
        {shown.map((g) => (
          <section key={g.name} aria-labelledby={`tag-${g.name}`}>
            <h2 id={`tag-${g.name}`}>{g.name}</h2>
            {g.description && <p class="hint">{g.description}</p>}
            {g.operations.map((each) => <Operation key={each.o.operationId} api={api} {...each} />)}
          </section>
        ))}
      </main>
    </>
  );
}

const root = document.getElementById('app');
const Failed = () => <p class="center">openapi.json could not be loaded. Try again later.</p>;
fetch('openapi.json').then((r) => (r.ok ? r.json() : Promise.reject(new Error(r.statusText))))
  .then((api) => render(<Reference api={api} />, root), () => render(<Failed />, root));
