#include "agent/tools/tool_files.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "agent/tools/tool_source_text.hpp"
#include "llm/common/test_images.hpp"

namespace runs {
namespace {

namespace json = boost::json;
using form = result_file::form;
using purpose = result_file::purpose;

json::object object(std::string_view text) {
  return json::parse(text).as_object();
}
result_file file(std::string name, std::string media_type, std::string data) {
  result_file f;
  f.name = std::move(name);
  f.media_type = std::move(media_type);
  f.data = std::move(data);
  return f;
}

TEST(tool_files_test, images_become_parts_of_the_message_up_to_the_limit) {
  std::string parts;
  const std::string large(3u << 20, 'A');
  const auto all = files_of_result(
      object(R"({"images":[{"media_type":"image/png","data":"AA=="},{"media_type":"image/png","data":")" + large +
             R"("},{"media_type":"image/png","data":")" + large +
             R"("},{"media_type":"text/plain","data":"AA=="},{"data":""},7],)"
             R"("files":[{"name":"a.wav","media_type":"audio/wav","data":"AAAA"}]})"),
      parts);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_TRUE(all[0].in_message && all[1].in_message);
  EXPECT_FALSE(all[2].in_message || all[3].in_message || all[4].in_message);
  EXPECT_EQ(all[4].use, purpose::file);
  EXPECT_EQ(json::parse("[" + parts + "]").as_array().size(), 2u);
}

TEST(tool_files_test, paths_contain_a_hash_of_the_content) {
  const auto got = choose_files({file("a.wav", "audio/wav", "QUJD"), file("a.wav", "audio/wav", "QUJE"),
                                 file("a.wav", "audio/wav", "QUJD"), file("", "audio/mpeg; x=y", "QUJD")},
                                model_sees::no_images);
  ASSERT_EQ(got.files.size(), 4u);
  EXPECT_EQ(got.files[0].bytes, "ABC");
  EXPECT_TRUE(got.files[0].path.starts_with("tool_results/a-")) << got.files[0].path;
  EXPECT_TRUE(got.files[0].path.ends_with(".wav")) << got.files[0].path;
  EXPECT_NE(got.files[0].path, got.files[1].path);
  EXPECT_EQ(got.files[0].path, got.files[2].path);
  EXPECT_TRUE(got.files[3].path.starts_with("tool_results/file-")) << got.files[3].path;
  EXPECT_TRUE(got.files[3].path.ends_with(".mp3")) << got.files[3].path;
  EXPECT_EQ(got.files[3].media_type, "audio/mpeg");
  EXPECT_EQ(got.notes, "");
}

TEST(tool_files_test, names_cannot_escape_the_directory) {
  for (const char* name :
       {"../../etc/passwd", "/etc/passwd", "..", "a\nb", "-rf", "\xE2\x80\xAEgpj.exe", "C:\\x\\y.txt"}) {
    const auto got = choose_files({file(name, "weird\ntype", "QUJD")}, model_sees::no_images);
    ASSERT_EQ(got.files.size(), 1u);
    const std::string rest = got.files[0].path.substr(std::string("tool_results/").size());
    EXPECT_TRUE(got.files[0].path.starts_with("tool_results/")) << got.files[0].path;
    EXPECT_EQ(rest.find_first_of("/\\\n"), std::string::npos) << rest;
    EXPECT_NE(rest.front(), '.');
    EXPECT_NE(rest.front(), '-');
    EXPECT_EQ(got.files[0].media_type, "application/octet-stream");
  }
}

TEST(tool_files_test, images_that_the_model_does_not_receive_are_stored) {
  result_file good = file("image", "image/png", llm::encode_base64(llm::test::png(2, 2)));
  good.use = purpose::image;
  good.in_message = true;
  result_file vector = file("image", "image/svg+xml", llm::encode_base64("<svg/>"));
  vector.use = purpose::image;
  vector.in_message = true;
  result_file large = good;
  large.in_message = false;
  const auto seen = choose_files({good, vector, large}, model_sees::images);
  ASSERT_EQ(seen.files.size(), 2u);
  EXPECT_TRUE(seen.files[0].path.ends_with(".svg")) << seen.files[0].path;
  EXPECT_TRUE(seen.files[1].path.ends_with(".png")) << seen.files[1].path;
  EXPECT_EQ(choose_files({good, vector, large}, model_sees::no_images).files.size(), 3u);
}

TEST(tool_files_test, excess_and_unreadable_files_are_reported) {
  const std::vector<result_file> many(25, file("a.bin", "a/b", "QUJD"));
  const auto got = choose_files(many, model_sees::no_images);
  EXPECT_EQ(got.files.size(), 20u);
  EXPECT_NE(got.notes.find("\n[a.bin (a/b, 3 B) was not stored: the result has too many files or bytes]"),
            std::string::npos)
      << got.notes;
  const auto broken = choose_files({file("a.bin", "a/b", "not base64!"), file("b.bin", "a/b", "data:a/b;base64,QUJD")},
                                   model_sees::images);
  ASSERT_EQ(broken.files.size(), 1u);
  EXPECT_EQ(broken.files[0].bytes, "ABC");
  EXPECT_NE(broken.notes.find("its data is not base64"), std::string::npos);
  std::vector<result_file> large(3, file("a.bin", "a/b", std::string(16u << 20, 'A')));
  EXPECT_EQ(choose_files(large, model_sees::images).files.size(), 2u);
}

TEST(tool_files_test, a_text_that_is_too_long_is_also_stored_as_a_file) {
  std::vector<result_file> files;
  const std::string text(60 * 1024, 'x');
  const tool_outcome got = read_result(R"({"content":")" + text + R"("})", &files);
  EXPECT_LT(got.content.size(), text.size());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].encoding, form::plain);
  const auto chosen = choose_files(files, model_sees::images);
  ASSERT_EQ(chosen.files.size(), 1u);
  EXPECT_EQ(chosen.files[0].bytes, text);
  EXPECT_TRUE(chosen.files[0].path.ends_with(".txt")) << chosen.files[0].path;
  files.clear();
  (void)read_result(R"({"content":"short"})", &files);
  EXPECT_TRUE(files.empty());
}

}  // namespace
}  // namespace runs
