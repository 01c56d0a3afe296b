// The service worker: shows push messages and opens their URLs. It stores nothing and intercepts no requests.
const isWeb = (url) => /^https?:\/\//.test(url ?? '');

async function show(data) {
  let message = {};
  try { message = data?.json() ?? {}; } catch { /* browsers require that each push message is shown */ }
  await self.registration.showNotification(String(message.title || 'Runyard'), {
    body: String(message.body ?? ''), tag: message.tag ? String(message.tag) : undefined, data: { url: isWeb(message.url) ? message.url : null },
  });
}

async function openTab(url) {
  if (!url) return;
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const openedTab = tabs.find((tab) => tab.url === url);
  if (openedTab) await openedTab.focus();
  else await self.clients.openWindow(url);
}

self.addEventListener('push', (e) => e.waitUntil(show(e.data)));
self.addEventListener('notificationclick', (e) => {
  e.notification.close();
  e.waitUntil(openTab(e.notification.data?.url));
});
