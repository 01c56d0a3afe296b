#include "types/run_mode.hpp"

#include <gtest/gtest.h>

namespace runs {
namespace {

TEST(run_mode, names_are_case_insensitive) {
  for (const run_mode mode : {run_mode::agent, run_mode::chat, run_mode::code})
    EXPECT_EQ(run_mode_of(name_of(mode)), mode);
  EXPECT_EQ(run_mode_of("Chat"), run_mode::chat);
  EXPECT_EQ(run_mode_of("CODE"), run_mode::code);
  EXPECT_EQ(run_mode_of("slides"), std::nullopt);
  EXPECT_EQ(run_mode_of(""), std::nullopt);
}

TEST(run_mode, only_code_mode_adds_instructions) {
  EXPECT_EQ(prompt_in_mode("Be kind.", run_mode::agent, "Test it."), "Be kind.");
  EXPECT_EQ(prompt_in_mode("Be kind.", run_mode::chat, "Test it."), "Be kind.");
  EXPECT_EQ(prompt_in_mode("Be kind.", run_mode::code, "Test it."), "Be kind.\n\nTest it.");
  EXPECT_EQ(prompt_in_mode("", run_mode::code, "Test it."), "Test it.");
  EXPECT_EQ(prompt_in_mode("Be kind.", run_mode::code, " "), "Be kind.");
}

}  // namespace
}  // namespace runs
