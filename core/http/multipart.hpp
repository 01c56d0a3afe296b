// Sans-io parser of multipart/form-data. It accepts pieces of any size and buffers at most one piece plus the header of
// one part.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry::http::serving {

// The boundary of a Content-Type; empty if the type is not multipart/form-data or has no valid boundary.
std::string multipart_boundary(std::string_view content_type);

class multipart_parser {
 public:
  struct part_head {
    std::string name, filename, content_type;
    bool is_file = false;
  };
  // Returning false ends the parse; feed() then returns `stopped`.
  class sink {
   public:
    virtual bool part_begin(const part_head& head) = 0;
    virtual bool part_data(std::string_view data) = 0;
    virtual bool part_end() = 0;

   protected:
    ~sink() = default;
  };
  enum class state { more, done, stopped, malformed };

  multipart_parser(std::string_view boundary, sink& to);
  state feed(std::string_view data);
  // Call it at the end of the body. Returns `done`, or `malformed` if the closing boundary is missing.
  state finish();
  // The reason when malformed; a string literal.
  const char* error() const noexcept { return error_; }

  static constexpr std::size_t max_part_header = 16 * 1024;

 private:
  enum class phase { preamble, delimiter, head, data, epilogue };
  state step();
  state fail(const char* why);
  bool parse_head(std::string_view text);

  const std::string delimiter_;  // "\r\n--boundary"
  sink& sink_;
  std::string buffer_;
  std::size_t at_ = 0;  // consumed bytes of buffer_
  phase phase_ = phase::preamble;
  state ended_ = state::more;
  const char* error_ = "";
  part_head head_;
};

}  // namespace ry::http::serving
