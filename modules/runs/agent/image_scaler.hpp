// Scales images down for a model's provider, with runyard-extract in the sandbox. Thread: the run's executor.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "agent/image_fit.hpp"
#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"
#include "settings/settings.hpp"
#include "workspace/command_semaphore.hpp"
#include "workspace/extractor.hpp"
#include "workspace/image_cache.hpp"

namespace runs {

class image_scaler {
 public:
  // For one request: all its images share the time limit runs.upload_read_seconds.
  image_scaler(const ry::context& ctx, const settings& config, const extractor& extract, command_semaphore& commands,
               image_cache& images, event_log_writers& writers, std::shared_ptr<live_run> run,
               const ry_llm_limits& limits);

  // Scales a file of the run's open workspace. `beginning` (its first bytes) and `size` form its cache key.
  ry::task<scaled_ptr> scale_file(std::string path, std::string_view beginning, std::uint64_t size);
  // Replaces the images that exceed the limits; sets `out` if there are any. An image that cannot be scaled is replaced
  // with a text, and an event tells clients why.
  ry::task<void> fit_images(const std::vector<chat_message>& messages, std::optional<std::vector<chat_message>>& out);

 private:
  ry::task<scaled_ptr> scale(std::string key, std::string file, std::string_view input);
  std::string key_of(std::string_view bytes, std::uint64_t size) const;
  // Reports a problem to clients and the log, once per run and image.
  void add_notice(const std::string& key, std::string_view problem);

  const ry::context& ctx_;
  const extractor& extract_;
  command_semaphore& commands_;
  image_cache& images_;
  event_log_writers& writers_;
  const std::shared_ptr<live_run> run_;
  const ry_llm_limits limits_;
  const image_target target_;
  const std::int64_t deadline_ms_;
};

}  // namespace runs
