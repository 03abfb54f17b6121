// The servers that the TypeScript SDK shows its users listen at ports that are written in them, of every network: here it is one of
// the loopback's.

import net from 'node:net';

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (_, ...rest) {
  return listen.call(this, Number(process.env.PORT), '127.0.0.1', ...rest);
};
