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

// Who the host is to authorization servers: what the suite knows it by, else its document, else a registration.
const oauth = {
  redirect_uri: 'http://localhost:3000/callback',
  client_metadata_url: 'https://conformance-test.local/client-metadata.json',
  client_id: context.client_id,
  client_secret: context.client_secret,
};
if (scenario === 'auth/client-credentials-basic') oauth.grant_type = 'client_credentials';

// Shorter than the suite's own patience with a client.
const patienceMs = Number(process.env.TRUNKLINE_CONFORMANCE_PATIENCE ?? 25) * 1000;

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

/** Visits an address as a person does; where it redirects to. */
async function visit(url) {
  const answer = await fetch(url, { redirect: 'manual' });
  return answer.headers.get('location');
}

/** Makes an attempt. As long as the server wants a sign-in, and the library begins one, it signs in and makes it again. */
async function signedIn(pool, attempt) {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error.code !== 'TRUNKLINE_AUTH_REQUIRED') throw error;
    }
    const { url } = await pool.signIn('conformance');
    await pool.finishSignIn(await visit(url));
  }
}

async function call(session, tool, args) {
  const lease = await session.acquire('conformance');
  await lease.callTool(tool, args);
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
    const server = { type: 'http', url, era, share: 'pool', oauth, connect_timeout_ms: patienceMs };
    await pool.reconcile({ conformance: server });
    const sessions = Array.from({ length: count }, (_, number) => pool.session(`session-${number}`, { servers: [] }));
    const leases = [];
    for (const session of sessions) leases.push(await signedIn(pool, () => session.acquire('conformance')));
    for (const [turn, [tool, args]] of calls(leases[0].tools()).entries()) {
      await signedIn(pool, () => call(sessions[turn % count], tool, args));
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
