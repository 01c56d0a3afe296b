// Reads event streams.
import { createParser } from 'eventsource-parser';
import * as api from './api.js';

const pauses = [500, 1000, 2000, 5000];

// Reads a stream of events and reconnects when the connection is lost. Calls onEvent(event, id) once per event, and onState
// with 'live' or 'lost'. Starts after the event with the id `after`, if given. Ends after an event for which isLast is true,
// on status 204, or when `signal` is aborted.
export async function listen(path, { onEvent, onState = () => {}, signal, isLast = () => false, after = null }) {
  let lastId = after;
  let ended = false;
  for (let failures = 0; !ended && !signal.aborted;) {
    try {
      const headers = { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) };
      const response = await api.request(path, { headers, signal });
      if (response.status === 204) return;
      if (!response.ok) throw new Error(`status ${response.status}`);
      onState('live');
      const parser = createParser({
        onEvent(e) {
          if (e.id) lastId = e.id;
          const event = JSON.parse(e.data);
          if (event.type === 'ping') return;
          if (isLast(event)) ended = true;
          failures = 0;
          onEvent(event, e.id);
        },
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        parser.feed(value);
      }
    } catch (e) {
      if (signal.aborted) return;
      if (!api.isLoggedIn()) throw e;
    }
    if (ended) return;
    onState('lost');
    await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(failures++, pauses.length - 1)]));
  }
}

// Reads a run's events until the run ends.
export const follow = (runId, options) =>
  listen(`/agent-run/${runId}/stream`, { ...options, isLast: (e) => e.type === 'status' && e.status !== 'running' });
