// runyard-extract MAX_BYTES FILE: tells what a file is, in one line, and writes its text after that:
//   text <kind> [cut] [note] kind: plain, pdf, docx, xlsx, pptx, opendocument, doc, xls, ppt, rtf; note: about the text; the text follows
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
#include "legacy/legacy_office.hpp"
#include "legacy/workbook_binary.hpp"
#include "office.hpp"
#include "pdf.hpp"
#include "plain_text.hpp"
#include "rich_text.hpp"
#include "scale.hpp"

namespace {

constexpr std::size_t head_bytes = 512 * 1024;
constexpr std::size_t tail_bytes = 4096;
constexpr std::size_t max_document_bytes = 64u << 20;  // pictures may be several times as large as the text

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

int office(const char* path, std::size_t most) {
  extract::office_text office = extract::read_office(path, most);
  if (office.kind.empty()) return none(office.problem.empty() ? "it is an archive, not a document" : office.problem);
  if (office.text.empty() && !office.problem.empty()) return none(office.problem);
  return text(office.kind, std::move(office.text), most, !office.problem.empty());
}

// The directory may stand anywhere in the file. The pieces begin at multiples of the size of the head.
bool names_encrypted_package(int fd, std::string_view head) {
  bool found = extract::names_encrypted_package(head);
  std::string piece(head);
  for (std::size_t at = head.size(); !found && piece.size() == head_bytes && at < max_document_bytes;
       at += piece.size()) {
    if (!read_up_to(fd, piece, head_bytes)) break;
    found = extract::names_encrypted_package(piece);
  }
  return found;
}

int legacy_office(const char* path, int fd, std::string_view head, std::size_t most) {
  extract::office_text document = extract::read_legacy_office(path, most);
  // A damaged container may still show that it was encrypted.
  if (document.kind.empty() && names_encrypted_package(fd, head)) return none("it is encrypted and needs a password");
  if (document.text.empty() && !document.problem.empty()) return none(document.problem);
  return text(document.kind, std::move(document.text), most, !document.problem.empty());
}

bool read_rest(int fd, std::string& head) {
  std::string rest;
  if (head.size() == head_bytes && !read_up_to(fd, rest, max_document_bytes)) return false;
  head += rest;
  return true;
}

int workbook_stream(int fd, std::string stream, std::size_t most) {
  if (!read_rest(fd, stream)) return none("it could not be read");
  extract::office_text document;
  extract::read_workbook_binary(stream, most, document);
  return text(document.kind, std::move(document.text), most, false);
}

int rich_text(int fd, std::string head, std::size_t most) {
  if (!read_rest(fd, head)) return none("it could not be read");
  extract::rich_text document = extract::read_rich_text(head, most);
  return text("rtf", std::move(document.text), most, !document.complete);
}

int plain(int fd, std::string head, std::size_t most) {
  std::string rest;
  // Twice as much, as UTF-16 shrinks; what is more would be cut anyway.
  const std::size_t room = 2 * most + 4 > head.size() ? 2 * most + 4 - head.size() : 0;
  if (head.size() == head_bytes && !read_up_to(fd, rest, room)) return none("it could not be read");
  head += rest;
  const bool whole = head.size() < 2 * most + 4;
  extract::plain_text content = extract::read_text(head, whole ? extract::part::whole : extract::part::beginning);
  if (content.is == extract::plain_text::outcome::unknown_encoding)
    return none("it is a text in an unknown encoding; save it as UTF-8");
  if (content.is == extract::plain_text::outcome::binary) return none("files of this kind cannot be read as text");
  std::string note;
  if (!content.encoding.empty()) note = "converted from " + content.encoding;
  if (content.damaged) note += std::string(note.empty() ? "" : ", ") + "invalid characters are replaced";
  return text("plain", std::move(content.text), most, !whole, note);
}

// A text may begin with the header of a PDF.
bool is_text_about_pdf(std::string_view head) {
  if (extract::has_pdf_objects(head)) return false;
  const extract::plain_text text =
      extract::read_text(head, head.size() < head_bytes ? extract::part::whole : extract::part::beginning);
  return text.is == extract::plain_text::outcome::read && text.encoding.empty() && !text.damaged;
}

int pdf(const char* path, int fd, std::string head, std::size_t most) {
  extract::pdf_text pdf = extract::read_pdf(path, most);
  if (pdf.damaged && is_text_about_pdf(head)) return plain(fd, std::move(head), most);
  if (!pdf.problem.empty()) return none(pdf.problem);
  return text("pdf", std::move(pdf.text), most, false, pdf.missing.empty() ? "" : "incomplete: " + pdf.missing);
}

constexpr std::size_t max_image_bytes = 64u << 20;

template <class Number>
bool read_number(const char* text, Number& out) {
  return std::from_chars(text, text + std::strlen(text), out).ec == std::errc();
}

// The file's last bytes; the position stays.
std::string tail_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string out(tail_bytes, '\0');
  const ssize_t n =
      ::pread(fd, out.data(), out.size(), std::max<off_t>(info.st_size - static_cast<off_t>(tail_bytes), 0));
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

int scale(std::uint32_t side, std::size_t most, const char* path) {
  const int fd = std::strcmp(path, "-") == 0 ? 0 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  try {
    std::string file;
    if (fd < 0 || !read_up_to(fd, file, max_image_bytes + 1)) return none("could not be read");
    if (file.size() > max_image_bytes) return none("has more than 64 MiB");
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

int read_file(const char* path, std::size_t most) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::string head;
  if (fd < 0 || !read_up_to(fd, head, head_bytes)) return none("it could not be read");
  if (head.empty()) return none("it is empty");
  if (const auto image = extract::read_image(head)) {
    say("image " + std::string(image->format) + " " + std::to_string(image->width) + " " +
        std::to_string(image->height));
    return 0;
  }
  switch (extract::kind_of(head, tail_of(fd))) {
    case extract::file_kind::pdf:
      return pdf(path, fd, std::move(head), most);
    case extract::file_kind::zip:
      return office(path, most);
    case extract::file_kind::compound_file:
      return legacy_office(path, fd, head, most);
    case extract::file_kind::workbook_stream:
      return workbook_stream(fd, std::move(head), most);
    case extract::file_kind::rich_text:
      return rich_text(fd, std::move(head), most);
    case extract::file_kind::other:
      break;
  }
  return plain(fd, std::move(head), most);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t most = 0;
  std::uint32_t side = 0;
  if (argc == 5 && std::strcmp(argv[1], "--scale") == 0 && read_number(argv[2], side) && read_number(argv[3], most))
    return scale(side, most, argv[4]);
  if (argc != 3 || !read_number(argv[1], most)) {
    std::fputs(
        "usage: runyard-extract MAX_BYTES FILE\n"
        "       runyard-extract --scale SIDE BYTES FILE\n",
        stderr);
    return 2;
  }
  try {
    return read_file(argv[2], most);
  } catch (const std::bad_alloc&) {
    return none("reading it needs too much memory");
  }
}
