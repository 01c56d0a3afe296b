// A real SMTP server (npm smtp-server) that keeps accepted messages and fails on request, and a relay in front
// of it that cuts connections.
import net from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { waitFor } from './server.mjs';

const fault = ([code, text]) => Object.assign(new Error(text), { responseCode: code });

// faults: functions of the message so far {from, to, user} that return [code, text] or nothing, at `auth`, `mail`,
// `rcpt` and `data`. They may be replaced at any time.
export async function startSmtp({ certificate, user, password, starttls = true, implicit = false, hideSmtputf8 = false, faults = {}, port: wanted = 0 } = {}) {
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
      const wrong = faults.auth?.({ user: auth.username }) ?? (auth.username === user && auth.password === password ? null : [535, '5.7.8 Authentication failed']);
      return wrong ? done(fault(wrong)) : done(null, { user: auth.username });
    },
    onMailFrom: (address, session, done) => {
      const wrong = faults.mail?.({ from: address.address });
      done(wrong ? fault(wrong) : null);
    },
    onRcptTo: (address, session, done) => {
      seen.rcpt.push(address.address);
      const wrong = faults.rcpt?.({ to: address.address });
      done(wrong ? fault(wrong) : null);
    },
    onData: (stream, session, done) => {
      const chunks = [];
      stream.on('data', (c) => chunks.push(c));
      stream.on('end', async () => {
        const to = session.envelope.rcptTo.map((r) => r.address);
        const wrong = faults.data?.({ to: to[0] });
        if (wrong) return done(fault(wrong));
        const raw = Buffer.concat(chunks).toString();
        box.push({ raw, to, from: session.envelope.mailFrom.address, secure: session.secure, user: session.user,
          parsed: await simpleParser(raw) });
        done(null, 'taken');
      });
    },
  });
  server.on('error', () => {});  // of single connections
  await new Promise((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const { port } = server.server.address();
  return {
    port, box, seen, faults,
    to: (address) => box.filter((m) => m.to.includes(address)),
    mail: (address, ms = 15000) => waitFor(`mail to ${address}`, () => box.find((m) => m.to.includes(address)), ms),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

// Passes bytes on to a server; `cut(client bytes, server bytes)` true: both ends are closed immediately.
export async function startCutter(port, cut) {
  const state = { cut, connections: 0 };
  const server = net.createServer((client) => {
    state.connections += 1;
    let out = '', back = '';
    const up = net.connect(port, '127.0.0.1');
    const end = () => { client.destroy(); up.destroy(); };
    client.on('data', (d) => { out += d.toString('latin1'); if (state.cut?.(out, back)) end(); else up.write(d); });
    up.on('data', (d) => { back += d.toString('latin1'); if (state.cut?.(out, back)) end(); else client.write(d); });
    client.on('error', end).on('close', end);
    up.on('error', end).on('close', end);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: server.address().port, state, close: () => server.close() };
}
