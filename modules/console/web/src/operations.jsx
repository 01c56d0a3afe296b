// Pages for administrators: queues, nodes, live runs, dead-lettered jobs, modules.
import { useState } from 'preact/hooks';
import * as api from './api.js';
import { Problem, Rows, Status, Time, Title, short, useAction, useFresh } from './ui.jsx';

export const isAdmin = (me) => me?.role === 'admin' || me?.role === 'super_admin';

function age(seconds) {
  if (seconds < 1) return '–';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

function Queues() {
  const [seen, error] = useFresh(() => api.get('/admin/queues'));
  return (
    <>
      <Problem error={error} />
      <h2>Queues</h2>
      <Rows label="Queues" rows={seen?.queues} id={(q) => q.queue} none="No jobs are waiting or running." columns={[
        ['Queue', (q) => q.queue], ['Ready', (q) => q.ready, true], ['Oldest waiting', (q) => age(q.oldest_ready_seconds), true],
        ['Scheduled', (q) => q.scheduled, true], ['Running', (q) => q.running, true], ['Dead', (q) => q.dead, true]]} />
      <h2>Nodes</h2>
      <Rows label="Nodes" rows={seen?.nodes} id={(n) => n.id} none="No nodes are running." columns={[
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
      <Rows label="Live runs" rows={seen?.runs} id={(r) => r.agent_run_id} none="No runs in progress." columns={[
        ['Run', (r) => short(r.agent_run_id)], ['Since', (r) => <Time at={r.started_at} />], ['Model', (r) => r.model],
        ['Account', (r) => short(r.account_id)],
        ['Node', (r) => (r.node ? short(r.node) : r.waiting ? 'waiting for a slot' : 'not assigned to a node')],
        ['Steps', (r) => r.steps, true]]} />
      {seen?.next_cursor && <p class="hint">Only the newest 50 are shown.</p>}
    </>
  );
}

function DeadJobs() {
  const [seen, error, reload] = useFresh(() => api.get('/admin/jobs?state=dead&limit=50'));
  const [busy, problem, act] = useAction(async (job, what) => {
    try { await api.call(`/admin/jobs/${job.id}/${what}`); } finally { reload(); }
  });
  return (
    <>
      <h2>Dead-lettered jobs</h2>
      <Problem error={error ?? problem} />
      <Rows label="Dead-lettered jobs" rows={seen?.jobs} id={(j) => j.id} none="No dead-lettered jobs." columns={[
        ['Job', (j) => <>{j.kind} <span class="hint">{j.id}</span></>], ['Since', (j) => <Time at={j.enqueued_at} />],
        ['Attempts', (j) => j.attempts, true], ['Error', (j) => <span class="why">{j.last_error ?? '–'}</span>],
        ['Actions', (j) => (
          <span class="acts">
            <button type="button" class="link" disabled={busy} aria-label={`Try again: job ${j.id}`} onClick={() => act(j, 'retry')}>Try again</button>
            <button type="button" class="link" disabled={busy} aria-label={`Discard job ${j.id}`} onClick={() => act(j, 'discard')}>Discard</button>
          </span>
        )]]} />
      {seen?.next_cursor && <p class="hint">Only the newest 50 are shown.</p>}
    </>
  );
}

const done = { reload: 'was reloaded', enable: 'was enabled', disable: 'was disabled' };

function Modules() {
  const [list, error, look] = useFresh(() => api.get('/admin/modules'));
  const [message, setMessage] = useState(null);
  const [changing, setChanging] = useState(null);
  const [busy, problem, change] = useAction(async (name, what) => {
    setMessage(null);
    setChanging(name);
    try {
      const r = await api.call(`/admin/modules/${encodeURIComponent(name)}/${what}`);
      const notUnloaded = r.left.filter((m) => !m.outcome.startsWith('unloaded')).map((m) => `${m.module}: ${m.outcome}`);
      setMessage(`${name} ${done[what]} in ${r.swap_ms} ms.${notUnloaded.length ? ` ${notUnloaded.join(', ')}.` : ''}`);
    } finally {
      setChanging(null);
      look();
    }
  });
  const button = (m, what, label) => (
    <button type="button" class="link" disabled={busy} aria-label={`${label} ${m.name}`} onClick={() => change(m.name, what)}>
      {changing === m.name && what === 'reload' ? 'Reloading…' : label}</button>
  );
  return (
    <>
      <h2>Modules of this node</h2>
      <Problem error={error ?? problem} />
      <p role="status" class={message ? undefined : 'unseen'}>{message}</p>
      <Rows label="Modules of this node" rows={list} id={(m) => m.name} none="No modules found." columns={[
        ['Module', (m) => <>{m.name} <span class="hint">{m.version}</span></>],
        ['State', (m) => <><Status of={m.state} />{(m.reason || m.last_violation) && <p class="hint why">{m.reason ?? m.last_violation}</p>}</>],
        ['Slow callbacks', (m) => m.slow_callbacks, true], ['Violations', (m) => m.violations, true], ['Outstanding', (m) => m.outstanding, true],
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
    <DeadJobs />
    <Modules />
  </section>
);
