// CopilotChat with an agent of the server: directly, or through the runtime of CopilotKit.
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { CopilotChat, CopilotKitProvider, HttpAgent, useAgent, useCopilotKit, useDefaultRenderTool, useFrontendTool, useInterrupt } from '@copilotkit/react-core/v2';
import { z } from 'zod';

const { url, token, runtimeUrl, threadId } = JSON.parse(decodeURIComponent(location.hash.slice(1)));

// CopilotChat connects when it opens a thread: the thread is restored, and its run is followed.
class RunyardAgent extends HttpAgent {
  connect(input) {
    return new HttpAgent({ url: `${this.url}/connect`, headers: this.headers }).run(input);
  }
}
const agents = runtimeUrl ? undefined : { default: new RunyardAgent({ url, headers: { Authorization: `Bearer ${token}` } }) };

function Chat() {
  const { copilotkit } = useCopilotKit();
  const { agent } = useAgent();
  useDefaultRenderTool();
  useFrontendTool({ name: 'get_weather', description: 'Weather of a city', parameters: z.object({ city: z.string() }), handler: async ({ city }) => `Sunny in ${city}` });
  useInterrupt({
    render: ({ interrupt, resolve, cancel }) => <div>
      <p>{interrupt?.message}</p>
      <button onClick={() => resolve({ approved: true })}>Approve</button>
      <button onClick={() => cancel()}>Cancel</button>
    </div>,
  });
  useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onRunFailed: () => {  // lost connection or server restart: the run continues
        setTimeout(() => copilotkit.connectAgent({ agent }).catch(() => {}), 1000);
      } });
    return unsubscribe;
  }, [agent]);
  return <CopilotChat threadId={threadId} />;
}

createRoot(document.getElementById('root')).render(
  <CopilotKitProvider runtimeUrl={runtimeUrl} selfManagedAgents={agents} useSingleEndpoint={false} enableInspector={false}><Chat /></CopilotKitProvider>);
