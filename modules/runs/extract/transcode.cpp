#include "transcode.hpp"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace extract {
namespace {

class converter {
 public:
  explicit converter(const std::string& encoding) : handle_(::iconv_open("UTF-8", encoding.c_str())) {}
  converter(const converter&) = delete;
  converter& operator=(const converter&) = delete;
  ~converter() {
    if (known()) ::iconv_close(handle_);
  }
  // Appends the converted text to `out` and leaves the bytes that could not be converted in `bytes`. Returns 0, EILSEQ
  // (also for an unknown encoding), or EINVAL: the last character is incomplete.
  int convert(std::string_view& bytes, std::string& out) {
    if (!known()) return EILSEQ;
    char* in = const_cast<char*>(bytes.data());  // iconv does not write to it
    std::size_t remaining = bytes.size();
    for (bool flushed = false; !flushed;) {
      char* to = piece_.data();
      std::size_t room = piece_.size();
      flushed = remaining == 0;
      const std::size_t done =
          flushed ? ::iconv(handle_, nullptr, nullptr, &to, &room) : ::iconv(handle_, &in, &remaining, &to, &room);
      const int error = errno;
      out.append(piece_.data(), piece_.size() - room);
      bytes.remove_prefix(bytes.size() - remaining);
      if (done == static_cast<std::size_t>(-1) && error != E2BIG) return error;
    }
    return 0;
  }

 private:
  bool known() const { return handle_ != reinterpret_cast<iconv_t>(-1); }
  iconv_t handle_;
  std::array<char, 16384> piece_;
};

}  // namespace

std::optional<std::string> to_utf8(std::string_view bytes, const std::string& encoding, bool cut) {
  converter from(encoding);
  std::string out;
  std::string_view remaining = bytes;
  const int error = from.convert(remaining, out);
  if (error != 0 && !(error == EINVAL && cut)) {
    // Microsoft's Big5 encodes some characters twice that the Hong Kong standard encodes once.
    return encoding == "BIG5-HKSCS" ? to_utf8(bytes, "CP950", cut) : std::nullopt;
  }
  const bool is_text = all_characters(out, [](char32_t c) { return !is_text_control(c); });
  return is_text ? std::optional(std::move(out)) : std::nullopt;
}

std::string repaired_utf8(std::string_view bytes, const std::string& encoding) {
  const std::size_t unit = encoding.starts_with("UTF-32") ? 4 : 2;
  converter from(encoding);
  std::string out;
  while (from.convert(bytes, out) != 0) {
    out += "\xEF\xBF\xBD";
    bytes.remove_prefix(std::min(unit, bytes.size()));
    if (bytes.empty()) break;
  }
  return out;
}

}  // namespace extract
