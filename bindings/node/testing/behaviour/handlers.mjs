// Handlers of a session or pool, as a behaviour case scripts them: docs/internals/behaviour.md, "Handlers".

import { createRequire } from 'node:module';

import { Refusal } from '../../index.mjs';
import { documentOf } from './spelling.mjs';

const { toCamel, toSnake } = createRequire(import.meta.url)('../../lib/names.cjs');

/** The options with the handlers that they describe in place of the scripts; what these are asked goes to `asked`. */
export function withHandlers(options, asked) {
  if (options?.handlers === undefined) return options;
  const note = (what) => asked.push(what);
  const handlers = Object.entries(options.handlers).map(([name, script]) => [
    toCamel(name),
    name === 'logging' ? (event) => note(documentOf(event)) : scripted(script, note),
  ]);
  return { ...options, handlers: Object.fromEntries(handlers) };
}

function scripted(script, note) {
  return async ({ kind, server, entryIndex, generation, session, method, params }) => {
    note({ kind: toSnake(kind), server, entry_index: entryIndex, generation, session, method, params });
    if (script.silent) await new Promise(() => {});
    if (script.after_ms !== undefined) await new Promise((resolve) => setTimeout(resolve, script.after_ms));
    if (script.refuse !== undefined) throw new Refusal(script.refuse.code, script.refuse.message);
    if (script.fail) throw new Error('the script wants the handler to fail');
    return script.answer;
  };
}
