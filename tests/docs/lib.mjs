// What the tests of docs/ share.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../e2e/lib/server.mjs';

export const page = (name) => readFileSync(path.join(root, 'docs', name), 'utf8');

// The block ```LANGUAGE TITLE of a page.
export function block(text, title) {
  const found = new RegExp(`^\`\`\`[a-z]+ ${title}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text);
  if (!found) throw new Error(`there is no block "${title}"`);
  return found[1];
}

// Replaces exactly what the page says; what it no longer says is an error.
export function replaced(text, pairs) {
  for (const [from, to] of pairs) {
    if (!text.includes(from)) throw new Error(`the text has no ${JSON.stringify(from)}`);
    text = text.replaceAll(from, to);
  }
  return text;
}
