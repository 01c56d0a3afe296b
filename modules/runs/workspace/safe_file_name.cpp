#include "workspace/safe_file_name.hpp"

#include <ry/cpp/utf8.hpp>

#include "text.hpp"

namespace runs {

namespace {

// `text` must be valid UTF-8.
std::string without_invisible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view before = text;
    if (!is_invisible(ry::next_code_point(text))) out += before.substr(0, before.size() - text.size());
  }
  return out;
}

}  // namespace

std::string safe_file_name(std::string_view received) {
  // Some browsers send the full path, in the notation of their operating system.
  if (const std::size_t separator = received.find_last_of("/\\"); separator != std::string_view::npos)
    received.remove_prefix(separator + 1);
  std::string name;
  const std::string clean = ry::is_utf8(received) ? without_invisible(received) : std::string();
  for (char c : ry::is_utf8(received) ? std::string_view(clean) : received) {
    const auto u = static_cast<unsigned char>(c);
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                      c == '-' || c == '_' || c == ' ' || c == '(' || c == ')' || c == '+' || c == ',' || c == '@' ||
                      c == '=' || (u >= 0x80 && !clean.empty());
    name += keep ? c : '_';
  }
  name = trim(name);
  while (!name.empty() && (name.front() == '.' || name.front() == '-')) name.erase(0, 1);
  while (!name.empty() && (name.back() == '.' || name.back() == ' ')) name.pop_back();
  constexpr std::size_t max_bytes = 120;
  if (name.size() > max_bytes) {
    const std::size_t dot = name.rfind('.');
    std::string extension = dot != std::string::npos && name.size() - dot <= 16 ? name.substr(dot) : "";
    name.resize(ry::whole_characters(std::string_view(name).substr(0, max_bytes - extension.size())));
    name += extension;
  }
  return name.empty() ? "file" : name;
}

std::string numbered_name(const std::string& name, unsigned n) {
  if (n <= 1) return name;
  const std::size_t dot = name.rfind('.');
  const std::size_t at = dot == std::string::npos || dot == 0 ? name.size() : dot;
  return name.substr(0, at) + "_" + std::to_string(n) + name.substr(at);
}

std::string unique_name(const std::string& name, std::set<std::string>& taken) {
  unsigned n = 1;
  while (!taken.insert(numbered_name(name, n)).second) ++n;
  return numbered_name(name, n);
}

}  // namespace runs
