// A thread of assistant-ui with the runtime for AG-UI or for the AI SDK.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { HttpAgent } from '@ag-ui/client';
import { useChat } from '@ai-sdk/react';
import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive, useAssistantInstructions, useAssistantTool } from '@assistant-ui/react';
import { useAgUiRuntime } from '@assistant-ui/react-ag-ui';
import { AssistantChatTransport, useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { z } from 'zod';

const { protocol, url, token, id } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const headers = { Authorization: `Bearer ${token}` };

const Text = ({ text }) => <span>{text}</span>;
const Tool = ({ toolName, args, result, approval, respondToApproval }) => <div className="tool">
  <p>{`${toolName} ${JSON.stringify(args)}: ${result === undefined ? 'running' : JSON.stringify(result)}`}</p>
  {approval && approval.approved === undefined && <>
    <button onClick={() => respondToApproval({ approved: true })}>Approve</button>
    <button onClick={() => respondToApproval({ approved: false, reason: 'no' })}>Deny</button>
  </>}
</div>;
const Message = () => <MessagePrimitive.Root><div className="message"><MessagePrimitive.Parts components={{ Text, tools: { Fallback: Tool } }} /></div></MessagePrimitive.Root>;

function Thread() {
  useAssistantInstructions('Use British spelling.');
  useAssistantTool({ toolName: 'get_weather', description: 'Weather of a city', parameters: z.object({ city: z.string() }), execute: async ({ city }) => `Sunny in ${city}` });
  return <ThreadPrimitive.Root>
    <ThreadPrimitive.Messages components={{ Message }} />
    <ThreadPrimitive.If running><p>Busy</p></ThreadPrimitive.If>
    <ComposerPrimitive.Root>
      <ComposerPrimitive.Input aria-label="Message" />
      <ComposerPrimitive.Send aria-label="Send">Send</ComposerPrimitive.Send>
    </ComposerPrimitive.Root>
  </ThreadPrimitive.Root>;
}

// As in "assistant-ui" of docs/clients.md. Without prepareSendMessagesRequest, the transport sends an id of its own.
const transport = new AssistantChatTransport({ api: url, headers,
  prepareSendMessagesRequest: ({ body, messages, trigger, messageId }) => ({ body: { ...body, id, messages, trigger, messageId } }) });
const isComplete = (s) => lastAssistantMessageIsCompleteWithApprovalResponses(s) || (!s.messages.at(-1).metadata?.waiting && lastAssistantMessageIsCompleteWithToolCalls(s));
function WithAiSdk({ messages }) {
  const chat = useChat({ id, messages, transport, resume: true, sendAutomaticallyWhen: isComplete,
    onError: () => {
      const { runId, ended } = chat.messages.at(-1)?.metadata ?? {};
      if (runId && !ended) setTimeout(() => chat.resumeStream({ headers: { 'X-Run-Id': runId } }), 1000);
    } });
  const runtime = useAISDKRuntime(chat);
  transport.setRuntime(runtime);
  return <AssistantRuntimeProvider runtime={runtime}><Thread /></AssistantRuntimeProvider>;
}
function AiSdk() {
  const [messages, setMessages] = useState();
  useEffect(() => { fetch(`${url}/${encodeURIComponent(id)}`, { headers }).then((r) => r.json()).then((c) => setMessages(c.messages)); }, []);
  return messages ? <WithAiSdk messages={messages} /> : null;
}

const agent = new HttpAgent({ url, headers, threadId: id });
function AgUi() {
  const runtime = useAgUiRuntime({ agent });
  return <AssistantRuntimeProvider runtime={runtime}><Thread /></AssistantRuntimeProvider>;
}

createRoot(document.getElementById('root')).render(protocol === 'ag-ui' ? <AgUi /> : <AiSdk />);
