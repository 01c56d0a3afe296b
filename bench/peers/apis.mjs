// How each server is asked for an agent run: the requests before that of the stream, and the form of a text chunk in
// the stream.
import { startRequest, streamRequest } from './connection.mjs';

const post = (path, body) => {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
};
async function json(c, request, name) {
  const r = await c.request(request);
  if (r.status < 200 || r.status > 299) throw new Error(`${name}: ${r.status} ${r.text.slice(0, 100)}`);
  return JSON.parse(r.text);
}
const user = (prompt) => [{ role: 'user', content: prompt }];

// begin(connection, bearer, prompt) -> the request of the stream. mark: text in each chunk's event; unlike: text that
// excludes an event.
export const apis = {
  contract: {
    mark: 'llm_response_chunk',
    start: async (c, bearer, prompt) => (await json(c, startRequest(bearer, prompt), 'start')).agent_run_id,
    begin: async (c, bearer, prompt) => streamRequest(bearer, await apis.contract.start(c, bearer, prompt)),
  },
  // Creates a thread and a background run, then reads its stream from the first event.
  langgraph: {
    mark: '"content":"', unlike: '"content":""',
    begin: async (c, bearer, prompt) => {
      const thread = (await json(c, post('/threads', {}), 'thread')).thread_id;
      const run = (await json(c, post(`/threads/${thread}/runs`,
        { assistant_id: 'agent', input: { messages: user(prompt) }, stream_mode: ['messages-tuple'], stream_resumable: true }), 'run')).run_id;
      return `GET /threads/${thread}/runs/${run}/stream?stream_mode=messages-tuple HTTP/1.1\r\nHost: x\r\nLast-Event-ID: -1\r\n\r\n`;
    },
  },
  // These stream in the response to the start request.
  mastra: { mark: '"type":"text-delta"', begin: async (c, bearer, prompt) => post('/api/agents/agent/stream', { messages: user(prompt) }) },
  voltagent: { mark: '"type":"text-delta"', begin: async (c, bearer, prompt) => post('/agents/agent/stream', { input: prompt }) },
};
