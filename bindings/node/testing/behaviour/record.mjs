// The events that a subscriber of a behaviour case has seen.

import { fits } from './pattern.mjs';
import { documentOf } from './spelling.mjs';

export class Record {
  #stream;
  #events = [];
  #watchers = new Set();

  constructor(stream) {
    this.#stream = stream;
    this.#follow();
  }

  async #follow() {
    for await (const event of this.#stream) {
      this.#events.push(documentOf(event));
      for (const watcher of this.#watchers) watcher();
    }
  }

  /** The first event of that type that fits, without waiting. */
  find(type, pattern) {
    return this.#events.find((event) => event.type === type && fits(event, pattern));
  }

  /** The first event of that type that fits; it and the earlier ones of its type leave the record. */
  async take(type, pattern) {
    const event = await new Promise((resolve) => {
      const look = () => {
        const found = this.find(type, pattern);
        if (found === undefined) return;
        this.#watchers.delete(look);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
    const place = this.#events.indexOf(event);
    this.#events = this.#events.filter((other, index) => other.type !== type || index > place);
    return event;
  }

  async end() {
    await this.#stream.return();
  }
}
