#include "core/http/chunk_decoder.hpp"

#include "core/http/field_text.hpp"

#include <algorithm>
#include <cstring>
#include <ry/cpp/text.hpp>
#include <string_view>

namespace ry::http {

namespace {

constexpr std::uint32_t max_extension = 4 * 1024;
constexpr std::uint32_t max_trailers = 16 * 1024;

// Rejects Transfer-Encoding as a trailer: it comes after the body that it describes, a sign of request smuggling. Other
// trailers are dropped.
bool announces_coding(std::string_view name) {
  return name == "transfer-encoding";
}

}  // namespace

std::size_t chunk_decoder::take(std::span<char> data, char*& out, bool up_to_body) {
  char* p = data.data();
  char* const end = p + data.size();
  while (p != end) {
    switch (state_) {
      case state::size_first:
      case state::size: {
        const int d = hex_value(*p);
        if (d >= 0) {
          if (++digits_ > 15) goto bad;
          left_ = left_ << 4 | static_cast<unsigned>(d);
          state_ = state::size;
        } else if (state_ == state::size && *p == '\r') {
          state_ = state::size_lf;
        } else if (state_ == state::size && (*p == ';' || *p == ' ' || *p == '\t')) {
          overhead_ = 0;
          state_ = *p == ';' ? state::extension : state::size_blank;
        } else {
          goto bad;
        }
        ++p;
        break;
      }
      case state::size_blank:
        // Another parser might read any other byte as part of the size (request smuggling).
        if (*p == '\r')
          state_ = state::size_lf;
        else if (*p == ';')
          state_ = state::extension;
        else if ((*p != ' ' && *p != '\t') || ++overhead_ > max_extension)
          goto bad;
        ++p;
        break;
      case state::extension:
        if (*p == '\r')
          state_ = state::size_lf;
        else if ((static_cast<unsigned char>(*p) < 0x20 && *p != '\t') || ++overhead_ > max_extension)
          goto bad;
        ++p;
        break;
      case state::size_lf:
        if (*p != '\n') goto bad;
        ++p;
        overhead_ = 0;
        state_ = left_ ? state::data : state::trailer_first;
        break;
      case state::data: {
        if (up_to_body) return static_cast<std::size_t>(p - data.data());
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, static_cast<std::uint64_t>(end - p)));
        if (out != p) std::memmove(out, p, n);
        out += n;
        p += n;
        left_ -= n;
        if (left_ == 0) state_ = state::data_cr;
        break;
      }
      case state::data_cr:
        if (*p != '\r') goto bad;
        ++p;
        state_ = state::data_lf;
        break;
      case state::data_lf:
        if (*p != '\n') goto bad;
        ++p;
        digits_ = 0;
        state_ = state::size_first;
        break;
      case state::trailer_first:
        name_size_ = 0;
        state_ = *p == '\r' ? state::last_lf : state::trailer_name;
        if (state_ == state::last_lf) ++p;
        break;
      case state::trailer_name:
        if (*p == ':') {
          if (name_size_ == 0 || announces_coding({name_.data(), name_size_})) goto bad;
          state_ = state::trailer;
        } else if (!is_token_char(*p) || ++overhead_ > max_trailers) {
          goto bad;
        } else if (name_size_ < name_.size()) {
          name_[name_size_++] = lower_ascii(*p);
        }
        ++p;
        break;
      case state::trailer:
        if (*p == '\r')
          state_ = state::trailer_lf;
        else if (*p == '\n' || *p == '\0' || ++overhead_ > max_trailers)
          goto bad;
        ++p;
        break;
      case state::trailer_lf:
        if (*p != '\n') goto bad;
        ++p;
        state_ = state::trailer_first;
        break;
      case state::last_lf:
        if (*p != '\n') goto bad;
        ++p;
        state_ = state::done;
        return static_cast<std::size_t>(p - data.data());
      case state::done:
      case state::failed:
        return static_cast<std::size_t>(p - data.data());
    }
  }
  return data.size();
bad:
  state_ = state::failed;
  return static_cast<std::size_t>(p - data.data());
}

}  // namespace ry::http
