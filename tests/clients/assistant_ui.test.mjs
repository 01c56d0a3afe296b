// A thread of assistant-ui in Chromium, over AG-UI and with the protocol of the AI SDK.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBrowser } from '../e2e/lib/console.mjs';
import { sleep, waitFor } from '../e2e/lib/server.mjs';
import { slowText, startHarness } from './lib/harness.mjs';
import { startPage } from './lib/page.mjs';

let harness, page, browser;

before(async () => {
  harness = await startHarness();
  page = await startPage('assistant_ui.jsx', harness.pagePort);
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  page?.close();
  await harness?.close();
});

const urls = { 'ag-ui': () => `${harness.server.url}/agui/agents/default`, 'ai-sdk': () => `${harness.server.url}/aisdk/chat` };
async function open(protocol, user, id) {
  const tab = await browser.person();
  await tab.goto(page.url({ protocol, url: urls[protocol](), token: user.token, id }));
  return Object.assign(tab, {
    async send(text) {
      await waitFor('the end of the run', async () => !(await tab.text()).includes('Busy'));
      await tab.fill('Message', text);
      await tab.press('Send');
    },
    messages: () => tab.$$eval('.message', (all) => all.map((e) => [...e.querySelectorAll('span')].map((s) => s.textContent).join(''))),
  });
}

for (const protocol of ['ag-ui', 'ai-sdk']) {
  test(`${protocol}: text, tools of the server and of the page, approvals`, async () => {
    const user = await harness.user();
    const tab = await open(protocol, user, `thread of ${protocol}`);
    await tab.send('Say hello');
    await tab.sees('Hello from the model');
    assert.match(JSON.stringify(harness.llm.seen.at(-1).json.messages[0]), /Use British spelling/);
    await tab.send('[shell]');
    await tab.sees('The tool said: from the sandbox');
    assert.match(await tab.text(), /shell \{"command":"echo from the sandbox"\}: ".*from the sandbox/);
    await tab.send('[weather]');
    await tab.sees('The tool said: Sunny in Ulm');
    await tab.send('[approve]');
    await tab.press('Approve');
    await tab.sees('The tool said: ask first');
    await tab.send('[approve]');
    await waitFor('a second approval', async () => (await tab.$$('button')).length > 1);
    await tab.press('Deny');
    await waitFor('the denial', async () => (await tab.messages()).at(-1).includes('denied'));
    await tab.shot(`assistant_ui_${protocol}`);
    await waitFor('the end of the runs', async () => (await user.get('/agent-runs')).json.agent_runs.every((r) => r.status === 'completed'));
    assert.equal(new Set((await user.get('/agent-runs')).json.agent_runs.map((r) => r.thread_id)).size, 1);
    assert.deepEqual(tab.complaints, []);
  });
}

test('ai-sdk: the page resumes after a reload and after kill -9 of the server', async () => {
  const user = await harness.user();
  const tab = await open('ai-sdk', user, 'killed');
  await tab.send('[slow]');
  await tab.sees('w5 ');
  await tab.reload();
  await tab.sees('w12 ');
  await harness.server.kill();
  await sleep(500);
  await harness.server.start();
  await waitFor('the complete text', async () => (await tab.messages()).at(-1) === slowText, 60000).catch(async () => assert.equal((await tab.messages()).at(-1), slowText));
  assert.deepEqual(await tab.messages(), ['[slow]', slowText]);
});
