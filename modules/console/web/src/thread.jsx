// One thread: its messages, the current run, and the next prompt.
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import * as api from './api.js';
import { Compose } from './compose.jsx';
import { applied, empty, itemsOf, joined } from './events.js';
import { Markdown } from './markdown.jsx';
import { useViewing } from './inbox.jsx';
import { follow } from './stream.js';
import { Guard, Problem, Status, Title, credits, useAction } from './ui.jsx';

const pageSize = 100;

// The agent and model of the thread's last run, with which it continues; null if the agent was deleted.
async function agentOf(thread) {
  if (!thread.agent_id) return null;
  try {
    await api.get(`/agents/${thread.agent_id}`);
  } catch (e) {
    if (e.status === 404) return null;
    throw e;
  }
  return { id: thread.agent_id, model: thread.model_name };
}

async function load(id) {
  const [thread, messages] = await Promise.all([api.get(`/threads/${id}`), api.get(`/threads/${id}/messages?order=asc&limit=${pageSize}`)]);
  let all = messages.messages;
  for (let cursor = messages.next_cursor; cursor;) {
    const next = await api.get(`/threads/${id}/messages?order=asc&limit=${pageSize}&cursor=${encodeURIComponent(cursor)}`);
    all = [...all, ...next.messages];
    cursor = next.next_cursor;
  }
  // One turn per run: the prompts and the messages of the run.
  const turns = [];
  for (const m of all) {
    let turn = turns.find((t) => t.run === m.agent_run_id);
    if (!turn) turns.push(turn = { run: m.agent_run_id, asked: [], messages: [] });
    (m.role === 'user' ? turn.asked : turn.messages).push(m);
  }
  const last = thread.latest_run;
  const failed = last?.status === 'failed' ? await api.get(`/agent-run/${last.agent_run_id}`) : null;
  return { thread, turns, agent: await agentOf(thread), error: failed?.error };
}

const textOf = (m) => (typeof m.content === 'string' ? m.content : (m.content ?? []).map((p) => p.text ?? '').join(''));
const asText = (args) => (typeof args === 'string' ? args : JSON.stringify(args, null, 2));

// The first text argument of a call, shown in its headline.
function gist(args) {
  const first = args && typeof args === 'object' ? Object.values(args).find((v) => typeof v === 'string') : args;
  return typeof first === 'string' ? first.split('\n')[0].slice(0, 120) : '';
}

function Tool({ item }) {
  const state = !item.done ? 'running' : item.isError ? 'failed' : 'done';
  const words = { running: 'running', failed: 'failed', done: 'done' };
  return (
    <details class={`tool ${state}`}>
      <summary><span class="dot" aria-hidden="true" /><span class="tool-name">{item.name}</span> <span class="gist">{gist(item.arguments)}</span> <span class="tool-state">{(state === 'running' && item.progress) || words[state]}</span></summary>
      <h3>Arguments</h3>
      <pre tabIndex={0}>{asText(item.arguments)}</pre>
      {(item.result ?? item.output) && <h3>{item.done ? 'Result' : 'Output'}</h3>}
      {(item.result ?? item.output) && <pre tabIndex={0}>{item.result ?? item.output}</pre>}
    </details>
  );
}

const renderFailed = <p class="problem">This part could not be shown.</p>;

const Item = ({ item: i }) => (i.kind === 'tool' ? <Tool item={i} />
  : i.kind === 'notice' ? <p class="notice">{i.content}</p>
  : i.kind === 'reasoning' ? <details class="reasoning"><summary>Reasoning</summary><p>{i.content}</p></details>
  : <Markdown text={i.content} />);

const Items = ({ items }) => joined(items).map((i, n) => <Guard key={i.kind === 'tool' ? i.id : n} instead={renderFailed}><Item item={i} /></Guard>);

// The server adds one line per attached file to the prompt; these lines are shown as a list of files.
const attached = /\n*\[Attached: (.+) \(([^()]+)\) -> [^\]\n]+\]/g;

function Asked({ text }) {
  const files = [...text.matchAll(attached)];
  return (
    <div class="asked">
      <h2 class="unseen">You asked</h2>
      <p>{text.replace(attached, '')}</p>
      {files.length > 0 && <ul class="chips" aria-label="Attached files">{files.map((f) => <li>{f[1]} <span class="hint">{f[2]}</span></li>)}</ul>}
    </div>
  );
}

function Live({ runId, ended }) {
  const [run, send] = useReducer((state, events) => events.reduce(applied, state), empty);
  const [link, setLink] = useState('live');
  const end = useRef(null);
  const [stopping, problem, stop] = useAction(() => api.call(`/agent-run/${runId}/stop`));
  const [lost, setLost] = useState(null);
  useEffect(() => {
    const gone = new AbortController();
    // Events arrive faster than the screen is redrawn, so they are collected and rendered together.
    let waiting = [];
    let timer = null;
    const flush = () => { timer = null; const all = waiting; waiting = []; send(all); };
    follow(runId, {
      signal: gone.signal, onState: setLink,
      onEvent(e) { waiting.push(e); timer ??= setTimeout(flush, 30); },
    }).then(() => { if (!gone.signal.aborted) { clearTimeout(timer); flush(); ended(runId); } }, setLost);
    return () => { gone.abort(); clearTimeout(timer); };
  }, [runId]);
  // Scroll with the text only if the reader is at its end.
  useEffect(() => {
    const box = document.scrollingElement;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 240) end.current?.scrollIntoView({ block: 'nearest' });
  }, [run]);
  const going = run.status === 'running';
  const tool = run.items.findLast((i) => i.kind === 'tool' && !i.done);
  const announcement = !going ? `The run has ended: ${run.status}.` : link === 'lost' ? 'Connection lost. Reconnecting…' : run.queued ? `Waiting at position ${run.queued}.` : tool ? `Running ${tool.name}.` : 'The agent is answering.';
  return (
    <div class="run" aria-busy={going}>
      <Items items={run.items} />
      {run.error && <p class="problem">{run.error}</p>}
      <Problem error={problem ?? lost} />
      <div class="run-bar" ref={end}>
        <Status of={run.queued ? 'queued' : run.status} />
        <span class={going ? 'hint' : 'unseen'} role="status">{announcement}</span>
        {going ? <button type="button" class="danger" disabled={stopping} onClick={stop}>{stopping ? 'Stopping…' : 'Stop'}</button>
          : <span class="hint">{run.duration !== undefined && `${(run.duration / 1000).toFixed(1)} s`}{run.credits !== undefined && ` · ${credits(run.credits)} credits`}</span>}
      </div>
    </div>
  );
}

export function Thread({ id, fresh, changed }) {
  const [state, setState] = useState(null);
  const [error, setError] = useState(null);
  const [live, setLive] = useState([]);
  const [over, setOver] = useState([]);
  useViewing(id);
  useEffect(() => {
    let current = true;
    setState(null); setLive([]); setOver([]);
    load(id).then((loaded) => {
      if (!current) return;
      const run = loaded.thread.latest_run;
      const going = run?.status === 'running' || run?.agent_run_id === fresh?.agent_run_id;
      setState(loaded);
      if (run && going) setLive([run.agent_run_id]);
    }, (e) => current && setError(e));
    return () => { current = false; };
  }, [id]);
  const started = (run, prompt) => {
    setState((s) => ({ ...s, turns: [...s.turns, { run: run.agent_run_id, asked: [{ content: prompt }], messages: [] }] }));
    setLive((l) => [...l, run.agent_run_id]);
  };
  const ended = (run) => { setOver((o) => [...o, run]); changed(); };
  if (error) return <section><Title>Thread</Title><Problem error={error} /></section>;
  if (!state) return <section><Title>Thread</Title><p role="status">Loading…</p></section>;
  const busy = live.some((r) => !over.includes(r));
  const last = state.thread.latest_run;
  return (
    <section class="thread">
      <Title text={state.thread.title || 'Thread'}>{state.thread.title || 'Thread'}</Title>
      {state.turns.map((t) => (
        <article class="turn" key={t.run} aria-label="Run">
          {t.asked.map((m) => <Guard instead={renderFailed}><Asked text={textOf(m)} /></Guard>)}
          {live.includes(t.run) ? <Live runId={t.run} ended={ended} /> : (
            <div class="run">
              <Items items={itemsOf(t.messages)} />
              {last?.agent_run_id === t.run && state.error && <p class="problem">{state.error}</p>}
              {last?.agent_run_id === t.run && last.status !== 'completed' && <div class="run-bar"><Status of={last.status} /></div>}
            </div>
          )}
        </article>
      ))}
      <Compose thread={id} agent={state.agent} busy={busy} started={started} label={busy ? 'Next prompt (after this run)' : 'Next prompt'} />
    </section>
  );
}
