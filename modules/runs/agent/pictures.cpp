#include "agent/pictures.hpp"

#include <boost/json.hpp>

#include "agent/context.hpp"
#include "agent/image_scaler.hpp"
#include "agent/loop_turn.hpp"
#include "json/members.hpp"
#include "llm/common/image_type.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

bool is_picture(const json::value& part) {
  return part.is_object() && module_json::text_of(part.as_object(), "type") == "image" &&
         part.as_object().contains("path");
}

// The content array of a body with images; null for all other bodies.
json::value parts_of(std::string_view body) {
  if (body.find("\"path\"") == std::string_view::npos || body.find("\"image\"") == std::string_view::npos)
    return nullptr;
  boost::system::error_code bad;
  json::value v = json::parse(body, bad);
  if (bad || !v.is_object()) return nullptr;
  json::value* content = v.as_object().if_contains("content");
  if (content == nullptr || !content->is_array()) return nullptr;
  for (const json::value& part : content->as_array())
    if (is_picture(part)) return std::move(*content);
  return nullptr;
}

// The first bytes of a file, and the file's size.
struct file_start {
  std::string bytes;
  std::uint64_t size = 0;
};

ry::task<ry::result<file_start>> read_picture(const sandbox_drivers& sandboxes, const run_workspace& files,
                                              std::shared_ptr<live_run> run, std::string path) {
  ry::result<void> ready = co_await files.ensure(run);
  if (!ready) co_return ready.error();
  const auto driver = sandboxes.in_use();
  if (!driver) co_return ry::unavailable("runs.no_sandbox", "no sandbox driver is loaded");
  const std::string project = run->who.project.to_string();
  co_return co_await ry::call<file_start, ry_bytes, std::uint64_t>(
      [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
        return driver->table->read_file(driver->self, ry::str(project), ry::str(path), 0, max_picture_bytes, exec, fn,
                                        ctx);
      },
      [](ry_bytes content, std::uint64_t size) {
        return file_start{ry::text(content), size};
      });
}

// The user's images of one request: the bytes that were read, and the notes that replace other images.
struct loaded_pictures {
  std::map<std::string, std::string> bytes, base64, notes;  // by path
  std::uint64_t total = 0;

  bool contains(const std::string& path) const {
    return bytes.contains(path) || base64.contains(path) || notes.contains(path);
  }
  std::size_t count() const { return bytes.size() + base64.size(); }
};

ry::task<void> load_picture(const sandbox_drivers& sandboxes, const run_workspace& files, std::shared_ptr<live_run> run,
                            image_scaler& scaler, std::string path, loaded_pictures& to) {
  ry::result<file_start> beginning = co_await read_picture(sandboxes, files, run, path);
  if (!beginning) co_return;  // the file may have been removed by the agent
  if (beginning->size <= max_picture_bytes) {
    if (to.total + beginning->size > max_pictures_bytes) co_return;
    to.total += beginning->size;
    to.bytes.emplace(std::move(path), std::move(beginning->bytes));
    co_return;
  }
  const scaled_ptr scaled = co_await scaler.scale_file(path, beginning->bytes, beginning->size);
  if (!scaled->problem.empty()) {
    to.notes.emplace(std::move(path), omitted_image_note(scaled->problem));
    co_return;
  }
  const std::uint64_t size = scaled->data.size() / 4 * 3;
  if (to.total + size > max_pictures_bytes) co_return;
  to.total += size;
  if (scaled->first_frame) to.notes.emplace(path, first_frame_note);
  to.base64.emplace(std::move(path), scaled->data);
}

}  // namespace

std::string user_body_with(std::string_view text, const std::vector<picture>& pictures) {
  if (pictures.empty()) return user_body(text);
  std::string out = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":" + json_string(text) + "}";
  for (const picture& i : pictures)
    out +=
        ",{\"type\":\"image\",\"media_type\":" + json_string(i.media_type) + ",\"path\":" + json_string(i.path) + "}";
  return out + "]}";
}

std::vector<std::string> pictures_in(std::string_view body) {
  std::vector<std::string> out;
  const json::value parts = parts_of(body);
  if (!parts.is_array()) return out;
  for (const json::value& part : parts.as_array())
    if (is_picture(part)) out.push_back(module_json::text_of(part.as_object(), "path"));
  return out;
}

std::string resolve_pictures(std::string_view body, const std::map<std::string, std::string>& bytes,
                             const std::map<std::string, std::string>& notes) {
  const json::value parts = parts_of(body);
  if (!parts.is_array()) return std::string(body);
  json::array content;
  bool only_text = true;
  for (const json::value& part : parts.as_array()) {
    if (!is_picture(part)) {
      content.push_back(part);
      continue;
    }
    const std::string path = module_json::text_of(part.as_object(), "path");
    if (const auto found = bytes.find(path); found != bytes.end()) {
      only_text = false;
      content.push_back({{"type", "image"},
                         {"media_type", module_json::text_of(part.as_object(), "media_type")},
                         {"data", found->second}});
    }
    if (const auto note = notes.find(path); note != notes.end()) {
      only_text = false;
      content.push_back({{"type", "text"}, {"text", note->second}});
    }
  }
  if (only_text) return user_body(content_of(body));
  return json::serialize(json::object{{"role", "user"}, {"content", std::move(content)}});
}

ry::task<std::optional<std::vector<chat_message>>> show_pictures(
    const ry::context& ctx, const settings& config, const sandbox_drivers& sandboxes, const run_workspace& files,
    std::shared_ptr<live_run> run, std::string model, image_scaler& scaler, const std::vector<chat_message>& messages) {
  const bool has_vision = config.sees(model);
  std::optional<std::vector<chat_message>> out;
  bool has_images = false;
  for (const chat_message& m : messages)
    has_images = has_images || (m.role == "user" ? !pictures_in(m.body).empty()
                                                 : !has_vision && m.role == "tool" && contains_images(m.body));
  if (has_images) out = messages;
  loaded_pictures found;
  if (!has_vision && has_images) remove_tool_images(*out);
  for (std::size_t i = has_images && has_vision ? out->size() : 0; i-- > 0;) {
    if ((*out)[i].role != "user") continue;
    for (const std::string& path : pictures_in((*out)[i].body))
      if (found.count() < max_pictures && !found.contains(path))
        co_await load_picture(sandboxes, files, run, scaler, path, found);
  }
  const auto insert_images = [&out, &found] {
    for (auto& [path, bytes] : found.bytes) found.base64.insert_or_assign(path, llm::encode_base64(bytes));
    for (chat_message& m : *out)
      if (m.role == "user") m.body = resolve_pictures(m.body, found.base64, found.notes);
  };
  if (has_images && found.total > max_bytes_per_loop_turn) {
    co_await ctx.run_blocking(insert_images);
  } else if (has_images) {
    insert_images();
  }
  if (has_vision) co_await scaler.fit_images(messages, out);
  co_return out;
}

}  // namespace runs
