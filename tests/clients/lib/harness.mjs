// The server, a simulated model and an account for a client.
import { lastUser, startLlm, turns } from '../../e2e/lib/llm.mjs';
import { Server, freePort, makeDatabase, sleep } from '../../e2e/lib/server.mjs';

// What the model answers depends on the words in brackets of the prompt.
async function answer(request, reply) {
  const prompt = lastUser(request);
  const results = turns(request).filter((m) => m.role === 'tool').map((m) => (typeof m.content === 'string' ? m.content : m.content.map((p) => p.text).join('')));
  if (results.length) return reply.say(`The tool said: ${results.join(' | ')}`);
  if (prompt.includes('[weather]')) {
    reply.text('Let me look. ');
    return reply.tools([{ id: 'call_w', name: 'get_weather', arguments: { city: 'Ulm' } }]);
  }
  if (prompt.includes('[shell]')) {
    reply.text('Let me look. ');
    return reply.tools([{ id: 'call_s', name: 'shell', arguments: { command: 'echo from the sandbox' } }]);
  }
  if (prompt.includes('[approve]')) {
    reply.text('May I? ');
    return reply.tools([{ id: 'call_a', name: 'shell', arguments: { command: 'echo ask first' } }]);
  }
  if (prompt.includes('[json]')) return reply.say('{"city":"Ulm","degrees":21}');
  if (prompt.includes('[echo]')) return reply.say(JSON.stringify(request.messages));
  if (prompt.includes('[slow]')) {
    for (let i = 0; i < 60 && !reply.res.destroyed; i++) { reply.text(`w${i} `); await sleep(100); }
    return reply.end();
  }
  for (const word of ['Hello', ' from', ' the', ' model']) reply.text(word);
  reply.end();
}

// The complete answer to [slow].
export const slowText = Array.from({ length: 60 }, (_, i) => `w${i} `).join('');

// Calls of shell commands with "ask" need an approval. The port stays the same after a restart.
const settings = `
[[runs.tool_policy]]
match = "shell"
when = {command = "*ask*"}
action = "ask"
`;

export async function startHarness() {
  const database = process.env.RY_TEST_DATABASE_URL ? makeDatabase() : undefined;  // otherwise Runyard starts an embedded one
  const llm = await startLlm(answer);
  const [port, pagePort] = [await freePort(), await freePort()];
  const server = await new Server({ database, llm, settings, set: [`http.listen=127.0.0.1:${port}`, `http.cors.origins=["http://127.0.0.1:${pagePort}"]`] }).start();
  const close = async () => {
    await server.close();
    await llm.close();
    database?.drop();
  };
  return { server, llm, database, pagePort, close, user: () => server.user({ tier: 'enterprise' }) };
}
