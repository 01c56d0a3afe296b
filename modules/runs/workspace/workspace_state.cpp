#include "workspace/workspace_state.hpp"

#include <algorithm>
#include <charconv>
#include <ry/cpp/utf8.hpp>

#include "ry/ext/sandbox_driver.h"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::string_view format_line = "runyard-workspace 1 ";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_escape(std::string& out, unsigned char c) {
  out += '%';
  out += "0123456789ABCDEF"[c >> 4];
  out += "0123456789ABCDEF"[c & 15];
}

// Reads the words of a line one after the other.
class words {
 public:
  explicit words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  template <class I>
  I number() {
    const std::string_view word = next();
    I value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) good_ = false;
    return value;
  }
  bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

bool workspace_entry::same_content(const workspace_entry& o) const {
  if (kind != o.kind) return false;
  if (kind == RY_SANDBOX_LINK) return target == o.target;
  if (kind == RY_SANDBOX_DIR) return mode == o.mode;
  return mode == o.mode && size == o.size && chunks == o.chunks;
}

bool workspace_entry::untouched_since(const workspace_entry& o) const {
  if (kind != o.kind) return false;
  if (kind == RY_SANDBOX_LINK) return target == o.target;
  if (kind == RY_SANDBOX_DIR) return mode == o.mode;
  return mode == o.mode && size == o.size && modified_ns == o.modified_ns && changed_ns == o.changed_ns &&
         inode == o.inode;
}

bool workspace_changes::contains(std::string_view path) const {
  return std::binary_search(changed.begin(), changed.end(), path) || std::binary_search(gone.begin(), gone.end(), path);
}

workspace_changes changes_between(const workspace_entries& known, const workspace_entries& now) {
  workspace_changes out;
  for (const auto& [path, entry] : now) {
    const auto before = known.find(path);
    if (before == known.end() || !entry.untouched_since(before->second)) out.changed.push_back(path);
  }
  for (const auto& [path, entry] : known)
    if (!now.contains(path)) out.gone.push_back(path);
  return out;
}

std::string encode_path(std::string_view raw) {
  std::string out;
  const bool text = ry::is_utf8(raw);
  for (char c : raw) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '%' || u <= 0x20 || u == 0x7F || (u >= 0x80 && !text))
      append_escape(out, u);
    else
      out += c;
  }
  return out;
}

std::string decode_path(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string state_text(const workspace_state& state) {
  std::string out(format_line);
  const auto add = [&out](auto number) { out += std::to_string(number) + ' '; };
  add(state.version);
  add(state.root_inode);
  add(state.root_made_ns);
  add(state.entries.size());
  out.back() = '\n';
  for (const auto& [path, e] : state.entries) {
    add(e.kind);
    add(e.mode);
    add(e.size);
    add(e.modified_ns);
    add(e.changed_ns);
    add(e.inode);
    out += e.chunks.empty() ? "-" : e.chunks;
    out += ' ' + encode_path(path) + ' ' + encode_path(e.target) + '\n';
  }
  return out;
}

std::optional<workspace_state> parse_state(std::string_view text) {
  if (!text.starts_with(format_line) || text.back() != '\n') return std::nullopt;
  text.remove_prefix(format_line.size());
  const auto line = [&text] {
    const std::size_t end = text.find('\n');
    const std::string_view out = text.substr(0, end);
    text.remove_prefix(end + 1);
    return out;
  };
  workspace_state out;
  words first(line());
  out.version = first.number<std::int64_t>();
  out.root_inode = first.number<std::uint64_t>();
  out.root_made_ns = first.number<std::int64_t>();
  const auto count = first.number<std::uint64_t>();
  if (!first.good()) return std::nullopt;
  while (!text.empty()) {
    words w(line());
    workspace_entry e;
    e.kind = w.number<std::uint32_t>();
    e.mode = w.number<std::uint32_t>();
    e.size = w.number<std::uint64_t>();
    e.modified_ns = w.number<std::int64_t>();
    e.changed_ns = w.number<std::int64_t>();
    e.inode = w.number<std::uint64_t>();
    e.chunks = w.next();
    if (e.chunks == "-") e.chunks.clear();
    std::string path = decode_path(w.next());
    e.target = decode_path(w.next());
    if (!w.good() || path.empty()) return std::nullopt;
    out.entries.emplace(std::move(path), std::move(e));
  }
  if (out.entries.size() != count) return std::nullopt;
  return out;
}

std::optional<std::int64_t> parse_state_version(std::string_view text) {
  if (!text.starts_with(format_line)) return std::nullopt;
  words first(text.substr(format_line.size(), text.find('\n') - format_line.size()));
  const auto version = first.number<std::int64_t>();
  return first.good() ? std::optional(version) : std::nullopt;
}

std::vector<std::string> split_chunks(std::string_view chunks) {
  std::vector<std::string> out;
  while (!chunks.empty()) {
    const std::size_t end = std::min(chunks.find(','), chunks.size());
    out.emplace_back(chunks.substr(0, end));
    chunks.remove_prefix(std::min(end + 1, chunks.size()));
  }
  return out;
}

}  // namespace runs
