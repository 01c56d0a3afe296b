// Reads recorded streams of a run with the clients of other protocols. Throws if a client refuses a stream.
import { HttpAgent } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import { DefaultChatTransport, readUIMessageStream } from 'ai';

const dataOf = (block) => /^data: (.*)$/m.exec(block)?.[1];
const recorded = (blocks, headers) => async () =>
  new Response(blocks.join(''), { headers: { 'content-type': 'text/event-stream', ...headers } });

// blocks: the Server-Sent Events, in any number of connections. Returns the texts of the assistant's messages, and the
// status of the run as the client shows it.
export async function readAgui(blocks, { threadId, runId }) {
  for (const block of blocks) if (dataOf(block)) EventSchema.parse(JSON.parse(dataOf(block)));
  const agent = new HttpAgent({ url: 'http://recorded.invalid/', threadId });
  agent.fetch = recorded(blocks);
  let status;
  agent.subscribe({
    onRunFinishedEvent: ({ event }) => { status = event.outcome.type === 'cancelled' ? 'stopped' : 'completed'; },
    onRunErrorEvent: () => { status = 'failed'; },
  });
  await agent.runAgent({ runId });
  return { status, texts: agent.messages.filter((m) => m.role === 'assistant' && m.content).map((m) => m.content) };
}

// blocks: the Server-Sent Events of one connection, because such a stream always begins with the first event.
export async function readUiMessages(blocks, { chatId }) {
  const transport = new DefaultChatTransport({ api: 'http://recorded.invalid/', fetch: recorded(blocks, { 'x-vercel-ai-ui-message-stream': 'v1' }) });
  const stream = await transport.reconnectToStream({ chatId });
  const errors = [];
  let message;
  for await (const m of readUIMessageStream({ stream, onError: (e) => errors.push(e) })) message = m;
  return { errors, metadata: message?.metadata, texts: (message?.parts ?? []).filter((p) => p.type === 'text' && p.text).map((p) => p.text) };
}
