// runyard-extract in the sandbox: what parses files of users and tools runs there.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parts.hpp"

namespace runs {

struct extractor_job {
  std::vector<std::string> arguments;
  std::string_view input;  // for its standard input; lives until the job has ended
  std::uint64_t wall_ms = 0, output_bytes = 0;
};
struct extractor_result {
  enum class end { finished, no_sandbox, unavailable, not_started, too_long, failed } how = end::failed;
  std::string output;
};
// On the run's executor; an interruption of the run ends it.
ry::task<extractor_result> run_extractor(parts& p, std::shared_ptr<live_run> run, extractor_job job);

}  // namespace runs
