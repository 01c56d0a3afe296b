#include "sse.hpp"

namespace llm {

void sse_reader::read_field(std::string_view line) {
  if (line.starts_with("data:") || line == "data") {
    if (data_count_++ > 0) data_ += '\n';
    if (line.size() > 4) data_.append(value_of(line, 5));
  } else if (line.starts_with("event:")) {
    name_ = value_of(line, 6);
  } else if (line.starts_with("error:")) {
    name_ = "error";
    if (data_count_++ > 0) data_ += '\n';
    data_.append(value_of(line, 6));
  } else if (line.starts_with('{')) {
    if (data_count_++ > 0) data_ += '\n';
    data_.append(line);
  }
}

}  // namespace llm
