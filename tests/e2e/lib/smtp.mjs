// A real SMTP server (npm smtp-server) that stores accepted messages and fails on request, and a relay in front of it
// that disconnects.
import net from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { waitFor } from './server.mjs';

const smtpError = ([code, text]) => Object.assign(new Error(text), { responseCode: code });

// faults: functions `auth`, `mail`, `rcpt` and `data` that get the message so far ({from, to, user}) and may return a
// failure [code, text]. They may be replaced at any time.
export async function startSmtp({ certificate, user, password, starttls = true, implicit = false, hideSmtputf8 = false, faults = {}, port: requestedPort = 0 } = {}) {
  const box = [];
  const seen = { connections: 0, auth: 0, rcpt: [], commands: [] };
  const server = new SMTPServer({
    secure: implicit,
    hideSMTPUTF8: hideSmtputf8,
    ...(certificate ? { key: certificate.key, cert: certificate.cert } : {}),
    disabledCommands: [...(starttls ? [] : ['STARTTLS']), ...(user ? [] : ['AUTH'])],
    authOptional: !user,
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onConnect: (session, done) => { seen.connections += 1; done(); },
    onAuth: (auth, session, done) => {
      seen.auth += 1;
      const failure = faults.auth?.({ user: auth.username }) ?? (auth.username === user && auth.password === password ? null : [535, '5.7.8 Authentication failed']);
      return failure ? done(smtpError(failure)) : done(null, { user: auth.username });
    },
    onMailFrom: (address, session, done) => {
      const failure = faults.mail?.({ from: address.address });
      done(failure ? smtpError(failure) : null);
    },
    onRcptTo: (address, session, done) => {
      seen.rcpt.push(address.address);
      const failure = faults.rcpt?.({ to: address.address });
      done(failure ? smtpError(failure) : null);
    },
    onData: (stream, session, done) => {
      const chunks = [];
      stream.on('data', (c) => chunks.push(c));
      stream.on('end', async () => {
        const to = session.envelope.rcptTo.map((r) => r.address);
        const failure = faults.data?.({ to: to[0] });
        if (failure) return done(smtpError(failure));
        const raw = Buffer.concat(chunks).toString();
        box.push({ raw, to, from: session.envelope.mailFrom.address, secure: session.secure, user: session.user,
          parsed: await simpleParser(raw) });
        done(null, 'message stored');
      });
    },
  });
  server.on('error', () => {});  // errors of single connections
  await new Promise((resolve) => server.listen(requestedPort, '127.0.0.1', resolve));
  const { port } = server.server.address();
  return {
    port, box, seen, faults,
    to: (address) => box.filter((m) => m.to.includes(address)),
    mail: (address, ms = 15000) => waitFor(`mail to ${address}`, () => box.find((m) => m.to.includes(address)), ms),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

// A TCP relay that closes both connections immediately when `disconnectWhen(client bytes, server bytes)` returns true.
export async function startDisconnectingRelay(port, disconnectWhen) {
  const state = { disconnectWhen, connections: 0 };
  const server = net.createServer((client) => {
    state.connections += 1;
    let fromClient = '', fromServer = '';
    const upstream = net.connect(port, '127.0.0.1');
    const disconnect = () => { client.destroy(); upstream.destroy(); };
    client.on('data', (d) => { fromClient += d.toString('latin1'); if (state.disconnectWhen?.(fromClient, fromServer)) disconnect(); else upstream.write(d); });
    upstream.on('data', (d) => { fromServer += d.toString('latin1'); if (state.disconnectWhen?.(fromClient, fromServer)) disconnect(); else client.write(d); });
    client.on('error', disconnect).on('close', disconnect);
    upstream.on('error', disconnect).on('close', disconnect);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: server.address().port, state, close: () => server.close() };
}
