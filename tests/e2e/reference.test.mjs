// The page /reference shows all of /openapi.json without authentication, under a strict content security policy.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { phone, startBrowser } from './lib/console.mjs';
import { Server, everything, makeDatabase } from './lib/server.mjs';

let database, server, browser;
before(async () => {
  database = makeDatabase();
  server = await new Server({ database, settings: everything, set: ['http.base_path="/api"'] }).start();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.close();
  database?.drop();
});

const count = (page) => page.$$eval('details.operation', (all) => all.length);

for (const [name, options] of [['desktop', {}], ['phone, dark', { viewport: phone, scheme: 'dark' }]]) {
  test(`the reference shows every operation with its parameters and responses (${name})`, async () => {
    const api = await (await fetch(`${server.url}/openapi.json`)).json();
    const total = Object.values(api.paths).reduce((n, item) => n + Object.keys(item).length, 0);
    const page = await browser.person(options);
    await page.goto(`${server.url}/api/reference`);
    await page.sees('Start an agent run');
    assert.equal(await count(page), total);
    assert.deepEqual(await page.faults(), []);
    assert.ok(await page.overflow() <= 0);

    await page.fill('Find an operation', 'post agent start');
    await page.waitForFunction(() => document.querySelectorAll('details.operation').length === 1);
    await page.click('details.operation summary');
    await page.sees('Required for a new thread');
    for (const part of ['Idempotency-Key', 'What changed in the log since yesterday', 'Authorization: Bearer', '402', 'multipart/form-data'])
      assert.ok((await page.text()).includes(part), part);
    for (let i = 0; i < 4; i++) await page.evaluate(() => { for (const d of document.querySelectorAll('details.operation details')) d.open = true; });
    await page.sees('AGENT_RUN_LIMIT_EXCEEDED');
    assert.deepEqual(await page.faults(), []);
    assert.ok(await page.overflow() <= 0);
    assert.deepEqual(page.complaints, []);
    await page.leave();
  });
}

test('a URL fragment opens one operation, and all resources come from this server under its policy', async () => {
  const page = await browser.person();
  const origins = [];
  page.on('request', (r) => origins.push(new URL(r.url()).origin));
  const answer = await page.goto(`${server.url}/api/reference#runs.stream`);
  await page.sees('Server-Sent Events');
  assert.deepEqual([...new Set(origins)], [server.url]);
  assert.match(answer.headers()['content-security-policy'], /default-src 'none'; script-src 'self'/);
  // Members of an event, which refers to schemas within schemas.
  for (let i = 0; i < 4; i++) await page.evaluate(() => { for (const d of document.querySelectorAll('details[id="runs.stream"] details')) d.open = true; });
  await page.sees('turn_aborted');
  assert.deepEqual(page.complaints, []);
  await page.leave();
});
