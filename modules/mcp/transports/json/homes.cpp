#include "homes.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace mcp_json {
namespace {

constexpr std::string_view prefix = "home-";

// Another process may reuse this process id, e.g. as the first process of a container, but not with the same start
// time.
std::string process_id_and_start_time() {
  std::ifstream in("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::string start_time = "0";
  if (const auto name_end = text.rfind(')'); name_end != std::string::npos) {
    std::istringstream fields(text.substr(name_end + 1));
    // The third field of proc_pid_stat(5) follows the name; the start time is field 22.
    for (int field = 3; field <= 22 && fields >> start_time; ++field) continue;
  }
  return std::to_string(::getpid()) + "." + start_time;
}

}  // namespace

homes::homes(const ry::context& ctx, disk::tree_cleaner& cleaner)
    : root_(std::string(ctx.fact("data_dir")) + "/mcp"),
      own_prefix_(std::string(prefix) + process_id_and_start_time() + "-"),
      cleaner_(cleaner) {}

void homes::start() {
  std::error_code bad;
  for (std::filesystem::directory_iterator at(root_, bad), end; !bad && at != end; at.increment(bad)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(prefix) && !name.starts_with(own_prefix_)) (void)cleaner_.dispose(at->path().string(), "home");
  }
}

std::string homes::create(const ry::context& ctx) {
  ::mkdir(root_.c_str(), 0700);
  std::string path = root_ + "/" + own_prefix_ + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    ctx.warn("the directory for local MCP programs cannot be created", {{"directory", root_}});
    throw ry::unavailable("mcp.home", "the directory for the program's files could not be created");
  }
  return path;
}

void homes::remove(const std::string& path) noexcept {
  if (::rmdir(path.c_str()) == 0) return;
  (void)ry::guard([&] { (void)cleaner_.dispose(path, "home"); });
}

}  // namespace mcp_json
