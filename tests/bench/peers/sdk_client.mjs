// The benchmark's client on the protocol's own TypeScript SDK, as its documentation builds one. NODE_MODULES says where it is
// installed.

import { pathToFileURL } from 'node:url';
import { measure } from './measure.mjs';

const sdk = `${process.env.NODE_MODULES}/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(pathToFileURL(`${sdk}/index.js`));
const { StdioClientTransport } = await import(pathToFileURL(`${sdk}/stdio.js`));

const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StdioClientTransport({ command: process.argv[2] }));
await client.listTools();
await measure(async (size) => {
  const result = await client.callTool({ name: 'big', arguments: { bytes: size } });
  if (result.content[0].text.length !== size) throw new Error('a result of another size');
});
await client.close();
