#include "presentation_binary.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "code_pages.hpp"
#include "little_endian.hpp"

namespace extract {
namespace {

enum record_type : unsigned {
  document_container = 0x03E8,
  slide_container = 0x03EE,
  notes_container = 0x03F0,
  notes_atom = 0x03F1,
  slide_persist = 0x03F3,
  slide_info = 0x03F9,
  outline_reference = 0x0F9E,
  text_header = 0x0F9F,
  text_characters = 0x0FA0,
  text_bytes = 0x0FA8,
  text_string = 0x0FBA,
  headers_footers = 0x0FD9,
  slide_list = 0x0FF0,
  user_edit = 0x0FF5,
  binary_tag_data = 0x138B,
  persist_directory = 0x1772,
  comment = 0x2EE0,
};

constexpr std::size_t header_bytes = 8;
constexpr int max_depth = 64;
constexpr std::uint32_t encrypted_token = 0xF3D1C4DF;

struct record {
  unsigned type = 0, instance = 0;
  bool container = false;
  std::string_view content;
};

std::optional<record> record_at(std::string_view stream, std::size_t at) {
  const little_endian bytes(stream);
  if (at > stream.size() || stream.size() - at < header_bytes) return std::nullopt;
  const unsigned kind = bytes.u16(at);
  return record{bytes.u16(at + 2), kind >> 4, (kind & 0xF) == 0xF, bytes.slice(at + header_bytes, bytes.u32(at + 4))};
}

// `each` returns whether to continue.
template <class Each>
void for_each_record(std::string_view content, Each each) {
  for (std::size_t at = 0;;) {
    const std::optional<record> r = record_at(content, at);
    if (!r || !each(*r)) return;
    at += header_bytes + r->content.size();
  }
}

std::string lines_of(std::string text) {
  std::replace(text.begin(), text.end(), '\r', '\n');
  std::replace(text.begin(), text.end(), '\v', '\n');
  remove_controls(text);
  return text;
}

// Each byte is a Unicode code point.
std::string from_low_bytes(std::string_view bytes) {
  std::string wide;
  for (const char c : bytes) {
    wide += c;
    wide += '\0';
  }
  return from_utf16(wide);
}

std::optional<std::string> text_of_atom(const record& r) {
  if (r.type == text_characters) return lines_of(from_utf16(r.content));
  if (r.type == text_bytes) return lines_of(from_low_bytes(r.content));
  return std::nullopt;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \n\t") == text.npos;
}

// An entry of the document's list of slides or notes, with the texts of the placeholders.
struct listed_page {
  std::uint32_t persist_id = 0, slide_id = 0;
  std::vector<std::string> texts;
};

class presentation {
 public:
  presentation(std::string_view stream, std::size_t max_bytes) : stream_(stream), max_bytes_(max_bytes) {}
  void read(std::uint32_t last_edit, std::string& out);

 private:
  void read_edits(std::uint32_t at);
  void read_directory(std::string_view content);
  std::optional<record> persistent(std::uint32_t id) const;
  std::optional<record> visit(std::optional<record> r);
  void read_lists(const record& document);
  void read_notes(std::vector<listed_page> notes);
  static std::vector<listed_page> read_list(std::string_view content);
  void read_slide(const listed_page& page, std::size_t number, std::string& out);
  void read_notes_of(const listed_page& page, std::string& out);
  void add_texts(std::string_view content, const listed_page& page, std::set<std::size_t>& used, std::string& out,
                 int depth) const;
  static void add_strings(std::string_view content, std::string& out);
  void add_page(const record& container, const listed_page& page, std::string& out) const;
  void add_comments(std::string_view content, std::string& out, int depth) const;
  void add_everything(std::string_view content, std::string& out, int depth) const;

  const std::string_view stream_;
  const std::size_t max_bytes_;
  std::map<std::uint32_t, std::uint32_t> offsets_;  // of persistent objects, by id
  std::uint32_t document_ = 0;
  std::vector<listed_page> slides_;
  std::string footers_;  // that apply to all slides or all notes
  std::map<std::uint32_t, listed_page> notes_of_slide_;
  std::set<std::uint32_t> slides_read_, notes_read_;  // persist ids
  std::size_t visited_ = 0;  // total bytes of visited directories, slides and notes
};

// Any number of references may refer to the same object, so the work is limited by the size of the stream: an intact
// presentation requires each directory and slide once and each notes page twice.
std::optional<record> presentation::visit(std::optional<record> r) {
  if (!r || visited_ > 2 * stream_.size()) return std::nullopt;
  visited_ += r->content.size();
  return r;
}

// The directory of an edit contains runs of ids with the offsets of their objects.
void presentation::read_directory(std::string_view content) {
  const little_endian bytes(content);
  for (std::size_t at = 0; at + 4 <= content.size();) {
    const std::uint32_t head = bytes.u32(at), first = head & 0xFFFFF, n = head >> 20;
    at += 4;
    // Later edits are read first and take precedence.
    for (std::uint32_t i = 0; i < n && at + 4 <= content.size(); ++i, at += 4)
      offsets_.emplace(first + i, bytes.u32(at));
  }
}

void presentation::read_edits(std::uint32_t at) {
  std::set<std::uint32_t> seen, directories;
  while (seen.insert(at).second) {
    const std::optional<record> edit = record_at(stream_, at);
    if (!edit || edit->type != user_edit) return;
    const little_endian content(edit->content);
    if (document_ == 0) document_ = content.u32(16);
    if (const std::uint32_t offset = content.u32(12); directories.insert(offset).second) {
      const std::optional<record> directory = visit(record_at(stream_, offset));
      if (directory && directory->type == persist_directory) read_directory(directory->content);
    }
    at = content.u32(8);
  }
}

std::optional<record> presentation::persistent(std::uint32_t id) const {
  const auto at = offsets_.find(id);
  return at == offsets_.end() ? std::nullopt : record_at(stream_, at->second);
}

std::vector<listed_page> presentation::read_list(std::string_view content) {
  std::vector<listed_page> out;
  bool has_text = true;
  for_each_record(content, [&](const record& r) {
    const little_endian bytes(r.content);
    if (r.type == slide_persist) {
      out.push_back({bytes.u32(0), bytes.u32(12), {}});
      has_text = true;
    }
    if (out.empty()) return true;
    // A placeholder without text has only a header.
    if (r.type == text_header) {
      if (!has_text) out.back().texts.emplace_back();
      has_text = false;
    }
    if (std::optional<std::string> text = text_of_atom(r)) {
      out.back().texts.push_back(*std::move(text));
      has_text = true;
    }
    return true;
  });
  return out;
}

// Notes contain the id of their slide.
void presentation::read_notes(std::vector<listed_page> notes) {
  for (listed_page& page : notes) {
    if (!notes_read_.insert(page.persist_id).second) continue;
    const std::optional<record> container = visit(persistent(page.persist_id));
    if (!container || container->type != notes_container) continue;
    for_each_record(container->content, [&](const record& r) {
      if (r.type == notes_atom) notes_of_slide_.emplace(little_endian(r.content).u32(0), std::move(page));
      return r.type != notes_atom;
    });
  }
}

void presentation::read_lists(const record& document) {
  constexpr unsigned of_slides = 0, of_notes = 2;
  for_each_record(document.content, [&](const record& r) {
    if (r.type == slide_list && r.instance == of_slides) slides_ = read_list(r.content);
    if (r.type == headers_footers) add_strings(r.content, footers_);
    if (r.type == slide_list && r.instance == of_notes) read_notes(read_list(r.content));
    return true;
  });
}

// Adds headers and footers that are not text boxes.
void presentation::add_strings(std::string_view content, std::string& out) {
  for_each_record(content, [&](const record& r) {
    if (r.type != text_string) return true;
    const std::string text = lines_of(from_utf16(r.content));
    if (!is_blank(text)) out += text + "\n";
    return true;
  });
}

void presentation::add_texts(std::string_view content, const listed_page& page, std::set<std::size_t>& used,
                             std::string& out, int depth) const {
  for_each_record(content, [&](const record& r) {
    if (out.size() >= max_bytes_) return false;
    if (r.type == outline_reference) {
      const std::size_t n = little_endian(r.content).u32(0);
      if (n < page.texts.size() && used.insert(n).second) out += page.texts[n] + "\n";
    }
    if (const std::optional<std::string> text = text_of_atom(r); text && !text->empty()) out += *text + "\n";
    if (r.type == headers_footers)
      add_strings(r.content, out);
    else if (r.container && depth < max_depth)
      add_texts(r.content, page, used, out, depth + 1);
    return true;
  });
}

// Adds the text of the shapes, then the listed placeholders that no shape refers to.
void presentation::add_page(const record& container, const listed_page& page, std::string& out) const {
  std::set<std::size_t> used;
  add_texts(container.content, page, used, out, 0);
  for (std::size_t i = 0; i < page.texts.size(); ++i)
    if (!used.contains(i) && !is_blank(page.texts[i]) && out.size() < max_bytes_) out += page.texts[i] + "\n";
}

// Comments are in an extension of PowerPoint 2002, the data of which is not marked as a container.
void presentation::add_comments(std::string_view content, std::string& out, int depth) const {
  for_each_record(content, [&](const record& r) {
    if (r.type == comment) {
      std::string author, text;
      for_each_record(r.content, [&](const record& part) {
        if (part.type == text_string && part.instance == 0) author = lines_of(from_utf16(part.content));
        if (part.type == text_string && part.instance == 1) text = lines_of(from_utf16(part.content));
        return true;
      });
      if (!is_blank(text) && out.size() < max_bytes_) out += (author.empty() ? "" : author + ": ") + text + "\n";
    } else if ((r.container || r.type == binary_tag_data) && depth < max_depth) {
      add_comments(r.content, out, depth + 1);
    }
    return true;
  });
}

// Notes belong to one slide, so they are removed when they are written.
void presentation::read_notes_of(const listed_page& page, std::string& out) {
  const auto notes = notes_of_slide_.extract(page.slide_id);
  if (notes.empty()) return;
  std::string text;
  if (const std::optional<record> container = visit(persistent(notes.mapped().persist_id)))
    add_page(*container, notes.mapped(), text);
  if (!is_blank(text)) out += "Notes:\n" + text;
}

void presentation::read_slide(const listed_page& page, std::size_t number, std::string& out) {
  // If the list repeats a slide, only the placeholders are repeated.
  const std::optional<record> slide =
      slides_read_.insert(page.persist_id).second ? visit(persistent(page.persist_id)) : std::nullopt;
  bool hidden = false;
  if (slide)
    for_each_record(slide->content, [&](const record& r) {
      constexpr unsigned is_hidden = 0x4;
      if (r.type == slide_info) hidden = (little_endian(r.content).u16(10) & is_hidden) != 0;
      return true;
    });
  out += "--- Slide " + std::to_string(number) + (hidden ? " (hidden)" : "") + " ---\n";
  add_page(slide && slide->type == slide_container ? *slide : record{}, page, out);
  std::string comments;
  if (slide) add_comments(slide->content, comments, 0);
  if (!comments.empty()) out += "Comments:\n" + comments;
  read_notes_of(page, out);
}

// For a damaged file: adds all texts in stream order.
void presentation::add_everything(std::string_view content, std::string& out, int depth) const {
  for_each_record(content, [&](const record& r) {
    if (const std::optional<std::string> text = text_of_atom(r); text && !is_blank(*text)) out += *text + "\n";
    if (r.container && depth < max_depth) add_everything(r.content, out, depth + 1);
    return out.size() < max_bytes_;
  });
}

void presentation::read(std::uint32_t last_edit, std::string& out) {
  read_edits(last_edit);
  if (const std::optional<record> document = persistent(document_); document && document->type == document_container)
    read_lists(*document);
  std::size_t number = 0;
  for (const listed_page& page : slides_) {
    if (out.size() >= max_bytes_) return;
    read_slide(page, ++number, out);
  }
  out += footers_;
  if (slides_.empty()) add_everything(stream_, out, 0);
}

}  // namespace

void read_presentation_binary(std::string_view stream, std::string_view current_user, std::size_t max_bytes,
                              office_text& out) {
  const little_endian user(current_user);
  if (user.u32(12) == encrypted_token) {
    out.problem = "it is encrypted and needs a password";
    return;
  }
  out.kind = "ppt";
  presentation(stream, max_bytes).read(user.u32(16), out.text);
}

}  // namespace extract
