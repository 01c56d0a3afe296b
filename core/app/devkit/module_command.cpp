#include "core/app/devkit/module_command.hpp"

#include <ry/ext/command.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <ry/cpp/utf8.hpp>
#include <utility>

#include "core/app/boot/host.hpp"
#include "core/app/boot/settings.hpp"
#include "core/app/client/run_view.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace {

constexpr auto command_stop = std::chrono::seconds(2);

// The outgoing services that a command needs in addition to a host that only creates modules. Ends before the
// module_host.
struct outgoing {
  outgoing(module_host& w, config::config& c) : host(w), egress(w.loops, w.ops, egress_settings(c)) {
    w.rt.blocking = &blocking;
    w.rt.http_client = &egress;
  }
  ~outgoing() {
    host.modules.stop(std::chrono::system_clock::now() + command_stop);
    egress.stop();
    host.loops.stop_and_join();
  }
  outgoing(const outgoing&) = delete;
  outgoing& operator=(const outgoing&) = delete;

  module_host& host;
  exec::blocking_pool blocking;
  http::client egress;
};

struct ended {
  std::promise<core::error> result;
  std::string* report = nullptr;  // nullptr: standard output
  std::shared_ptr<ended> self;  // kept until done() has returned, because done() wakes the waiting caller

  static void print(void* ctx, ry_str text) noexcept {
    const auto shown = client::printable(core::sv(text));
    if (auto* report = static_cast<ended*>(ctx)->report) {
      report->append(shown);
      return;
    }
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    std::fflush(stdout);
  }
  static void done(void* ctx, ry_status st, const ry_error_view* err) noexcept {
    const auto keep = std::move(static_cast<ended*>(ctx)->self);
    keep->result.set_value(core::error::from(st, err));
  }
};

exit_code run(module_host& w, std::string_view command, const std::string& arguments, std::string* report) {
  const auto found = w.modules.find_driver(RY_COMMAND_1, command);
  if (!found) {
    std::fprintf(stderr, "runyard: no enabled module has this command; enable the module %s\n",
                 command == RY_COMMAND_MAIL_CHECK ? "mail" : "runs");
    return exit_code::refused;
  }
  const auto end = std::make_shared<ended>();
  end->self = end;
  end->report = report;
  auto result = end->result.get_future();
  auto& loop = w.loops.at(0);
  loop.post([&] {
    const ry_command_call call{sizeof(ry_command_call), 0, end.get(), &ended::print, &ended::done};
    const auto* table = static_cast<const ry_command_v1*>(found->table);
    const auto st =
        module::invoke(found->owner, "command", table->run, found->self, core::view(arguments), &loop, &call);
    if (st != RY_OK) ended::done(end.get(), st, nullptr);
  });
  const core::error error = result.get();
  if (error.status == RY_OK) return exit_code::ok;
  std::fprintf(stderr, "runyard: %s\n",
               error.message.empty() ? "the command failed" : client::printable(error.message).c_str());
  const bool wrong = error.status == RY_INVALID_ARGUMENT || error.status == RY_NOT_FOUND;
  return wrong ? exit_code::refused : exit_code::failed;
}

exit_code carry_out(config::config& c, std::string_view command, const boost::json::object& arguments,
                    std::string* report = nullptr) {
  observe::configure_log({observe::level::error, false});
  module_host w(c, loops_of_a_command);
  exit_code code = exit_code::refused;
  {
    // Created before the modules: drivers register certificates with the client when they are opened.
    const outgoing services(w, c);
    if (w.prepare()) code = run(w, command, to_valid_utf8(boost::json::serialize(arguments)), report);
  }
  return leave(w, code);
}

}  // namespace

exit_code check_model(const config_options& options, const model_check_options& check) {
  constexpr long long longest_s = 3600;
  if (check.timeout_seconds < 1 || check.timeout_seconds > longest_s) {
    std::fprintf(stderr, "runyard: --timeout must be from 1 to 3600 seconds\n");
    return exit_code::refused;
  }
  constexpr long long longest_total_s = 86'400;
  const long long total_s = check.total_timeout_seconds.value_or(1);
  if (total_s < 1 || total_s > longest_total_s) {
    std::fprintf(stderr, "runyard: --total-timeout must be from 1 to 86400 seconds\n");
    return exit_code::refused;
  }
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  boost::json::object arguments{
      {"model", check.model}, {"json", check.as == format::json}, {"timeout_seconds", check.timeout_seconds}};
  if (check.total_timeout_seconds) arguments["total_timeout_seconds"] = total_s;
  return carry_out(c, RY_COMMAND_MODEL_CHECK, arguments);
}

exit_code check_mail(const config_options& options, const mail_check_options& check, std::string* report) {
  auto c = load_config(options);
  if (!report_faults(c)) return exit_code::refused;
  boost::json::object arguments{{"json", check.as == format::json}};
  if (!check.dns_server.empty()) arguments["dns_server"] = check.dns_server;
  return carry_out(c, RY_COMMAND_MAIL_CHECK, arguments, report);
}

}  // namespace ry::app
