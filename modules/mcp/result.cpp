#include "result.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>
#include <utility>
#include <vector>

#include "text.hpp"

namespace mcp {
namespace {

bool is_text_type(std::string_view media_type) {
  std::string type = ry::lower_ascii(media_type.substr(0, media_type.find_first_of("; \t")));
  return type.starts_with("text/") || type == "application/json" || type == "application/xml" ||
         type.ends_with("+json") || type.ends_with("+xml");
}

// The text in a blob; empty if it contains none.
std::string text_in(std::string base64) {
  std::erase_if(base64, [](char c) { return c == '\r' || c == '\n'; });
  auto out = ry::base64_decode(base64, ry::base64_alphabet::standard, ry::base64_padding::optional);
  return out && valid_utf8(*out, std::string::npos) == *out ? *std::move(out) : std::string();
}

// The last path segment of a URI, as a file name for the resource.
std::string_view name_in(std::string_view uri) {
  uri = uri.substr(0, uri.find_first_of("?#"));
  while (uri.ends_with('/')) uri.remove_suffix(1);
  uri.remove_prefix(uri.find_last_of("/:") + 1);  // npos + 1 is the beginning
  return uri.empty() ? "resource" : uri;
}

bool blank(std::string_view s) {
  return s.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

constexpr std::array<bool, 256> base64_characters = [] {
  std::array<bool, 256> out{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n")) {
    out[static_cast<unsigned char>(c)] = true;
  }
  return out;
}();

// Length of the base64 prefix of the text.
std::size_t base64_prefix(std::string_view s) {
  const auto end = std::find_if(s.begin(), s.end(), [](unsigned char c) { return !base64_characters[c]; });
  return static_cast<std::size_t>(end - s.begin());
}

// Replaces binary data in a value by its size, because a model cannot read images and audio as text. A server controls
// the text and the blocks, and this code runs on an event loop, so its time must be linear in the size of the message.
class binary_filter {
 public:
  // Strings that are the data of a block in `content` count as binary data.
  explicit binary_filter(const json::array* content) {
    if (content == nullptr) return;
    for (const auto& each : *content) {
      const auto* o = each.if_object();
      const auto* resource = o != nullptr ? object_at(*o, "resource") : nullptr;
      for (const auto* holder : {o, resource}) {
        for (const char* key : {"data", "blob"}) {
          const auto* v = holder != nullptr ? holder->if_contains(key) : nullptr;
          if (v != nullptr && v->is_string() && !v->get_string().empty()) known_.emplace_back(sv(v->get_string()));
        }
      }
    }
    std::sort(known_.begin(), known_.end(), by_size);
    known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
    for (const auto known : known_) {
      if (known.size() >= min_binary_size) by_prefix_.emplace_back(rolling_hash(known).value(), known);
    }
    // Of entries with the same prefix, the longest comes first.
    std::sort(by_prefix_.begin(), by_prefix_.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second.size() > b.second.size();
    });
    if (!by_prefix_.empty()) prefilter_.resize(std::size_t{1} << prefilter_bits);
    for (const auto& b : by_prefix_) prefilter_[b.first >> (64 - prefilter_bits)] = true;
  }

  // Removes the data of blocks, and images and audio in data URLs, from a text.
  std::string without_bytes(std::string_view text) const { return without_data_urls(without_known(text)); }

  json::value without_bytes(const json::value& v, std::string_view key = {}) const {
    if (const auto* s = v.if_string()) return is_binary(sv(*s), key) ? json::value(jv(size_note(s->size()))) : v;
    if (const auto* a = v.if_array()) {
      json::array out;
      out.reserve(a->size());
      for (const auto& each : *a) out.push_back(without_bytes(each, key));
      return out;
    }
    const auto* o = v.if_object();
    if (o == nullptr) return v;
    json::object out;
    for (const auto& each : *o) out.emplace(each.key(), without_bytes(each.value(), sv(each.key())));
    return out;
  }

 private:
  static constexpr std::size_t min_binary_size = 128, max_prose_run = 4096;
  // Limit on comparisons with data of the same prefix and on compared bytes; beyond it, data counts as text.
  static constexpr std::size_t max_compared = 32u << 20;
  static constexpr int prefilter_bits = 20;

  // Hash of the first `min_binary_size` bytes of a text.
  class rolling_hash {
   public:
    explicit rolling_hash(std::string_view s) {
      for (std::size_t i = 0; i < min_binary_size; ++i) {
        value_ = value_ * base + static_cast<unsigned char>(s[i]);
        if (i != 0) highest_ *= base;
      }
    }
    std::uint64_t value() const { return value_; }
    void roll(unsigned char removed, unsigned char added) { value_ = (value_ - removed * highest_) * base + added; }

   private:
    static constexpr std::uint64_t base = 0x9E3779B97F4A7C15u;
    std::uint64_t value_ = 0, highest_ = 1;
  };

  static bool by_size(std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
  static std::string size_note(std::size_t base64_size) {
    return "[" + std::to_string(base64_size / 4 * 3) + " bytes]";
  }

  std::string without_known(std::string_view text) const {
    if (by_prefix_.empty() || text.size() < min_binary_size) return std::string(text);
    std::string out;
    std::size_t copied = 0;
    rolling_hash hash(text);
    for (std::size_t at = 0;;) {
      const auto size = known_at(text.substr(at), hash.value());
      if (size != 0) {
        out.append(text.substr(copied, at - copied)).append(size_note(size));
        copied = at += size;
        if (text.size() - at < min_binary_size) break;
        hash = rolling_hash(text.substr(at));
        continue;
      }
      if (at + min_binary_size == text.size()) break;
      hash.roll(static_cast<unsigned char>(text[at]), static_cast<unsigned char>(text[at + min_binary_size]));
      ++at;
    }
    return out.append(text.substr(copied));
  }
  // The size of the block data at the start of the text; 0: none.
  std::size_t known_at(std::string_view text, std::uint64_t hash) const {
    if (!prefilter_[hash >> (64 - prefilter_bits)]) return 0;
    auto at = std::lower_bound(by_prefix_.begin(), by_prefix_.end(), hash,
                               [](const auto& b, std::uint64_t h) { return b.first < h; });
    for (; at != by_prefix_.end() && at->first == hash && compared_ < max_compared; ++at) {
      const auto known = at->second;
      ++compared_;
      if (known.size() > text.size()) continue;
      const auto equal_bytes =
          static_cast<std::size_t>(std::mismatch(known.begin(), known.end(), text.begin()).first - known.begin());
      compared_ += equal_bytes;
      if (equal_bytes == known.size()) return equal_bytes;
    }
    return 0;
  }

  static std::string without_data_urls(std::string text) {
    constexpr std::string_view scheme = "data:", encoding_marker = ";base64,";
    constexpr std::size_t max_media_type = 100;
    const std::string_view all = text;
    std::string out;
    std::size_t copied = 0;
    for (std::size_t at = 0; (at = all.find(scheme, at)) != std::string_view::npos;) {
      at += scheme.size();
      const auto type = all.substr(at, max_media_type);
      const bool media = type.starts_with("image/") || type.starts_with("audio/") || type.starts_with("video/");
      const auto encoding = media ? type.find(encoding_marker) : std::string_view::npos;
      if (encoding == std::string_view::npos) continue;
      const auto begin = at + encoding + encoding_marker.size();
      const auto size = base64_prefix(all.substr(begin));
      if (size < min_binary_size) continue;
      out.append(all.substr(copied, begin - copied)).append(size_note(size));
      copied = begin + size;
      at = copied - (scheme.size() - 1);  // the next data URL's scheme may overlap the end of the data
    }
    return copied == 0 ? std::move(text) : out.append(all.substr(copied));
  }

  bool is_binary(std::string_view s, std::string_view key) const {
    if (std::binary_search(known_.begin(), known_.end(), s, by_size)) return true;
    if (s.size() < min_binary_size) return false;
    if (s.starts_with("data:")) return s.substr(0, 200).find(";base64,") != std::string_view::npos;
    // Binary if the string is in a member that MCP uses for bytes, or is a base64 run too long for prose or an
    // identifier.
    if (key != "data" && key != "blob" && s.size() < max_prose_run) return false;
    return base64_prefix(s) == s.size();
  }

  std::vector<std::string_view> known_;
  std::vector<std::pair<std::uint64_t, std::string_view>> by_prefix_;  // only data that is long enough to search for
  mutable std::size_t compared_ = 0;
  std::vector<bool> prefilter_;  // prefilter by the first bits of the hash: most positions need no search
};

// Whether the structured content only repeats the content.
bool repeats(const json::value& structured, const json::array* content) {
  const auto* o = structured.if_object();
  const auto* same = o != nullptr && o->size() == 1 ? array_at(*o, "content") : nullptr;
  return same != nullptr && content != nullptr && *same == *content;
}

class content_writer {
 public:
  content_writer(std::size_t max_bytes, std::size_t max_files, const binary_filter& filter)
      : filter_(filter), max_bytes_(max_bytes), passes_files_(max_files != 0), max_files_(max_files) {}

  void block(const json::value& v) {
    const auto* o = v.if_object();
    if (o == nullptr) return line("[content of a kind that is not known: " + json::serialize(v) + "]");
    const auto type = text_of(*o, "type");
    if (type == "text") return server_text(text_of(*o, "text"));
    if (type == "image") return picture(text_of(*o, "mimeType"), text_of(*o, "data"));
    if (type == "audio") {
      const auto media_type = text_of(*o, "mimeType");
      const auto data = text_of(*o, "data");
      line("[audio, " + media_type + ", " + size_of(data) + "]");
      return file("audio", media_type, data);
    }
    if (type == "resource_link") return link(*o);
    const auto* resource = object_at(*o, "resource");
    if (type == "resource" && resource != nullptr) return embedded(*resource);
    line("[content of the kind \"" + type + "\": " + json::serialize(filter_.without_bytes(v)) + "]");
  }
  void line(std::string_view text) {
    total_ += text.size();
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    out_ += truncated(text, out_.size() < max_bytes_ ? max_bytes_ - out_.size() : 0);
  }
  // Whether the server sent any text.
  bool has_text() const { return has_text_; }
  std::string take() {
    if (total_ > out_.size()) {
      out_ += "\n[cut: the result has " + std::to_string(total_) + " bytes, of which " + std::to_string(out_.size()) +
              " are shown]";
    }
    return std::move(out_);
  }
  json::array take_images() { return std::move(images_); }
  json::array take_files() { return std::move(files_); }

 private:
  void server_text(const std::string& text) {
    has_text_ |= !blank(text);
    line(filter_.without_bytes(text));
  }
  static std::string size_of(const std::string& base64) { return std::to_string(base64.size() / 4 * 3) + " bytes"; }
  // Passes on binary data that is neither text nor an image for the model.
  void file(std::string_view name, const std::string& media_type, const std::string& data) {
    constexpr std::size_t max_count = 100;
    if (data.empty() || !passes_files_) return;
    if (files_.size() == max_count || data.size() > max_files_) return line("[omitted: too large]");
    max_files_ -= data.size();
    files_.push_back(json::object{{"name", jv(name)}, {"media_type", jv(media_type)}, {"data", jv(data)}});
  }
  void picture(std::string media_type, std::string data) {
    line("[image, " + media_type + ", " + size_of(data) + "]");
    if (images_.size() == max_images) return line("[further images were omitted]");
    image_bytes_ += data.size() + media_type.size();
    if (image_bytes_ > max_bytes_ && passes_files_) return file("image", media_type, data);
    if (image_bytes_ > max_bytes_) return line("[the image was omitted: too large]");
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
    if (!blob.empty() && text.empty()) {
      line("[resource " + uri + ", " + media_type + ", " + size_of(blob) + "]");
      return file(name_in(uri), media_type, blob);
    }
    line("[resource " + uri + (media_type.empty() ? "" : ", " + media_type) + "]");
    server_text(text);
  }

  static constexpr std::size_t max_images = 100;
  const binary_filter& filter_;
  const std::size_t max_bytes_;
  const bool passes_files_;
  std::size_t max_files_, total_ = 0, image_bytes_ = 0;  // max_files_: remaining budget
  bool has_text_ = false;
  std::string out_;
  json::array images_, files_;
};

}  // namespace

std::string result_json(const json::value& result, std::size_t max_bytes, std::string_view mismatch,
                        std::size_t max_files_bytes) {
  json::object out;
  const auto* o = result.if_object();
  const auto* content = o != nullptr ? array_at(*o, "content") : nullptr;
  const binary_filter filter(content);
  content_writer writer(max_bytes, max_files_bytes, filter);
  bool failed = false;
  if (o != nullptr) {
    if (content != nullptr) {
      for (const auto& each : *content) writer.block(each);
    }
    if (const auto* e = o->if_contains("isError"); e != nullptr && e->is_bool()) failed = e->get_bool();
    if (const auto* structured = o->if_contains("structuredContent"); structured != nullptr && !structured->is_null()) {
      // Servers often send structured content as text as well, in another form; the model gets only one of the two.
      if (!writer.has_text() && !repeats(*structured, content)) {
        writer.line(json::serialize(filter.without_bytes(*structured)));
      }
      if (mismatch.empty() && json::serialize(*structured).size() <= max_bytes) out["structured"] = *structured;
    }
    if (!mismatch.empty()) {
      writer.line("[the structured result does not match the tool's output schema: " + std::string(mismatch) + "]");
    }
  }
  out["images"] = writer.take_images();
  if (auto files = writer.take_files(); !files.empty()) out["files"] = std::move(files);
  out["content"] = jv(writer.take());
  out["is_error"] = failed;
  const auto text = json::serialize(result);
  if (text.size() <= max_bytes) out["mcp"] = result;
  return json::serialize(out);
}

std::string with_note(std::string_view result_json, std::string_view note) {
  auto v = parse(result_json);
  auto* o = v.if_object();
  if (o == nullptr) return std::string(result_json);
  auto content = text_of(*o, "content");
  content += (content.empty() ? "" : "\n") + std::string(note);
  (*o)["content"] = jv(content);
  auto* original = o->if_contains("mcp");
  auto* blocks = original != nullptr && original->is_object() ? original->get_object().if_contains("content") : nullptr;
  if (blocks != nullptr && blocks->is_array())
    blocks->get_array().push_back(json::object{{"type", "text"}, {"text", jv(note)}});
  return json::serialize(v);
}

std::string error_json(std::string_view message) {
  return json::serialize(json::object{{"content", jv(message)}, {"is_error", true}});
}

}  // namespace mcp
