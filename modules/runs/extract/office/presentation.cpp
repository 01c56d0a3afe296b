#include "presentation.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "ooxml_text.hpp"

namespace extract {
namespace {

constexpr std::string_view usual_slides = "ppt/slides/slide", usual_notes = "ppt/notesslides/notesslide";

// The relationship ids of the slides in presentation order.
class slide_list final : public xml_handler {
 public:
  std::vector<std::string> ids;
  void begin(std::string_view name, const attributes& attrs) override {
    // Without a prefix, "id" is the number of the slide.
    if (name == "sldId") ids.push_back(attribute(attrs, attrs.contains(":id") ? ":id" : "id"));
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}
};

class visibility final : public xml_handler {
 public:
  bool hidden = false;
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "sld") hidden = attribute(attrs, "show") == "0" || attribute(attrs, "show") == "false";
    seen_ = true;
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}
  bool full() const override { return seen_; }

 private:
  bool seen_ = false;
};

// The names of comment authors by id. Presentations have one part for authors of legacy comments and one for authors of
// PowerPoint 365 comments.
class comment_authors final : public xml_handler {
 public:
  std::map<std::string, std::string> names;
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "cmAuthor" || name == "author") names.emplace(attribute(attrs, "id"), attribute(attrs, "name"));
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}
};

// Legacy and PowerPoint 365 comments as lines "Author: text". Replies precede the text of their comment in the file and
// follow it in the output.
class slide_comments final : public xml_handler {
 public:
  slide_comments(std::string& out, std::size_t max_bytes, const std::map<std::string, std::string>& authors)
      : out_(out), max_bytes_(max_bytes), authors_(authors) {}
  bool full() const override {
    return out_.size() + comment_.text.size() + reply_.text.size() + replies_.size() >= max_bytes_;
  }
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "reply") in_reply_ = true;
    if (name == "cm" || name == "reply") current() = {author(attribute(attrs, "authorId")), {}};
    if (is_text(name)) ++in_text_;
  }
  void text(std::string_view text) override {
    if (in_text_ > 0) current().text += text;
  }
  void end(std::string_view name) override {
    if (is_text(name)) --in_text_;
    if (name == "p" || name == "br") current().text += ' ';
    if (name == "reply") {
      replies_ += line_of(std::exchange(reply_, {}));
      in_reply_ = false;
    }
    if (name == "cm") out_ += line_of(std::exchange(comment_, {})) + std::exchange(replies_, {});
  }

 private:
  struct remark {
    std::string author, text;
  };
  static bool is_text(std::string_view name) { return name == "text" || name == "t"; }
  remark& current() { return in_reply_ ? reply_ : comment_; }
  std::string author(const std::string& id) const {
    const auto at = authors_.find(id);
    return at == authors_.end() || at->second.empty() ? std::string() : at->second + ": ";
  }
  static std::string line_of(remark comment) {
    std::string text = one_line(std::move(comment.text));
    while (text.ends_with(' ')) text.pop_back();
    return text.empty() ? std::string() : comment.author + text + "\n";
  }
  std::string& out_;
  const std::size_t max_bytes_;
  const std::map<std::string, std::string>& authors_;
  remark comment_, reply_;
  std::string replies_;
  bool in_reply_ = false;
  int in_text_ = 0;
};

std::size_t number_in(std::string_view text) {
  const std::size_t from = text.find_first_of("0123456789");
  std::size_t n = 0;
  if (from != text.npos) std::from_chars(text.data() + from, text.data() + text.size(), n);
  return n;
}

std::vector<std::string> slides_by_name(const package& in) {
  std::vector<std::string> out;
  for (const std::string& name : in.names())
    if (name.starts_with(usual_slides) && name.ends_with(".xml")) out.push_back(name);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return number_in(a) < number_in(b); });
  return out;
}

std::vector<std::string> slides_in_order(package& in, const std::string& main, office_text& out) {
  if (main.empty()) return slides_by_name(in);
  in.load({main});
  slide_list list;
  read_part(in, main, list, out);
  std::map<std::string, std::string> parts;
  for (const relationship& r : in.relationships_of(main))
    if (r.type == "slide") parts.emplace(r.id, r.part);
  std::vector<std::string> slides;
  for (const std::string& id : list.ids)
    if (const auto at = parts.find(id); at != parts.end()) slides.push_back(at->second);
  return slides.empty() ? slides_by_name(in) : slides;
}

// The notes, comments, charts and diagrams of a slide. Without a main part, notes are found by their number.
std::vector<relationship> relations_of_slide(const package& in, const std::string& main, const std::string& slide) {
  std::vector<relationship> out = in.relationships_of(slide);
  if (out.empty() && main.empty() && slide.starts_with(usual_slides))
    out.push_back({"", "notesslide", std::string(usual_notes) + slide.substr(usual_slides.size())});
  return out;
}

bool is_read_with_slide(const relationship& r) {
  return r.type == "notesslide" || r.type == "comments" || is_drawing_type(r.type);
}

bool names_authors(const relationship& r) {
  return r.type == "commentauthors" || r.type == "authors";
}

void read_titled(const package& in, const std::string& title, const std::string& part, xml_handler& handler,
                 office_text& out) {
  const std::size_t before = out.text.size();
  out.text += title + ":\n";
  const std::size_t begin = out.text.size();
  read_part(in, part, handler, out);
  if (out.text.find_first_not_of(" \n\t", begin) == out.text.npos) out.text.resize(before);
}

}  // namespace

void read_presentation(package& in, const std::string& main, std::size_t max_bytes, office_text& out) {
  const std::vector<std::string> slides = slides_in_order(in, main, out);
  const std::vector<relationship> of_presentation =
      main.empty() ? std::vector<relationship>() : in.relationships_of(main);
  std::set<std::string> wanted;
  for (const relationship& r : of_presentation)
    if (names_authors(r)) wanted.insert(r.part);
  for (const std::string& slide : slides) {
    wanted.insert(slide);
    for (const relationship& r : relations_of_slide(in, main, slide))
      if (is_read_with_slide(r)) wanted.insert(r.part);
  }
  in.load(wanted);
  comment_authors authors;
  for (const relationship& r : of_presentation)
    if (names_authors(r)) read_part(in, r.part, authors, out);
  std::size_t n = 0;
  for (const std::string& slide : slides) {
    if (out.text.size() >= max_bytes) return;
    visibility shown;
    read_part(in, slide, shown, out);
    out.text += "--- Slide " + std::to_string(++n) + (shown.hidden ? " (hidden)" : "") + " ---\n";
    ooxml_text handler(out.text, max_bytes);
    read_part(in, slide, handler, out);
    const std::vector<relationship> relations = relations_of_slide(in, main, slide);
    read_drawings(in, relations, max_bytes, out);
    for (const relationship& r : relations) {
      if (out.text.size() >= max_bytes) return;
      slide_comments comments(out.text, max_bytes, authors.names);
      if (r.type == "comments") read_titled(in, "Comments", r.part, comments, out);
      ooxml_text notes(out.text, max_bytes);
      if (r.type == "notesslide" && in.has(r.part)) read_titled(in, "Notes", r.part, notes, out);
    }
  }
}

}  // namespace extract
