/* mcp/1 - properties of all MCP integrations (provided by the module `mcp`). */
#ifndef RY_SVC_MCP_H
#define RY_SVC_MCP_H
#include "../abi.h"
#include "../ext/agent_tools.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SVC_MCP_1 "mcp/1"

typedef struct ry_mcp_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* 0: the operator has disabled integrations, and their routes respond with 403. [any] */
  int32_t (*enabled)(void* self) RY_NOEXCEPT;
  /* The tools of MCP servers of the operator, not of an agent. servers_json: JSON array in the form of an agent's
   * custom_mcps, secrets in plain text; exempt from the address guard and the list of allowed commands. *tools and
   * *tools_self: agent.tools/1 for these servers, valid as long as the lease on mcp/1. Scopes need account_id and, for
   * calls, a run_id that belongs to no run and no other call; call `ended` after each call. Servers with the session
   * "thread" share it between calls with the same thread_id. Other fields and RY_TOOLS_INPUT are ignored. result_json
   * has the member "mcp", the server's own result, unless that is larger than mcp.max_result_kb. The same list returns
   * the same tools. RY_INVALID_ARGUMENT: a server is not valid; err begins with its position ("[0]: ..."). Call it
   * after start() of the module `mcp`. May be missing if struct_size is smaller. [any] */
  ry_status (*open_servers)(void* self, ry_str servers_json, const ry_agent_tools_v1** tools, void** tools_self,
                            ry_errbuf* err) RY_NOEXCEPT;
} ry_mcp_v1;

#ifdef __cplusplus
}
#endif
#endif
