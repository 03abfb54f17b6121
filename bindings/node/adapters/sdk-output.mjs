// The option `jsonSchemaValidator` of the SDKs' `Client`: structured content beside a tool's output schema.

import { copyOf, invalidArgument } from './shared.mjs';

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

/** What checks the results of one server's tools; nothing, where the host gives no validator. */
export class OutputChecks {
  #session;
  #server;
  #validator;
  /** Which state of the list the checks are of. */
  #revision;
  /** By the tool's own name. */
  #checks = new Map();

  constructor(session, server, validator) {
    if (validator !== undefined && typeof validator?.getValidator !== 'function') {
      throw invalidArgument('option `jsonSchemaValidator` must have a function `getValidator`', 'jsonSchemaValidator');
    }
    this.#session = session;
    this.#server = server;
    this.#validator = validator;
  }

  /** What finds the problem of a tool's result; nothing for a tool without an output schema. Throws what the validator throws. */
  of(tool) {
    if (this.#validator === undefined) return undefined;
    const listed = this.#session.tools();
    if (listed.revision !== this.#revision) this.#checks.clear();
    this.#revision = listed.revision;
    if (!this.#checks.has(tool)) this.#checks.set(tool, this.#made(listed, tool));
    return this.#checks.get(tool);
  }

  #made(listed, tool) {
    const row = listed.find(({ server, ownName }) => server === this.#server && ownName === tool);
    const schema = row?.definition.outputSchema;
    if (schema == null) return undefined;
    const validate = this.#validator.getValidator(copyOf(schema));
    return (result) => problemOf(tool, result, validate);
  }
}

function problemOf(tool, { isError, structuredContent }, validate) {
  if (isError) return undefined;
  if (structuredContent == null) {
    return { code: INVALID_REQUEST, message: `the result of \`${tool}\` lacks the structured content that its output schema promises` };
  }
  const { valid, errorMessage } = validate(structuredContent);
  if (valid) return undefined;
  return { code: INVALID_PARAMS, message: `the structured content of \`${tool}\` is not as its output schema has it: ${errorMessage}` };
}
