// What tools that look for open handles ask of the package, while it is idle and while a call is under way.

import { createHook } from 'node:async_hooks';

const resources = [];
const hook = createHook({
  init(_number, type, _trigger, resource) {
    if (type === 'trunkline') resources.push(resource);
  },
});
hook.enable();
const { open } = await import('./open.mjs');
hook.disable();

const tell = (when) => {
  const said = new Set(resources.map((resource) => resource.hasRef()));
  console.log(`${when}: ${[...said].join()}`);
};

tell('idle');
const { pool, lease } = await open();
const call = lease.callTool('sleep', { ms: 10 });
tell('calling');
await call;
await pool.close();
tell('idle');
