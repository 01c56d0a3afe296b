// runyard-extract MAX_BYTES FILE: prints one line about the type of a file, followed by its text:
//   text <kind> [cut] [note]    kind: plain, pdf, docx, xlsx, pptx, opendocument, doc, xls, ppt, rtf; note: about the text
//   image <format> <width> <height>
//   none <reason>
// runyard-extract --scale SIDE BYTES FILE: scales an image down; FILE "-": standard input. Prints a line and the image:
//   image <png|jpeg> <width> <height> [frame]    frame: the image is the first frame of an animation
//   none <reason>                                a predicate of a sentence about the image: "is damaged"
// Run it in a sandbox with a time limit. The only program that it starts is pdftotext.
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
constexpr std::size_t max_document_bytes = 64u << 20;  // embedded pictures may be several times as large as the text

void print_result(const std::string& line, std::string_view text = {}) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int print_none(const std::string& reason) {
  print_result("none " + reason);
  return 0;
}

int print_text(const std::string& kind, std::string content, std::size_t max_bytes, bool cut,
               const std::string& note = {}) {
  if (content.find_first_not_of(" \t\r\n\f") == std::string::npos) return print_none("it has no text");
  if (extract::cut_text(content, max_bytes)) cut = true;
  print_result("text " + kind + (cut ? " cut" : "") + (note.empty() ? "" : " " + note), content);
  return 0;
}

bool read_up_to(int fd, std::string& out, std::size_t max_bytes) {
  out.resize(max_bytes);
  std::size_t size = 0;
  while (size < max_bytes) {
    const ssize_t n = ::read(fd, out.data() + size, max_bytes - size);
    if (n < 0) return false;
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  out.resize(size);
  return true;
}

int print_office(const char* path, std::size_t max_bytes) {
  extract::office_text office = extract::read_office(path, max_bytes);
  if (office.kind.empty())
    return print_none(office.problem.empty() ? "it is an archive, not a document" : office.problem);
  if (office.text.empty() && !office.problem.empty()) return print_none(office.problem);
  return print_text(office.kind, std::move(office.text), max_bytes, !office.problem.empty());
}

// The directory may be anywhere in the file. Each piece begins at a multiple of the size of the head.
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

int print_legacy_office(const char* path, int fd, std::string_view head, std::size_t max_bytes) {
  extract::office_text document = extract::read_legacy_office(path, max_bytes);
  // The directory of a damaged container may still show that it is encrypted.
  if (document.kind.empty() && names_encrypted_package(fd, head))
    return print_none("it is encrypted and needs a password");
  if (document.text.empty() && !document.problem.empty()) return print_none(document.problem);
  return print_text(document.kind, std::move(document.text), max_bytes, !document.problem.empty());
}

bool read_rest(int fd, std::string& head) {
  std::string rest;
  if (head.size() == head_bytes && !read_up_to(fd, rest, max_document_bytes)) return false;
  head += rest;
  return true;
}

int print_workbook_stream(int fd, std::string stream, std::size_t max_bytes) {
  if (!read_rest(fd, stream)) return print_none("it could not be read");
  extract::office_text document;
  extract::read_workbook_binary(stream, max_bytes, document);
  return print_text(document.kind, std::move(document.text), max_bytes, false);
}

int print_rich_text(int fd, std::string head, std::size_t max_bytes) {
  if (!read_rest(fd, head)) return print_none("it could not be read");
  extract::rich_text document = extract::read_rich_text(head, max_bytes);
  return print_text("rtf", std::move(document.text), max_bytes, !document.complete);
}

int print_plain_text(int fd, std::string head, std::size_t max_bytes) {
  std::string rest;
  // Reads twice the maximum, because UTF-16 may shrink to half its size; anything beyond would be cut.
  const std::size_t room = 2 * max_bytes + 4 > head.size() ? 2 * max_bytes + 4 - head.size() : 0;
  if (head.size() == head_bytes && !read_up_to(fd, rest, room)) return print_none("it could not be read");
  head += rest;
  const bool whole = head.size() < 2 * max_bytes + 4;
  extract::plain_text content = extract::read_text(head, whole ? extract::part::whole : extract::part::beginning);
  if (content.is == extract::plain_text::outcome::unknown_encoding)
    return print_none("it is text in an unknown encoding; save it as UTF-8");
  if (content.is == extract::plain_text::outcome::binary)
    return print_none("files of this kind cannot be read as text");
  std::string note;
  if (!content.encoding.empty()) note = "converted from " + content.encoding;
  if (content.damaged) note += std::string(note.empty() ? "" : ", ") + "invalid characters are replaced";
  return print_text("plain", std::move(content.text), max_bytes, !whole, note);
}

// Whether the file is plain text that begins with the header of a PDF.
bool is_text_about_pdf(std::string_view head) {
  if (extract::has_pdf_objects(head)) return false;
  const extract::plain_text text =
      extract::read_text(head, head.size() < head_bytes ? extract::part::whole : extract::part::beginning);
  return text.is == extract::plain_text::outcome::read && text.encoding.empty() && !text.damaged;
}

int print_pdf(const char* path, int fd, std::string head, std::size_t max_bytes) {
  extract::pdf_text pdf = extract::read_pdf(path, max_bytes);
  if (pdf.damaged && is_text_about_pdf(head)) return print_plain_text(fd, std::move(head), max_bytes);
  if (!pdf.problem.empty()) return print_none(pdf.problem);
  return print_text("pdf", std::move(pdf.text), max_bytes, false,
                    pdf.missing.empty() ? "" : "incomplete: " + pdf.missing);
}

constexpr std::size_t max_image_bytes = 64u << 20;

template <class Number>
bool read_number(const char* text, Number& out) {
  return std::from_chars(text, text + std::strlen(text), out).ec == std::errc();
}

// Reads the last bytes of a file without changing the file position.
std::string tail_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string out(tail_bytes, '\0');
  const ssize_t n =
      ::pread(fd, out.data(), out.size(), std::max<off_t>(info.st_size - static_cast<off_t>(tail_bytes), 0));
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

int print_scaled(std::uint32_t side, std::size_t max_bytes, const char* path) {
  const int fd = std::strcmp(path, "-") == 0 ? 0 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  try {
    std::string file;
    if (fd < 0 || !read_up_to(fd, file, max_image_bytes + 1)) return print_none("could not be read");
    if (file.size() > max_image_bytes) return print_none("has more than 64 MiB");
    const extract::scaled_image image = extract::scale_image(file, side, max_bytes);
    if (!image.problem.empty()) return print_none(image.problem);
    print_result("image " + std::string(image.format) + " " + std::to_string(image.width) + " " +
                     std::to_string(image.height) + (image.first_frame ? " frame" : ""),
                 image.bytes);
  } catch (const std::bad_alloc&) {
    return print_none("needs too much memory");
  }
  return 0;
}

int print_file(const char* path, std::size_t max_bytes) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::string head;
  if (fd < 0 || !read_up_to(fd, head, head_bytes)) return print_none("it could not be read");
  if (head.empty()) return print_none("it is empty");
  if (const auto image = extract::read_image(head)) {
    print_result("image " + std::string(image->format) + " " + std::to_string(image->width) + " " +
                 std::to_string(image->height));
    return 0;
  }
  switch (extract::kind_of(head, tail_of(fd))) {
    case extract::file_kind::pdf:
      return print_pdf(path, fd, std::move(head), max_bytes);
    case extract::file_kind::zip:
      return print_office(path, max_bytes);
    case extract::file_kind::compound_file:
      return print_legacy_office(path, fd, head, max_bytes);
    case extract::file_kind::workbook_stream:
      return print_workbook_stream(fd, std::move(head), max_bytes);
    case extract::file_kind::rich_text:
      return print_rich_text(fd, std::move(head), max_bytes);
    case extract::file_kind::other:
      break;
  }
  return print_plain_text(fd, std::move(head), max_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t max_bytes = 0;
  std::uint32_t side = 0;
  if (argc == 5 && std::strcmp(argv[1], "--scale") == 0 && read_number(argv[2], side) &&
      read_number(argv[3], max_bytes))
    return print_scaled(side, max_bytes, argv[4]);
  if (argc != 3 || !read_number(argv[1], max_bytes)) {
    std::fputs(
        "usage: runyard-extract MAX_BYTES FILE\n"
        "       runyard-extract --scale SIDE BYTES FILE\n",
        stderr);
    return 2;
  }
  try {
    return print_file(argv[2], max_bytes);
  } catch (const std::bad_alloc&) {
    return print_none("reading it needs too much memory");
  }
}
