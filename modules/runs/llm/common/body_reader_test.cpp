#include "body_reader.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "recorder.hpp"

namespace {

using llm::test::recorder;

// A reader that records its input and ends at "[DONE]".
class recording_reader final : public llm::answer_reader {
 public:
  std::string seen;
  void event(std::string_view name, std::string_view data, llm::receiver&) override {
    seen.append(name).append("|").append(data).append("\n");
    ended_ = data == "[DONE]";
  }
  void document(const boost::json::object& o, llm::receiver&) override {
    seen.append("document ").append(boost::json::serialize(o)).append("\n");
  }
  void closed(llm::receiver&) override {
    seen += "closed";
    ended_ = true;
  }
  llm::failure refused(unsigned, std::string_view) const override { return {}; }
};

struct outcome {
  std::string seen, reason;
  bool fits = true;
};

outcome read(std::string_view body, std::size_t step) {
  llm::body_reader reader(200);
  recording_reader to;
  recorder got;
  outcome out;
  for (std::size_t at = 0; at < body.size() && out.fits && !to.ended(); at += step)
    out.fits = reader.feed(body.substr(at, step), to, got, [] { return true; });
  if (out.fits) reader.closed(to, got);
  out.seen = to.seen;
  if (to.failed()) out.reason = to.failed()->reason;
  return out;
}

TEST(body_reader, distinguishes_streams_documents_and_web_pages_at_every_split) {
  const struct {
    const char *body, *seen, *reason;
  } cases[] = {{"data: 1\n\ndata: [DONE]\n\n", "|1\n|[DONE]\n", ""},
               {"\xef\xbb\xbf"
                "data: 1\n\n",
                "|1\nclosed", ""},
               {": ping\n\ndata: 1\n\n", "|1\nclosed", ""},
               {"error: {\"code\":500}\n\n", "error|{\"code\":500}\nclosed", ""},
               {"event: error\ndata: {}\n\n", "error|{}\nclosed", ""},
               {"data: {\"a\":1}", "|{\"a\":1}\nclosed", ""},  // the event's terminator is missing
               {"data: 1\n\ndata: {\"a\":", "|1\nclosed", ""},  // the event was truncated
               {"{\"a\":1}", "document {\"a\":1}\nclosed", ""},
               {"\r\n [{\"a\":1},{\"b\":2}]", "document {\"a\":1}\ndocument {\"b\":2}\nclosed", ""},
               {"{\"a\":1}\n{\"b\":2}\n", "document {\"a\":1}\ndocument {\"b\":2}\nclosed", ""},
               {"{\"a\":1}\n\ndata: {\"b\":2}\n\n", "document {\"a\":1}\ndocument {\"b\":2}\nclosed", ""},
               {"{\"a\":", "", "llm.cut_off"},
               {"<!doctype html><html>", "", "llm.protocol"},
               {"Bad gateway", "", "llm.protocol"},
               {" \n\n", "", "llm.empty"},
               {"", "", "llm.empty"}};
  for (const auto& c : cases)
    for (std::size_t step = 1; step <= std::string_view(c.body).size() + 1; ++step) {
      const auto out = read(c.body, step);
      EXPECT_EQ(out.seen, c.seen) << c.body << " in steps of " << step;
      EXPECT_EQ(out.reason, c.reason) << c.body << " in steps of " << step;
    }
}

TEST(body_reader, rejects_events_and_documents_above_the_limit) {
  EXPECT_FALSE(read("data: " + std::string(300, 'x'), 7).fits);
  EXPECT_FALSE(read("{" + std::string(300, ' '), 7).fits);
  EXPECT_TRUE(read("{" + std::string(100, ' ') + "}", 7).fits);
}

}  // namespace
