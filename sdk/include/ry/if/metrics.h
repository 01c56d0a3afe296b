/* ry.metrics/1 - metrics for /metrics (Prometheus text format). Names get the prefix "runyard_<module>_",
 * account_limits_reached_total only "runyard_" (ry/cpp/limits.hpp). The same name and labels return the same handle;
 * handles live until destroy(). */
#ifndef RY_IF_METRICS_H
#define RY_IF_METRICS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_METRICS_1 "ry.metrics/1"

typedef struct ry_metric ry_metric;

#define RY_METRIC_COUNTER 1
#define RY_METRIC_GAUGE 2
#define RY_METRIC_HISTOGRAM 3

typedef struct ry_metrics_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* kind: RY_METRIC_*. labels: a few values each, never ids. bounds: upper bucket bounds of a histogram,
   * NULL = 1 ms .. 60 s in seconds. Returns NULL if the name or labels are invalid. [any] */
  ry_metric* (*get)(const ry_host* host, int32_t kind, ry_str name, ry_str help, const ry_header* labels,
                    size_t n_labels, const double* bounds, size_t n_bounds)RY_NOEXCEPT;
  void (*add)(ry_metric* metric, double value) RY_NOEXCEPT; /* counter (>= 0), gauge [any] */
  void (*set)(ry_metric* metric, double value) RY_NOEXCEPT; /* gauge [any] */
  void (*observe)(ry_metric* metric, double value) RY_NOEXCEPT; /* histogram [any] */
} ry_metrics_v1;

#ifdef __cplusplus
}
#endif
#endif
