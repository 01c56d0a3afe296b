// Preloaded into servers that would listen on all addresses: makes them listen on loopback only.
const net = require('node:net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (first, ...rest) {
  if (typeof first === 'number' || /^\d+$/.test(first)) {
    return listen.call(this, { port: Number(first), host: '127.0.0.1' }, ...rest.filter((a) => typeof a === 'function'));
  }
  return listen.call(this, first, ...rest);
};
