// The benchmark's client on the protocol's own TypeScript SDK, as its documentation builds one. NODE_MODULES says where it is
// installed.

import { pathToFileURL } from 'node:url';
import { measureLoading } from './loading.mjs';
import { httpServer, isWanted, measure, measureHttp } from './measure.mjs';
import { SERVERS, measureStarts, monotonic } from './starts.mjs';

const sdk = `${process.env.NODE_MODULES}/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(pathToFileURL(`${sdk}/index.js`));
const { StdioClientTransport } = await import(pathToFileURL(`${sdk}/stdio.js`));
const { StreamableHTTPClientTransport } = await import(pathToFileURL(`${sdk}/streamableHttp.js`));

const command = process.argv[2];
if (isWanted('calls')) {
  const client = await connected(new StdioClientTransport({ command }));
  await measure((size) => call(client, size));
  await client.close();
}
if (isWanted('http')) {
  const [url, end] = await httpServer(command);
  const client = await connected(new StreamableHTTPClientTransport(new URL(url)));
  await measureHttp((size) => call(client, size));
  await client.close();
  end();
}
if (isWanted('loading')) await measureLoading('sdk', command);
if (isWanted('starts')) await measureStarts(start);

async function connected(transport) {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  await client.listTools();
  return client;
}

async function call(client, size) {
  const result = await client.callTool({ name: 'big', arguments: { bytes: size } });
  if (result.content[0].text.length !== size) throw new Error('a result of another size');
}

/** All at once, as a host would write it. */
async function start(slow, log) {
  const began = monotonic();
  const all = Array.from({ length: SERVERS }, (_, number) =>
    connected(new StdioClientTransport({ command, args: log.argumentsOf(number, slow) })),
  );
  await Promise.all(all.slice(slow));
  const first = monotonic();
  const late = first - log.lastOf(SERVERS - slow);
  const clients = await Promise.all(all);
  const ready = monotonic();
  await Promise.all(clients.map((client) => client.close()));
  return [first - began, late, ready - began];
}
