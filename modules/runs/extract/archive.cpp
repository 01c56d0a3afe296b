#include "archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <vector>

namespace extract {
namespace {

constexpr std::size_t max_member_bytes = 64u << 20;
constexpr std::size_t max_total_bytes = 256u << 20;
constexpr int max_members = 20000;

}  // namespace

members read_zip(const std::string& path, const std::function<bool(std::string_view)>& wanted) {
  members out;
  const std::unique_ptr<archive, int (*)(archive*)> in(archive_read_new(), &archive_read_free);
  if (!in || archive_read_support_format_zip_seekable(in.get()) != ARCHIVE_OK ||
      archive_read_open_filename(in.get(), path.c_str(), 64 * 1024) != ARCHIVE_OK) {
    out.problem = "it is not a readable archive";
    return out;
  }
  std::size_t total = 0;
  std::vector<char> buffer(256 * 1024);
  for (int count = 0;; ++count) {
    if (count == max_members) {
      out.problem = "it has too many parts";
      return out;
    }
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(in.get(), &entry);
    if (status == ARCHIVE_EOF) return out;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      if (out.problem.empty()) out.problem = "it is damaged";
      return out;
    }
    const char* raw = archive_entry_pathname_utf8(entry);
    if (raw == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
    const std::string name = raw;
    if (!wanted(name) || out.content.contains(name)) continue;
    if (archive_entry_is_encrypted(entry) != 0) {
      out.problem = "it is encrypted";
      return out;
    }
    std::string& content = out.content[name];
    for (;;) {
      const la_ssize_t n = archive_read_data(in.get(), buffer.data(), buffer.size());
      if (n == 0) break;
      if (n < 0) {
        // One part has a wrong size or checksum: the other parts, and the data already read from this one, may be
        // intact.
        out.problem = n == ARCHIVE_WARN ? "a part of it is damaged" : "it is damaged";
        break;
      }
      total += static_cast<std::size_t>(n);
      if (content.size() + static_cast<std::size_t>(n) > max_member_bytes || total > max_total_bytes) {
        out.content.erase(name);
        out.problem = "it grows too large when it is unpacked";
        return out;
      }
      content.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
}

}  // namespace extract
