// The inbox with its live unread count, what the account wants to be told, and what admins do.
import { useEffect, useState } from 'preact/hooks';
import * as api from './api.js';
import * as browser from './browser.js';
import { isAdmin } from './operations.jsx';
import { listen } from './stream.js';
import { Field, Problem, Status, Time, Title, onSubmit, useAction, useLoaded } from './ui.jsx';

// {there, unread, latest}: `latest` changes with each notification. Not there: this server has no notifications.
export function useInbox() {
  const [state, setState] = useState({ there: false, unread: 0, latest: null });
  useEffect(() => {
    const gone = new AbortController();
    api.get('/notifications/inbox/unread-count').then((count) => {
      setState((s) => ({ ...s, there: true, unread: count.unread_count }));
      return listen('/notifications/inbox/stream', {
        signal: gone.signal,
        onEvent: (e) => setState((s) => ({ there: true, unread: e.unread_count, latest: e.notification?.id ?? s.latest })),
      });
    }).catch(() => {});
    return () => gone.abort();
  }, []);
  return state;
}

const tab = crypto.randomUUID?.() ?? String(Math.random());

// Tells the server which thread this tab shows, so that nobody is notified of what he sees.
export function useViewing(thread) {
  useEffect(() => {
    const tell = (id) => api.call('/presence/update', { session_id: tab, active_thread_id: id }).catch(() => {});
    const look = () => tell(document.visibilityState === 'visible' ? thread : null);
    look();
    const timer = setInterval(look, 60000);
    document.addEventListener('visibilitychange', look);
    return () => { clearInterval(timer); document.removeEventListener('visibilitychange', look); tell(null); };
  }, [thread]);
}

const isWeb = (url) => /^https?:\/\//.test(url ?? '');

function Entries({ inbox }) {
  const [more, setMore] = useState([]);
  const [first, error, reload] = useLoaded(() => api.get('/notifications/inbox?limit=30'), [inbox.latest, inbox.unread]);
  const cursor = more.length ? more.at(-1).next_cursor : first?.next_cursor;
  const [busy, problem, act] = useAction(async (what) => {
    await what();
    setMore([]);
    reload();
  });
  const [, , next] = useAction(async () => setMore([...more, await api.get(`/notifications/inbox?limit=30&cursor=${encodeURIComponent(cursor)}`)]));
  const seen = new Set();
  const all = [...(first?.notifications ?? []), ...more.flatMap((p) => p.notifications)].filter((n) => !seen.has(n.id) && seen.add(n.id));
  return (
    <>
      <Problem error={error ?? problem} />
      {!first && !error && <p role="status">Loading…</p>}
      {first && all.length === 0 && <p>There is nothing yet.</p>}
      {inbox.unread > 0 && <button type="button" disabled={busy} onClick={() => act(() => api.call('/notifications/inbox/read-all'))}>Mark all as read</button>}
      <ul class="plain inbox">
        {all.map((n) => (
          <li key={n.id} class={n.read ? '' : 'new'}>
            <p class="what">{isWeb(n.action_url) ? <a href={n.action_url} onClick={() => n.read || api.call(`/notifications/inbox/${n.id}/read`).catch(() => {})}>{n.title}</a> : n.title}</p>
            <span class="hint"><Time at={n.created_at} /></span>
            <p class="hint">{n.body}</p>
            {!n.read && <button type="button" class="link" disabled={busy} onClick={() => act(() => api.call(`/notifications/inbox/${n.id}/read`))}>Mark as read</button>}
          </li>
        ))}
      </ul>
      {cursor && <button type="button" onClick={next} disabled={busy}>More</button>}
    </>
  );
}

const channels = [['email', 'E-mail'], ['push', 'Push'], ['in_app', 'Inbox']];
const names = { 'welcome-email': 'Welcome', 'task-completed': 'Task completed', 'task-failed': 'Task failed', 'payment-succeeded': 'Payment received', 'payment-failed': 'Payment failed', 'credits-low': 'Credits are low', 'referral-successful': 'Friend signed up', promotional: 'News' };

function Settings() {
  const [all, error, reload] = useLoaded(async () => {
    const [s, p] = await Promise.all([api.get('/notifications/settings'), api.get('/notifications/preferences')]);
    return { ...s.settings, ...p.preferences };
  }, []);
  const [busy, problem, save] = useAction(async (path, body) => { await api.change(path, body); reload(); });
  const [saved, setSaved] = useState(false);
  const quiet = onSubmit(async (f) => {
    setSaved(false);
    await save('/notifications/preferences', { time_zone: f.zone, quiet_hours: f.from && f.to ? { from: f.from, to: f.to } : null });
    setSaved(true);
  });
  if (!all) return <Problem error={error} />;
  const prefer = (id, wish) => save('/notifications/preferences', { workflows: { [id]: wish } });
  const zone = all.time_zone === 'UTC' && !all.quiet_hours ? Intl.DateTimeFormat().resolvedOptions().timeZone : all.time_zone;
  return (
    <>
      <Problem error={error ?? problem} />
      <fieldset class="switches">
        <legend class="unseen">Channels</legend>
        {channels.map(([c, label]) => (
          <label key={c}><input type="checkbox" checked={all[`${c}_enabled`]} disabled={busy}
            onChange={(e) => save('/notifications/settings', { [`${c}_enabled`]: e.currentTarget.checked })} />{label}</label>
        ))}
      </fieldset>
      <div class="table" tabIndex={0} role="region" aria-label="What to be told">
        <table>
          <thead><tr><th scope="col">What</th>{channels.map(([c, label]) => <th key={c} scope="col">{label}</th>)}<th scope="col">Gather for</th></tr></thead>
          <tbody>{Object.entries(all.workflows).filter(([id]) => id !== 'welcome-email').map(([id, w]) => (
            <tr key={id}><th scope="row">{names[id] ?? id}</th>
              {channels.map(([c, label]) => (
                <td key={c}><input type="checkbox" aria-label={`${names[id] ?? id}: ${label}`} checked={w[c] || w.mandatory} disabled={busy || w.mandatory}
                  onChange={(e) => prefer(id, { [c]: e.currentTarget.checked })} /></td>
              ))}
              <td><select aria-label={`${names[id] ?? id}: gather for`} value={w.digest_minutes} disabled={busy || w.urgent}
                onChange={(e) => prefer(id, { digest_minutes: Number(e.currentTarget.value) })}>
                {[[0, 'not at all'], [15, '15 minutes'], [60, 'an hour'], [1440, 'a day']].map(([m, label]) => <option key={m} value={m}>{label}</option>)}
              </select></td></tr>
          ))}</tbody>
        </table>
      </div>
      <h3>Quiet hours</h3>
      <form onSubmit={quiet}>
        <p class="hint">Mail and push wait until they are over; the inbox does not.</p>
        <Field label="From" name="from" type="time" defaultValue={all.quiet_hours?.from ?? ''} />
        <Field label="To" name="to" type="time" defaultValue={all.quiet_hours?.to ?? ''} />
        <Field label="Time zone" name="zone" required defaultValue={zone} />
        <button disabled={busy}>Save</button>
        {saved && !problem && <p class="hint" role="status">Saved.</p>}
      </form>
    </>
  );
}

function Browser() {
  const [state, error, reload] = useLoaded(browser.look, []);
  const [busy, problem, act] = useAction(async (what) => { await what(); reload(); });
  if (!error && (state === null || state === 'none')) return null;
  return (
    <>
      <h3>This browser</h3>
      <Problem error={error ?? problem} />
      {error && <button type="button" onClick={reload}>Look again</button>}
      <p class="hint">Push messages are shown here also while the page is closed.</p>
      {state === 'denied' && <p class="hint">The browser does not allow notifications of this page; its settings do.</p>}
      {state === 'off' && <button type="button" disabled={busy} onClick={() => act(browser.turnOn)}>Tell me in this browser</button>}
      {state === 'on' && <button type="button" disabled={busy} onClick={() => act(browser.turnOff)}>Do not tell me in this browser</button>}
    </>
  );
}

const channelNames = { email: 'E-mail', push: 'Push', in_app: 'Inbox' };

// What became of one notification, channel by channel.
function Course({ id, changed }) {
  const [all, error] = useLoaded(() => api.get(`/admin/notifications/${id}`), [id, changed]);
  return (
    <>
      <Problem error={error} />
      {all && all.deliveries.length === 0 && <p class="hint">Nothing happened yet.</p>}
      <ul class="plain">{all?.deliveries.map((d, n) => (
        <li key={n} class="hint">{channelNames[d.channel]}: {d.status}{d.provider && ` (${d.provider})`}{d.detail && `: ${d.detail}`}</li>
      ))}</ul>
    </>
  );
}

const followEvery = 5000;

function Admin() {
  const [list, error, reload] = useLoaded(() => api.get('/admin/notifications?limit=30'), []);
  const [open, setOpen] = useState(null);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), followEvery);
    return () => clearInterval(timer);
  }, []);
  const [answer, setAnswer] = useState(null);
  const [busy, problem, act] = useAction(async (what) => { const a = await what(); reload(); return a; });
  const trigger = onSubmit(async (f) => {
    setAnswer(null);
    const who = f.to ? { subscriber_email: f.to } : { broadcast: true };
    const a = await act(() => api.call('/admin/notifications/trigger', { workflow_id: f.workflow, payload_template: { title: f.title, message: f.message, action_url: f.url }, ...who }));
    if (a) setAnswer(a.success ? 'It is on its way.' : a.reason);
  });
  return (
    <>
      <h2>All accounts</h2>
      <Problem error={error ?? problem} />
      <form onSubmit={trigger}>
        <Field label="Workflow" name="workflow" required defaultValue="promotional" />
        <Field label="Address of the account" name="to" type="email" hint="Left empty: everybody is told." />
        <Field label="Title" name="title" required hint="May hold {{first_name}}, {{name}}, {{email}}." />
        <Field label="Message" name="message" />
        <Field label="Link" name="url" type="url" />
        <button disabled={busy}>Send</button>
        {answer && <p role="status">{answer}</p>}
      </form>
      <div class="table" tabIndex={0} role="region" aria-label="Notifications of all accounts">
        <table>
          <thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Status</th><th scope="col"><span class="unseen">Action</span></th></tr></thead>
          <tbody>{list?.notifications.map((n) => (
            <tr key={n.id}><td><Time at={n.created_at} /></td><td>{names[n.workflow_id] ?? n.workflow_id}</td>
              <td><Status of={n.status} />{n.reason && <p class="hint why">{n.reason}</p>}
                {open === n.id && <Course id={n.id} changed={list} />}</td>
              <td><button type="button" class="link" aria-expanded={open === n.id} onClick={() => setOpen(open === n.id ? null : n.id)}>Details</button>{' '}
                {n.status === 'queued' && <button type="button" class="link" disabled={busy} onClick={() => act(() => api.call(`/admin/notifications/${n.id}/cancel`))}>Call off</button>}
                {(n.status === 'dead' || n.status === 'failed') && <button type="button" class="link" disabled={busy} onClick={() => act(() => api.call(`/admin/notifications/${n.id}/requeue`))}>Try again</button>}</td></tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}

export function Inbox({ inbox, me }) {
  return (
    <section>
      <Title>Inbox</Title>
      <Entries inbox={inbox} />
      <h2>What to be told</h2>
      <Settings />
      <Browser />
      {isAdmin(me) && <Admin />}
    </section>
  );
}
