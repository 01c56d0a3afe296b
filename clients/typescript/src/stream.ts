// Yields the events of a run once and in order. Resumes after lost connections and restarts of the server.
import { createParser } from 'eventsource-parser';
import { RequestFailed, type Connection } from './connection.js';
import type { components } from './schema.d.ts';

export type StreamEvent = components['schemas']['runs.Event'];
/** A numbered event of the run. Events about the connection (`ping`, `server_draining`) are not yielded. */
export type RunEvent = Extract<StreamEvent, { sequence: number }>;

export interface FollowOptions {
  /** The sequence number of the last event that the caller has. Default: 0, all events. */
  after?: number;
  /** `snapshot`: one event with the current state, followed by the later events. */
  mode?: 'events' | 'snapshot';
  /** The server may delay chunks of text by this time, to merge consecutive ones into one event. */
  coalesceMs?: number;
  signal?: AbortSignal;
  /** `lost`: the connection was lost; follow() reconnects. */
  onState?: (state: 'live' | 'lost') => void;
  /** The number of consecutive attempts without an event after which follow() throws. Default: no limit. */
  attempts?: number;
  /** A connection without data for this time, pings included, counts as lost. Default: 30 s. */
  silenceMs?: number;
}

const minRetryMs = 250;
const maxRetryMs = 10_000;

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
 * Ends after the terminal event, or when `signal` is aborted. Throws RequestFailed for errors that a retry cannot fix:
 * an unknown run, missing access, an invalid option.
 */
export async function* follow(connection: Connection, runId: string, options: FollowOptions = {}): AsyncGenerator<RunEvent, void, void> {
  const { signal, onState, attempts = Infinity, silenceMs = 30_000 } = options;
  let last = options.after ?? 0;
  let retryMs = minRetryMs;
  let renewed = false;
  for (let failures = 0; !signal?.aborted;) {
    let wait: number | undefined;
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    signal?.addEventListener('abort', abort);
    let silence: ReturnType<typeof setTimeout> | undefined;
    const restartTimer = () => {
      clearTimeout(silence);
      silence = setTimeout(abort, silenceMs);
    };
    try {
      restartTimer();
      const query = new URLSearchParams();
      // After a partly received snapshot, resume with events.
      if (options.mode === 'snapshot' && last === (options.after ?? 0)) query.set('mode', 'snapshot');
      if (options.coalesceMs !== undefined) query.set('coalesce_ms', String(options.coalesceMs));
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (last > 0) headers['last-event-id'] = String(last);
      const response = await connection.send(`/agent-run/${encodeURIComponent(runId)}/stream${query.size ? `?${query}` : ''}`, { headers, signal: attempt.signal });
      if (response.status === 204) return;
      if (!response.ok || !response.body) {
        const failed = await RequestFailed.of(response);
        // The token may have expired: request another one, once.
        if (response.status === 401 && !renewed && connection.canRenewToken) {
          renewed = true;
          continue;
        }
        if (response.status < 500 && response.status !== 408 && response.status !== 429) throw failed;
        const seconds = Number(response.headers.get('retry-after'));
        if (seconds > 0) wait = seconds * 1000;
        throw failed.asTemporary();
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
        onRetry: (ms) => { retryMs = Math.min(Math.max(ms, minRetryMs), maxRetryMs); },
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          restartTimer();
          parser.feed(value);
          for (const event of events.splice(0)) {
            failures = 0;
            clearTimeout(silence);  // the time that the caller needs does not count
            yield event;
            if (isTerminal(event)) return;
          }
          restartTimer();
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
      attempt.abort();
    }
    onState?.('lost');
    failures += 1;
    if (failures >= attempts) throw new Error(`the stream of run ${runId} was lost ${failures} times in a row`);
    const backoff = Math.min(retryMs * 2 ** Math.min(failures - 1, 10), maxRetryMs);
    await pause(wait ?? backoff / 2 + Math.random() * (backoff / 2), signal);
  }
}
