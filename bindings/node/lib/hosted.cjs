'use strict';
// Servers that the host itself provides, whose functions are JavaScript.

const { guarded, invalidArgument, textOf } = require('./errors.cjs');
const { register, unregister } = require('./native.cjs');
const { readText } = require('./options.cjs');

/** Those of sessions that were closed, until the end of each connection is told. */
const ending = new Set();

/** The server's end of one connection. */
class HostConnection {
  #native;
  #id;

  constructor(native, id) {
    this.#native = native;
    this.#id = id;
  }

  get id() {
    return this.#id;
  }

  send(frame) {
    guarded(() => this.#native.send(this.#id, readText(frame, 'frame')));
  }

  close() {
    guarded(() => this.#native.close(this.#id));
  }
}

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

function checkFunction(value, name) {
  if (typeof value !== 'function') throw invalidArgument(`\`${name}\` must be a function`, name);
}

module.exports = { HostConnection, Provided, checkFunction };
