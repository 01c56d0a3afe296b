#include "image.hpp"

namespace extract {
namespace {

using namespace std::string_view_literals;

// Reads big-endian and little-endian numbers; returns 0, which is not a valid size, past the end.
class reader {
 public:
  explicit reader(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t byte(std::size_t at) const { return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0; }
  std::uint32_t big16(std::size_t at) const { return byte(at) << 8 | byte(at + 1); }
  std::uint32_t big32(std::size_t at) const { return big16(at) << 16 | big16(at + 2); }
  std::uint32_t little16(std::size_t at) const { return byte(at) | byte(at + 1) << 8; }
  std::uint32_t little24(std::size_t at) const { return little16(at) | byte(at + 2) << 16; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

std::optional<image> checked(std::string_view format, std::uint32_t width, std::uint32_t height) {
  constexpr std::uint32_t max_side = 1u << 20;
  if (width == 0 || height == 0 || width > max_side || height > max_side) return std::nullopt;
  return image{format, width, height};
}

std::optional<image> jpeg(const reader& r) {
  for (std::size_t at = 2; at + 9 < r.size();) {
    if (r.byte(at) != 0xFF) return std::nullopt;
    const std::uint32_t marker = r.byte(at + 1);
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {  // without a length
      at += 2;
      continue;
    }
    if (marker == 0xD9 || marker == 0xDA) return std::nullopt;  // no frame header before the image data
    const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) return checked("jpeg", r.big16(at + 7), r.big16(at + 5));
    const std::uint32_t length = r.big16(at + 2);
    if (length < 2) return std::nullopt;
    at += 2 + length;
  }
  return std::nullopt;
}

std::optional<image> webp(std::string_view bytes, const reader& r) {
  const std::string_view chunk = bytes.substr(12, 4);
  if (chunk == "VP8X") return checked("webp", r.little24(24) + 1, r.little24(27) + 1);
  if (chunk == "VP8L" && r.byte(20) == 0x2F) {
    const std::uint32_t bits = r.little16(21) | r.little16(23) << 16;
    return checked("webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1);
  }
  if (chunk == "VP8 " && r.byte(23) == 0x9D && r.byte(24) == 0x01 && r.byte(25) == 0x2A)
    return checked("webp", r.little16(26) & 0x3FFF, r.little16(28) & 0x3FFF);
  return std::nullopt;
}

}  // namespace

std::optional<image> read_image(std::string_view bytes) {
  const reader r(bytes);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv) && bytes.size() >= 24 && bytes.substr(12, 4) == "IHDR")
    return checked("png", r.big32(16), r.big32(20));
  if ((bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) && bytes.size() >= 10)
    return checked("gif", r.little16(6), r.little16(8));
  if (bytes.starts_with("\xFF\xD8\xFF"sv)) return jpeg(r);
  if (bytes.size() >= 30 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") return webp(bytes, r);
  return std::nullopt;
}

}  // namespace extract
