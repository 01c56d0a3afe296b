#include "pictures.hpp"

#include <sodium.h>

#include <boost/json.hpp>

#include "context.hpp"
#include "text.hpp"
#include "tools.hpp"

namespace runs {

namespace json = boost::json;

namespace {

std::string text_of(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v != nullptr && v->is_string() ? std::string(v->as_string()) : std::string();
}

std::string base64(std::string_view bytes) {
  std::string out(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  out.pop_back();  // the terminating NUL
  return out;
}

bool is_picture(const json::value& part) {
  return part.is_object() && text_of(part.as_object(), "type") == "image" && part.as_object().contains("path");
}

// The content of a body that may hold images; null for any other.
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

ry::task<ry::result<std::string>> read_picture(parts& p, std::shared_ptr<live_run> run, std::string path) {
  ry::result<void> ready = co_await ensure_workspace(p, run);
  if (!ready) co_return ready.error();
  const auto driver = p.sandbox();
  if (!driver) co_return ry::unavailable("runs.no_sandbox", "no sandbox driver is loaded");
  const std::string project = run->who.project.to_string();
  std::uint64_t total = 0;
  ry::result<std::string> got = co_await ry::call<std::string, ry_bytes, std::uint64_t>(
      [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
        return driver->table->read_file(driver->self, ry::str(project), ry::str(path), 0, most_picture_bytes,
                                        exec, fn, ctx);
      },
      [&total](ry_bytes content, std::uint64_t size) {
        total = size;
        return ry::text(content);
      });
  if (got && got->size() < total) co_return ry::error(RY_OUT_OF_RANGE, "runs.picture", "the image is too large");
  co_return got;
}

}  // namespace

std::string user_body_with(std::string_view text, const std::vector<picture>& pictures) {
  if (pictures.empty()) return user_body(text);
  std::string out = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":" + json_string(text) + "}";
  for (const picture& i : pictures)
    out += ",{\"type\":\"image\",\"media_type\":" + json_string(i.media_type) + ",\"path\":" + json_string(i.path) + "}";
  return out + "]}";
}

std::vector<std::string> pictures_in(std::string_view body) {
  std::vector<std::string> out;
  const json::value parts = parts_of(body);
  if (!parts.is_array()) return out;
  for (const json::value& part : parts.as_array())
    if (is_picture(part)) out.push_back(text_of(part.as_object(), "path"));
  return out;
}

std::string resolve_pictures(std::string_view body, const std::map<std::string, std::string>& bytes) {
  const json::value parts = parts_of(body);
  if (!parts.is_array()) return std::string(body);
  json::array content;
  bool images = false;
  for (const json::value& part : parts.as_array()) {
    if (!is_picture(part)) {
      content.push_back(part);
      continue;
    }
    const auto found = bytes.find(text_of(part.as_object(), "path"));
    if (found == bytes.end()) continue;
    images = true;
    content.push_back({{"type", "image"},
                       {"media_type", text_of(part.as_object(), "media_type")},
                       {"data", found->second}});
  }
  if (!images) return user_body(content_of(body));
  return json::serialize(json::object{{"role", "user"}, {"content", std::move(content)}});
}

ry::task<std::optional<std::vector<chat_message>>> show_pictures(parts& p, std::shared_ptr<live_run> run,
                                                                 std::string model,
                                                                 const std::vector<chat_message>& messages) {
  const bool sees = p.config.sees(model);
  bool any = false;
  for (const chat_message& m : messages)
    any = any || (m.role == "user" ? !pictures_in(m.body).empty()
                                   : !sees && m.role == "tool" && holds_images(m.body));
  if (!any) co_return std::nullopt;
  std::vector<chat_message> out = messages;
  std::map<std::string, std::string> bytes;
  std::uint64_t total = 0;
  if (!sees) {
    leave_out_images_of_tools(out);
  } else {
    for (std::size_t i = out.size(); i-- > 0;) {
      if (out[i].role != "user") continue;
      const std::vector<std::string> paths = pictures_in(out[i].body);
      for (std::size_t k = 0; k < paths.size() && bytes.size() < most_pictures; ++k) {
        if (bytes.contains(paths[k])) continue;
        ry::result<std::string> got = co_await read_picture(p, run, paths[k]);
        if (!got || total + got->size() > most_pictures_bytes) continue;  // removed by the agent, or too much
        total += got->size();
        bytes.emplace(paths[k], std::move(*got));
      }
    }
  }
  const auto put_in = [&out, &bytes] {
    for (auto& [path, b] : bytes) b = base64(b);
    for (chat_message& m : out)
      if (m.role == "user") m.body = resolve_pictures(m.body, bytes);
  };
  if (total > most_in_a_turn) {
    co_await p.ctx.run_blocking(put_in);
  } else {
    put_in();
  }
  co_return std::optional<std::vector<chat_message>>(std::move(out));
}

}  // namespace runs
