// CopilotChat of CopilotKit in Chromium, with an agent of the server over AG-UI: directly, and through CopilotKit's runtime.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { HttpAgent } from '@ag-ui/client';
import { startBrowser } from '../e2e/lib/console.mjs';
import { sleep, waitFor } from '../e2e/lib/server.mjs';
import { slowText, startHarness } from './lib/harness.mjs';
import { startPage } from './lib/page.mjs';

let harness, page, browser;
const hello = 'Hello from the model';

before(async () => {
  harness = await startHarness();
  page = await startPage('copilotkit.jsx', harness.pagePort);
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  page?.close();
  await harness?.close();
});

const agentUrl = () => `${harness.server.url}/agui/agents/default`;
async function open(options) {
  const tab = await browser.person();
  await tab.goto(page.url(options));
  const input = () => tab.waitForSelector('[data-testid="copilot-chat-textarea"]', { visible: true });
  await input();
  return Object.assign(tab, {
    async send(text) {
      await (await input()).type(text);
      await tab.keyboard.press('Enter');
    },
    answers: () => tab.$$eval('[data-testid="copilot-assistant-message"]', (all) => all.map((e) => e.innerText.trim())),
  });
}
// A runtime of CopilotKit, as a web server of a page runs it.
async function startRuntime(user) {
  process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
  const { CopilotRuntime } = await import('@copilotkit/runtime/v2');
  const { createCopilotNodeListener } = await import('@copilotkit/runtime/v2/node');
  const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url: agentUrl(), headers: { Authorization: `Bearer ${user.token}` } }) } });
  const server = http.createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit', cors: true }));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/api/copilotkit`, close: () => { server.close(); server.closeAllConnections(); } };
}

async function converse(tab, user) {
  await tab.send('Say hello');
  await tab.sees(hello);
  await tab.send('[shell]');
  await tab.sees('from the sandbox');
  const tool = await tab.waitForSelector('[data-testid="copilot-tool-render"][data-tool-name="shell"][data-status="complete"]');
  assert.match(await tool.evaluate((e) => e.dataset.result), /from the sandbox/);
  await tab.send('[weather]');
  await tab.sees('The tool said: Sunny in Ulm');
  await tab.send('[approve]');
  await tab.sees('Approve the call of the tool shell?');
  await tab.press('Approve');
  await tab.sees('ask first');
  await waitFor('all approvals to be decided', async () => (await user.get('/approvals?status=pending')).json.approvals.length === 0);
  await tab.shot('copilotkit');
  const runs = (await user.get('/agent-runs')).json.agent_runs;
  assert.deepEqual(new Set(runs.map((r) => r.status)), new Set(['completed']));
  assert.equal(new Set(runs.map((r) => r.thread_id)).size, 1);
}

test('directly: text, tools of the server and of the page, approvals', async () => {
  const user = await harness.user();
  const tab = await open({ url: agentUrl(), token: user.token, threadId: 'direct' });
  await converse(tab, user);
  // A reload restores the thread.
  const before = await tab.answers();
  await tab.reload();
  await tab.sees('ask first');
  await waitFor('the same answers', async () => (await tab.answers()).join('|') === before.join('|')).catch(async () => assert.deepEqual(await tab.answers(), before));
});

test('directly: the page resumes after kill -9 of the server', async () => {
  const user = await harness.user();
  const tab = await open({ url: agentUrl(), token: user.token, threadId: 'killed' });
  await tab.send('[slow]');
  await tab.sees('w5 ');
  await harness.server.kill();
  await sleep(500);
  await harness.server.start();
  await waitFor('the complete text', async () => (await tab.answers()).at(-1) === slowText.trim(), 60000)
    .catch(async () => assert.equal((await tab.answers()).at(-1), slowText.trim()));
  assert.equal((await tab.answers()).length, 1);
});

test('through the runtime of CopilotKit', async () => {
  const user = await harness.user();
  const runtime = await startRuntime(user);
  try {
    await converse(await open({ runtimeUrl: runtime.url, threadId: 'runtime' }), user);
  } finally {
    runtime.close();
  }
});
