// The expectations of a step: docs/internals/behaviour-steps.md, "Expectations".

import { fits, isEqual } from './pattern.mjs';
import { errorOf } from './spelling.mjs';

/** Throws unless the outcome of a step is as expected. */
export function expect(outcome, expected, saved) {
  if (expected.error === undefined) {
    if (outcome.error !== undefined) throw outcome.error;
  } else {
    if (outcome.error === undefined) throw new Error(`no error, but ${JSON.stringify(outcome.value)}`);
    const error = errorOf(outcome.error);
    if (!fits(error, expected.error)) throw new Error(`another error: ${JSON.stringify(error)}`);
  }
  for (const [name, operand] of Object.entries(expected)) {
    if (CHECKS[name] !== undefined && !CHECKS[name](outcome, operand, saved)) {
      throw new Error(`${name} does not hold for ${JSON.stringify(outcome.value)}`);
    }
  }
}

const CHECKS = {
  equals: ({ value }, name, saved) => saved.has(name) && isEqual(value, saved.get(name)),
  differs: ({ value }, name, saved) => saved.has(name) && !isEqual(value, saved.get(name)),
  is: ({ value }, wanted) => isEqual(value, wanted),
  match: ({ value }, pattern) => fits(value, pattern),
  text: ({ value }, text) => value?.content?.[0]?.text === text,
  raw: (outcome, text) => outcome.raw === text,
  length: ({ value }, length) => Array.isArray(value) && value.length === length,
  own_names: ({ value }, names) => isEqual(value?.map((listed) => listed.own_name), names),
};
