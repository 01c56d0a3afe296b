#include "stream/event_text.hpp"

#include <charconv>

#include "text.hpp"

namespace runs {

namespace {
constexpr std::string_view id_key = "id: ";
}

event_text::event_text(std::string& out, std::uint64_t sequence, std::string_view type) : out_(out) {
  const std::string number = std::to_string(sequence);
  out_.append("id: ").append(number).append("\ndata: {\"type\": \"").append(type);
  out_.append("\", \"sequence\": ").append(number);
}

event_text::~event_text() {
  out_.append("}\n\n");
}

void event_text::key(std::string_view name) {
  out_.append(", \"").append(name).append("\": ");
}

event_text& event_text::text(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(out_, value);
  return *this;
}

event_text& event_text::integer(std::string_view name, std::int64_t value) {
  key(name);
  out_.append(std::to_string(value));
  return *this;
}

event_text& event_text::boolean(std::string_view name, bool value) {
  key(name);
  out_.append(value ? "true" : "false");
  return *this;
}

event_text& event_text::json(std::string_view name, std::string_view value) {
  key(name);
  out_.append(value);
  return *this;
}

std::uint64_t sequence_of(std::string_view wire) {
  std::uint64_t out = 0;
  if (wire.starts_with(id_key)) std::from_chars(wire.data() + id_key.size(), wire.data() + wire.size(), out);
  return out;
}

event_view next_event(std::string_view& wire) {
  event_view out;
  const std::size_t end = wire.find("\n\n");
  if (!wire.starts_with(id_key) || end == std::string_view::npos) return out;
  const std::size_t line = wire.find('\n');
  const std::string_view number = wire.substr(id_key.size(), line - id_key.size());
  constexpr std::string_view data = "data: ";
  if (wire.substr(line + 1, data.size()) != data) return out;
  std::from_chars(number.data(), number.data() + number.size(), out.sequence);
  out.payload = wire.substr(line + 1 + data.size(), end - line - 1 - data.size());
  out.wire = wire.substr(0, end + 2);
  wire.remove_prefix(end + 2);
  return out;
}

std::string_view text_from(std::string_view wire, std::uint64_t sequence) {
  while (!wire.empty() && sequence_of(wire) < sequence) {
    const std::size_t end = wire.find("\n\n");
    wire.remove_prefix(end == std::string_view::npos ? wire.size() : end + 2);
  }
  return wire;
}

bool is_terminal(std::string_view payload) {
  if (!payload.starts_with("{\"type\": \"status\"")) return false;
  for (std::string_view status : {"completed", "failed", "stopped"})
    if (payload.find("\"status\": \"" + std::string(status) + "\"") != std::string_view::npos) return true;
  return false;
}

}  // namespace runs
