#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/observe/trace.hpp"
#include "core/process/reaper.hpp"
#include "core/process/supervisor.hpp"

namespace {

using ry::core::view;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

struct running {
  std::mutex mutex;
  std::condition_variable changed;
  std::string out, err;
  int exits = 0;
  std::int32_t code = 0, why = 0;
  bool order_broken = false, wrong_thread = false;
  ry_exec* exec = nullptr;
  ry_process* handle = nullptr;
  std::function<ry_status()> on_out;

  bool wait(int ms = 20'000) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, milliseconds(ms), [&] { return exits > 0; });
  }
  bool wait_out(std::string_view text, int ms = 10'000) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, milliseconds(ms), [&] { return out.find(text) != std::string::npos; });
  }
};

struct options {
  std::vector<std::string> env = {"PATH=/usr/bin:/bin"};
  std::string cwd;
  ry_process_limits limits{sizeof(ry_process_limits)};
  std::uint32_t flags = 0;
  std::function<ry_status()> on_out;
};

struct process_fixture {
  ry::exec::loop_pool loops{2};
  ry::module::runtime rt;
  ry::process::supervisor processes{loops};
  ry_host host{rt, "tester", 1};
  std::string error;
  std::vector<std::shared_ptr<running>> all;

  process_fixture() { rt.processes = &processes; }
  ~process_fixture() {
    for (auto& r : all)
      if (r->handle) ry::process::process_v1().release(r->handle);
    processes.stop();
    for (int i = 0; i < 5000 && (processes.alive() || host.outstanding); ++i)
      std::this_thread::sleep_for(milliseconds(1));
    EXPECT_EQ(processes.alive(), 0u);
    EXPECT_EQ(host.outstanding, 0);
    loops.stop_and_join();
  }

  ry_status try_start(const std::vector<std::string>& argv, std::shared_ptr<running>& r, const options& o = {}) {
    r = std::make_shared<running>();
    r->exec = &loops.pick();
    r->on_out = o.on_out;
    std::vector<ry_str> a, e;
    for (const auto& s : argv) a.push_back(view(s));
    for (const auto& s : o.env) e.push_back(view(s));
    ry_process_spec spec{};
    spec.struct_size = sizeof spec;
    spec.flags = o.flags;
    spec.argv = a.data();
    spec.n_argv = a.size();
    spec.env = e.data();
    spec.n_env = e.size();
    spec.cwd = view(o.cwd);
    spec.limits = o.limits;
    const ry_process_handler h{sizeof h, 0, &on_stdout, &on_stderr, &on_exit};
    char text[256];
    ry_errbuf err{text, sizeof text, 0};
    ry_process* handle = nullptr;
    all.push_back(r);
    const auto st = ry::process::process_v1().spawn(&host, r->exec, &spec, &h, r.get(), &handle, &err);
    std::lock_guard lock(r->mutex);
    r->handle = handle;
    error.assign(text, err.len);
    return st;
  }
  std::shared_ptr<running> start(const std::vector<std::string>& argv, const options& o = {}) {
    std::shared_ptr<running> r;
    const auto st = try_start(argv, r, o);
    EXPECT_EQ(st, RY_OK) << error;
    if (st != RY_OK) std::abort();
    return r;
  }
  std::shared_ptr<running> shell(const std::string& script, const options& o = {}) {
    return start({"sh", "-c", script}, o);
  }

  static ry_status on_stdout(void* ctx, ry_bytes b) noexcept {
    auto& r = *static_cast<running*>(ctx);
    {
      std::lock_guard lock(r.mutex);
      r.out.append(ry::core::sv(b));
      r.order_broken = r.order_broken || r.exits;
      r.wrong_thread = r.wrong_thread || !r.exec->is_current();
      r.changed.notify_all();
    }
    return r.on_out ? r.on_out() : RY_OK;
  }
  static ry_status on_stderr(void* ctx, ry_bytes b) noexcept {
    auto& r = *static_cast<running*>(ctx);
    std::lock_guard lock(r.mutex);
    r.err.append(ry::core::sv(b));
    r.order_broken = r.order_broken || r.exits;
    return RY_OK;
  }
  static void on_exit(void* ctx, std::int32_t code, std::int32_t why) noexcept {
    auto& r = *static_cast<running*>(ctx);
    std::lock_guard lock(r.mutex);
    ++r.exits;
    r.code = code;
    r.why = why;
    r.changed.notify_all();
  }
};

bool lives(pid_t pid) {
  if (::kill(pid, 0) != 0) return false;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto at = line.rfind(')');
  return at != std::string::npos && at + 2 < line.size() && line[at + 2] != 'Z' && line[at + 2] != 'X';
}

bool dies_within(pid_t pid, int ms) {
  for (int i = 0; i < ms / 5; ++i) {
    if (!lives(pid)) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return !lives(pid);
}

std::size_t open_descriptors() {
  std::size_t n = 0;
  DIR* d = ::opendir("/proc/self/fd");
  while (::readdir(d)) ++n;
  ::closedir(d);
  return n;
}

TEST(process, programs_are_started_by_loops_and_outlive_other_threads_that_start_them) {
  process_fixture w;
  const auto script = "read word; echo it is $word";
  std::shared_ptr<running> by_loop, by_thread;
  std::promise<void> started;
  w.loops.pick().post([&] {
    by_loop = w.shell(script);
    started.set_value();
  });
  started.get_future().get();
  std::thread([&] { by_thread = w.shell(script); }).join();
  std::this_thread::sleep_for(milliseconds(50));
  for (const auto& r : {by_loop, by_thread}) {
    EXPECT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes("well\n"), {}), RY_OK);
    EXPECT_TRUE(r->wait());
    EXPECT_EQ(r->out, "it is well\n");
    EXPECT_EQ(r->code, 0);
  }
}

TEST(process, runs_a_program_with_nothing_inherited) {
  ::setenv("RY_TEST_SECRET", "x", 1);
  process_fixture w;
  auto r = w.start({"sh", "-c", "cat; env; pwd; ls /proc/self/fd | tr '\\n' ' '; echo e >&2; exit 7"},
                   {.env = {"PATH=/usr/bin:/bin", "A=b c"}, .cwd = "/usr"});
  const std::string text = "hello\n";
  EXPECT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes(text), {}), RY_OK);
  ry::process::process_v1().close_stdin(r->handle);
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->code, 7);
  EXPECT_EQ(r->why, 0);
  EXPECT_EQ(r->err, "e\n");
  EXPECT_FALSE(r->order_broken);
  EXPECT_FALSE(r->wrong_thread);
  EXPECT_THAT(r->out, testing::StartsWith("hello\n"));
  EXPECT_THAT(r->out, HasSubstr("A=b c\n"));
  EXPECT_THAT(r->out, HasSubstr("/usr\n"));
  EXPECT_THAT(r->out, HasSubstr("0 1 2 3 "));
  EXPECT_THAT(r->out, testing::Not(HasSubstr("4 ")));
  EXPECT_THAT(r->out, testing::Not(HasSubstr("RY_TEST_SECRET")));
}

TEST(process, standard_error_can_join_standard_output) {
  process_fixture w;
  auto r = w.shell("echo a; echo b >&2", {.flags = RY_PROCESS_STDERR_TO_STDOUT});
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->out, "a\nb\n");
}

TEST(process, reports_why_a_program_could_not_start) {
  process_fixture w;
  std::shared_ptr<running> r;
  EXPECT_EQ(w.try_start({"no-such-program"}, r), RY_NOT_FOUND);
  EXPECT_THAT(w.error, HasSubstr("no-such-program"));
  EXPECT_EQ(w.try_start({"/no/such/program"}, r), RY_NOT_FOUND);
  EXPECT_EQ(w.try_start({"/etc/passwd"}, r), RY_PERMISSION_DENIED);
  EXPECT_EQ(w.try_start({"sh"}, r, {.cwd = "/no/such/dir"}), RY_FAILED_PRECONDITION);
  EXPECT_EQ(w.try_start({"sh"}, r, {.env = {"PATH=/nowhere"}}), RY_NOT_FOUND);
  EXPECT_EQ(w.try_start({}, r), RY_INVALID_ARGUMENT);
  EXPECT_EQ(w.try_start({std::string("a\0b", 3)}, r), RY_INVALID_ARGUMENT);
  EXPECT_EQ(w.try_start({"sh"}, r, {.env = {"NOEQUALS"}}), RY_INVALID_ARGUMENT);
  EXPECT_THAT(w.error, HasSubstr("env"));
}

TEST(process, reports_signals) {
  process_fixture w;
  auto r = w.shell("kill -TERM $$; sleep 5");
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->code, -SIGTERM);
  EXPECT_EQ(r->why, 0);
}

TEST(process, kills_a_child_that_ignores_signals_at_its_time_limit) {
  process_fixture w;
  options o;
  o.limits.wall_ms = 200;
  const auto begin = steady_clock::now();
  auto r = w.shell("trap '' TERM INT HUP; while :; do sleep 1; done", o);
  ASSERT_TRUE(r->wait());
  EXPECT_LT(steady_clock::now() - begin, milliseconds(3000));
  EXPECT_EQ(r->code, -SIGKILL);
  EXPECT_EQ(r->why, RY_REASON_DEADLINE);
}

TEST(process, kill_signals_the_whole_group) {
  process_fixture w;
  auto r = w.shell("sleep 300 & echo $!; trap '' TERM; sleep 300 & echo $! ready; wait");
  ASSERT_TRUE(r->wait_out("ready"));
  const pid_t grandchild = std::stoi(r->out);
  ry::process::process_v1().kill(r->handle, SIGTERM);
  EXPECT_TRUE(dies_within(grandchild, 3000));
  ry::process::process_v1().kill(r->handle, SIGKILL);
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->why, RY_REASON_USER);
}

TEST(process, release_kills_grandchildren_and_silences_the_handler) {
  process_fixture w;
  auto r = w.shell("sleep 300 & echo $! ready; wait");
  ASSERT_TRUE(r->wait_out("ready"));
  const pid_t grandchild = std::stoi(r->out);
  const pid_t leader = ry::process::process_v1().pid(r->handle);
  ry::process::process_v1().release(std::exchange(r->handle, nullptr));
  EXPECT_TRUE(dies_within(grandchild, 3000));
  EXPECT_TRUE(dies_within(leader, 3000));
  for (int i = 0; i < 1000 && w.processes.alive(); ++i) std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(w.processes.alive(), 0u);
  EXPECT_EQ(r->exits, 0);
  EXPECT_EQ(::waitpid(leader, nullptr, WNOHANG), -1);  // reaped
}

TEST(process, remaining_children_do_not_keep_a_process_running) {
  process_fixture w;
  const auto begin = steady_clock::now();
  auto r = w.shell("sleep 300 & echo $! ready; exit 3");
  ASSERT_TRUE(r->wait());
  EXPECT_LT(steady_clock::now() - begin, milliseconds(3000));
  EXPECT_EQ(r->code, 3);
  EXPECT_TRUE(dies_within(std::stoi(r->out), 1000));
}

TEST(process, a_pipe_held_by_a_process_outside_the_group_is_closed) {
  process_fixture w;
  auto r = w.shell("setsid sleep 4 & exit 0");
  ASSERT_TRUE(r->wait(3500));
  EXPECT_EQ(r->code, 0);
}

TEST(process, large_output_is_read_completely_and_paused_on_request) {
  process_fixture w;
  std::atomic<bool> pausing{true};
  options o;
  o.on_out = [&]() -> ry_status { return pausing ? RY_RESOURCE_EXHAUSTED : RY_OK; };
  auto r = w.shell("head -c 20000000 /dev/zero", o);
  std::this_thread::sleep_for(milliseconds(200));
  {
    std::lock_guard lock(r->mutex);
    EXPECT_LE(r->out.size(), 65536u);
    EXPECT_EQ(r->exits, 0);
  }
  pausing = false;
  ry::process::process_v1().resume(r->handle);
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->out.size(), 20'000'000u);
  EXPECT_EQ(r->code, 0);
}

TEST(process, a_paused_receiver_gets_the_output_written_before_the_end) {
  process_fixture w;
  std::atomic<bool> pausing{true};
  options o;
  o.on_out = [&]() -> ry_status { return pausing ? RY_RESOURCE_EXHAUSTED : RY_OK; };
  auto r = w.shell("echo one; sleep 0.2; echo two", o);
  EXPECT_FALSE(r->wait(600));
  pausing = false;
  ry::process::process_v1().resume(r->handle);
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->out, "one\ntwo\n");
}

TEST(process, limits_are_enforced) {
  process_fixture w;
  options o;
  o.limits.file_bytes = 100'000;
  o.limits.memory_bytes = 512ull << 20;
  o.limits.open_files = 40;
  auto r = w.shell(
      "f=$(mktemp); head -c 1000000 /dev/zero > $f 2>/dev/null; stat -c %s $f; rm $f; ulimit -n; "
      "ulimit -v; ulimit -c",
      o);
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->out, "100000\n40\n524288\n0\n");
  options cpu;
  cpu.limits.cpu_s = 1;
  auto busy = w.shell("while :; do :; done", cpu);
  ASSERT_TRUE(busy->wait());
  EXPECT_LT(busy->code, 0);
}

TEST(process, input_is_bounded_and_reports_a_closed_reader) {
  process_fixture w;
  auto r = w.shell("sleep 300");
  const std::string block(600 * 1024, 'x');
  struct state {
    std::atomic<int> calls{0};
    std::atomic<int> last{-1};
  } s;
  const ry_done done{[](void* ctx, ry_status st, const ry_error_view*) noexcept {
                       auto& x = *static_cast<state*>(ctx);
                       x.last = st;
                       ++x.calls;
                     },
                     &s};
  EXPECT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes(block), done), RY_OK);
  EXPECT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes(block), done), RY_RESOURCE_EXHAUSTED);
  ry::process::process_v1().kill(r->handle, SIGKILL);
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(s.calls, 1);
  EXPECT_EQ(s.last, RY_CANCELLED);
  EXPECT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes(block), done), RY_CANCELLED);

  auto cat = w.start({"cat"});
  s.calls = 0;
  const std::string megabyte(1 << 20, 'y');
  EXPECT_EQ(ry::process::process_v1().write(cat->handle, ry::core::bytes(megabyte), done), RY_OK);
  ry::process::process_v1().close_stdin(cat->handle);
  ASSERT_TRUE(cat->wait());
  EXPECT_EQ(cat->out.size(), megabyte.size());
  EXPECT_EQ(s.calls, 1);
  EXPECT_EQ(s.last, RY_OK);
}

TEST(process, many_concurrent_children_leave_nothing_behind) {
  const auto before = open_descriptors();
  {
    process_fixture w;
    std::vector<std::shared_ptr<running>> all;
    for (int i = 0; i < 200; ++i) all.push_back(w.shell("echo out" + std::to_string(i) + "; sleep 0.05; echo err >&2"));
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(all[i]->wait());
      EXPECT_EQ(all[i]->out, "out" + std::to_string(i) + "\n");
      EXPECT_EQ(all[i]->err, "err\n");
      EXPECT_EQ(all[i]->exits, 1);
    }
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(process, stop_kills_all_children) {
  process_fixture w;
  std::vector<std::shared_ptr<running>> all;
  for (int i = 0; i < 10; ++i) all.push_back(w.shell("sleep 300"));
  w.processes.stop();
  for (auto& r : all) {
    ASSERT_TRUE(r->wait(3000));
    EXPECT_EQ(r->code, -SIGKILL);
    EXPECT_EQ(r->why, RY_REASON_SHUTDOWN);
  }
  std::shared_ptr<running> r;
  EXPECT_EQ(w.try_start({"sh"}, r), RY_UNAVAILABLE);
}

// A host in a separate process: act(pipe) reports to the test through the pipe, then the host keeps running.
struct host {
  pid_t pid = -1;
  int report_pipe = -1;
};
template <class F>
host start_host(F act) {
  int pipe_fds[2];
  if (::pipe(pipe_fds) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(pipe_fds[0]);
    act(pipe_fds[1]);
    for (;;) ::pause();
  }
  ::close(pipe_fds[1]);
  return {pid, pipe_fds[0]};
}

// When a host is killed, its children and their children die with it.
TEST(process, children_and_grandchildren_die_with_the_host) {
  const auto [host, report_pipe] = start_host([](int pipe) {
    auto* w = new process_fixture;
    auto r = w->shell("sleep 300 & echo $! ready; wait");
    r->wait_out("ready");
    const std::string line = std::to_string(ry::process::process_v1().pid(r->handle)) + " " + r->out;
    if (::write(pipe, line.data(), line.size()) < 0) ::_exit(1);
  });
  ASSERT_GT(host, 0);
  char text[128];
  const auto n = ::read(report_pipe, text, sizeof text - 1);
  ::close(report_pipe);
  ASSERT_GT(n, 0);
  text[n] = 0;
  pid_t leader = 0, grandchild = 0;
  ASSERT_EQ(std::sscanf(text, "%d %d", &leader, &grandchild), 2);
  EXPECT_TRUE(lives(leader));
  EXPECT_TRUE(lives(grandchild));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  EXPECT_TRUE(dies_within(leader, 3000));
  EXPECT_TRUE(dies_within(grandchild, 3000));
}

// A process in its own group, which only a reaper ends.
pid_t start_group() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    for (;;) ::pause();
  }
  ::setpgid(pid, pid);
  return pid;
}

// The first child of this process.
pid_t first_child() {
  pid_t pid = 0;
  std::ifstream("/proc/thread-self/children") >> pid;
  return pid;
}

TEST(process, the_reaper_kills_its_process_groups_and_nothing_else) {
  const auto [host, report_pipe] = start_host([](int pipe) {
    auto& g = *new ry::process::reaper;
    // More groups than the file holds initially; no process has such a pid.
    for (pid_t none = 9'000'000; none < 9'000'600; ++none) g.watch(none);
    for (pid_t none = 9'000'000; none < 9'000'300; ++none) g.forget(none);
    const pid_t shell = first_child();
    const pid_t groups[] = {start_group(), start_group(), start_group()};
    g.watch(groups[0]);
    g.watch(groups[1]);
    g.forget(groups[0]);
    // After its shell is killed it starts another one, which reads the same groups.
    ::kill(shell, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(shell), &info, WEXITED | WNOWAIT);
    g.watch(groups[2]);
    if (::write(pipe, groups, sizeof groups) < 0) ::_exit(1);
  });
  ASSERT_GT(host, 0);
  pid_t groups[3] = {};
  const auto n = ::read(report_pipe, groups, sizeof groups);
  ::close(report_pipe);
  ASSERT_EQ(n, static_cast<ssize_t>(sizeof groups));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  EXPECT_TRUE(dies_within(groups[1], 3000));
  EXPECT_TRUE(dies_within(groups[2], 3000));
  EXPECT_TRUE(lives(groups[0]));
  ::kill(groups[0], SIGKILL);
}

TEST(process, messages_written_together_arrive_in_order) {
  process_fixture w;
  auto r = w.start({"cat"});
  std::string all;
  std::promise<void> written;
  r->exec->post([&] {
    for (int i = 0; i < 100; ++i) {
      const std::string text = std::to_string(i) + std::string(i % 7 == 0 ? 5000 : 0, 'x') + "\n";
      all += text;
      EXPECT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes(text), {}), RY_OK);
    }
    ry::process::process_v1().close_stdin(r->handle);
    written.set_value();
  });
  written.get_future().wait();
  ASSERT_TRUE(r->wait());
  EXPECT_EQ(r->out, all);
}

// ---- traces

ry::observe::trace_ref trace_of(std::uint8_t id) {
  boost::intrusive_ptr<ry_trace> t(new ry_trace);
  t->trace_id[0] = id;
  return t;
}

struct traced {
  std::mutex mutex;
  std::condition_variable noted;
  std::vector<int> seen;
  void note() {
    const auto t = ry::observe::current_trace();
    std::lock_guard lock(mutex);
    seen.push_back(t ? t->trace_id[0] : 0);
    noted.notify_all();
  }
  // Waits until `n` observations are recorded: the test can see the output itself a moment earlier.
  std::vector<int> wait(std::size_t n) {
    std::unique_lock lock(mutex);
    noted.wait_for(lock, std::chrono::seconds(10), [&] { return seen.size() >= n; });
    return seen;
  }
};

TEST(process, output_belongs_to_the_trace_of_the_last_input) {
  process_fixture w;
  traced t;
  options o;
  o.on_out = [&] {
    t.note();
    return RY_OK;
  };
  std::shared_ptr<running> r;
  {
    const ry::observe::trace_scope scope(trace_of(1));
    r = w.start({"cat"}, o);
  }
  const ry::observe::trace_scope scope(trace_of(2));
  ASSERT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes("one"), {}), RY_OK);
  ASSERT_TRUE(r->wait_out("one"));
  EXPECT_EQ(t.wait(1), std::vector<int>{2});
}

TEST(process, a_child_started_in_advance_belongs_to_the_trace_of_its_first_input) {
  process_fixture w;
  traced t;
  options o;
  o.on_out = [&] {
    t.note();
    return RY_OK;
  };
  const auto r = w.shell("echo early; exec cat", o);
  ASSERT_TRUE(r->wait_out("early"));
  for (const std::uint8_t id : {3, 4}) {
    const ry::observe::trace_scope scope(trace_of(id));
    const std::string word = "word" + std::to_string(id);
    ASSERT_EQ(ry::process::process_v1().write(r->handle, ry::core::bytes(word), {}), RY_OK);
    ASSERT_TRUE(r->wait_out(word));
  }
  EXPECT_EQ(t.wait(3), (std::vector<int>{0, 3, 4}));
}

}  // namespace
