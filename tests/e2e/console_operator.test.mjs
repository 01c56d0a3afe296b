// The server page of the web console in a real browser: queues, nodes, live runs, dead-lettered jobs, and reloading of
// modules. RY_SCREENSHOTS=DIR saves screenshots.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { phone, startBrowser } from './lib/console.mjs';
import { startHeldLlm } from './lib/llm.mjs';
import { Server, makeDatabase, waitFor } from './lib/server.mjs';

let database, llm, server, browser, admin, page;

const cells = (p, label) => p.evaluate((l) => [...document.querySelectorAll(`[aria-label="${l}"] tbody tr`)].map((tr) =>
  [...tr.children].map((td) => td.innerText.trim())), label);
const addDeadLetter = (kind) => database.sql(`insert into core.job (kind, queue, state, attempt, max_attempts, args, last_error)
  values ('${kind}', 'mail', 2, 20, 20, '{}', 'mail.relay: the relay does not answer') returning id`).split('\n')[0];

before(async () => {
  database = makeDatabase();
  llm = await startHeldLlm();
  server = await new Server({ database, llm, set: ['accounts.local_login=false'] }).start();
  browser = await startBrowser();
  admin = await server.user({ role: 'admin', email: 'alice@example.test' });
});
after(async () => {
  llm?.letGo();
  await browser?.close();
  await server?.close();
  await llm?.close();
  database?.drop();
});

test('only admins see the server page', async () => {
  const user = await server.user({ email: 'ann@example.test' });
  const other = await browser.of(server, user);
  await other.sees('credits');
  assert.doesNotMatch(await other.text(), /Server/);
  await other.goto(`${server.url}/console#/server`);
  await waitFor('an empty page', async () => (await other.evaluate(() => document.querySelector('main').innerText.trim())) === '');
  await other.leave();

  const run = await user.start({ prompt: 'Count the apples' });
  assert.equal(run.status, 200, run.text);
  addDeadLetter('test.lost');  // no node handles this kind, so retried jobs stay ready
  page = await browser.of(server, admin);
  await page.press('Server', 'link');
  await page.sees('Dead-lettered jobs');
  await page.sees('the relay does not answer');
  const [live] = await waitFor('the run and its node', async () => {
    const rows = await cells(page, 'Live runs');
    return rows.length === 1 && rows[0][4] !== 'not assigned to a node' && rows;
  });
  assert.equal(live[0], run.json.agent_run_id.slice(-12));
  assert.equal(live[3], user.id.slice(-12));
  const [node] = await waitFor('the node', async () => {
    const rows = await cells(page, 'Nodes');
    return rows.length > 0 && rows;
  });
  assert.equal(node[0], `${live[4]} (this one)`);
  assert.ok((await cells(page, 'Queues')).some((q) => q[0] === 'mail' && q.at(-1) === '1'), 'the dead-lettered job is counted');
  assert.deepEqual(await page.faults(), []);
  assert.ok(await page.overflow() <= 0);
  await page.shot('operator');
});

test('changes appear without a reload of the page', async () => {
  const newJob = addDeadLetter('webhooks.deliver');
  await page.sees('webhooks.deliver', 15000);
  await page.press(`Discard job ${newJob}`);
  await waitFor('the job to be discarded', () => database.sql(`select count(*) from core.dead_job where id = ${newJob}`) === '0');
  await page.waitForFunction(() => !document.body.innerText.includes('webhooks.deliver'));
});

test('a dead letter is retried', async () => {
  const [row] = await cells(page, 'Dead-lettered jobs');
  const id = row[0].split(/\s+/)[1];
  await page.press(`Try again: job ${id}`);
  await waitFor('the retry', () => database.sql(`select count(*) from core.dead_job where id = ${id}`) === '0');
  await page.sees('No dead-lettered jobs.');
});

test('a module is reloaded, disabled and enabled with its buttons', async () => {
  const generation = async () => (await admin.get('/admin/modules')).json.find((m) => m.name === 'mcp_prebuilt').instance;
  const before = await generation();
  await page.press('Reload mcp_prebuilt');
  await page.sees('mcp_prebuilt was reloaded');
  assert.ok(await generation() > before);
  const row = async () => (await cells(page, 'Modules of this node')).find((m) => m[0].startsWith('mcp_prebuilt'));
  assert.match((await row())[1], /Running/);
  await page.press('Disable mcp_prebuilt');
  await page.sees('mcp_prebuilt was disabled');
  await waitFor('the new state', async () => /Disabled/.test((await row())[1]));
  assert.equal(await generation(), 0);
  await page.press('Enable mcp_prebuilt');
  await page.sees('mcp_prebuilt was enabled');
  await waitFor('the new state', async () => /Running/.test((await row())[1]));
  assert.deepEqual(await page.faults(), []);
  // The page shows an error from the server.
  await page.evaluate(() => { window.fetch = ((old) => (u, o) => old(String(u).replace('mcp_json/reload', 'unknown/reload'), o))(window.fetch); });
  await page.press('Reload mcp_json');
  await page.sees('not running');
  assert.deepEqual(page.complaints, []);
});

test('on a phone in dark mode', async () => {
  const small = await browser.of(server, admin, { viewport: phone, scheme: 'dark' });
  await small.goto(`${server.url}/console#/server`);
  await small.sees('Modules of this node');
  await small.sees('mcp_prebuilt');
  assert.deepEqual(await small.faults(), []);
  assert.ok(await small.overflow() <= 0);
  await small.shot('operator-phone');
  assert.deepEqual(small.complaints, []);
});
