#include "site.hpp"

#include <sodium.h>
#include <zlib.h>

#include <ry/cpp/types.hpp>

namespace console {
namespace {

constexpr std::size_t digest_bytes_in_name = 12;

std::string digest_of(std::string_view bytes) {
  unsigned char raw[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(raw, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  char hex[2 * sizeof raw + 1];
  sodium_bin2hex(hex, sizeof hex, raw, sizeof raw);
  return std::string(hex, 2 * digest_bytes_in_name);
}

std::string gzip_compress(std::string_view bytes) {
  z_stream z{};
  // 15: the largest window; + 16: gzip format.
  if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&z, bytes.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const bool is_complete = deflate(&z, Z_FINISH) == Z_STREAM_END;
  out.resize(z.total_out);
  deflateEnd(&z);
  return is_complete && out.size() < bytes.size() ? out : std::string();
}

std::string content_type_of(std::string_view name) {
  const auto extension = name.substr(name.rfind('.') + 1);
  if (extension == "js") return "text/javascript; charset=utf-8";
  if (extension == "css") return "text/css; charset=utf-8";
  if (extension == "svg") return "image/svg+xml";
  if (extension == "html") return "text/html; charset=utf-8";
  return "text/plain; charset=utf-8";
}

file make_file(std::string_view name, std::string bytes) {
  file out;
  out.content_type = content_type_of(name);
  out.gzip = gzip_compress(bytes);
  out.etag = "\"" + digest_of(bytes) + "\"";
  out.plain = std::move(bytes);
  return out;
}

// "app.js" -> "app.0123456789ab.js"
std::string served_name(std::string_view name, std::string_view bytes) {
  const auto dot = name.rfind('.');
  return std::string(name.substr(0, dot)) + "." + digest_of(bytes).substr(0, digest_bytes_in_name) +
         std::string(name.substr(dot));
}

}  // namespace

site::site(const std::vector<source>& sources) {
  std::map<std::string, std::string, std::less<>> served_names;
  for (const auto& s : sources) {
    if (s.name.ends_with(".html")) continue;
    if (s.name == "worker.js") {
      pages_.emplace(s.name, make_file(s.name, s.bytes));
      continue;
    }
    auto name = served_name(s.name, s.bytes);
    files_.emplace(name, make_file(s.name, s.bytes));
    served_names.emplace(s.name, std::move(name));
  }
  for (const auto& s : sources) {
    if (!s.name.ends_with(".html")) continue;
    std::string page = s.bytes;
    for (std::size_t at = page.find("{{"); at != page.npos; at = page.find("{{", at)) {
      const auto end = page.find("}}", at);
      const auto name = page.substr(at + 2, end == page.npos ? 0 : end - at - 2);
      const auto it = served_names.find(name);
      if (it == served_names.end()) throw ry::internal("console.page", s.name + " refers to a missing file: " + name);
      page.replace(at, end + 2 - at, it->second);
    }
    pages_.emplace(s.name, make_file(s.name, std::move(page)));
  }
  (void)page("index.html");
}

const file& site::page(std::string_view name) const {
  const auto it = pages_.find(name);
  if (it == pages_.end()) throw ry::internal("console.page", "there is no page " + std::string(name));
  return it->second;
}

const file* site::find(std::string_view name) const {
  const auto it = files_.find(name);
  return it == files_.end() ? nullptr : &it->second;
}

bool accepts_gzip(std::string_view accept) {
  while (!accept.empty()) {
    const auto end = std::min(accept.find(','), accept.size());
    auto entry = accept.substr(0, end);
    accept.remove_prefix(std::min(end + 1, accept.size()));
    const auto start = entry.find_first_not_of(" \t");
    if (start == entry.npos) continue;
    entry.remove_prefix(start);
    const auto encoding = entry.substr(0, entry.find_first_of("; \t"));
    if (!ry::iequals(encoding, "gzip") && encoding != "*") continue;
    const auto q = entry.find("q=");
    // "q=0" and "q=0.0" mean that the encoding is not acceptable.
    return q == entry.npos || entry.find_first_of("123456789", q) != entry.npos;
  }
  return false;
}

bool contains_etag(std::string_view list, std::string_view etag) {
  const auto tag = etag.substr(1, etag.size() - 2);
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    auto entry = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (!entry.empty() && (entry.front() == ' ' || entry.front() == '\t')) entry.remove_prefix(1);
    while (!entry.empty() && (entry.back() == ' ' || entry.back() == '\t')) entry.remove_suffix(1);
    if (entry == "*") return true;
    if (entry.substr(0, 2) == "W/") entry.remove_prefix(2);
    if (entry.size() < 2 || entry.front() != '"' || entry.back() != '"') continue;
    entry = entry.substr(1, entry.size() - 2);
    if (entry.size() > 3 && entry.substr(entry.size() - 3) == "-gz") entry.remove_suffix(3);
    if (entry == tag) return true;
  }
  return false;
}

}  // namespace console
