// The mock model providers of all cases of a topic, in one HTTP server. The first part of the path is the id of the
// case.
import { startLlm } from '../../e2e/lib/llm.mjs';
import { DONE_ANSWER, encode } from './answers.mjs';
import { viewOf } from './request_view.mjs';
import { refusal } from './rules.mjs';

export async function startProvider(cases) {
  const states = new Map(cases.map((c) => [c.id, { case: c, given: 0, requests: [], refusals: [] }]));
  const llm = await startLlm((request, reply, n) => {
    const call = llm.seen[n];
    const [, id, path] = /^\/([\w-]+)(\/.*)$/.exec(call.path);
    const state = states.get(id);
    state.requests.push({ path, body: request, at: call.at });
    const wire = ['messages', 'responses'].find((w) => path.includes(`/${w}`)) ?? 'chat';
    const answer = answerOf(state, request, wire);
    const { status, headers, body } = encode(answer, wire);
    reply.res.writeHead(status, headers);
    if (answer.open) reply.res.write(body);
    else reply.res.end(body);
  });
  return { origin: new URL(llm.url).origin, of: (id) => states.get(id), close: llm.close };
}

// A request that is too long or breaks a rule does not consume a response. The last response is repeated. A function
// computes a response from the request.
function answerOf(state, request, wire) {
  const { answers = [DONE_ANSWER], limit, refuses = [] } = state.case;
  if (limit && JSON.stringify(request).length > limit.bytes) {
    state.refusals.push('too long');
    return limit.answer;
  }
  const message = refusal(refuses, request, wire);
  if (message) {
    state.refusals.push(message);
    return { status: 400, headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }) };
  }
  const answer = answers[Math.min(state.given++, answers.length - 1)];
  return typeof answer === 'function' ? answer(viewOf(request)) : answer;
}
