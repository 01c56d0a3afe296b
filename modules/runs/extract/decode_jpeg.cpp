#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <memory>

#include "decode.hpp"

// Must follow <cstdio>, whose declarations it needs.
#include <jpeglib.h>

namespace extract {
namespace {

constexpr int exif_marker = JPEG_APP0 + 1;
constexpr int max_scans = 200;  // of a progressive file; each scan is a pass over the whole picture

// Contains every object with a destructor, because libjpeg exits functions by longjmp.
struct jpeg_decoding {
  jpeg_error_mgr errors{};
  jmp_buf on_error{};
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct jpeg{};
  std::vector<std::uint8_t> line, rgba;
  std::unique_ptr<shrinker> out;

  ~jpeg_decoding() { jpeg_destroy_decompress(&jpeg); }
};

jpeg_decoding& job_of(j_common_ptr c) {
  return *static_cast<jpeg_decoding*>(c->client_data);
}

void fail(j_common_ptr c) {
  std::longjmp(job_of(c).on_error, 1);
}
void ignore(j_common_ptr, int) {}
void ignore_message(j_common_ptr) {}

void watch_scans(j_common_ptr c) {
  if (c->is_decompressor && reinterpret_cast<j_decompress_ptr>(c)->input_scan_number > max_scans) fail(c);
}

// Selects the strongest reduction by the decoder itself that leaves enough pixels.
void reduce(jpeg_decompress_struct& jpeg, std::uint32_t side) {
  const std::uint32_t longest = std::max(jpeg.image_width, jpeg.image_height);
  jpeg.scale_denom = 8;
  jpeg.scale_num = 8;
  for (unsigned eighths : {1u, 2u, 4u})
    if (side > 0 && std::uint64_t{longest} * eighths >= std::uint64_t{side} * 8) {
      jpeg.scale_num = eighths;
      break;
    }
}

void to_rgba(const jpeg_decoding& job, const std::uint8_t* from, std::uint8_t* to) {
  const bool cmyk = job.jpeg.out_color_space == JCS_CMYK;
  // Adobe's programs write inverted values.
  const bool inverted = job.jpeg.saw_Adobe_marker != 0;
  for (JDIMENSION x = 0; x < job.jpeg.output_width; ++x, to += 4) {
    if (cmyk) {
      const unsigned k = inverted ? from[3] : 255u - from[3];
      for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>((inverted ? from[c] : 255u - from[c]) * k / 255);
      from += 4;
    } else {
      std::copy_n(from, 3, to);
      from += 3;
    }
    to[3] = 255;
  }
}

void prepare(jpeg_decoding& job, std::uint32_t side) {
  const extent from{job.jpeg.output_width, job.jpeg.output_height};
  job.out = std::make_unique<shrinker>(from, fit_within(from, side));
  job.line.resize(std::size_t{job.jpeg.output_width} * 4);
  job.rgba.resize(std::size_t{job.jpeg.output_width} * 4);
}

// False: decoding failed.
bool run(jpeg_decoding& job, std::string_view file, std::uint32_t side) {
  jpeg_decompress_struct& jpeg = job.jpeg;
  if (setjmp(job.on_error) != 0) return false;
  jpeg_create_decompress(&jpeg);
  jpeg.client_data = &job;
  jpeg.progress = &job.progress;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), static_cast<unsigned long>(file.size()));
  jpeg_save_markers(&jpeg, exif_marker, 0xffff);
  if (jpeg_read_header(&jpeg, TRUE) != JPEG_HEADER_OK) return false;
  const bool cmyk = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  jpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  reduce(jpeg, side);
  jpeg_start_decompress(&jpeg);
  prepare(job, side);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW line = job.line.data();
    if (jpeg_read_scanlines(&jpeg, &line, 1) != 1) return false;
    to_rgba(job, job.line.data(), job.rgba.data());
    job.out->add_row(job.rgba.data());
  }
  return true;
}

// Reads numbers in the byte order that the block declares.
class tiff {
 public:
  explicit tiff(std::string_view bytes) : bytes_(bytes), big_(bytes.starts_with("MM")) {}
  std::uint32_t number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) return 0;
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < count; ++i)
      out = out << 8 | static_cast<unsigned char>(bytes_[at + (big_ ? i : count - 1 - i)]);
    return out;
  }

 private:
  std::string_view bytes_;
  bool big_;
};

int orientation_of(const jpeg_decompress_struct& jpeg) {
  for (auto* m = jpeg.marker_list; m != nullptr; m = m->next) {
    if (m->marker != exif_marker) continue;
    const int found = exif_orientation({reinterpret_cast<const char*>(m->data), m->data_length});
    if (found != 1) return found;
  }
  return 1;
}

}  // namespace

int exif_orientation(std::string_view exif) {
  using namespace std::string_view_literals;
  if (!exif.starts_with("Exif\0\0"sv)) return 1;
  exif.remove_prefix(6);
  if (!exif.starts_with("II*\0"sv) && !exif.starts_with("MM\0*"sv)) return 1;
  constexpr std::uint32_t orientation_tag = 0x0112, short_type = 3;
  const tiff t(exif);
  const std::size_t directory = t.number(4, 4);
  const std::size_t entries = t.number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * 12;
    if (t.number(at, 2) != orientation_tag) continue;
    const std::uint32_t value = t.number(at + 8, 2);
    return t.number(at + 2, 2) == short_type && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

decoded decode_jpeg(std::string_view file, std::uint32_t side) {
  jpeg_decoding job;
  job.jpeg.err = jpeg_std_error(&job.errors);
  job.errors.error_exit = &fail;
  job.errors.emit_message = &ignore;
  job.errors.output_message = &ignore_message;
  job.progress.progress_monitor = &watch_scans;
  job.jpeg.client_data = &job;
  decoded out;
  if (run(job, file, side))
    out.picture = turned(job.out->take(), orientation_of(job.jpeg));
  else
    out.problem = "is damaged or needs too much memory";
  return out;
}

}  // namespace extract
