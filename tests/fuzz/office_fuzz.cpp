// Uploaded documents: office archives, their XML, number formats, plain text in all encodings, file types and image
// headers. The extracted text has at most the requested size. (poppler reads PDF in a separate process; only its output
// is checked here.)
#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/runs/extract/archive.hpp"
#include "modules/runs/extract/encoding.hpp"
#include "modules/runs/extract/file_kind.hpp"
#include "modules/runs/extract/image.hpp"
#include "modules/runs/extract/office.hpp"
#include "modules/runs/extract/office/cell_format.hpp"
#include "modules/runs/extract/office/package.hpp"
#include "modules/runs/extract/pdf.hpp"
#include "modules/runs/extract/plain_text.hpp"
#include "modules/runs/extract/xml.hpp"

namespace {

using namespace extract;

// Input: "name\n" and a content up to the next line "==". Stored without compression, so that the fuzzer can change it.
std::string packed(std::string_view parts) {
  std::string out(parts.size() * 3 + 64 * 1024, '\0');
  std::size_t used = 0;
  const std::unique_ptr<archive, int (*)(archive*)> zip(archive_write_new(), &archive_write_free);
  archive_write_set_format_zip(zip.get());
  archive_write_zip_set_compression_store(zip.get());
  archive_write_open_memory(zip.get(), out.data(), out.size(), &used);
  while (!parts.empty()) {
    const auto end = parts.find("\n==\n");
    auto content = parts.substr(0, end);
    parts.remove_prefix(end == parts.npos ? parts.size() : end + 4);
    const std::string name(content.substr(0, content.find('\n')));
    content.remove_prefix(std::min(name.size() + 1, content.size()));
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> e(archive_entry_new(), &archive_entry_free);
    archive_entry_set_pathname(e.get(), name.c_str());
    archive_entry_set_size(e.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(e.get(), AE_IFREG);
    archive_entry_set_perm(e.get(), 0644);
    if (archive_write_header(zip.get(), e.get()) != ARCHIVE_OK) break;
    archive_write_data(zip.get(), content.data(), content.size());
  }
  archive_write_close(zip.get());
  out.resize(used);
  return out;
}

void check_archive(std::string_view zip, std::size_t max_text) {
  const int fd = ::memfd_create("office", 0);
  fuzz::check(fd >= 0 && ::write(fd, zip.data(), zip.size()) == static_cast<ssize_t>(zip.size()),
              "the file can be written");
  const auto path = "/proc/self/fd/" + std::to_string(fd);
  const office_text t = read_office(path, max_text);
  fuzz::check(fuzz::is_utf8(t.text), "the text is UTF-8");
  fuzz::check(!t.kind.empty() || t.text.empty(), "a file that is not a document has no text");
  const office_text again = read_office(path, max_text);
  fuzz::check(again.text == t.text && again.kind == t.kind && again.problem == t.problem,
              "a second read gives the same result");
  // The text may exceed the limit by one part; here no part is larger than 64 KiB.
  if (zip.size() <= 16 * 1024)
    fuzz::check(t.text.size() <= max_text + 64 * 1024, "the text is not much longer than requested");
  ::close(fd);
}

struct counter final : xml_handler {
  std::size_t open = 0, deepest = 0, bytes = 0;
  void begin(std::string_view name, const attributes&) override {
    fuzz::check(name.find(':') == name.npos, "names have no prefix");
    deepest = std::max(deepest, ++open);
  }
  void text(std::string_view text) override {
    fuzz::check(open > 0, "text is inside an element");
    bytes += text.size();
  }
  void end(std::string_view) override {
    fuzz::check(open > 0, "only an open element ends");
    --open;
  }
};

void check_text(std::string_view bytes, std::size_t max_text) {
  for (const auto extent : {part::whole, part::beginning}) {
    plain_text read = read_text(bytes, extent);
    std::string& text = read.text;
    fuzz::check(read.is == plain_text::outcome::read || text.empty(), "a file that is not text has no text");
    fuzz::check(fuzz::is_utf8(text) && text.size() <= bytes.size() * 3,
                "the text is UTF-8, at most three times as long");
    const std::string before = text;
    const bool truncated = cut_text(text, max_text);
    fuzz::check(truncated == (before.size() > max_text) && text.size() <= max_text && before.starts_with(text),
                "a truncated text is a prefix");
    fuzz::check(fuzz::is_utf8(text) && (!truncated || text.size() + 3 >= max_text),
                "truncation removes only incomplete characters beyond the limit");
  }
  std::string raw(bytes);  // possible output of poppler, which may not be UTF-8
  (void)cut_text(raw, max_text);
  fuzz::check(raw.size() <= max_text, "the output of poppler is truncated to the limit");
  (void)kind_of(bytes, bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 4096)));
  (void)names_encrypted_package(bytes);
  const std::string name = normal_part_name(bytes);
  fuzz::check(!name.starts_with('/') && name.find("//") == name.npos && name.find('\\') == name.npos,
              "a part name is normalised");
  const pdf_text pdf = judge_pdf(0, "words", bytes);
  fuzz::check(pdf.problem.empty() || pdf.text.empty(), "a PDF has a text or a problem");
  if (const auto image = read_image(bytes))
    fuzz::check(image->width > 0 && image->height > 0 && !image->format.empty(), "an image has a size");
}

// "format\nnumber"
void check_number(std::string_view input) {
  const std::string_view code = input.substr(0, input.find('\n'));
  const std::string_view stored = input.substr(std::min(code.size() + 1, input.size()));
  const number_format format = parse_number_format(code);
  for (const date_system system : {date_system::from_1900, date_system::from_1904}) {
    const std::string shown = show_number(stored, format, system);
    fuzz::check(shown.size() <= std::max<std::size_t>(stored.size(), 400), "a number is short");
  }
  (void)show_iso_date(stored);
  (void)declared_encoding(input);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const std::size_t max_text = choice & 4 ? 20 : 100'000;
  if (choice & 8) {
    check_number(input);
    return 0;
  }
  switch (choice % 4) {
    case 0:
      check_archive(input, max_text);
      break;
    case 1:
      check_archive(packed(input), max_text);
      break;
    case 2: {
      counter seen;
      const bool good = parse_xml(input, seen);
      fuzz::check(!good || seen.open == 0, "a well-formed document closes all elements");
      fuzz::check(seen.deepest <= 1000 && seen.bytes <= input.size() * 3, "depth and text are bounded");
      break;
    }
    default:
      check_text(input, max_text);
  }
  return 0;
}
