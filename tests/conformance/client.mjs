// The Node client under test of the official conformance suite; `cargo xtask conformance` runs it.
//
// Its last argument is the URL of the suite's server; the scenario, the protocol version and the context are in the environment.
// `TRUNKLINE_CONFORMANCE_SESSIONS` sessions share the server and make the calls in turn.

import process from 'node:process';

import { Pool, TrunklineError } from '../../bindings/node/index.mjs';

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}');
const count = Number(process.env.TRUNKLINE_CONFORMANCE_SESSIONS ?? 1);

// From 2026 on each request stands for itself.
const era = (process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '') >= '2026' ? 'modern' : 'legacy';

// The scenarios in which the host can answer a form.
const eliciting = ['elicitation-sep1034-client-defaults', 'sep-2322-client-request-state'];

// Shorter than the suite's own patience with a client.
const patienceMs = 25_000;

/** A value that a schema accepts, with the required members alone. */
function example(schema) {
  if (schema === null || typeof schema !== 'object') return null;
  if ('default' in schema) return schema.default;
  if (schema.enum?.length) return schema.enum[0];
  if (schema.type === 'object' || schema.properties) {
    const members = schema.properties ?? {};
    return Object.fromEntries((schema.required ?? []).map((name) => [name, example(members[name] ?? {})]));
  }
  return { integer: 5, number: 5, boolean: true, array: [], string: 'test' }[schema.type] ?? null;
}

/** Fills a form with its defaults. */
function accept(request) {
  const members = Object.entries(request.params.requestedSchema.properties);
  return { action: 'accept', content: Object.fromEntries(members.map(([name, member]) => [name, example(member)])) };
}

/** What is called: what the suite asks for, else every tool. */
function calls(tools) {
  if (scenario === 'json-schema-ref-no-deref') return [];
  if (context.toolCalls) return context.toolCalls.map((call) => [call.name, call.arguments ?? {}]);
  if (scenario === 'json-schema-2020-12-preservation') {
    const observed = tools.find((tool) => tool.ownName !== 'json_schema_echo');
    return [['json_schema_echo', { schema: observed.definition.inputSchema }]];
  }
  return tools.map((tool) => [tool.ownName, example(tool.definition.inputSchema)]);
}

async function lookAtEverything(session, lease) {
  for (const resource of session.resources()) await lease.readResource(resource.name);
  for (const prompt of session.prompts()) {
    const wanted = prompt.definition.arguments ?? [];
    await lease.getPrompt(prompt.name, Object.fromEntries(wanted.map(({ name }) => [name, 'test'])));
  }
}

async function main(url) {
  const pool = new Pool(eliciting.includes(scenario) ? { handlers: { elicitation: accept } } : {});
  try {
    await pool.reconcile({ conformance: { type: 'http', url, era } });
    const sessions = Array.from({ length: count }, (_, number) => pool.session(`session-${number}`));
    const leases = await Promise.all(sessions.map((session) => session.acquire('conformance')));
    for (const [turn, [tool, args]] of calls(leases[0].tools()).entries()) {
      await leases[turn % count].callTool(tool, args);
    }
    if (scenario === 'http-standard-headers') await lookAtEverything(sessions.at(-1), leases.at(-1));
  } finally {
    await pool.close();
  }
}

const late = setTimeout(() => {
  console.error('late');
  process.exit(1);
}, patienceMs);
try {
  await main(process.argv.at(-1));
} catch (error) {
  if (!(error instanceof TrunklineError)) throw error;
  // A server that offers nothing has nothing to be called.
  if (error.detail?.reason === 'nothing_listed') process.exit(0);
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
} finally {
  clearTimeout(late);
}
