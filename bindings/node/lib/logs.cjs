'use strict';
// What the library logs, for a function of the host.

const { guarded, invalidArgument } = require('./errors.cjs');
const { inspected, shown } = require('./names.cjs');
const { bridge, register, unregister } = require('./native.cjs');
const { split } = require('./options.cjs');

/** Records that the function gets at once, at most. */
const BATCH = 256;

/** Those that were neither closed nor replaced are kept, even if nobody holds them. */
const open = new Set();

class Logs {
  #native;
  #number;
  #listener;
  #level;

  constructor(listener, level) {
    this.#level = level;
    this.#native = guarded(() => bridge.startLogs(level));
    this.#number = this.#native.number();
    this.#listener = listener;
    register(this.#number, this);
    open.add(this);
  }

  onReadable() {
    for (let text = this.#native.take(BATCH); text !== ''; text = this.#native.take(BATCH)) {
      this.#tell(JSON.parse(text).map(({ time_ms: timeMs, ...record }) => ({ timeMs, ...record })));
    }
    if (this.#native.isEnded()) this.#letGo();
  }

  /** Ends it, once the function was told what was logged so far. */
  close() {
    if (!open.delete(this)) return;
    this.#native.close();
    this.onReadable();
  }

  [inspected](...how) {
    return shown(this, () => ({ level: this.#level, closed: !open.has(this) }), how);
  }

  #letGo() {
    open.delete(this);
    unregister(this.#number, this);
  }

  /** A function that throws ends up at `uncaughtException`; later records go on. */
  #tell(records) {
    try {
      this.#listener(records);
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
    }
  }
}

function startLogs(listener, options) {
  if (typeof listener !== 'function') throw invalidArgument('`listener` must be a function', 'listener');
  const { own } = split(options, ['level']);
  return new Logs(listener, String(own.level ?? 'info'));
}

module.exports = { Logs, startLogs };
