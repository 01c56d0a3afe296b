#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "decode.hpp"

namespace extract {
namespace {

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

struct demuxer_deleter {
  void operator()(WebPDemuxer* d) const { WebPDemuxDelete(d); }
};

decoded decode_frame(std::string_view frame, std::uint32_t side) {
  decoded out;
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0 ||
      WebPGetFeatures(bytes_of(frame), frame.size(), &config.input) != VP8_STATUS_OK || config.input.width <= 0 ||
      config.input.height <= 0) {
    out.problem = "is damaged";
    return out;
  }
  const extent to = fit_within(
      {static_cast<std::uint32_t>(config.input.width), static_cast<std::uint32_t>(config.input.height)}, side);
  out.lossless = config.input.format == 2;
  out.picture.width = to.width;
  out.picture.height = to.height;
  out.picture.rgba.resize(std::size_t{to.width} * to.height * 4);
  config.options.use_scaling = 1;
  config.options.scaled_width = static_cast<int>(to.width);
  config.options.scaled_height = static_cast<int>(to.height);
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = out.picture.rgba.data();
  config.output.u.RGBA.stride = static_cast<int>(to.width * 4);
  config.output.u.RGBA.size = out.picture.rgba.size();
  const VP8StatusCode status = WebPDecode(bytes_of(frame), frame.size(), &config);
  if (status != VP8_STATUS_OK) {
    out.problem = status == VP8_STATUS_OUT_OF_MEMORY ? "needs too much memory" : "is damaged";
    out.picture = {};
  }
  return out;
}

}  // namespace

decoded decode_webp(std::string_view file, std::uint32_t side) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes_of(file), file.size(), &features) == VP8_STATUS_OK && !features.has_animation)
    return decode_frame(file, side);
  decoded out;
  const WebPData data{bytes_of(file), file.size()};
  const std::unique_ptr<WebPDemuxer, demuxer_deleter> demuxer(WebPDemux(&data));
  WebPIterator frame;
  if (!demuxer || WebPDemuxGetFrame(demuxer.get(), 1, &frame) == 0) {
    out.problem = "is damaged";
    return out;
  }
  out = decode_frame({reinterpret_cast<const char*>(frame.fragment.bytes), frame.fragment.size}, side);
  WebPDemuxReleaseIterator(&frame);
  out.animated = WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT) > 1;
  return out;
}

}  // namespace extract
