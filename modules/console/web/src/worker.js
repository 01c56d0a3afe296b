// The service worker: shows push messages, opens their URLs, and sends decisions about approvals. It stores nothing and intercepts no requests.
const isWeb = (url) => /^https?:\/\//.test(url ?? '');

// Only this server's page: a decision must not be sent to another host.
const isOwn = (url) => { try { return new URL(url).origin === self.location.origin; } catch { return false; } };

async function show(data) {
  let message = {};
  try { message = data?.json() ?? {}; } catch { /* browsers require that each push message is shown */ }
  const target = { url: isWeb(message.url) ? message.url : null };
  const options = { body: String(message.body ?? ''), tag: message.tag ? String(message.tag) : undefined, data: target };
  if (isOwn(message.decision_url)) {
    target.decision = message.decision_url;
    options.actions = [{ action: 'approve', title: 'Approve' }, { action: 'deny', title: 'Deny' }];
    options.requireInteraction = true;
  }
  await self.registration.showNotification(String(message.title || 'Runyard'), options);
}

async function openTab(url) {
  if (!url) return;
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const openedTab = tabs.find((tab) => tab.url === url);
  if (openedTab) await openedTab.focus();
  else await self.clients.openWindow(url);
}

// Decides with the link of the notification, which works once, and shows the result.
async function decide(link, decision, { title, tag }) {
  const results = { 200: decision === 'approve' ? 'Approved' : 'Denied', 410: 'The decision was already made, or the approval has expired' };
  let status;
  try {
    ({ status } = await self.fetch(link, { method: 'POST', credentials: 'omit', body: new URLSearchParams({ decision }) }));
  } catch { /* the notification below offers another attempt */ }
  const retry = !results[status];
  await self.registration.showNotification(title, {
    body: results[status] ?? 'The decision could not be sent. Open the notification to decide.', tag, data: { url: retry ? link : null },
  });
}

self.addEventListener('push', (e) => e.waitUntil(show(e.data)));
self.addEventListener('notificationclick', (e) => {
  e.notification.close();
  const { url, decision } = e.notification.data ?? {};
  e.waitUntil(decision && e.action ? decide(decision, e.action, e.notification) : openTab(url ?? decision));
});
