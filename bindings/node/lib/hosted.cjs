'use strict';
// Servers that the host itself provides, whose functions are JavaScript. Loaded for the first of them.

const { textOf } = require('./errors.cjs');
const { register, unregister } = require('./native.cjs');
const { HostConnection } = require('./session.cjs');

/** Those of sessions that were closed, until the end of each connection is told. */
const ending = new Set();

/**
 * A server, from its native half and the functions of the host. Those may refer to their session, which alone keeps it, as one of
 * `siblings`: a session that is forgotten has to be collected.
 */
class Provided {
  #native;
  #receive;
  #closed;
  #siblings;
  #connections = new Map();

  constructor(native, receive, closed, siblings) {
    this.#native = native;
    this.#receive = receive;
    this.#closed = closed;
    this.#siblings = siblings;
    register(native.number(), this);
    siblings.add(this);
  }

  /** The session is closed: what is over is still told. */
  outlive() {
    ending.add(this);
  }

  onReadable() {
    for (const [id, frame] of JSON.parse(this.#native.take())) {
      const connection = this.#connections.get(id) ?? new HostConnection(this.#native, id);
      if (id === null) {
        this.#siblings.delete(this);
        ending.delete(this);
        unregister(this.#native.number(), this);
      } else if (frame === null) {
        this.#connections.delete(id);
        this.#call(connection, this.#closed);
      } else {
        this.#connections.set(id, connection);
        this.#call(connection, this.#receive, frame);
      }
    }
  }

  async #call(connection, run, ...rest) {
    try {
      await run?.(connection, ...rest);
    } catch (error) {
      connection.close();
      process.emitWarning(`a server of the host's own failed: ${textOf(error)}`, 'TrunklineWarning');
    }
  }
}

module.exports = { Provided };
