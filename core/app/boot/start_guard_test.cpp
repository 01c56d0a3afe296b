#include "core/app/boot/start_guard.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/module/crash_reporter.hpp"

namespace ry::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class start_guard_test : public testing::Test {
 protected:
  start_guard_test() { std::filesystem::create_directory(dir_); }
  ~start_guard_test() override { std::filesystem::remove_all(dir_); }
  // The process terminates while the module is being started.
  template <class F>
  void ends_in_start(int signal, F how) {
    EXPECT_EXIT(
        {
          module::explain_crashes();
          start_guard guard(dir_);
          guard.starting("shop", "aa");
          how();
        },
        testing::KilledBySignal(signal), "");
  }
  std::string objection(const std::string& sha256 = "aa") const { return start_guard(dir_).objection("shop", sha256); }

  const std::filesystem::path dir_ =
      std::filesystem::temp_directory_path() / ("ry-start-guard-" + std::to_string(::getpid()));
};

TEST_F(start_guard_test, a_crash_in_start_is_recorded_for_that_file) {
  ends_in_start(SIGABRT, [] { std::abort(); });
  EXPECT_EQ(objection(), "the server crashed during the last start of this file");
  EXPECT_THAT(objection("bb"), IsEmpty());
  start_guard(dir_).started("shop");
  EXPECT_THAT(objection(), IsEmpty());
}

TEST_F(start_guard_test, a_segmentation_fault_in_start_is_a_crash) {
  ends_in_start(SIGSEGV, [] { *static_cast<volatile int*>(nullptr) = 1; });
  EXPECT_THAT(objection(), HasSubstr("crashed"));
}

TEST_F(start_guard_test, a_kill_counts_only_if_it_happens_twice_in_a_row) {
  const auto kill = [] { ::kill(::getpid(), SIGKILL); };
  ends_in_start(SIGKILL, kill);
  EXPECT_THAT(objection(), IsEmpty());
  ends_in_start(SIGKILL, kill);
  EXPECT_EQ(objection(), "the server ended during the last 2 starts of this file");
  start_guard(dir_).starting("shop", "bb");
  EXPECT_THAT(objection("bb"), IsEmpty()) << "a different file starts with no record";
}

TEST_F(start_guard_test, a_signal_from_another_process_is_not_a_crash) {
  ends_in_start(SIGABRT, [] {
    // A service manager's watchdog kills the server like this.
    if (::fork() == 0) {
      ::kill(::getppid(), SIGABRT);
      ::_exit(0);
    }
    for (;;) ::pause();
  });
  EXPECT_THAT(objection(), IsEmpty());
}

TEST_F(start_guard_test, a_module_without_a_recorded_start_is_allowed) {
  start_guard guard(dir_);
  guard.starting("shop", "aa");
  guard.started("shop");
  EXPECT_THAT(objection(), IsEmpty());
  EXPECT_THAT(start_guard(dir_ / "missing" / "directory").objection("shop", "aa"), IsEmpty());
}

}  // namespace
}  // namespace ry::app
