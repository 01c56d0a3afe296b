// Streams of events, and what those of a run make of it.
import { createParser } from 'eventsource-parser';
import * as api from './api.js';

const pauses = [500, 1000, 2000, 5000];

// Reads a stream of events across lost connections: calls onEvent for each event once, onState with 'live' or 'lost'.
// Ends after an event for which isLast is true, when there is nothing more (204), or when `signal` is aborted.
export async function listen(path, { onEvent, onState = () => {}, signal, isLast = () => false }) {
  let last = null;
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
          onEvent(event);
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

// What a run has done so far, as items to show. Pure: the same events give the same items.
export const empty = { items: [], status: 'running', note: null };

export function applied(run, e) {
  const items = run.items;
  const put = (item) => ({ ...run, items: [...items, { ...item, step: run.step, attempt: run.attempt }] });
  const grow = (kind, content) => {
    const end = items.at(-1);
    if (end?.kind !== kind || end.step !== run.step || end.attempt !== run.attempt) return put({ kind, content });
    return { ...run, items: [...items.slice(0, -1), { ...end, content: end.content + content }] };
  };
  const tool = (change) => ({ ...run, items: items.map((i) => (i.kind === 'tool' && i.id === e.tool_call_id ? { ...i, ...change(i) } : i)) });
  const without = (step, keep) => items.filter((i) => i.step !== step || i.kind === 'tool' || keep(i));
  switch (e.type) {
    case 'llm_response_start':
      // What an earlier attempt of this step said does not count.
      return { ...run, step: e.step, attempt: e.attempt, items: without(e.step, (i) => i.attempt >= e.attempt), queued: null };
    case 'turn_aborted': return { ...run, items: without(e.step, (i) => i.attempt > e.attempt) };
    case 'llm_response_chunk': return grow('text', e.content);
    case 'reasoning_chunk': return grow('reasoning', e.content);
    case 'tool_call':
      if (items.some((i) => i.kind === 'tool' && i.id === e.tool_call_id)) return run;
      return put({ kind: 'tool', id: e.tool_call_id, name: e.name, arguments: e.arguments, source: e.source, output: '', done: false });
    case 'tool_output_chunk': return tool((i) => ({ output: i.output + e.content }));
    case 'tool_result': return tool(() => ({ result: e.content, isError: e.is_error, done: true }));
    case 'queued': return { ...run, queued: e.position };
    case 'status': return { ...run, status: e.status, reason: e.reason, error: e.error, credits: e.usage?.credits ?? e.credits, duration: e.duration_ms };
    default: return run;
  }
}

// The persisted messages of a run, as the same items.
export function itemsOf(messages) {
  const items = [];
  for (const m of messages) {
    const content = typeof m.content === 'string' ? m.content : (m.content ?? []).map((p) => p.text ?? '').join('');
    if (m.role === 'assistant') {
      if (content) items.push({ kind: 'text', content });
      for (const c of m.tool_calls ?? []) {
        items.push({ kind: 'tool', id: c.id, name: c.name, arguments: c.arguments, output: '', done: false });
      }
    } else if (m.role === 'tool') {
      const i = items.findLast((x) => x.kind === 'tool' && x.id === m.tool_call_id);
      if (i) Object.assign(i, { result: content, isError: m.is_error, done: true });
    }
  }
  return items;
}
