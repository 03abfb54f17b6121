// Names of behaviour cases: the table's snake_case in Node's form, and Node's values back in the table's.

import { createRequire } from 'node:module';

const { TrunklineError } = createRequire(import.meta.url)('../../index.cjs');
const { spellDocument, spellText, toCamel, toSnake } = createRequire(import.meta.url)('../../lib/names.cjs');

/** Options whose members are options again; the members of all others are names of servers, or not ours. */
const NESTED = new Set(['reconnect', 'breaker', 'limits', 'budget']);

/** Options as Node writes them. Anything that is no object stays, so that the library refuses it. */
export function optionsOf(options) {
  if (options === null || typeof options !== 'object' || Array.isArray(options)) return options;
  const spelled = Object.entries(options).map(([name, value]) => [
    toCamel(name),
    NESTED.has(name) ? optionsOf(value) : value,
  ]);
  return Object.fromEntries(spelled);
}

/** A status, event or report as the cases write it. */
export function documentOf(value) {
  return spellDocument(value, toSnake, errorOf);
}

/** An error as the cases write it. */
export function errorOf(error) {
  if (error?.name === 'AbortError') return { code: 'cancelled', message: error.message };
  if (!(error instanceof TrunklineError)) throw error;
  const { message, server, session, retryable, outcome, hint } = error;
  const spell = error.code === 'TRUNKLINE_UNKNOWN_OPTION' ? toSnake : nameOf;
  const inText = (text) => text?.split('`').map((part, place) => (place % 2 ? spell(part) : part)).join('`');
  const detail = spellDocument(error.detail, toSnake, errorOf);
  for (const name of ['option', 'nearest', 'path']) {
    if (typeof detail[name] === 'string') detail[name] = spell(detail[name]);
  }
  return {
    code: error.code.replace('TRUNKLINE_', '').toLowerCase(),
    message: inText(message),
    server,
    session,
    retryable,
    outcome,
    detail,
    hint: inText(hint),
  };
}

/** The table's name of what the addon spells in Node's form; what a host or a server is called stays. */
function nameOf(spelled) {
  const name = toSnake(spelled);
  return spellText(`\`${name}\``) === `\`${spelled}\`` ? name : spelled;
}
