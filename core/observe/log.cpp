#include "core/observe/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <vector>

#include "core/observe/log_line.hpp"
#include "core/observe/redactor.hpp"
#include "core/observe/trace.hpp"

namespace ry::observe {

namespace {

struct log_sink {
  log_sink() : logger("runyard", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger.set_level(spdlog::level::trace);
    logger.flush_on(spdlog::level::trace);
    // The default handler prints the text of the failed line, unmasked.
    logger.set_error_handler([](const std::string&) {});
    set_format();
  }
  void set_format() {
    const char* pattern = json ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                               : "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v";
    logger.set_formatter(
        std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  }

  spdlog::logger logger;
  redactor secrets;
  std::atomic<level> min{level::info};
  std::atomic<bool> json{false};
};

// Never destroyed: threads may log until the very end of the process.
log_sink& sink() {
  static log_sink* const the = new log_sink;
  return *the;
}

spdlog::level::level_enum spd(level l) noexcept {
  switch (l) {
    case level::trace:
      return spdlog::level::trace;
    case level::debug:
      return spdlog::level::debug;
    case level::info:
      return spdlog::level::info;
    case level::warn:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

void write(level l, std::string_view component, std::string_view message,
           std::vector<line_field> fields) {
  if (const auto& trace = trace_of_thread()) fields.push_back({"trace_id", hex(trace->trace_id), false});
  log_sink& s = sink();
  const std::string line = s.json.load(std::memory_order_relaxed)
                               ? json_line(s.secrets, component, message, fields)
                               : text_line(s.secrets, component, message, fields);
  s.logger.log(spd(l), spdlog::string_view_t(line.data(), line.size()));
}

void lost() noexcept {
  static constexpr char text[] = "a log line was lost\n";
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text, sizeof text - 1);
}

}  // namespace

void configure_log(const log_settings& settings) {
  log_sink& s = sink();
  s.min = settings.min;
  s.json = settings.json;
  s.set_format();
}

bool log_enabled(level l) noexcept {
  try {
    return l != level::off && l >= sink().min.load(std::memory_order_relaxed);
  } catch (...) {
    return false;
  }
}

void log(level l, std::string_view component, std::string_view message,
         std::initializer_list<field> fields) noexcept {
  if (!log_enabled(l)) return;
  try {
    std::vector<line_field> all;
    all.reserve(fields.size());
    for (const auto& f : fields) all.push_back({std::string(f.key), f.value, false});
    write(l, component, message, std::move(all));
  } catch (...) {
    lost();
  }
}

void log_json(level l, std::string_view component, std::string_view message,
              std::string_view fields_json) noexcept {
  if (!log_enabled(l)) return;
  try {
    write(l, component, message, fields_of_json(fields_json));
  } catch (...) {
    lost();
  }
}

void redact(std::string_view secret) {
  sink().secrets.add(secret);
}

void mask(std::string_view secret) {
  sink().secrets.hold(secret);
}

void unmask(std::string_view secret) {
  sink().secrets.drop(secret);
}

std::string masked(std::string_view text) {
  return sink().secrets.apply(text);
}

}  // namespace ry::observe
