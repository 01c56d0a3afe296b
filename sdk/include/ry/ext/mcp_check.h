/* agents.mcp_check/1 - whether an account may use the MCP servers of a list (point of the module `agents`).
 *
 * The module `agents` stores the MCP servers of an agent and checks only the structure of their configurations. Before
 * it stores a list that a client wrote, it asks every driver to check it: addresses, commands, integration profiles.
 * The module `mcp` provides the driver with the rules of its transports.
 */
#ifndef RY_EXT_MCP_CHECK_H
#define RY_EXT_MCP_CHECK_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_AGENTS_MCP_CHECK_1 "agents.mcp_check/1"

typedef struct ry_mcp_check_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* account_id: a UUID as text. custom_mcps_json: a JSON array of configurations as the client wrote them; the module
   * `agents` has checked their structure, and secrets may be masked. A configuration that is already stored is null: it
   * stays, even if it would be rejected today. Both texts are borrowed until the call returns. `done` gets RY_OK;
   * RY_INVALID_ARGUMENT with a message that begins with the position of the rejected value ("custom_mcps[0].config:
   * ..."); or another status that is passed to the client. The list is stored only after RY_OK from all drivers.
   * Completion on exec, never inside the call. [any] */
  ry_status (*check)(void* self, ry_str account_id, ry_str custom_mcps_json, ry_exec* exec, ry_done done) RY_NOEXCEPT;
} ry_mcp_check_v1;

#ifdef __cplusplus
}
#endif
#endif
