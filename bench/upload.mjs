// Response time of a start with one text file of 10 kB compared with a start without files, one at a time on one
// connection:
//   RY_BUILD_DIR=build RY_TEST_DATABASE_URL=... node bench/upload.mjs [starts]
import { startLlm } from '../tests/e2e/lib/llm.mjs';
import { Server, makeDatabase } from '../tests/e2e/lib/server.mjs';

const starts = Number(process.argv[2] ?? 100);
const database = makeDatabase();
const llm = await startLlm((request, reply) => reply.say('ok'));
const server = await new Server({ database, llm }).start();
try {
  const user = await server.user({ tier: 'enterprise' });
  const file = { name: 'notes.txt', data: 'ten kilobytes of text '.repeat(466).slice(0, 10240) };
  const medians = {};
  for (const [name, files] of [['warm-up', [file]], ['without', []], ['with a file', [file]]]) {
    const took = [];
    for (let i = 0; i < starts; i++) {
      const began = performance.now();
      const r = await user.start({ prompt: 'x', files });
      took.push(performance.now() - began);
      if (r.status !== 200) throw new Error(r.text);
      await user.stream(r.json.agent_run_id);
    }
    medians[name] = took.sort((a, b) => a - b)[starts >> 1];
  }
  delete medians['warm-up'];
  for (const [name, ms] of Object.entries(medians)) console.log(`${name}: median ${ms.toFixed(2)} ms`);
} finally {
  await server.close();
  await llm.close();
  database.drop();
}
