#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "decode.hpp"

namespace extract {
namespace {

struct source {
  std::string_view file;
  std::size_t at = 0;
};

int read(GifFileType* gif, GifByteType* to, int count) {
  auto& from = *static_cast<source*>(gif->UserData);
  const std::size_t n = std::min(static_cast<std::size_t>(std::max(count, 0)), from.file.size() - from.at);
  std::memcpy(to, from.file.data() + from.at, n);
  from.at += n;
  return static_cast<int>(n);
}

struct gif_closer {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};

// Reads the color index that is transparent; -1: none.
void read_extension(GifFileType* gif, int& transparent) {
  int code = 0;
  GifByteType* block = nullptr;
  if (DGifGetExtension(gif, &code, &block) != GIF_OK) return;
  while (block != nullptr) {
    if (code == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4) transparent = block[1] & 1 ? block[4] : -1;
    if (DGifGetExtensionNext(gif, &block) != GIF_OK) return;
  }
}

// Reads the lines of the frame into their order from top to bottom.
bool read_lines(GifFileType* gif, std::vector<GifPixelType>& indices) {
  const auto width = static_cast<std::size_t>(gif->Image.Width), height = static_cast<std::size_t>(gif->Image.Height);
  indices.resize(width * height);
  const auto line = [&](std::size_t y) {
    return DGifGetLine(gif, indices.data() + y * width, static_cast<int>(width)) == GIF_OK;
  };
  constexpr std::size_t passes[][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  if (!gif->Image.Interlace) {
    for (std::size_t y = 0; y < height; ++y)
      if (!line(y)) return false;
    return true;
  }
  for (const auto& [first, step] : passes)
    for (std::size_t y = first; y < height; y += step)
      if (!line(y)) return false;
  return true;
}

pixels painted(const GifFileType& gif, const std::vector<GifPixelType>& indices, int transparent, extent canvas,
               std::uint32_t side) {
  const ColorMapObject* colors = gif.Image.ColorMap != nullptr ? gif.Image.ColorMap : gif.SColorMap;
  shrinker out(canvas, fit_within(canvas, side));
  std::vector<std::uint8_t> row(std::size_t{canvas.width} * 4);
  for (std::int64_t y = 0; y < canvas.height; ++y) {
    std::fill(row.begin(), row.end(), 0);
    const std::int64_t in_frame = y - gif.Image.Top;
    for (std::int64_t x = 0; in_frame >= 0 && in_frame < gif.Image.Height && x < gif.Image.Width; ++x) {
      const std::int64_t at = x + gif.Image.Left;
      if (at < 0 || at >= canvas.width) continue;
      const int index = indices[static_cast<std::size_t>(in_frame * gif.Image.Width + x)];
      if (index == transparent || index >= colors->ColorCount) continue;
      const GifColorType& color = colors->Colors[index];
      const std::uint8_t rgba[] = {color.Red, color.Green, color.Blue, 255};
      std::copy_n(rgba, 4, row.data() + at * 4);
    }
    out.add_row(row.data());
  }
  return out.take();
}

bool has_another_frame(GifFileType* gif) {
  for (;;) {
    GifRecordType kind = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(gif, &kind) != GIF_OK || kind == TERMINATE_RECORD_TYPE) return false;
    if (kind == IMAGE_DESC_RECORD_TYPE) return true;
    int unused = -1;
    read_extension(gif, unused);
  }
}

}  // namespace

decoded decode_gif(std::string_view file, std::uint32_t side) {
  decoded out;
  out.lossless = true;
  out.problem = "is damaged";
  source from{file};
  const std::unique_ptr<GifFileType, gif_closer> gif(DGifOpen(&from, &read, nullptr));
  if (!gif) return out;
  int transparent = -1;
  GifRecordType kind = UNDEFINED_RECORD_TYPE;
  while (DGifGetRecordType(gif.get(), &kind) == GIF_OK && kind != IMAGE_DESC_RECORD_TYPE) {
    if (kind == TERMINATE_RECORD_TYPE) return out;
    read_extension(gif.get(), transparent);
  }
  if (kind != IMAGE_DESC_RECORD_TYPE || DGifGetImageDesc(gif.get()) != GIF_OK) return out;
  const GifImageDesc& frame = gif->Image;
  const auto positive = [](int n) { return static_cast<std::uint32_t>(std::max(n, 0)); };
  extent canvas{positive(gif->SWidth), positive(gif->SHeight)};
  if (canvas.width == 0 || canvas.height == 0) canvas = {positive(frame.Width), positive(frame.Height)};
  const bool has_colors = frame.ColorMap != nullptr || gif->SColorMap != nullptr;
  if (!has_colors || canvas.width == 0 || canvas.height == 0 || frame.Width <= 0 || frame.Height <= 0) return out;
  if (std::uint64_t{canvas.width} * canvas.height > max_pixels_in_memory ||
      std::uint64_t{positive(frame.Width)} * positive(frame.Height) > max_pixels_in_memory) {
    out.problem = "has too many pixels";
    return out;
  }
  std::vector<GifPixelType> indices;
  if (!read_lines(gif.get(), indices)) return out;
  out.picture = painted(*gif, indices, transparent, canvas, side);
  out.animated = has_another_frame(gif.get());
  out.problem.clear();
  return out;
}

}  // namespace extract
