// The ABI table of ry.jobs/1.
#pragma once

#include <ry/if/jobs.h>

namespace ry::jobs {
const ry_jobs_v1& jobs_v1() noexcept;
}
