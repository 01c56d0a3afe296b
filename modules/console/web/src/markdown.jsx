// What a model writes, as elements: never as HTML. Markup in it stays text, links go to the web or to mail only,
// images become links (a page that loads foreign images tells foreign servers who reads it).
import { lexer } from 'marked';

const safe = (href) => {
  try {
    const u = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(u.protocol) ? u.href : null;
  } catch {
    return null;
  }
};

// The lexer escapes nothing, but leaves entities as they were written.
const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const plain = (s) => s.replace(/&(?:amp|lt|gt|quot|#39);/g, (e) => entities[e]);

const inline = (tokens) => (tokens ?? []).map((t) => {
  switch (t.type) {
    case 'strong': return <strong>{inline(t.tokens)}</strong>;
    case 'em': return <em>{inline(t.tokens)}</em>;
    case 'del': return <del>{inline(t.tokens)}</del>;
    case 'codespan': return <code>{t.text}</code>;
    case 'br': return <br />;
    case 'link':
    case 'image': {
      const href = safe(t.href);
      const label = t.type === 'link' ? inline(t.tokens) : t.text || t.href;
      return href ? <a href={href} rel="noopener noreferrer nofollow" target="_blank">{label}</a> : <span>{label}</span>;
    }
    case 'text':
    case 'escape': return t.tokens ? inline(t.tokens) : plain(t.text);
    default: return t.raw;
  }
});

const heading = (t) => {
  // The page has headings of its own above these: the first and the second level are its third.
  const Tag = `h${Math.min(6, Math.max(3, t.depth + 1))}`;
  return <Tag>{inline(t.tokens)}</Tag>;
};

const list = (t) => {
  const items = t.items.map((i) => <li>{i.task && <input type="checkbox" checked={i.checked} disabled aria-label={i.checked ? 'done' : 'open'} />}{blocks(i.tokens)}</li>);
  return t.ordered ? <ol start={t.start || 1}>{items}</ol> : <ul>{items}</ul>;
};

const table = (t) => (
  <div class="table" tabIndex={0} role="region" aria-label="Table">
    <table>
      <thead><tr>{t.header.map((c) => <th scope="col">{inline(c.tokens)}</th>)}</tr></thead>
      <tbody>{t.rows.map((r) => <tr>{r.map((c) => <td>{inline(c.tokens)}</td>)}</tr>)}</tbody>
    </table>
  </div>
);

const blocks = (tokens) => tokens.map((t) => {
  switch (t.type) {
    case 'space':
    case 'def': return null;
    case 'checkbox': return null;
    case 'heading': return heading(t);
    case 'paragraph': return <p>{inline(t.tokens)}</p>;
    case 'text': return t.tokens ? inline(t.tokens) : plain(t.text);
    case 'code': return <pre tabIndex={0}><code>{t.text}</code></pre>;
    case 'blockquote': return <blockquote>{blocks(t.tokens)}</blockquote>;
    case 'list': return list(t);
    case 'table': return table(t);
    case 'hr': return <hr />;
    default: return <p>{t.raw}</p>;
  }
});

export function Markdown({ text }) {
  let tokens;
  try {
    tokens = lexer(text);
  } catch {
    return <div class="prose"><p>{text}</p></div>;
  }
  return <div class="prose">{blocks(tokens)}</div>;
}
