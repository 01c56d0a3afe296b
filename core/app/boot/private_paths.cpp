#include "core/app/boot/private_paths.hpp"

#include <filesystem>

#include "without_protection.hpp"

namespace ry::app {

std::string private_paths(const config::config& c) {
  if (ry_test::without_protection("hidden_paths")) return {};
  namespace fs = std::filesystem;
  std::string out;
  const auto add = [&](const fs::path& path) {
    if (path.empty()) return;
    std::error_code bad;
    const auto whole = fs::absolute(path, bad);
    // The result has one path per line, so a path with a line break cannot be listed.
    if (bad || whole.native().find('\n') != std::string::npos) return;
    out += whole.lexically_normal().native() + "\n";
  };
  add(c.text("data_dir"));
  if (!c.file().empty()) {
    std::error_code bad;
    const auto file = fs::absolute(c.file(), bad);
    const auto directory = file.parent_path();
    if (directory.native().starts_with("/etc/")) add(directory);
    add(file);
    add(directory / "modules.d");
  }
  add(c.text("secrets.key_file"));
  add(c.text("http.tls.key"));
  return out;
}

}  // namespace ry::app
