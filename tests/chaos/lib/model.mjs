// The model of the chaos tests: its answers depend only on the conversation, so that every worker
// gets the same answer, however often it asks. A prompt is `[name=value ...] text`:
//   tools   calls to make, one answer each, before the last answer
//   chunks  pieces of each answer
//   pace    milliseconds between the pieces
//   tool    command of the calls (default: true)
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
  const at = Object.fromEntries(/^\[(.*?)\]/.exec(prompt)[1].split(' ').map((pair) => {
    const cut = pair.indexOf('=');
    return [pair.slice(0, cut), pair.slice(cut + 1)];
  }));
  return { tools: Number(at.tools), chunks: Number(at.chunks), pace: Number(at.pace), tool: at.tool.replaceAll('_', ' ') };
}
// The text of the answer with the given index.
export const textOfAnswer = (plan, index) =>
  Array.from({ length: plan.chunks }, (_, i) => `a${index}.${i} `).join('');

// random: cuts some answers off, when given.
export async function startModel({ random, cuts = 0, host } = {}) {
  const state = { cut: 0, asked: 0 };
  const llm = await startLlm(async (request, reply) => {
    state.asked++;
    const plan = planOf(lastUser(request));
    const index = turns(request).filter((m) => m.role === 'tool').length;
    const cutAt = random?.chance(cuts) ? random.between(0, plan.chunks - 1) : -1;
    for (let i = 0; i < plan.chunks; i++) {
      if (i === cutAt) { state.cut++; return reply.cut(); }
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
