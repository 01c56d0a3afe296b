// Finds retired names in C and C++ sources, as identifiers and as file names. usage: node names.mjs DIRECTORY...
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { withoutTexts } from './co_await.mjs';

// {retired name: replacement}
export const retired = {
  border_step: 'checkpoint_step', border_queue: 'checkpoint_batcher', event_feed: 'event_buffer', outlet: 'subscriber',
  remote_tail: 'remote_event_buffer', account_gate: 'account_locks', workspace_keeper: 'workspace_store', workspace_rows: 'workspace_repository',
  upload_intake: 'upload_parser', upload_finding: 'extraction_result', log_writer: 'event_log_writer', log_text: 'event_codec',
  sandbox_places: 'command_semaphore', money_says: 'budget_verdict', out_of_money: 'check_budget',
  out_of_ideas: 'check_tool_loop', take_in: 'apply_answer', how_it_ended: 'run_outcome',
  courier: 'delivery_worker', occasion: 'notification_event', postman: 'mail_sender', settler: 'reward_worker',
  kept_clients: 'client_pool', era_book: 'revision_cache', broker: 'mcp_service',
  workshop: 'module_host', rehearsal: 'preflight', rehearse: 'run_preflight', module_changes: 'module_operations', change_request: 'swap_request', change_record: 'swap_record',
  arrangement: 'module_graph', sleep_book: 'timer_registry', module_facts: 'module_manifest', misfits: 'validation_errors', misbehaved: 'report_violation',
  module_call: 'async_statement', contributors: 'authenticator_drivers', guardian: 'reaper', last_words: 'crash_reporter or session_terminator',
  complain: 'log_error', poke: 'wake', wish: 'request or options', told: 'notified, or the name of what is reported',
  seat: 'stream_permit', lane: 'priority', strikes: 'violations', last_strike: 'last_violation', course: 'step_state', elf_facts: 'elf_contents',
  facts_of_json: 'manifest_of_json', statement_pace: 'batch_policy',
};
const prefixes = { RY_WHY_: 'RY_REASON_' };

// Returns the findings of one source text: [{line, name, use}].
export function findings(source) {
  const found = [];
  withoutTexts(source).split('\n').forEach((text, i) => {
    for (const [name] of text.matchAll(/[A-Za-z_][A-Za-z_0-9]*/g)) {
      const prefix = Object.keys(prefixes).find((p) => name.startsWith(p));
      const use = Object.hasOwn(retired, name) ? retired[name] : prefixes[prefix];
      if (use) found.push({ line: i + 1, name, use });
    }
  });
  return found;
}

export function fileFinding(file) {
  const stem = path.basename(file).replace(/\..*$/, '').replace(/_(pg)?test$/, '');
  return Object.hasOwn(retired, stem) ? { name: stem, use: retired[stem] } : undefined;
}

function* sources(at) {
  for (const name of readdirSync(at).sort()) {
    if (name === 'node_modules' || name.startsWith('build') || name.startsWith('.')) continue;
    const file = path.join(at, name);
    if (statSync(file).isDirectory()) yield* sources(file);
    else if (/\.(c|cpp|h|hpp)$/.test(name)) yield file;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  let files = 0, bad = 0;
  for (const at of process.argv.slice(2))
    for (const file of sources(at)) {
      files++;
      const ofFile = fileFinding(file);
      if (ofFile) { bad++; console.log(`${file}: the name ${ofFile.name} is retired; use ${ofFile.use}`); }
      for (const f of findings(readFileSync(file, 'utf8'))) { bad++; console.log(`${file}:${f.line}: the name ${f.name} is retired; use ${f.use}`); }
    }
  console.log(`${files} files, ${bad} findings`);
  process.exit(bad || !files ? 1 : 0);
}
