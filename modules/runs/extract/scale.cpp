#include "scale.hpp"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "decode.hpp"
#include "image.hpp"

// Must follow <cstdio>, whose declarations it needs.
#include <jpeglib.h>

namespace extract {
namespace {

constexpr int qualities[] = {88, 78, 65};
constexpr std::uint32_t min_side = 64;

decoded decode(std::string_view file, std::uint32_t side) {
  const auto is = read_image(file);
  if (!is) return {{}, false, false, "is not a PNG, JPEG, GIF or WebP image"};
  if (is->format == "png") return decode_png(file, side);
  if (is->format == "jpeg") return decode_jpeg(file, side);
  if (is->format == "gif") return decode_gif(file, side);
  return decode_webp(file, side);
}

// Empty: the picture cannot be encoded.
std::string as_png(const pixels& from) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = from.width;
  image.height = from.height;
  image.format = PNG_FORMAT_RGBA;
  std::vector<std::uint8_t> rgb;
  const std::uint8_t* source = from.rgba.data();
  if (from.opaque()) {
    image.format = PNG_FORMAT_RGB;
    rgb.reserve(from.rgba.size() / 4 * 3);
    for (std::size_t i = 0; i < from.rgba.size(); i += 4) rgb.insert(rgb.end(), source + i, source + i + 3);
    source = rgb.data();
  }
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string out(size, '\0');
  if (png_image_write_to_memory(&image, out.data(), &size, 0, source, 0, nullptr) == 0) return {};
  out.resize(size);
  return out;
}

std::vector<std::uint8_t> on_white(const pixels& from) {
  std::vector<std::uint8_t> out;
  out.reserve(from.rgba.size() / 4 * 3);
  for (std::size_t i = 0; i < from.rgba.size(); i += 4)
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned alpha = from.rgba[i + 3];
      out.push_back(static_cast<std::uint8_t>((from.rgba[i + c] * alpha + 255u * (255 - alpha) + 127) / 255));
    }
  return out;
}

// Contains every object with a destructor, because libjpeg exits functions by longjmp.
struct jpeg_encoding {
  jpeg_error_mgr errors{};
  jmp_buf on_error{};
  jpeg_compress_struct jpeg{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  ~jpeg_encoding() {
    jpeg_destroy_compress(&jpeg);
    std::free(bytes);
  }
};

bool compress(jpeg_encoding& job, const std::vector<std::uint8_t>& rgb, extent size, int quality) {
  jpeg_compress_struct& jpeg = job.jpeg;
  if (setjmp(job.on_error) != 0) return false;
  jpeg_create_compress(&jpeg);
  jpeg.client_data = &job;
  jpeg_mem_dest(&jpeg, &job.bytes, &job.size);
  jpeg.image_width = size.width;
  jpeg.image_height = size.height;
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg.optimize_coding = TRUE;
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    // libjpeg's interface takes no pointer to const.
    auto* line = const_cast<JSAMPROW>(rgb.data() + std::size_t{jpeg.next_scanline} * size.width * 3);
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  return true;
}

std::string as_jpeg(const std::vector<std::uint8_t>& rgb, extent size, int quality) {
  jpeg_encoding job;
  job.jpeg.err = jpeg_std_error(&job.errors);
  job.errors.error_exit = [](j_common_ptr c) {
    std::longjmp(static_cast<jpeg_encoding*>(c->client_data)->on_error, 1);
  };
  job.jpeg.client_data = &job;
  if (!compress(job, rgb, size, quality)) return {};
  return {reinterpret_cast<const char*>(job.bytes), job.size};
}

bool encode(const pixels& from, bool lossless, std::size_t max_bytes, scaled_image& out) {
  const auto fits = [&](std::string bytes, std::string_view format) {
    if (bytes.empty() || bytes.size() > max_bytes) return false;
    out.bytes = std::move(bytes);
    out.format = format;
    out.width = from.width;
    out.height = from.height;
    return true;
  };
  if ((lossless || !from.opaque()) && fits(as_png(from), "png")) return true;
  const std::vector<std::uint8_t> rgb = on_white(from);
  return std::any_of(std::begin(qualities), std::end(qualities), [&](int quality) {
    return fits(as_jpeg(rgb, {from.width, from.height}, quality), "jpeg");
  });
}

}  // namespace

scaled_image scale_image(std::string_view file, std::uint32_t side, std::size_t max_bytes) {
  scaled_image out;
  decoded from = decode(file, side);
  out.problem = from.problem;
  out.first_frame = from.animated;
  if (!out.problem.empty()) return out;
  for (;;) {
    if (encode(from.picture, from.lossless, max_bytes, out)) return out;
    const std::uint32_t longest = std::max(from.picture.width, from.picture.height);
    if (longest <= min_side) break;
    from.picture = shrink(from.picture, fit_within({from.picture.width, from.picture.height}, longest * 7 / 10));
  }
  out.problem = "does not become small enough";
  return out;
}

}  // namespace extract
