// Reads a run's stream with EventSource like a browser, and a model whose responses last long enough to be followed.
import { EventSource } from 'eventsource';
import { lastUser } from './llm.mjs';
import { sleep } from './server.mjs';

// "[words N]" in the prompt makes the model stream N words, one per `ms`, even on a busy machine. After a stall of
// several seconds it does not catch up, because a burst of all responses would be a different load.
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

// EventSource reconnects by itself, with Last-Event-ID and the requested delay. `ended` resolves with the terminal
// event and rejects if there is none within `timeout`.
export function watch(url, token, { timeout = 90000 } = {}) {
  const seen = { events: [], draining: 0, refused: undefined, text: '' };
  const source = new EventSource(url, { fetch: (u, init) => fetch(u, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }) });
  seen.ended = new Promise((resolve, reject) => {
    const timer = setTimeout(() => { source.close(); reject(new Error(`no terminal event; last event: ${JSON.stringify(seen.events.at(-1))}`)); }, timeout);
    let current = '';
    source.onerror = (e) => { if (e.code && e.code !== 200) seen.refused = e.code; };
    source.onmessage = (m) => {
      const e = JSON.parse(m.data);
      if (e.type === 'server_draining') seen.draining++;
      if (e.sequence === undefined) return;
      seen.events.push(e);
      if (e.type === 'llm_response_start' || e.type === 'turn_aborted') current = '';
      if (e.type === 'llm_response_chunk') current += e.content;
      if (e.type === 'llm_response_end') { seen.text += current; current = ''; }
      if (e.type !== 'status' || e.status === 'running') return;
      clearTimeout(timer);
      source.close();
      resolve(seen);
    };
  });
  seen.ended.catch(() => {});  // a test that waits for something else has its own timeout
  return seen;
}
