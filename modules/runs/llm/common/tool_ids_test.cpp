#include "tool_ids.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace llm;

constexpr id_form all_forms[] = {id_form::anthropic, id_form::openai, id_form::compatible, id_form::mistral};

TEST(tool_ids, validity_depends_on_the_form) {
  const std::string sixty(60, 'a');
  const struct {
    std::string id;
    bool anthropic, openai, compatible, mistral;
  } cases[] = {{"toolu_01-A", true, true, true, false},
               {"abcDEF123", true, true, true, true},
               {"call_1", true, true, false, false},
               {"call_a1", true, true, true, false},
               {"functions.list_files:0", false, true, true, false},
               {"", false, false, false, false},
               {"a b", false, false, false, false},
               {"\xc3\xa9", false, false, false, false},
               {sixty, true, false, false, false},
               {sixty + "bcdef", false, false, false, false}};
  for (const auto& c : cases) {
    EXPECT_EQ(is_valid_id(c.id, id_form::anthropic), c.anthropic) << c.id;
    EXPECT_EQ(is_valid_id(c.id, id_form::openai), c.openai) << c.id;
    EXPECT_EQ(is_valid_id(c.id, id_form::compatible), c.compatible) << c.id;
    EXPECT_EQ(is_valid_id(c.id, id_form::mistral), c.mistral) << c.id;
  }
}

TEST(tool_ids, assigned_ids_are_unique_and_valid) {
  std::vector<std::string> stored{"list:1",
                                  "list.1",
                                  "list 1",
                                  "",
                                  "",
                                  "call_1",
                                  "call_1",
                                  "abcDEF123",
                                  "abcDEF123",
                                  std::string(90, 'x'),
                                  std::string(91, 'x')};
  for (int i = 0; i < 2000; ++i) stored.push_back("functions.f:" + std::to_string(i));
  for (const auto form : all_forms) {
    id_allocator ids(form);
    std::set<std::string> given;
    for (const auto& s : stored) {
      const auto id = ids.next(s);
      EXPECT_TRUE(is_valid_id(id, form)) << s << " became " << id;
      EXPECT_TRUE(given.insert(id).second) << s << " became " << id << " twice";
    }
  }
}

TEST(tool_ids, a_valid_id_is_kept) {
  for (const auto form : all_forms) EXPECT_EQ(id_allocator(form).next("abcDEF123"), "abcDEF123");
}

TEST(tool_ids, an_id_depends_only_on_the_earlier_calls) {
  for (const auto form : all_forms) {
    id_allocator once(form), again(form);
    for (const char* s : {"a:1", "a:1", "b", "a.1"}) EXPECT_EQ(once.next(s), again.next(s));
  }
}

}  // namespace
