#include "result.hpp"

#include <sodium.h>

#include <algorithm>
#include <ry/cpp/types.hpp>

#include "text.hpp"

namespace mcp {
namespace {

bool is_text_type(std::string_view media_type) {
  std::string type(media_type.substr(0, media_type.find_first_of("; \t")));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return type.starts_with("text/") || type == "application/json" || type == "application/xml" ||
         type.ends_with("+json") || type.ends_with("+xml");
}

// The text that a blob holds; empty: it holds none.
std::string text_in(const std::string& base64) {
  std::string out(base64.size() / 4 * 3 + 3, '\0');
  for (const int variant : {sodium_base64_VARIANT_ORIGINAL, sodium_base64_VARIANT_ORIGINAL_NO_PADDING}) {
    std::size_t size = 0;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(out.data()), out.size(), base64.data(), base64.size(),
                          "\r\n", &size, nullptr, variant) != 0)
      continue;
    out.resize(size);
    return clean(out, std::string::npos) == out ? out : std::string();
  }
  return {};
}

// As servers send it for clients that know no structured content: the same once more, as a text of JSON.
// left: bytes that may still be read for that.
bool says_the_same(const json::value& block, const json::value& structured, std::size_t& left) {
  const auto* o = block.if_object();
  if (o == nullptr || text_of(*o, "type") != "text") return false;
  const auto text = text_of(*o, "text");
  const auto begin = text.find_first_not_of(" \t\r\n");
  // Most texts are no JSON, which shows at once.
  if (begin == std::string::npos || text.size() > left) return false;
  if (structured.is_object() ? text[begin] != '{' : structured.is_array() && text[begin] != '[') return false;
  left -= text.size();
  try {
    return parse(text) == structured;
  } catch (const ry::error&) {
    return false;
  }
}

class writer {
 public:
  explicit writer(std::size_t most) : most_(most) {}

  void block(const json::value& v) {
    const auto* o = v.if_object();
    if (o == nullptr) return line("[content of a kind that is not known: " + json::serialize(v) + "]");
    const auto type = text_of(*o, "type");
    if (type == "text") return line(text_of(*o, "text"));
    if (type == "image") return picture(text_of(*o, "mimeType"), text_of(*o, "data"));
    if (type == "audio") {
      return line("[audio, " + text_of(*o, "mimeType") + ", " + size_of(text_of(*o, "data")) + "]");
    }
    if (type == "resource_link") return link(*o);
    const auto* resource = object_of(*o, "resource");
    if (type == "resource" && resource != nullptr) return embedded(*resource);
    line("[content of the kind \"" + type + "\": " + json::serialize(v) + "]");
  }
  void line(std::string_view text) {
    total_ += text.size();
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    out_ += cut(text, out_.size() < most_ ? most_ - out_.size() : 0);
  }
  bool empty() const { return out_.empty(); }
  std::string take() {
    if (total_ > out_.size()) {
      out_ += "\n[cut: the result has " + std::to_string(total_) + " bytes, of which " +
              std::to_string(out_.size()) + " are shown]";
    }
    return std::move(out_);
  }
  json::array take_images() { return std::move(images_); }

 private:
  static std::string size_of(const std::string& base64) {
    return std::to_string(base64.size() / 4 * 3) + " bytes";
  }
  void picture(std::string media_type, std::string data) {
    line("[image, " + media_type + ", " + size_of(data) + "]");
    image_bytes_ += data.size() + media_type.size();
    if (image_bytes_ > most_) return line("[the image is too large to be handed over]");
    images_.push_back(json::object{{"media_type", jv(media_type)}, {"data", jv(data)}});
  }
  void link(const json::object& o) {
    std::string text = "[resource " + text_of(o, "uri");
    for (const char* key : {"name", "mimeType", "description"}) {
      if (const auto s = text_of(o, key); !s.empty()) text += ", " + s;
    }
    line(text + "]");
  }
  void embedded(const json::object& o) {
    const auto uri = text_of(o, "uri");
    const auto media_type = text_of(o, "mimeType");
    const auto blob = text_of(o, "blob");
    if (!blob.empty() && media_type.starts_with("image/")) {
      line("[resource " + uri + "]");
      return picture(media_type, blob);
    }
    const auto text = blob.empty() ? text_of(o, "text") : is_text_type(media_type) ? text_in(blob) : std::string();
    if (!blob.empty() && text.empty())
      return line("[resource " + uri + ", " + media_type + ", " + size_of(blob) + "]");
    line("[resource " + uri + (media_type.empty() ? "" : ", " + media_type) + "]");
    line(text);
  }

  std::size_t most_, total_ = 0, image_bytes_ = 0;
  std::string out_;
  json::array images_;
};

}  // namespace

std::string result_json(const json::value& result, std::size_t max_bytes, std::string_view mismatch) {
  json::object out;
  const auto* o = result.if_object();
  writer w(max_bytes);
  bool failed = false;
  if (o != nullptr) {
    const auto* content = array_of(*o, "content");
    if (content != nullptr) {
      for (const auto& each : *content) w.block(each);
    }
    if (const auto* e = o->if_contains("isError"); e != nullptr && e->is_bool()) failed = e->get_bool();
    if (const auto* structured = o->if_contains("structuredContent");
        structured != nullptr && !structured->is_null()) {
      auto text = json::serialize(*structured);
      auto left = max_bytes;
      const bool said = content != nullptr &&
                        std::any_of(content->begin(), content->end(),
                                    [&](const auto& each) { return says_the_same(each, *structured, left); });
      if (w.empty() || (mismatch.empty() && !said)) w.line(text);
      if (text.size() <= max_bytes && mismatch.empty()) out["structured"] = *structured;
    }
    if (!mismatch.empty()) {
      w.line("[the structured result does not match the tool's output schema: " + std::string(mismatch) + "]");
    }
  }
  out["images"] = w.take_images();
  out["content"] = jv(w.take());
  out["is_error"] = failed;
  auto whole = json::serialize(result);
  if (whole.size() <= max_bytes) out["mcp"] = result;
  return json::serialize(out);
}

std::string error_json(std::string_view sentence) {
  return json::serialize(json::object{{"content", jv(sentence)}, {"is_error", true}});
}

}  // namespace mcp
