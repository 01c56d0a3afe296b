// `runyard check --mail` with an SMTP relay and a DNS server on loopback.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { makeCertificate } from './lib/certificate.mjs';
import { binary, build } from './lib/server.mjs';
import { startSmtp } from './lib/smtp.mjs';

const certificate = makeCertificate();
let smtp, dns, dir;
const records = new Map();  // name -> TXT records, or 'fail' for no response

// A DNS server that answers TXT queries over UDP.
async function startDns() {
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels = [];
    let at = 12;
    for (; query[at] !== 0; at += query[at] + 1) labels.push(query.subarray(at + 1, at + 1 + query[at]).toString());
    const found = records.get(labels.join('.').toLowerCase());
    if (found === 'fail') return;
    const answers = (found ?? []).map((text) => {
      const parts = text.match(/.{1,255}/gs).map((p) => Buffer.concat([Buffer.from([p.length]), Buffer.from(p)]));
      const data = Buffer.concat(parts), head = Buffer.alloc(12);
      head.writeUInt16BE(0xc00c, 0); head.writeUInt16BE(16, 2); head.writeUInt16BE(1, 4); head.writeUInt32BE(60, 6); head.writeUInt16BE(data.length, 10);
      return Buffer.concat([head, data]);
    });
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(found ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(answers.length, 6); head.writeUInt16BE(0, 8); head.writeUInt16BE(0, 10);
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), from.port, from.address);
  });
  await new Promise((r) => socket.bind(0, '127.0.0.1', r));
  return { port: socket.address().port, close: () => socket.close() };
}

before(async () => {
  smtp = await startSmtp({ certificate, user: 'relay', password: 'hush-hush-hush' });
  dns = await startDns();
  dir = mkdtempSync(path.join(tmpdir(), 'ry-mail-check-'));
});
after(async () => {
  await smtp?.close();
  dns?.close();
  certificate.remove();
  rmSync(dir, { recursive: true });
});

function check(more = '', flags = []) {
  writeFileSync(`${dir}/runyard.toml`, `
[modules]
path = "${build}/modules"
mail = { enabled = true }
[mail]
host = "localhost"
port = ${smtp.port}
ca_file = "${certificate.file}"
username = "relay"
password = "hush-hush-hush"
from = "no-reply@mail.example.test"
dkim_selectors = ["s1"]
${more}`);
  const p = spawn(binary, ['check', '--config', `${dir}/runyard.toml`, '--set', `data_dir=${dir}/data`, '--mail', '--dns-server', `127.0.0.1:${dns.port}`, ...flags]);
  let out = '', err = '';
  p.stdout.on('data', (d) => { out += d; });
  p.stderr.on('data', (d) => { err += d; });
  return new Promise((resolve) => p.on('close', (code) => resolve({ code, out, err })));
}
const key = Buffer.alloc(294, 1).toString('base64');
const setValidRecords = () => {
  records.clear();
  records.set('mail.example.test', ['v=spf1 include:_spf.relay.test -all', 'other text']);
  records.set('s1._domainkey.mail.example.test', [`v=DKIM1; k=rsa; p=${key}`]);
  records.set('_dmarc.example.test', ['v=DMARC1; p=reject']);
};

test('a correct setup passes: relay, SPF, a long DKIM key, DMARC of the parent domain', async () => {
  setValidRecords();
  const r = await check();
  assert.equal(r.code, 0, r.out + r.err);
  assert.match(r.out, /^ok: Relay: localhost:\d+: TLS, certificate verified, log-in as relay$/m);
  assert.match(r.out, /^ok: SPF: v=spf1 include:_spf\.relay\.test -all$/m);
  assert.match(r.out, /^ok: DKIM s1: an RSA key of 2048 bits or more$/m);
  assert.match(r.out, /^ok: DMARC: v=DMARC1; p=reject$/m);
  assert.equal(smtp.seen.rcpt.length, 0, 'no message is sent');
});

test('SPF is checked for the envelope sender, DKIM and DMARC for the From address', async () => {
  setValidRecords();
  records.delete('mail.example.test');
  records.set('bounces.example.test', ['v=spf1 a -all']);
  const r = await check('bounce_address = "b@bounces.example.test"');
  assert.equal(r.code, 0, r.out + r.err);
  assert.match(r.out, /^ok: SPF: v=spf1 a -all$/m);
  assert.match(r.out, /^ok: DMARC: v=DMARC1; p=reject$/m);
});

test('each error is reported and makes the check fail', async () => {
  for (const [change, pattern] of [
    [() => records.delete('mail.example.test'), /^failure: SPF: there is no record/m],
    [() => records.set('mail.example.test', ['v=spf1 +all']), /^failure: SPF: "\+all"/m],
    [() => records.delete('s1._domainkey.mail.example.test'), /^failure: DKIM s1: there is no key/m],
    [() => records.delete('_dmarc.example.test'), /^failure: DMARC: there is no record/m],
    [() => records.set('mail.example.test', 'fail'), /^failure: SPF: the DNS server does not answer/m],
  ]) {
    setValidRecords();
    change();
    const r = await check();
    assert.notEqual(r.code, 0, pattern.source);
    assert.match(r.out, pattern);
    assert.match(r.err, /1 check failed/);
  }
});

test('control characters in DNS and SMTP responses are escaped', async () => {
  setValidRecords();
  records.set('mail.example.test', ['v=spf1 \x1b]0;title\x07 a -all\nok: DMARC: forged']);
  smtp.faults.auth = () => [535, '5.7.8 \x1b[2Jno'];
  try {
    const r = await check();
    assert.notEqual(r.code, 0);
    assert.doesNotMatch(r.out + r.err, /[\x00-\x09\x0b-\x1f\x7f]/);
    assert.doesNotMatch(r.out, /^ok: DMARC: forged/m);
    assert.match(r.out, /v=spf1 \\x1b\]0;title\\x07 a -all\\x0aok: DMARC: forged/);
    assert.match(r.out, /^failure: Relay: .*535 5\.7\.8 .*\[2Jno$/m);
  } finally { delete smtp.faults.auth; }
});

test('--json prints one object with the results of the configuration and mail checks', async () => {
  setValidRecords();
  const passed = await check('', ['--json']);
  assert.equal(passed.code, 0, passed.out + passed.err);
  const report = JSON.parse(passed.out);
  assert.equal(report.ok, true);
  assert.deepEqual(report.faults, []);
  assert.deepEqual(report.mail.map((m) => `${m.check}: ${m.result}`), ['Relay: ok', 'SPF: ok', 'DKIM s1: ok', 'DMARC: ok']);
  records.delete('mail.example.test');
  const failed = await check('', ['--json']);
  assert.notEqual(failed.code, 0);
  assert.equal(JSON.parse(failed.out).ok, false);
  assert.match(JSON.parse(failed.out).mail.find((m) => m.check === 'SPF').detail, /there is no record/);
});

test('a wrong password or an untrusted certificate fails the check, and the password is not shown', async () => {
  setValidRecords();
  const wrong = await check('', ['--set', 'mail.password=another-one']);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.out, /^failure: Relay: localhost:\d+: .*535/m);
  assert.ok(!(wrong.out + wrong.err).includes('another-one'));
  const untrusted = makeCertificate();
  try {
    const r = await check('', ['--set', `mail.ca_file=${untrusted.file}`]);
    assert.notEqual(r.code, 0);
    assert.match(r.out, /^failure: Relay: localhost:\d+: .*(certificate|SSL)/im);
  } finally { untrusted.remove(); }
});
