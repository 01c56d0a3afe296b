#include "core/app/config/tree.hpp"

#include <algorithm>
#include <ry/cpp/utf8.hpp>

namespace ry::app::config {

namespace {

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) { return is_bare(c); });
}

}  // namespace

bool is_bare(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string to_text(const key_path& path) {
  std::string out;
  for (const auto& part : path) {
    if (part.starts_with('[')) {
      out += part;
      continue;
    }
    if (!out.empty()) out += '.';
    if (is_bare_key(part)) {
      out += part;
    } else {
      out += '"' + part + '"';
    }
  }
  return out;
}

std::optional<key_path> parse_key(std::string_view text) {
  key_path path;
  std::size_t i = 0;
  while (true) {
    std::string part;
    if (i < text.size() && text[i] == '"') {
      const auto end = text.find('"', i + 1);
      if (end == std::string_view::npos) return std::nullopt;
      part = text.substr(i + 1, end - i - 1);
      i = end + 1;
      if (i < text.size() && text[i] != '.') return std::nullopt;
    } else {
      const auto end = std::min(text.find('.', i), text.size());
      part = text.substr(i, end - i);
      i = end;
    }
    if (part.empty()) return std::nullopt;
    path.push_back(std::move(part));
    if (i >= text.size()) return path;
    ++i;
  }
}

std::string printable_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto escape = [&](unsigned char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\x";
    out += digits[c >> 4];
    out += digits[c & 0xF];
  };
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t n = utf8_length(text);
    if (n == 0) {
      escape(first);
    } else if (first == '\n') {
      out += "\\n";
    } else if (first < 0x20 || first == 0x7F) {
      escape(first);
    } else if (first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {
      escape(static_cast<unsigned char>(text[1]));  // U+0080 to U+009F
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

std::string problem::format() const {
  std::string out = where;
  for (const auto* part : {&path, &message}) {
    if (part->empty()) continue;
    if (!out.empty()) out += ": ";
    out += *part;
  }
  return printable_line(out);
}

node* node::find(std::string_view key) noexcept {
  for (auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

const node* node::find(std::string_view key) const noexcept {
  return const_cast<node*>(this)->find(key);
}

bool is_only_environment(const node& n) {
  if (n.is != node::kind::table) return n.where.starts_with("environment ");
  return !n.members.empty() &&
         std::all_of(n.members.begin(), n.members.end(), [](const auto& m) { return is_only_environment(m.second); });
}

void merge(node& base, node over) {
  if (base.is != node::kind::table || over.is != node::kind::table) {
    base = std::move(over);
    return;
  }
  for (auto& [name, value] : over.members) {
    if (auto* there = base.find(name)) {
      merge(*there, std::move(value));
    } else {
      base.members.emplace_back(name, std::move(value));
    }
  }
}

void set(node& base, const key_path& path, node value) {
  node* at = &base;
  const auto where = value.where;
  for (const auto& part : path) {
    if (at->is != node::kind::table) {
      *at = node{};
      at->is = node::kind::table;
      at->where = where;
    }
    auto* next = at->find(part);
    if (!next) {
      node fresh;
      fresh.is = node::kind::table;
      fresh.where = where;
      next = &at->members.emplace_back(part, std::move(fresh)).second;
    }
    at = next;
  }
  merge(*at, std::move(value));
}

}  // namespace ry::app::config
