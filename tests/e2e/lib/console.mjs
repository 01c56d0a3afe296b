// A browser for tests of the web console: Debian's Chromium, headless, driven by puppeteer-core.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import puppeteer from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshotsDir = process.env.RY_SCREENSHOTS;

export const desktop = { width: 1280, height: 860 };
export const phone = { width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

export async function startBrowser() {
  const browser = await puppeteer.launch({
    executablePath: process.env.RY_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync) ?? 'chromium', headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking'],
  });
  const it = {
    // Opens a page in a separate browser profile. `complaints` collects page and console errors, including violations
    // of the content security policy.
    async person(options) {
      return it.tab(await browser.createBrowserContext(), options);
    },
    // Opens another tab in the same browser profile.
    async tab(context, { viewport = desktop, scheme = 'light' } = {}) {
      const page = await context.newPage();
      await page.setViewport(viewport);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
      page.setDefaultTimeout(30000);
      const complaints = [];
      page.on('pageerror', (e) => complaints.push(String(e)));
      page.on('console', (m) => { if (m.type() === 'error' && !/status of 4\d\d|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_RESET/.test(m.text())) complaints.push(m.text()); });
      return Object.assign(page, helpers(page), { complaints, context, leave: () => context.close() });
    },
    // Opens a page that is logged in as `user` (accounts.local_login = false) and shows the console.
    async of(server, user, options) {
      const page = await it.person(options);
      await it.logIn(page, server, user);
      await page.goto(`${server.url}/console`);
      await page.sees('What should the agent do?');
      return page;
    },
    // Sets the token on /healthz, because a page of the console might already act on it and change its URL.
    async logIn(page, server, user) {
      await page.goto(`${server.url}/healthz`);
      await page.evaluate((t) => sessionStorage.setItem('ry_token', t), user.token);
    },
    close: () => browser.close(),
  };
  return it;
}

const helpers = (page) => ({
  // Finds elements by their accessible name: the label of a field, the name of a button or link.
  async fill(label, text) {
    const field = await page.waitForSelector(`::-p-aria([name="${label}"])`);
    await field.click({ count: 3 });
    await field.type(text);
  },
  async press(name, role = 'button') {
    const element = await page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`, { visible: true });
    await page.waitForFunction((b) => !b.disabled, {}, element);
    await element.click();
  },
  async sees(text, timeout = 30000) {
    try {
      await page.waitForFunction((t) => document.body.innerText.includes(t), { timeout }, text);
    } catch (e) {
      const shown = await page.evaluate(() => `${location.pathname}${location.hash}: ${document.body.innerText}`).catch((error) => error.message);
      throw new Error(`the page does not show "${text}" (${e.message}). ${shown}`);
    }
  },
  text: () => page.evaluate(() => document.body.innerText),
  async shot(name) {
    if (!screenshotsDir) return;
    mkdirSync(screenshotsDir, { recursive: true });
    await page.screenshot({ path: path.join(screenshotsDir, `${name}.png`) });
  },
  // Returns the violations of WCAG 2.2 A and AA that axe-core finds, one line each.
  async faults() {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' | ')}`);
  },
  // Returns by how many pixels the page is wider than the window.
  overflow: () => page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth),
});
