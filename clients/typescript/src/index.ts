import createClient, { type Client } from 'openapi-fetch';
import { Connection, RequestFailed, type ConnectionOptions } from './connection.js';
import type { components, paths } from './schema.d.ts';
import { follow, type FollowOptions, type RunEvent } from './stream.js';

export { RequestFailed, type ConnectionOptions, type FollowOptions, type RunEvent };
export type { components, paths };
export type Schemas = components['schemas'];
export type Run = Schemas['runs.Run'];
export type Started = Schemas['runs.Started'];
export type Agent = Schemas['agents.Agent'];
export type Account = Schemas['accounts.Account'];
export type Approval = Schemas['runs.Approval'];
export type Decision = Schemas['runs.Decision'];
export type ApprovalRequested = Extract<RunEvent, { type: 'approval_requested' }>;
export type ApprovalResolved = Extract<RunEvent, { type: 'approval_resolved' }>;
export type ToolResultsRequested = Extract<RunEvent, { type: 'tool_results_requested' }>;
/** The result of a call of a tool that the start declared with `client_tools`. */
export interface ToolResult {
  tool_call_id: string;
  content: string;
  is_error?: boolean;
}

/** The fields of a start. A file is a File, or a Blob with a name. */
export type StartFields = Omit<Schemas['runs.StartForm'], 'files' | 'optimistic' | 'queue' | 'memory_enabled'> & {
  optimistic?: boolean;
  queue?: boolean;
  memory_enabled?: boolean;
  files?: readonly (File | { name: string; data: Blob })[];
};
export interface StartOptions {
  /** A repeated start with the same key returns the run of the first start. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export class Runyard {
  /** All operations of the server, with types: `api.GET('/agents/{id}', { params: { path: { id } } })`. */
  readonly api: Client<paths>;
  readonly #connection: Connection;

  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options);
    this.api = createClient<paths>({ baseUrl: this.#connection.baseUrl, fetch: (request: Request) => this.#connection.fetch(request) });
    this.api.use({
      onRequest: async ({ request }) => {
        const authorization = await this.#connection.authorization();
        if (authorization !== undefined) request.headers.set('authorization', authorization);
        return request;
      },
    });
  }

  /** Starts a run. Throws RequestFailed. */
  async start(fields: StartFields, options: StartOptions = {}): Promise<Started> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      if (name === 'files' || value === undefined) continue;
      form.append(name, String(value));
    }
    for (const file of fields.files ?? []) {
      if (file instanceof Blob) form.append('files', file, file.name);
      else form.append('files', file.data, file.name);
    }
    const headers: Record<string, string> = {};
    if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey;
    const response = await this.#connection.send('/agent/start', { method: 'POST', body: form, headers, ...(options.signal ? { signal: options.signal } : {}) });
    if (!response.ok) throw await RequestFailed.of(response);
    return (await response.json()) as Started;
  }

  /** Approves or denies a call, or answers a question. Returns the approval. Throws RequestFailed, with status 409 if another decision was made before. */
  async decide(approvalId: string, decision: Decision, options: { signal?: AbortSignal } = {}): Promise<Approval> {
    return (await this.#post(`/approvals/${encodeURIComponent(approvalId)}`, decision, options.signal)) as Approval;
  }

  /** Sends the results of calls of the client's tools, after `tool_results_requested`. Throws RequestFailed. */
  async sendToolResults(runId: string, results: readonly ToolResult[], options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#post(`/agent-run/${encodeURIComponent(runId)}/tool-results`, { tool_results: results }, options.signal);
  }

  async #post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    const response = await this.#connection.send(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' }, ...(signal ? { signal } : {}) });
    if (!response.ok) throw await RequestFailed.of(response);
    return response.json();
  }

  /** Yields each event of a run once, until its terminal event. Reconnects if the connection is lost. */
  follow(runId: string, options: FollowOptions = {}): AsyncGenerator<RunEvent, void, void> {
    return follow(this.#connection, runId, options);
  }
}
