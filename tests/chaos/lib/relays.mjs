// Relays in a process of their own: what a link carries does not wait for what the test computes.
import { Apart } from './apart.mjs';

export class Relays {
  #apart = new Apart('apart_relays.mjs');
  #relays = 0;

  // From the address `at` to `to`, {host, port} each; listens.
  async make(at, to) {
    const relay = ++this.#relays;
    const tell = (act, value) => this.#apart.ask(act, { relay, value });
    await this.#apart.ask('make', { relay, at, to });
    await tell('listen');
    return {
      at,
      listen: () => tell('listen'),
      refuse: () => tell('refuse'),  // connections, until listen(); those that are there stay
      cut: (yes) => tell('cut', yes),
      slow: (ms) => tell('delay', ms),
    };
  }
  close() { this.#apart.close(); }
}
