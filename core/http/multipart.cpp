#include "core/http/multipart.hpp"

#include <cstring>
#include <ry/cpp/memory.hpp>
#include <ry/cpp/text.hpp>

#include "core/http/message.hpp"
#include "core/http/uri.hpp"

namespace ry::http::serving {

namespace {

std::string_view trim(std::string_view s) noexcept {
  return trimmed(s, " \t");
}

// Removes the next `; name=value` from a header value and unquotes it. Browsers send %22 for a quote and a bare
// backslash in file names, so a backslash escapes only a quote or itself.
bool next_param(std::string_view& s, std::string_view& name, std::string& value) {
  s = trim(s);
  while (!s.empty() && s.front() == ';') s = trim(s.substr(1));
  if (s.empty()) return false;
  const auto eq = s.find_first_of("=;");
  name = trim(s.substr(0, eq));
  value.clear();
  if (eq == std::string_view::npos || s[eq] == ';') {
    s = eq == std::string_view::npos ? std::string_view() : s.substr(eq);
    return true;
  }
  s = trim(s.substr(eq + 1));
  if (s.empty() || s.front() != '"') {
    const auto end = s.find(';');
    value = trim(s.substr(0, end));
    s = end == std::string_view::npos ? std::string_view() : s.substr(end);
    return true;
  }
  std::size_t i = 1;
  for (; i < s.size() && s[i] != '"'; ++i) {
    if (s[i] == '\\' && i + 1 < s.size() && (s[i + 1] == '"' || s[i + 1] == '\\')) ++i;
    value.push_back(s[i]);
  }
  s = i < s.size() ? s.substr(i + 1) : std::string_view();
  return true;
}

std::size_t find(std::string_view in, std::string_view what, std::size_t from) noexcept {
  const void* p = ::memmem(in.data() + from, in.size() - from, what.data(), what.size());
  return p ? static_cast<std::size_t>(static_cast<const char*>(p) - in.data()) : std::string_view::npos;
}

}  // namespace

std::string multipart_boundary(std::string_view content_type) {
  const auto semi = content_type.find(';');
  if (!iequals(trim(content_type.substr(0, semi)), "multipart/form-data") || semi == std::string_view::npos) return {};
  auto rest = content_type.substr(semi);
  std::string_view name;
  std::string value;
  while (next_param(rest, name, value)) {
    if (!iequals(name, "boundary")) continue;
    if (value.size() > 200) return {};
    for (const char c : value)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return {};
    return value;
  }
  return {};
}

multipart_parser::multipart_parser(std::string_view boundary, sink& to)
    : delimiter_("\r\n--" + std::string(boundary)), sink_(to), buffer_("\r\n") {}

multipart_parser::state multipart_parser::fail(const char* why) {
  error_ = why;
  return ended_ = state::malformed;
}

multipart_parser::state multipart_parser::feed(std::string_view data) {
  if (ended_ != state::more) return ended_;
  if (phase_ == phase::epilogue) return state::more;
  if (at_ != 0) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  buffer_.append(data);
  for (;;) {
    const auto before_at = at_;
    const auto before_phase = phase_;
    const auto s = step();
    if (s != state::more) return ended_ = s;
    if (at_ == before_at && phase_ == before_phase) return state::more;
  }
}

// Advances the parser by one step, or not at all if it needs more bytes.
multipart_parser::state multipart_parser::step() {
  const std::string_view all(buffer_);
  switch (phase_) {
    case phase::preamble: {
      const auto hit = find(all, delimiter_, at_);
      if (hit != std::string_view::npos) {
        at_ = hit + delimiter_.size();
        phase_ = phase::delimiter;
      } else if (all.size() - at_ >= delimiter_.size()) {
        at_ = all.size() - delimiter_.size() + 1;
      }
      return state::more;
    }
    case phase::delimiter: {
      const auto left = all.substr(at_);
      if (left.size() >= 2 && left[0] == '-' && left[1] == '-') {
        phase_ = phase::epilogue;
        give_back(buffer_);
        at_ = 0;
        return state::more;
      }
      const auto eol = left.find('\n');
      if (eol == std::string_view::npos) {
        if (left.size() > 256) return fail("a boundary line is too long");
        return state::more;
      }
      const auto line = left.substr(0, eol);
      if (line.empty() || line.back() != '\r' || !trim(line.substr(0, line.size() - 1)).empty())
        return fail("a boundary is followed by other text");
      at_ += eol + 1;
      phase_ = phase::head;
      return state::more;
    }
    case phase::head: {
      const auto left = all.substr(at_);
      // A part without headers begins with the empty line.
      const std::size_t end = left.substr(0, 2) == "\r\n" ? 0 : left.find("\r\n\r\n");
      if (end == std::string_view::npos) {
        if (left.size() > max_part_header) return fail("a part's header is too large");
        return state::more;
      }
      if (end > max_part_header) return fail("a part's header is too large");
      if (!parse_head(left.substr(0, end))) return ended_;
      at_ += end == 0 ? 2 : end + 4;
      if (!sink_.part_begin(head_)) return state::stopped;
      phase_ = phase::data;
      return state::more;
    }
    case phase::data: {
      const auto hit = find(all, delimiter_, at_);
      if (hit != std::string_view::npos) {
        if (hit > at_ && !sink_.part_data(all.substr(at_, hit - at_))) return state::stopped;
        if (!sink_.part_end()) return state::stopped;
        at_ = hit + delimiter_.size();
        phase_ = phase::delimiter;
        return state::more;
      }
      // The tail may contain the start of a delimiter.
      auto keep = all.size();
      const auto tail = all.size() - at_ >= delimiter_.size() ? all.size() - delimiter_.size() + 1 : at_;
      for (auto cr = all.find('\r', tail); cr != std::string_view::npos; cr = all.find('\r', cr + 1)) {
        if (delimiter_.compare(0, all.size() - cr, all.substr(cr)) == 0) {
          keep = cr;
          break;
        }
      }
      if (keep > at_ && !sink_.part_data(all.substr(at_, keep - at_))) return state::stopped;
      at_ = keep;
      return state::more;
    }
    case phase::epilogue:
      return state::more;
  }
  return state::more;
}

bool multipart_parser::parse_head(std::string_view text) {
  head_ = {};
  bool named = false, extended = false;
  while (!text.empty()) {
    auto eol = text.find("\r\n");
    const auto line = text.substr(0, eol);
    text = eol == std::string_view::npos ? std::string_view() : text.substr(eol + 2);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      fail("a line of a part's header has no colon");
      return false;
    }
    for (const char c : line)
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) {
        fail("a part's header contains control characters");
        return false;
      }
    const auto name = line.substr(0, colon), value = trim(line.substr(colon + 1));
    if (iequals(name, "content-type")) {
      head_.content_type = value;
    } else if (iequals(name, "content-disposition")) {
      const auto semi = value.find(';');
      if (!iequals(trim(value.substr(0, semi)), "form-data")) {
        fail("a part is not form-data");
        return false;
      }
      auto rest = semi == std::string_view::npos ? std::string_view() : value.substr(semi);
      std::string_view key;
      std::string val;
      while (next_param(rest, key, val)) {
        if (iequals(key, "name")) {
          head_.name = val;
          named = true;
        } else if (iequals(key, "filename*") && val.size() >= 7 &&
                   iequals(std::string_view(val).substr(0, 6), "utf-8'")) {
          const auto quote = val.find('\'', 6);
          std::string decoded;
          if (quote == std::string::npos || !percent_decode(std::string_view(val).substr(quote + 1), decoded)) {
            fail("a file name is badly encoded");
            return false;
          }
          head_.filename = decoded;
          head_.is_file = extended = true;
        } else if (iequals(key, "filename")) {
          if (!extended) head_.filename = val;
          head_.is_file = true;
        }
      }
    }
  }
  if (!named) {
    fail("a part has no name");
    return false;
  }
  return true;
}

multipart_parser::state multipart_parser::finish() {
  if (ended_ != state::more) return ended_;
  if (phase_ == phase::epilogue) return ended_ = state::done;
  return fail(phase_ == phase::preamble ? "the boundary never occurs" : "the last boundary is missing");
}

}  // namespace ry::http::serving
