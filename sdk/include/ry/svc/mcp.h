/* mcp/1 - properties of all MCP integrations (provided by the module `mcp`). */
#ifndef RY_SVC_MCP_H
#define RY_SVC_MCP_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SVC_MCP_1 "mcp/1"

typedef struct ry_mcp_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* 0: the operator has disabled integrations, and their routes respond with 403. [any] */
  int32_t (*enabled)(void* self) RY_NOEXCEPT;
} ry_mcp_v1;

#ifdef __cplusplus
}
#endif
#endif
