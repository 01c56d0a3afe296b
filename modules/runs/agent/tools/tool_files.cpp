#include "agent/tools/tool_files.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <ry/cpp/text.hpp>

#include "agent/loop_turn.hpp"
#include "agent/pictures.hpp"
#include "json/members.hpp"
#include "llm/common/image_type.hpp"
#include "text.hpp"
#include "workspace/file_names.hpp"
#include "workspace/safe_file_name.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_image_bytes = 4 * 1024 * 1024;  // base64, of one result, in the message
constexpr std::size_t max_files = 20;  // of one result
constexpr std::size_t max_stored_bytes = 32u << 20;  // of one result
constexpr std::uint32_t max_image_side = 8000;  // pixels; no provider accepts more
constexpr std::string_view directory = "tool_results/";

std::string_view extension_of(std::string_view media_type) {
  static const std::map<std::string_view, std::string_view> known = {
      {"application/json", ".json"}, {"application/pdf", ".pdf"}, {"application/zip", ".zip"}, {"audio/flac", ".flac"},
      {"audio/mp4", ".m4a"},         {"audio/mpeg", ".mp3"},      {"audio/ogg", ".ogg"},       {"audio/wav", ".wav"},
      {"audio/webm", ".webm"},       {"audio/x-wav", ".wav"},     {"image/gif", ".gif"},       {"image/jpeg", ".jpg"},
      {"image/png", ".png"},         {"image/svg+xml", ".svg"},   {"image/webp", ".webp"},     {"text/csv", ".csv"},
      {"text/html", ".html"},        {"text/plain", ".txt"},      {"video/mp4", ".mp4"},       {"video/webm", ".webm"}};
  const auto at = known.find(media_type);
  return at != known.end() ? at->second : ".bin";
}

std::string media_type_or_default(std::string_view media_type) {
  std::string type = ry::lower_ascii(trim(media_type.substr(0, media_type.find(';'))));
  const bool usable = type.size() <= 100 && type.find('/') != std::string::npos &&
                      type.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789/.+-_") == std::string::npos;
  return usable ? type : "application/octet-stream";
}

// "tool_results/chart-1a2b3c4d5e6f.png"
std::string path_of(const result_file& f, std::string_view media_type, std::string_view bytes) {
  std::string name = safe_file_name(f.name);
  std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || name.size() - dot > 16) {
    dot = name.size();
    name += extension_of(media_type);
  }
  return std::string(directory) + name.substr(0, dot) + "-" + digest_of(bytes).substr(0, 12) + name.substr(dot);
}

std::string file_description(const std::string& name, const std::string& media_type, std::size_t size) {
  return name + " (" + media_type + ", " + size_text(size) + ")";
}

// Whether a model with vision accepts this image.
bool is_usable_image(const result_file& f) {
  llm::image_limits limits;
  limits.side = max_image_side;
  return llm::check_image(f.data, limits).problem.empty();
}

}  // namespace

std::vector<result_file> files_of_result(const json::object& result, std::string& message_parts) {
  std::vector<result_file> out;
  const auto collect = [&](const char* member, result_file::purpose purpose) {
    const json::value* all = result.if_contains(member);
    if (all == nullptr || !all->is_array()) return;
    for (const json::value& v : all->as_array()) {
      if (!v.is_object()) continue;
      result_file f;
      f.name = module_json::text_of(v.as_object(), "name");
      f.media_type = module_json::text_of(v.as_object(), "media_type");
      f.data = module_json::text_of(v.as_object(), "data");
      f.use = purpose;
      if (f.data.empty()) continue;
      if (f.name.empty()) f.name = purpose == result_file::purpose::image ? "image" : "file";
      out.push_back(std::move(f));
    }
  };
  collect("images", result_file::purpose::image);
  for (result_file& f : out) {
    f.in_message = f.media_type.starts_with("image/") && message_parts.size() + f.data.size() <= max_image_bytes;
    if (!f.in_message) continue;
    if (!message_parts.empty()) message_parts += ',';
    message_parts +=
        "{\"type\":\"image\",\"media_type\":" + json_string(f.media_type) + ",\"data\":" + json_string(f.data) + "}";
  }
  collect("files", result_file::purpose::file);
  return out;
}

files_to_store choose_files(const std::vector<result_file>& all, model_sees sees) {
  files_to_store out;
  std::size_t total = 0, rejected_count = 0;
  for (const result_file& f : all) {
    if (f.use == result_file::purpose::image && f.in_message && sees == model_sees::images && is_usable_image(f))
      continue;
    std::string type = media_type_or_default(f.media_type);
    const auto reject = [&](std::size_t size, const char* reason) {
      if (++rejected_count > max_files) return;
      out.notes += "\n[" + file_description(safe_file_name(f.name), type, size) + " was not stored: " + reason + "]";
    };
    std::string_view data = f.data;
    if (const std::size_t comma = data.find(',');
        f.encoding == result_file::form::base64 && data.starts_with("data:") && comma != data.npos)
      data.remove_prefix(comma + 1);
    if (out.files.size() == max_files || total + data.size() / 4 * 3 > max_stored_bytes) {
      reject(data.size() / 4 * 3, "the result has too many files or bytes");
      continue;
    }
    std::optional<std::string> bytes =
        f.encoding == result_file::form::plain ? std::optional<std::string>(data) : llm::decode_base64(data);
    if (!bytes) {
      reject(data.size() / 4 * 3, "its data is not base64");
      continue;
    }
    total += bytes->size();
    std::string path = path_of(f, type, *bytes);
    out.files.push_back({std::move(path), std::move(type), std::move(*bytes)});
  }
  if (rejected_count > max_files)
    out.notes += "\n[" + std::to_string(rejected_count - max_files) + " more were not stored]";
  return out;
}

ry::task<void> store_result_files(const ry::context& ctx, const settings& config, const run_workspace& files,
                                  std::shared_ptr<live_run> run, std::vector<result_file> all, tool_outcome& outcome) {
  try {
    const std::vector<std::string> chain = config.chain(run->who.model);
    const std::string& model = chain[std::min(run->progress.answering, chain.size() - 1)];
    const model_sees sees = config.sees(model) ? model_sees::images : model_sees::no_images;
    std::size_t bytes = 0;
    for (const result_file& f : all) bytes += f.data.size();
    files_to_store chosen;
    const auto choose = [&] { chosen = choose_files(all, sees); };
    if (bytes > max_bytes_per_loop_turn) {
      co_await ctx.run_blocking(choose);
    } else {
      choose();
    }
    outcome.content += chosen.notes;
    if (chosen.files.empty() || run->stop.must_break()) co_return;
    ry::result<void> workspace_ready = co_await files.ensure(run);
    bool any_stored = false;
    for (const stored_file& f : chosen.files) {
      ry::result<void> done = workspace_ready;
      if (done) done = co_await files.write(run, f.path, f.bytes);
      if (!done && done.status() != RY_UNAVAILABLE)
        ctx.log_error("a file of a tool's result could not be stored", done.error());
      any_stored = any_stored || done.ok();
      const std::string description = file_description(f.path, f.media_type, f.bytes.size());
      outcome.content += done ? "\n[stored in the workspace: " + description + "]"
                              : "\n[" + description + " was not stored: the workspace is not available]";
    }
    if (!any_stored) co_return;
    std::string note;
    co_await files.keep(run, note);
    if (!note.empty()) outcome.content += "\n" + note;
  } catch (...) {
    ctx.log_error("the files of a tool's result could not be stored", ry::current_error());
    outcome.content += "\n[the files of this result were not stored]";
  }
}

}  // namespace runs
