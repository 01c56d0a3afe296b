#include "file_kind.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace extract {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t max_junk = 1024;  // Acrobat accepts as many bytes before a PDF
constexpr std::size_t directory_entry = 128;
constexpr std::string_view blanks = " \t\r\n\f\0"sv;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "%PDF-1.7" at the beginning of a line.
std::size_t find_pdf_header(std::string_view head) {
  head = head.substr(0, max_junk + 8);
  for (std::size_t at = head.find("%PDF-"); at != head.npos; at = head.find("%PDF-", at + 1)) {
    const bool begins_line = at == 0 || head[at - 1] == '\n' || head[at - 1] == '\r' || head[at - 1] == '\0' ||
                             static_cast<unsigned char>(head[at - 1]) >= 0x80;
    if (begins_line && at + 8 <= head.size() && is_digit(head[at + 5]) && head[at + 6] == '.' && is_digit(head[at + 7]))
      return at;
  }
  return head.npos;
}

// Plain ASCII text contains none of these.
bool has_binary_bytes(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x09 || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool ends_as_pdf(std::string_view tail) {
  const std::size_t last = tail.find_last_not_of(blanks);
  return last != tail.npos && tail.substr(0, last + 1).ends_with("%%EOF");
}

bool is_pdf(std::string_view head, std::string_view tail) {
  const std::size_t at = find_pdf_header(head);
  if (at == head.npos) return false;
  // Only a byte order mark or whitespace precedes the header: the file is treated as a PDF regardless of the rest.
  std::string_view before = head.substr(0, at);
  if (before.starts_with("\xEF\xBB\xBF")) before.remove_prefix(3);
  if (before.find_first_not_of(blanks) == before.npos) return true;
  if (before.starts_with("#!") || before.starts_with("PK\x03\x04") || before.starts_with("\xD0\xCF\x11\xE0"))
    return false;
  // Other bytes precede the header (such as HTTP or mail gateway headers): the rest must look like a PDF, not like a
  // text about PDF files.
  return ends_as_pdf(tail) || has_binary_bytes(head.substr(at));
}

bool is_rich_text(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t at = head.find_first_not_of(blanks);
  return at != head.npos && head.substr(at).starts_with("{\\rtf");
}

std::string utf16(std::string_view ascii) {
  std::string out;
  for (char c : ascii) {
    out += c;
    out += '\0';
  }
  return out;
}

}  // namespace

file_kind kind_of(std::string_view head, std::string_view tail) {
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return file_kind::zip;
  if (head.starts_with("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")) return file_kind::compound_file;
  if (head.starts_with("\x09\x02\x06\x00"sv) || head.starts_with("\x09\x04\x06\x00"sv))
    return file_kind::workbook_stream;
  if (is_rich_text(head)) return file_kind::rich_text;
  return is_pdf(head, tail) ? file_kind::pdf : file_kind::other;
}

bool has_pdf_objects(std::string_view head) {
  constexpr std::string_view mark = " obj";
  for (std::size_t at = head.find(mark); at != head.npos; at = head.find(mark, at + 1))
    // The object number, a space, and a generation number of one digit.
    if (at > 2 && is_digit(head[at - 1]) && head[at - 2] == ' ' && is_digit(head[at - 3])) return true;
  return false;
}

bool names_encrypted_package(std::string_view piece) {
  static const std::array<std::string, 2> names{utf16("EncryptedPackage"), utf16("EncryptionInfo")};
  for (std::size_t at = 0; at < piece.size(); at += directory_entry)
    for (const std::string& name : names)
      if (piece.substr(at).starts_with(name)) return true;
  return false;
}

}  // namespace extract
