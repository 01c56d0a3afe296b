// Sans-io parser of multipart/form-data. Feed it pieces of any size; memory is bounded by one piece
// plus one part's header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry::http::serving {

// The boundary of a Content-Type; empty when it is no multipart/form-data or has no usable
// boundary.
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
  // The body has ended. `done`, or `malformed` when the last boundary has not been seen.
  state finish();
  // What is wrong, when malformed. A literal.
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
  std::size_t at_ = 0;  // consumed of buffer_
  phase phase_ = phase::preamble;
  state ended_ = state::more;
  const char* error_ = "";
  part_head head_;
};

}  // namespace ry::http::serving
