// Renders a model's Markdown as elements, never as HTML. HTML in it stays text, links may only use http, https or mailto,
// and images become links, because loading an image would tell its server about the reader.
import { lexer } from 'marked';

const safeUrl = (href) => {
  try {
    const u = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(u.protocol) ? u.href : null;
  } catch {
    return null;
  }
};

// The lexer does not escape text and does not decode entities.
const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const decodeEntities = (s) => s.replace(/&(?:amp|lt|gt|quot|#39);/g, (e) => entities[e]);

// Each level needs stack when it is rendered. Deeper parts are shown unformatted.
const maxDepth = 24;

// The lexer takes seconds or minutes for long texts and paragraphs, for very many emphasis markers, and for deeply nested
// lists and quotes. Such a text is shown unformatted.
const maxFormatted = 256 * 1024, maxParagraph = 20_000, maxMarkers = 10_000, maxMarkersOfParagraph = 1000;
const deepLine = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){32}|^[ \t]{64,}(?:[-*+]|\d{1,9}[.)])[ \t]/m;
function isCostly(text) {
  if (text.length > maxFormatted || deepLine.test(text)) return true;
  let all = 0;
  return text.split(/\n[ \t]*\n/).some((paragraph) => {
    const marks = paragraph.match(/[*_~]+/g)?.length ?? 0;
    all += marks;
    return paragraph.length > maxParagraph || marks > maxMarkersOfParagraph || all > maxMarkers;
  });
}

const inline = (tokens, depth) => (tokens ?? []).map((t) => {
  if (depth > maxDepth) return t.raw;
  const inner = depth + 1;
  switch (t.type) {
    case 'strong': return <strong>{inline(t.tokens, inner)}</strong>;
    case 'em': return <em>{inline(t.tokens, inner)}</em>;
    case 'del': return <del>{inline(t.tokens, inner)}</del>;
    case 'codespan': return <code>{t.text}</code>;
    case 'br': return <br />;
    case 'link':
    case 'image': {
      const href = safeUrl(t.href);
      const label = t.type === 'link' ? inline(t.tokens, inner) : t.text || t.href;
      return href ? <a href={href} rel="noopener noreferrer nofollow" target="_blank">{label}</a> : <span>{label}</span>;
    }
    case 'text':
    case 'escape': return t.tokens ? inline(t.tokens, inner) : decodeEntities(t.text);
    default: return t.raw;
  }
});

const heading = (t, depth) => {
  // The page itself uses h1 and h2, so levels 1 and 2 become h3.
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
  if (depth > maxDepth) return t.raw;
  const inner = depth + 1;
  switch (t.type) {
    case 'space':
    case 'def': return null;
    case 'checkbox': return null;
    case 'heading': return heading(t, inner);
    case 'paragraph': return <p>{inline(t.tokens, inner)}</p>;
    case 'text': return t.tokens ? inline(t.tokens, inner) : decodeEntities(t.text);
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
    // The lexer ran out of stack.
  }
  return <div class="prose">{tokens ? blocks(tokens, 0) : <p class="unformatted">{text}</p>}</div>;
}
