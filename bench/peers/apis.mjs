// How servers of agent runs are asked for one: what is sent before the stream is asked for, and how a chunk of text looks in it.
import { startRequest, streamRequest } from './connection.mjs';

const post = (path, body) => {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
};
async function json(c, request, what) {
  const r = await c.request(request);
  if (r.status < 200 || r.status > 299) throw new Error(`${what}: ${r.status} ${r.text.slice(0, 100)}`);
  return JSON.parse(r.text);
}
const user = (prompt) => [{ role: 'user', content: prompt }];

// begin(connection, bearer, prompt) -> the request of the stream. mark: in each chunk's event; unlike: in what only looks like one.
export const apis = {
  contract: {
    mark: 'llm_response_chunk',
    start: async (c, bearer, prompt) => (await json(c, startRequest(bearer, prompt), 'start')).agent_run_id,
    begin: async (c, bearer, prompt) => streamRequest(bearer, await apis.contract.start(c, bearer, prompt)),
  },
  // A thread, a run in the background, its stream from the first event.
  langgraph: {
    mark: '"content":"', unlike: '"content":""',
    begin: async (c, bearer, prompt) => {
      const thread = (await json(c, post('/threads', {}), 'thread')).thread_id;
      const run = (await json(c, post(`/threads/${thread}/runs`,
        { assistant_id: 'agent', input: { messages: user(prompt) }, stream_mode: ['messages-tuple'], stream_resumable: true }), 'run')).run_id;
      return `GET /threads/${thread}/runs/${run}/stream?stream_mode=messages-tuple HTTP/1.1\r\nHost: x\r\nLast-Event-ID: -1\r\n\r\n`;
    },
  },
  // These stream on the request that starts.
  mastra: { mark: '"type":"text-delta"', begin: async (c, bearer, prompt) => post('/api/agents/agent/stream', { messages: user(prompt) }) },
  voltagent: { mark: '"type":"text-delta"', begin: async (c, bearer, prompt) => post('/agents/agent/stream', { input: prompt }) },
};
