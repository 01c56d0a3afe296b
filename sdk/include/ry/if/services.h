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
  /* RY_NOT_FOUND: no module provides it here; RY_FAILED_PRECONDITION: not named in the descriptor's
   * needs, or its table is shorter than min_size. *table and *self are valid until release. [any] */
  ry_status (*acquire)(const ry_host* host, ry_str id, uint32_t min_size, const void** table, void** self,
                       ry_lease** lease) RY_NOEXCEPT;
  void (*release)(ry_lease* lease) RY_NOEXCEPT; /* [any] */
  /* Reports that the driver with this name violated a rule of the extension point `point`, which the calling module
   * owns. The host counts the violation for the driver's module and logs it under that module's name. `rule` and
   * `problem` are short texts. RY_NOT_FOUND: the module owns no such point, or no such driver is loaded. May be missing
   * if struct_size is smaller. [any] */
  ry_status (*report_driver_violation)(const ry_host* host, ry_str point, ry_str driver, ry_str rule,
                                       ry_str problem) RY_NOEXCEPT;
} ry_services_v1;

#ifdef __cplusplus
}
#endif
#endif
