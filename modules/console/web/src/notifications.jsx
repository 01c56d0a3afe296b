// Notifications of all accounts for admins: broadcasts, messages to one account, and the delivery state.
import { useState } from 'preact/hooks';
import * as api from './api.js';
import { Broadcasts, Composer } from './broadcasts.jsx';
import { workflowNames } from './inbox.jsx';
import { Field, Problem, Rows, Status, Time, Title, onSubmit, short, useAction, useFresh, useLoaded } from './ui.jsx';

const channelNames = { email: 'E-mail', push: 'Push', in_app: 'Inbox' };

function MessageToOne() {
  const [message, setMessage] = useState(null);
  const [busy, problem, send] = useAction((body) => api.call('/admin/notifications/trigger', body));
  const submit = onSubmit(async (f) => {
    setMessage(null);
    const r = await send({ workflow_id: 'promotional', subscriber_email: f.to, payload_template: { title: f.title, message: f.message, action_url: f.url } });
    if (r) setMessage(r.success ? 'The message is on its way.' : `The message was not sent: ${r.reason}.`);
  });
  return (
    <form onSubmit={submit}>
      <Problem error={problem} />
      <Field label="E-mail address of the account" name="to" type="email" required />
      <Field label="Title" name="title" required maxLength={200} />
      <Field as="textarea" rows={3} label="Message" name="message" />
      <Field label="Link (optional)" name="url" type="url" placeholder="https://" />
      <button disabled={busy}>Send</button>
      <p role="status" class={message ? 'note good' : 'unseen'}>{message}</p>
    </form>
  );
}

// The delivery state of one notification, per channel.
function Deliveries({ id, changed }) {
  const [all, error] = useLoaded(() => api.get(`/admin/notifications/${id}`), [id, changed]);
  return (
    <>
      <Problem error={error} />
      {all && all.deliveries.length === 0 && <p class="hint">Nothing has happened yet.</p>}
      <ul class="plain">{all?.deliveries.map((d, n) => (
        <li key={n} class="hint">{channelNames[d.channel]}: {d.status}{d.provider && ` (${d.provider})`}{d.detail && `: ${d.detail}`}</li>
      ))}</ul>
    </>
  );
}

function History() {
  const [list, error, reload] = useFresh(() => api.get('/admin/notifications?limit=30'));
  const [open, setOpen] = useState(null);
  const [busy, problem, act] = useAction(async (n, what) => {
    try { await api.call(`/admin/notifications/${n.id}/${what}`); } finally { reload(); }
  });
  const isWaiting = (n) => n.status === 'queued' || n.status === 'gathered';
  return (
    <>
      <Problem error={error ?? problem} />
      <Rows label="Notifications of all accounts" rows={list?.notifications} id={(n) => n.id} none="No notifications yet." columns={[
        ['Time', (n) => <Time at={n.created_at} />], ['Notification', (n) => workflowNames[n.workflow_id] ?? n.workflow_id],
        ['Account', (n) => short(n.account_id)],
        ['Status', (n) => <><Status of={n.status} />{n.reason && <p class="hint why">{n.reason}</p>}
          {open === n.id && <Deliveries id={n.id} changed={list} />}</>],
        ['Actions', (n) => (
          <span class="acts">
            <button type="button" class="link" aria-expanded={open === n.id} onClick={() => setOpen(open === n.id ? null : n.id)}>Details</button>
            {isWaiting(n) && <button type="button" class="link" disabled={busy} onClick={() => act(n, 'cancel')}>Cancel</button>}
            {(n.status === 'dead' || n.status === 'failed') && <button type="button" class="link" disabled={busy} onClick={() => act(n, 'requeue')}>Try again</button>}
          </span>
        )]]} />
      {list?.next_cursor && <p class="hint">Only the newest 30 are shown.</p>}
    </>
  );
}

export function Notifications() {
  const [newest, setNewest] = useState(null);
  return (
    <section class="wide">
      <Title>Notifications</Title>
      <div class="columns">
        <div>
          <h2>New broadcast</h2>
          <Composer created={setNewest} />
        </div>
        <div>
          <h2>Broadcasts</h2>
          <Broadcasts newest={newest} />
          <h2>Message to one account</h2>
          <MessageToOne />
        </div>
      </div>
      <h2>All notifications</h2>
      <History />
    </section>
  );
}
