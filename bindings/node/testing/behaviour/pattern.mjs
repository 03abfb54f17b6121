// Equality and patterns of behaviour cases: docs/internals/behaviour-steps.md, "Expectations".

/** Whether two values are equal as JSON. */
export function isEqual(left, right) {
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (!isObject(left) || !isObject(right)) return left === right;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name]));
}

/** Whether a value fits a pattern. `undefined` is what is not there. */
export function fits(value, pattern) {
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) return false;
    return pattern.every((item, index) => fits(value[index], item));
  }
  if (!isObject(pattern)) return value === pattern;
  const names = Object.keys(pattern);
  if (names.length === 1 && names[0].startsWith('$')) return fitsOperator(value, names[0], pattern[names[0]]);
  if (!isObject(value) || Array.isArray(value)) return false;
  return names.every((name) => fits(value[name], pattern[name]));
}

function fitsOperator(value, operator, operand) {
  switch (operator) {
    case '$has':
      return has(value, operand);
    case '$any':
      return value !== undefined && value !== null;
    case '$absent':
      return value === undefined || value === null;
    case '$not':
      return value !== undefined && value !== null && !fits(value, operand);
    default:
      throw new Error(`unknown operator ${operator}`);
  }
}

function has(value, operand) {
  if (typeof value === 'string') return typeof operand === 'string' && value.includes(operand);
  if (!Array.isArray(value)) return false;
  if (Array.isArray(operand)) return operand.every((item) => has(value, item));
  return value.some((item) => fits(item, operand));
}

function isObject(value) {
  return value !== null && typeof value === 'object';
}
