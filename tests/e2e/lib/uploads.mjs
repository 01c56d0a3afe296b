// Runs with uploaded files, and the text that was found in them.
import assert from 'node:assert/strict';
import { lastUser } from './llm.mjs';
import { statuses } from './server.mjs';

let asked = 0;
// Runs an agent of the user `u` with these files. Returns the model's request, and a function that reads files of the workspace.
export async function uploadTo(llm, u, files, form = {}) {
  const word = `question-${++asked}`;
  const r = await u.start({ prompt: word, files, ...form });
  assert.equal(r.status, 200, r.text);
  const s = await u.stream(r.json.agent_run_id, { timeout: 60000 });
  assert.deepEqual(statuses(s.events).slice(-1), ['completed'], s.raw);
  const request = llm.seen.findLast((c) => lastUser(c.json).startsWith(word)).json;
  return {
    ...r.json, request, prompt: lastUser(request),
    text: async (name) => {
      const t = await u.get(`/projects/${r.json.project_id}/files/content?path=${encodeURIComponent(`uploads/.text/${name}.txt`)}`);
      return t.status === 200 ? t.text : null;
    },
  };
}
