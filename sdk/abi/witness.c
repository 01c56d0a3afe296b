/* Sizes and offsets of every public struct on 64-bit machines (LP64), as released. A failing line means that existing
 * modules would break: restore the struct, see sdk/POLICY.md. New members of a table are added at its end; then only
 * its SIZE line changes. */
#include <ry/abi.h>
#include <ry/ext/agent_tools.h>
#include <ry/ext/command.h>
#include <ry/ext/event_bus.h>
#include <ry/ext/llm_provider.h>
#include <ry/ext/mcp_check.h>
#include <ry/ext/mcp_transport.h>
#include <ry/ext/notify_orchestrator.h>
#include <ry/ext/sandbox_driver.h>
#include <ry/ext/settings_check.h>
#include <ry/if/auth.h>
#include <ry/if/core.h>
#include <ry/if/db.h>
#include <ry/if/events.h>
#include <ry/if/http.h>
#include <ry/if/http_client.h>
#include <ry/if/jobs.h>
#include <ry/if/metrics.h>
#include <ry/if/process.h>
#include <ry/if/registrar.h>
#include <ry/if/secrets.h>
#include <ry/if/services.h>
#include <ry/if/trace.h>
#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>
#include <ry/svc/mail.h>
#include <ry/svc/mcp.h>
#include <ry/svc/runs.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "size of " #type)
#define AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), "offset of " #type "." #member)

_Static_assert(sizeof(void*) == 8 && sizeof(size_t) == 8, "the figures below are for LP64");

SIZE(ry_str, 16);
AT(ry_str, ptr, 0);
AT(ry_str, len, 8);

SIZE(ry_bytes, 16);
AT(ry_bytes, ptr, 0);
AT(ry_bytes, len, 8);

SIZE(ry_errbuf, 24);
AT(ry_errbuf, ptr, 0);
AT(ry_errbuf, cap, 8);
AT(ry_errbuf, len, 16);

SIZE(ry_uuid, 16);
AT(ry_uuid, bytes, 0);

SIZE(ry_error_view, 64);
AT(ry_error_view, struct_size, 0);
AT(ry_error_view, status, 4);
AT(ry_error_view, reason, 8);
AT(ry_error_view, message, 24);
AT(ry_error_view, detail_json, 40);
AT(ry_error_view, http_status, 56);
AT(ry_error_view, retry_after_s, 60);

SIZE(ry_done, 16);
AT(ry_done, fn, 0);
AT(ry_done, ctx, 8);

SIZE(ry_header, 32);
AT(ry_header, name, 0);
AT(ry_header, value, 16);

SIZE(ry_principal, 96);
AT(ry_principal, struct_size, 0);
AT(ry_principal, role, 4);
AT(ry_principal, subject, 8);
AT(ry_principal, issuer, 24);
AT(ry_principal, email, 40);
AT(ry_principal, auth_kind, 56);
AT(ry_principal, claims_json, 72);
AT(ry_principal, expires_unix_us, 88);

SIZE(ry_need, 32);
AT(ry_need, struct_size, 0);
AT(ry_need, optional, 4);
AT(ry_need, id, 8);
AT(ry_need, min_size, 24);
AT(ry_need, reserved0, 28);

SIZE(ry_module_v1, 152);
AT(ry_module_v1, magic, 0);
AT(ry_module_v1, struct_size, 4);
AT(ry_module_v1, abi_major, 8);
AT(ry_module_v1, abi_minor, 12);
AT(ry_module_v1, min_host_minor, 16);
AT(ry_module_v1, flags, 20);
AT(ry_module_v1, name, 24);
AT(ry_module_v1, version, 40);
AT(ry_module_v1, config_schema_json, 56);
AT(ry_module_v1, needs, 72);
AT(ry_module_v1, n_needs, 80);
AT(ry_module_v1, need_stride, 88);
AT(ry_module_v1, provides, 96);
AT(ry_module_v1, n_provides, 104);
AT(ry_module_v1, create, 112);
AT(ry_module_v1, start, 120);
AT(ry_module_v1, stop, 128);
AT(ry_module_v1, destroy, 136);
AT(ry_module_v1, health, 144);

SIZE(ry_tools_scope, 112);
AT(ry_tools_scope, struct_size, 0);
AT(ry_tools_scope, agent_version, 4);
AT(ry_tools_scope, account_id, 8);
AT(ry_tools_scope, agent_id, 24);
AT(ry_tools_scope, project_id, 40);
AT(ry_tools_scope, thread_id, 56);
AT(ry_tools_scope, run_id, 72);
AT(ry_tools_scope, flags, 88);
AT(ry_tools_scope, reserved0, 92);
AT(ry_tools_scope, input_json, 96);

SIZE(ry_tool_sink, 32);
AT(ry_tool_sink, struct_size, 0);
AT(ry_tool_sink, reserved0, 4);
AT(ry_tool_sink, on_output, 8);
AT(ry_tool_sink, on_result, 16);
AT(ry_tool_sink, on_input, 24);

SIZE(ry_agent_tools_v1, 56);
AT(ry_agent_tools_v1, struct_size, 0);
AT(ry_agent_tools_v1, reserved0, 4);
AT(ry_agent_tools_v1, list, 8);
AT(ry_agent_tools_v1, call, 16);
AT(ry_agent_tools_v1, cancel, 24);
AT(ry_agent_tools_v1, resume, 32);
AT(ry_agent_tools_v1, ended, 40);
AT(ry_agent_tools_v1, answer, 48);

SIZE(ry_llm_usage, 40);
AT(ry_llm_usage, struct_size, 0);
AT(ry_llm_usage, estimated, 4);
AT(ry_llm_usage, input_tokens, 8);
AT(ry_llm_usage, output_tokens, 16);
AT(ry_llm_usage, cached_tokens, 24);
AT(ry_llm_usage, cache_write_tokens, 32);

SIZE(ry_llm_end, 48);
AT(ry_llm_end, struct_size, 0);
AT(ry_llm_end, finish, 4);
AT(ry_llm_end, usage, 8);

SIZE(ry_llm_sink, 56);
AT(ry_llm_sink, struct_size, 0);
AT(ry_llm_sink, reserved0, 4);
AT(ry_llm_sink, on_text, 8);
AT(ry_llm_sink, on_reasoning, 16);
AT(ry_llm_sink, on_tool_call, 24);
AT(ry_llm_sink, on_end, 32);
AT(ry_llm_sink, on_reasoning_block, 40);
AT(ry_llm_sink, on_notice, 48);

SIZE(ry_llm_limits, 40);
AT(ry_llm_limits, struct_size, 0);
AT(ry_llm_limits, tools, 4);
AT(ry_llm_limits, image_side, 8);
AT(ry_llm_limits, many_images, 12);
AT(ry_llm_limits, image_side_of_many, 16);
AT(ry_llm_limits, gifs, 20);
AT(ry_llm_limits, image_bytes, 24);
AT(ry_llm_limits, output_schema, 32);
AT(ry_llm_limits, reserved0, 36);

SIZE(ry_llm_provider_v1, 48);
AT(ry_llm_provider_v1, struct_size, 0);
AT(ry_llm_provider_v1, reserved0, 4);
AT(ry_llm_provider_v1, open, 8);
AT(ry_llm_provider_v1, close, 16);
AT(ry_llm_provider_v1, complete, 24);
AT(ry_llm_provider_v1, cancel, 32);
AT(ry_llm_provider_v1, limits, 40);

SIZE(ry_mcp_target, 88);
AT(ry_mcp_target, struct_size, 0);
AT(ry_mcp_target, flags, 4);
AT(ry_mcp_target, server, 8);
AT(ry_mcp_target, config_json, 24);
AT(ry_mcp_target, account_id, 40);
AT(ry_mcp_target, identity, 56);
AT(ry_mcp_target, connect_timeout_ms, 72);
AT(ry_mcp_target, max_message_bytes, 80);

SIZE(ry_mcp_message, 56);
AT(ry_mcp_message, struct_size, 0);
AT(ry_mcp_message, kind, 4);
AT(ry_mcp_message, token, 8);
AT(ry_mcp_message, json, 16);
AT(ry_mcp_message, headers, 32);
AT(ry_mcp_message, n_headers, 40);
AT(ry_mcp_message, timeout_ms, 48);

SIZE(ry_mcp_outcome, 48);
AT(ry_mcp_outcome, struct_size, 0);
AT(ry_mcp_outcome, flags, 4);
AT(ry_mcp_outcome, http_status, 8);
AT(ry_mcp_outcome, retry_after_s, 12);
AT(ry_mcp_outcome, body, 16);
AT(ry_mcp_outcome, authenticate, 32);

SIZE(ry_mcp_sink, 32);
AT(ry_mcp_sink, struct_size, 0);
AT(ry_mcp_sink, reserved0, 4);
AT(ry_mcp_sink, on_message, 8);
AT(ry_mcp_sink, on_sent, 16);
AT(ry_mcp_sink, on_closed, 24);

SIZE(ry_mcp_refusal, 40);
AT(ry_mcp_refusal, struct_size, 0);
AT(ry_mcp_refusal, http_status, 4);
AT(ry_mcp_refusal, config_json, 8);
AT(ry_mcp_refusal, authenticate, 24);

SIZE(ry_mcp_transport_v1, 72);
AT(ry_mcp_transport_v1, struct_size, 0);
AT(ry_mcp_transport_v1, capabilities, 4);
AT(ry_mcp_transport_v1, check, 8);
AT(ry_mcp_transport_v1, open, 16);
AT(ry_mcp_transport_v1, send, 24);
AT(ry_mcp_transport_v1, finish, 32);
AT(ry_mcp_transport_v1, resume, 40);
AT(ry_mcp_transport_v1, close, 48);
AT(ry_mcp_transport_v1, resolve, 56);
AT(ry_mcp_transport_v1, authorize, 64);

SIZE(ry_notify_subscriber, 104);
AT(ry_notify_subscriber, struct_size, 0);
AT(ry_notify_subscriber, reserved0, 4);
AT(ry_notify_subscriber, account_id, 8);
AT(ry_notify_subscriber, email, 24);
AT(ry_notify_subscriber, name, 40);
AT(ry_notify_subscriber, first_name, 56);
AT(ry_notify_subscriber, phone, 72);
AT(ry_notify_subscriber, avatar, 88);

SIZE(ry_notify_token, 56);
AT(ry_notify_token, struct_size, 0);
AT(ry_notify_token, reserved0, 4);
AT(ry_notify_token, provider, 8);
AT(ry_notify_token, token, 24);
AT(ry_notify_token, device_type, 40);

SIZE(ry_notify_content, 88);
AT(ry_notify_content, struct_size, 0);
AT(ry_notify_content, reserved0, 4);
AT(ry_notify_content, title, 8);
AT(ry_notify_content, body, 24);
AT(ry_notify_content, mail_text, 40);
AT(ry_notify_content, mail_html, 56);
AT(ry_notify_content, action_url, 72);

SIZE(ry_notify_trigger, 144);
AT(ry_notify_trigger, struct_size, 0);
AT(ry_notify_trigger, channels, 4);
AT(ry_notify_trigger, workflow, 8);
AT(ry_notify_trigger, key, 24);
AT(ry_notify_trigger, epoch, 40);
AT(ry_notify_trigger, attempt, 44);
AT(ry_notify_trigger, payload_json, 48);
AT(ry_notify_trigger, to, 64);
AT(ry_notify_trigger, content, 72);
AT(ry_notify_trigger, tokens, 80);
AT(ry_notify_trigger, n_tokens, 88);
AT(ry_notify_trigger, token_stride, 96);
AT(ry_notify_trigger, expires_unix_us, 104);
AT(ry_notify_trigger, timeout_ms, 112);
AT(ry_notify_trigger, flags, 120);
AT(ry_notify_trigger, reserved1, 124);
AT(ry_notify_trigger, broadcast, 128);

SIZE(ry_notify_result, 80);
AT(ry_notify_result, struct_size, 0);
AT(ry_notify_result, channels, 4);
AT(ry_notify_result, result, 8);
AT(ry_notify_result, retry_after_s, 12);
AT(ry_notify_result, provider, 16);
AT(ry_notify_result, provider_id, 32);
AT(ry_notify_result, token, 48);
AT(ry_notify_result, detail, 64);

SIZE(ry_notify_sent, 72);
AT(ry_notify_sent, struct_size, 0);
AT(ry_notify_sent, channels, 4);
AT(ry_notify_sent, key, 8);
AT(ry_notify_sent, provider, 24);
AT(ry_notify_sent, provider_id, 40);
AT(ry_notify_sent, token, 56);

SIZE(ry_notify_report, 128);
AT(ry_notify_report, struct_size, 0);
AT(ry_notify_report, channels, 4);
AT(ry_notify_report, result, 8);
AT(ry_notify_report, reserved0, 12);
AT(ry_notify_report, type, 16);
AT(ry_notify_report, key, 32);
AT(ry_notify_report, account_id, 48);
AT(ry_notify_report, provider, 64);
AT(ry_notify_report, provider_id, 80);
AT(ry_notify_report, token, 96);
AT(ry_notify_report, detail, 112);

SIZE(ry_notify_orchestrator_v1, 88);
AT(ry_notify_orchestrator_v1, struct_size, 0);
AT(ry_notify_orchestrator_v1, capabilities, 4);
AT(ry_notify_orchestrator_v1, accepts, 8);
AT(ry_notify_orchestrator_v1, trigger, 16);
AT(ry_notify_orchestrator_v1, cancel, 24);
AT(ry_notify_orchestrator_v1, withdraw, 32);
AT(ry_notify_orchestrator_v1, put_subscriber, 40);
AT(ry_notify_orchestrator_v1, forget, 48);
AT(ry_notify_orchestrator_v1, put_tokens, 56);
AT(ry_notify_orchestrator_v1, follow, 64);
AT(ry_notify_orchestrator_v1, read_report, 72);
AT(ry_notify_orchestrator_v1, web_push_key, 80);

SIZE(ry_sandbox_mount, 24);
AT(ry_sandbox_mount, struct_size, 0);
AT(ry_sandbox_mount, flags, 4);
AT(ry_sandbox_mount, path, 8);

SIZE(ry_sandbox_command, 208);
AT(ry_sandbox_command, struct_size, 0);
AT(ry_sandbox_command, network, 4);
AT(ry_sandbox_command, argv, 8);
AT(ry_sandbox_command, n_argv, 16);
AT(ry_sandbox_command, stdin_bytes, 24);
AT(ry_sandbox_command, wall_ms, 40);
AT(ry_sandbox_command, memory_bytes, 48);
AT(ry_sandbox_command, output_bytes, 56);
AT(ry_sandbox_command, host_files, 64);
AT(ry_sandbox_command, n_host_files, 72);
AT(ry_sandbox_command, flags, 80);
AT(ry_sandbox_command, reserved0, 84);
AT(ry_sandbox_command, env, 88);
AT(ry_sandbox_command, n_env, 96);
AT(ry_sandbox_command, mounts, 104);
AT(ry_sandbox_command, n_mounts, 112);
AT(ry_sandbox_command, processes, 120);
AT(ry_sandbox_command, open_files, 128);
AT(ry_sandbox_command, file_bytes, 136);
AT(ry_sandbox_command, scratch_bytes, 144);
AT(ry_sandbox_command, cache, 152);
AT(ry_sandbox_command, cache_bytes, 168);
AT(ry_sandbox_command, account, 176);
AT(ry_sandbox_command, workspace_bytes, 192);
AT(ry_sandbox_command, workspace_files, 200);

SIZE(ry_sandbox_exit, 40);
AT(ry_sandbox_exit, struct_size, 0);
AT(ry_sandbox_exit, exit_code, 4);
AT(ry_sandbox_exit, why, 8);
AT(ry_sandbox_exit, reserved0, 12);
AT(ry_sandbox_exit, dropped_bytes, 16);
AT(ry_sandbox_exit, workspace_bytes, 24);
AT(ry_sandbox_exit, workspace_files, 32);

SIZE(ry_sandbox_sink, 24);
AT(ry_sandbox_sink, struct_size, 0);
AT(ry_sandbox_sink, reserved0, 4);
AT(ry_sandbox_sink, on_output, 8);
AT(ry_sandbox_sink, on_exit, 16);

SIZE(ry_sandbox_entry, 80);
AT(ry_sandbox_entry, struct_size, 0);
AT(ry_sandbox_entry, kind, 4);
AT(ry_sandbox_entry, path, 8);
AT(ry_sandbox_entry, target, 24);
AT(ry_sandbox_entry, size, 40);
AT(ry_sandbox_entry, inode, 48);
AT(ry_sandbox_entry, modified_ns, 56);
AT(ry_sandbox_entry, changed_ns, 64);
AT(ry_sandbox_entry, mode, 72);
AT(ry_sandbox_entry, reserved0, 76);

SIZE(ry_sandbox_driver_v1, 128);
AT(ry_sandbox_driver_v1, struct_size, 0);
AT(ry_sandbox_driver_v1, reserved0, 4);
AT(ry_sandbox_driver_v1, ensure, 8);
AT(ry_sandbox_driver_v1, run, 16);
AT(ry_sandbox_driver_v1, cancel, 24);
AT(ry_sandbox_driver_v1, read_file, 32);
AT(ry_sandbox_driver_v1, write_file, 40);
AT(ry_sandbox_driver_v1, import_file, 48);
AT(ry_sandbox_driver_v1, list_files, 56);
AT(ry_sandbox_driver_v1, destroy, 64);
AT(ry_sandbox_driver_v1, scan, 72);
AT(ry_sandbox_driver_v1, place, 80);
AT(ry_sandbox_driver_v1, write, 88);
AT(ry_sandbox_driver_v1, close_stdin, 96);
AT(ry_sandbox_driver_v1, pause, 104);
AT(ry_sandbox_driver_v1, resume, 112);
AT(ry_sandbox_driver_v1, open_file, 120);

SIZE(ry_auth_v1, 40);
AT(ry_auth_v1, struct_size, 0);
AT(ry_auth_v1, reserved0, 4);
AT(ry_auth_v1, mint, 8);
AT(ry_auth_v1, mint_query_token, 16);
AT(ry_auth_v1, forget, 24);
AT(ry_auth_v1, revoke_session, 32);

SIZE(ry_authenticator_v1, 16);
AT(ry_authenticator_v1, struct_size, 0);
AT(ry_authenticator_v1, reserved0, 4);
AT(ry_authenticator_v1, authenticate, 8);

SIZE(ry_core_v1, 96);
AT(ry_core_v1, struct_size, 0);
AT(ry_core_v1, reserved0, 4);
AT(ry_core_v1, log, 8);
AT(ry_core_v1, now_unix_us, 16);
AT(ry_core_v1, mono_us, 24);
AT(ry_core_v1, info, 32);
AT(ry_core_v1, new_uuid, 40);
AT(ry_core_v1, pick_exec, 48);
AT(ry_core_v1, on_exec, 56);
AT(ry_core_v1, exec_post, 64);
AT(ry_core_v1, sleep_ms, 72);
AT(ry_core_v1, op_cancel, 80);
AT(ry_core_v1, run_blocking, 88);

SIZE(ry_value, 24);
AT(ry_value, kind, 0);
AT(ry_value, reserved0, 4);
AT(ry_value, u, 8);

SIZE(ry_db_call, 48);
AT(ry_db_call, struct_size, 0);
AT(ry_db_call, flags, 4);
AT(ry_db_call, sql, 8);
AT(ry_db_call, params, 24);
AT(ry_db_call, n_params, 32);
AT(ry_db_call, timeout_ms, 40);

SIZE(ry_db_rows, 40);
AT(ry_db_rows, struct_size, 0);
AT(ry_db_rows, n_cols, 4);
AT(ry_db_rows, n_rows, 8);
AT(ry_db_rows, affected, 16);
AT(ry_db_rows, columns, 24);
AT(ry_db_rows, cells, 32);

SIZE(ry_db_v1, 80);
AT(ry_db_v1, struct_size, 0);
AT(ry_db_v1, reserved0, 4);
AT(ry_db_v1, run, 8);
AT(ry_db_v1, begin, 16);
AT(ry_db_v1, commit, 24);
AT(ry_db_v1, rollback, 32);
AT(ry_db_v1, result_rows, 40);
AT(ry_db_v1, result_release, 48);
AT(ry_db_v1, listen, 56);
AT(ry_db_v1, unlisten, 64);
AT(ry_db_v1, notify, 72);

SIZE(ry_event_view, 80);
AT(ry_event_view, struct_size, 0);
AT(ry_event_view, attempt, 4);
AT(ry_event_view, id, 8);
AT(ry_event_view, kind, 16);
AT(ry_event_view, key, 32);
AT(ry_event_view, payload_json, 48);
AT(ry_event_view, published_unix_us, 64);
AT(ry_event_view, exec, 72);

SIZE(ry_event_consumer, 56);
AT(ry_event_consumer, struct_size, 0);
AT(ry_event_consumer, flags, 4);
AT(ry_event_consumer, name, 8);
AT(ry_event_consumer, kinds, 24);
AT(ry_event_consumer, handle, 40);
AT(ry_event_consumer, ctx, 48);

SIZE(ry_events_v1, 56);
AT(ry_events_v1, struct_size, 0);
AT(ry_events_v1, reserved0, 4);
AT(ry_events_v1, publish, 8);
AT(ry_events_v1, ack, 16);
AT(ry_events_v1, live_subscribe, 24);
AT(ry_events_v1, live_unsubscribe, 32);
AT(ry_events_v1, live_publish, 40);
AT(ry_events_v1, live_carries, 48);

SIZE(ry_bus_sink, 40);
AT(ry_bus_sink, struct_size, 0);
AT(ry_bus_sink, reserved0, 4);
AT(ry_bus_sink, message, 8);
AT(ry_bus_sink, lost, 16);
AT(ry_bus_sink, missed, 24);
AT(ry_bus_sink, state, 32);

SIZE(ry_event_bus_v1, 32);
AT(ry_event_bus_v1, struct_size, 0);
AT(ry_event_bus_v1, reserved0, 4);
AT(ry_event_bus_v1, open, 8);
AT(ry_event_bus_v1, close, 16);
AT(ry_event_bus_v1, publish, 24);

SIZE(ry_command_call, 32);
AT(ry_command_call, struct_size, 0);
AT(ry_command_call, reserved0, 4);
AT(ry_command_call, ctx, 8);
AT(ry_command_call, print, 16);
AT(ry_command_call, done, 24);

SIZE(ry_command_v1, 16);
AT(ry_command_v1, struct_size, 0);
AT(ry_command_v1, reserved0, 4);
AT(ry_command_v1, run, 8);

SIZE(ry_settings_sink, 24);
AT(ry_settings_sink, struct_size, 0);
AT(ry_settings_sink, reserved0, 4);
AT(ry_settings_sink, ctx, 8);
AT(ry_settings_sink, fault, 16);

SIZE(ry_mcp_check_v1, 16);
AT(ry_mcp_check_v1, struct_size, 0);
AT(ry_mcp_check_v1, reserved0, 4);
AT(ry_mcp_check_v1, check, 8);
SIZE(ry_settings_check_v1, 16);
AT(ry_settings_check_v1, struct_size, 0);
AT(ry_settings_check_v1, reserved0, 4);
AT(ry_settings_check_v1, check, 8);

SIZE(ry_request_view, 192);
AT(ry_request_view, struct_size, 0);
AT(ry_request_view, n_headers, 4);
AT(ry_request_view, method, 8);
AT(ry_request_view, path, 24);
AT(ry_request_view, query, 40);
AT(ry_request_view, route, 56);
AT(ry_request_view, headers, 72);
AT(ry_request_view, params, 80);
AT(ry_request_view, n_params, 88);
AT(ry_request_view, body, 96);
AT(ry_request_view, principal, 112);
AT(ry_request_view, request_id, 120);
AT(ry_request_view, remote_address, 136);
AT(ry_request_view, traceparent, 152);
AT(ry_request_view, received_unix_us, 168);
AT(ry_request_view, deadline_unix_us, 176);
AT(ry_request_view, exec, 184);

SIZE(ry_form_limits, 40);
AT(ry_form_limits, struct_size, 0);
AT(ry_form_limits, max_files, 4);
AT(ry_form_limits, max_file_bytes, 8);
AT(ry_form_limits, max_total_bytes, 16);
AT(ry_form_limits, max_value_bytes, 24);
AT(ry_form_limits, max_parts, 32);
AT(ry_form_limits, reserved0, 36);

SIZE(ry_form_part, 96);
AT(ry_form_part, struct_size, 0);
AT(ry_form_part, is_file, 4);
AT(ry_form_part, name, 8);
AT(ry_form_part, filename, 24);
AT(ry_form_part, content_type, 40);
AT(ry_form_part, value, 56);
AT(ry_form_part, path, 72);
AT(ry_form_part, size, 88);

SIZE(ry_form, 24);
AT(ry_form, struct_size, 0);
AT(ry_form, part_stride, 4);
AT(ry_form, parts, 8);
AT(ry_form, n_parts, 16);

SIZE(ry_http_v1, 128);
AT(ry_http_v1, struct_size, 0);
AT(ry_http_v1, reserved0, 4);
AT(ry_http_v1, respond, 8);
AT(ry_http_v1, respond_file, 16);
AT(ry_http_v1, fail, 24);
AT(ry_http_v1, on_cancel, 32);
AT(ry_http_v1, read_body, 40);
AT(ry_http_v1, read_form, 48);
AT(ry_http_v1, stream_open, 56);
AT(ry_http_v1, stream_write, 64);
AT(ry_http_v1, stream_write_buffer, 72);
AT(ry_http_v1, stream_ready, 80);
AT(ry_http_v1, stream_keepalive, 88);
AT(ry_http_v1, stream_on_close, 96);
AT(ry_http_v1, stream_close, 104);
AT(ry_http_v1, buffer_new, 112);
AT(ry_http_v1, buffer_release, 120);

SIZE(ry_client_request, 160);
AT(ry_client_request, struct_size, 0);
AT(ry_client_request, flags, 4);
AT(ry_client_request, method, 8);
AT(ry_client_request, url, 24);
AT(ry_client_request, headers, 40);
AT(ry_client_request, n_headers, 48);
AT(ry_client_request, body, 56);
AT(ry_client_request, connect_timeout_ms, 72);
AT(ry_client_request, idle_timeout_ms, 80);
AT(ry_client_request, total_timeout_ms, 88);
AT(ry_client_request, max_response_bytes, 96);
AT(ry_client_request, pool_key, 104);
AT(ry_client_request, proxy, 120);
AT(ry_client_request, trust, 136);
AT(ry_client_request, account, 144);

SIZE(ry_client_response, 56);
AT(ry_client_response, struct_size, 0);
AT(ry_client_response, status, 4);
AT(ry_client_response, headers, 8);
AT(ry_client_response, n_headers, 16);
AT(ry_client_response, url, 24);
AT(ry_client_response, peer_address, 40);

SIZE(ry_client_handler, 32);
AT(ry_client_handler, struct_size, 0);
AT(ry_client_handler, reserved0, 4);
AT(ry_client_handler, on_head, 8);
AT(ry_client_handler, on_data, 16);
AT(ry_client_handler, on_done, 24);

SIZE(ry_http_client_v1, 48);
AT(ry_http_client_v1, struct_size, 0);
AT(ry_http_client_v1, reserved0, 4);
AT(ry_http_client_v1, request, 8);
AT(ry_http_client_v1, resume, 16);
AT(ry_http_client_v1, check_url, 24);
AT(ry_http_client_v1, drop_idle, 32);
AT(ry_http_client_v1, trust, 40);

SIZE(ry_job_view, 88);
AT(ry_job_view, struct_size, 0);
AT(ry_job_view, attempt, 4);
AT(ry_job_view, max_attempts, 8);
AT(ry_job_view, crashes, 12);
AT(ry_job_view, id, 16);
AT(ry_job_view, fence, 24);
AT(ry_job_view, kind, 32);
AT(ry_job_view, args_json, 48);
AT(ry_job_view, enqueued_unix_us, 64);
AT(ry_job_view, deadline_unix_us, 72);
AT(ry_job_view, exec, 80);

SIZE(ry_job_kind, 96);
AT(ry_job_kind, struct_size, 0);
AT(ry_job_kind, flags, 4);
AT(ry_job_kind, kind, 8);
AT(ry_job_kind, queue, 24);
AT(ry_job_kind, cron, 40);
AT(ry_job_kind, run, 56);
AT(ry_job_kind, ctx, 64);
AT(ry_job_kind, max_attempts, 72);
AT(ry_job_kind, concurrency, 76);
AT(ry_job_kind, timeout_ms, 80);
AT(ry_job_kind, backoff_ms, 88);

SIZE(ry_job_request, 88);
AT(ry_job_request, struct_size, 0);
AT(ry_job_request, priority, 4);
AT(ry_job_request, kind, 8);
AT(ry_job_request, args_json, 24);
AT(ry_job_request, queue, 40);
AT(ry_job_request, unique_key, 56);
AT(ry_job_request, run_at_unix_us, 72);
AT(ry_job_request, max_attempts, 80);
AT(ry_job_request, reserved0, 84);

SIZE(ry_jobs_v1, 56);
AT(ry_jobs_v1, struct_size, 0);
AT(ry_jobs_v1, reserved0, 4);
AT(ry_jobs_v1, enqueue, 8);
AT(ry_jobs_v1, adopt, 16);
AT(ry_jobs_v1, wake, 24);
AT(ry_jobs_v1, cancel, 32);
AT(ry_jobs_v1, on_cancel, 40);
AT(ry_jobs_v1, finish, 48);

SIZE(ry_metrics_v1, 40);
AT(ry_metrics_v1, struct_size, 0);
AT(ry_metrics_v1, reserved0, 4);
AT(ry_metrics_v1, get, 8);
AT(ry_metrics_v1, add, 16);
AT(ry_metrics_v1, set, 24);
AT(ry_metrics_v1, observe, 32);

SIZE(ry_trace_v1, 32);
AT(ry_trace_v1, struct_size, 0);
AT(ry_trace_v1, reserved0, 4);
AT(ry_trace_v1, current, 8);
AT(ry_trace_v1, enter, 16);
AT(ry_trace_v1, release, 24);

SIZE(ry_process_limits, 48);
AT(ry_process_limits, struct_size, 0);
AT(ry_process_limits, max_processes, 4);
AT(ry_process_limits, wall_ms, 8);
AT(ry_process_limits, cpu_s, 16);
AT(ry_process_limits, memory_bytes, 24);
AT(ry_process_limits, file_bytes, 32);
AT(ry_process_limits, open_files, 40);

SIZE(ry_process_spec, 104);
AT(ry_process_spec, struct_size, 0);
AT(ry_process_spec, flags, 4);
AT(ry_process_spec, argv, 8);
AT(ry_process_spec, n_argv, 16);
AT(ry_process_spec, env, 24);
AT(ry_process_spec, n_env, 32);
AT(ry_process_spec, cwd, 40);
AT(ry_process_spec, limits, 56);

SIZE(ry_process_handler, 32);
AT(ry_process_handler, struct_size, 0);
AT(ry_process_handler, reserved0, 4);
AT(ry_process_handler, on_stdout, 8);
AT(ry_process_handler, on_stderr, 16);
AT(ry_process_handler, on_exit, 24);

SIZE(ry_process_v1, 64);
AT(ry_process_v1, struct_size, 0);
AT(ry_process_v1, reserved0, 4);
AT(ry_process_v1, spawn, 8);
AT(ry_process_v1, write, 16);
AT(ry_process_v1, close_stdin, 24);
AT(ry_process_v1, resume, 32);
AT(ry_process_v1, kill, 40);
AT(ry_process_v1, release, 48);
AT(ry_process_v1, pid, 56);

SIZE(ry_route, 88);
AT(ry_route, struct_size, 0);
AT(ry_route, flags, 4);
AT(ry_route, method, 8);
AT(ry_route, pattern, 24);
AT(ry_route, handle, 40);
AT(ry_route, ctx, 48);
AT(ry_route, max_body, 56);
AT(ry_route, timeout_ms, 64);
AT(ry_route, openapi_json, 72);

SIZE(ry_migration, 40);
AT(ry_migration, struct_size, 0);
AT(ry_migration, flags, 4);
AT(ry_migration, id, 8);
AT(ry_migration, up_sql, 24);

SIZE(ry_point, 56);
AT(ry_point, struct_size, 0);
AT(ry_point, min_size, 4);
AT(ry_point, id, 8);
AT(ry_point, added, 24);
AT(ry_point, removed, 32);
AT(ry_point, ctx, 40);
AT(ry_point, replaced, 48);

SIZE(ry_registrar_v1, 72);
AT(ry_registrar_v1, struct_size, 0);
AT(ry_registrar_v1, reserved0, 4);
AT(ry_registrar_v1, route, 8);
AT(ry_registrar_v1, migration, 16);
AT(ry_registrar_v1, job, 24);
AT(ry_registrar_v1, subscribe, 32);
AT(ry_registrar_v1, provide, 40);
AT(ry_registrar_v1, define_point, 48);
AT(ry_registrar_v1, contribute, 56);
AT(ry_registrar_v1, describe, 64);

SIZE(ry_secrets_v1, 48);
AT(ry_secrets_v1, struct_size, 0);
AT(ry_secrets_v1, reserved0, 4);
AT(ry_secrets_v1, seal, 8);
AT(ry_secrets_v1, open, 16);
AT(ry_secrets_v1, redact, 24);
AT(ry_secrets_v1, mask, 32);
AT(ry_secrets_v1, unmask, 40);

SIZE(ry_services_v1, 32);
AT(ry_services_v1, struct_size, 0);
AT(ry_services_v1, reserved0, 4);
AT(ry_services_v1, acquire, 8);
AT(ry_services_v1, release, 16);
AT(ry_services_v1, report_driver_violation, 24);

SIZE(ry_tier_view, 80);
AT(ry_tier_view, struct_size, 0);
AT(ry_tier_view, all_models, 4);
AT(ry_tier_view, name, 8);
AT(ry_tier_view, models, 24);
AT(ry_tier_view, n_models, 32);
AT(ry_tier_view, concurrent_runs, 40);
AT(ry_tier_view, threads, 48);
AT(ry_tier_view, custom_mcps, 56);
AT(ry_tier_view, upload_file_bytes, 64);
AT(ry_tier_view, upload_files, 72);

SIZE(ry_account_view, 80);
AT(ry_account_view, struct_size, 0);
AT(ry_account_view, role, 4);
AT(ry_account_view, account_id, 8);
AT(ry_account_view, account_id_text, 24);
AT(ry_account_view, email, 40);
AT(ry_account_view, display_name, 56);
AT(ry_account_view, tier, 72);

SIZE(ry_accounts_v1, 32);
AT(ry_accounts_v1, struct_size, 0);
AT(ry_accounts_v1, reserved0, 4);
AT(ry_accounts_v1, ensure, 8);
AT(ry_accounts_v1, tier, 16);
AT(ry_accounts_v1, find, 24);

SIZE(ry_agent_view, 144);
AT(ry_agent_view, struct_size, 0);
AT(ry_agent_view, version, 4);
AT(ry_agent_view, agent_id, 8);
AT(ry_agent_view, account_id, 24);
AT(ry_agent_view, name, 40);
AT(ry_agent_view, system_prompt, 56);
AT(ry_agent_view, model_name, 72);
AT(ry_agent_view, custom_mcps_json, 88);
AT(ry_agent_view, is_default, 104);
AT(ry_agent_view, reserved0, 108);
AT(ry_agent_view, description, 112);
AT(ry_agent_view, tool_policy_json, 128);

SIZE(ry_agents_v1, 40);
AT(ry_agents_v1, struct_size, 0);
AT(ry_agents_v1, reserved0, 4);
AT(ry_agents_v1, get, 8);
AT(ry_agents_v1, set_custom_mcps, 16);
AT(ry_agents_v1, put_custom_mcps, 24);
AT(ry_agents_v1, list, 32);

SIZE(ry_mail_outcome, 16);
AT(ry_mail_outcome, struct_size, 0);
AT(ry_mail_outcome, state, 4);
AT(ry_mail_outcome, attempts, 8);
AT(ry_mail_outcome, reply, 12);

SIZE(ry_mail_v1, 48);
AT(ry_mail_v1, struct_size, 0);
AT(ry_mail_v1, reserved0, 4);
AT(ry_mail_v1, has_relay, 8);
AT(ry_mail_v1, check_address, 16);
AT(ry_mail_v1, wake, 24);
AT(ry_mail_v1, outcomes, 32);
AT(ry_mail_v1, seal_bodies, 40);

SIZE(ry_mcp_v1, 24);
AT(ry_mcp_v1, struct_size, 0);
AT(ry_mcp_v1, reserved0, 4);
AT(ry_mcp_v1, enabled, 8);
AT(ry_mcp_v1, open_servers, 16);

SIZE(ry_run_field, 32);
AT(ry_run_field, name, 0);
AT(ry_run_field, value, 16);

SIZE(ry_run_file, 56);
AT(ry_run_file, struct_size, 0);
AT(ry_run_file, reserved0, 4);
AT(ry_run_file, name, 8);
AT(ry_run_file, media_type, 24);
AT(ry_run_file, content, 40);

SIZE(ry_run_start, 88);
AT(ry_run_start, struct_size, 0);
AT(ry_run_start, reserved0, 4);
AT(ry_run_start, account_id, 8);
AT(ry_run_start, fields, 24);
AT(ry_run_start, n_fields, 32);
AT(ry_run_start, files, 40);
AT(ry_run_start, n_files, 48);
AT(ry_run_start, file_stride, 56);
AT(ry_run_start, idempotency_key, 64);
AT(ry_run_start, tx, 80);

SIZE(ry_run_started, 80);
AT(ry_run_started, struct_size, 0);
AT(ry_run_started, replayed, 4);
AT(ry_run_started, queue_position, 8);
AT(ry_run_started, run_id, 16);
AT(ry_run_started, thread_id, 32);
AT(ry_run_started, project_id, 48);
AT(ry_run_started, message_id, 64);

SIZE(ry_run_event, 24);
AT(ry_run_event, sequence, 0);
AT(ry_run_event, json, 8);

SIZE(ry_run_sink, 24);
AT(ry_run_sink, struct_size, 0);
AT(ry_run_sink, reserved0, 4);
AT(ry_run_sink, on_events, 8);
AT(ry_run_sink, on_end, 16);

SIZE(ry_run_follow, 56);
AT(ry_run_follow, struct_size, 0);
AT(ry_run_follow, flags, 4);
AT(ry_run_follow, account_id, 8);
AT(ry_run_follow, run_id, 24);
AT(ry_run_follow, after, 40);
AT(ry_run_follow, merge_ms, 48);

SIZE(ry_run_tool_call, 40);
AT(ry_run_tool_call, struct_size, 0);
AT(ry_run_tool_call, flags, 4);
AT(ry_run_tool_call, name, 8);
AT(ry_run_tool_call, arguments_json, 24);

SIZE(ry_runs_v1, 128);
AT(ry_runs_v1, struct_size, 0);
AT(ry_runs_v1, reserved0, 4);
AT(ry_runs_v1, start, 8);
AT(ry_runs_v1, wake, 16);
AT(ry_runs_v1, follow, 24);
AT(ry_runs_v1, resume, 32);
AT(ry_runs_v1, close, 40);
AT(ry_runs_v1, stop, 48);
AT(ry_runs_v1, get, 56);
AT(ry_runs_v1, list, 64);
AT(ry_runs_v1, messages, 72);
AT(ry_runs_v1, delete_thread, 80);
AT(ry_runs_v1, models, 88);
AT(ry_runs_v1, approvals, 96);
AT(ry_runs_v1, decide, 104);
AT(ry_runs_v1, tool_results, 112);
AT(ry_runs_v1, tool_action, 120);

/* One function per table, so that the comparison of debug information covers every type. */
const void* witness_ry_str(const ry_str* p);
const void* witness_ry_str(const ry_str* p) {
  return p;
}
const void* witness_ry_bytes(const ry_bytes* p);
const void* witness_ry_bytes(const ry_bytes* p) {
  return p;
}
const void* witness_ry_errbuf(const ry_errbuf* p);
const void* witness_ry_errbuf(const ry_errbuf* p) {
  return p;
}
const void* witness_ry_uuid(const ry_uuid* p);
const void* witness_ry_uuid(const ry_uuid* p) {
  return p;
}
const void* witness_ry_error_view(const ry_error_view* p);
const void* witness_ry_error_view(const ry_error_view* p) {
  return p;
}
const void* witness_ry_done(const ry_done* p);
const void* witness_ry_done(const ry_done* p) {
  return p;
}
const void* witness_ry_header(const ry_header* p);
const void* witness_ry_header(const ry_header* p) {
  return p;
}
const void* witness_ry_principal(const ry_principal* p);
const void* witness_ry_principal(const ry_principal* p) {
  return p;
}
const void* witness_ry_need(const ry_need* p);
const void* witness_ry_need(const ry_need* p) {
  return p;
}
const void* witness_ry_module_v1(const ry_module_v1* p);
const void* witness_ry_module_v1(const ry_module_v1* p) {
  return p;
}
const void* witness_ry_tools_scope(const ry_tools_scope* p);
const void* witness_ry_tools_scope(const ry_tools_scope* p) {
  return p;
}
const void* witness_ry_tool_sink(const ry_tool_sink* p);
const void* witness_ry_tool_sink(const ry_tool_sink* p) {
  return p;
}
const void* witness_ry_agent_tools_v1(const ry_agent_tools_v1* p);
const void* witness_ry_agent_tools_v1(const ry_agent_tools_v1* p) {
  return p;
}
const void* witness_ry_llm_usage(const ry_llm_usage* p);
const void* witness_ry_llm_usage(const ry_llm_usage* p) {
  return p;
}
const void* witness_ry_llm_end(const ry_llm_end* p);
const void* witness_ry_llm_end(const ry_llm_end* p) {
  return p;
}
const void* witness_ry_llm_sink(const ry_llm_sink* p);
const void* witness_ry_llm_sink(const ry_llm_sink* p) {
  return p;
}
const void* witness_ry_llm_limits(const ry_llm_limits* p);
const void* witness_ry_llm_limits(const ry_llm_limits* p) {
  return p;
}
const void* witness_ry_llm_provider_v1(const ry_llm_provider_v1* p);
const void* witness_ry_llm_provider_v1(const ry_llm_provider_v1* p) {
  return p;
}
const void* witness_ry_mcp_target(const ry_mcp_target* p);
const void* witness_ry_mcp_target(const ry_mcp_target* p) {
  return p;
}
const void* witness_ry_mcp_message(const ry_mcp_message* p);
const void* witness_ry_mcp_message(const ry_mcp_message* p) {
  return p;
}
const void* witness_ry_mcp_outcome(const ry_mcp_outcome* p);
const void* witness_ry_mcp_outcome(const ry_mcp_outcome* p) {
  return p;
}
const void* witness_ry_mcp_sink(const ry_mcp_sink* p);
const void* witness_ry_mcp_sink(const ry_mcp_sink* p) {
  return p;
}
const void* witness_ry_mcp_transport_v1(const ry_mcp_transport_v1* p);
const void* witness_ry_mcp_transport_v1(const ry_mcp_transport_v1* p) {
  return p;
}
const void* witness_ry_notify_subscriber(const ry_notify_subscriber* p);
const void* witness_ry_notify_subscriber(const ry_notify_subscriber* p) {
  return p;
}
const void* witness_ry_notify_token(const ry_notify_token* p);
const void* witness_ry_notify_token(const ry_notify_token* p) {
  return p;
}
const void* witness_ry_notify_content(const ry_notify_content* p);
const void* witness_ry_notify_content(const ry_notify_content* p) {
  return p;
}
const void* witness_ry_notify_trigger(const ry_notify_trigger* p);
const void* witness_ry_notify_trigger(const ry_notify_trigger* p) {
  return p;
}
const void* witness_ry_notify_result(const ry_notify_result* p);
const void* witness_ry_notify_result(const ry_notify_result* p) {
  return p;
}
const void* witness_ry_notify_sent(const ry_notify_sent* p);
const void* witness_ry_notify_sent(const ry_notify_sent* p) {
  return p;
}
const void* witness_ry_notify_report(const ry_notify_report* p);
const void* witness_ry_notify_report(const ry_notify_report* p) {
  return p;
}
const void* witness_ry_notify_orchestrator_v1(const ry_notify_orchestrator_v1* p);
const void* witness_ry_notify_orchestrator_v1(const ry_notify_orchestrator_v1* p) {
  return p;
}
const void* witness_ry_sandbox_mount(const ry_sandbox_mount* p);
const void* witness_ry_sandbox_mount(const ry_sandbox_mount* p) {
  return p;
}
const void* witness_ry_sandbox_command(const ry_sandbox_command* p);
const void* witness_ry_sandbox_command(const ry_sandbox_command* p) {
  return p;
}
const void* witness_ry_sandbox_exit(const ry_sandbox_exit* p);
const void* witness_ry_sandbox_exit(const ry_sandbox_exit* p) {
  return p;
}
const void* witness_ry_sandbox_sink(const ry_sandbox_sink* p);
const void* witness_ry_sandbox_sink(const ry_sandbox_sink* p) {
  return p;
}
const void* witness_ry_sandbox_driver_v1(const ry_sandbox_driver_v1* p);
const void* witness_ry_sandbox_driver_v1(const ry_sandbox_driver_v1* p) {
  return p;
}
const void* witness_ry_auth_v1(const ry_auth_v1* p);
const void* witness_ry_auth_v1(const ry_auth_v1* p) {
  return p;
}
const void* witness_ry_authenticator_v1(const ry_authenticator_v1* p);
const void* witness_ry_authenticator_v1(const ry_authenticator_v1* p) {
  return p;
}
const void* witness_ry_core_v1(const ry_core_v1* p);
const void* witness_ry_core_v1(const ry_core_v1* p) {
  return p;
}
const void* witness_ry_value(const ry_value* p);
const void* witness_ry_value(const ry_value* p) {
  return p;
}
const void* witness_ry_db_call(const ry_db_call* p);
const void* witness_ry_db_call(const ry_db_call* p) {
  return p;
}
const void* witness_ry_db_rows(const ry_db_rows* p);
const void* witness_ry_db_rows(const ry_db_rows* p) {
  return p;
}
const void* witness_ry_db_v1(const ry_db_v1* p);
const void* witness_ry_db_v1(const ry_db_v1* p) {
  return p;
}
const void* witness_ry_event_view(const ry_event_view* p);
const void* witness_ry_event_view(const ry_event_view* p) {
  return p;
}
const void* witness_ry_event_consumer(const ry_event_consumer* p);
const void* witness_ry_event_consumer(const ry_event_consumer* p) {
  return p;
}
const void* witness_ry_events_v1(const ry_events_v1* p);
const void* witness_ry_events_v1(const ry_events_v1* p) {
  return p;
}
const void* witness_ry_request_view(const ry_request_view* p);
const void* witness_ry_request_view(const ry_request_view* p) {
  return p;
}
const void* witness_ry_form_limits(const ry_form_limits* p);
const void* witness_ry_form_limits(const ry_form_limits* p) {
  return p;
}
const void* witness_ry_form_part(const ry_form_part* p);
const void* witness_ry_form_part(const ry_form_part* p) {
  return p;
}
const void* witness_ry_form(const ry_form* p);
const void* witness_ry_form(const ry_form* p) {
  return p;
}
const void* witness_ry_http_v1(const ry_http_v1* p);
const void* witness_ry_http_v1(const ry_http_v1* p) {
  return p;
}
const void* witness_ry_client_request(const ry_client_request* p);
const void* witness_ry_client_request(const ry_client_request* p) {
  return p;
}
const void* witness_ry_client_response(const ry_client_response* p);
const void* witness_ry_client_response(const ry_client_response* p) {
  return p;
}
const void* witness_ry_client_handler(const ry_client_handler* p);
const void* witness_ry_client_handler(const ry_client_handler* p) {
  return p;
}
const void* witness_ry_http_client_v1(const ry_http_client_v1* p);
const void* witness_ry_http_client_v1(const ry_http_client_v1* p) {
  return p;
}
const void* witness_ry_job_view(const ry_job_view* p);
const void* witness_ry_job_view(const ry_job_view* p) {
  return p;
}
const void* witness_ry_job_kind(const ry_job_kind* p);
const void* witness_ry_job_kind(const ry_job_kind* p) {
  return p;
}
const void* witness_ry_job_request(const ry_job_request* p);
const void* witness_ry_job_request(const ry_job_request* p) {
  return p;
}
const void* witness_ry_jobs_v1(const ry_jobs_v1* p);
const void* witness_ry_jobs_v1(const ry_jobs_v1* p) {
  return p;
}
const void* witness_ry_metrics_v1(const ry_metrics_v1* p);
const void* witness_ry_metrics_v1(const ry_metrics_v1* p) {
  return p;
}
const void* witness_ry_trace_v1(const ry_trace_v1* p);
const void* witness_ry_trace_v1(const ry_trace_v1* p) {
  return p;
}
const void* witness_ry_process_limits(const ry_process_limits* p);
const void* witness_ry_process_limits(const ry_process_limits* p) {
  return p;
}
const void* witness_ry_process_spec(const ry_process_spec* p);
const void* witness_ry_process_spec(const ry_process_spec* p) {
  return p;
}
const void* witness_ry_process_handler(const ry_process_handler* p);
const void* witness_ry_process_handler(const ry_process_handler* p) {
  return p;
}
const void* witness_ry_process_v1(const ry_process_v1* p);
const void* witness_ry_process_v1(const ry_process_v1* p) {
  return p;
}
const void* witness_ry_route(const ry_route* p);
const void* witness_ry_route(const ry_route* p) {
  return p;
}
const void* witness_ry_migration(const ry_migration* p);
const void* witness_ry_migration(const ry_migration* p) {
  return p;
}
const void* witness_ry_point(const ry_point* p);
const void* witness_ry_point(const ry_point* p) {
  return p;
}
const void* witness_ry_registrar_v1(const ry_registrar_v1* p);
const void* witness_ry_registrar_v1(const ry_registrar_v1* p) {
  return p;
}
const void* witness_ry_secrets_v1(const ry_secrets_v1* p);
const void* witness_ry_secrets_v1(const ry_secrets_v1* p) {
  return p;
}
const void* witness_ry_services_v1(const ry_services_v1* p);
const void* witness_ry_services_v1(const ry_services_v1* p) {
  return p;
}
const void* witness_ry_tier_view(const ry_tier_view* p);
const void* witness_ry_tier_view(const ry_tier_view* p) {
  return p;
}
const void* witness_ry_account_view(const ry_account_view* p);
const void* witness_ry_account_view(const ry_account_view* p) {
  return p;
}
const void* witness_ry_accounts_v1(const ry_accounts_v1* p);
const void* witness_ry_accounts_v1(const ry_accounts_v1* p) {
  return p;
}
const void* witness_ry_agent_view(const ry_agent_view* p);
const void* witness_ry_agent_view(const ry_agent_view* p) {
  return p;
}
const void* witness_ry_agents_v1(const ry_agents_v1* p);
const void* witness_ry_agents_v1(const ry_agents_v1* p) {
  return p;
}
const void* witness_ry_mail_outcome(const ry_mail_outcome* p);
const void* witness_ry_mail_outcome(const ry_mail_outcome* p) {
  return p;
}
const void* witness_ry_mail_v1(const ry_mail_v1* p);
const void* witness_ry_mail_v1(const ry_mail_v1* p) {
  return p;
}
const void* witness_ry_mcp_v1(const ry_mcp_v1* p);
const void* witness_ry_mcp_v1(const ry_mcp_v1* p) {
  return p;
}
const void* witness_ry_run_field(const ry_run_field* p);
const void* witness_ry_run_field(const ry_run_field* p) {
  return p;
}
const void* witness_ry_run_file(const ry_run_file* p);
const void* witness_ry_run_file(const ry_run_file* p) {
  return p;
}
const void* witness_ry_run_start(const ry_run_start* p);
const void* witness_ry_run_start(const ry_run_start* p) {
  return p;
}
const void* witness_ry_run_started(const ry_run_started* p);
const void* witness_ry_run_started(const ry_run_started* p) {
  return p;
}
const void* witness_ry_run_event(const ry_run_event* p);
const void* witness_ry_run_event(const ry_run_event* p) {
  return p;
}
const void* witness_ry_run_sink(const ry_run_sink* p);
const void* witness_ry_run_sink(const ry_run_sink* p) {
  return p;
}
const void* witness_ry_run_follow(const ry_run_follow* p);
const void* witness_ry_run_follow(const ry_run_follow* p) {
  return p;
}
const void* witness_ry_run_tool_call(const ry_run_tool_call* p);
const void* witness_ry_run_tool_call(const ry_run_tool_call* p) {
  return p;
}
const void* witness_ry_runs_v1(const ry_runs_v1* p);
const void* witness_ry_runs_v1(const ry_runs_v1* p) {
  return p;
}
const void* witness_ry_bus_sink(const ry_bus_sink* p);
const void* witness_ry_bus_sink(const ry_bus_sink* p) {
  return p;
}
const void* witness_ry_event_bus_v1(const ry_event_bus_v1* p);
const void* witness_ry_event_bus_v1(const ry_event_bus_v1* p) {
  return p;
}
const void* witness_ry_command_call(const ry_command_call* p);
const void* witness_ry_command_call(const ry_command_call* p) {
  return p;
}
const void* witness_ry_command_v1(const ry_command_v1* p);
const void* witness_ry_command_v1(const ry_command_v1* p) {
  return p;
}
const void* witness_ry_settings_sink(const ry_settings_sink* p);
const void* witness_ry_settings_sink(const ry_settings_sink* p) {
  return p;
}
const void* witness_ry_mcp_check_v1(const ry_mcp_check_v1* p);
const void* witness_ry_mcp_check_v1(const ry_mcp_check_v1* p) {
  return p;
}
const void* witness_ry_settings_check_v1(const ry_settings_check_v1* p);
const void* witness_ry_settings_check_v1(const ry_settings_check_v1* p) {
  return p;
}
