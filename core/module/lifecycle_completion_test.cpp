// Modules that complete a lifecycle call more than once.
#include "core/module/lifecycle_completion.hpp"

#include <gmock/gmock.h>

#include <string>

#include "core/module/test_set.hpp"

namespace ry::module {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The log lines about violations while `f` runs.
template <class F>
std::string violations(F f) {
  testing::internal::CaptureStderr();
  f();
  std::string found;
  const std::string log = testing::internal::GetCapturedStderr();
  for (std::size_t at = 0; at < log.size();) {
    const auto end = std::min(log.find('\n', at), log.size());
    const auto line = log.substr(at, end - at);
    if (line.find("module contract violated") != std::string::npos) found += line + '\n';
    at = end + 1;
  }
  return found;
}

TEST_F(module_set_test, completing_stop_twice_is_logged_with_the_module) {
  ASSERT_EQ(prepared(specs({"twice"})), "");
  ASSERT_EQ(set.start().text(), "");
  EXPECT_THAT(violations([&] { stop(); }),
              AllOf(HasSubstr("twice"), HasSubstr("a completion that is called twice"), HasSubstr("where=stop")));
  EXPECT_EQ(described("twice").state, module_state::stopped);
}

TEST_F(module_set_test, completing_a_driver_removal_twice_is_logged_with_the_module) {
  ASSERT_EQ(prepared(specs({"twice", "driver_a"})), "");
  ASSERT_EQ(set.start().text(), "");
  EXPECT_THAT(violations([&] { stop(); }), HasSubstr("where=\"driver removed\""));
  EXPECT_EQ(described("twice").state, module_state::stopped);
  EXPECT_EQ(described("driver_a").state, module_state::stopped);
}

TEST(lifecycle_completion_test, counts_a_violation_while_the_module_exists_and_logs_it_later) {
  test_host host;
  ry_host module{host.rt, "late", 1};
  lifecycle_completion completion(&module, "stop");
  const auto done = completion.done();
  EXPECT_FALSE(completion.is_complete());
  EXPECT_EQ(violations([&] { done.fn(done.ctx, RY_OK, nullptr); }), "");
  EXPECT_TRUE(completion.is_complete());
  EXPECT_NE(violations([&] { done.fn(done.ctx, RY_OK, nullptr); }), "");
  EXPECT_EQ(module.violations.load(), 1u);
  completion.forget_module();
  EXPECT_THAT(violations([&] { done.fn(done.ctx, RY_OK, nullptr); }), HasSubstr("called twice"));
  EXPECT_EQ(module.violations.load(), 1u);
}

}  // namespace
}  // namespace ry::module
