// Streams of events.
import { createParser } from 'eventsource-parser';
import * as api from './api.js';

const pauses = [500, 1000, 2000, 5000];

// Reads a stream of events across lost connections: calls onEvent with each event once and its id, onState with 'live' or 'lost'.
// Begins after the event with the id `after`, if that is given.
// Ends after an event for which isLast is true, when there is nothing more (204), or when `signal` is aborted.
export async function listen(path, { onEvent, onState = () => {}, signal, isLast = () => false, after = null }) {
  let last = after;
  let over = false;
  for (let failures = 0; !over && !signal.aborted;) {
    try {
      const headers = { accept: 'text/event-stream', ...(last && { 'last-event-id': last }) };
      const response = await api.request(path, { headers, signal });
      if (response.status === 204) return;
      if (!response.ok) throw new Error(`status ${response.status}`);
      onState('live');
      const parser = createParser({
        onEvent(e) {
          if (e.id) last = e.id;
          const event = JSON.parse(e.data);
          if (event.type === 'ping') return;
          if (isLast(event)) over = true;
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
    if (over) return;
    onState('lost');
    await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(failures++, pauses.length - 1)]));
  }
}

// A run's events up to its end.
export const follow = (runId, options) =>
  listen(`/agent-run/${runId}/stream`, { ...options, isLast: (e) => e.type === 'status' && e.status !== 'running' });
