#include "core/app/boot/deployment_check.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "without_protection.hpp"

namespace ry::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_read = 4 * 1024 * 1024;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string out(max_read, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

std::vector<fs::path> configuration_files(const fs::path& file) {
  std::vector<fs::path> out;
  if (file.empty()) return out;
  out.push_back(file);
  std::error_code ec;
  const auto drop_ins = file.parent_path() / "modules.d";
  for (const auto& e : fs::directory_iterator(drop_ins, ec))
    if (e.path().extension() == ".toml") out.push_back(e.path());
  std::sort(out.begin() + 1, out.end());
  return out;
}

class finder {
 public:
  explicit finder(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {}

  // Any user who can write the configuration or a module controls the server.
  void writable(const fs::path& p, const char* what) {
    struct stat st {};
    if (::stat(p.c_str(), &st) != 0) return;
    const bool sticky_dir = S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0;
    if ((st.st_mode & S_IWOTH) != 0 && !sticky_dir)
      found.push_back(std::string(what) + " " + p.string() +
                      " can be changed by every user of this machine: chmod o-w");
    else if ((st.st_mode & S_IWGRP) != 0 && st.st_gid != 0 && st.st_gid != ::getegid())
      found.push_back(std::string(what) + " " + p.string() + " can be changed by members of its group: chmod g-w");
    if (st.st_uid != 0 && st.st_uid != ::geteuid() && ::geteuid() != 0)
      found.push_back(std::string(what) + " " + p.string() +
                      " is owned by another user, who can change it: chown root");
  }
  void readable_secret(const fs::path& p, const char* what, const char* contents = "") {
    struct stat st {};
    if (::stat(p.c_str(), &st) == 0 && (st.st_mode & S_IROTH) != 0)
      found.push_back(std::string(what) + " " + p.string() + contents +
                      " can be read by every user of this machine: chmod o-r");
  }
  void configuration(const fs::path& p) {
    writable(p, "the configuration file");
    const auto text = contents(p);
    const bool holds_secret = std::any_of(secrets_.begin(), secrets_.end(), [&](const std::string& s) {
      return s.size() >= 4 && text.find(s) != text.npos;
    });
    if (holds_secret) readable_secret(p, "the configuration file", ", which contains secrets,");
  }

  std::vector<std::string> found;

 private:
  const std::vector<std::string> secrets_;
};

// All capabilities except those that a server may need: CAP_NET_BIND_SERVICE (a port below 1024) and CAP_SYS_RESOURCE
// (limits above the hard limits), and those that harm only the server itself.
constexpr std::pair<int, const char*> strong_capabilities[] = {
    {0, "CAP_CHOWN"},       {1, "CAP_DAC_OVERRIDE"}, {2, "CAP_DAC_READ_SEARCH"}, {3, "CAP_FOWNER"},
    {5, "CAP_KILL"},        {6, "CAP_SETGID"},       {7, "CAP_SETUID"},          {8, "CAP_SETPCAP"},
    {12, "CAP_NET_ADMIN"},  {13, "CAP_NET_RAW"},     {16, "CAP_SYS_MODULE"},     {17, "CAP_SYS_RAWIO"},
    {18, "CAP_SYS_CHROOT"}, {19, "CAP_SYS_PTRACE"},  {21, "CAP_SYS_ADMIN"},      {27, "CAP_MKNOD"},
    {31, "CAP_SETFCAP"},    {33, "CAP_MAC_ADMIN"},   {38, "CAP_PERFMON"},        {39, "CAP_BPF"},
};

constexpr std::string_view strong_groups[] = {"root", "docker", "lxd",  "incus", "libvirt",
                                              "disk", "shadow", "sudo", "wheel"};

std::vector<std::string> present_capabilities() {
  std::vector<std::string> out;
  std::ifstream status("/proc/self/status");
  constexpr std::string_view field = "CapPrm:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field)) continue;
    const auto set = std::strtoull(line.c_str() + field.size(), nullptr, 16);
    for (const auto& [bit, name] : strong_capabilities)
      if ((set >> bit & 1) != 0) out.emplace_back(name);
  }
  return out;
}

std::vector<std::string> present_groups() {
  std::vector<std::string> out;
  std::vector<gid_t> ids(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  ids.resize(static_cast<std::size_t>(std::max(::getgroups(static_cast<int>(ids.size()), ids.data()), 0)));
  ids.push_back(::getegid());
  for (const std::string_view name : strong_groups) {
    const group* g = ::getgrnam(std::string(name).c_str());
    if (g && std::find(ids.begin(), ids.end(), g->gr_gid) != ids.end()) out.emplace_back(name);
  }
  return out;
}

}  // namespace

process_circumstances present_circumstances() {
  process_circumstances out;
  out.is_root = ::geteuid() == 0;
  std::error_code ec;
  out.in_container = fs::exists("/.dockerenv", ec) || fs::exists("/run/.containerenv", ec) ||
                     std::getenv("KUBERNETES_SERVICE_HOST") != nullptr || std::getenv("container") != nullptr;
  out.capabilities = present_capabilities();
  out.groups = present_groups();
  return out;
}

std::vector<std::string> deployment_warnings(const config::config& c, const fs::path& file, process_circumstances now) {
  if (ry_test::without_protection("deployment_warnings")) return {};
  finder f(c.secret_texts());
  const bool local = c.text("deployment.mode") == "local";

  const auto accepts_any_audience = [&c](const std::string& at) {
    const auto all = c.list(at + ".audience");
    return std::all_of(all.begin(), all.end(), [](const auto& a) { return a.empty(); });
  };
  const auto any_audience = [&f](const std::string& at) {
    f.found.push_back(at +
                      ".audience is not set: the server accepts tokens that the identity provider issued for other "
                      "applications");
  };
  if (!c.text("auth.jwt.jwks_url").empty() || !c.text("auth.jwt.jwks_file").empty()) {
    if (c.text("auth.jwt.issuer").empty())
      f.found.push_back(
          "auth.jwt.issuer is not set: the server accepts tokens of every issuer that signs with a key of the key set, and "
          "trusts their roles");
    if (accepts_any_audience("auth.jwt")) any_audience("auth.jwt");
  }
  for (const auto& name : c.names("auth.issuers")) {
    const auto at = "auth.issuers." + name;
    if (accepts_any_audience(at)) any_audience(at);
    if (c.has(at + ".subject_prefix") && c.text(at + ".subject_prefix").empty())
      f.found.push_back(
          at +
          ".subject_prefix is empty: this provider's tokens can name any account, including accounts of users of "
          "other providers");
  }

  for (const auto& p : configuration_files(file)) f.configuration(p);
  if (!file.empty()) {
    const auto dir = file.has_parent_path() ? file.parent_path() : fs::path(".");
    f.writable(dir, "the configuration directory");
    f.writable(dir / "modules.d", "the configuration directory");
    f.configuration(dir / "environment");  // of the packaged unit (EnvironmentFile), if there is one
  }
  for (const auto& dir : c.module_paths()) f.writable(dir, "the module directory");
  const fs::path data = c.text("data_dir");
  auto key_files = c.secret_files();
  for (const char* name : {"auth.key", "secrets.key"}) key_files.push_back(data / name);
  for (const auto& p : key_files) {
    f.readable_secret(p, "the key file");
    f.writable(p, "the key file");
  }

  if (local) return f.found;
  if (now.is_root && !now.in_container)
    f.found.push_back(
        "this process runs as root: run the server as an unprivileged user, as the packaged systemd unit does");
  if (!now.is_root) {
    for (const auto& name : now.capabilities)
      f.found.push_back(
          "this process has the capability " + name +
          ", which it does not need: start it without this capability, as the packaged systemd unit does");
    for (const auto& name : now.groups)
      f.found.push_back("this process belongs to the group " + name +
                        ", whose members can become root: leave the group");
  }
  if (c.text("deployment.mode") == "production")
    for (const auto& setting : c.disabled()) f.found.push_back(setting + " disables this protection");
  return f.found;
}

}  // namespace ry::app
