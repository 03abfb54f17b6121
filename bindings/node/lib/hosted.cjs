'use strict';
// Servers that the host itself provides, whose functions are JavaScript.

const { guarded, invalidArgument } = require('./errors.cjs');
const { register, unregister } = require('./native.cjs');

/** Those that the library may still call: it says itself when it does no more. */
const living = new Set();

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
    if (typeof frame !== 'string') throw invalidArgument('a message must be a string', 'frame');
    guarded(() => this.#native.send(this.#id, frame));
  }

  close() {
    guarded(() => this.#native.close(this.#id));
  }
}

/** A server, from its native half and the functions of the host. */
class Provided {
  #native;
  #receive;
  #closed;
  #connections = new Map();

  constructor(native, receive, closed) {
    this.#native = native;
    this.#receive = receive;
    this.#closed = closed;
    register(native.number(), this);
    living.add(this);
  }

  onReadable() {
    for (const [id, frame] of JSON.parse(this.#native.take())) {
      const connection = this.#connections.get(id) ?? new HostConnection(this.#native, id);
      if (id === null) {
        living.delete(this);
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
      process.emitWarning(`a server of the host's own failed: ${error?.stack ?? error}`, 'TrunklineWarning');
    }
  }
}

function checkFunction(value, name) {
  if (typeof value !== 'function') throw invalidArgument(`\`${name}\` must be a function`, name);
}

module.exports = { HostConnection, Provided, checkFunction };
