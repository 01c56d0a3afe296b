// The JSON Schema of the module's settings; part of the module's descriptor.
#pragma once

namespace runs {

inline constexpr char settings_schema[] = R"json({
  "type": "object",
  "properties": {
    "providers": {
      "type": "object", "defines": {"kind": "runs.provider", "predefined": ["offline"]},
      "description": "Language model providers by name. The provider 'offline' exists without configuration.",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "kind": {"type": "string", "driver_of": "llm.provider/1", "description": "Driver: openai, anthropic, offline, ..."},
          "base_url": {"type": "string", "pattern": "^(https?://[^/?#\\s]+[^\\s]*)?$", "form": "a URL such as https://api.openai.com/v1, or empty", "description": "Base URL of the provider's API; default: the driver's"},
          "api_key": {"type": "string", "secret": true, "description": "API key of the provider"},
          "headers": {"type": "object", "additionalProperties": {"type": "string", "secret": true, "description": "Header of requests to the provider; replaces the driver's own header of that name"}},
          "timeout_seconds": {"type": "integer", "minimum": 1, "description": "Time limit of a model's answer in seconds; default: 600",
            "limit": {"resource": "Time of a model's answer", "per": "answer", "default": "600", "answer": "the request is retried; after the last attempt the run fails with `llm_error`", "metric": "runyard_runs_model_requests_total", "alert": "RunyardModelFails"}},
          "idle_timeout_seconds": {"type": "integer", "minimum": 1, "description": "Seconds without data from the provider after which an attempt fails; default: 120",
            "limit": {"resource": "Time without data from a model provider, also within an answer", "per": "answer", "default": "120", "answer": "the request is retried; after the last attempt the run fails with `llm_error`", "metric": "runyard_runs_model_requests_total", "alert": "RunyardModelFails"}},
          "proxy": {"type": "string", "secret": true, "description": "Proxy: http://[user:password@]host[:port]; environment (default): from HTTPS_PROXY, HTTP_PROXY and NO_PROXY; none or empty: no proxy"},
          "ca_file": {"type": "string", "description": "PEM file of certificate authorities to trust in addition to the system's and egress.ca_file"},
          "options": {"type": "object", "secret": true, "additionalProperties": {}, "description": "Options of the driver"}
        },
        "required": ["kind"]
      },
      "default": {}
    },
    "models": {
      "type": "object", "defines": {"kind": "runs.model", "predefined": ["runyard/basic", "runyard/power"]},
      "description": "Aliases such as runyard/basic (entry) and runyard/power (mid-level), each for a '<provider>/<model>'",
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
      "description": "Maximum number of tools of one request, by alias or '<provider>/<model>'; with more tools the model gets find_tools to find the others. Default: the provider's limit",
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
    "default_context_tokens": {"type": "integer", "minimum": 1024, "default": 128000, "description": "Context window of models that have no entry in context_tokens and belong to no well-known family"},
    "fallbacks": {
      "type": "object",
      "description": "Models that replace a model when its provider fails, in order, by alias or '<provider>/<model>'",
      "additionalProperties": {"type": "array", "items": {"type": "string", "minLength": 3}},
      "default": {}
    },
    "downgrades": {
      "type": "object",
      "description": "By model: the model that accounts of a tier without access to it get instead",
      "additionalProperties": {"type": "string"},
      "default": {"runyard/power": "runyard/basic"}
    },
    "default_model": {"type": "string", "default": "runyard/basic", "description": "Model of agents that have none: an alias, or <provider>/<model>. Tiers without access to this model use their first model"},
    "system_prompt": {"type": "string", "default": "", "description": "System prompt of agents that have none"},
    "code_instructions": {"type": "string", "default": "You work on software in the workspace. Read existing files before you change them, and follow their conventions. Write code into files with your tools instead of only showing it in an answer. After each change, run the code or its tests in the sandbox, and correct what fails. At the end, name the files that you changed, how you checked them, and what remains to be done.", "description": "What runs in code mode add to the agent's system prompt; empty: nothing"},
    "sandbox": {"type": "string", "default": "", "driver_of": "sandbox.driver/1", "description": "Name of the sandbox driver; empty: the driver that is loaded"},
    "run_timeout": {"type": ["string", "integer"], "pattern": "^[0-9]{1,12}[smhd]?$", "form": "a duration such as 3000s, 50m, 2h or 1d", "default": "3000s", "description": "Maximum run time of a run: 3000s, 50m, 2h, 1d or a number of seconds; at most 7d",
      "limit": {"resource": "Run time of a run", "per": "run", "answer": "the run fails with `RUN_TIMEOUT`", "metric": "runyard_runs_ended_total", "alert": "RunyardRunsFail"}},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 604800, "description": "run_timeout in seconds; overrides run_timeout"},
    "max_steps": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 100, "description": "Maximum number of steps (model answers) of a run",
      "limit": {"resource": "Model answers (steps)", "per": "run", "answer": "the run fails with `STEP_LIMIT`", "metric": "runyard_runs_ended_total", "alert": "RunyardRunsFail"}},
    "max_attempts": {"type": "integer", "minimum": 1, "maximum": 20, "default": 4, "description": "Maximum number of attempts per model answer"},
    "max_continuations": {"type": "integer", "minimum": 0, "maximum": 20, "default": 2, "description": "Maximum number of continuations of an answer that was truncated at the output limit, before the run ends with the reason length"},
    "max_waiting_runs": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 100, "description": "Maximum number of runs of one account that wait for a slot or for another run of their thread (queue, on_busy)",
      "limit": {"resource": "Waiting runs", "per": "account", "answer": "402 `AGENT_RUN_LIMIT_EXCEEDED`", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "max_pending_prompts": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20, "description": "Maximum number of prompts that have joined a run in progress (on_busy=steer) and wait for its next step",
      "limit": {"resource": "Prompts that have joined a run and wait for its next step", "per": "run", "answer": "429 `PENDING_PROMPTS_EXCEEDED`", "metric": "runyard_runs_starts_total"}},
    "pending_prompt_bytes": {"type": "integer", "minimum": 1024, "maximum": 1073741824, "default": 1048576, "description": "Maximum total size in bytes of the prompts that have joined a run in progress (on_busy=steer) and wait for its next step; a single prompt may be larger",
      "limit": {"resource": "Size of the prompts that have joined a run and wait for its next step", "per": "run", "answer": "429 `PENDING_PROMPTS_EXCEEDED`", "metric": "runyard_runs_starts_total"}},
    "max_crashes": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 2, "description": "Maximum number of times that the worker of a run may crash or vanish before the run fails"},
    "max_parallel_tools": {"type": "integer", "minimum": 1, "maximum": 128, "default": 8, "description": "Maximum number of concurrent tool calls of one answer",
      "limit": {"resource": "Tool calls in progress", "per": "model answer", "answer": "further calls wait", "metric": "runyard_runs_tool_seconds"}},
    "tool_timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 86400, "default": 600, "description": "Time limit of a tool call in seconds; the model then gets an error. MCP calls have the time limits of the module mcp instead",
      "limit": {"resource": "Time of a tool call", "per": "call", "answer": "the model gets an error", "metric": "runyard_runs_tool_calls_total"}},
    "tool_search_from": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 0, "description": "Minimum number of tools at which requests contain only the built-in tools, the tools in use, and find_tools to find the others, which saves context; 0: only if the agent has more tools than the model accepts"},
    "repeat_limit": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 5, "description": "Maximum number of times that the same tool call may return the same result before it is refused; 0: no limit"},
    "drain_seconds": {"type": "integer", "minimum": 0, "maximum": 3600, "default": 10, "description": "Seconds that a shutdown waits for the end of a step before runs are released to other nodes"},
    "event_retention": {"type": ["string", "integer"], "pattern": "^[0-9]{1,12}[smhd]?$", "form": "a duration such as 3000s, 50m, 2h or 1d", "default": "30d", "description": "Time for which the events of a finished run can be read again: 30d, 12h, ... or a number of seconds; at least 1m",
      "limit": {"resource": "Age of the events of a finished run", "per": "run", "answer": "the events are deleted"}},
    "max_output_tokens": {"type": "integer", "minimum": 0, "default": 0, "description": "Maximum number of tokens of a model answer; 0: the provider's limit"},
    "upload_total_bytes": {"type": "integer", "minimum": 1048576, "default": 1073741824, "description": "Maximum total size of the files of one start in bytes; the tiers limit the size and number of files",
      "limit": {"resource": "Files of a start request, bytes", "per": "request", "answer": "413 `UPLOAD_TOO_LARGE`", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "upload_text_bytes": {"type": "integer", "minimum": 1024, "maximum": 67108864, "default": 2097152, "description": "Maximum number of bytes of text that are extracted from one uploaded file"},
    "upload_read_seconds": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 60, "description": "Time limit in seconds for reading the files of one start, and for scaling the images of one request; at most 20 s per file or image",
      "limit": {"resource": "Time to read uploaded files", "per": "request", "answer": "the remaining files are stored without their text"}},
    "image_cache_bytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776, "default": 67108864, "description": "Maximum size in bytes of the in-memory cache of scaled images on this node",
      "limit": {"resource": "Cache of scaled images", "per": "node", "answer": "the least recently used images are evicted"}},
    "extract_program": {"type": "string", "default": "", "description": "Path of runyard-extract; empty: in the directory of the server's program"},
    "vision": {"type": "object", "additionalProperties": {"type": "boolean"}, "default": {}, "description": "Whether a model accepts images, by alias or '<provider>/<model>'; default: true for well-known families that do"},
    "workspace_bytes": {"type": "integer", "minimum": 1048576, "default": 2147483648, "description": "Maximum number of bytes of a workspace that the database stores",
      "limit": {"resource": "Stored workspace, bytes", "per": "project", "answer": "start: 413 `UPLOAD_TOO_LARGE`; files of commands are not stored, with a note for the model", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "workspace_file_bytes": {"type": "integer", "minimum": 1048576, "default": 536870912, "description": "Maximum size in bytes of a workspace file that the database stores",
      "limit": {"resource": "Stored file, bytes", "per": "file", "answer": "not stored; the tool result names it"}},
    "workspace_files": {"type": "integer", "minimum": 100, "maximum": 1000000, "default": 20000, "description": "Maximum number of files, directories and links of a workspace that the database stores",
      "limit": {"resource": "Stored files of a workspace", "per": "project", "answer": "start: 413 `UPLOAD_TOO_LARGE`; files of commands are not stored, with a note for the model", "metric": "runyard_http_requests_total", "alert": "RunyardRequestsRefused"}},
    "account_workspace_bytes": {"type": "object", "keys_refer_to": {"kinds": ["accounts.tier"]}, "additionalProperties": {"type": "integer", "minimum": 1048576}, "default": {}, "description": "By tier: maximum number of bytes of all workspaces of an account, on the disk of each node and in the database; default: 4 GiB (free and custom tiers), 32 GiB (pro), 256 GiB (enterprise)",
      "limit": {"resource": "All workspaces of an account, bytes", "per": "account", "answer": "start: 413 `UPLOAD_TOO_LARGE`; the command is terminated; the model gets an error", "default": "free 4 GiB, pro 32 GiB, enterprise 256 GiB", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "account_workspace_files": {"type": "object", "keys_refer_to": {"kinds": ["accounts.tier"]}, "additionalProperties": {"type": "integer", "minimum": 100}, "default": {}, "description": "By tier: maximum number of files, directories and links of all workspaces of an account; default: 100000 (free and custom tiers), 500000 (pro), 2000000 (enterprise)",
      "limit": {"resource": "All workspaces of an account, files and directories (inodes)", "per": "account", "answer": "start: 413 `UPLOAD_TOO_LARGE`; the command is terminated; the model gets an error", "default": "free 100000, pro 500000, enterprise 2000000", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "account_prompt_bytes": {"type": "object", "keys_refer_to": {"kinds": ["accounts.tier"]}, "additionalProperties": {"type": "integer", "minimum": 1048576}, "default": {}, "description": "By tier: maximum number of bytes of prompts that an account may send per hour to this node (prompts stay in the database until their thread is deleted); default: 256 MiB (free and custom tiers), 2 GiB (pro), 16 GiB (enterprise)",
      "limit": {"resource": "Prompts per hour, bytes", "per": "account, node", "answer": "start: 429 `PROMPT_RATE_EXCEEDED` with `Retry-After`", "default": "free 256 MiB, pro 2 GiB, enterprise 16 GiB", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "max_live_runs": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000, "description": "Maximum number of runs that this node executes at the same time; further runs wait for a free slot on any node, fairly between accounts",
      "limit": {"resource": "Runs in progress", "per": "node", "answer": "further runs wait", "metric": "runyard_runs_live", "alert": "RunyardRunsWait"}},
    "sandboxes": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0, "description": "Maximum number of concurrent commands of agents in sandboxes on this node; further commands wait, and the wait does not count towards runs.tool_timeout_seconds; 0: no limit",
      "limit": {"resource": "Commands in progress", "per": "node", "answer": "further commands wait", "metric": "runyard_runs_tool_seconds"}},
    "account_sandboxes": {"type": "integer", "off": 0, "minimum": 0, "maximum": 1000000, "default": 16, "description": "Maximum number of concurrent commands of one account in sandboxes on this node; 0: no limit",
      "limit": {"resource": "Commands in progress", "per": "account, node", "answer": "further commands wait", "metric": "runyard_runs_tool_seconds"}},
    "max_queued_runs": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 100000, "description": "Maximum number of runs that wait for a slot, on all nodes together; further starts get a 503",
      "limit": {"resource": "Runs waiting for a node", "per": "all nodes", "answer": "503 `QUEUE_FULL` with `Retry-After`", "metric": "runyard_runs_starts_total", "alert": "RunyardRunsWait"}},
    "queue_percent": {"type": "object", "keys_refer_to": {"kinds": ["accounts.tier"]}, "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 100}, "default": {}, "description": "By tier: percentage of max_queued_runs above which starts are refused; default: 100"},
    "tool_policy": {
      "type": "array", "maxItems": 200,
      "description": "Rules for tool calls, in order; the first rule whose patterns match applies. Rules of a start can only make the policy stricter",
      "items": {
        "type": "object",
        "properties": {
          "match": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Pattern of tool names, such as github__* or shell; * matches any characters, ? matches one"},
          "when": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Patterns of arguments, such as {branch = \"main\"}; all must match. Arguments that are not strings are compared as JSON text"},
          "action": {"type": "string", "enum": ["run", "ask", "deny"], "description": "run: the call is executed; ask: a person must approve it; deny: it is not executed"}
        },
        "required": ["match", "action"]
      },
      "default": []
    },
    "tool_default": {"type": "string", "enum": ["run", "risk"], "default": "run", "description": "Action for calls that match no rule. run: they are executed. risk: tools that are known to be read-only are executed, all others need an approval; annotations of MCP servers have no effect"},
    "approval_timeout": {"type": ["string", "integer"], "pattern": "^[0-9]{1,12}[smhd]?$", "form": "a duration such as 3000s, 50m, 2h or 1d", "default": "24h", "description": "Time limit for the decision on an approval: seconds, or a number with a unit such as 30m, 24h or 7d; at most 90 days"},
    "approval_on_timeout": {"type": "string", "enum": ["deny", "stop"], "default": "deny", "description": "Action when approval_timeout expires: deny the call, or stop the run"},
    "ask_user": {"type": "boolean", "default": false, "description": "Whether agents get the tool ask_user, with which they ask the person a question. The field questions of a start overrides it"},
    "elicitation": {"type": "boolean", "default": false, "description": "Whether tools, such as those of MCP servers, can request input from the person during a call (elicitation). The field questions of a start overrides it"},
    "question_hold_seconds": {"type": "integer", "minimum": 1, "maximum": 86400, "default": 300, "description": "Time in seconds for which a tool call that must stay open, such as that of an MCP server with a session, waits for the person's answer; then the request is cancelled",
      "limit": {"resource": "Time in which an open call waits for an answer", "per": "question", "answer": "the request for input is cancelled"}},
    "max_questions": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 20, "description": "Maximum number of questions to the person in one run; further ones are not asked",
      "limit": {"resource": "Questions to the person", "per": "run", "answer": "the result for the model states that the question was not asked"}},
    "park_slot_seconds": {"type": "integer", "minimum": 0, "maximum": 604800, "default": 60, "description": "Time in seconds for which a run that waits for an approval counts towards the account's limit of concurrent runs",
      "limit": {"resource": "Time in which a waiting run occupies a slot", "per": "run", "answer": "the account may start another run"}},
    "max_remembered_approvals": {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 1000, "description": "Maximum number of remembered approvals of an account. Further decisions with `remember` are refused until the account revokes some",
      "limit": {"resource": "Remembered approvals", "per": "account", "answer": "409 `REMEMBERED_APPROVALS_LIMIT`"}},
    "decision_requests_per_hour": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 600, "description": "Maximum number of requests per hour to the page behind the links of approvals (/approval-decision), per IPv4 address or IPv6 /64 network and node",
      "limit": {"resource": "Requests to the links of approvals per hour", "per": "client network and node", "answer": "429 with Retry-After"}},
    "webhooks": {
      "type": "object",
      "description": "URLs that are notified of the end of runs, by a name of your choice; signed according to Standard Webhooks",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "url": {"type": "string"},
          "secret": {"type": "string", "secret": true, "description": "whsec_ followed by 24 to 64 random bytes in base64"},
          "statuses": {"type": "array", "items": {"type": "string"}, "description": "Outcomes that are sent: completed, failed, stopped; default: all"}
        },
        "required": ["url", "secret"]
      },
      "default": {}
    }
  }
})json";

}  // namespace runs
