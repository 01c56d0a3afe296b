// Invariants that hold afterwards, whatever was killed: in the database, and in the events that clients received. Each
// check returns a list of descriptions of violations.
import assert from 'node:assert/strict';
import { readAgui, readUiMessages } from '../../e2e/lib/protocol_streams.mjs';
import { agui } from './client.mjs';
import { microPerAnswer, planOf, textOfAnswer } from './model.mjs';

const isTerminal = (e) => e.type === 'status' && e.status !== 'running';

// Returns the model responses as a client shows them, in order (done), without the text of aborted attempts, and the
// text of a response that never ended (open).
export function answersOf(events) {
  const done = [];
  let current = [];
  for (const e of events) {
    if (e.type === 'llm_response_start') current = [];
    if (e.type === 'llm_response_chunk') current.push(e);
    if (e.type === 'turn_aborted') current = current.filter((c) => c.sequence < e.from_sequence || c.sequence > e.to_sequence);
    if (e.type === 'llm_response_end') { done.push(current.map((c) => c.content).join('')); current = []; }
  }
  return { done, open: current.map((c) => c.content).join('') };
}

// Compares the events that one reader received with the event log in the database (sequence -> payload) and the run's
// row.
export function checkReader(name, log, stored, run, messages) {
  const violations = [];
  const report = (text) => violations.push(`${name} of run ${log.run}: ${text}`);
  if (log.timedOut) report(`the stream did not end in time, ${log.timedOut}`);
  for (const status of log.answers)
    if (status < 500 && status !== 204) report(`the stream returned ${status}`);
  let last = 0;
  const aborted = [];
  for (const e of log.events)
    if (e.type === 'turn_aborted') aborted.push([e.from_sequence, e.to_sequence]);
  const isAborted = (n) => aborted.some(([from, to]) => n >= from && n <= to);
  // Events after the last checkpoint of a run that another node force-finished are not in the log.
  const lastDurable = Math.max(0, ...log.events.filter((e) => e.type === 'llm_response_end' || e.type === 'tool_result' || e.type === 'message').map((e) => e.sequence));
  for (const e of log.events) {
    if (e.$id !== e.sequence) report(`id ${e.$id} on event ${e.sequence}`);
    const from = e.type === 'gap' ? e.from : e.sequence;
    if (from !== last + 1) report(`${e.type} ${from} after ${last}`);
    last = e.type === 'gap' ? e.to : e.sequence;
    if (e.type === 'gap') {
      for (let n = e.from; n <= e.to; n++) {
        const kept = stored.get(n);
        if (kept === undefined || JSON.parse(kept).type !== 'gap') report(`a gap was announced at ${n}, where the log has ${kept}`);
      }
      continue;
    }
    const kept = stored.get(e.sequence);
    if (kept === e.$data) continue;
    const lost = kept !== undefined && JSON.parse(kept).type === 'gap';
    if (!lost) report(`event ${e.sequence} is ${e.$data} at the client and ${kept} in the log`);
    // Output chunks may be lost: the result of the call contains the output as well.
    else if (e.type !== 'tool_output_chunk' && !isAborted(e.sequence) && !(run.status !== 'completed' && e.sequence > lastDurable))
      report(`event ${e.sequence} (${e.type}) was delivered, is a gap in the log, and was never aborted`);
  }
  const ends = log.events.filter(isTerminal);
  if (ends.length !== 1) report(`${ends.length} terminal events`);
  else {
    if (log.events.at(-1) !== ends[0]) report('events after the terminal event');
    if (ends[0].status !== run.status) report(`the client received ${ends[0].status}, the run is ${run.status}`);
    if (ends[0].sequence !== run.last) report(`its terminal event is ${ends[0].sequence}, the run's is ${run.last}`);
  }
  const { done } = answersOf(log.events);
  const texts = messages.map((m) => JSON.parse(m)).filter((m) => m.role === 'assistant').map((m) => m.content);
  // An empty response is not stored as a message.
  const shown = done.filter((text, i) => text !== '' || texts[i] === '');
  if (JSON.stringify(shown) !== JSON.stringify(texts))
    report(`shows ${JSON.stringify(shown).slice(0, 300)}, stored is ${JSON.stringify(texts).slice(0, 300)}`);
  return violations;
}

// Checks that the protocol's client accepts the recorded stream and shows the status and the stored texts of the run.
async function checkProtocol(log, run, messages) {
  const name = `the ${log.protocol === agui ? 'AG-UI' : 'UI message'} stream of run ${log.run}`;
  if (log.timedOut) return [`${name} did not end in time, ${log.timedOut}`];
  const refused = log.answers.filter((status) => status < 500);
  if (refused.length) return [`${name} returned ${refused}`];
  try {
    const texts = messages.map((m) => JSON.parse(m)).filter((m) => m.role === 'assistant' && m.content).map((m) => m.content);
    if (log.protocol === agui) {
      const shown = await readAgui(log.events, { threadId: log.thread, runId: log.run });
      assert.equal(shown.status, run.status);
      if (run.status === 'completed') assert.deepEqual(shown.texts, texts);
    } else {
      const shown = await readUiMessages(log.events, { chatId: log.thread });
      assert.deepEqual([shown.metadata.ended, shown.errors.length], [true, run.status === 'failed' ? 1 : 0]);
      if (run.status === 'completed') assert.deepEqual(shown.texts, texts);
    }
    return [];
  } catch (e) {
    return [`${name} was not accepted: ${e.message}; ${JSON.stringify(log.events.slice(-3))}`];
  }
}

// clients: [{run, prompt, stopStatus: status or undefined, reader, others, inProtocols}] of every start that returned 2xx.
export async function checkAll(postgres, clients) {
  const violations = [];
  const report = (text) => violations.push(text);
  const expectNoRows = async (label, sql) => {
    for (const row of await postgres.rows(sql)) report(`${label}: ${row.join(' ')}`);
  };
  await expectNoRows('still running', `select id, job_id from runs.runs where status = 'running'`);
  await expectNoRows('job left', `select id, kind, state, node, attempt, last_error from core.job where kind = 'runs.execute'
    union all select id, kind, 2, null, attempt, last_error from core.dead_job`);
  await expectNoRows('failed', `select id, reason, error from runs.runs where status = 'failed'`);
  await expectNoRows('balance is not the sum of the ledger',
    `select a.id, a.balance_micro, sum(l.delta_micro) from accounts.account a join accounts.ledger l on l.account_id = a.id
      group by a.id having a.balance_micro <> sum(l.delta_micro)`);
  await expectNoRows('ledger does not add up',
    `select * from (select account_id, id, balance_micro - delta_micro as before,
        lag(balance_micro, 1, 0) over (partition by account_id order by id) as was from accounts.ledger) x where before <> was`);
  await expectNoRows('response charged twice',
    `select split_part(ref, ':', 1), split_part(ref, ':', 2), count(*) from accounts.ledger
      where kind = 'charge' and split_part(ref, ':', 2) <> 'cut' group by 1, 2 having count(*) > 1`);
  await expectNoRows('charges of a run differ from its charged_micro',
    `select r.id, r.charged_micro, r.step, coalesce(sum(-l.delta_micro), 0) from runs.runs r
       left join accounts.ledger l on l.kind = 'charge' and split_part(l.ref, ':', 1) = r.id::text
      group by r.id having r.charged_micro <> coalesce(sum(-l.delta_micro), 0)`);
  await expectNoRows('completed, but not charged for each response',
    `select id, step, charged_micro from runs.runs r where status = 'completed' and charged_micro <> step * ${microPerAnswer}
        and not exists (select from runs.event e where e.run_id = r.id and e.payload like '{"type": "error"%')`);
  await expectNoRows('sequence numbers of events are not 1..n',
    `select run_id, count(*), min(seq), max(seq) from runs.event group by run_id
      having min(seq) <> 1 or max(seq) <> count(*) or count(*) <> count(distinct seq)`);
  await expectNoRows('log rows whose events differ from their sequence range',
    `select r.run_id, r.seq, r.last_seq, count(*), min(e.seq), max(e.seq) from runs.events r left join runs.event e
        on e.run_id = r.run_id and e.seq between r.seq and r.last_seq
      group by r.run_id, r.seq, r.last_seq having count(*) <> r.last_seq - r.seq + 1`);
  await expectNoRows('not exactly one terminal event, at the end',
    `select r.id, r.status, count(e.seq) from runs.runs r left join runs.event e on e.run_id = r.id
        and e.payload like '{"type": "status"%' and e.payload not like '%"status": "running"%'
      group by r.id having count(e.seq) <> 1 or max(e.seq) <> (select max(x.seq) from runs.event x where x.run_id = r.id)
        or max(e.payload) not like '%"status": "' || r.status || '"%'`);
  await expectNoRows('one call has two results',
    `select run_id, body::jsonb ->> 'tool_call_id', count(*) from runs.messages where role = 'tool' group by 1, 2 having count(*) > 1`);

  const rows = new Map((await postgres.rows(
    `select r.id, r.status, (select max(seq) from runs.event e where e.run_id = r.id), r.step from runs.runs r`))
    .map(([id, status, last, step]) => [id, { status, last: Number(last), step: Number(step) }]));
  const events = new Map(), messages = new Map();
  for (const [id, seq, payload] of await postgres.rows('select run_id, seq, payload from runs.event order by run_id, seq')) {
    if (!events.has(id)) events.set(id, new Map());
    events.get(id).set(Number(seq), payload);
  }
  for (const [id, body] of await postgres.rows('select run_id, body from runs.messages order by position')) {
    if (!messages.has(id)) messages.set(id, []);
    messages.get(id).push(body);
  }
  const known = new Set();
  for (const c of clients) {
    if (known.has(c.run)) report(`two starts returned run ${c.run}`);
    known.add(c.run);
    const run = rows.get(c.run);
    if (!run) { report(`run ${c.run} is lost`); continue; }
    const kept = messages.get(c.run) ?? [];
    const plan = planOf(c.prompt);
    if (run.status === 'completed') {
      const texts = kept.map((m) => JSON.parse(m)).filter((m) => m.role === 'assistant').map((m) => m.content);
      const expected = Array.from({ length: plan.tools + 1 }, (_, i) => textOfAnswer(plan, i));
      if (JSON.stringify(texts) !== JSON.stringify(expected)) report(`run ${c.run} stored ${JSON.stringify(texts).slice(0, 300)}`);
    }
    if (run.status === 'stopped' && !c.stopRequested) report(`run ${c.run} was stopped without a request`);
    if (c.stopStatus && c.stopStatus !== run.status) report(`a stop returned ${c.stopStatus}, run ${c.run} is ${run.status}`);
    for (const [name, log] of [['reader', c.reader], ...(c.others ?? []).map((o, i) => [`other reader ${i + 1}`, o])])
      violations.push(...checkReader(name, log, events.get(c.run) ?? new Map(), run, kept));
    for (const log of c.inProtocols ?? []) violations.push(...await checkProtocol(log, run, kept));
  }
  for (const id of rows.keys()) if (!known.has(id)) report(`run ${id} was not started by any client`);
  return violations;
}

// Every account can again start as many runs as its limit allows, and not more. clients: one per account.
export async function checkSlots(clients, limit, prompt) {
  const violations = [];
  for (const c of clients) {
    const started = [];
    for (let i = 0; i < limit; i++) {
      const r = await c.start(prompt);
      if (r.status === 200) started.push(r.json.agent_run_id);
      else violations.push(`slot ${i + 1} of ${limit} is leaked: ${r.status} ${r.text}`);
    }
    const over = await c.start(prompt);
    if (over.status !== 402) violations.push(`a start over the limit returned ${over.status}`);
    for (const run of started) {
      const r = await c.stop(run);
      if (r.status !== 200) violations.push(`stop returned ${r.status} ${r.text}`);
    }
  }
  return violations;
}

// Fails and lists the first violations. ./test does not retry a test whose message begins with "violations:".
export const assertNoViolations = (violations, context = '') => assert.deepEqual(violations.slice(0, 40), [], `violations: ${violations.length}${context}`);
