// The examples of the documentation: those that docs/examples.txt says are run by Node.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pages, each with how many examples it has. */
export function registered(repository) {
  const lines = readFileSync(join(repository, 'docs/examples.txt'), 'utf8').split('\n');
  const rows = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(/\s+/));
  return Object.fromEntries(rows.filter(([, , , ...by]) => by.join(' ') === 'node').map(([page, , count]) => [page, Number(count)]));
}

/** The blocks of a language of a page, Node's programs where none is named. */
export function blocks(repository, page, language = 'js') {
  const text = readFileSync(join(repository, page), 'utf8');
  return Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')), ([, code]) => code);
}
