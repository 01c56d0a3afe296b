/* ry.services/1 - tables of other modules. Available from start() on. */
#ifndef RY_IF_SERVICES_H
#define RY_IF_SERVICES_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SERVICES_1 "ry.services/1"

typedef struct ry_lease ry_lease; /* keeps the provider from being unloaded; ended by release */

typedef struct ry_services_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* RY_NOT_FOUND: nobody provides it here; RY_FAILED_PRECONDITION: not named in the descriptor's
   * needs, or its table is shorter than min_size. *table and *self are valid until release. [any] */
  ry_status (*acquire)(const ry_host* host, ry_str id, uint32_t min_size, const void** table,
                       void** self, ry_lease** lease) RY_NOEXCEPT;
  void (*release)(ry_lease* lease) RY_NOEXCEPT; /* [any] */
} ry_services_v1;

#ifdef __cplusplus
}
#endif
#endif
