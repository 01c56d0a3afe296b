#include "agent/result_excerpt.hpp"

#include <algorithm>

namespace runs {

std::string result_excerpt(const std::vector<chat_message>& messages) {
  constexpr std::size_t max_bytes = 1000;
  std::string out;
  for (auto m = messages.rbegin(); m != messages.rend(); ++m) {
    if (m->run != belongs::to_this_run) break;
    if (m->role != "assistant") {
      if (!out.empty()) break;
      continue;
    }
    if (auto text = content_of(m->body); !text.empty()) out = std::move(text);
  }
  // The text goes into JSON in the database, which cannot store NUL, and into e-mails.
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }, ' ');
  if (out.size() <= max_bytes) return out;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  out.resize(end);
  return out;
}

}  // namespace runs
