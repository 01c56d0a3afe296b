// Relays in a separate process, so that forwarding is not delayed by computations of the test.
import { ChildProcess } from './child_process.mjs';

export class Relays {
  #process = new ChildProcess('relays_process.mjs');
  #relays = 0;

  // Creates a relay from the address `at` to `to`, {host, port} each, and listens.
  async make(at, to) {
    const relay = ++this.#relays;
    const send = (act, value) => this.#process.ask(act, { relay, value });
    await this.#process.ask('make', { relay, at, to });
    await send('listen');
    return {
      at,
      listen: () => send('listen'),
      refuse: () => send('refuse'),  // new connections, until listen(); open ones are kept
      cut: (on) => send('cut', on),
      slow: (ms) => send('delay', ms),
    };
  }
  close() { this.#process.close(); }
}
