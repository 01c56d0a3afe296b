// `runyard model check` against a correct provider, and against providers with one defect each. It needs neither
// a server nor a database.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { lastUser, startLlm } from './lib/llm.mjs';
import { binary, build, sleep, waitFor } from './lib/server.mjs';

const key = 'sk-the-right-key';
let dir, llm, defects = {};
before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'ry-model-check-'));
  llm = await startLlm(answer);
});
after(async () => {
  await llm?.close();
  rmSync(dir, { recursive: true, force: true });
});

function frame(res, delta, finish_reason = null, more = {}) {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`);
}
function finish(res, reason, output = 10) {
  frame(res, {}, reason, defects.usage ? {} : { usage: { prompt_tokens: 100, completion_tokens: output, total_tokens: 100 + output } });
  res.end('data: [DONE]\n\n');
}
function say(res, text, reason = 'stop', output) {
  const pieces = defects.streaming ? [text] : text.match(/\S+\s*/g);
  for (const content of pieces) frame(res, { content });
  finish(res, reason, output);
}
function call(res, cities) {
  cities.forEach((city, index) => frame(res, { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name: 'get_weather', arguments: city } }] }));
  finish(res, 'tool_calls');
}
const city = (name) => JSON.stringify({ city: name });
const numbers = (n) => Array.from({ length: n }, (_, i) => `number ${i}`).join(', ');

// Behaves correctly except for the defects in `defects`.
async function answer(request, { res, fail }, i) {
  const sent = llm.seen[i].headers.authorization;
  const prompt = lastUser(request), limit = request.max_tokens ?? request.max_completion_tokens;
  if (sent !== `Bearer ${key}`) {
    if (defects.key === 'any') return say(res, 'ready');
    return defects.key ? fail(defects.key, {}, 'broken') : fail(401, {}, 'Incorrect API key provided');
  }
  if (defects.limitField && request.max_completion_tokens === undefined) return fail(400, {}, "Unsupported parameter: 'max_tokens'");
  if (defects.text === 'page') return res.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>');
  if (defects.text === 'silent') return;
  if (defects.text === 'empty') return finish(res, 'stop');
  if (defects.text === 'busy' && llm.seen.length === i + 1 && !defects.waited) { defects.waited = true; return fail(429, { 'retry-after': '1' }, 'busy'); }
  if (request.messages.at(-1).role === 'tool') {
    const ids = request.messages.filter((m) => m.role === 'tool').map((m) => m.tool_call_id);
    const calls = request.messages.findLast((m) => m.tool_calls).tool_calls.map((c) => c.id);
    assert.deepEqual(ids, calls);
    return defects.results ? fail(400, {}, 'tool results are not taken') : say(res, 'It is clear at 21 degrees.');
  }
  if (request.tools) {
    if (defects.tools === 'refused') return fail(400, {}, 'this model does not support tools');
    if (defects.tools === 'talks') return say(res, 'I would call get_weather.');
    if (defects.tools === 'garbled') return call(res, ['{"city": "Par']);
    if (!prompt.includes('Tokyo')) return call(res, [city('Paris')]);
    if (defects.parallel === 'one') return call(res, [city('Paris')]);
    return call(res, defects.parallel === 'same' ? [city('Paris'), city('Paris')] : [city('Paris'), city('Tokyo')]);
  }
  if (request.messages.some((m) => Array.isArray(m.content) && m.content.some((p) => p.type === 'image_url'))) {
    if (defects.image === 'refused') return fail(400, {}, 'image input is not supported');
    return say(res, defects.image ? 'Blue.' : 'Red.');
  }
  if (prompt.includes('in words')) {
    if (limit === 64) {
      if (defects.limit === 'ignored') return say(res, numbers(300), 'stop', 900);
      return say(res, numbers(20), defects.limit === 'silent' ? 'stop' : 'length', 64);
    }
    for (let n = 0; n < 200 && !res.destroyed; n++) { frame(res, { content: `number ${n}, ` }); await sleep(20); }
    return finish(res, 'stop');
  }
  if (prompt.includes('1 to 40')) {
    if (defects.stuck) return;
    if (defects.held) await sleep(1300);
    return say(res, Array.from({ length: 40 }, (_, n) => n + 1).join(' '));
  }
  say(res, 'ready');
}

// Checks a model; returns exit code, output and, with --json, the report.
async function check(args, { settings = '', options = '', env = {}, injected = {} } = {}) {
  defects = { ...injected };
  llm.seen.length = 0;
  const file = path.join(dir, 'a.toml');
  writeFileSync(file, `
modules.path = "${build}/modules"
data_dir = "${dir}/data"
database.url = "postgresql://nobody@127.0.0.1:1/none"
${['accounts', 'agents', 'runs', 'llm_openai', 'llm_offline'].map((m) => `[modules.${m}]\nenabled = true`).join('\n')}
[runs.providers.mock]
kind = "openai"
base_url = "${llm.url}"
api_key = "${key}"
${options}
[runs.models]
"runyard/basic" = "mock/basic"
${settings}`);
  const child = spawn(binary, ['model', 'check', '--config', file, ...args], { env: { PATH: process.env.PATH, ...env } });
  let stdout = '', stderr = '';
  child.stdout.on('data', (d) => (stdout += d));
  child.stderr.on('data', (d) => (stderr += d));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.ok(!`${stdout}${stderr}`.includes(key), 'the key is never printed');
  const report = args.includes('--json') && stdout ? JSON.parse(stdout) : undefined;
  return { code, stdout, stderr, report, of: (name) => report.checks.find((c) => c.name === name) };
}
const json = ['runyard/basic', '--json'];

test('a correct provider passes, with capabilities, usage, cost and recommended settings', async () => {
  const r = await check(json, { settings: '[runs.prices."runyard/basic"]\ninput = 15000000\noutput = 60000000' });
  assert.equal(r.code, 0, r.stderr + r.stdout);
  assert.equal(r.stderr, '');
  assert.deepEqual(r.report.checks.map((c) => [c.name, c.status]), ['text', 'streaming', 'tool_call', 'parallel_tool_calls', 'image', 'output_limit', 'cancellation', 'wrong_key'].map((n) => [n, 'ok']));
  assert.deepEqual(r.report.capabilities, { text: true, streaming: true, tools: true, parallel_tools: true, vision: true, output_limit: true, cancellation: true, checks_keys: true, reports_usage: true, reasoning: false });
  assert.deepEqual([r.report.model, r.report.provider, r.report.kind, r.report.provider_model, r.report.ok], ['runyard/basic', 'mock', 'openai', 'basic', true]);
  const { input_tokens: input, output_tokens: output } = r.report.usage;
  assert.ok(input >= 700 && output >= 100, JSON.stringify(r.report.usage));
  assert.equal(r.report.cost.priced, true);
  assert.equal(r.report.cost.micro_credits, input * 15 + output * 60);
  assert.deepEqual(r.report.recommended.map((x) => [x.setting, x.value]), [['runs.vision."runyard/basic"', 'true'], ['runs.context_tokens."runyard/basic"', null]]);
  await waitFor('the cancelled response to be closed', () => llm.seen.filter((s) => s.aborted).length === 1);
  assert.ok(llm.seen.length <= 12, `${llm.seen.length} requests`);
  assert.ok(llm.seen.every((s) => (s.json.max_tokens ?? 0) >= 64 && s.json.max_tokens <= 2048), 'every request has an output limit');
  assert.ok(!existsSync(path.join(dir, 'data')), 'it creates no data directory');
});

test('the human-readable report', async () => {
  const r = await check(['mock/basic'], { settings: '[runs.vision]\n"mock/basic" = true' });
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stdout, /^mock\/basic \(openai\)\n\n {2}text {17}ok/);
  assert.match(r.stdout, /\n {2}parallel_tool_calls {2}ok .*2 calls in one answer\n/);
  assert.match(r.stdout, /\ncost: no price is configured\n/);
  assert.match(r.stdout, /\n {2}runs\.prices\."mock\/basic"\n/);
  assert.match(r.stdout, /\nthe basics work\n$/);
});

const defectCases = [
  ['responses that are not streamed', { streaming: true }, 0, 'streaming', 'unsupported', /at once, not as a stream/],
  ['responses that are buffered', { held: true }, 0, 'streaming', 'unsupported', /all chunks arrived at once/],
  ['usage that is not reported', { usage: true }, 0, 'text', 'ok', /does not report its usage/],
  ['tools that are rejected', { tools: 'refused' }, 1, 'tool_call', 'unsupported', /refuses a request with tools: .*does not support tools/],
  ['text instead of tool calls', { tools: 'talks' }, 1, 'tool_call', 'unsupported', /text instead of calling the tool/],
  ['truncated tool arguments', { tools: 'garbled' }, 1, 'tool_call', 'failed', /the call is invalid/],
  ['tool results that are rejected', { results: true }, 1, 'tool_call', 'failed', /after the results of the calls: .*not taken/],
  ['one tool call at a time', { parallel: 'one' }, 0, 'parallel_tool_calls', 'unsupported', /one call at a time/],
  ['two identical tool calls', { parallel: 'same' }, 0, 'parallel_tool_calls', 'failed', /mixed up/],
  ['images that are rejected', { image: 'refused' }, 0, 'image', 'unsupported', /refuses a request with an image/],
  ['images that are ignored', { image: 'blind' }, 0, 'image', 'unsupported', /called a red square "Blue\."/],
  ['an output limit that is ignored', { limit: 'ignored' }, 0, 'output_limit', 'failed', /was ignored: the answer has 900/],
  ['a truncation that is not reported', { limit: 'silent' }, 0, 'output_limit', 'failed', /reports it as complete/],
  ['keys that are not checked', { key: 'any' }, 0, 'wrong_key', 'unsupported', /accepts any key/],
  ['a wrong key that looks like an outage', { key: 503 }, 0, 'wrong_key', 'failed', /would retry/],
  ['an empty response', { text: 'empty' }, 1, 'text', 'failed', /is empty/],
  ['an HTML page instead of a stream', { text: 'page' }, 1, 'text', 'failed', /./],
  ['a temporary overload', { text: 'busy' }, 0, 'text', 'ok', /./],
];
for (const [name, defect, code, checked, status, detail] of defectCases)
  test(`a provider with ${name}`, async () => {
    const r = await check(json, { injected: defect });
    assert.equal(r.of(checked).status, status, r.stdout);
    assert.match(r.of(checked).detail, detail);
    assert.equal(r.code, code, r.stdout);
    assert.equal(r.report.ok, code === 0);
    for (const c of r.report.checks) if (c.name !== checked && (code === 0 || c.name === 'text')) assert.equal(c.status, 'ok', `${c.name}: ${c.detail}`);
    if (checked === 'text' && code !== 0) assert.ok(r.report.checks.slice(1).every((c) => c.status === 'skipped'), 'the remaining checks are skipped');
    if (defect.usage) assert.equal(r.report.usage.estimated, true);
  });

test('a silent provider is reported after the time limit', async () => {
  const begun = Date.now();
  const r = await check([...json, '--timeout', '1'], { injected: { text: 'silent' } });
  assert.equal(r.code, 1);
  assert.match(r.of('text').detail, /within 1 s/);
  assert.ok(Date.now() - begun < 20_000);
});

test('all checks together have a time limit', async () => {
  const begun = Date.now();
  const r = await check([...json, '--total-timeout', '2'], { injected: { stuck: true } });
  assert.equal(r.code, 1);
  assert.equal(r.of('text').status, 'ok', r.stdout);
  for (const name of ['streaming', 'tool_call', 'wrong_key']) {
    assert.equal(r.of(name).status, 'skipped', name);
    assert.match(r.of(name).detail, /all checks together are limited to 2 s \(--total-timeout\)/);
  }
  assert.equal(r.of('streaming').requests, 1, r.stdout);
  assert.equal(r.of('tool_call').requests, 0);
  assert.match(r.stderr, /ran out of time; set a larger --total-timeout/);
  assert.equal(r.report.capabilities.streaming, null);
  assert.ok(Date.now() - begun < 30_000, 'long before the time limit of one response');
});

test('a setting that fixes a failure is detected and recommended', async () => {
  const r = await check(json, { injected: { limitField: true } });
  assert.equal(r.code, 1);
  assert.match(r.of('text').detail, /max_tokens/);
  assert.deepEqual(r.report.recommended.map((x) => [x.setting, x.value]), [['runs.providers.mock.options.max_tokens_field', '"max_completion_tokens"']]);
  const again = await check(json, { injected: { limitField: true }, options: 'options = { max_tokens_field = "max_completion_tokens" }' });
  assert.equal(again.code, 0, again.stdout);
});

// A provider with the Anthropic Messages API, for the same checks.
function answerAnthropic(request, { res, fail }, i) {
  if (llm.seen[i].headers['x-api-key'] !== key) return fail(401, {}, 'invalid x-api-key');
  const prompt = JSON.stringify(request.messages.at(-1).content);
  const write = (type, more) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  const finish = (stop_reason, blocks) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    write('message_start', { message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 20 } } });
    blocks.forEach(({ start, deltas }, index) => {
      write('content_block_start', { index, content_block: start });
      for (const delta of deltas) write('content_block_delta', { index, delta });
      write('content_block_stop', { index });
    });
    write('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 30 } });
    write('message_stop', {});
    res.end();
  };
  const say = (text, reason = 'end_turn') => finish(reason, [{ start: { type: 'text', text: '' }, deltas: text.match(/\S+\s*/g).map((t) => ({ type: 'text_delta', text: t })) }]);
  const use = (...names) => finish('tool_use', names.map((n, k) => ({ start: { type: 'tool_use', id: `toolu_${k}`, name: 'get_weather', input: {} }, deltas: [{ type: 'input_json_delta', partial_json: city(n) }] })));
  if (prompt.includes('tool_result')) return say('It is clear.');
  if (request.tools) return prompt.includes('Tokyo') ? use('Paris', 'Tokyo') : use('Paris');
  if (prompt.includes('"image"')) return say('Red');
  if (prompt.includes('in words')) return say(numbers(20), request.max_tokens === 64 ? 'max_tokens' : 'end_turn');
  return say('one two three four');
}

test('a provider of kind anthropic', async () => {
  llm.answer = answerAnthropic;
  try {
    const r = await check(['claude/m', '--json'], { settings: `[modules.llm_anthropic]\nenabled = true\n[runs.providers.claude]\nkind = "anthropic"\nbase_url = "${llm.url}"\napi_key = "${key}"` });
    assert.equal(r.code, 0, r.stdout + r.stderr);
    assert.deepEqual(r.report.checks.filter((c) => c.status !== 'ok'), []);
    assert.ok(r.report.usage.cached_tokens > 0 && !r.report.usage.estimated, JSON.stringify(r.report.usage));
  } finally {
    llm.answer = answer;
  }
});

test('for a provider without a key, no wrong key is tried', async () => {
  const r = await check(['offline/basic', '--json']);
  assert.equal(r.of('wrong_key').status, 'skipped');
  assert.equal(llm.seen.length, 0);
});

test('command-line errors', async () => {
  const unknown = await check(['runyard/basik']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /"runyard\/basik" is not a known model: .*; did you mean "runyard\/basic"\?/);
  const missing = await check([]);
  assert.equal(missing.code, 2);
  const badTimeout = await check(['runyard/basic', '--timeout', '0']);
  assert.equal(badTimeout.code, 2);
  assert.match(badTimeout.stderr, /--timeout/);
  const badTotalTimeout = await check(['runyard/basic', '--total-timeout', '0']);
  assert.equal(badTotalTimeout.code, 2);
  assert.match(badTotalTimeout.stderr, /--total-timeout must be/);
  const badSettings = await check(['runyard/basic'], { settings: '[runs.prices."mock/"]\ninput = 1' });
  assert.equal(badSettings.code, 2);
  assert.match(badSettings.stderr, /runs\.prices\."mock\/"/);
  assert.equal(llm.seen.length, 0);
  const help = await check(['--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /runyard model check runyard\/basic --config/);
});
