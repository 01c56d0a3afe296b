// The table of results in docs/mcp-servers.md.
const begin = '<!-- results: written by tests/mcp_servers/run --all --report -->';
const end = '<!-- end of results -->';
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const transports = { stdio: 'local program', http: 'Streamable HTTP', sse: 'HTTP+SSE' };

export function table(results) {
  const rows = results.map(({ entry, version, tools, failure }) => `| ${entry.name} | \`${entry.package}\` ${version} `
    + `| ${transports[entry.transport]} | ${tools} | ${failure ? 'failed' : entry.needs ? 'lists tools, call returns an error' : 'works'} `
    + `| ${entry.calls.map(([tool]) => `\`${tool}\``).join(', ')} | ${cell(entry.note ?? '')} |`);
  return ['| name | package | transport | tools | result | called in a run | notes |', '|---|---|---|---|---|---|---|', ...rows]
    .join('\n');
}

export function withResults(page, text) {
  const from = page.indexOf(begin), to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error('docs/mcp-servers.md has no results markers');
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}

// Returns the rows of the table in a page: [name, package, version].
export function rowsOf(page) {
  const text = page.slice(page.indexOf(begin), page.indexOf(end));
  return [...text.matchAll(/^\| ([\w-]+) \| `(\S+)` (\S+) \|/gm)].map(([, ...row]) => row);
}
