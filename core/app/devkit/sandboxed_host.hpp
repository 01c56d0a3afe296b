// A sandboxed host for testing modules: loops, outgoing HTTP, child processes, secrets and routes, but no database,
// jobs or events (calls to these answer RY_UNAVAILABLE). It accepts no connections before listen().
//
// One at a time in a process. Threads: the main thread. The data directory must outlive it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/app/boot/host.hpp"
#include "core/app/config/config.hpp"

namespace ry::app {

struct tried_module {
  std::string name;
  std::filesystem::path file;
  std::vector<std::string> settings;  // "key=value" of the module's own table
};

class sandboxed_host {
 public:
  sandboxed_host(const std::vector<tried_module>& modules, const std::filesystem::path& data_dir,
                 const std::vector<std::string>& settings = {});
  ~sandboxed_host();
  sandboxed_host(const sandboxed_host&) = delete;
  sandboxed_host& operator=(const sandboxed_host&) = delete;

  // Loads, creates and validates the modules. Returns why that failed, or an empty string.
  std::string prepare();
  // Starts the modules. Returns why that failed, or an empty string.
  std::string start();
  // Serves the modules' routes on 127.0.0.1; returns the port.
  std::uint16_t listen();
  // Stops and destroys the modules within a few seconds.
  void stop();

  const module::module_set& modules() const noexcept { return host_.modules; }
  module::runtime& runtime() noexcept { return host_.rt; }
  // The settings of one of the modules with defaults; "{}" if they are invalid.
  std::string settings_of(const std::string& name, std::string_view schema);
  const auth::authenticator& authenticator() const noexcept { return services_.auth; }

 private:
  config::config config_;
  data_dir_lock data_dir_;
  module_host host_;
  host_services services_;
  bool listening_ = false;
};

}  // namespace ry::app
