// runyard-extract MAX_BYTES FILE: tells what a file is, in one line, and writes its text after that:
//   text <kind> [cut]        kind: plain, pdf, docx, xlsx, pptx, opendocument; the text follows
//   image <format> <width> <height>
//   none <why>
// runyard-extract --scale SIDE BYTES FILE: makes an image smaller; FILE "-" is the standard input. The image follows the line:
//   image <png|jpeg> <width> <height> [frame]    frame: the first one of an animation
//   none <why>                                   "is damaged", for a sentence about the image
// Meant to be run where it can do no harm and for a limited time; it starts nothing but pdftotext.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "image.hpp"
#include "office.hpp"
#include "plain_text.hpp"
#include "scale.hpp"

namespace {

constexpr std::size_t head_bytes = 512 * 1024;

void say(const std::string& line, std::string_view text = {}) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int none(const std::string& why) {
  say("none " + why);
  return 0;
}

int text(const std::string& kind, std::string content, std::size_t most, bool cut) {
  if (content.find_first_not_of(" \t\r\n\f") == std::string::npos) return none("it has no text");
  if (extract::cut_text(content, most)) cut = true;
  say("text " + kind + (cut ? " cut" : ""), content);
  return 0;
}

bool read_up_to(int fd, std::string& out, std::size_t most) {
  out.resize(most);
  std::size_t have = 0;
  while (have < most) {
    const ssize_t n = ::read(fd, out.data() + have, most - have);
    if (n < 0) return false;
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  out.resize(have);
  return true;
}

int pdf(const char* path, std::size_t most) {
  int ends[2];
  if (::pipe(ends) != 0) return none("it could not be read");
  const pid_t child = ::fork();
  if (child < 0) return none("it could not be read");
  if (child == 0) {
    ::dup2(ends[1], 1);
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, 2);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/usr/bin/pdftotext", "pdftotext", "-q", "-enc", "UTF-8", "-eol", "unix", path, "-",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string content;
  read_up_to(ends[0], content, most + 1);
  ::close(ends[0]);  // what is more ends it by SIGPIPE
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return none("pdftotext is not installed");
  if (content.empty()) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return none("it has no text");
    return none(WIFEXITED(status) && WEXITSTATUS(status) == 3 ? "it is protected" : "it is damaged");
  }
  return text("pdf", std::move(content), most, false);
}

constexpr std::size_t most_image_bytes = 64u << 20;

template <class Number>
bool read_number(const char* text, Number& out) {
  return std::from_chars(text, text + std::strlen(text), out).ec == std::errc();
}

int scale(std::uint32_t side, std::size_t most, const char* path) {
  const int fd = std::strcmp(path, "-") == 0 ? 0 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::string file;
  if (fd < 0 || !read_up_to(fd, file, most_image_bytes + 1)) return none("could not be read");
  if (file.size() > most_image_bytes) return none("has more than 64 MiB");
  try {
    const extract::scaled_image image = extract::scale_image(file, side, most);
    if (!image.problem.empty()) return none(image.problem);
    say("image " + std::string(image.format) + " " + std::to_string(image.width) + " " + std::to_string(image.height) +
            (image.first_frame ? " frame" : ""),
        image.bytes);
  } catch (const std::bad_alloc&) {
    return none("needs too much memory");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t most = 0;
  std::uint32_t side = 0;
  if (argc == 5 && std::strcmp(argv[1], "--scale") == 0 && read_number(argv[2], side) && read_number(argv[3], most))
    return scale(side, most, argv[4]);
  if (argc != 3 || !read_number(argv[1], most)) {
    std::fputs("usage: runyard-extract MAX_BYTES FILE\n"
               "       runyard-extract --scale SIDE BYTES FILE\n", stderr);
    return 2;
  }
  const int fd = ::open(argv[2], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::string head;
  if (fd < 0 || !read_up_to(fd, head, head_bytes)) return none("it could not be read");
  if (head.empty()) return none("it is empty");
  if (const auto image = extract::read_image(head)) {
    say("image " + std::string(image->format) + " " + std::to_string(image->width) + " " +
        std::to_string(image->height));
    return 0;
  }
  if (head.substr(0, 1024).find("%PDF-") != std::string::npos) return pdf(argv[2], most);
  if (head.starts_with("PK\x03\x04")) {
    extract::office_text office = extract::read_office(argv[2], most);
    if (office.kind.empty())
      return none(office.problem.empty() ? "it is an archive, but no document" : office.problem);
    if (office.text.empty() && !office.problem.empty()) return none(office.problem);
    return text(office.kind, std::move(office.text), most, !office.problem.empty());
  }
  if (head.starts_with("\xD0\xCF\x11\xE0")) return none("it has the binary form of old office programs");
  std::string rest;
  // Twice as much, as UTF-16 shrinks; what is more would be cut anyway.
  const std::size_t room = 2 * most + 4 > head.size() ? 2 * most + 4 - head.size() : 0;
  if (head.size() == head_bytes && !read_up_to(fd, rest, room)) return none("it could not be read");
  head += rest;
  const bool whole = head.size() < 2 * most + 4;
  auto content = extract::read_text(head, whole ? extract::part::whole : extract::part::beginning);
  if (!content) return none("it is no kind of file whose text can be read");
  return text("plain", std::move(*content), most, !whole);
}
