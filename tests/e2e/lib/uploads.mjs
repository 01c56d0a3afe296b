// Runs with uploaded files, and the text that was extracted from them.
import assert from 'node:assert/strict';
import { lastUser } from './llm.mjs';
import { statuses } from './server.mjs';

let promptCount = 0;
// Runs an agent of the user `u` with these files. Returns the model's request, and a function that returns the text
// extracted from a file.
export async function uploadTo(llm, u, files, form = {}) {
  const marker = `question-${++promptCount}`;
  const r = await u.start({ prompt: marker, files, ...form });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  const request = llm.seen.findLast((c) => lastUser(c.json).startsWith(marker)).json;
  return {
    ...r.json, request, prompt: lastUser(request),
    text: async (name) => {
      const t = await u.get(`/projects/${r.json.project_id}/files/content?path=${encodeURIComponent(`uploads/.text/${name}.txt`)}`);
      return t.status === 200 ? t.text : null;
    },
  };
}
