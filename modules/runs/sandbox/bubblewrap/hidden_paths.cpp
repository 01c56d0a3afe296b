#include "hidden_paths.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "without_protection.hpp"

namespace bubblewrap {
namespace {

namespace fs = std::filesystem;

// Credentials of ssh, GnuPG, clouds, containers, package registries, version control, password managers and browsers.
constexpr const char* credentials[] = {".ssh",
                                       ".gnupg",
                                       ".aws",
                                       ".azure",
                                       ".kube",
                                       ".docker",
                                       ".netrc",
                                       ".pgpass",
                                       ".git-credentials",
                                       ".npmrc",
                                       ".pypirc",
                                       ".my.cnf",
                                       ".vault-token",
                                       ".password-store",
                                       ".mozilla",
                                       ".cargo/credentials.toml",
                                       ".terraform.d",
                                       ".config/gcloud",
                                       ".config/gh",
                                       ".config/git/credentials",
                                       ".config/containers",
                                       ".config/op",
                                       ".config/rclone",
                                       ".config/sops",
                                       ".config/chromium",
                                       ".config/google-chrome",
                                       ".config/Bitwarden",
                                       ".local/share/keyrings",
                                       ".bash_history",
                                       ".zsh_history",
                                       ".psql_history"};

std::optional<fs::path> resolved(const fs::path& path) {
  std::error_code bad;
  auto out = fs::canonical(path, bad);
  if (bad) return std::nullopt;
  return out;
}

// `path` relative to `base`; nullopt: `path` is not below `base`.
std::optional<fs::path> path_below(const fs::path& base, const fs::path& path) {
  auto at = path.begin();
  for (const auto& part : base) {
    if (part.empty()) continue;  // a trailing slash
    if (at == path.end() || *at != part) return std::nullopt;
    ++at;
  }
  fs::path out;
  for (; at != path.end(); ++at) out /= *at;
  return out;
}

}  // namespace

std::vector<std::string> home_directories() {
  std::vector<std::string> out{"/root"};
  passwd entry{};
  passwd* found = nullptr;
  char text[4096];
  if (::getpwuid_r(::geteuid(), &entry, text, sizeof text, &found) == 0 && found != nullptr && *found->pw_dir == '/')
    out.emplace_back(found->pw_dir);
  std::error_code bad;
  for (const auto& each : fs::directory_iterator("/home", fs::directory_options::skip_permission_denied, bad))
    out.push_back(each.path().string());
  return out;
}

std::vector<std::string> credentials_in(const std::vector<std::string>& homes) {
  std::vector<std::string> out;
  for (const auto& home : homes) {
    for (const char* name : credentials) {
      auto path = fs::path(home) / name;
      std::error_code bad;
      if (fs::exists(path, bad)) out.push_back(path.string());
    }
  }
  return out;
}

std::vector<hidden_path> hidden_paths_in(const std::vector<host_path>& host_paths,
                                         const std::vector<std::string>& hidden) {
  std::vector<hidden_path> out;
  if (ry_test::without_protection("hidden_paths")) return out;
  for (const auto& path_to_hide : hidden) {
    const auto target = resolved(path_to_hide);
    if (!target) continue;
    std::error_code bad;
    const bool directory = fs::is_directory(*target, bad);
    for (const auto& host_path : host_paths) {
      const auto visible = resolved(fs::path(host_path.path));
      if (!visible) continue;
      const auto rest = path_below(*visible, *target);
      if (rest && !rest->empty())
        out.push_back({(fs::path(host_path.path) / *rest).lexically_normal().string(), directory});
    }
  }
  // A path below a hidden directory is hidden with it, and bwrap could no longer mount over it.
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  std::vector<hidden_path> outermost;
  for (auto& each : out) {
    const bool covered = std::any_of(outermost.begin(), outermost.end(),
                                     [&](const auto& over) { return path_below(over.path, each.path).has_value(); });
    if (!covered) outermost.push_back(std::move(each));
  }
  return outermost;
}

bool is_inside(std::string_view host_path, const std::vector<std::string>& hidden) {
  const auto visible = resolved(fs::path(host_path));
  if (!visible) return false;
  for (const auto& path_to_hide : hidden)
    if (const auto target = resolved(path_to_hide); target && path_below(*target, *visible)) return true;
  return false;
}

}  // namespace bubblewrap
