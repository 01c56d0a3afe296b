// One stream for all tabs of a browser, because a browser opens at most six connections to a host over HTTP/1.1.
import * as api from './api.js';
import { listen } from './stream.js';

// Like listen(), for an account's endless stream. The tab that holds the lock `name` reads the stream and forwards its events
// to the other tabs; when that tab closes, another one continues after the last event. Browsers have Web Locks only in
// secure contexts; without them, a tab reads the stream while it is visible.
export function listenShared(path, account, { onEvent, signal }) {
  signal.throwIfAborted();
  const name = `${api.url(path)} ${account}`;
  const channel = new BroadcastChannel(name);
  let last = null;
  const receive = (event, id) => {
    last = id ?? last;
    onEvent(event);
  };
  channel.onmessage = ({ data }) => receive(data.event, data.id);
  signal.addEventListener('abort', () => channel.close());
  const read = (until) => listen(path, {
    after: last, signal: until,
    onEvent(event, id) {
      receive(event, id);
      if (!signal.aborted) channel.postMessage({ event, id });
    },
  });
  return navigator.locks ? navigator.locks.request(name, { signal }, () => read(signal)) : whileVisible(read, signal);
}

// Runs `read` while the tab is visible; rejects if `read` fails.
function whileVisible(read, signal) {
  return new Promise((resolve, reject) => {
    let stop = null;
    const update = () => {
      const visible = document.visibilityState === 'visible' && !signal.aborted;
      if (visible === (stop !== null)) return;
      stop?.abort();
      stop = visible ? new AbortController() : null;
      if (stop) read(stop.signal).catch(reject);
    };
    document.addEventListener('visibilitychange', update);
    signal.addEventListener('abort', () => {
      document.removeEventListener('visibilitychange', update);
      update();
      resolve();
    });
    update();
  });
}
