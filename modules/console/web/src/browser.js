// Registers this browser as a device for push notifications (Web Push).
import * as api from './api.js';

const provider = 'web-push';
const script = () => api.url('/console/worker.js');
// Trusted Types: only this script may become a worker.
const policy = globalThis.trustedTypes?.createPolicy('worker', { createScriptURL: () => script() });

export const supported = () => isSecureContext && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

const registration = () => navigator.serviceWorker.getRegistration(api.url('/console/'));
async function subscription() {
  return supported() ? (await registration())?.pushManager.getSubscription() : null;
}
const registerDevice = (s) => api.call('/notifications/device-token', { device_token: JSON.stringify(s), device_type: 'web', provider });

// The page is outside of the worker's scope, so `navigator.serviceWorker.ready` cannot be used.
const active = (r) => r.active ? r : new Promise((resolve) => {
  const worker = r.installing ?? r.waiting;
  worker.addEventListener('statechange', () => { if (worker.state === 'activated') resolve(r); });
});

// Returns 'on', 'off', 'denied', or 'none' (this browser or this server has no Web Push); throws if the server fails. An
// existing subscription is registered again, because its endpoint may have changed and it must belong to the current user.
export async function currentState() {
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
  await registerDevice(s);
  return 'on';
}

export async function turnOn() {
  if (await Notification.requestPermission() !== 'granted') throw new Error('The browser does not allow notifications from this page.');
  const { public_key: key } = await api.get('/notifications/web-push-key');
  const r = await active(await navigator.serviceWorker.register(policy ? policy.createScriptURL('') : script()));
  const options = { userVisibleOnly: true, applicationServerKey: key };
  let s;
  try {
    s = await r.pushManager.subscribe(options);
  } catch (e) {
    // An earlier subscription uses another key.
    const old = e.name === 'InvalidStateError' && await r.pushManager.getSubscription();
    if (!old) throw e;
    await old.unsubscribe();
    s = await r.pushManager.subscribe(options);
  }
  await registerDevice(s);
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
