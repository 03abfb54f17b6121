// Nothing but a pending call keeps the program alive.

import { open } from './open.mjs';

const { lease } = await open();
lease.callTool('sleep', { ms: 300 }).then((result) => console.log(result.content[0].text));
