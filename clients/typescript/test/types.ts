// Compiled, never run: what the types let through and what they do not.
import { Runyard, type RunEvent } from '../src/index.js';

export async function uses(runyard: Runyard): Promise<void> {
  const agent = await runyard.api.GET('/agents/{id}', { params: { path: { id: 'x' } } });
  const name: string | undefined = agent.data?.name;
  // @ts-expect-error: an agent has no such member
  agent.data?.surname;
  // @ts-expect-error: there is no such operation
  await runyard.api.GET('/nowhere');
  // @ts-expect-error: the path's parameter is missing
  await runyard.api.GET('/agents/{id}', {});
  // @ts-expect-error: a name is a text
  await runyard.api.POST('/agents', { body: { name: 1 } });
  await runyard.api.GET('/agents', { params: { query: { limit: 10 } } });
  // @ts-expect-error: a limit is a number
  await runyard.api.GET('/agents', { params: { query: { limit: 'ten' } } });

  const run = await runyard.start({ prompt: name ?? '', queue: true, files: [{ name: 'a.txt', data: new Blob([]) }] });
  // @ts-expect-error: no such field
  await runyard.start({ promt: 'x' });
  for await (const event of runyard.follow(run.agent_run_id)) show(event);
}

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
      // @ts-expect-error: pings are not handed on
      if (event.type === 'ping') return 0;
      return event.sequence;
  }
}
