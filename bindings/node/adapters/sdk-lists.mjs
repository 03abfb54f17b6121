// The option `listChanged` of the SDKs' `Client`.

import { checkFunction, invalidArgument } from './shared.mjs';

/** How a list that changed is asked for. */
const LISTS = { tools: 'listTools', prompts: 'listPrompts', resources: 'listResources' };

const DEBOUNCE_MS = 300;

/** Tells of lists that change, some time after the last change. */
export class ListChanged {
  #client;
  /** By the list. */
  #timers = new Map();

  constructor(client, wanted = {}) {
    this.#client = client;
    for (const [list, options] of Object.entries(wanted)) {
      if (options === undefined) continue;
      check(list, options);
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => this.#changed(list, options));
    }
  }

  /** Nobody is told what was not told yet. */
  stop() {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #changed(list, { onChanged, autoRefresh = true, debounceMs = DEBOUNCE_MS }) {
    clearTimeout(this.#timers.get(list));
    const tell = () => this.#tell(list, onChanged, autoRefresh).catch((error) => this.#client.onerror?.(error));
    if (debounceMs === 0) return void tell();
    this.#timers.set(list, setTimeout(tell, debounceMs));
  }

  async #tell(list, onChanged, isRefreshed) {
    if (!isRefreshed) return onChanged(null, null);
    let listed;
    try {
      listed = (await this.#client[LISTS[list]]())[list];
    } catch (error) {
      return onChanged(error, null);
    }
    return onChanged(null, listed);
  }
}

function check(list, options) {
  const path = `listChanged.${list}`;
  if (!Object.hasOwn(LISTS, list)) throw invalidArgument(`option \`${path}\`: there is no such list`, path);
  const { onChanged, autoRefresh, debounceMs } = options ?? {};
  if (onChanged === undefined) throw invalidArgument(`option \`${path}.onChanged\` is missing`, `${path}.onChanged`);
  checkFunction(onChanged, `${path}.onChanged`);
  if (autoRefresh !== undefined && typeof autoRefresh !== 'boolean') {
    throw invalidArgument(`option \`${path}.autoRefresh\` must be true or false`, `${path}.autoRefresh`);
  }
  if (debounceMs !== undefined && !(typeof debounceMs === 'number' && debounceMs >= 0)) {
    throw invalidArgument(`option \`${path}.debounceMs\` must be a number of milliseconds`, `${path}.debounceMs`);
  }
}
