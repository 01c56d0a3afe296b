// A browser on the page of modules/console: Debian's Chromium, headless, driven by puppeteer-core.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import puppeteer from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = process.env.RY_SCREENSHOTS;

export const desktop = { width: 1280, height: 860 };
export const phone = { width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

export async function startBrowser() {
  const browser = await puppeteer.launch({
    executablePath: process.env.RY_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync) ?? 'chromium', headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking'],
  });
  const it = {
    // A person with a profile of its own. What the page complains about is kept: a strict policy that is broken
    // shows up here.
    async person(options) {
      return it.tab(await browser.createBrowserContext(), options);
    },
    // Another tab of the person with this context.
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
    // The same, logged in as a user of the server (with accounts.local_login = false) and on the page.
    async of(server, user, options) {
      const page = await it.person(options);
      await it.logIn(page, server, user);
      await page.goto(`${server.url}/console`);
      await page.sees('What should the agent do?');
      return page;
    },
    // By way of an address that is no page: a page would begin with the token as soon as it is there, or not, and change its address.
    async logIn(page, server, user) {
      await page.goto(`${server.url}/healthz`);
      await page.evaluate((t) => sessionStorage.setItem('ry_token', t), user.token);
    },
    close: () => browser.close(),
  };
  return it;
}

const helpers = (page) => ({
  // By what a person sees or hears: the label of a field, the name of a button or link.
  async fill(label, text) {
    const field = await page.waitForSelector(`::-p-aria([name="${label}"])`);
    await field.click({ count: 3 });
    await field.type(text);
  },
  async press(name, role = 'button') {
    const at = await page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`, { visible: true });
    await page.waitForFunction((b) => !b.disabled, {}, at);
    await at.click();
  },
  async sees(text, timeout = 30000) {
    try {
      await page.waitForFunction((t) => document.body.innerText.includes(t), { timeout }, text);
    } catch (e) {
      const there = await page.evaluate(() => `${location.pathname}${location.hash}: ${document.body.innerText}`).catch((why) => why.message);
      throw new Error(`the page does not say "${text}" (${e.message}). ${there}`);
    }
  },
  text: () => page.evaluate(() => document.body.innerText),
  async shot(name) {
    if (!shots) return;
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: path.join(shots, `${name}.png`) });
  },
  // What axe-core finds against WCAG 2.2 A and AA, as lines.
  async faults() {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' | ')}`);
  },
  // Nothing may be wider than the window.
  overflow: () => page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth),
});
