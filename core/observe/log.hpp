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

// Settings of the process-wide sink. Until the first call lines of `info` and above go to standard error as text.
struct log_settings {
  level min = level::info;
  bool json = false;
  std::string file;  // appended to; empty: standard error
};
// Again at any time: the file is opened anew, also under the same name (it may have been rotated). False: it cannot be
// opened, and lines go where they went before. [any]
bool configure_log(const log_settings& settings);
bool log_enabled(level l) noexcept;

// One line. `component` is a room or a module's name. While a trace is current on the thread (trace.hpp) the
// line ends with its trace_id. [any]
void log(level l, std::string_view component, std::string_view message,
         std::initializer_list<field> fields = {}) noexcept;
// The same with fields that are one JSON object as text (from modules); empty = none.
void log_json(level l, std::string_view component, std::string_view message,
              std::string_view fields_json) noexcept;

// From now on this text is masked in every line. Shorter than 6 bytes: ignored. [any]
void redact(std::string_view secret);
// The same until as many calls of unmask(), and a while longer. [any]
void mask(std::string_view secret);
void unmask(std::string_view secret);
// `text` as a line would show it: every secret masked. [any]
std::string masked(std::string_view text);

}  // namespace ry::observe
