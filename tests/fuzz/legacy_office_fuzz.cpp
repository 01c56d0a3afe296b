// Documents in the binary formats of Office, in a compound file or stream by stream, and Rich Text. The text is UTF-8 and about as long as is
// wanted, and a second read gives the same.
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

office_text read_container(std::string_view bytes, std::size_t most) {
  const int fd = ::memfd_create("legacy", 0);
  fuzz::promise(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                "the file can be written");
  const office_text out = read_legacy_office("/proc/self/fd/" + std::to_string(fd), most);
  ::close(fd);
  return out;
}

// Two streams, the first one with this size in two bytes before it.
office_text read_streams(std::uint8_t choice, std::string_view input, std::size_t most) {
  const std::size_t wanted = input.size() < 2 ? 0
                                              : static_cast<unsigned char>(input[0]) |
                                                    static_cast<std::size_t>(static_cast<unsigned char>(input[1])) << 8;
  input.remove_prefix(std::min<std::size_t>(input.size(), 2));
  const std::string_view first = input.substr(0, wanted), second = input.substr(std::min(wanted, input.size()));
  office_text out;
  if (choice == 1)
    read_word_binary(first, second, second, most, out);
  else if (choice == 2)
    read_workbook_binary(input, most, out);
  else
    read_presentation_binary(first, second, most, out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const std::size_t most = choice & 8 ? 20 : 100'000;
  const auto read = [&] {
    if ((choice & 7) == 0) return read_container(input, most);
    if ((choice & 7) < 4) return read_streams(choice & 7, input, most);
    return office_text{"rtf", read_rich_text(input, most).text, {}};
  };
  const office_text text = read();
  fuzz::promise(fuzz::is_utf8(text.text), "the text is UTF-8");
  // One string more than the limit, and each byte of the file becomes at most three.
  fuzz::promise(text.text.size() <= most * 2 + size * 6 + 4096, "the text is as long as is wanted, or a little more");
  fuzz::promise(!text.kind.empty() || text.text.empty(), "what is no document has no text");
  const office_text again = read();
  fuzz::promise(again.text == text.text && again.problem == text.problem, "read twice it is the same");
  return 0;
}
