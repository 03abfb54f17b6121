// The benchmark's plain client: a pipe, lines, JSON.parse and a table of what is in flight. What it looks for is the newline alone; it
// has no deadline, no bound and no check.

import { spawn } from 'node:child_process';
import { isWanted, measure } from './measure.mjs';

const child = spawn(process.argv[2], [], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let parts = [];
let next = 0;

child.stdout.on('data', (chunk) => {
  let start = 0;
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
    parts.push(chunk.subarray(start, end));
    const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const message = JSON.parse(line.toString());
    waiting.get(message.id)?.(message.result);
    waiting.delete(message.id);
    parts = [];
    start = end + 1;
  }
  if (start < chunk.length) parts.push(chunk.subarray(start));
});

function request(method, params) {
  next += 1;
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: next, method, params })}\n`);
  return new Promise((resolve) => waiting.set(next, resolve));
}

async function call(size) {
  const result = await request('tools/call', { name: 'big', arguments: { bytes: size } });
  if (result.content[0].text.length !== size) throw new Error('a result of another size');
}

const clientInfo = { name: 'bench', version: '1' };
await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
if (isWanted('calls')) await measure(call);
child.stdin.end();
