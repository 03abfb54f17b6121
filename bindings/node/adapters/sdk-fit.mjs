// Members of what a server lists that are not as the SDK's schemas have them: each is left out, and costs itself alone (SPEC 18.2).

/** Any object, which no array is. */
export const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** What reads a member gives what fits of its value, and `undefined` where nothing does: so too of `null`, which is absent. */
const only = (holds) => (value) => (holds(value) ? value : undefined);

const text = only((value) => typeof value === 'string');
const flag = only((value) => typeof value === 'boolean');
const whole = only(Number.isInteger);
const share = only((value) => typeof value === 'number' && value >= 0 && value <= 1);
const map = only(isObject);
const oneOf = (...values) => only((value) => values.includes(value));

/** A list that fits as a whole, or not at all. */
const listOf = (read) => only((value) => Array.isArray(value) && value.every((each) => read(each) !== undefined));

/** A list without the elements that do not fit. */
const each = (read) => (value) => {
  if (!Array.isArray(value)) return undefined;
  const fitted = value.map(read);
  return fitted.every((element, index) => element === value[index]) ? value : fitted.filter((element) => element !== undefined);
};

/** An object without the members that do not fit. One that is needed costs the whole. */
const having = (members, needed = []) => (value) => {
  if (!isObject(value)) return undefined;
  const fitted = membersOf(members, value);
  return needed.every((name) => fitted[name] !== undefined) ? fitted : undefined;
};

/** Those members of a value that fit, with others than the protocol's; the value itself, where all do. */
function membersOf(members, value) {
  const given = Object.entries(value);
  const fitted = given.map(([name, inner]) => [name, Object.hasOwn(members, name) ? members[name](inner) : inner]);
  if (fitted.every(([, inner], index) => inner === given[index][1])) return value;
  return Object.fromEntries(fitted.filter(([, inner]) => inner !== undefined));
}

/** A time of ISO 8601, of a day that there is. */
const time = only((value) => {
  if (typeof value !== 'string') return false;
  const [, day] = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(value) ?? [];
  const start = new Date(day);
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day);
});

/** A schema is not read in part: without one of its members it would say something else. */
const schema = (value) => {
  if (!isObject(value)) return undefined;
  const said = Object.fromEntries(Object.entries(value).filter(([name, inner]) => inner !== null || !Object.hasOwn(SCHEMA, name)));
  const read = isObject(said.properties) ? { ...said, properties: spelledOut(said.properties) } : said;
  if (read.type !== 'object' || membersOf(SCHEMA, read) !== read) return undefined;
  return Object.keys(said).length === Object.keys(value).length && read.properties === value.properties ? value : read;
};
const isMapOfObjects = (value) => isObject(value) && Object.values(value).every((inner) => inner !== null && typeof inner === 'object');
const SCHEMA = { type: text, properties: only(isMapOfObjects), required: listOf(text) };

/** Properties whose schemas are objects, as the SDK has them: `true` and `false` are such in short. */
function spelledOut(properties) {
  if (!Object.values(properties).some((inner) => typeof inner === 'boolean')) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, inner === true ? {} : inner === false ? { not: {} } : inner]));
}

const HINTS = { title: text, readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag, openWorldHint: flag };
const ICON = { src: text, mimeType: text, sizes: listOf(text), theme: oneOf('light', 'dark') };
const ARGUMENT = { name: text, title: text, description: text, required: flag };
const ANNOTATIONS = { audience: listOf(oneOf('user', 'assistant')), priority: share, lastModified: time };
const EXECUTION = { taskSupport: oneOf('required', 'optional', 'forbidden') };

const ALL = { name: text, title: text, description: text, icons: each(having(ICON, ['src'])), _meta: map };

/** Of each list the members that the protocol knows, and what reads them. */
export const TOOL = { ...ALL, inputSchema: schema, outputSchema: schema, annotations: having(HINTS), execution: having(EXECUTION) };
export const PROMPT = { ...ALL, arguments: each(having(ARGUMENT, ['name'])) };
export const TEMPLATE = { ...ALL, mimeType: text, annotations: having(ANNOTATIONS) };
export const RESOURCE = { ...TEMPLATE, size: whole };

export const isFit = (kind, definition) => membersOf(kind, definition) === definition;

/** A definition without what does not fit. What has an address and no name is called by it, since the SDK's types have a name. */
export function fit(kind, definition) {
  const fitted = membersOf(kind, definition);
  const address = definition.uri ?? definition.uriTemplate;
  return fitted.name === undefined && typeof address === 'string' ? { name: address, ...fitted } : fitted;
}
