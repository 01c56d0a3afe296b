// runyard-extract MAX_BYTES FILE: tells what a file is, in one line, and writes its text after that:
//   text <kind> [cut] [note] kind: plain, pdf, docx, xlsx, pptx, opendocument; note: about the text; the text follows
//   image <format> <width> <height>
//   none <why>
// runyard-extract --scale SIDE BYTES FILE: makes an image smaller; FILE "-" is the standard input. The image follows the line:
//   image <png|jpeg> <width> <height> [frame]    frame: the first one of an animation
//   none <why>                                   "is damaged", for a sentence about the image
// Meant to be run where it can do no harm and for a limited time; it starts nothing but pdftotext.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "file_kind.hpp"
#include "image.hpp"
#include "office.hpp"
#include "pdf.hpp"
#include "plain_text.hpp"
#include "scale.hpp"

namespace {

constexpr std::size_t head_bytes = 512 * 1024;
constexpr std::size_t tail_bytes = 4096;
constexpr std::size_t most_compound_bytes = 256u << 20;  // that are searched for the mark of encryption

void say(const std::string& line, std::string_view text = {}) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int none(const std::string& why) {
  say("none " + why);
  return 0;
}

int text(const std::string& kind, std::string content, std::size_t most, bool cut, const std::string& note = {}) {
  if (content.find_first_not_of(" \t\r\n\f") == std::string::npos) return none("it has no text");
  if (extract::cut_text(content, most)) cut = true;
  say("text " + kind + (cut ? " cut" : "") + (note.empty() ? "" : " " + note), content);
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
  extract::pdf_text pdf = extract::read_pdf(path, most);
  if (!pdf.problem.empty()) return none(pdf.problem);
  return text("pdf", std::move(pdf.text), most, false, pdf.missing.empty() ? "" : "incomplete: " + pdf.missing);
}

int office(const char* path, std::size_t most) {
  extract::office_text office = extract::read_office(path, most);
  if (office.kind.empty()) return none(office.problem.empty() ? "it is an archive, not a document" : office.problem);
  if (office.text.empty() && !office.problem.empty()) return none(office.problem);
  return text(office.kind, std::move(office.text), most, !office.problem.empty());
}

int compound_file(int fd, std::string_view head) {
  bool encrypted = extract::names_encrypted_package(head);
  std::string piece(head);
  // The directory may stand anywhere in the file. The pieces begin at multiples of the size of the head.
  for (std::size_t at = head.size(); !encrypted && piece.size() == head_bytes && at < most_compound_bytes; at += piece.size()) {
    if (!read_up_to(fd, piece, head_bytes)) break;
    encrypted = extract::names_encrypted_package(piece);
  }
  return none(encrypted ? "it is encrypted and needs a password" : "it is in the binary format of old office programs (doc, xls, ppt)");
}

int plain(int fd, std::string head, std::size_t most) {
  std::string rest;
  // Twice as much, as UTF-16 shrinks; what is more would be cut anyway.
  const std::size_t room = 2 * most + 4 > head.size() ? 2 * most + 4 - head.size() : 0;
  if (head.size() == head_bytes && !read_up_to(fd, rest, room)) return none("it could not be read");
  head += rest;
  const bool whole = head.size() < 2 * most + 4;
  extract::plain_text content = extract::read_text(head, whole ? extract::part::whole : extract::part::beginning);
  if (content.is == extract::plain_text::outcome::unknown_encoding) return none("it is a text in an unknown encoding; save it as UTF-8");
  if (content.is == extract::plain_text::outcome::binary) return none("files of this kind cannot be read as text");
  std::string note;
  if (!content.encoding.empty()) note = "converted from " + content.encoding;
  if (content.damaged) note += std::string(note.empty() ? "" : ", ") + "invalid characters are replaced";
  return text("plain", std::move(content.text), most, !whole, note);
}

constexpr std::size_t most_image_bytes = 64u << 20;

template <class Number>
bool read_number(const char* text, Number& out) {
  return std::from_chars(text, text + std::strlen(text), out).ec == std::errc();
}

// The file's last bytes; the position stays.
std::string tail_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string out(tail_bytes, '\0');
  const ssize_t n = ::pread(fd, out.data(), out.size(), std::max<off_t>(info.st_size - static_cast<off_t>(tail_bytes), 0));
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
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
  switch (extract::kind_of(head, tail_of(fd))) {
    case extract::file_kind::pdf: return pdf(argv[2], most);
    case extract::file_kind::zip: return office(argv[2], most);
    case extract::file_kind::compound_file: return compound_file(fd, head);
    case extract::file_kind::other: break;
  }
  return plain(fd, std::move(head), most);
}
