// One stream for all tabs of a browser: over HTTP/1.1 a browser opens only six connections to a host, and a stream holds one.
import * as api from './api.js';
import { listen } from './stream.js';

// Like listen(), for an account's stream without an end. The tab that holds the lock `name` reads the stream and forwards its events
// to the other tabs; when that tab closes, another one continues after the last event. Browsers have locks only in secure
// contexts; elsewhere a tab reads the stream while it is visible.
export function listenShared(path, account, { onEvent, signal }) {
  signal.throwIfAborted();
  const name = `${api.url(path)} ${account}`;
  const channel = new BroadcastChannel(name);
  let last = null;
  const take = (event, id) => {
    last = id ?? last;
    onEvent(event);
  };
  channel.onmessage = ({ data }) => take(data.event, data.id);
  signal.addEventListener('abort', () => channel.close());
  const read = (until) => listen(path, {
    after: last, signal: until,
    onEvent(event, id) {
      take(event, id);
      if (!signal.aborted) channel.postMessage({ event, id });
    },
  });
  return navigator.locks ? navigator.locks.request(name, { signal }, () => read(signal)) : whileVisible(read, signal);
}

// Runs `read` while the tab is visible; rejects when it fails.
function whileVisible(read, signal) {
  return new Promise((resolve, reject) => {
    let stop = null;
    const look = () => {
      const visible = document.visibilityState === 'visible' && !signal.aborted;
      if (visible === (stop !== null)) return;
      stop?.abort();
      stop = visible ? new AbortController() : null;
      if (stop) read(stop.signal).catch(reject);
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', () => {
      document.removeEventListener('visibilitychange', look);
      look();
      resolve();
    });
    look();
  });
}
