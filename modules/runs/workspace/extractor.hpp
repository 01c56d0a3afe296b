// Runs runyard-extract in the sandbox; it parses files of users and tools.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "module_context.hpp"

namespace runs {

struct extractor_job {
  std::vector<std::string> arguments;
  std::string_view input;  // for standard input; must outlive the job
  std::uint64_t wall_ms = 0, output_bytes = 0;
};
struct extractor_result {
  enum class end { finished, no_sandbox, unavailable, not_started, too_long, failed } how = end::failed;
  std::string output;
};
// On the run's executor; an interruption of the run ends the job.
ry::task<extractor_result> run_extractor(module_context& p, std::shared_ptr<live_run> run, extractor_job job);

}  // namespace runs
