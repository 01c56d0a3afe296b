// The address and the credentials of requests, and the error that they throw.

export interface ConnectionOptions {
  /** The URL of the server, including its base path: `https://app.example.org/api`. */
  baseUrl: string;
  /** An access token or an API key, or a function that returns one and is called for each request. */
  token?: string | (() => string | Promise<string>);
  fetch?: typeof globalThis.fetch;
}

/** An error response. `detail`: the member of the body, a message or an object with `message`; undefined if there is none. */
export class RequestFailed extends Error {
  readonly status: number;
  readonly detail: unknown;
  readonly requestId: string | null;
  /** Whether a retry may succeed. */
  temporary = false;
  constructor(status: number, detail: unknown, requestId: string | null) {
    const text = typeof detail === 'string' ? detail : (detail as { message?: string } | undefined)?.message;
    super(text ?? `the server responded with status ${status}`);
    this.name = 'RequestFailed';
    this.status = status;
    this.detail = detail;
    this.requestId = requestId;
  }
  static async of(response: Response): Promise<RequestFailed> {
    let detail: unknown;
    try {
      detail = ((await response.json()) as { detail?: unknown }).detail;
    } catch {
      detail = undefined;
    }
    return new RequestFailed(response.status, detail, response.headers.get('x-request-id'));
  }
  asTemporary(): this {
    this.temporary = true;
    return this;
  }
}

export class Connection {
  readonly baseUrl: string;
  readonly canRenewToken: boolean;
  readonly #token: ConnectionOptions['token'];
  readonly #fetch: typeof globalThis.fetch;
  constructor(options: ConnectionOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.canRenewToken = typeof options.token === 'function';
    this.#token = options.token;
    this.#fetch = options.fetch ?? ((...a) => globalThis.fetch(...a));
  }
  async authorization(): Promise<string | undefined> {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token;
    return token === undefined ? undefined : `Bearer ${token}`;
  }
  /** Like fetch(), with a path of the server and its credentials. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const authorization = await this.authorization();
    if (authorization !== undefined) headers.set('authorization', authorization);
    return this.#fetch(this.baseUrl + path, { ...init, headers });
  }
  get fetch(): typeof globalThis.fetch {
    return this.#fetch;
  }
}
