// Deterministic model provider of the chaos tests: the response depends only on the conversation, so every worker gets
// the same response to a repeated request. A prompt is `[name=value ...] text`:
//   tools   number of tool calls, one per response, before the final response
//   chunks  number of chunks of each response
//   pace    milliseconds between the chunks
//   tool    shell command that the tool calls run (default: `true`)
import { lastUser, startLlm, turns } from '../../e2e/lib/llm.mjs';
import { sleep } from '../../e2e/lib/server.mjs';

export const usage = { input: 100, output: 10 };
export const microPerAnswer = usage.input + usage.output;  // at the prices below
export const prices = `
[runs.prices."runyard/basic"]
input = 1000000
output = 1000000
`;

export function promptOf({ tools = 0, chunks = 10, pace = 20, tool = 'true' }, text = 'go') {
  return `[tools=${tools} chunks=${chunks} pace=${pace} tool=${tool.replaceAll(' ', '_')}] ${text}`;
}
export function planOf(prompt) {
  const fields = Object.fromEntries(/^\[(.*?)\]/.exec(prompt)[1].split(' ').map((pair) => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  }));
  return { tools: Number(fields.tools), chunks: Number(fields.chunks), pace: Number(fields.pace), tool: fields.tool.replaceAll('_', ' ') };
}
// The text of the response with the given index.
export const textOfAnswer = (plan, index) =>
  Array.from({ length: plan.chunks }, (_, i) => `a${index}.${i} `).join('');

// random: if given, responses are disconnected midway with probability `cuts`.
export async function startModel({ random, cuts = 0, host } = {}) {
  const state = { disconnected: 0, requests: 0 };
  const llm = await startLlm(async (request, reply) => {
    state.requests++;
    const plan = planOf(lastUser(request));
    const index = turns(request).filter((m) => m.role === 'tool').length;
    const disconnectAt = random?.chance(cuts) ? random.between(0, plan.chunks - 1) : -1;
    for (let i = 0; i < plan.chunks; i++) {
      if (i === disconnectAt) { state.disconnected++; return reply.cut(); }
      reply.text(`a${index}.${i} `);
      if (plan.pace > 0) await sleep(plan.pace);
      if (reply.res.destroyed) return;
    }
    if (index < plan.tools) {
      const call = plan.tool === 'true' && index % 2 === 1
        ? { id: `call_${index}`, name: 'list_files', arguments: {} }
        : { id: `call_${index}`, name: 'shell', arguments: { command: plan.tool } };
      return reply.tools([call], usage);
    }
    reply.end(usage);
  }, { host });
  return Object.assign(llm, { state });
}
