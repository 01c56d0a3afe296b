// The pages to start a run, to list threads, and for the account.
import { useState } from 'preact/hooks';
import * as api from './api.js';
import { Compose } from './compose.jsx';
import { Field, Problem, Status, Time, Title, credits, onSubmit, useAction, useLoaded } from './ui.jsx';

export const Start = ({ started }) => (
  <section>
    <Title text="New run">What should the agent do?</Title>
    <Compose started={started} label="Task" />
  </section>
);

export function Threads() {
  const [more, setMore] = useState([]);
  const [first, error] = useLoaded(() => api.get('/threads?limit=30'), []);
  const cursor = more.length ? more.at(-1).next_cursor : first?.next_cursor;
  const [busy, problem, next] = useAction(async () => {
    const page = await api.get(`/threads?limit=30&cursor=${encodeURIComponent(cursor)}`);
    setMore([...more, page]);
  });
  const all = [...(first?.threads ?? []), ...more.flatMap((p) => p.threads)];
  return (
    <section>
      <Title>Threads</Title>
      <Problem error={error ?? problem} />
      {!first && !error && <p role="status">Loading…</p>}
      {first && all.length === 0 && <p>There are no threads yet. <a href="#/">Start a run</a>.</p>}
      {all.length > 0 && (
        <ul class="threads">
          {all.map((t) => (
            <li key={t.thread_id}><a href={`#/threads/${t.thread_id}`}><span class="title">{t.title || 'Untitled'}</span>
              <span class="hint">{t.latest_run && <Status of={t.latest_run.status} />}<Time at={t.created_at} /></span></a></li>
          ))}
        </ul>
      )}
      {cursor && <button type="button" onClick={next} disabled={busy}>More</button>}
    </section>
  );
}

function ChangePassword({ min }) {
  const [done, setDone] = useState(false);
  const [busy, error, act] = useAction(async (form) => {
    await api.call('/auth/password', form);
    setDone(true);
  });
  if (done) return <p class="note good" role="status">Your password was changed. All other sessions have ended.</p>;
  return (
    <form onSubmit={onSubmit(act)}>
      <Problem error={error} />
      <Field label="Current password" name="current_password" type="password" required autoComplete="current-password" />
      <Field label="New password" name="new_password" type="password" required minLength={min} autoComplete="new-password" hint={`At least ${min} characters.`} />
      <button disabled={busy}>Change password</button>
    </form>
  );
}

const firstOf = (text, names) => names.find(([, pattern]) => pattern.test(text))?.[0];

// The browser and system of a User-Agent header, such as "Chrome on Linux"; the header itself if they are unknown.
function programOf(agent) {
  const program = firstOf(agent, [['Edge', /Edg\//], ['Opera', /OPR\//], ['Chrome', /Chrome\//], ['Firefox', /Firefox\//], ['Safari', /Safari\//]]);
  const system = firstOf(agent, [['Android', /Android/], ['iPhone', /iPhone/], ['iPad', /iPad/], ['macOS', /Mac OS X/], ['Windows', /Windows/], ['Linux', /Linux/]]);
  return program && system ? `${program} on ${system}` : agent || 'Unknown program';
}

function Sessions() {
  const [list, error, reload] = useLoaded(() => api.get('/auth/sessions'), []);
  const [busy, problem, end] = useAction(async (id) => {
    await api.remove(`/auth/sessions/${id}`);
    reload();
  });
  return (
    <>
      <Problem error={error ?? problem} />
      <ul class="plain">
        {list?.sessions.map((s) => (
          <li key={s.id}><span class="agent">{programOf(s.user_agent)}</span>
            <span class="hint">{s.present ? 'this session' : <>last used <Time at={s.last_used_at} /></>}</span>
            {!s.present && <button type="button" class="link" disabled={busy} onClick={() => end(s.id)}>End</button>}</li>
        ))}
      </ul>
    </>
  );
}

export function Account({ me, config, logOut }) {
  const limits = me.limits;
  return (
    <section>
      <Title>Account</Title>
      <dl class="facts">
        <div><dt>Credits</dt><dd class="big">{credits(me.balance_credits)}</dd></div>
        <div><dt>Plan</dt><dd>{me.tier}</dd></div>
        <div><dt>Concurrent runs</dt><dd>{limits.concurrent_runs}</dd></div>
        <div><dt>Models</dt><dd>{limits.all_models ? 'all' : limits.models.join(', ')}</dd></div>
        <div class="wide"><dt>E-mail</dt><dd>{me.email ?? '–'}{me.email && !me.email_verified && <span class="hint"> not verified</span>}</dd></div>
      </dl>
      {config.local_login && api.hasSession() && (
        <>
          <h2>Password</h2>
          <ChangePassword min={config.min_password} />
          <h2>Sessions</h2>
          <Sessions />
        </>
      )}
      <p class="other"><button type="button" onClick={logOut}>Log out</button></p>
    </section>
  );
}
