// The Agent2Agent protocol 1.0 with its official client, over both bindings.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { lastUser, startLlm, turns } from './lib/llm.mjs';
import { Server, makeDatabase, modulesOn, sleep, waitFor } from './lib/server.mjs';

const states = { submitted: 1, working: 2, completed: 3, failed: 4, canceled: 5, inputRequired: 6 };
const words = (n) => Array.from({ length: n }, (_, i) => `w${i} `).join('');

let database, llm, server;
const requests = [];

before(async () => {
  database = makeDatabase();
  llm = await startLlm(async (request, reply) => {
    const prompt = lastUser(request);
    requests.push(request.messages.map((m) => `${m.role}:${typeof m.content === 'string' ? m.content : JSON.stringify(m.content)}`));
    if (prompt.includes('[fail]')) return reply.fail(400);
    if (prompt.includes('[tool]') && turns(request).length === 0) {
      reply.text('Let me look. ');
      return reply.tools([{ name: 'list_files', arguments: {} }]);
    }
    const results = turns(request).filter((m) => m.role === 'tool').map((m) => m.content);
    if (prompt.includes('[ask]') && results.length === 0)
      return reply.tools(Array.from({ length: prompt.includes('two') ? 2 : 1 }, (_, i) => ({ id: `c${i}`, name: 'shell', arguments: { command: `echo ask ${i}` } })));
    if (prompt.includes('[location]') && results.length === 0) return reply.tools([{ id: 'loc', name: 'get_location', arguments: {} }]);
    if (results.length && /\[(ask|location)\]/.test(prompt)) return reply.say(`results: ${results.join(' | ')}`);
    if (prompt.includes('[cut]') && requests.filter((r) => r.at(-1).includes(prompt)).length === 1) {
      reply.text('void ');
      await sleep(200);
      return reply.cut();
    }
    if (prompt.includes('[length]') && !prompt.includes('seen') && request.messages.at(-1).content.includes('[length]')) {
      reply.text('first half, ');
      return reply.truncate();
    }
    if (prompt.includes('[long]'))
      for (let i = 0; i < 1000 && !reply.res.destroyed; i++) { reply.text('.'); await sleep(20); }
    if (prompt.includes('[count]'))
      for (let i = 0; i < 60 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(40); }
    else if (request.messages.at(-1).role === 'user' && request.messages.at(-2)?.content?.includes?.('first half')) reply.text('second half');
    else reply.text(`reply to: ${prompt}`);
    reply.end();
  });
  server = await new Server({ database, llm, settings: `
[a2a]
name = "Test agent"
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
` }).start();
});
after(async () => {
  await server?.close();
  await llm?.close();
  database?.drop();
});

const withToken = (user) => (url, init = {}) =>
  fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${user.token}` } });

async function clientOf(user, { rest = false, path } = {}) {
  const fetchImpl = withToken(user);
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [rest ? 'HTTP+JSON' : 'JSONRPC'],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return new ClientFactory(options).createFromUrl(server.url, path);
}

const part = (content) => ({ content, metadata: undefined, filename: content.filename ?? '', mediaType: content.mediaType ?? '' });
const text = (value) => part({ $case: 'text', value });
const message = (parts, more = {}) => ({
  tenant: '', configuration: undefined, metadata: undefined,
  ...(more.configuration ? { configuration: more.configuration } : {}),
  message: {
    messageId: more.messageId ?? randomUUID(), contextId: more.contextId ?? '', taskId: more.taskId ?? '', role: 1,
    parts: [parts].flat().map((p) => (typeof p === 'string' ? text(p) : p)), metadata: undefined, extensions: [], referenceTaskIds: [],
  },
});
const atOnce = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: undefined, returnImmediately: true };
const textOf = (artifact) => artifact.parts.map((p) => p.content.value).join('');
const artifactsOf = (task) => task.artifacts.map(textOf);

// Applies the updates of streams as a client does.
class Observer {
  artifacts = new Map();
  states = [];
  events = [];
  add(event) {
    const { $case, value } = event.payload;
    this.events.push($case);
    if ($case === 'task') {
      this.task = value;
      this.states.push(value.status.state);
      this.artifacts = new Map(value.artifacts.map((a) => [a.artifactId, textOf(a)]));
    }
    if ($case === 'statusUpdate') {
      this.states.push(value.status.state);
      this.status = value;
    }
    if ($case === 'artifactUpdate') {
      const id = value.artifact.artifactId;
      const before = value.append ? this.artifacts.get(id) : '';
      assert.notEqual(before, undefined, 'an update appends to an artifact that exists');
      this.artifacts.set(id, before + textOf(value.artifact));
      if (value.lastChunk) this.last = (this.last ?? 0) + 1;
    }
    return this;
  }
  async read(stream, until = () => false) {
    for await (const event of stream) {
      this.add(event);
      if (until(this)) break;
    }
    return this;
  }
  get text() { return this.artifacts.get('answer'); }
  get state() { return this.states.at(-1); }
}

async function rpc(user, method, params, { path = '/a2a', headers = { 'a2a-version': '1.0' }, id = 7, body } = {}) {
  const r = await user.post(path, { headers: { 'content-type': 'application/json', ...headers }, body: body ?? JSON.stringify({ jsonrpc: '2.0', id, method, params }) });
  return r;
}

test('the public card describes both interfaces and needs no token', async () => {
  const r = await fetch(`${server.url}/.well-known/agent-card.json`);
  assert.equal(r.status, 200);
  const card = await r.json();
  assert.equal(card.name, 'Test agent');
  assert.deepEqual(card.capabilities, { streaming: true, pushNotifications: false, extendedAgentCard: true });
  assert.deepEqual(card.supportedInterfaces.map((i) => [i.url, i.protocolBinding, i.protocolVersion]),
    [[`${server.url}/a2a`, 'JSONRPC', '1.0'], [`${server.url}/a2a/v1`, 'HTTP+JSON', '1.0']]);
  assert.equal(card.securitySchemes.bearer.httpAuthSecurityScheme.scheme, 'Bearer');
  const again = await fetch(`${server.url}/.well-known/agent-card.json`, { headers: { 'if-none-match': r.headers.get('etag') } });
  assert.equal(again.status, 304);
  assert.equal((await fetch(`${server.url}/a2a`, { method: 'POST', body: '{}' })).status, 401);
});

for (const rest of [false, true]) {
  const name = rest ? 'HTTP+JSON' : 'JSON-RPC';

  test(`${name}: sendMessage waits for the task and returns its artifact and history`, async () => {
    const client = await clientOf(await server.user(), { rest });
    const task = await client.sendMessage(message('hello'));
    assert.equal(task.status.state, states.completed);
    assert.deepEqual(artifactsOf(task), ['reply to: hello']);
    assert.deepEqual(task.history.map((m) => [m.role, textOf(m)]), [[1, 'hello'], [2, 'reply to: hello']]);
    const read = await client.getTask({ tenant: '', id: task.id, historyLength: 1 });
    assert.deepEqual(read.history.map(textOf), ['reply to: hello']);
    assert.equal((await client.getTask({ tenant: '', id: task.id, historyLength: 0 })).history.length, 0);
    assert.deepEqual({ ...read, history: [] }, { ...task, history: [] });
    assert.match(task.status.timestamp, /^\d{4}-.*Z$/);
  });

  test(`${name}: returnImmediately returns a task in progress, and cancelTask cancels it`, async () => {
    const client = await clientOf(await server.user(), { rest });
    const task = await client.sendMessage(message('[long]', { configuration: atOnce }));
    assert.equal(task.status.state, states.working);
    const canceled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    assert.equal(canceled.id, task.id);
    assert.equal(canceled.status.state, states.canceled);
    await assert.rejects(client.cancelTask({ tenant: '', id: task.id, metadata: undefined }), { name: 'TaskNotCancelableError' });
    await assert.rejects(async () => { for await (const _ of client.resubscribeTask({ tenant: '', id: task.id })); }, { name: 'UnsupportedOperationError' });
  });

  test(`${name}: a stream has the task, the text in pieces and the final state`, async () => {
    const client = await clientOf(await server.user(), { rest });
    const seen = await new Observer().read(client.sendMessageStream(message('[count]')));
    assert.equal(seen.events[0], 'task');
    assert.ok(seen.events.filter((e) => e === 'artifactUpdate').length > 10, 'the text arrives in pieces');
    assert.equal(seen.text, words(60));
    assert.equal(seen.last, 1);
    assert.equal(seen.state, states.completed);
    assert.equal(seen.events.at(-1), 'statusUpdate');
    assert.deepEqual(artifactsOf(await client.getTask({ tenant: '', id: seen.task.id })), [words(60)]);
  });

  test(`${name}: a killed server continues the task, and a client that subscribes again gets the complete text once`, async () => {
    const user = await server.user();
    const client = await clientOf(user, { rest });
    const seen = new Observer();
    const stream = client.sendMessageStream(message('[count]'));
    await seen.read(stream, (s) => s.text?.includes('w20'));
    const parallel = new Observer();
    const interrupted = parallel.read(client.resubscribeTask({ tenant: '', id: seen.task.id }), (s) => s.text?.includes('w25')).catch((e) => e);
    await interrupted;
    assert.ok(parallel.text.startsWith(words(20)), 'the first event of a subscription is the current task');
    await server.kill();
    await server.start();
    const restarted = await clientOf(user, { rest });
    await seen.read(restarted.resubscribeTask({ tenant: '', id: seen.task.id }));
    assert.equal(seen.state, states.completed);
    assert.equal(seen.text, words(60));
    assert.deepEqual(artifactsOf(await restarted.getTask({ tenant: '', id: seen.task.id })), [words(60)]);
  });

  test(`${name}: errors of the protocol`, async () => {
    const user = await server.user();
    const client = await clientOf(user, { rest });
    const foreign = await (await clientOf(await server.user(), { rest })).sendMessage(message('secret'));
    for (const id of [foreign.id, randomUUID(), 'no-uuid']) {
      await assert.rejects(client.getTask({ tenant: '', id }), { name: 'TaskNotFoundError' });
      await assert.rejects(client.cancelTask({ tenant: '', id, metadata: undefined }), { name: 'TaskNotFoundError' });
      await assert.rejects(async () => { for await (const _ of client.resubscribeTask({ tenant: '', id })); }, { name: 'TaskNotFoundError' });
      await assert.rejects(client.sendMessage(message('x', { taskId: id })), { name: 'TaskNotFoundError' });
    }
    await assert.rejects(client.sendMessage(message('x', { contextId: foreign.contextId })), /message\.contextId/);
    await assert.rejects(client.sendMessage(message(part({ $case: 'url', value: 'https://example.org/a.pdf' }))), { name: 'ContentTypeNotSupportedError' });
    // The client does not send these requests, because the card denies the capability.
    for (const method of ['CreateTaskPushNotificationConfig', 'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs', 'DeleteTaskPushNotificationConfig'])
      assert.equal((await rpc(user, method, { taskId: foreign.id })).json.error.code, -32003);
    const configs = `/a2a/v1/tasks/${foreign.id}/pushNotificationConfigs`;
    for (const [method, path] of [['GET', configs], ['POST', configs], ['GET', `${configs}/c`], ['DELETE', `${configs}/c`]]) {
      const r = await user.request(method, path, { headers: { 'a2a-version': '1.0' } });
      assert.deepEqual([r.status, r.json.error.details[0].reason], [400, 'PUSH_NOTIFICATION_NOT_SUPPORTED']);
    }
    const own = await client.sendMessage(message('mine'));
    await assert.rejects(client.sendMessage(message('more', { taskId: own.id })), { name: 'UnsupportedOperationError' });
    await assert.rejects(client.sendMessage(message('more', { taskId: own.id, contextId: randomUUID() })), /message\.contextId/);
    assert.equal((await client.listTasks({ tenant: '', contextId: foreign.contextId, status: 0, pageToken: '' })).tasks.length, 0);
  });

  test(`${name}: listTasks returns pages, filters and totals`, async () => {
    const client = await clientOf(await server.user({ tier: 'pro' }), { rest });
    const first = await client.sendMessage(message('one'));
    const later = [];
    for (const prompt of ['two', '[fail] three', 'four']) later.push(await client.sendMessage(message(prompt, { contextId: first.contextId })));
    const other = await client.sendMessage(message('[long]', { configuration: atOnce }));
    const list = (more) => client.listTasks({ tenant: '', contextId: '', status: 0, pageToken: '', ...more });
    const all = await list({ pageSize: 2 });
    assert.deepEqual([all.tasks.length, all.totalSize, all.pageSize], [2, 5, 2]);
    const ids = all.tasks.map((t) => t.id);
    for (let page = all; page.nextPageToken; ids.push(...page.tasks.map((t) => t.id))) page = await list({ pageSize: 2, pageToken: page.nextPageToken });
    assert.deepEqual(ids, [other, ...later.toReversed(), first].map((t) => t.id));
    assert.deepEqual((await list({ contextId: first.contextId })).tasks.length, 4);
    assert.deepEqual((await list({ status: states.failed })).tasks.map((t) => t.id), [later[1].id]);
    assert.deepEqual((await list({ contextId: first.contextId, status: states.failed })).tasks.map((t) => t.id), [later[1].id]);
    assert.deepEqual((await list({ status: states.working })).tasks.map((t) => t.id), [other.id]);
    assert.equal((await list({ status: 7 })).tasks.length, 0);
    assert.equal((await list({ statusTimestampAfter: new Date(Date.now() + 60000).toISOString() })).tasks.length, 0);
    const full = await list({ contextId: first.contextId, includeArtifacts: true, historyLength: 1, status: states.completed });
    assert.deepEqual(full.tasks.map((t) => artifactsOf(t)[0]), ['reply to: four', 'reply to: two', 'reply to: one']);
    assert.deepEqual(full.tasks.map((t) => textOf(t.history[0])), ['reply to: four', 'reply to: two', 'reply to: one']);
    await assert.rejects(list({ pageToken: 'nonsense' }), /pageToken/);
    await assert.rejects(list({ pageSize: 101 }), /pageSize/);
    await client.cancelTask({ tenant: '', id: other.id, metadata: undefined });
  });
}

test('tasks of a context are one conversation; names of contexts are stored', async () => {
  const user = await server.user();
  const client = await clientOf(user);
  for (const contextId of ['', 'my context', randomUUID()]) {
    const first = await client.sendMessage(message(`first ${contextId}`, { contextId }));
    if (contextId) assert.equal(first.contextId, contextId);
    const second = await client.sendMessage(message('second', { contextId: first.contextId }));
    assert.notEqual(second.id, first.id);
    assert.equal(second.contextId, first.contextId);
    assert.deepEqual(requests.at(-1).filter((m) => m.startsWith('user:')), [`user:first ${contextId}`, 'user:second']);
    assert.equal((await client.getTask({ tenant: '', id: first.id })).contextId, first.contextId);
    assert.deepEqual((await client.getTask({ tenant: '', id: first.id })).history.map(textOf), [`first ${contextId}`, `reply to: first ${contextId}`]);
    assert.deepEqual(artifactsOf(await client.getTask({ tenant: '', id: first.id })), [`reply to: first ${contextId}`]);
    const listed = await client.listTasks({ tenant: '', contextId: first.contextId, status: 0, pageToken: '' });
    assert.deepEqual(listed.tasks.map((t) => [t.id, t.contextId]), [second, first].map((t) => [t.id, first.contextId]));
  }
  // The same name of another account is another context.
  const other = await clientOf(await server.user());
  const theirs = await other.sendMessage(message('theirs', { contextId: 'my context' }));
  assert.deepEqual(theirs.history.map(textOf), ['theirs', 'reply to: theirs']);
  assert.deepEqual(requests.at(-1).filter((m) => m.startsWith('user:')), ['user:theirs']);
});

test('a repeated message does not start a second task', async () => {
  const client = await clientOf(await server.user());
  for (const contextId of ['', 'named', randomUUID()]) {
    const repeated = message('once', { messageId: 'm-1', contextId });
    const first = await client.sendMessage(repeated);
    const second = await client.sendMessage(repeated);
    assert.equal(second.id, first.id);
    assert.deepEqual(artifactsOf(second), artifactsOf(first));
    const streamed = await new Observer().read(client.sendMessageStream(repeated));
    assert.deepEqual([streamed.task.id, streamed.text, streamed.state], [first.id, 'reply to: once', states.completed]);
    await assert.rejects(client.sendMessage(message('twice', { messageId: 'm-1', contextId })), /message\.messageId/);
  }
});

test('a message on a busy context waits in the queue', async () => {
  const client = await clientOf(await server.user());
  const first = await client.sendMessage(message('[long]', { configuration: atOnce }));
  const second = await client.sendMessage(message('next', { contextId: first.contextId, configuration: atOnce }));
  assert.equal(second.status.state, states.submitted);
  assert.deepEqual((await client.listTasks({ tenant: '', contextId: '', status: states.submitted, pageToken: '' })).tasks.map((t) => t.id), [second.id]);
  const reading = new Observer().read(client.resubscribeTask({ tenant: '', id: second.id }));
  await sleep(300);
  await client.cancelTask({ tenant: '', id: first.id, metadata: undefined });
  const seen = await reading;
  assert.deepEqual(seen.states, [states.submitted, states.working, states.completed]);
  assert.equal(seen.text, 'reply to: next');
});

test('text before a tool call and text of an aborted attempt are replaced', async () => {
  const client = await clientOf(await server.user());
  const tool = await new Observer().read(client.sendMessageStream(message('[tool]')));
  assert.equal(tool.text, 'reply to: [tool]');
  assert.equal(tool.state, states.completed);
  const done = await client.getTask({ tenant: '', id: tool.task.id });
  assert.deepEqual(artifactsOf(done), ['reply to: [tool]']);
  assert.deepEqual(done.history.map(textOf), ['[tool]', 'Let me look. ', 'reply to: [tool]']);
  const cut = await new Observer().read(client.sendMessageStream(message('[cut]')));
  assert.equal(cut.text, 'reply to: [cut]');
  const length = await new Observer().read(client.sendMessageStream(message('[length]')));
  assert.equal(length.text, 'first half, second half');
  assert.deepEqual(artifactsOf(await client.getTask({ tenant: '', id: length.task.id })), ['first half, second half']);
});

test('files and data are part of the prompt', async () => {
  const user = await server.user();
  const client = await clientOf(user);
  const file = { content: { $case: 'raw', value: Buffer.from('the content of a file') }, metadata: undefined, filename: 'notes.txt', mediaType: 'text/plain' };
  const task = await client.sendMessage(message(['look', file, part({ $case: 'data', value: { a: [1, 2.5] } })]));
  assert.equal(task.status.state, states.completed, JSON.stringify(task));
  const prompt = requests.at(-1).findLast((m) => m.startsWith('user:'));
  assert.match(prompt, /look/);
  assert.match(prompt, /\{"a":\[1,2\.5/);
  assert.match(prompt, /notes\.txt/);
  const run = (await user.get(`/agent-run/${task.id}`)).json;
  assert.equal((await user.get(`/projects/${run.project_id}/files/content?path=uploads/notes.txt`)).text, 'the content of a file');
  const only = await client.sendMessage(message([file]));
  assert.equal(only.status.state, states.completed);
});

test('metadata of the request are stored with the run and returned with the task', async () => {
  const user = await server.user();
  for (const rest of [false, true]) {
    const client = await clientOf(user, { rest });
    const send = (metadata, more) => ({ ...message('hello', more), metadata });
    const expected = { order: '17', count: '3', nested: '{"a":[1,"x"]}' };
    const metadata = { order: '17', count: 3, nested: { a: [1, 'x'] } };
    const task = await client.sendMessage(send(metadata));
    const given = ({ order, count, nested }) => ({ order, count, nested });
    assert.deepEqual([given(task.metadata), task.metadata.reason], [expected, 'ok']);
    assert.deepEqual((await user.get(`/agent-run/${task.id}`)).json.metadata, expected);
    assert.deepEqual((await user.get('/agent-runs?metadata[order]=17')).json.agent_runs[0].agent_run_id, task.id);
    assert.deepEqual(given((await client.getTask({ tenant: '', id: task.id })).metadata), expected);
    const listed = await client.listTasks({ tenant: '', contextId: task.contextId, status: 0, pageToken: '' });
    assert.deepEqual(given(listed.tasks[0].metadata), expected);
    const seen = await new Observer().read(client.sendMessageStream(send(metadata)));
    assert.deepEqual(seen.task.metadata, expected);
    const long = { long: 'x'.repeat(513), ['k'.repeat(65)]: 'v', short: 'y' };
    assert.deepEqual((({ long: l, short }) => ({ l, short }))((await client.sendMessage(send(long))).metadata), { l: undefined, short: 'y' }, 'what a run cannot store is ignored');
  }
});

test('a failed task has its error as the status message', async () => {
  const client = await clientOf(await server.user());
  const task = await client.sendMessage(message('[fail]'));
  assert.equal(task.status.state, states.failed);
  assert.ok(textOf(task.status.message).length > 0);
  assert.equal(task.metadata.reason, 'llm_error');
  const seen = await new Observer().read(client.sendMessageStream(message('[fail]')));
  assert.equal(seen.state, states.failed);
  assert.equal(textOf(seen.status.status.message), textOf(task.status.message));
});

test('particular agents have their own card and their own tasks', async () => {
  const user = await server.user();
  const agent = (await user.post('/agents', { json: { name: 'Poet', description: 'Writes poems', system_prompt: 'You are a poet.' } })).json;
  const path = `/a2a/agents/${agent.agent_id}/agent-card.json`;
  const client = await clientOf(user, { path });
  const card = await client.getAgentCard();
  assert.deepEqual([card.name, card.description, card.version], ['Poet', 'Writes poems', '1']);
  assert.equal(card.supportedInterfaces[0].url, `${server.url}/a2a/agents/${agent.agent_id}`);
  const task = await client.sendMessage(message('rhyme'));
  assert.equal(task.status.state, states.completed);
  assert.ok(requests.at(-1)[0].includes('You are a poet.'));
  const general = await clientOf(user);
  const other = await general.sendMessage(message('hello'));
  assert.deepEqual((await client.listTasks({ tenant: '', contextId: '', status: 0, pageToken: '' })).tasks.map((t) => t.id), [task.id]);
  await assert.rejects(client.getTask({ tenant: '', id: other.id }), { name: 'TaskNotFoundError' });
  assert.equal((await general.getTask({ tenant: '', id: task.id })).id, task.id);
  const extended = await general.getAgentCard();
  assert.equal(extended.name, 'Assistant');
  const stranger = await server.user();
  for (const id of [agent.agent_id, randomUUID(), 'x']) {
    assert.equal((await stranger.get(`/a2a/agents/${id}/agent-card.json`)).status, 404);
    const r = await rpc(stranger, 'ListTasks', {}, { path: `/a2a/agents/${id}` });
    assert.deepEqual([r.status, r.json.error.message], [404, 'Agent not found']);
  }
});

test('refused starts have the status and the code of the HTTP API', async () => {
  const user = await server.user();
  const client = await clientOf(user);
  await client.sendMessage(message('hello'));
  database.sql(`update accounts.account set balance_micro = 0 where id = '${user.id}'`);
  const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } };
  const r = await rpc(user, 'SendMessage', params);
  assert.equal(r.status, 402, r.text);
  assert.equal(r.json.id, 7);
  assert.equal(r.json.error.code, -32000);
  assert.equal(r.json.error.data[0].reason, 'INSUFFICIENT_CREDITS');
  await assert.rejects(client.sendMessage(message('x')), /Insufficient credits/);
  const rest = await user.post('/a2a/v1/message:send', { json: params, headers: { 'a2a-version': '1.0' } });
  assert.deepEqual([rest.status, rest.json.error.status], [402, 'RESOURCE_EXHAUSTED']);
});

test('malformed requests get the errors of JSON-RPC and name the field', async () => {
  const user = await server.user();
  const good = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } };
  const bodies = [
    ['{', -32700, null], ['', -32700, null], ['\u0000', -32700, null], ['['.repeat(1000), -32700, null],
    ['[]', -32600, null], ['1', -32600, null], ['"x"', -32600, null], ['{}', -32600, null],
    ['{"jsonrpc":"2.0","method":"GetTask"}', -32600, null],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600, null],
    ['{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600, 1],
    ['{"jsonrpc":"2.0","id":"a","method":5}', -32600, 'a'],
    ['{"jsonrpc":"2.0","id":"a","method":"Nope"}', -32601, 'a'],
    ['{"jsonrpc":"2.0","id":"a","method":"message/send","params":{}}', -32601, 'a'],
    ['{"jsonrpc":"2.0","id":"a","method":"GetTask","params":[]}', -32602, 'a'],
    ['{"jsonrpc":"2.0","id":"a","method":"GetTask"}', -32602, 'a'],
  ];
  for (const [body, code, id] of bodies) {
    const r = await rpc(user, '', undefined, { body });
    assert.deepEqual([r.json?.error?.code, r.json?.id], [code, id], `${body.slice(0, 80)}: ${r.status} ${r.text}`);
  }
  const params = [
    [{}, 'message'], [{ message: [] }, 'message'], [{ message: { ...good.message, messageId: 5 } }, 'message.messageId'],
    [{ message: { ...good.message, messageId: '' } }, 'message.messageId'], [{ message: { ...good.message, messageId: 'x'.repeat(300) } }, 'message.messageId'],
    [{ message: { ...good.message, role: 'ROLE_AGENT' } }, 'message.role'], [{ message: { ...good.message, parts: {} } }, 'message.parts'],
    [{ message: { ...good.message, parts: [] } }, 'message.parts'], [{ message: { ...good.message, parts: [{ text: ' ' }] } }, 'message.parts'],
    [{ message: { ...good.message, parts: [5] } }, 'message.parts[0]'], [{ message: { ...good.message, parts: [{}] } }, 'message.parts[0]'],
    [{ message: { ...good.message, parts: [{ text: 5 }] } }, 'message.parts[0].text'],
    [{ message: { ...good.message, parts: [{ text: 'a', raw: 'YQ==' }] } }, 'message.parts[0]'],
    [{ message: { ...good.message, parts: [{ raw: '%%%' }] } }, 'message.parts[0].raw'],
    [{ message: { ...good.message, parts: [{ raw: 'YQ==', filename: 5 }] } }, 'message.parts[0].filename'],
    [{ message: { ...good.message, parts: Array(101).fill({ text: 'x' }) } }, 'message.parts'],
    [{ message: { ...good.message, contextId: 'x'.repeat(257) } }, 'message.contextId'],
    [{ ...good, configuration: { historyLength: -1 } }, 'configuration.historyLength'],
    [{ ...good, configuration: { returnImmediately: 'yes' } }, 'configuration.returnImmediately'],
    [{ ...good, configuration: 5 }, 'configuration'], [{ ...good, tenant: 'x' }, 'tenant'],
  ];
  for (const method of ['SendMessage', 'SendStreamingMessage'])
    for (const [given, field] of params) {
      const r = await rpc(user, method, given);
      const violations = r.json?.error?.data?.flatMap((d) => d.fieldViolations ?? []) ?? [];
      assert.deepEqual([r.json?.error?.code, violations[0]?.field], [-32602, field], r.text);
    }
  for (const value of ['\u0000', 'a\u0000b']) {
    const r = await rpc(user, 'SendMessage', { message: { ...good.message, parts: [{ text: value }] } });
    assert.deepEqual([r.status, r.json.error.code], [200, -32602], r.text);
    assert.equal((await rpc(user, 'SendMessage', { message: { ...good.message, contextId: value } })).json.error.code, -32602);
  }
  const surrogate = await rpc(user, '', undefined, { body: '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"\\ud800"}}}' });
  assert.equal(surrogate.json.error.code, -32700);
  const version = (headers) => rpc(user, 'message/send', good, { headers });
  for (const headers of [{}, { 'a2a-version': '0.3' }, { 'a2a-version': '2.0' }])
    assert.equal((await version(headers)).json.error.code, -32009);
  assert.equal((await rpc(user, 'ListTasks', {}, { path: '/a2a?A2A-Version=1.0', headers: {} })).json.result.totalSize, 0);
  assert.equal((await rpc(user, 'SendMessage', { ...good, configuration: { taskPushNotificationConfig: { url: 'https://example.org' } } })).json.error.code, -32003);
  const huge = await rpc(user, 'SendMessage', { message: { ...good.message, parts: [{ text: 'x'.repeat(17 << 20) }] } });
  assert.equal(huge.status, 413);
  for (const path of ['/a2a/v1/tasks/x:explode', '/a2a/v1/tasks/x'])
    assert.equal((await user.post(path, { headers: { 'a2a-version': '1.0' }, json: {} })).status, 404);
  const bad = await user.post('/a2a/v1/message:send', { headers: { 'a2a-version': '1.0', 'content-type': 'application/json' }, body: '{' });
  assert.deepEqual([bad.status, bad.json.error.status], [400, 'INVALID_ARGUMENT']);
  assert.equal((await user.get('/a2a/v1/tasks')).json.error.details[0].reason, 'VERSION_NOT_SUPPORTED');
});

test('a client that disconnects does not stop its task', async () => {
  const user = await server.user();
  const client = await clientOf(user);
  const stop = new AbortController();
  const seen = new Observer();
  await seen.read(client.sendMessageStream(message('[count]'), { signal: stop.signal }), (s) => s.text?.includes('w5')).catch(() => {});
  stop.abort();
  const waiting = new AbortController();
  const blocked = client.sendMessage(message('[count] again', { contextId: seen.task.contextId, messageId: 'later' }), { signal: waiting.signal }).catch((e) => e);
  await sleep(300);
  waiting.abort();
  await blocked;
  const { tasks } = await client.listTasks({ tenant: '', contextId: seen.task.contextId, status: 0, pageToken: '' });
  assert.equal(tasks.length, 2);
  for (const { id } of tasks)
    await waitFor('the task to end', async () => (await client.getTask({ tenant: '', id })).status.state === states.completed, 30000);
});

test('a server that stops ends streams without a final state, and waiting requests with the task in progress', async () => {
  const user = await server.user({ tier: 'pro' });
  const client = await clientOf(user);
  const seen = new Observer();
  const streamed = seen.read(client.sendMessageStream(message('[count]')));
  const waiting = client.sendMessage(message('[count]'));
  await waitFor('the text', () => seen.text?.includes('w5'));
  const stopped = server.stop();
  await streamed.catch(() => {});
  const task = await waiting;
  await stopped;
  assert.ok(task.status.state === states.working || task.status.state === states.completed, JSON.stringify(task.status));
  await server.start();
  const restarted = await clientOf(user);
  // The task may have ended during the shutdown.
  await waitFor('the task to end', async () => (await restarted.getTask({ tenant: '', id: seen.task.id })).status.state === states.completed, 30000);
  assert.deepEqual(artifactsOf(await restarted.getTask({ tenant: '', id: seen.task.id })), [words(60)]);
  assert.deepEqual(artifactsOf(await restarted.getTask({ tenant: '', id: task.id })), [words(60)]);
});

// ---- input

const data = (value) => part({ $case: 'data', value });
const requestsOf = (task) => task.status.message.parts.filter((p) => p.content.$case === 'data').map((p) => p.content.value);

test('a task that needs an approval requires input, and a message with its id decides', async () => {
  const user = await server.user();
  const client = await clientOf(user);
  const seen = await new Observer().read(client.sendMessageStream(message('one [ask]')));
  assert.equal(seen.state, states.inputRequired);
  const task = await client.getTask({ tenant: '', id: seen.task.id, historyLength: undefined });
  assert.equal(task.status.state, states.inputRequired);
  const [request] = requestsOf(task);
  assert.equal(request.tool, 'shell');
  assert.deepEqual(request.arguments, { command: 'echo ask 0' });
  assert.deepEqual(requestsOf(seen.status).map((r) => r.approval_id), [request.approval_id]);
  assert.match(task.status.message.parts[0].content.value, /needs an approval to call the tool shell with the arguments \{"command":"echo ask 0"\}/);
  assert.deepEqual((await rpc(user, 'ListTasks', { status: 'TASK_STATE_INPUT_REQUIRED' })).json.result.tasks.map((t) => t.id), [task.id]);

  // A message without a decision asks again; so does a subscription.
  const again = await client.sendMessage(message('what for?', { taskId: task.id }));
  assert.equal(again.status.state, states.inputRequired);
  assert.equal((await new Observer().read(client.resubscribeTask({ tenant: '', id: task.id }))).state, states.inputRequired);

  const rest = await new Observer().read(client.sendMessageStream(message('approve', { taskId: task.id })));
  assert.equal(rest.state, states.completed);
  assert.match(rest.text, /^results: ask 0/);
  const refused = await rpc(user, 'SendMessage', { message: { messageId: randomUUID(), role: 'ROLE_USER', taskId: task.id, parts: [{ text: 'approve' }] } });
  assert.equal(refused.json.error.code, -32004, 'the task has ended');
});

test('several approvals are decided one by one, over both bindings, across a kill', async () => {
  const user = await server.user(), other = await server.user();
  const task = await (await clientOf(user, { rest: true })).sendMessage(message('two [ask]'));
  assert.equal(task.status.state, states.inputRequired);
  const [x, y] = requestsOf(task);
  await waitFor('the run is parked', () => database.sql(`select count(*) from runs.parked where run_id = '${task.id}'`) === '1');
  await server.kill();
  await server.start();
  const rest = await clientOf(user, { rest: true }), json = await clientOf(user);
  const to = (parts) => message(parts, { taskId: task.id });
  await assert.rejects(json.sendMessage(to('approve')), /approval_id/);
  await assert.rejects(json.sendMessage(to(data({ approval_id: randomUUID(), decision: 'approve' }))), /is not an approval of the task/);
  await assert.rejects((await clientOf(other)).sendMessage(to(data({ approval_id: x.approval_id, decision: 'approve' }))), /not found/i);
  const half = await rest.sendMessage(to(data({ approval_id: x.approval_id, decision: 'approve' })));
  assert.equal(half.status.state, states.inputRequired);
  assert.deepEqual(requestsOf(half).map((r) => r.approval_id), [y.approval_id]);
  await assert.rejects(json.sendMessage(to(data({ approval_id: x.approval_id, decision: 'deny' }))), /decision/);
  const done = await json.sendMessage(to([data({ approval_id: x.approval_id, decision: 'approve' }), data({ approval_id: y.approval_id, decision: 'deny', reason: 'not this one' })]));
  assert.equal(done.status.state, states.completed);
  assert.match(artifactsOf(done)[0], /ask 0.*\| Error: .*not this one/s);
});

test('a task whose run waits for a tool of another client takes the result', async () => {
  const user = await server.user();
  const tools = JSON.stringify([{ name: 'get_location', description: 'Location', parameters: { type: 'object', properties: {} } }]);
  const run = (await user.start({ prompt: '[location]', client_tools: tools })).json.agent_run_id;
  const client = await clientOf(user);
  const seen = await new Observer().read(client.resubscribeTask({ tenant: '', id: run }));
  assert.equal(seen.state, states.inputRequired);
  const done = await client.sendMessage(message(data({ tool_call_id: 'loc', content: 'Berlin' }), { taskId: run }));
  assert.equal(done.status.state, states.completed);
  assert.equal(artifactsOf(done)[0], 'results: Berlin');
});
