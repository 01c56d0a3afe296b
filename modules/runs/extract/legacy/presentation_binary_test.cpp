#include "presentation_binary.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "binary_fixture.hpp"

using namespace extract;

namespace {

std::string atom(unsigned type, const std::string& content, unsigned instance = 0) {
  return u16(instance << 4) + u16(type) + u32(content.size()) + content;
}
std::string container(unsigned type, const std::string& content, unsigned instance = 0) {
  return u16(instance << 4 | 0xF) + u16(type) + u32(content.size()) + content;
}
std::string characters(std::u16string_view text) {
  return atom(0x0FA0, utf16(text));
}
std::string bytes(const std::string& text) {
  return atom(0x0FA8, text);
}
std::string string(std::u16string_view text, unsigned instance) {
  return atom(0x0FBA, utf16(text), instance);
}
// A shape with text.
std::string shape(const std::string& text) {
  return container(0x040C, container(0xF002, container(0xF00D, text)));
}
std::string slide_persist(std::uint32_t id, std::uint32_t slide_id, const std::string& texts = {}) {
  return atom(0x03F3, u32(id) + u32(0) + u32(0) + u32(slide_id) + u32(0)) + texts;
}
std::string placeholder(const std::string& text) {
  return atom(0x0F9F, u32(0)) + text;
}
std::string outline(std::uint32_t n) {
  return shape(atom(0x0F9E, u32(n)));
}

// A stream with one or more edits of persistent objects; the document has id 1.
class stream {
 public:
  void save(const std::vector<std::pair<std::uint32_t, std::string>>& objects) {
    std::string directory;
    for (const auto& [id, object] : objects) {
      directory += u32(id | 1u << 20) + u32(bytes_.size());
      bytes_ += object;
    }
    const std::size_t at = bytes_.size();
    bytes_ += atom(0x1772, directory);
    add_edit(at);
  }
  void add_edit(std::size_t directory) {
    const std::size_t edit = bytes_.size();
    bytes_ += atom(0x0FF5, u32(0) + u32(0) + u32(edit_) + u32(directory) + u32(1) + u32(9) + u32(0));
    edit_ = static_cast<std::uint32_t>(edit);
  }
  std::string text(std::size_t max_bytes = 100000, std::uint32_t token = 0xE391C05F) const {
    office_text out;
    read_presentation_binary(bytes_, atom(0x0FF6, u32(20) + u32(token) + u32(edit_)), max_bytes, out);
    return out.problem.empty() ? out.text : "(" + out.problem + ")";
  }
  std::string bytes_;

 private:
  std::uint32_t edit_ = 0xFFFFFF;  // no earlier edit
};

std::string document(const std::string& slides, const std::string& notes = {}, const std::string& more = {}) {
  return container(0x03E8, more + container(0x0FF0, slides, 0) + container(0x0FF0, notes, 2));
}

TEST(presentation_binary_test, slides_are_in_order_with_their_placeholders) {
  stream s;
  s.save({{1, document(slide_persist(3, 256,
                                     placeholder(characters(u"Plan\r\u8A08\u753B")) + placeholder("") +
                                         placeholder(bytes("Caf\xE9"))) +
                       slide_persist(2, 257))},
          {2, container(0x03EE, shape(bytes("second")))},
          {3, container(0x03EE, outline(2) + shape(characters(u"a box\vwith two lines")) + outline(0))}});
  EXPECT_EQ(s.text(), "--- Slide 1 ---\nCafé\na box\nwith two lines\nPlan\n計画\n--- Slide 2 ---\nsecond\n");
}

TEST(presentation_binary_test, the_last_edit_takes_precedence) {
  stream s;
  s.save({{1, document(slide_persist(2, 256))}, {2, container(0x03EE, shape(bytes("draft")))}});
  s.save({{2, container(0x03EE, shape(bytes("final")))}});
  EXPECT_EQ(s.text(), "--- Slide 1 ---\nfinal\n");
}

TEST(presentation_binary_test, notes_comments_footers_and_hidden_slides_are_read) {
  const std::string remark = container(0x2EE0, string(u"Ann", 0) + string(u"too long", 1) + string(u"A", 2));
  const std::string tags = container(0x1388, container(0x138A, string(u"___PPT10", 0) + atom(0x138B, remark)));
  const std::string hidden = atom(0x03F9, std::string(10, '\0') + u16(0x4) + u32(0));
  stream s;
  s.save({{1, document(slide_persist(2, 256) + slide_persist(3, 257), slide_persist(4, 512) + slide_persist(5, 513),
                       container(0x0FD9, string(u"everywhere", 2), 3))},
          {2, container(0x03EE, shape(bytes("first")) + container(0x0FD9, string(u"internal", 2)) + tags)},
          {3, container(0x03EE, hidden + shape(bytes("second")))},
          {4, container(0x03F0, atom(0x03F1, u32(257) + u32(0)) + shape(bytes("say this")))},
          {5, container(0x03F0, atom(0x03F1, u32(256) + u32(0)))}});
  EXPECT_EQ(
      s.text(),
      "--- Slide 1 ---\nfirst\ninternal\nComments:\nAnn: too long\n--- Slide 2 (hidden) ---\nsecond\nNotes:\nsay this\neverywhere\n");
}

TEST(presentation_binary_test, encryption_is_reported) {
  stream s;
  s.save({{1, document({})}});
  EXPECT_EQ(s.text(100, 0xF3D1C4DF), "(it is encrypted and needs a password)");
}

TEST(presentation_binary_test, damaged_presentations_yield_their_readable_slides) {
  stream s;
  s.save({{1, document(slide_persist(2, 256))}, {2, container(0x03EE, shape(bytes("some text")))}});
  stream lost = s;
  lost.bytes_.resize(lost.bytes_.size() - 20);
  EXPECT_EQ(lost.text(), "some text\n") << "without the last edit, all texts in stream order";
  for (std::size_t n = 0; n < s.bytes_.size(); ++n) {
    stream cut = s;
    cut.bytes_.resize(n);
    EXPECT_LE(cut.text().size(), 100u);
  }
  // A list that repeats one slide many times.
  stream loop;
  std::string slides;
  for (int i = 0; i < 10000; ++i) slides += slide_persist(2, 256);
  loop.save({{1, document(slides)}, {2, container(0x03EE, shape(bytes(std::string(1000, 'x'))))}});
  EXPECT_LT(loop.text(10000).size(), 12000u);
}

// Any number of references may refer to the same object.
TEST(presentation_binary_test, work_does_not_grow_with_the_number_of_references) {
  constexpr std::size_t many = 20000, large = 1u << 20;
  const auto begin = std::chrono::steady_clock::now();
  stream edits;
  edits.save({{1, document(slide_persist(2, 256))}, {2, container(0x03EE, shape(bytes("once")))}});
  std::string directory;
  for (std::uint32_t i = 0; directory.size() < large; ++i) directory += u32((i % 1000 + 10) | 1u << 20) + u32(0);
  const std::size_t place = edits.bytes_.size();
  edits.bytes_ += atom(0x1772, directory);
  for (std::size_t i = 0; i < many; ++i) edits.add_edit(place);
  edits.save({{1, document(slide_persist(2, 256))}});
  EXPECT_EQ(edits.text(), "--- Slide 1 ---\nonce\n");

  stream slides;
  std::string list, records;
  for (std::size_t i = 0; i < many; ++i) list += slide_persist(2, static_cast<std::uint32_t>(i));
  while (records.size() < large) records += atom(0x0001, {});
  slides.save({{1, document(list)}, {2, container(0x03EE, records)}});
  EXPECT_TRUE(slides.text(1u << 20).ends_with("--- Slide 20000 ---\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
