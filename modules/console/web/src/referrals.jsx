// The referral link, invitations, and the history of referrals.
import { useRef, useState } from 'preact/hooks';
import * as api from './api.js';
import { Problem, Status, Time, Title, credits, onSubmit, useAction, useLoaded } from './ui.jsx';

function Link({ code, link }) {
  const [note, setNote] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link);
      setNote('Copied.');
    } catch {
      setNote('Select the link and copy it.');
    }
  };
  return (
    <div class="share">
      <label for="link">Your link</label>
      <div class="row"><input id="link" readOnly value={link} onFocus={(e) => e.currentTarget.select()} />
        <button type="button" onClick={copy}>Copy</button></div>
      <p class="hint" role="status">{note || <>Your code is <code>{code}</code>.</>}</p>
    </div>
  );
}

function Invite({ sent }) {
  const [results, setResults] = useState(null);
  const text = useRef(null);
  const [busy, error, act] = useAction(async (form) => {
    setResults(null);
    const emails = form.emails.split(/[\s,;]+/).filter(Boolean);
    if (emails.length === 0) return;
    const answer = await api.call('/api/v1/referrals/send-bulk', { emails });
    setResults(answer);
    // Leave only the addresses that failed, so that the user can correct them.
    text.current.value = answer.results.filter((r) => !r.success).map((r) => r.email).join('\n');
    sent();
  });
  return (
    <form onSubmit={onSubmit(act)}>
      <Problem error={error} />
      <div class="field">
        <label for="emails">E-mail addresses</label>
        <textarea id="emails" name="emails" rows={2} required ref={text} spellcheck={false} aria-describedby="emails-hint" />
        <p class="hint" id="emails-hint">Separate several addresses with commas or line breaks.</p>
      </div>
      <button class="primary" disabled={busy} aria-busy={busy}>{busy ? 'Sending…' : 'Send invitations'}</button>
      {results && (
        <div role="status"><p>{results.message}</p>
          <ul class="plain">{results.results.map((r) => <li><span>{r.email}</span><span class={r.success ? 'hint' : 'bad'}>{r.message}</span></li>)}</ul></div>
      )}
    </form>
  );
}

// Reasons for which the referred account gets no credits.
const reasonsWithoutCredits = ['same_mailbox', 'void', 'cap_reached'];

// The account's own sign-up with a referral code, and its credits.
function Received({ received: r }) {
  const outcome = reasonsWithoutCredits.includes(r.reason) ? 'You signed up with a referral code, but you will not receive credits for it.'
    : r.status === 'successful' ? `You received ${credits(r.credits)} credits for signing up with a referral code.`
    : `You signed up with a referral code. Your ${credits(r.bonus_credits)} credits are pending.`;
  return (
    <>
      <h2>Your sign-up</h2>
      <p>{outcome}</p>
      {r.message && <p class="hint">{r.message}.</p>}
    </>
  );
}

// The status that is shown for reasons that are final.
const finalStatus = { revoked: 'revoked', code_refreshed: 'void', self_referral: 'void', disposable_address: 'void' };
const pageSize = 50;
const historyFrom = (offset) => api.get(`/api/v1/referrals/history?limit=${pageSize}&offset=${offset}`);

export function Referrals() {
  const [older, setOlder] = useState([]);
  const [all, error, reload] = useLoaded(async () => {
    const [mine, stats, { received }, history] = await Promise.all([api.get('/api/v1/referrals/code'), api.get('/api/v1/referrals/stats'),
      api.get('/api/v1/referrals/received'), historyFrom(0)]);
    setOlder([]);
    // If the server does not know its public URL, use the URL of this page.
    return { link: mine.referral_link ?? new URL(`auth?ref=${mine.referral_code}`, document.baseURI).href, stats, received, history };
  }, []);
  const history = [...(all?.history ?? []), ...older.flat()];
  const [busy, problem, more] = useAction(async () => setOlder([...older, await historyFrom(history.length)]));
  if (error?.status === 404) return <section><Title>Referrals</Title><p>This server has no referral program.</p></section>;
  const s = all?.stats;
  return (
    <section>
      <Title>Referrals</Title>
      <Problem error={error ?? problem} />
      {!all && !error && <p role="status">Loading…</p>}
      {all && (
        <>
          <p>{s.has_reached_limit ? 'You have reached the limit: further invitations earn no credits.'
            : 'Invite a friend: you both get credits once their sign-up qualifies.'}</p>
          <Link code={s.referral_code} link={all.link} />
          {all.received && <Received received={all.received} />}
          <h2>Invite by e-mail</h2>
          <Invite sent={reload} />
          <h2>Your referrals</h2>
          <dl class="facts">
            <div><dt>Credits earned</dt><dd class="big">{credits(s.total_credits_earned)}</dd></div>
            <div><dt>Successful</dt><dd>{s.successful_referrals} of {s.total_referrals}</dd></div>
            <div><dt>Remaining</dt><dd>{credits(s.remaining_earnable_credits)} of {credits(s.max_earnable_credits)}</dd></div>
          </dl>
          {history.length > 0 ? (
            <div class="table" tabIndex={0} role="region" aria-label="History of referrals">
              <table>
                <thead><tr><th scope="col">When</th><th scope="col">Status</th><th scope="col" class="number">Credits</th></tr></thead>
                <tbody>{history.map((r) => (
                  <tr key={r.id}><td><Time at={r.referred_at} /></td>
                    <td><Status of={finalStatus[r.reason] ?? r.status} />{r.message && <p class="hint why">{r.message}.</p>}</td>
                    <td class="number">{credits(r.credits_awarded)}</td></tr>
                ))}</tbody>
              </table>
            </div>
          ) : <p class="hint">Your code has not been used yet.</p>}
          {history.length > 0 && history.length % pageSize === 0 && (older.length === 0 || older.at(-1).length > 0) && <button type="button" onClick={more} disabled={busy}>More</button>}
        </>
      )}
    </section>
  );
}
