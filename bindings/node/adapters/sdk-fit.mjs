// Members of what a server lists that are not as the protocol has them: each is left out, and costs itself alone (SPEC 18.2).

const isText = (value) => typeof value === 'string';
const isNumber = (value) => typeof value === 'number';
const isBoolean = (value) => typeof value === 'boolean';
const isOneOf = (...values) => (value) => values.includes(value);
const isList = (fits) => (value) => Array.isArray(value) && value.every(fits);

/** Any object, which no array is. */
export const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** An object with members that fit, where they are there; those that are needed are. */
const has = (members, needed = []) => (value) =>
  isObject(value) &&
  Object.entries(members).every(([name, fits]) => (needed.includes(name) ? fits(value[name]) : value[name] == null || fits(value[name])));

const ICON = has({ src: isText, mimeType: isText, sizes: isList(isText) }, ['src']);
const HINTS = has({
  title: isText,
  readOnlyHint: isBoolean,
  destructiveHint: isBoolean,
  idempotentHint: isBoolean,
  openWorldHint: isBoolean,
});
const ARGUMENT = has({ name: isText, title: isText, description: isText, required: isBoolean }, ['name']);
const ANNOTATIONS = has({ audience: isList(isOneOf('user', 'assistant')), priority: isNumber, lastModified: isText });

const ALL = { name: isText, title: isText, description: isText, icons: isList(ICON), _meta: isObject };

/** Of each list the members that the protocol knows, and what fits there. */
export const TOOL = { ...ALL, inputSchema: isObject, outputSchema: isObject, annotations: HINTS, execution: has({ taskSupport: isText }) };
export const PROMPT = { ...ALL, arguments: isList(ARGUMENT) };
export const TEMPLATE = { ...ALL, mimeType: isText, annotations: ANNOTATIONS };
export const RESOURCE = { ...TEMPLATE, size: isNumber };

/** Whether a member fits; others than those of the protocol do. */
const fits = (kind, name, value) => !Object.hasOwn(kind, name) || kind[name](value);

export function isFit(kind, definition) {
  return Object.entries(definition).every(([name, value]) => fits(kind, name, value));
}

/** A definition without what does not fit. */
export function fit(kind, definition) {
  if (isFit(kind, definition)) return definition;
  return Object.fromEntries(Object.entries(definition).filter(([name, value]) => fits(kind, name, value)));
}
