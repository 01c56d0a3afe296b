// A browser keeps its page during a run, and has no page of another run.
import { callInRun, startEntry, toolsOf, userWith } from './lib.mjs';

const page = (title) => `data:text/html,<title>${title}</title><h1>${title}</h1>`;
const visit = (title) => [['browser_navigate', { url: page(title) }], ['browser_snapshot', {}],
  ['browser_evaluate', { function: '() => document.title' }]];

export async function playwrightSessions(host, entry) {
  const started = await startEntry(host, entry);
  try {
    const tools = await toolsOf(host, started);
    const user = await userWith(host, entry.name, started, tools);
    const titles = ['Harbour', 'Lighthouse'];
    const runs = await Promise.all(titles.map((title) => callInRun(user, entry.name, visit(title))));
    for (const [i, results] of runs.entries()) {
      const other = titles[1 - i];
      for (const text of results.slice(1)) {
        if (!text.includes(titles[i])) throw new Error(`the page ${titles[i]} is gone: ${text.slice(0, 500)}`);
        if (text.includes(other)) throw new Error(`the run of ${titles[i]} sees the page of another run: ${text.slice(0, 500)}`);
      }
    }
    const [snapshot] = await callInRun(user, entry.name, [['browser_snapshot', {}]]);
    for (const title of titles)
      if (snapshot.includes(title)) throw new Error(`a later run sees the page ${title}`);
  } finally {
    await started.close();
  }
}
