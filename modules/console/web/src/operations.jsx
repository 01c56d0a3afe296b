// What an operator looks at: queues, nodes, live runs, jobs that were given up, modules. For admins.
import { useEffect, useState } from 'preact/hooks';
import * as api from './api.js';
import { Problem, Status, Time, Title, useAction, useLoaded } from './ui.jsx';

const often = 5000;
export const isAdmin = (me) => me?.role === 'admin' || me?.role === 'super_admin';

// Loads again every few seconds while somebody looks.
function useFresh(fn) {
  const [value, error, load] = useLoaded(fn, []);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && load(), often);
    return () => clearInterval(timer);
  }, []);
  return [value, error, load];
}

const short = (id) => <code title={id}>{id.slice(-12)}</code>;
function age(seconds) {
  if (seconds < 1) return '–';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

// columns: [label, of a row, whether it is a number]
function Rows({ label, columns, rows, none, id }) {
  if (!rows) return <p role="status">Loading…</p>;
  if (rows.length === 0) return <p>{none}</p>;
  return (
    <div class="table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead><tr>{columns.map(([name, , number]) => <th key={name} scope="col" class={number ? 'figure' : undefined}>{name}</th>)}</tr></thead>
        <tbody>{rows.map((row) => (
          <tr key={id(row)}>{columns.map(([name, of, number]) => <td key={name} class={number ? 'figure' : undefined}>{of(row)}</td>)}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}

function Queues() {
  const [seen, error] = useFresh(() => api.get('/admin/queues'));
  return (
    <>
      <Problem error={error} />
      <h2>Queues</h2>
      <Rows label="Queues" rows={seen?.queues} id={(q) => q.queue} none="Nothing waits and nothing runs." columns={[
        ['Queue', (q) => q.queue], ['Ready', (q) => q.ready, true], ['Oldest waits', (q) => age(q.oldest_ready_seconds), true],
        ['Scheduled', (q) => q.scheduled, true], ['Running', (q) => q.running, true], ['Given up', (q) => q.dead, true]]} />
      <h2>Nodes</h2>
      <Rows label="Nodes" rows={seen?.nodes} id={(n) => n.id} none="No node holds a lease." columns={[
        ['Node', (n) => <>{short(n.id)}{n.this && ' (this one)'}</>], ['Since', (n) => <Time at={n.started_at} />],
        ['Jobs running', (n) => n.running, true]]} />
    </>
  );
}

function LiveRuns() {
  const [seen, error] = useFresh(() => api.get('/admin/runs?limit=50'));
  return (
    <>
      <h2>Live runs</h2>
      <Problem error={error} />
      <Rows label="Live runs" rows={seen?.runs} id={(r) => r.agent_run_id} none="No run is under way." columns={[
        ['Run', (r) => short(r.agent_run_id)], ['Since', (r) => <Time at={r.started_at} />], ['Model', (r) => r.model],
        ['Account', (r) => short(r.account_id)],
        ['Node', (r) => (r.node ? short(r.node) : r.waiting ? 'waits for a slot' : 'between nodes')],
        ['Steps', (r) => r.steps, true]]} />
      {seen?.next_cursor && <p class="hint">The newest 50 are shown.</p>}
    </>
  );
}

function GivenUp() {
  const [seen, error, reload] = useFresh(() => api.get('/admin/jobs?state=dead&limit=50'));
  const [busy, problem, act] = useAction(async (job, what) => {
    try { await api.call(`/admin/jobs/${job.id}/${what}`); } finally { reload(); }
  });
  return (
    <>
      <h2>Jobs that were given up</h2>
      <Problem error={error ?? problem} />
      <Rows label="Jobs that were given up" rows={seen?.jobs} id={(j) => j.id} none="None." columns={[
        ['Job', (j) => <>{j.kind} <span class="hint">{j.id}</span></>], ['Since', (j) => <Time at={j.enqueued_at} />],
        ['Attempts', (j) => j.attempts, true], ['Why', (j) => <span class="why">{j.last_error ?? '–'}</span>],
        ['Actions', (j) => (
          <span class="acts">
            <button type="button" class="link" disabled={busy} aria-label={`Try again: job ${j.id}`} onClick={() => act(j, 'retry')}>Try again</button>
            <button type="button" class="link" disabled={busy} aria-label={`Discard job ${j.id}`} onClick={() => act(j, 'discard')}>Discard</button>
          </span>
        )]]} />
      {seen?.next_cursor && <p class="hint">The newest 50 are shown.</p>}
    </>
  );
}

const done = { reload: 'was reloaded', enable: 'runs now', disable: 'was taken out' };

function Modules() {
  const [list, error, look] = useFresh(() => api.get('/admin/modules'));
  const [told, setTold] = useState(null);
  const [under, setUnder] = useState(null);
  const [busy, problem, change] = useAction(async (name, what) => {
    setTold(null);
    setUnder(name);
    try {
      const r = await api.call(`/admin/modules/${encodeURIComponent(name)}/${what}`);
      const left = r.left.filter((m) => !m.outcome.startsWith('unloaded')).map((m) => `${m.module}: ${m.outcome}`);
      setTold(`${name} ${done[what]}, after ${r.swap_ms} ms.${left.length ? ` ${left.join(', ')}.` : ''}`);
    } finally {
      setUnder(null);
      look();
    }
  });
  const button = (m, what, label) => (
    <button type="button" class="link" disabled={busy} aria-label={`${label} ${m.name}`} onClick={() => change(m.name, what)}>
      {under === m.name && what === 'reload' ? 'Reloading…' : label}</button>
  );
  return (
    <>
      <h2>Modules of this node</h2>
      <Problem error={error ?? problem} />
      <p role="status" class={told ? undefined : 'unseen'}>{told}</p>
      <Rows label="Modules of this node" rows={list} id={(m) => m.name} none="None were found." columns={[
        ['Module', (m) => <>{m.name} <span class="hint">{m.version}</span></>],
        ['State', (m) => <><Status of={m.state} />{(m.reason || m.last_strike) && <p class="hint why">{m.reason ?? m.last_strike}</p>}</>],
        ['Slow callbacks', (m) => m.slow_callbacks, true], ['Misbehaved', (m) => m.strikes, true], ['In use', (m) => m.outstanding, true],
        ['Actions', (m) => (
          <span class="acts">
            {m.state === 'started' && button(m, 'reload', 'Reload')}
            {m.state === 'started' && button(m, 'disable', 'Disable')}
            {m.state === 'disabled' && button(m, 'enable', 'Enable')}
          </span>
        )]]} />
    </>
  );
}

export const Operations = () => (
  <section class="wide">
    <Title>Server</Title>
    <Queues />
    <LiveRuns />
    <GivenUp />
    <Modules />
  </section>
);
