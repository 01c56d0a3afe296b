// The ABI tables of the interfaces that core/module implements. [any]
#pragma once

#include <ry/if/core.h>
#include <ry/if/metrics.h>
#include <ry/if/registrar.h>
#include <ry/if/services.h>
#include <ry/if/trace.h>

namespace ry::module {

const ry_core_v1& core_v1() noexcept;
const ry_metrics_v1& metrics_v1() noexcept;
const ry_registrar_v1& registrar_v1() noexcept;
const ry_services_v1& services_v1() noexcept;
const ry_trace_v1& trace_v1() noexcept;

}  // namespace ry::module
