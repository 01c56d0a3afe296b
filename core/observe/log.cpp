#include "core/observe/log.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/observe/log_line.hpp"
#include "core/observe/redactor.hpp"
#include "core/observe/trace.hpp"

namespace ry::observe {

namespace {

// Writes lines to standard error or to a file. A line that does not reach its file goes to standard error.
class line_sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  ~line_sink() override {
    if (file_ >= 0) ::close(file_);
  }
  bool open(const std::string& path) {
    const int next = path.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (next < 0 && !path.empty()) return false;
    std::lock_guard lock(mutex_);
    if (const int before = std::exchange(file_, next); before >= 0) ::close(before);
    return true;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (file_ < 0 || !write_all(file_, line)) (void)write_all(STDERR_FILENO, line);
  }
  void flush_() override {}

 private:
  static bool write_all(int fd, const spdlog::memory_buf_t& line) {
    for (std::size_t at = 0; at < line.size();) {
      const ssize_t n = ::write(fd, line.data() + at, line.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
  int file_ = -1;
};

struct log_sink {
  log_sink() : lines(std::make_shared<line_sink>()), logger("runyard", lines) {
    logger.set_level(spdlog::level::trace);
    logger.flush_on(spdlog::level::trace);
    // The default handler prints the text of the failed line, unmasked.
    logger.set_error_handler([](const std::string&) {});
    set_format();
  }
  void set_format() {
    const char* pattern = json ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v";
    logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  }

  std::shared_ptr<line_sink> lines;
  spdlog::logger logger;
  redactor secrets;
  std::atomic<level> min{level::info};
  std::atomic<bool> json{false};
};

// Never destroyed: threads may log until the process exits.
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

void write(level l, std::string_view component, std::string_view message, std::vector<line_field> fields) {
  if (const auto& trace = trace_of_thread()) fields.push_back({"trace_id", hex(trace->trace_id), false});
  log_sink& s = sink();
  const std::string line = s.json.load(std::memory_order_relaxed) ? json_line(s.secrets, component, message, fields)
                                                                  : text_line(s.secrets, component, message, fields);
  s.logger.log(spd(l), spdlog::string_view_t(line.data(), line.size()));
}

void lost() noexcept {
  static constexpr char text[] = "a log line was lost\n";
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text, sizeof text - 1);
}

}  // namespace

bool configure_log(const log_settings& settings) {
  log_sink& s = sink();
  const bool opened = s.lines->open(settings.file);
  s.min = settings.min;
  s.json = settings.json;
  s.set_format();
  return opened;
}

bool log_enabled(level l) noexcept {
  try {
    return l != level::off && l >= sink().min.load(std::memory_order_relaxed);
  } catch (...) {
    return false;
  }
}

void log(level l, std::string_view component, std::string_view message, std::initializer_list<field> fields) noexcept {
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

void log_json(level l, std::string_view component, std::string_view message, std::string_view fields_json) noexcept {
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
