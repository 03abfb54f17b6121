// Servers that the runner provides as a host does: the reference server behind pipes of the runner's, a process for each connection.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { testserver } from '../support.mjs';

/** The functions that `provide` wants, of one server with these flags. */
export function provided(flags) {
  const served = new Map();
  const start = (connection) => {
    const child = spawn(testserver, flags, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    // Once the connection is over nobody is told anything.
    lines.on('line', (line) => served.has(connection.id) && connection.send(line));
    lines.on('close', () => served.has(connection.id) && connection.close());
    // A server that is gone says so by the end of its output.
    child.stdin.on('error', () => {});
    served.set(connection.id, child);
    return child;
  };
  return {
    receive(connection, frame) {
      const child = served.get(connection.id) ?? start(connection);
      child.stdin.write(`${frame}\n`);
    },
    closed(connection) {
      served.get(connection.id)?.kill('SIGKILL');
      served.delete(connection.id);
    },
  };
}
