// Converts a run's events and messages into the items that the page shows. Pure functions.
const retries = ['LLM_RETRY', 'LLM_CONTEXT_TOO_LONG'];
// Whether the text of a response continues in the next one.
const isPart = (finish) => finish === 'length' || finish === 'pause';

// Joins continued texts of items for display.
export function joined(items) {
  const all = [];
  for (const i of items) {
    const at = i.continues ? all.findLastIndex((x) => x.kind === 'text' || x.kind === 'tool') : -1;
    if (all[at]?.kind === 'text') all[at] = { ...all[at], content: all[at].content + i.content };
    else all.push(i);
  }
  return all;
}

// The state of a run before its first event.
export const empty = { items: [], status: 'running', note: null };

export function applied(run, e) {
  const items = run.items;
  // Notices are sent once per run, so they stay when an attempt is discarded.
  const stays = (i) => i.kind === 'tool' || i.kind === 'notice';
  const put = (item) => ({ ...run, items: [...items, { ...item, step: run.step, attempt: run.attempt }] });
  const grow = (kind, content) => {
    const end = items.at(-1);
    if (end?.kind !== kind || end.step !== run.step || end.attempt !== run.attempt) return put({ kind, content, ...(kind === 'text' && run.continues && { continues: true }) });
    return { ...run, items: [...items.slice(0, -1), { ...end, content: end.content + content }] };
  };
  const tool = (change) => ({ ...run, items: items.map((i) => (i.kind === 'tool' && i.id === e.tool_call_id ? { ...i, ...change(i) } : i)) });
  const without = (step, keep) => items.filter((i) => i.step !== step || stays(i) || keep(i));
  switch (e.type) {
    case 'llm_response_start':
      // A new attempt replaces the output of earlier attempts of the same step.
      return { ...run, step: e.step, attempt: e.attempt, continues: e.step === run.step ? run.continues : run.unfinished, items: without(e.step, (i) => i.attempt >= e.attempt), queued: null };
    case 'llm_response_end': return { ...run, unfinished: isPart(e.finish) };
    case 'turn_aborted': return { ...run, items: without(e.step, (i) => i.attempt > e.attempt) };
    case 'llm_response_chunk': return grow('text', e.content);
    case 'reasoning_chunk': return grow('reasoning', e.content);
    case 'tool_call':
      if (items.some((i) => i.kind === 'tool' && i.id === e.tool_call_id)) return run;
      return put({ kind: 'tool', id: e.tool_call_id, name: e.name, arguments: e.arguments, source: e.source, output: '', done: false });
    case 'tool_progress': return tool(() => ({ progress: e.message }));
    case 'notice': return put({ kind: 'notice', content: e.message });
    // Retries are not shown: they end in a response or in the error of the run. Other recoverable errors reduce the run's
    // abilities, so the page shows them.
    case 'error': return e.recoverable && !retries.includes(e.error_code) ? put({ kind: 'notice', content: e.message }) : run;
    case 'tool_output_chunk': return tool((i) => ({ output: i.output + e.content }));
    case 'tool_result': return tool(() => ({ result: e.content, isError: e.is_error, done: true }));
    case 'queued': return { ...run, queued: e.position };
    case 'status': return { ...run, status: e.status, reason: e.reason, error: e.error, credits: e.usage?.credits ?? e.credits, duration: e.duration_ms };
    default: return run;
  }
}

// Converts the stored messages of a run into the same items.
export function itemsOf(messages) {
  const items = [];
  let continues = false;
  for (const m of messages) {
    const content = typeof m.content === 'string' ? m.content : (m.content ?? []).map((p) => p.text ?? '').join('');
    if (m.role === 'assistant') {
      if (content) items.push({ kind: 'text', content, ...(continues && { continues }) });
      continues = isPart(m.finish);
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
