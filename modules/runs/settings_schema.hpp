// The JSON Schema of the module's settings; stands in the module's descriptor.
#pragma once

namespace runs {

inline constexpr char settings_schema[] = R"json({
  "type": "object",
  "properties": {
    "providers": {
      "type": "object",
      "description": "Language model providers by name. The provider 'offline' exists without configuration.",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "kind": {"type": "string", "driver_of": "llm.provider/1", "description": "Driver: openai, anthropic, offline, ..."},
          "base_url": {"type": "string", "pattern": "^(https?://[^/?#\\s]+[^\\s]*)?$"},
          "api_key": {"type": "string", "secret": true},
          "headers": {"type": "object", "additionalProperties": {"type": "string", "secret": true}},
          "timeout_seconds": {"type": "integer", "minimum": 1},
          "idle_timeout_seconds": {"type": "integer", "minimum": 1},
          "proxy": {"type": "string", "secret": true, "description": "http://[user:password@]host[:port]; environment (default): from HTTPS_PROXY, HTTP_PROXY and NO_PROXY; none or empty: no proxy"},
          "ca_file": {"type": "string", "description": "PEM file of certificate authorities to trust in addition to the system's and egress.ca_file"},
          "options": {"type": "object", "secret": true, "additionalProperties": {}, "description": "Keys of the driver's own"}
        },
        "required": ["kind"]
      },
      "default": {}
    },
    "models": {
      "type": "object",
      "description": "Aliases: runyard/basic (entry) and runyard/power (mid-level) and any other, each '<provider>/<model>'",
      "additionalProperties": {"type": "string", "minLength": 3},
      "default": {}
    },
    "prices": {
      "type": "object",
      "description": "Micro-credits per million tokens, by alias or '<provider>/<model>' (1 credit = 1 cent = 1000000 micro-credits)",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "input": {"type": "integer", "minimum": 0, "default": 0},
          "output": {"type": "integer", "minimum": 0, "default": 0},
          "cached_input": {"type": "integer", "minimum": 0, "description": "Price of tokens read from the provider's cache; default: the price of input"},
          "cache_write": {"type": "integer", "minimum": 0, "description": "Price of tokens written to the provider's cache; default: the price of input"}
        }
      },
      "default": {}
    },
    "context_tokens": {
      "type": "object",
      "description": "Context window in tokens (input and output), by alias or '<provider>/<model>'; default: the value of a well-known model family",
      "additionalProperties": {"type": "integer", "minimum": 1024},
      "default": {}
    },
    "max_tools": {
      "type": "object",
      "description": "Most tools of one request, by alias or '<provider>/<model>'; with more tools the model gets find_tools to find the others. Default: the provider's limit",
      "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 100000},
      "default": {}
    },
    "model_options": {
      "type": "object",
      "description": "Model parameters, by alias or '<provider>/<model>'; a start request can override them",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "temperature": {"type": "number", "minimum": 0, "maximum": 2},
          "top_p": {"type": "number", "minimum": 0, "maximum": 1},
          "max_output_tokens": {"type": "integer", "minimum": 1, "maximum": 10000000, "description": "Default: runs.max_output_tokens"},
          "reasoning_effort": {"type": "string", "enum": ["none", "minimal", "low", "medium", "high"]},
          "tool_choice": {"type": "string", "enum": ["auto", "none", "required"]}
        }
      },
      "default": {}
    },
    "default_context_tokens": {"type": "integer", "minimum": 1024, "default": 128000, "description": "For models without an entry of their own whose family is not known"},
    "fallbacks": {
      "type": "object",
      "description": "Models that answer in a model's place when its provider fails, by alias or '<provider>/<model>', in their order",
      "additionalProperties": {"type": "array", "items": {"type": "string", "minLength": 3}},
      "default": {}
    },
    "downgrades": {
      "type": "object",
      "description": "Models that a tier without access to them silently gets another for",
      "additionalProperties": {"type": "string"},
      "default": {"runyard/power": "runyard/basic"}
    },
    "default_model": {"type": "string", "default": "runyard/basic"},
    "system_prompt": {"type": "string", "default": "", "description": "For agents without one of their own"},
    "sandbox": {"type": "string", "default": "", "driver_of": "sandbox.driver/1", "description": "Name of the sandbox driver; empty: the one that is loaded"},
    "run_timeout": {"type": ["string", "integer"], "pattern": "^[0-9]{1,12}[smhd]?$", "default": "3000s", "description": "How long a run may take: 3000s, 50m, 2h, 1d or a number of seconds; at most 7d",
      "limit": {"resource": "Time of a run", "per": "run", "answer": "run fails with `RUN_TIMEOUT`", "metric": "runyard_runs_ended_total", "alert": "RunyardRunsFail"}},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 604800, "description": "The same as run_timeout in seconds; wins over it"},
    "max_steps": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 100,
      "limit": {"resource": "Model answers", "per": "run", "answer": "run fails with `STEP_LIMIT`", "metric": "runyard_runs_ended_total", "alert": "RunyardRunsFail"}},
    "max_attempts": {"type": "integer", "minimum": 1, "maximum": 20, "default": 4, "description": "Tries of one model answer"},
    "max_continuations": {"type": "integer", "minimum": 0, "maximum": 20, "default": 2, "description": "How often an answer that was truncated at the output limit is continued before the run ends with reason length"},
    "max_waiting_runs": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 100, "description": "Runs of one account that may wait for a slot or behind a run of their thread (queue, on_busy)",
      "limit": {"resource": "Runs that wait", "per": "account", "answer": "402 `AGENT_RUN_LIMIT_EXCEEDED`", "metric": "runyard_runs_starts_total"}},
    "max_crashes": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 2, "description": "A run whose worker vanished more often ends as failed"},
    "max_parallel_tools": {"type": "integer", "minimum": 1, "maximum": 128, "default": 8, "description": "Tool calls of one answer that run at once",
      "limit": {"resource": "Tool calls in progress", "per": "model answer", "answer": "calls wait", "metric": "runyard_runs_tool_seconds"}},
    "tool_timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 86400, "default": 600, "description": "Time limit of a tool call; the model then gets an error. MCP calls have the time limits of the module mcp instead",
      "limit": {"resource": "Time of a tool call", "per": "call", "answer": "error for the model", "metric": "runyard_runs_tool_calls_total"}},
    "tool_search_from": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 0, "description": "When an agent has so many tools, requests carry those built in, those in use and find_tools for the others, which saves context; 0: only when the provider takes no more"},
    "repeat_limit": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 5, "description": "How often the same call may give the same result before it is refused; 0: no limit"},
    "drain_seconds": {"type": "integer", "minimum": 0, "maximum": 3600, "default": 10, "description": "How long a shutdown waits for the end of a step"},
    "event_retention": {"type": ["string", "integer"], "pattern": "^[0-9]{1,12}[smhd]?$", "default": "30d", "description": "How long the events of a finished run can be read again: 30d, 12h, ... or a number of seconds; at least 1m",
      "limit": {"resource": "Age of events of finished runs", "per": "run", "answer": "events are deleted"}},
    "max_output_tokens": {"type": "integer", "minimum": 0, "default": 0},
    "upload_total_bytes": {"type": "integer", "minimum": 1048576, "default": 1073741824,
      "limit": {"resource": "Files of a start, bytes", "per": "request", "answer": "413 `UPLOAD_TOO_LARGE`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "upload_text_bytes": {"type": "integer", "minimum": 1024, "maximum": 67108864, "default": 2097152, "description": "Text that is taken from one uploaded file"},
    "upload_read_seconds": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 60, "description": "Time for looking at the files of one start, and for scaling the images of one request, 20 s at most for each",
      "limit": {"resource": "Time to read uploaded files", "per": "request", "answer": "files are stored without their text"}},
    "image_cache_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 67108864, "description": "Memory of this node for images that were scaled down for a model",
      "limit": {"resource": "Memory for scaled images", "per": "node", "answer": "least recently used images are evicted"}},
    "extract_program": {"type": "string", "default": "", "description": "Path of runyard-extract; empty: beside the server's program"},
    "vision": {"type": "object", "additionalProperties": {"type": "boolean"}, "default": {}, "description": "Models that take images, by alias or '<provider>/<model>'; default: whether its family is known to"},
    "workspace_bytes": {"type": "integer", "minimum": 1048576, "default": 2147483648, "description": "Files of one project that are kept in the database",
      "limit": {"resource": "Stored workspace, bytes", "per": "project", "answer": "start: 413 `UPLOAD_TOO_LARGE`; files of commands are not stored, with a note for the model", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "workspace_file_bytes": {"type": "integer", "minimum": 1048576, "default": 536870912, "description": "Largest file of a workspace that is kept",
      "limit": {"resource": "Stored file, bytes", "per": "file", "answer": "not stored, with a note for the model"}},
    "workspace_files": {"type": "integer", "minimum": 100, "maximum": 1000000, "default": 20000, "description": "Files, directories and links of one project that are kept",
      "limit": {"resource": "Stored files", "per": "project", "answer": "start: 413 `UPLOAD_TOO_LARGE`; files of commands are not stored, with a note for the model", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "account_workspace_bytes": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1048576}, "default": {}, "description": "By tier: bytes of all workspaces of an account, on the disk of a node and in the database; without an entry 4 GiB (free and tiers of your own), 32 GiB (pro), 256 GiB (enterprise)",
      "limit": {"resource": "Workspace bytes", "per": "account", "answer": "start: 413 `UPLOAD_TOO_LARGE`; command ends; error for the model", "default": "free 4 GiB, pro 32 GiB, enterprise 256 GiB", "metric": "runyard_sandbox_bubblewrap_ended_total", "alert": "RunyardCommandsAtLimits"}},
    "account_workspace_files": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 100}, "default": {}, "description": "By tier: files, directories and links of all workspaces of an account; without an entry 100000 (free and tiers of your own), 500000 (pro), 2000000 (enterprise)",
      "limit": {"resource": "Workspace files and directories (inodes)", "per": "account", "answer": "start: 413 `UPLOAD_TOO_LARGE`; command ends; error for the model", "default": "free 100000, pro 500000, enterprise 2000000", "metric": "runyard_sandbox_bubblewrap_ended_total", "alert": "RunyardCommandsAtLimits"}},
    "max_live_runs": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000, "description": "Runs executed at once on this node; what is started beyond waits for a place on any node, fair between accounts",
      "limit": {"resource": "Runs in progress", "per": "node", "answer": "runs wait", "metric": "runyard_runs_live", "alert": "RunyardRunsWait"}},
    "sandboxes": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0, "description": "Commands that agents run in sandboxes on this node at once; others wait, which does not count to runs.tool_timeout_seconds; 0: any number",
      "limit": {"resource": "Commands in progress", "per": "node", "answer": "commands wait", "metric": "runyard_runs_tool_seconds"}},
    "account_sandboxes": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0, "description": "The same, of one account",
      "limit": {"resource": "Commands in progress", "per": "account, node", "answer": "commands wait", "metric": "runyard_runs_tool_seconds"}},
    "max_queued_runs": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 100000, "description": "Runs that may wait so on all nodes together; a start beyond is answered 503",
      "limit": {"resource": "Runs that wait for a node", "per": "all nodes", "answer": "503 `QUEUE_FULL` with `Retry-After`", "metric": "runyard_runs_starts_total", "alert": "RunyardRunsWait"}},
    "queue_percent": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 100}, "default": {}, "description": "By tier: its starts are refused already when so much of max_queued_runs wait; default 100"},
    "webhooks": {
      "type": "object",
      "description": "Addresses that are told how runs ended, by a name of your choice; signed after Standard Webhooks",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "url": {"type": "string"},
          "secret": {"type": "string", "secret": true, "description": "whsec_ and 24 to 64 random bytes in Base64"},
          "statuses": {"type": "array", "items": {"type": "string"}, "description": "completed, failed, stopped; default all"}
        },
        "required": ["url", "secret"]
      },
      "default": {}
    }
  }
})json";

}  // namespace runs
