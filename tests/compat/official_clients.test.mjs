// Parses the responses of all cases with our drivers and with the official clients `openai` and `@anthropic-ai/sdk`:
// text, tool calls, finish reason and usage must be equal. official_differences.json lists intended differences and
// their reasons.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { encode, withEnvelope } from './lib/answers.mjs';
import { casesOf, knownFailures, topics } from './lib/cases.mjs';
import { byDriver, byOfficialClient } from './lib/readers.mjs';

const differences = JSON.parse(readFileSync(path.join(import.meta.dirname, 'official_differences.json'), 'utf8'));
const members = ['failed', 'text', 'calls', 'finish', 'usage'];
const wires = { openai: 'chat', anthropic: 'messages' };

// Each response once, under the first case that has it. Responses computed from a request are not recordings, and cases
// with a decision have no undisputed result.
const recordings = [], seen = new Set();
for (const c of (await Promise.all(topics.map(casesOf))).flat()) {
  if (c.decision) continue;
  const kind = c.kind ?? 'openai', wire = wires[kind];
  for (const [i, given] of (c.answers ?? []).entries()) {
    if (typeof given === 'function' || (c.fallback && i > 0)) continue;
    const answer = encode(withEnvelope(given, wire), wire), key = `${wire}:${answer.status}:${answer.body.toString('latin1')}`;
    if (seen.has(key)) continue;
    seen.add(key);
    recordings.push({ id: i === 0 ? c.id : `${c.id}#${i + 1}`, caseId: c.id, title: c.title, kind, answer });
  }
}

let server, origin;
const ours = new Map();
before(async () => {
  const byId = new Map(recordings.map((r) => [r.id, r.answer]));
  server = http.createServer(async (request, response) => {
    const { status, headers, body } = byId.get((await json(request)).model);
    response.writeHead(status, headers).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  await Promise.all(Object.keys(wires).map(async (kind) => {
    const ids = recordings.filter((r) => r.kind === kind).map((r) => r.id);
    (await byDriver(kind, origin, ids)).forEach((reading, i) => ours.set(ids[i], reading));
  }));
});
after(() => server.close());

const equal = (a, b) => {
  try {
    assert.deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
};
// Returns the members in which two results differ. Only the existence of a failure is compared, and usage only if both
// report it.
function differing(mine, theirs) {
  if (mine.failed || theirs.failed) return mine.failed === theirs.failed ? [] : ['failed'];
  return members.filter((name) => !(name === 'usage' && !(mine.usage && theirs.usage))
    && !equal(mine[name], theirs[name]));
}

describe('responses are parsed in the same way as by the official clients', { concurrency: 4 }, () => {
  for (const r of recordings) {
    test(`${r.id}: ${r.title}`, async (t) => {
      const mine = ours.get(r.id), theirs = await byOfficialClient(r.kind, origin, r.id);
      const message = `ours: ${JSON.stringify(mine)}\nofficial: ${JSON.stringify(theirs)}`;
      if (knownFailures[r.caseId]) t.todo(knownFailures[r.caseId]);
      else assert.deepEqual(differing(mine, theirs), differences[r.id]?.differs ?? [], message);
    });
  }
});

test('each difference belongs to a recording and has a reason', () => {
  for (const [id, { differs, reason }] of Object.entries(differences)) {
    assert.ok(recordings.some((r) => r.id === id), `there is no recording ${id}`);
    assert.ok(differs.length > 0 && differs.every((name) => members.includes(name)), id);
    assert.match(reason, /^\S.{15,}\.$/, id);
  }
});

test('most recordings have no difference', () => {
  assert.ok(recordings.length > 130, `only ${recordings.length} recordings`);
  assert.ok(Object.keys(differences).length < recordings.length / 3);
});
