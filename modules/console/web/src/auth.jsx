// Sign-up, log-in, and the pages that links in e-mails open.
import { useEffect, useState } from 'preact/hooks';
import * as api from './api.js';
import { Field, Problem, Title, onSubmit, useAction } from './ui.jsx';

// The proof is stored so that the link of the e-mail, if opened in this browser, does not ask for the password.
const proofKey = 'ry_sign_up';

const codeInLink = () => (new URLSearchParams(location.search).get('ref') ?? '').trim().toUpperCase().slice(0, 64);

const Password = ({ min, fresh, name = 'password', label = 'Password' }) => (
  <Field label={label} name={name} type="password" required maxLength={1024}
    minLength={fresh ? min : undefined} autoComplete={fresh ? 'new-password' : 'current-password'}
    hint={fresh ? `At least ${min} characters.` : undefined} />
);
const Email = () => <Field label="E-mail address" name="email" type="text" inputMode="email" required maxLength={320} autoComplete="username" spellcheck={false} autocapitalize="off" />;
const Submit = ({ busy, children }) => <button class="primary wide" disabled={busy} aria-busy={busy}>{children}</button>;

function Invited({ code }) {
  const [valid, setValid] = useState(null);
  const [paid, setPaid] = useState(true);
  useEffect(() => {
    if (code) api.post('/api/v1/referrals/validate', { code }).then((r) => { setValid(r.valid); setPaid(r.credits !== 0); }, () => setValid(null));
  }, [code]);
  if (!code) return null;
  return (
    <div class={`note ${valid === false ? 'warn' : 'good'}`} role="status">
      {valid === false
        ? <p>The referral code <code>{code}</code> is no longer valid. You can sign up without it.</p>
        : <p>You were invited. The referral code <code>{code}</code> will be applied{valid && paid && ': you and your friend both get credits'}.</p>}
    </div>
  );
}

function SignUp({ config, go, enter, code }) {
  const [busy, error, act] = useAction(async (form) => {
    const answer = await api.post('/auth/sign-up', {
      email: form.email, password: form.password, name: form.name || undefined,
      referral_code: form.referral_code || undefined, setup_code: form.setup_code || undefined, session: 'cookie',
    });
    if (answer.access_token) { api.accept(answer); enter(); return; }
    localStorage.setItem(proofKey, answer.proof);
    go('sent', form.email);
  });
  return (
    <form onSubmit={onSubmit(act)} noValidate={false}>
      <Title text="Sign up">Create an account</Title>
      <Invited code={code} />
      <Problem error={error} />
      {config.setup && <Field label="Setup code" name="setup_code" required maxLength={128} autoComplete="off" spellcheck={false}
        hint="Printed in the terminal by ./quickstart. The first account becomes the administrator of this server." />}
      <Email />
      <Password fresh min={config.min_password} />
      <Field label="Name (optional)" name="name" maxLength={200} autoComplete="name" />
      {code ? <input type="hidden" name="referral_code" value={code} />
        : <Field label="Referral code (optional)" name="referral_code" maxLength={64} autoComplete="off" spellcheck={false} />}
      <Submit busy={busy}>Sign up</Submit>
      <p class="other">Already have an account? <button type="button" class="link" onClick={() => go('log-in')}>Log in</button></p>
    </form>
  );
}

function LogIn({ config, go, enter }) {
  const [busy, error, act] = useAction(async (form) => {
    api.accept(await api.post('/auth/log-in', { ...form, session: 'cookie' }));
    enter();
  });
  return (
    <form onSubmit={onSubmit(act)}>
      <Title>Log in</Title>
      <Problem error={error} />
      <Email />
      <Password />
      <Submit busy={busy}>Log in</Submit>
      <p class="other">
        <button type="button" class="link" onClick={() => go('sign-up')}>Create an account</button>
        {config.verify === 'email' && <button type="button" class="link" onClick={() => go('forgot')}>Forgot your password?</button>}
      </p>
    </form>
  );
}

function Forgot({ go }) {
  const [busy, error, act] = useAction(async (form) => {
    await api.post('/auth/reset', form);
    go('reset-sent', form.email);
  });
  return (
    <form onSubmit={onSubmit(act)}>
      <Title>Choose a new password</Title>
      <p>We will send you an e-mail with a link.</p>
      <Problem error={error} />
      <Email />
      <Submit busy={busy}>Send the link</Submit>
      <p class="other"><button type="button" class="link" onClick={() => go('log-in')}>Back to log-in</button></p>
    </form>
  );
}

const Sent = ({ to, go, children }) => (
  <div>
    <Title>Check your inbox</Title>
    <p>We are sending a message to <strong>{to}</strong>. {children}</p>
    <p class="hint">Nothing after a few minutes? Check your spam folder, or try again.</p>
    <p class="other"><button class="link" onClick={() => go('log-in')}>Back to log-in</button></p>
  </div>
);

function Verify({ token, enter, go }) {
  const [ask, setAsk] = useState(false);
  const [busy, error, act] = useAction(async (form) => {
    const proof = form ? undefined : localStorage.getItem(proofKey) ?? undefined;
    try {
      api.accept(await api.post('/auth/verify', { token, proof, password: form?.password, session: 'cookie' }));
    } catch (e) {
      if (e.code !== 'PASSWORD_REQUIRED') throw e;
      setAsk(true);
      return;
    }
    localStorage.removeItem(proofKey);
    enter();
  });
  useEffect(() => {
    if (localStorage.getItem(proofKey)) act();
    else setAsk(true);
  }, [token]);
  const linkInvalid = error?.code === 'LINK_NOT_VALID';
  return (
    <form onSubmit={onSubmit(act)}>
      <Title>Confirm your address</Title>
      <Problem error={error} />
      {linkInvalid && <p>A link works once and for a limited time. If you have already confirmed your address, log in; otherwise, sign up again.</p>}
      {ask && !linkInvalid && <p>To finish, enter the password that you chose when you signed up.</p>}
      {ask && !linkInvalid && <Password />}
      {ask && !linkInvalid && <Submit busy={busy}>Confirm and log in</Submit>}
      {!ask && !error && <p role="status">One moment…</p>}
      {linkInvalid && <p class="other"><button type="button" class="link" onClick={() => go('log-in')}>Log in</button><button type="button" class="link" onClick={() => go('sign-up')}>Sign up</button></p>}
    </form>
  );
}

function Reset({ token, config, enter, go }) {
  const [busy, error, act] = useAction(async (form) => {
    api.accept(await api.post('/auth/reset/complete', { token, password: form.password, session: 'cookie' }));
    enter();
  });
  return (
    <form onSubmit={onSubmit(act)}>
      <Title>Choose a new password</Title>
      <Problem error={error} />
      <Password fresh min={config.min_password} label="New password" />
      <p class="hint">This ends all other sessions.</p>
      <Submit busy={busy}>Save and log in</Submit>
      {error?.code === 'LINK_NOT_VALID' && <p class="other"><button type="button" class="link" onClick={() => go('forgot')}>Request a new link</button></p>}
    </form>
  );
}

function PasteToken({ enter, code }) {
  const [busy, error, act] = useAction(async (form) => {
    await api.usePasted(form.token.trim());
    enter();
  });
  return (
    <form onSubmit={onSubmit(act)}>
      <Title>Log in</Title>
      <p>Log in with an access token from your identity provider or with an API key.</p>
      {code && <p class="note good">You were invited. Enter the referral code <code>{code}</code> when you sign up there.</p>}
      <Problem error={error} />
      <Field label="Access token or API key" name="token" type="password" required autoComplete="off" />
      <Submit busy={busy}>Log in</Submit>
      <p class="hint">It is stored in this tab only.</p>
    </form>
  );
}

function viewOfLink() {
  const hash = new URLSearchParams(location.hash.slice(1));
  for (const kind of ['verify', 'reset']) if (hash.get(kind)) return { name: kind, with: hash.get(kind) };
  return null;
}

export function Auth({ config, enter }) {
  const code = codeInLink();
  const [view, setView] = useState(() => viewOfLink() ?? { name: code ? 'sign-up' : 'log-in' });
  useEffect(() => {
    // Remove the token of a link from the URL and the history.
    const removeToken = () => { if (location.hash) history.replaceState(null, '', location.pathname + location.search); };
    // If this page is already open, opening a link changes only the hash.
    const onHashChange = () => { const next = viewOfLink(); if (next) setView(next); removeToken(); };
    addEventListener('hashchange', onHashChange);
    onHashChange();
    return () => removeEventListener('hashchange', onHashChange);
  }, []);
  const go = (name, value) => setView({ name, with: value });
  const props = { config, go, enter, code };
  return (
    <main class="auth">
      <p class="brand"><span class="mark" aria-hidden="true" />Runyard</p>
      <div class="card">
        {!config.local_login ? <PasteToken {...props} />
          : view.name === 'sign-up' ? <SignUp {...props} />
          : view.name === 'forgot' ? <Forgot {...props} />
          : view.name === 'sent' ? <Sent to={view.with} go={go}>Open the link in it to finish signing up.</Sent>
          : view.name === 'reset-sent' ? <Sent to={view.with} go={go}>If this address has an account, the link lets you choose a new password.</Sent>
          : view.name === 'verify' ? <Verify token={view.with} {...props} />
          : view.name === 'reset' ? <Reset token={view.with} {...props} />
          : <LogIn {...props} />}
      </div>
    </main>
  );
}
