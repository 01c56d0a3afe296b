// The service worker: shows what is pushed to this browser, and leads to it. It keeps and intercepts nothing.
const isWeb = (url) => /^https?:\/\//.test(url ?? '');

async function show(data) {
  let told = {};
  try { told = data?.json() ?? {}; } catch { /* something has to be shown all the same */ }
  await self.registration.showNotification(String(told.title || 'Runyard'), {
    body: String(told.body ?? ''), tag: told.tag ? String(told.tag) : undefined, data: { url: isWeb(told.url) ? told.url : null },
  });
}

async function lead(url) {
  if (!url) return;
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const there = tabs.find((tab) => tab.url === url);
  if (there) await there.focus();
  else await self.clients.openWindow(url);
}

self.addEventListener('push', (e) => e.waitUntil(show(e.data)));
self.addEventListener('notificationclick', (e) => {
  e.notification.close();
  e.waitUntil(lead(e.notification.data?.url));
});
