// A run's events, each once and in order, across lost connections and servers that are replaced.
import { createParser } from 'eventsource-parser';
import { RequestFailed, type Connection } from './connection.js';
import type { components } from './schema.d.ts';

export type StreamEvent = components['schemas']['runs.Event'];
/** An event with a number; what is only about the connection (`ping`, `server_draining`) is not handed on. */
export type RunEvent = Extract<StreamEvent, { sequence: number }>;

export interface FollowOptions {
  /** Goes on after this event. Default: from the first one. */
  after?: number;
  /** `snapshot`: one event in the place of everything so far, then live. */
  mode?: 'events' | 'snapshot';
  /** Neighbouring chunks of text may wait this long and come as one event. */
  coalesceMs?: number;
  signal?: AbortSignal;
  /** `lost`: the connection is gone, another attempt follows by itself. */
  onState?: (state: 'live' | 'lost') => void;
  /** Attempts in a row without any event before it throws. Default: no limit. */
  attempts?: number;
  /** A connection that is silent for so long (pings count) is given up. Default: 30 s. */
  silenceMs?: number;
}

const shortest = 250;
const longest = 10_000;

const isTerminal = (e: RunEvent) => e.type === 'status' && e.status !== 'running';

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/**
 * Ends after the terminal event, or when `signal` is aborted. Throws RequestFailed for what another attempt cannot
 * mend: no such run, no access, a wrong option.
 */
export async function* follow(at: Connection, runId: string, options: FollowOptions = {}): AsyncGenerator<RunEvent, void, void> {
  const { signal, onState, attempts = Infinity, silenceMs = 30_000 } = options;
  let last = options.after ?? 0;
  let retryMs = shortest;
  let renewed = false;
  for (let failures = 0; !signal?.aborted;) {
    let wait: number | undefined;
    const cut = new AbortController();
    const abort = () => cut.abort();
    signal?.addEventListener('abort', abort);
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(abort, silenceMs);
    };
    try {
      heard();
      const query = new URLSearchParams();
      // Of a snapshot that was begun the rest comes as events.
      if (options.mode === 'snapshot' && last === (options.after ?? 0)) query.set('mode', 'snapshot');
      if (options.coalesceMs !== undefined) query.set('coalesce_ms', String(options.coalesceMs));
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (last > 0) headers['last-event-id'] = String(last);
      const response = await at.send(`/agent-run/${encodeURIComponent(runId)}/stream${query.size ? `?${query}` : ''}`, { headers, signal: cut.signal });
      if (response.status === 204) return;
      if (!response.ok || !response.body) {
        const failed = await RequestFailed.of(response);
        // A token may have come to its end; whoever gives tokens is asked for another one, once.
        if (response.status === 401 && !renewed && at.renews) {
          renewed = true;
          continue;
        }
        if (response.status < 500 && response.status !== 408 && response.status !== 429) throw failed;
        const seconds = Number(response.headers.get('retry-after'));
        if (seconds > 0) wait = seconds * 1000;
        throw failed.passing();
      }
      renewed = false;
      onState?.('live');
      const events: RunEvent[] = [];
      const parser = createParser({
        onEvent: (e) => {
          const event = JSON.parse(e.data) as StreamEvent;
          if (!('sequence' in event) || event.sequence <= last) return;
          last = event.sequence;
          events.push(event);
        },
        onRetry: (ms) => { retryMs = Math.min(Math.max(ms, shortest), longest); },
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          heard();
          parser.feed(value);
          for (const event of events.splice(0)) {
            failures = 0;
            clearTimeout(silence);  // how long the caller takes is its own affair
            yield event;
            if (isTerminal(event)) return;
          }
          heard();
        }
      } finally {
        void reader.cancel().catch(() => undefined);
      }
    } catch (e) {
      if (signal?.aborted) return;
      if (e instanceof RequestFailed && !e.temporary) throw e;
      if (failures + 1 >= attempts) throw e;
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener('abort', abort);
      cut.abort();
    }
    onState?.('lost');
    failures += 1;
    if (failures >= attempts) throw new Error(`the stream of run ${runId} was lost ${failures} times in a row`);
    const backoff = Math.min(retryMs * 2 ** Math.min(failures - 1, 10), longest);
    await pause(wait ?? backoff / 2 + Math.random() * (backoff / 2), signal);
  }
}
