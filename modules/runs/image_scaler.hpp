// Images made smaller for a model's provider, by runyard-extract in the sandbox. On the run's executor.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "image_cache.hpp"
#include "image_fit.hpp"
#include "parts.hpp"

namespace runs {

// Files that are scaled; what is larger is not shown.
inline constexpr std::uint64_t most_scalable_bytes = 64u << 20;

class image_scaler {
 public:
  // For one request: all its images together have the time of the setting upload_read_seconds.
  image_scaler(parts& p, std::shared_ptr<live_run> run, const ry_llm_limits& limits);

  // A file of the run's workspace, which is open. `beginning`: its first bytes, and its size; they stand for it in the
  // cache.
  ry::task<scaled_ptr> scale_file(std::string path, std::string_view beginning, std::uint64_t size);
  // The messages with what does not fit replaced; `out` is set when that is anything. A text stands for an image that
  // cannot be scaled, and the readers are told why.
  ry::task<void> fit_images(const std::vector<chat_message>& messages, std::optional<std::vector<chat_message>>& out);

 private:
  ry::task<scaled_ptr> scale(std::string key, std::string file, std::string_view input);
  std::string key_of(std::string_view bytes, std::uint64_t size) const;
  // Once a run.
  void tell(const std::string& key, std::string_view problem);

  parts& parts_;
  const std::shared_ptr<live_run> run_;
  const ry_llm_limits limits_;
  const image_target target_;
  const std::int64_t until_ms_;
};

}  // namespace runs
