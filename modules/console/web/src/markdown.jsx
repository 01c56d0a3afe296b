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

// Each level costs stack when it is drawn. Deeper parts are shown as they were written.
const mostDepth = 24;

// The lexer takes seconds, or minutes, for long texts and paragraphs, for very many marks of emphasis, and for markers that are
// nested very deeply. Such a text is shown as it was written.
const mostFormatted = 256 * 1024, longestParagraph = 20_000, mostMarks = 10_000, mostMarksOfParagraph = 1000;
const deepLine = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){32}|^[ \t]{64,}(?:[-*+]|\d{1,9}[.)])[ \t]/m;
function isCostly(text) {
  if (text.length > mostFormatted || deepLine.test(text)) return true;
  let all = 0;
  return text.split(/\n[ \t]*\n/).some((paragraph) => {
    const marks = paragraph.match(/[*_~]+/g)?.length ?? 0;
    all += marks;
    return paragraph.length > longestParagraph || marks > mostMarksOfParagraph || all > mostMarks;
  });
}

const inline = (tokens, depth) => (tokens ?? []).map((t) => {
  if (depth > mostDepth) return t.raw;
  const inner = depth + 1;
  switch (t.type) {
    case 'strong': return <strong>{inline(t.tokens, inner)}</strong>;
    case 'em': return <em>{inline(t.tokens, inner)}</em>;
    case 'del': return <del>{inline(t.tokens, inner)}</del>;
    case 'codespan': return <code>{t.text}</code>;
    case 'br': return <br />;
    case 'link':
    case 'image': {
      const href = safe(t.href);
      const label = t.type === 'link' ? inline(t.tokens, inner) : t.text || t.href;
      return href ? <a href={href} rel="noopener noreferrer nofollow" target="_blank">{label}</a> : <span>{label}</span>;
    }
    case 'text':
    case 'escape': return t.tokens ? inline(t.tokens, inner) : plain(t.text);
    default: return t.raw;
  }
});

const heading = (t, depth) => {
  // The page has headings of its own above these: the first and the second level are its third.
  const Tag = `h${Math.min(6, Math.max(3, t.depth + 1))}`;
  return <Tag>{inline(t.tokens, depth)}</Tag>;
};

const list = (t, depth) => {
  const items = t.items.map((i) => <li>{i.task && <input type="checkbox" checked={i.checked} disabled aria-label={i.checked ? 'done' : 'open'} />}{blocks(i.tokens, depth)}</li>);
  return t.ordered ? <ol start={t.start || 1}>{items}</ol> : <ul>{items}</ul>;
};

const table = (t, depth) => (
  <div class="table" tabIndex={0} role="region" aria-label="Table">
    <table>
      <thead><tr>{t.header.map((c) => <th scope="col">{inline(c.tokens, depth)}</th>)}</tr></thead>
      <tbody>{t.rows.map((r) => <tr>{r.map((c) => <td>{inline(c.tokens, depth)}</td>)}</tr>)}</tbody>
    </table>
  </div>
);

const blocks = (tokens, depth) => tokens.map((t) => {
  if (depth > mostDepth) return t.raw;
  const inner = depth + 1;
  switch (t.type) {
    case 'space':
    case 'def': return null;
    case 'checkbox': return null;
    case 'heading': return heading(t, inner);
    case 'paragraph': return <p>{inline(t.tokens, inner)}</p>;
    case 'text': return t.tokens ? inline(t.tokens, inner) : plain(t.text);
    case 'code': return <pre tabIndex={0}><code>{t.text}</code></pre>;
    case 'blockquote': return <blockquote>{blocks(t.tokens, inner)}</blockquote>;
    case 'list': return list(t, inner);
    case 'table': return table(t, inner);
    case 'hr': return <hr />;
    default: return <p>{t.raw}</p>;
  }
});

export function Markdown({ text }) {
  let tokens = null;
  try {
    if (!isCostly(text)) tokens = lexer(text);
  } catch {
    // The lexer's stack ended.
  }
  return <div class="prose">{tokens ? blocks(tokens, 0) : <p class="unformatted">{text}</p>}</div>;
}
