// ry/ry.hpp - the header-only C++20 wrapper of the module ABI.
//
//   ry/cpp/memory.hpp        give_back
//   ry/cpp/types.hpp         text, bytes, uuid, error, result, guard
//   ry/cpp/cancel.hpp        cancel_source, cancel_token
//   ry/cpp/task.hpp          task, shield, with_cancel
//   ry/cpp/context.hpp       context, task_group
//   ry/cpp/op.hpp            call, call_done, signal, queue, when_all
//   ry/cpp/db.hpp            database, rows, tx, batch, subscription
//   ry/cpp/http.hpp          request, response, stream, sse, form
//   ry/cpp/input.hpp         require_uuid, make_cursor, read_cursor
//   ry/cpp/http_client.hpp   http_client, client_request, client_stream
//   ry/cpp/process.hpp       processes, child
//   ry/cpp/jobs.hpp          job, job_outcome, job_request
//   ry/cpp/events.hpp        domain events, live topics
//   ry/cpp/secrets.hpp       secrets, masked_text
//   ry/cpp/metrics.hpp       metric
//   ry/cpp/auth.hpp          tokens of the deployment
//   ry/cpp/services.hpp      service
//   ry/cpp/registrar.hpp     registrar, drivers
//   ry/cpp/module.hpp        RY_MODULE
//   ry/cpp/text.hpp          lower_ascii, hex_value, to_hex (not included here)
//   ry/cpp/sse_parser.hpp    sse_parser (not included here)
//   ry/cpp/mcp.hpp           drivers of mcp.transport/1 (not included here)
//   ry/cpp/runs.hpp          the service runs/1 (not included here)
#pragma once

#include <ry/cpp/input.hpp>
#include <ry/cpp/memory.hpp>
#include <ry/cpp/module.hpp>
