// The host's log: one line per event, text or JSON, on standard error; secrets masked.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace ry::observe {

enum class level { trace, debug, info, warn, error, off };

struct field {
  std::string_view key;
  std::string value;
};

// Settings of the process-wide sink. Until configure_log() is called, lines of `info` and above go to stderr as
// text.
struct log_settings {
  level min = level::info;
  bool json = false;
  std::string file;  // appended to; empty: standard error
};
// May be called again, also with the same file name: the file is reopened, because it may have been rotated. Returns
// false if it cannot be opened; lines then go to the previous destination. [any]
bool configure_log(const log_settings& settings);
bool log_enabled(level l) noexcept;

// Writes one line. `component` is a core component or a module's name. While a trace is current on the thread
// (trace.hpp), the line ends with its trace_id. [any]
void log(level l, std::string_view component, std::string_view message,
         std::initializer_list<field> fields = {}) noexcept;
// Like log(), but the fields are one JSON object as text (from modules). Empty: no fields.
void log_json(level l, std::string_view component, std::string_view message, std::string_view fields_json) noexcept;

// Masks this text in every line from now on. Text shorter than 6 bytes is ignored. [any]
void redact(std::string_view secret);
// Like redact(), but each call is undone by one call of unmask(). The text stays masked for a while after the last
// one. [any]
void mask(std::string_view secret);
void unmask(std::string_view secret);
// `text` as a log line would show it, with every secret masked. [any]
std::string masked(std::string_view text);

}  // namespace ry::observe
