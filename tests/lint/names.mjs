// Finds retired names: in C and C++ sources as identifiers, words of identifiers and file names; in SQL functions, documents, scripts
// and configurations as names of metrics, labels, JSON members and SQL functions. usage: node names.mjs DIRECTORY_OR_FILE...
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
  facts_of_json: 'manifest_of_json', statement_pace: 'batch_policy', persist_steps: 'commit_steps', client_parts: 'exchange_context',
  called_off: 'cancelled', call_off: 'cancel', given_up: 'dead letter', tool_memory: 'tool_list_cache', conclude: 'finish', figures: 'metrics',
  contributor: 'driver', away_ms: 'db_unavailable_retry_ms', full_ms: 'node_full_retry_ms', take_over: 'claim', taken_over: 'claimed',
  hand_over: 'release', handed_over: 'released', driver_misbehaved: 'report_driver_violation', machine_share: 'resource_limits',
  normal_uuid: 'canonical_uuid', free_name: 'unique_name', held_against: 'validate', heard_by_all: 'received_by_all',
};
// Retired also as a word of a longer identifier: {word: replacement}.
export const words = {
  poke: 'wake', postman: 'mail_sender', courier: 'delivery_worker', settler: 'reward_worker', broker: 'mcp_service', misbehaved: 'violation',
  strikes: 'violations', rehearse: 'preflight', rehearsal: 'preflight', whoever: 'the actor', nobody: 'the actor',
};
// Retired in all text files.
export const everywhere = {
  runyard_module_strikes_total: 'runyard_module_violations_total', runyard_module_generation: 'runyard_module_instance',
  runyard_module_left_mapped: 'runyard_module_instances_in_memory', runyard_module_changes_total: 'runyard_module_swaps_total',
  runyard_runs_taken_over_total: 'runyard_runs_claimed_total', runyard_runs_left_total: 'runyard_runs_released_total',
  runyard_bus_heard_by_all: 'runyard_bus_received_by_all',
  runyard_sandbox_bubblewrap_ended_total: 'runyard_sandbox_bubblewrap_terminated_total', runyard_live_hints_sent_total: 'runyard_live_wakeups_sent_total',
  RunyardJobsGivenUp: 'RunyardJobsDeadLettered', RunyardModuleMisbehaves: 'RunyardModuleViolations', RunyardModuleChangeRefused: 'RunyardModuleSwapRefused',
  lease_lapsed: 'lease_expired', handed_over: 'released', given_up: 'dead_lettered', job_born: 'job_create_leased', jobs_born: 'jobs_create_leased',
  job_call_off: 'job_cancel', RY_SANDBOX_TALKS: 'RY_SANDBOX_INTERACTIVE', RY_TOOLS_TAKEN_OVER: 'RY_TOOLS_RESUMED', ry_sandbox_place: 'ry_sandbox_mount',
};
const prefixes = { RY_WHY_: 'RY_REASON_' };

const name = /[A-Za-z_][A-Za-z_0-9]*/g;

function replacementOf(identifier) {
  const stem = identifier.replace(/_$/, '');  // private members end with an underscore
  if (Object.hasOwn(retired, stem)) return retired[stem];
  const prefix = Object.keys(prefixes).find((p) => stem.startsWith(p));
  if (prefix) return prefixes[prefix];
  const word = stem.split('_').find((w) => Object.hasOwn(words, w));
  return word && words[word];
}

// Returns the findings of one C or C++ source text: [{line, name, use}].
export function findings(source) {
  return withoutTexts(source).split('\n').flatMap((text, i) => (text.match(name) ?? []).flatMap((found) => {
    const use = replacementOf(found);
    return use ? [{ line: i + 1, name: found, use }] : [];
  }));
}

// Returns the findings of any other text.
export function textFindings(source) {
  return source.split('\n').flatMap((text, i) => (text.match(name) ?? []).filter((found) => Object.hasOwn(everywhere, found))
    .map((found) => ({ line: i + 1, name: found, use: everywhere[found] })));
}

export function fileFinding(file) {
  const stem = path.basename(file).replace(/\..*$/, '').replace(/_(pg)?test$/, '');
  return Object.hasOwn(retired, stem) ? { name: stem, use: retired[stem] } : undefined;
}

const isCode = (file) => /\.(c|cpp|h|hpp)$/.test(file);
// Changelogs and applied migrations name what was; the lists of this lint and their tests must name what is retired.
const exempt = /(^|\/)(CHANGELOG\.md|migrations\/\d+_[^/]*|lint\/names(\.test)?\.mjs|create_leased\.sql|cancel\.sql|core\/schema\/README\.md)$/;

function* sources(at) {
  if (statSync(at).isFile()) { yield at; return; }
  for (const entry of readdirSync(at).sort()) {
    if (/^(node_modules|build.*|dist|corpus|released|\..*)$/.test(entry)) continue;
    yield* sources(path.join(at, entry));
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  let files = 0, bad = 0;
  for (const at of process.argv.slice(2))
    for (const file of sources(at)) {
      if (!isCode(file) && (!/\.(sql|md|mjs|jsx?|ts|json|ya?ml|toml|sh)$/.test(file) || exempt.test(file))) continue;
      files++;
      const ofFile = isCode(file) && fileFinding(file);
      if (ofFile) { bad++; console.log(`${file}: the name ${ofFile.name} is retired; use ${ofFile.use}`); }
      const text = readFileSync(file, 'utf8');
      for (const f of isCode(file) ? findings(text) : textFindings(text)) { bad++; console.log(`${file}:${f.line}: the name ${f.name} is retired; use ${f.use}`); }
    }
  console.log(`${files} files, ${bad} findings`);
  process.exit(bad || !files ? 1 : 0);
}
