// The page: the login state and the navigation. Parts of the page have hashes as addresses, so that one document serves all.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import * as api from './api.js';
import { Auth } from './auth.jsx';
import { turnOff } from './browser.js';
import { Inbox, useInbox } from './inbox.jsx';
import { Notifications } from './notifications.jsx';
import { Operations, isAdmin } from './operations.jsx';
import { Account, Start, Threads } from './pages.jsx';
import { Referrals } from './referrals.jsx';
import { Thread } from './thread.jsx';
import { Guard, credits } from './ui.jsx';

const isAuth = () => /\/auth$/.test(location.pathname);
const placeOf = () => location.hash.replace(/^#\/?/, '').split('/');

const places = [['', 'New run'], ['threads', 'Threads'], ['referrals', 'Referrals'], ['account', 'Account']];

function Console({ config, leave }) {
  const [place, setPlace] = useState(placeOf());
  const [me, setMe] = useState(null);
  const [fresh, setFresh] = useState(null);
  const inbox = useInbox(me?.id);
  const loadAccount = () => api.get('/account').then(setMe, () => {});
  useEffect(() => {
    loadAccount();
    const onHashChange = () => setPlace(placeOf());
    addEventListener('hashchange', onHashChange);
    onHashChange();  // the location may have changed before the listener was added
    return () => removeEventListener('hashchange', onHashChange);
  }, []);
  useEffect(() => { if (place[0] === 'account' || place[0] === 'referrals') loadAccount(); }, [place.join('/')]);
  const started = (run) => { setFresh(run); location.hash = `#/threads/${run.thread_id}`; };
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.querySelector('#main h1')?.focus(); }}>Skip to the content</a>
      <header>
        <a class="brand" href="#/"><span class="mark" aria-hidden="true" />Runyard</a>
        <nav aria-label="Main">
          {[...places, ...(isAdmin(me) ? [['server', 'Server'], ...(inbox.there ? [['notifications', 'Notifications']] : [])] : [])].map(([name, label]) => <a href={`#/${name}`} aria-current={place[0] === name ? 'page' : undefined}>{label}</a>)}
        </nav>
        {inbox.there && (
          <a class="bell" href="#/inbox" aria-current={place[0] === 'inbox' ? 'page' : undefined}>
            Inbox{inbox.unread > 0 && <> <span class="badge">{inbox.unread}<span class="unseen"> unread</span></span></>}</a>
        )}
        {me && <a class="balance" href="#/account"><strong>{credits(me.balance_credits)}</strong> credits</a>}
      </header>
      <main id="main">
        <Guard key={place[0] === 'threads' ? place.join('/') : place[0]} instead={<p class="problem" role="alert">This page could not be shown. Load it again, or choose another one above.</p>}>
          {place[0] === 'threads' && place[1] ? <Thread key={place[1]} id={place[1]} fresh={fresh} changed={loadAccount} />
            : place[0] === 'threads' ? <Threads />
            : place[0] === 'referrals' ? <Referrals />
            : place[0] === 'inbox' ? <Inbox inbox={inbox} />
            : place[0] === 'server' ? isAdmin(me) && <Operations />
            : place[0] === 'notifications' ? isAdmin(me) && <Notifications />
            : place[0] === 'account' ? me && <Account me={me} config={config} logOut={leave} />
            : <Start started={started} />}
        </Guard>
      </main>
    </>
  );
}

function App() {
  const [config, setConfig] = useState(null);
  const [inside, setInside] = useState(false);
  const [error, setError] = useState(null);
  const show = (where) => {
    if (isAuth() === (where === 'auth')) return;
    history.replaceState(null, '', where === 'auth' ? 'auth' : 'console');
  };
  useEffect(() => {
    api.whenLost(() => { show('auth'); setInside(false); });
    (async () => {
      const loadedConfig = await api.config();
      // A link in an e-mail is for its recipient, who may not be the user who is logged in.
      const link = isAuth() && /^#(verify|reset)=/.test(location.hash);
      const there = !link && (loadedConfig.local_login || sessionStorage.length > 0) && await api.resume();
      show(there ? 'console' : 'auth');
      setConfig(loadedConfig);
      setInside(there);
    })().catch(setError);
  }, []);
  const enter = () => { history.pushState(null, '', 'console#/'); setInside(true); };
  // The next user must not see data of the one who logs out.
  const leave = () => turnOff().catch(() => {}).then(api.logOut).finally(() => { history.pushState(null, '', 'auth'); setInside(false); });
  if (error) return <main class="auth"><div class="card"><p class="problem" role="alert">{error.message}</p></div></main>;
  if (!config) return <p class="unseen" role="status">Loading</p>;
  return inside ? <Console config={config} leave={leave} /> : <Auth config={config} enter={enter} />;
}

render(<App />, document.getElementById('app'));
