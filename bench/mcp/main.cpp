// Measures modules/mcp and the MCP transports of this build: N operations after WARM unmeasured ones, AT_ONCE of them
// concurrently (default 1). Prints one line of JSON.
//   bench_mcp MODE PORT list|call N WARM [AT_ONCE]
//   bench_mcp stdio list|call N WARM COMMAND...
// MODE: http; modern (a label for http with a server of protocol revision 2026-07-28); or sse. MODE-kept reuses
// connections. stdio-boxed runs COMMAND in the sandbox, which can read the parent directory of the build.
// BENCH_PAUSE_MS in the environment: pause after each operation.
#include <stdlib.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "core/app/boot/paths.hpp"
#include "core/app/devkit/sandboxed_host.hpp"
#include "core/observe/log.hpp"

namespace fs = std::filesystem;
namespace json = boost::json;

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 5) {
    std::fprintf(stderr,
                 "usage: bench_mcp http[-kept]|modern[-kept]|sse[-kept] PORT list|call N WARM [AT_ONCE]\n"
                 "       bench_mcp stdio[-kept|-boxed] list|call N WARM COMMAND...\n");
    return 2;
  }
  auto mode = args[0];
  const bool kept = mode.ends_with("-kept"), boxed = mode == "stdio-boxed";
  mode = mode.substr(0, mode.find('-'));
  const bool local = mode == "stdio";
  const std::size_t at = local ? 1 : 2;
  json::object config;
  if (local) {
    config["command"] = args[4];
    config["args"] = json::array(args.begin() + 5, args.end());
  } else {
    config["url"] = "http://127.0.0.1:" + args[1] + (mode == "sse" ? "/sse" : "/mcp");
  }
  if (kept) config["reuse"] = true;
  const std::string type = local ? "json" : mode == "sse" ? "sse" : "http";
  std::vector<std::string> settings = {"name=runyard " + args[0] + " " + args[at],
                                       "type=" + type,
                                       "config=" + json::serialize(json::string(json::serialize(config))),
                                       "op=" + args[at],
                                       "n=" + args[at + 1],
                                       "warm=" + args[at + 2]};
  if (boxed) settings.push_back("boxed=true");
  if (const char* pause = ::getenv("BENCH_PAUSE_MS")) settings.push_back(std::string("pause_ms=") + pause);
  if (!local && args.size() > 5) settings.push_back("at_once=" + args[5]);

  const auto build = ry::app::executable_dir().parent_path();
  std::string dir = (fs::temp_directory_path() / "bench-mcp-XXXXXX").string();
  if (::mkdtemp(dir.data()) == nullptr) return 1;
  ry::observe::configure_log({ry::observe::level::error, false});
  std::vector<ry::app::tried_module> modules{{"bench_mcp", build / "bench" / "bench_mcp.so", settings}};
  for (const char* name : {"mcp_http", "mcp_sse"})
    modules.push_back({name, build / "modules" / (std::string(name) + ".so"), {}});
  // All programs share one directory, as with the other MCP clients of the benchmark.
  modules.push_back({"mcp_json", build / "modules" / "mcp_json.so", {"directory=" + dir}});
  if (boxed) {
    modules.back().settings = {"readable=[\"" + build.parent_path().string() + "\"]",
                               "allowed_commands=" + json::serialize(json::array{config["command"]})};
    modules.push_back({"sandbox_bubblewrap",
                       build / "modules" / "sandbox_bubblewrap.so",
                       {"exec_path=" + (build / "bin" / "runyard-sandbox-exec").string()}});
  }
  int code = 0;
  {
    ry::app::sandboxed_host host(modules, dir);
    auto error = host.prepare();
    if (error.empty()) error = host.start();
    for (bool finished = false; error.empty() && !finished;) {
      for (const auto& h : host.modules().health())
        finished = finished || (h.module == "bench_mcp" && h.status == RY_OK);
      std::this_thread::sleep_for(
          std::chrono::milliseconds(500));  // a short interval would add to the measured CPU time
    }
    if (!error.empty()) std::fprintf(stderr, "%s\n", error.c_str());
    code = error.empty() ? 0 : 1;
  }
  std::error_code ignored;
  fs::remove_all(dir, ignored);
  return code;
}
