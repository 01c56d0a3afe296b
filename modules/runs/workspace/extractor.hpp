// Runs runyard-extract in the sandbox, because it parses untrusted files of users and tools.
//
// Lifetime: as long as the module.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ry/ry.hpp>

#include "run/live_run.hpp"
#include "settings/settings.hpp"
#include "workspace/sandbox_drivers.hpp"

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

class extractor {
 public:
  extractor(const settings& config, const sandbox_drivers& sandboxes) : config_(config), sandboxes_(sandboxes) {}
  // [lifecycle] Searches for the program.
  void start();
  // Whether the program was found.
  bool is_installed() const { return !program_.empty(); }
  // On the run's executor; an interruption of the run cancels the job.
  ry::task<extractor_result> run(std::shared_ptr<live_run> run, extractor_job job) const;

 private:
  const settings& config_;
  const sandbox_drivers& sandboxes_;
  std::string program_;  // its path; empty: not found
};

}  // namespace runs
