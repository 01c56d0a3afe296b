// Where the server is and who asks.

export interface ConnectionOptions {
  /** Of the server, with its base path: `https://app.example.org/api`. */
  baseUrl: string;
  /** An access token or an API key, or what gives one; it is asked for each request. */
  token?: string | (() => string | Promise<string>);
  fetch?: typeof globalThis.fetch;
}

/** An answer that is an error. `detail` is what the body says: a sentence, or an object with `message`. */
export class RequestFailed extends Error {
  readonly status: number;
  readonly detail: unknown;
  readonly requestId: string | null;
  /** Another attempt may go well. */
  temporary = false;
  constructor(status: number, detail: unknown, requestId: string | null) {
    const text = typeof detail === 'string' ? detail : (detail as { message?: string } | undefined)?.message;
    super(text ?? `the server answered ${status}`);
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
  passing(): this {
    this.temporary = true;
    return this;
  }
}

export class Connection {
  readonly baseUrl: string;
  readonly renews: boolean;
  readonly #token: ConnectionOptions['token'];
  readonly #fetch: typeof globalThis.fetch;
  constructor(options: ConnectionOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.renews = typeof options.token === 'function';
    this.#token = options.token;
    this.#fetch = options.fetch ?? ((...a) => globalThis.fetch(...a));
  }
  async authorization(): Promise<string | undefined> {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token;
    return token === undefined ? undefined : `Bearer ${token}`;
  }
  /** As fetch(), for a path of the server. */
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
