// The events that a subscriber of a behaviour case has seen.

import { fits } from './pattern.mjs';
import { documentOf } from './spelling.mjs';

export class Record {
  #stream;
  #early;
  #events = [];
  /** By type, the number of the last event that a step has taken. */
  #taken = new Map();
  #watchers = new Set();

  /** What a stream brings, after what `early` has: `{record, session, before}`, another record's events of a session that is newer than the event `before`. */
  constructor(stream, early) {
    this.#stream = stream;
    this.#early = early;
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
    const taken = this.#taken.get(type) ?? 0;
    const isWanted = (event) => event.type === type && event.seq > taken && fits(event, pattern);
    return this.#beginning().find(isWanted) ?? this.#events.find(isWanted);
  }

  /** What was told of the session before its own stream began. */
  #beginning() {
    if (this.#early === undefined) return [];
    const { record, session, before } = this.#early;
    const last = this.#stream.snapshot.seq;
    return record.#events.filter(({ session: whose, seq }) => whose === session && seq > before && seq <= last);
  }

  /** The first event of that type that fits; it and the earlier ones of its type leave the record. */
  async take(type, pattern) {
    const records = [this, this.#early?.record ?? this];
    const event = await new Promise((resolve) => {
      const look = () => {
        const found = this.find(type, pattern);
        if (found === undefined) return;
        for (const record of records) record.#watchers.delete(look);
        resolve(found);
      };
      for (const record of records) record.#watchers.add(look);
      look();
    });
    this.#taken.set(type, event.seq);
    return event;
  }

  async end() {
    await this.#stream.return();
  }
}
