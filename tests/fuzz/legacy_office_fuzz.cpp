// Binary Office documents, as compound files or single streams, and RTF. The extracted text is UTF-8 and not much
// longer than requested, and a second read gives the same result.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "check.hpp"
#include "modules/runs/extract/legacy/legacy_office.hpp"
#include "modules/runs/extract/legacy/presentation_binary.hpp"
#include "modules/runs/extract/legacy/word_binary.hpp"
#include "modules/runs/extract/legacy/workbook_binary.hpp"
#include "modules/runs/extract/rich_text.hpp"

namespace {

using namespace extract;

office_text read_container(std::string_view bytes, std::size_t max_text) {
  const int fd = ::memfd_create("legacy", 0);
  fuzz::check(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
              "the file can be written");
  const office_text out = read_legacy_office("/proc/self/fd/" + std::to_string(fd), max_text);
  ::close(fd);
  return out;
}

// The input is the size of the first stream in two bytes, followed by two streams.
office_text read_streams(std::uint8_t choice, std::string_view input, std::size_t max_text) {
  const std::size_t first_size =
      input.size() < 2
          ? 0
          : static_cast<unsigned char>(input[0]) | static_cast<std::size_t>(static_cast<unsigned char>(input[1])) << 8;
  input.remove_prefix(std::min<std::size_t>(input.size(), 2));
  const std::string_view first = input.substr(0, first_size), second = input.substr(std::min(first_size, input.size()));
  office_text out;
  if (choice == 1)
    read_word_binary(first, second, second, max_text, out);
  else if (choice == 2)
    read_workbook_binary(input, max_text, out);
  else
    read_presentation_binary(first, second, max_text, out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const std::size_t max_text = choice & 8 ? 20 : 100'000;
  const auto read = [&] {
    if ((choice & 7) == 0) return read_container(input, max_text);
    if ((choice & 7) < 4) return read_streams(choice & 7, input, max_text);
    return office_text{"rtf", read_rich_text(input, max_text).text, {}};
  };
  const office_text text = read();
  fuzz::check(fuzz::is_utf8(text.text), "the text is UTF-8");
  // One string more than the limit, and each byte of the file becomes at most three.
  fuzz::check(text.text.size() <= max_text * 2 + size * 6 + 4096, "the text is not much longer than requested");
  fuzz::check(!text.kind.empty() || text.text.empty(), "a file that is not a document has no text");
  const office_text again = read();
  fuzz::check(again.text == text.text && again.problem == text.problem, "a second read gives the same result");
  return 0;
}
