#include "agent/image_scaler.hpp"

#include <sodium.h>

#include <algorithm>
#include <charconv>

#include "agent/checkpoint.hpp"
#include "agent/loop_turn.hpp"
#include "llm/common/image_type.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::uint64_t first_line_bytes = 1024;
constexpr std::uint64_t max_wall_ms_per_image = 20'000;

std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view out = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return out;
}

// Parses the program's output; nullptr if it is invalid.
scaled_ptr read_output(std::string_view output) {
  const std::size_t end = output.find('\n');
  if (end == std::string_view::npos) return nullptr;
  std::string_view line = output.substr(0, end);
  auto out = std::make_shared<scaled_picture>();
  const std::string_view kind = next_word(line);
  if (kind == "none" && !line.empty()) {
    out->problem = plain_sentence(line.substr(0, 200));
    return out;
  }
  const std::string_view format = next_word(line);
  if (kind != "image" || (format != "png" && format != "jpeg")) return nullptr;
  out->media_type = "image/" + std::string(format);
  out->first_frame = line.ends_with(" frame");
  out->data = llm::encode_base64(output.substr(end + 1));
  return out->data.empty() ? nullptr : out;
}

std::string_view scaling_problem(extractor_result::end how) {
  switch (how) {
    case extractor_result::end::no_sandbox:
    case extractor_result::end::unavailable:
      return "could not be scaled down: this server has no sandbox for that";
    case extractor_result::end::too_long:
      return "could not be scaled down in time";
    default:
      return "could not be scaled down";
  }
}

scaled_ptr problem(std::string_view text) {
  auto out = std::make_shared<scaled_picture>();
  out->problem = text;
  return out;
}

}  // namespace

image_scaler::image_scaler(const ry::context& ctx, const settings& config, const extractor& extract,
                           command_semaphore& commands, image_cache& images, event_log_writers& writers,
                           std::shared_ptr<live_run> run, const ry_llm_limits& limits)
    : ctx_(ctx),
      extract_(extract),
      commands_(commands),
      images_(images),
      writers_(writers),
      run_(std::move(run)),
      limits_(limits),
      target_(target_for(limits)),
      deadline_ms_(ctx.mono_us() / 1000 + config.upload_read_seconds * 1000) {}

std::string image_scaler::key_of(std::string_view bytes, std::uint64_t size) const {
  std::string out(crypto_generichash_BYTES, '\0');
  crypto_generichash(reinterpret_cast<unsigned char*>(out.data()), out.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
  return out + "/" + std::to_string(size) + "/" + std::to_string(target_.side) + "/" + std::to_string(target_.bytes);
}

void image_scaler::add_notice(const std::string& key, std::string_view problem) {
  if (!run_->progress.images_reported.insert(key).second) return;
  const std::string message = "An image was omitted: it " + std::string(problem) + ".";
  ctx_.warn("an image could not be scaled down", {{"run", run_->who.run.to_string()}, {"cause", std::string(problem)}});
  append_notice(*run_, "image_skipped", message);
  run_->events.deliver_soon();
  writers_.of(run_->exec).touch(run_);
}

// Caches results that depend only on the image, not failures of the sandbox.
ry::task<scaled_ptr> image_scaler::scale(std::string key, std::string file, std::string_view input) {
  if (scaled_ptr cached = images_.find(key)) co_return cached;
  const std::int64_t remaining_ms = deadline_ms_ - ctx_.mono_us() / 1000;
  scaled_ptr out;
  if (remaining_ms <= 0) {
    out = problem("could not be scaled down in time");
  } else {
    const command_semaphore::place permit = co_await commands_.take(run_);
    if (!permit) co_return problem("could not be scaled down");  // the run is interrupted
    extractor_job job;
    job.arguments = {"--scale", std::to_string(target_.side), std::to_string(target_.bytes), std::move(file)};
    job.input = input;
    job.wall_ms = std::min(static_cast<std::uint64_t>(remaining_ms), max_wall_ms_per_image);
    job.output_bytes = target_.bytes + first_line_bytes;
    const extractor_result result = co_await extract_.run(run_, std::move(job));
    const auto parse = [&result] { return read_output(result.output); };
    if (result.how == extractor_result::end::finished) out = co_await ctx_.run_blocking(parse);
    if (out)
      images_.put(key, out);
    else
      out = problem(scaling_problem(result.how));
    if (out->problem.empty())
      ctx_.info("an image was scaled down", {{"run", run_->who.run.to_string()},
                                             {"media_type", out->media_type},
                                             {"bytes", std::to_string(out->data.size() / 4 * 3)}});
  }
  if (!out->problem.empty() && !run_->stop.must_break()) add_notice(key, out->problem);
  co_return out;
}

ry::task<scaled_ptr> image_scaler::scale_file(std::string path, std::string_view beginning, std::uint64_t size) {
  const auto make_key = [&] { return key_of(beginning, size); };
  std::string key = co_await ctx_.run_blocking(make_key);
  co_return co_await scale(std::move(key), std::move(path), {});
}

ry::task<void> image_scaler::fit_images(const std::vector<chat_message>& messages,
                                        std::optional<std::vector<chat_message>>& out) {
  if (limits_.image_side == 0 && limits_.image_bytes == 0 && limits_.many_images == 0 && limits_.gifs == 0) co_return;
  const std::vector<chat_message>& current = out ? *out : messages;
  std::uint64_t bytes = 0;
  for (const chat_message& m : current)
    if (contains_image_data(m)) bytes += m.body.size();
  if (bytes == 0) co_return;
  struct found_image {
    unsupported_image image;
    std::string key;
  };
  const auto find_images = [&] {
    std::vector<found_image> images;
    for (unsupported_image& m : find_unsupported_images(current, limits_)) {
      std::string key = key_of(m.bytes, m.bytes.size());
      images.push_back({std::move(m), std::move(key)});
    }
    return images;
  };
  std::vector<found_image> images;
  if (bytes > max_bytes_per_loop_turn)
    images = co_await ctx_.run_blocking(find_images);
  else
    images = find_images();
  if (images.empty()) co_return;
  std::vector<scaled_ptr> scaled;
  for (const found_image& f : images) {
    if (run_->stop.must_break()) co_return;
    scaled.push_back(co_await scale(f.key, "-", f.image.bytes));
  }
  if (!out) out = messages;
  const auto replace = [&] {
    for (std::size_t i = 0; i < images.size(); ++i)
      replace_image((*out)[images[i].image.message], images[i].image.part, *scaled[i]);
  };
  co_await ctx_.run_blocking(replace);
}

}  // namespace runs
