// This browser as a device for push notifications (Web Push).
import * as api from './api.js';

const provider = 'web-push';
const script = () => api.url('/console/worker.js');
// The only script that may become a worker.
const policy = globalThis.trustedTypes?.createPolicy('worker', { createScriptURL: () => script() });

export const supported = () => isSecureContext && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

const registration = () => navigator.serviceWorker.getRegistration(api.url('/console/'));
async function subscription() {
  return supported() ? (await registration())?.pushManager.getSubscription() : null;
}
const tell = (s) => api.call('/notifications/device-token', { device_token: JSON.stringify(s), device_type: 'web', provider });

// The page lies outside of the worker's scope, so that there is no `ready` for it.
const active = (r) => r.active ? r : new Promise((resolve) => {
  const worker = r.installing ?? r.waiting;
  worker.addEventListener('statechange', () => { if (worker.state === 'activated') resolve(r); });
});

// 'on', 'off', 'denied', or 'none': this browser or this server has no Web Push; fails when the server does. A subscription
// that exists is registered again: its address may have changed, and it belongs to the user who is logged in.
export async function look() {
  if (!supported()) return 'none';
  try {
    await api.get('/notifications/web-push-key');
  } catch (e) {
    if (e.status === 404) return 'none';
    throw e;
  }
  if (Notification.permission === 'denied') return 'denied';
  const s = await subscription();
  if (!s) return 'off';
  await tell(s);
  return 'on';
}

export async function turnOn() {
  if (await Notification.requestPermission() !== 'granted') throw new Error('The browser does not allow notifications from this page.');
  const { public_key: key } = await api.get('/notifications/web-push-key');
  const r = await active(await navigator.serviceWorker.register(policy ? policy.createScriptURL('') : script()));
  const wish = { userVisibleOnly: true, applicationServerKey: key };
  let s;
  try {
    s = await r.pushManager.subscribe(wish);
  } catch (e) {
    // One of another key, from before.
    const old = e.name === 'InvalidStateError' && await r.pushManager.getSubscription();
    if (!old) throw e;
    await old.unsubscribe();
    s = await r.pushManager.subscribe(wish);
  }
  await tell(s);
}

export async function turnOff() {
  const s = await subscription();
  if (!s) return;
  try {
    await api.remove(`/notifications/device-token/${encodeURIComponent(s.endpoint)}?provider=${provider}`);
  } finally {
    await s.unsubscribe();
  }
}
