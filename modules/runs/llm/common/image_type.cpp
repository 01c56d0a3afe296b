#include "image_type.hpp"

#include <algorithm>
#include <array>
#include <ry/cpp/base64.hpp>

namespace llm {

namespace {

std::uint8_t byte_at(std::string_view b, std::size_t i) {
  return static_cast<std::uint8_t>(b[i]);
}
std::uint32_t big_endian(std::string_view b, std::size_t at, int n) {
  std::uint32_t out = 0;
  for (int i = 0; i < n; ++i) out = out << 8 | byte_at(b, at + static_cast<std::size_t>(i));
  return out;
}
std::uint32_t little_endian(std::string_view b, std::size_t at, int n) {
  std::uint32_t out = 0;
  for (int i = n; i-- > 0;) out = out << 8 | byte_at(b, at + static_cast<std::size_t>(i));
  return out;
}

// A PNG is a list of chunks of length, type, data and checksum; IHDR is the first and IEND the last.
void read_png(std::string_view b, image_header& h) {
  constexpr std::size_t frame = 12;
  for (std::size_t at = 8; at + frame <= b.size();) {
    const std::size_t length = big_endian(b, at, 4);
    if (length > b.size() - at - frame) return;
    const auto type = b.substr(at + 4, 4);
    if (at == 8) {
      if (type != "IHDR" || length != 13) return;
      h.width = big_endian(b, at + 8, 4);
      h.height = big_endian(b, at + 12, 4);
    } else if (type == "acTL") {
      h.frames = image_frames::several;
    } else if (type == "IEND") {
      h.complete = true;
      return;
    }
    at += frame + length;
  }
}

// Reads the segments up to the first scan, whose entropy-coded data ends with FF D9.
void read_jpeg(std::string_view b, image_header& h) {
  std::size_t at = 2;
  while (at + 4 <= b.size() && byte_at(b, at) == 0xff) {
    const auto marker = byte_at(b, at + 1);
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2;
      continue;
    }
    const std::size_t length = big_endian(b, at + 2, 2);
    if (length < 2 || length > b.size() - at - 2) return;
    const bool frame_header = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame_header && length >= 7) {
      h.height = big_endian(b, at + 5, 2);
      h.width = big_endian(b, at + 7, 2);
    }
    at += 2 + length;
    if (marker == 0xda) {
      h.complete = b.find("\xff\xd9", at) != std::string_view::npos;
      return;
    }
  }
}

std::size_t after_sub_blocks(std::string_view b, std::size_t at) {
  while (at < b.size() && byte_at(b, at) != 0) at += 1u + byte_at(b, at);
  return at + 1;
}

void read_gif(std::string_view b, image_header& h) {
  if (b.size() < 13) return;
  h.width = little_endian(b, 6, 2);
  h.height = little_endian(b, 8, 2);
  const auto table_bytes = [](std::uint8_t flags) {
    return flags & 0x80 ? std::size_t{3} << ((flags & 7) + 1) : std::size_t{0};
  };
  std::size_t at = 13 + table_bytes(byte_at(b, 10)), images = 0;
  while (at < b.size()) {
    const auto kind = byte_at(b, at);
    if (kind == 0x3b) {
      h.complete = images > 0;
      return;
    }
    if (kind == 0x21) {
      at = after_sub_blocks(b, at + 2);
    } else if (kind == 0x2c && at + 10 < b.size()) {
      at = after_sub_blocks(b, at + 10 + table_bytes(byte_at(b, at + 9)) + 1);
      if (++images > 1) h.frames = image_frames::several;
    } else {
      return;
    }
  }
}

void read_webp(std::string_view b, image_header& h) {
  if (b.size() < 30) return;
  const auto kind = b.substr(12, 4);
  if (kind == "VP8 ") {
    if (b.substr(23, 3) != "\x9d\x01\x2a") return;
    h.width = little_endian(b, 26, 2) & 0x3fff;
    h.height = little_endian(b, 28, 2) & 0x3fff;
  } else if (kind == "VP8L") {
    if (byte_at(b, 20) != 0x2f) return;
    const auto bits = little_endian(b, 21, 4);
    h.width = (bits & 0x3fff) + 1;
    h.height = (bits >> 14 & 0x3fff) + 1;
  } else if (kind == "VP8X") {
    if (byte_at(b, 20) & 0x02) h.frames = image_frames::several;
    h.width = little_endian(b, 24, 3) + 1;
    h.height = little_endian(b, 27, 3) + 1;
  } else {
    return;
  }
  h.complete = b.size() - 8 >= little_endian(b, 4, 4);
}

constexpr std::string_view standard_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> values_of_base64() {
  std::array<std::int8_t, 256> out{};
  for (auto& v : out) v = -1;
  for (std::size_t i = 0; i < standard_alphabet.size(); ++i)
    out[static_cast<std::uint8_t>(standard_alphabet[i])] = static_cast<std::int8_t>(i);
  out['-'] = 62;
  out['_'] = 63;
  return out;
}

std::string mebibytes(std::size_t bytes) {
  const std::size_t tenths = (bytes * 10 + (1 << 20) - 1) >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

}  // namespace

image_header read_image_header(std::string_view b) {
  image_header h;
  if (b.starts_with("\x89PNG\r\n\x1a\n")) {
    h.media_type = "image/png";
    read_png(b, h);
  } else if (b.starts_with("\xff\xd8\xff")) {
    h.media_type = "image/jpeg";
    read_jpeg(b, h);
  } else if (b.starts_with("GIF87a") || b.starts_with("GIF89a")) {
    h.media_type = "image/gif";
    read_gif(b, h);
  } else if (b.starts_with("RIFF") && b.substr(0, 12).ends_with("WEBP")) {
    h.media_type = "image/webp";
    read_webp(b, h);
  }
  h.complete = h.complete && h.width > 0 && h.height > 0;
  return h;
}

std::optional<std::string> decode_base64(std::string_view text) {
  static constexpr auto values = values_of_base64();
  std::string out;
  out.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  std::size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      if (++padding > 2) return std::nullopt;
      continue;
    }
    const auto v = values[static_cast<std::uint8_t>(c)];
    if (v < 0 || padding > 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(v);
    if (++digits % 4 == 0) {
      out += static_cast<char>(bits >> 16 & 0xff);
      out += static_cast<char>(bits >> 8 & 0xff);
      out += static_cast<char>(bits & 0xff);
    }
  }
  if (digits % 4 == 1) return std::nullopt;
  if (digits % 4 == 2) out += static_cast<char>(bits >> 4 & 0xff);
  if (digits % 4 == 3) {
    out += static_cast<char>(bits >> 10 & 0xff);
    out += static_cast<char>(bits >> 2 & 0xff);
  }
  return out;
}

std::string encode_base64(std::string_view bytes) {
  return ry::base64_encode(bytes, ry::base64_alphabet::standard, true);
}

checked_image check_image(std::string_view data, const image_limits& limits) {
  checked_image out;
  if (data.starts_with("data:")) {
    const auto comma = data.find(',');
    data.remove_prefix(comma == std::string_view::npos ? data.size() : comma + 1);
  }
  const auto bytes = decode_base64(data);
  if (!bytes || bytes->empty()) {
    out.problem = "has no valid base64 data";
    return out;
  }
  const auto h = read_image_header(*bytes);
  out.media_type = h.media_type;
  out.width = h.width;
  out.height = h.height;
  const auto size = std::to_string(h.width) + " x " + std::to_string(h.height) + " pixels";
  const std::size_t encoded = (bytes->size() + 2) / 3 * 4;
  if (h.media_type.empty()) {
    out.problem = "is not a PNG, JPEG, GIF or WebP image";
  } else if (!h.complete) {
    out.problem = "is damaged or incomplete";
  } else if (h.media_type == "image/gif" && limits.gifs == image_limits::gif::none) {
    out.problem = "is a GIF, which the model's provider does not accept";
  } else if (h.media_type == "image/gif" && h.frames == image_frames::several &&
             limits.gifs == image_limits::gif::still) {
    out.problem = "is an animated GIF, which the model's provider does not accept";
  } else if (limits.side > 0 && std::max(h.width, h.height) > limits.side) {
    out.problem = "has " + size + ", above the limit of " + std::to_string(limits.side) + " pixels for a side";
  } else if (limits.encoded_bytes > 0 && encoded > limits.encoded_bytes) {
    out.problem = "takes " + mebibytes(encoded) + " as base64, above the limit of " + mebibytes(limits.encoded_bytes);
  } else {
    const bool canonical = data.size() == encoded && data.find_first_of("-_ \t\r\n") == std::string_view::npos;
    out.data = canonical ? std::string(data) : encode_base64(*bytes);
  }
  return out;
}

}  // namespace llm
