// The inbox with its live unread count, and the notification preferences of the account.
import { useEffect, useState } from 'preact/hooks';
import * as api from './api.js';
import * as browser from './browser.js';
import { listenShared } from './shared.js';
import { Field, Problem, Status, Time, Title, onSubmit, useAction, useFresh, useLoaded } from './ui.jsx';

// Returns {there, unread, latest}. there: this server has notifications. latest: the id of the newest notification.
export function useInbox(account) {
  const [state, setState] = useState({ there: false, unread: 0, latest: null });
  useEffect(() => {
    if (!account) return undefined;
    const gone = new AbortController();
    api.get('/notifications/inbox/unread-count').then((count) => {
      setState((s) => ({ ...s, there: true, unread: count.unread_count }));
      return listenShared('/notifications/inbox/stream', account, {
        signal: gone.signal,
        onEvent: (e) => setState((s) => ({ there: true, unread: e.unread_count, latest: e.notification?.id ?? s.latest })),
      });
    }).catch(() => {});
    return () => gone.abort();
  }, [account]);
  return state;
}

const tab = crypto.randomUUID?.() ?? String(Math.random());

// Reports the thread that this tab shows, so that the server sends no notification about it.
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
      {first && all.length === 0 && <p>No notifications yet.</p>}
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
export const workflowNames = { 'welcome-email': 'Welcome', 'task-completed': 'Task completed', 'task-failed': 'Task failed', 'payment-succeeded': 'Payment received', 'payment-failed': 'Payment failed', 'credits-low': 'Credits low', 'referral-successful': 'Friend joined', 'approval-requested': 'Approval needed', promotional: 'News' };

const digests = [[0, 'Off'], [15, '15 minutes'], [60, '1 hour'], [1440, '1 day']];
const taskWorkflows = ['task-completed', 'task-failed'];
const lengths = [[0, 'Any length'], [1, '1 min or more'], [5, '5 min or more'], [15, '15 min or more'], [60, '1 hour or more']];
// Clients of the API can choose any number of minutes.
const options = (known, chosen) => (chosen === undefined || known.some(([m]) => m === chosen) ? known : [...known, [chosen, `${chosen} min`]])
  .map(([m, label]) => <option key={m} value={m}>{label}</option>);

const zones = Intl.supportedValuesOf?.('timeZone') ?? [];

function Settings() {
  const [all, error, reload] = useLoaded(async () => {
    const [s, p] = await Promise.all([api.get('/notifications/settings'), api.get('/notifications/preferences')]);
    return { ...s.settings, ...p.preferences };
  }, []);
  const [busy, problem, save] = useAction(async (path, body) => { await api.change(path, body); reload(); });
  const [saved, setSaved] = useState(false);
  const saveQuietHours = onSubmit(async (f) => {
    setSaved(false);
    await save('/notifications/preferences', { time_zone: f.zone, quiet_hours: f.from && f.to ? { from: f.from, to: f.to } : null });
    setSaved(true);
  });
  if (!all) return <Problem error={error} />;
  const setPreference = (id, change) => save('/notifications/preferences', { workflows: { [id]: change } });
  const zone = all.time_zone === 'UTC' && !all.quiet_hours ? Intl.DateTimeFormat().resolvedOptions().timeZone : all.time_zone;
  return (
    <>
      <Problem error={error ?? problem} />
      <fieldset class="switches">
        <legend>Send me notifications by</legend>
        {channels.map(([c, label]) => (
          <label key={c}><input type="checkbox" checked={all[`${c}_enabled`]} disabled={busy}
            onChange={(e) => save('/notifications/settings', { [`${c}_enabled`]: e.currentTarget.checked })} />{label}</label>
        ))}
      </fieldset>
      <div class="table" tabIndex={0} role="region" aria-label="Notification settings by kind">
        <table class="preferences">
          <thead><tr><th scope="col">Notification</th>{channels.map(([c, label]) => <th key={c} scope="col">{label}</th>)}<th scope="col">Digest</th><th scope="col">E-mail for runs of</th></tr></thead>
          <tbody>{Object.entries(all.workflows).filter(([id]) => id !== 'welcome-email').map(([id, w]) => (
            <tr key={id}><th scope="row">{workflowNames[id] ?? id}</th>
              {channels.map(([c, label]) => (
                <td key={c} data-label={label}><input type="checkbox" aria-label={`${workflowNames[id] ?? id}: ${label}`} checked={w[c] || w.mandatory} disabled={busy || w.mandatory}
                  aria-describedby={c === 'email' && w.unsubscribed ? `${id}-unsubscribed` : undefined}
                  onChange={(e) => setPreference(id, { [c]: e.currentTarget.checked })} />
                  {c === 'email' && w.unsubscribed && <span class="hint" id={`${id}-unsubscribed`}>You unsubscribed with the link in an e-mail.</span>}</td>
              ))}
              <td data-label="Digest"><select aria-label={`${workflowNames[id] ?? id}: digest`} value={w.digest_minutes} disabled={busy || w.urgent}
                onChange={(e) => setPreference(id, { digest_minutes: Number(e.currentTarget.value) })}>
                {options(digests, w.digest_minutes)}
              </select></td>
              <td data-label="E-mail for runs of">{taskWorkflows.includes(id) && <select aria-label={`${workflowNames[id] ?? id}: e-mail for runs of`} value={w.min_minutes ?? ''} disabled={busy || !w.email}
                onChange={(e) => setPreference(id, { min_minutes: e.currentTarget.value === '' ? null : Number(e.currentTarget.value) })}>
                <option value="">Default length</option>
                {options(lengths, w.min_minutes)}
              </select>}</td></tr>
          ))}</tbody>
        </table>
      </div>
      <h3>Quiet hours</h3>
      <form onSubmit={saveQuietHours}>
        <p class="hint">E-mails and push messages wait until the quiet hours are over. The inbox is not affected.</p>
        <div class="pair">
          <Field label="From" name="from" type="time" defaultValue={all.quiet_hours?.from ?? ''} />
          <Field label="To" name="to" type="time" defaultValue={all.quiet_hours?.to ?? ''} />
        </div>
        <Field label="Time zone" name="zone" required defaultValue={zone} list="zones" autoComplete="off" />
        <datalist id="zones">{zones.map((z) => <option key={z} value={z} />)}</datalist>
        <button disabled={busy}>Save</button>
        {saved && !problem && <p class="hint" role="status">Saved.</p>}
      </form>
    </>
  );
}

const deviceNames = { 'web-push': 'Browser', expo: 'App' };

function Devices() {
  const [list, error, reload] = useFresh(() => api.get('/notifications/device-token'));
  const [busy, problem, remove] = useAction(async (id) => {
    await api.remove(`/notifications/device-token/${encodeURIComponent(id)}`);
    reload();
  });
  if (!list?.devices.length) return <Problem error={error} />;
  return (
    <>
      <h3>Devices that receive push messages</h3>
      <Problem error={error ?? problem} />
      <ul class="plain">{list.devices.map((d) => (
        <li key={d.id}><span class="agent">{deviceNames[d.provider] ?? d.provider}</span>
          <span class="hint">registered <Time at={d.registered_at} /></span>
          <button type="button" class="link" disabled={busy} onClick={() => remove(d.id)}>Remove</button></li>
      ))}</ul>
    </>
  );
}

function Browser() {
  const [state, error, reload] = useLoaded(browser.currentState, []);
  const [busy, problem, act] = useAction(async (what) => { await what(); reload(); });
  if (!error && (state === null || state === 'none')) return null;
  return (
    <>
      <h3>This browser</h3>
      <Problem error={error ?? problem} />
      {error && <button type="button" onClick={reload}>Try again</button>}
      <p class="hint">Get push messages in this browser, even while this page is closed.</p>
      {state === 'denied' && <p class="hint">This browser blocks notifications from this page. Allow them in the settings of the browser.</p>}
      {state === 'off' && <button type="button" disabled={busy} onClick={() => act(browser.turnOn)}>Turn on push messages</button>}
      {state === 'on' && <button type="button" disabled={busy} onClick={() => act(browser.turnOff)}>Turn off push messages</button>}
    </>
  );
}

export function Inbox({ inbox }) {
  return (
    <section>
      <Title>Inbox</Title>
      <Entries inbox={inbox} />
      <h2>Notification settings</h2>
      <Settings />
      <Browser />
      <Devices />
    </section>
  );
}
