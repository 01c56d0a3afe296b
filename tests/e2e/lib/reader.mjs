// A reader of a run's stream as a browser has it, and a model whose answers last long enough to be read.
import { EventSource } from 'eventsource';
import { lastUser } from './llm.mjs';
import { sleep } from './server.mjs';

// "[words N]" in the prompt makes the model say N words, one each `ms`, however busy the machine is; after a standstill
// of seconds it continues from there, because all its responses together would be another kind of load.
export const wordsEach = (ms) => async (request, reply) => {
  const n = Number(/\[words (\d+)\]/.exec(lastUser(request))?.[1] ?? 1);
  let due = performance.now();
  for (let i = 0; i < n && !reply.res.destroyed; i++) {
    reply.text(`w${i} `);
    due += ms;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    else if (early < -5000) due = performance.now() + ms;
  }
  reply.end();
};
export const slowWords = wordsEach(20);
export const words = (n) => Array.from({ length: n }, (_, i) => `w${i} `).join('');

// The browsers' own client: it reconnects by itself, with Last-Event-ID and the requested delay. `ended`
// is kept with the terminal event and broken when there is none in time.
export function watch(url, token, { timeout = 90000 } = {}) {
  const seen = { events: [], draining: 0, refused: undefined, text: '' };
  const source = new EventSource(url, { fetch: (u, init) => fetch(u, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }) });
  seen.ended = new Promise((resolve, reject) => {
    const late = setTimeout(() => { source.close(); reject(new Error(`no end: ${JSON.stringify(seen.events.at(-1))}`)); }, timeout);
    let now = '';
    source.onerror = (e) => { if (e.code && e.code !== 200) seen.refused = e.code; };
    source.onmessage = (m) => {
      const e = JSON.parse(m.data);
      if (e.type === 'server_draining') seen.draining++;
      if (e.sequence === undefined) return;
      seen.events.push(e);
      if (e.type === 'llm_response_start' || e.type === 'turn_aborted') now = '';
      if (e.type === 'llm_response_chunk') now += e.content;
      if (e.type === 'llm_response_end') { seen.text += now; now = ''; }
      if (e.type !== 'status' || e.status === 'running') return;
      clearTimeout(late);
      source.close();
      resolve(seen);
    };
  });
  seen.ended.catch(() => {});  // a test that waits for something else has its own time-out
  return seen;
}
