#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <memory>

#include "decode.hpp"

namespace extract {
namespace {

constexpr png_uint_32 max_side = 1u << 20;
constexpr png_alloc_size_t max_chunk_bytes = 8u << 20;

// Contains every object with a destructor, because libpng exits functions by longjmp.
struct png_job {
  std::string_view file;
  std::size_t at = 0;
  std::uint32_t side = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;
  std::vector<std::uint8_t> row, all;
  std::vector<png_bytep> rows;
  std::unique_ptr<shrinker> out;
  decoded result;

  ~png_job() { png_destroy_read_struct(&png, &info, nullptr); }
};

void read(png_structp png, png_bytep to, png_size_t count) {
  auto& job = *static_cast<png_job*>(png_get_io_ptr(png));
  if (count > job.file.size() - job.at) png_error(png, "the file ends early");
  std::memcpy(to, job.file.data() + job.at, count);
  job.at += count;
}

void fail(png_structp png, png_const_charp) {
  png_longjmp(png, 1);
}
void ignore(png_structp, png_const_charp) {}

// Requests RGBA with eight bits per channel, regardless of the format of the file.
void transform(png_structp png, png_infop info) {
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

void prepare(png_job& job) {
  job.out = std::make_unique<shrinker>(extent{job.width, job.height}, fit_within({job.width, job.height}, job.side));
  job.row.resize(std::size_t{job.width} * 4);
}

// Allocates the whole picture, because an interlaced picture is decoded in seven passes. False: it is too large.
bool prepare_interlaced(png_job& job) {
  if (std::uint64_t{job.width} * job.height > max_pixels_in_memory) return false;
  job.all.resize(std::size_t{job.width} * job.height * 4);
  for (png_uint_32 y = 0; y < job.height; ++y) job.rows.push_back(job.all.data() + std::size_t{y} * job.width * 4);
  return true;
}

// False: decoding failed.
bool run(png_job& job) {
  if (setjmp(png_jmpbuf(job.png)) != 0) return false;
  png_set_read_fn(job.png, &job, &read);
  png_set_user_limits(job.png, max_side, max_side);
  png_set_chunk_malloc_max(job.png, max_chunk_bytes);
  png_read_info(job.png, job.info);
  job.width = png_get_image_width(job.png, job.info);
  job.height = png_get_image_height(job.png, job.info);
  const bool interlaced = png_get_interlace_type(job.png, job.info) != PNG_INTERLACE_NONE;
  transform(job.png, job.info);
  if (png_get_rowbytes(job.png, job.info) != std::size_t{job.width} * 4) return false;
  prepare(job);
  if (!interlaced) {
    for (png_uint_32 y = 0; y < job.height; ++y) {
      png_read_row(job.png, job.row.data(), nullptr);
      job.out->add_row(job.row.data());
    }
    return true;
  }
  if (!prepare_interlaced(job)) {
    job.result.problem = "is interlaced and has too many pixels";
    return false;
  }
  png_read_image(job.png, job.rows.data());
  for (png_uint_32 y = 0; y < job.height; ++y) job.out->add_row(job.rows[y]);
  return true;
}

}  // namespace

decoded decode_png(std::string_view file, std::uint32_t side) {
  png_job job;
  job.file = file;
  job.side = side;
  job.result.lossless = true;
  job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, &fail, &ignore);
  if (job.png != nullptr) job.info = png_create_info_struct(job.png);
  if (job.info == nullptr) {
    job.result.problem = "needs too much memory";
  } else if (run(job)) {
    job.result.picture = job.out->take();
  } else if (job.result.problem.empty()) {
    job.result.problem = "is damaged";
  }
  return std::move(job.result);
}

}  // namespace extract
