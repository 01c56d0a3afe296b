// Compiled, never run: which code the types accept and reject.
import { Runyard, type Approval, type ApprovalRequested, type ApprovalResolved, type RunEvent, type ToolResultsRequested } from '../src/index.js';

export async function uses(runyard: Runyard): Promise<void> {
  const agent = await runyard.api.GET('/agents/{id}', { params: { path: { id: 'x' } } });
  const name: string | undefined = agent.data?.name;
  // @ts-expect-error: an unknown member
  agent.data?.surname;
  // @ts-expect-error: an unknown operation
  await runyard.api.GET('/nowhere');
  // @ts-expect-error: the path's parameter is missing
  await runyard.api.GET('/agents/{id}', {});
  // @ts-expect-error: a name is a string
  await runyard.api.POST('/agents', { body: { name: 1 } });
  await runyard.api.GET('/agents', { params: { query: { limit: 10 } } });
  // @ts-expect-error: a limit is a number
  await runyard.api.GET('/agents', { params: { query: { limit: 'ten' } } });

  const run = await runyard.start({ prompt: name ?? '', queue: true, files: [{ name: 'a.txt', data: new Blob([]) }] });
  // @ts-expect-error: an unknown field
  await runyard.start({ promt: 'x' });
  for await (const event of runyard.follow(run.agent_run_id)) {
    show(event);
    if (event.type === 'approval_requested') await decides(runyard, event);
    if (event.type === 'tool_results_requested') await answers(runyard, run.agent_run_id, event);
  }
}

async function decides(runyard: Runyard, event: ApprovalRequested): Promise<Approval> {
  await runyard.decide(event.approval_id, { decision: 'deny', reason: event.name });
  // @ts-expect-error: an unknown decision
  await runyard.decide(event.approval_id, { decision: 'maybe' });
  // @ts-expect-error: a member of another event
  event.tool_call_ids;
  return runyard.decide(event.approval_id, { decision: 'approve', arguments: { ...event.arguments, dry: true }, remember: 'run' });
}

async function answers(runyard: Runyard, run: string, event: ToolResultsRequested): Promise<void> {
  await runyard.sendToolResults(run, event.tool_call_ids.map((id) => ({ tool_call_id: id, content: 'Berlin' })));
  // @ts-expect-error: the content is missing
  await runyard.sendToolResults(run, [{ tool_call_id: 'x' }]);
}

export const changed = (event: ApprovalResolved): Record<string, unknown> | undefined => event.arguments;

function show(event: RunEvent): string | number {
  switch (event.type) {
    case 'llm_response_chunk':
    case 'reasoning_chunk':
      return event.content;
    case 'turn_aborted':
      return event.from_sequence;
    case 'status':
      return event.status;
    default:
      // @ts-expect-error: pings are not yielded
      if (event.type === 'ping') return 0;
      return event.sequence;
  }
}
