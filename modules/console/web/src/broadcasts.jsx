// Broadcasts for admins: a message to all accounts with a preview, and the list of broadcasts.
import { useRef, useState } from 'preact/hooks';
import * as api from './api.js';
import { Field, Problem, Status, Time, useAction, useFresh, wordOf } from './ui.jsx';

const accounts = (n) => `${n} ${n === 1 ? 'account' : 'accounts'}`;

// The current local time in the format of a datetime-local input.
function localMinute() {
  const now = new Date();
  return new Date(now - now.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

function read(form) {
  const f = Object.fromEntries(new FormData(form));
  return {
    body: { workflow_id: f.workflow, broadcast: true, payload_template: { title: f.title, message: f.message, action_url: f.url, action_label: f.label } },
    at: f.at ? new Date(f.at).toISOString() : null,
  };
}

function Preview({ of: { audience: a, sample } }) {
  return (
    <>
      <h3>Preview</h3>
      <p>{a.accounts === 1 ? 'There is 1 account' : `There are ${a.accounts} accounts`}. Based on their settings, {a.email} will get the broadcast by e-mail, {a.push} by push and {a.in_app} in the inbox.</p>
      <div class="card sample">
        <p class="what">{sample.title}</p>
        {sample.body && <p>{sample.body}</p>}
        {sample.action_url && <p class="hint">{sample.action_url}</p>}
      </div>
      <details><summary>Text of the e-mail</summary><pre tabIndex={0}>{sample.mail_text.replace('{{unsubscribe_url}}', '(link)')}</pre></details>
    </>
  );
}

export function Composer({ created }) {
  const form = useRef(null);
  // The previewed message is the one that is sent; any change of the form discards it.
  const [checked, setChecked] = useState(null);
  const [message, setMessage] = useState(null);
  const [busy, problem, act] = useAction(async (what) => { setMessage(null); await what(); });
  const trigger = (body, more) => api.call('/admin/notifications/trigger', { ...body, ...more });
  const check = async () => {
    const draft = read(form.current);
    setChecked({ ...draft, ...await trigger(draft.body, { dry_run: true }) });
  };
  const test = async () => {
    const r = await trigger(read(form.current).body, { test: true });
    setMessage(r.success ? 'The test message is on its way to you.' : `The test message was not sent: ${r.reason}.`);
  };
  const send = async () => {
    const r = await trigger(checked.body, checked.at ? { scheduled_at: checked.at } : {});
    setMessage(checked.at ? 'The broadcast is scheduled.' : 'The broadcast has started.');
    setChecked(null);
    form.current.reset();
    created(r.broadcast_id);
  };
  return (
    <>
      <Problem error={problem} />
      <form ref={form} onInput={() => setChecked(null)} onSubmit={(e) => { e.preventDefault(); act(check); }}>
        <Field label="Title" name="title" required maxLength={200} hint="The title and the message can contain {{first_name}}, {{name}} and {{email}}." />
        <Field as="textarea" rows={4} label="Message" name="message" />
        <div class="pair">
          <Field label="Link (optional)" name="url" type="url" placeholder="https://" />
          <Field label="Text of the link" name="label" maxLength={100} />
        </div>
        <div class="pair">
          <Field label="Send at (optional)" name="at" type="datetime-local" min={localMinute()} hint="In the time zone of this browser. Leave empty to send immediately." />
          <Field label="Workflow" name="workflow" required pattern="[a-z0-9][a-z0-9_\-]{0,63}" defaultValue="promotional" hint="Users can turn off e-mails by workflow." />
        </div>
        <div class="row start">
          <button class={checked ? undefined : 'primary'} disabled={busy}>Preview</button>
          <button type="button" disabled={busy} onClick={() => form.current.reportValidity() && act(test)}>Send a test to me</button>
        </div>
        {checked && <Preview of={checked} />}
        {checked && <p><button type="button" class="primary" disabled={busy} onClick={() => act(send)}>
          {checked.at ? 'Schedule for' : 'Send to'} {accounts(checked.audience.accounts)}</button></p>}
      </form>
      <p role="status" class={message ? 'note good' : 'unseen'}>{message}</p>
    </>
  );
}

const settled = (states) => Object.entries(states).reduce((n, [state, count]) => n + (state === 'queued' || state === 'gathered' ? 0 : count), 0);

function Progress({ of: b }) {
  const done = settled(b.notifications);
  return (
    <div class="wide">
      {b.written > 0 && <progress aria-label="Progress" max={b.written} value={done} />}
      <p class="hint">{b.written === 0 ? 'No account has been reached yet.' : `${done} of ${accounts(b.written)} done.`}
        {b.status === 'running' && b.written > 0 && ' More accounts are being added.'}
        {' '}{Object.entries(b.notifications).map(([state, n]) => `${wordOf(state)}: ${n}`).join(', ')}</p>
    </div>
  );
}

const actionLabels = { pause: 'Pause', resume: 'Resume' };

function Broadcast({ b, open, toggle, changed }) {
  const [full, error] = useFresh(() => (open ? api.get(`/admin/notifications/broadcasts/${b.id}`) : Promise.resolve(null)), [open, b.status]);
  const [asksToCancel, setAsksToCancel] = useState(false);
  const [busy, problem, changeState] = useAction(async (action) => {
    setAsksToCancel(false);
    try { await api.call(`/admin/notifications/broadcasts/${b.id}/${action}`); } finally { changed(); }
  });
  const title = b.payload_template.title || b.workflow_id;
  const hasWaiting = full && settled(full.notifications) < full.written;
  const active = ['scheduled', 'running', 'paused'].includes(b.status) || (b.status === 'completed' && hasWaiting);
  const button = (action) => <button type="button" class="link" disabled={busy} aria-label={`${actionLabels[action]}: ${title}`} onClick={() => changeState(action)}>{actionLabels[action]}</button>;
  return (
    <li>
      <span class="agent"><strong>{title}</strong></span><Status of={b.status} />
      <span class="hint wide">{b.status === 'scheduled' ? <>Starts <Time at={b.scheduled_at} /></> : <>Created <Time at={b.created_at} /></>}</span>
      <span class="acts">
        <button type="button" class="link" aria-expanded={open} aria-label={`Details: ${title}`} onClick={toggle}>Details</button>
        {active && b.status !== 'paused' && button('pause')}
        {b.status === 'paused' && button('resume')}
        {active && !asksToCancel && <button type="button" class="link" disabled={busy} aria-label={`Cancel: ${title}`} onClick={() => setAsksToCancel(true)}>Cancel</button>}
      </span>
      {asksToCancel && (
        <span class="acts wide" role="group" aria-label={`Cancel: ${title}`}>
          Cancel this broadcast? Messages that have not been sent are withdrawn.
          <button type="button" class="danger" onClick={() => changeState('cancel')}>Cancel the broadcast</button>
          <button type="button" onClick={() => setAsksToCancel(false)}>Keep it</button>
        </span>
      )}
      {(problem ?? error) && <div class="wide"><Problem error={problem ?? error} /></div>}
      {open && full && <Progress of={full} />}
    </li>
  );
}

export function Broadcasts({ newest }) {
  const [list, error, reload] = useFresh(() => api.get('/admin/notifications/broadcasts?limit=20'), [newest]);
  const [open, setOpen] = useState(null);
  const shown = open ?? newest;
  return (
    <>
      <Problem error={error} />
      {!list && !error && <p role="status">Loading…</p>}
      {list?.broadcasts.length === 0 && <p>No broadcasts yet.</p>}
      <ul class="plain broadcasts">{list?.broadcasts.map((b) => (
        <Broadcast key={b.id} b={b} open={shown === b.id} toggle={() => setOpen(shown === b.id ? '' : b.id)} changed={reload} />
      ))}</ul>
      {list?.next_cursor && <p class="hint">Only the newest 20 are shown.</p>}
    </>
  );
}
