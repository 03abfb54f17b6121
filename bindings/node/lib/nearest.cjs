'use strict';
// The name that somebody probably meant, by the rule of the library (`nearest.rs`), for names that the library has not.

/** Longer than every option's name. */
const NAME_LENGTH_MAX = 64;

/** The candidate that is nearest to `wanted`: at most a third of the letters away. Of two that are equally near, the first. */
function nearest(wanted, candidates) {
  if (wanted.length > NAME_LENGTH_MAX) return undefined;
  let found;
  let least = Math.max(Math.floor(wanted.length / 3), 1) + 1;
  for (const candidate of candidates) {
    const away = distance(wanted.toLowerCase(), candidate.toLowerCase());
    if (away < least) [found, least] = [candidate, away];
  }
  return found;
}

/** How many letters have to be put in, taken out, replaced or swapped with their neighbour. */
function distance(one, other) {
  let beforeLast = [];
  let last = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 0; i < one.length; i += 1) {
    const row = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      const replaced = last[j] + (one[i] === other[j] ? 0 : 1);
      const isSwapped = i > 0 && j > 0 && one[i] === other[j - 1] && one[i - 1] === other[j];
      row.push(Math.min(replaced, last[j + 1] + 1, row[j] + 1, isSwapped ? beforeLast[j - 1] + 1 : Infinity));
    }
    [beforeLast, last] = [last, row];
  }
  return last[other.length];
}

module.exports = { nearest };
