#include "core/observe/trace.hpp"

#include <algorithm>
#include <chrono>
#include <ry/cpp/text.hpp>

namespace {

std::int64_t steady_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Work that directly follows a response belongs to its trace: the release of a run, e-mails, clean-up.
constexpr std::int64_t afterglow_ms = 10'000;

thread_local ry::observe::trace_ref t_current;

}  // namespace

void ry_trace::end() const noexcept {
  std::int64_t none = 0;
  ended_ms.compare_exchange_strong(none, steady_ns() / 1'000'000, std::memory_order_relaxed);
}

bool ry_trace::over() const noexcept {
  const auto ended = ended_ms.load(std::memory_order_relaxed);
  return ended != 0 && steady_ns() / 1'000'000 - ended > afterglow_ms;
}

namespace ry::observe {

namespace {

int nibble(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;  // the specification allows lower-case letters only
}

template <std::size_t N>
bool read_hex(std::string_view text, std::array<std::uint8_t, N>& out) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    const int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

template <std::size_t N>
bool all_zero(const std::array<std::uint8_t, N>& bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](auto b) { return b == 0; });
}

bool lower_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool sound_key(std::string_view key) noexcept {
  const auto part = [](std::string_view s, std::size_t most, bool digit_first) {
    if (s.empty() || s.size() > most) return false;
    if (!lower_or_digit(s[0]) || (!digit_first && s[0] <= '9')) return false;
    return std::all_of(s.begin(), s.end(),
                       [](char c) { return lower_or_digit(c) || c == '_' || c == '-' || c == '*' || c == '/'; });
  };
  const auto at = key.find('@');
  if (at == std::string_view::npos) return part(key, 256, false);
  return part(key.substr(0, at), 241, true) && part(key.substr(at + 1), 14, false);
}

bool sound_value(std::string_view value) noexcept {
  return !value.empty() && value.size() <= 256 && value.back() != ' ' &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c <= 0x7e && c != ',' && c != '='; });
}

std::string_view trim(std::string_view s) noexcept {
  return trimmed(s, " \t");
}

}  // namespace

std::optional<trace_parent> parse_traceparent(std::string_view text) noexcept {
  constexpr std::size_t size = 55;  // the length of version 00
  if (text.size() < size || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  std::array<std::uint8_t, 1> version{}, flags{};
  trace_parent p;
  if (!read_hex(text, version) || version[0] == 0xff || !read_hex(text.substr(3), p.trace_id) ||
      !read_hex(text.substr(36), p.span_id) || !read_hex(text.substr(53), flags))
    return std::nullopt;
  if (text.size() > size && (version[0] == 0 || text[size] != '-')) return std::nullopt;
  if (all_zero(p.trace_id) || all_zero(p.span_id)) return std::nullopt;
  p.flags = flags[0] & (trace_sampled | trace_random);
  return p;
}

bool sound_tracestate(std::string_view text) noexcept {
  if (text.empty() || text.size() > 512) return false;
  std::array<std::string_view, 32> keys;
  std::size_t n = 0;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const auto member = trim(rest.substr(0, comma));
    if (!member.empty()) {
      const auto equals = member.find('=');
      if (equals == std::string_view::npos || n == keys.size()) return false;
      const auto key = member.substr(0, equals);
      if (!sound_key(key) || !sound_value(member.substr(equals + 1))) return false;
      if (std::find(keys.begin(), keys.begin() + n, key) != keys.begin() + n) return false;
      keys[n++] = key;
    }
    if (comma == std::string_view::npos) return n > 0;
    rest.remove_prefix(comma + 1);
  }
}

std::string hex(const trace_id_bytes& id) {
  return to_hex(id);
}

std::string hex(const span_id_bytes& id) {
  return to_hex(id);
}

std::string traceparent_of(const trace_id_bytes& trace, const span_id_bytes& span, std::uint8_t flags) {
  std::string out = "00-";
  out += to_hex(trace);
  out.push_back('-');
  out += to_hex(span);
  out.push_back('-');
  append_hex(out, flags);
  return out;
}

std::string kept_text(const trace_ref& t) {
  if (!t) return {};
  std::string out = traceparent_of(*t);
  if (!t->state.empty()) out.append(" ").append(t->state);
  return out;
}

std::pair<std::optional<trace_parent>, std::string_view> parse_kept(std::string_view text) noexcept {
  const auto blank = text.find(' ');
  const auto parent = parse_traceparent(text.substr(0, blank));
  if (!parent || blank == std::string_view::npos) return {parent, {}};
  const auto state = text.substr(blank + 1);
  return {parent, sound_tracestate(state) ? state : std::string_view()};
}

trace_ref current_trace() noexcept {
  if (!t_current || t_current->over()) return {};
  return t_current;
}

const trace_ref& trace_of_thread() noexcept {
  return t_current;
}

void enter_trace(trace_ref t) noexcept {
  t_current = std::move(t);
}

}  // namespace ry::observe
