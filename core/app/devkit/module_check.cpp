#include "core/app/devkit/module_check.hpp"

#include <fcntl.h>
#include <poll.h>
#include <ry/if/core.h>
#include <ry/if/registrar.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>

#include "core/app/boot/paths.hpp"
#include "core/app/client/run_view.hpp"
#include "core/app/config/json_output.hpp"
#include "core/app/devkit/sandboxed_host.hpp"
#include "core/exec/buffer.hpp"
#include "core/module/inspect.hpp"
#include "core/module/library.hpp"
#include "core/module/registry.hpp"
#include "core/module/staging.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr auto test_time = 120s;
constexpr int answer_seconds = 5;
constexpr const char* transport_point = "mcp.transport/1";
constexpr const char* transport_suite = "mcp_check";
constexpr const char* in_progress = "in progress";  // reported by the suite's health() until its test case has finished

// Exit codes of a test for its parent; 0 and signals need no code.
constexpr int code_failed = 1;
constexpr int code_skipped = 4;
// The last line of a test that ran to its end. It is missing if a module exits the process itself.
constexpr std::string_view end_line = "[end of the test]";

struct mend {
  std::string what;
};
struct skip {
  std::string why;
};

// A temporary directory, removed with its owner.
class scratch {
 public:
  scratch() {
    std::string name = (fs::temp_directory_path() / "runyard-check-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

fs::path suite_file() {
  const auto root = executable_dir().parent_path();
  const std::string name = std::string(transport_suite) + ".so";
  for (const auto& directory : {root / "checks" / name, root / "lib" / "runyard" / "checks" / name}) {
    std::error_code ec;
    if (fs::exists(directory, ec)) return directory;
  }
  return {};
}

struct count {
  std::size_t descriptors = 0, threads = 0;
};
// Without the host's copies of modules, which stay open as long as their code is mapped.
count count_now() {
  count out;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto what = fs::read_symlink(entry, gone).string();
    if (!what.starts_with("/memfd:runyard-")) ++out.descriptors;
  }
  out.threads =
      static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
  return out;
}

// ---- the child's part -------------------------------------------------------------------------

class examination {
 public:
  explicit examination(const module_check& what) : what_(what) {
    const auto seen = module::inspect(what.file);
    if (!seen.manifest) throw mend{seen.problems.empty() ? "is not a module" : seen.problems.front()};
    manifest_ = *seen.manifest;
  }

  void file() const {
    const auto seen = module::inspect(what_.file);
    std::string all;
    for (const auto* list : {&seen.problems, &seen.warnings})
      for (const auto& each : *list) all += (all.empty() ? "" : "\n") + each;
    if (seen.exported != std::vector<std::string>{"ry_module_entry"}) {
      all += (all.empty() ? "" : "\n") +
             ("exports " + std::to_string(seen.exported.size()) +
              " symbols: link with the SDK's module.map, so that ry_module_entry is the only one");
    }
    if (!all.empty()) throw mend{all};
  }

  // Creates and destroys the module without starting it, as `runyard check` does.
  void create() {
    run([](sandboxed_host&) {}, step::created);
  }
  void life() {
    run([](sandboxed_host&) {}, step::started);
  }
  void thrice() {
    for (int i = 0; i < 2; ++i) life();
    const auto before = count_now();
    life();
    std::this_thread::sleep_for(100ms);
    const auto after = count_now();
    if (after.descriptors > before.descriptors)
      throw mend{"the third start/stop cycle leaves " + std::to_string(after.descriptors - before.descriptors) +
                 " file descriptors open: destroy() must close what create() and start() opened"};
    if (after.threads > before.threads)
      throw mend{"the third start/stop cycle leaves threads running: stop() must join them"};
  }

  // Removes each host interface in turn: the module must fail with an error message, or work without it.
  void needs() const {
    const module::library code(std::make_shared<const module::sealed_image>(what_.file));
    const auto* descriptor = code.descriptor();
    std::vector<std::string> ids = {RY_CORE_1, RY_REGISTRAR_1};
    for (const auto& n : manifest_.needs)
      if (n.id.rfind("ry.", 0) == 0 && n.id != RY_CORE_1) ids.push_back(n.id);
    for (const auto& id : ids) refuse_without(*descriptor, id);
  }

  void routes() {
    run(
        [this](sandboxed_host& t) {
          const auto all = own(t).routes;
          const auto port = t.listen();
          auth::token_request who;
          who.subject = "7d444840-9dc0-11d1-b245-5ffdce74fad2";
          who.role = auth::role::super_admin;
          who.ttl = 600s;
          const auto token = t.authenticator().mint_token(who).token;
          std::size_t asked = 0;
          for (const auto& route : all) {
            if (route.rfind("GET ", 0) != 0) continue;
            ++asked;
            answer_of(port, route.substr(4), token);
          }
          if (asked == 0) throw skip{"it has no GET routes"};
        },
        step::started);
  }

  // Runs the suite of the module's extension point, with a module that stands in for the point's owner.
  void transport(const std::string& name) {
    const auto driver = driver_of();
    const bool alone = name == "table" || name == "nonsense";
    if (what_.server.empty() && !alone) throw skip{"specify a server that responds: --server '{\"url\": ...}'"};
    const auto quoted = [](const std::string& s) { return boost::json::serialize(boost::json::string(s)); };
    suite_settings_ = {"case=" + name, "driver=" + driver, "config=" + quoted(what_.server)};
    // Comparing two rounds finds descriptors that leak.
    count before;
    const int rounds = name == "many" ? 2 : 1;
    for (int round = 1; round <= rounds; ++round) {
      run([](sandboxed_host& t) { wait_for_verdict(t); }, step::started);
      if (round == 1) before = count_now();
    }
    const auto after = count_now();
    if (after.descriptors > before.descriptors)
      throw mend{"20 sessions leave " + std::to_string(after.descriptors - before.descriptors) +
                 " descriptors open after their close()"};
    if (after.threads > before.threads)
      throw mend{"20 sessions leave " + std::to_string(after.threads - before.threads) + " threads running"};
  }

  // The names of the tests that apply to this module, found without running its code.
  std::vector<std::string> names() const {
    std::vector<std::string> all = {"file", "create", "life", "thrice", "needs", "routes"};
    if (needs_transport())
      for (const char* c : {"table", "nonsense", "exchange", "burst", "cancel", "close", "back_pressure",
                            "refused_message", "too_large", "many"})
        all.push_back(std::string("transport.") + c);
    return all;
  }

 private:
  enum class step { created, started };

  bool needs_transport() const {
    return std::any_of(manifest_.needs.begin(), manifest_.needs.end(),
                       [](const auto& n) { return n.id == transport_point; });
  }

  std::vector<tried_module> cast() const {
    std::vector<tried_module> all{{manifest_.name, what_.file, {}}};
    bool has_owner = false;
    for (const auto& each : what_.dependencies) {
      const auto seen = module::inspect(each);
      if (!seen.manifest) throw mend{each + " is not a module"};
      for (const auto& p : seen.manifest->provides) has_owner = has_owner || p == transport_point;
      all.push_back({seen.manifest->name, each, {}});
    }
    if (needs_transport() && !has_owner) {
      const auto suite = suite_file();
      if (suite.empty()) throw skip{"this installation lacks " + std::string(transport_suite) + ".so"};
      all.push_back({transport_suite, suite, suite_settings_});
    }
    return all;
  }

  module::module_description own(const sandboxed_host& t) const {
    for (auto& m : t.modules().describe())
      if (m.manifest.name == manifest_.name) return m;
    throw mend{"the host does not list it"};
  }

  std::string driver_of() {
    std::string name;
    run(
        [&](sandboxed_host& t) {
          for (const auto& d : own(t).drivers)
            if (d.point == transport_point) name = d.name;
        },
        step::created);
    if (name.empty()) throw mend{"needs mcp.transport/1 but contributes no driver to it"};
    return name;
  }

  // Runs the module's whole life cycle and checks what the host recorded.
  void run(const std::function<void(sandboxed_host&)>& work, step until) {
    const scratch directory;
    auto owned = std::make_unique<sandboxed_host>(cast(), directory.path());
    auto& t = *owned;
    if (const auto why = t.prepare(); !why.empty()) throw mend{why};
    if (until == step::started) {
      if (const auto why = t.start(); !why.empty()) throw mend{why};
      for (const auto& h : t.modules().health())
        if (h.module == manifest_.name && h.status != RY_OK && h.message.empty())
          throw mend{"health() returned an error without a message"};
    }
    std::string first;
    try {
      work(t);
    } catch (const mend& m) {
      first = m.what;
    }
    t.stop();
    const auto m = own(t);
    const auto add = [&](const std::string& s) { first += (first.empty() ? "" : "\n") + s; };
    if (m.violations != 0) add("violated the contract " + std::to_string(m.violations) + " times: " + m.last_violation);
    if (m.state == module::module_state::retired) {
      add("did not end: " + m.reason);
      // The module's code may still run, so the objects it uses must not be destroyed.
      (void)owned.release();
    }
    if (!first.empty()) throw mend{first};
  }

  static void wait_for_verdict(sandboxed_host& t) {
    for (;;) {
      for (const auto& h : t.modules().health()) {
        if (h.module != transport_suite) continue;
        if (h.status == RY_OK) return;
        if (h.message != in_progress) throw mend{h.message};
      }
      std::this_thread::sleep_for(5ms);
    }
  }

  static const void* without(const ry_host* host, ry_str id, std::uint32_t min_size) noexcept {
    return core::sv(id) == missing() ? nullptr : module::get_interface(host, id, min_size);
  }
  // The id of the interface that the host hides; static because get_interface has no context.
  static std::string& missing() {
    static std::string id;
    return id;
  }
  void refuse_without(const ry_module_v1& descriptor, const std::string& id) const {
    const scratch directory;
    sandboxed_host t(cast(), directory.path());
    const auto settings = t.settings_of(manifest_.name, core::sv(descriptor.config_schema_json));
    auto& rt = t.runtime();
    ry_host host(rt, manifest_.name, rt.modules->next_instance());
    std::vector<std::string> needs;
    for (const auto& n : manifest_.needs) needs.push_back(n.id);
    rt.modules->admit(&host, std::move(needs));
    ry_registrar registrar(&host, manifest_);
    std::array<char, 512> text{};
    ry_errbuf err{text.data(), text.size(), 0};
    void* self = nullptr;
    missing() = id;
    const auto st = module::invoke(&host, "create", descriptor.create, &host, &without, &registrar,
                                   core::view(settings), &self, &err);
    if (host.violations != 0) throw mend{"create() throws when the host lacks " + id + ": " + host.last_violation};
    if (st == RY_OK) return module::invoke(&host, "destroy", descriptor.destroy, self);
    if (err.len == 0 && registrar.problem.empty())
      throw mend{"create() fails without a message in err when the host lacks " + id};
    if (err.len > err.cap) throw mend{"create() sets err->len beyond err->cap"};
  }

  // Requests a route as an administrator, with a value for each parameter.
  static void answer_of(std::uint16_t port, std::string path, const std::string& token) {
    for (std::size_t open; (open = path.find('{')) != std::string::npos;)
      path.replace(open, path.find('}', open) - open + 1, "x");
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    socket.connect({asio::ip::address_v4::loopback(), port});
    const timeval timeout{answer_seconds, 0};
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    const auto request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
                         "\r\nConnection: close\r\n\r\n";
    if (::send(socket.native_handle(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
      throw mend{"GET " + path + ": the host closed the connection"};
    std::array<char, 64> head{};
    const auto n = ::recv(socket.native_handle(), head.data(), head.size(), 0);
    if (n <= 0)
      throw mend{"GET " + path + " gets no response within " + std::to_string(answer_seconds) +
                 " seconds: a module must answer each request exactly once"};
    const std::string_view status(head.data(), static_cast<std::size_t>(n));
    if (status.substr(0, 12) == "HTTP/1.1 500") throw mend{"GET " + path + " gets a 500"};
  }

  const module_check& what_;
  module::module_manifest manifest_;
  std::vector<std::string> suite_settings_;
};

// Exits without waiting for threads that may not end.
[[noreturn]] void leave(int code, const std::string& why = {}) {
  if (!why.empty()) std::printf("%s\n", why.c_str());
  std::printf("%s\n", end_line.data());
  std::fflush(nullptr);
  _exit(code);
}

// Runs one test, in the child.
exit_code run_test(const module_check& what) {
  observe::configure_log({observe::level::error, false});
  try {
    examination e(what);
    const auto& name = what.test;
    if (name == "names") {
      for (const auto& each : e.names()) std::printf("%s\n", each.c_str());
    } else if (name == "file") {
      e.file();
    } else if (name == "create") {
      e.create();
    } else if (name == "life") {
      e.life();
    } else if (name == "thrice") {
      e.thrice();
    } else if (name == "needs") {
      e.needs();
    } else if (name == "routes") {
      e.routes();
    } else if (name.rfind("transport.", 0) == 0) {
      e.transport(name.substr(10));
    } else {
      std::fprintf(stderr, "runyard: there is no test %s\n", name.c_str());
      return exit_code::refused;
    }
  } catch (const mend& m) {
    leave(code_failed, m.what);
  } catch (const skip& s) {
    leave(code_skipped, s.why);
  } catch (const std::exception& e) {
    leave(code_failed, e.what());
  }
  leave(0);
}

// ---- the parent's part ------------------------------------------------------------------------

struct verdict {
  int code = 0;  // from wait(): exit code, -signal; late: see below
  bool late = false;
  bool finished = false;  // the test ran to its end
  std::string output;
};

constexpr std::size_t max_output = 65536;  // keeps the end of the output

verdict run_child(const module_check& what, const std::string& test) {
  std::vector<std::string> args = {"runyard", "module", "check", what.file, "--test", test};
  if (!what.server.empty()) args.insert(args.end(), {"--server", what.server});
  for (const auto& each : what.dependencies) args.insert(args.end(), {"--with", each});
  std::vector<char*> argv;
  argv.reserve(args.size() + 1);
  for (auto& a : args) argv.push_back(a.data());
  argv.push_back(nullptr);
  const scratch directory;  // for files of processes that a module left running
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    ::setpgid(0, 0);
    ::dup2(ends[1], 1);
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nowhere, 0);
    ::dup2(nowhere, 2);
    ::setenv("TMPDIR", directory.path().c_str(), 1);
    ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  verdict v;
  const auto end = std::chrono::steady_clock::now() + test_time;
  std::array<char, 4096> piece{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd p{ends[0], POLLIN, 0};
    if (left.count() <= 0 || ::poll(&p, 1, static_cast<int>(left.count())) == 0) {
      v.late = true;
      break;
    }
    const auto n = ::read(ends[0], piece.data(), piece.size());
    if (n <= 0) break;
    v.output.append(piece.data(), static_cast<std::size_t>(n));
    if (v.output.size() > max_output) v.output.erase(0, v.output.size() - max_output);
  }
  ::close(ends[0]);
  if (v.late) ::kill(-child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  v.code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  while (!v.output.empty() && v.output.back() == '\n') v.output.pop_back();
  v.finished = v.output.ends_with(end_line);
  if (v.finished) v.output.resize(v.output.size() - end_line.size());
  while (!v.output.empty() && v.output.back() == '\n') v.output.pop_back();
  return v;
}

bool chosen(const module_check& what, const std::string& name) {
  return what.only.empty() || std::find(what.only.begin(), what.only.end(), name) != what.only.end();
}

// Converts the exit of a child to "passed", "FAILED" or "skipped". `v.output` receives the text for the report.
const char* outcome_of(verdict& v) {
  const auto explain = [&v](const std::string& why) { v.output = why + (v.output.empty() ? ")" : ")\n" + v.output); };
  if (v.late) {
    v.output = "did not end within " + std::to_string(test_time.count()) + " seconds";
  } else if (v.code < 0) {
    explain("terminated by signal " + std::to_string(-v.code) + " (" + ::strsignal(-v.code));
  } else if (!v.finished) {
    explain("the module terminated the process (exit code " + std::to_string(v.code));
  } else if (v.code == code_skipped) {
    return "skipped";
  } else if (v.code == 0) {
    v.output.clear();
    return "passed";
  }
  return "FAILED";
}

void print_verdict(const char* word, const std::string& name, const std::string& output) {
  std::printf("%-8s %s\n", word, name.c_str());
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) std::printf("         %s\n", line.c_str());
  std::fflush(stdout);
}

json::object described(const std::string& word, const std::string& name, const std::string& output) {
  json::object o{{"name", name}, {"result", word == "FAILED" ? "failed" : word}};
  if (!output.empty()) o["detail"] = client::printable(output);
  return o;
}

struct counts {
  std::size_t passed = 0, failed = 0, skipped = 0;
};

// `problems`: why no test could be run.
void print_report(json::array tests, const counts& n, const std::vector<std::string>& problems) {
  json::array texts;
  for (const auto& p : problems) texts.emplace_back(client::printable(p));
  print_json(json::serialize(json::object{{"tests", std::move(tests)},
                                          {"passed", n.passed},
                                          {"failed", n.failed},
                                          {"skipped", n.skipped},
                                          {"problems", std::move(texts)}}));
}

}  // namespace

exit_code check_module(const module_check& what) {
  if (!what.test.empty()) return run_test(what);
  boost::json::error_code ec;
  if (!what.server.empty() && !boost::json::parse(what.server, ec).is_object()) {
    std::fprintf(stderr, "runyard: --server must be a JSON object, e.g. '{\"url\": \"...\"}'\n");
    return exit_code::refused;
  }
  const auto listed = run_child(what, "names");
  if (listed.code != 0 || !listed.finished) {
    const auto problem = listed.output.empty() ? "it terminates the process when it is loaded" : listed.output;
    if (what.as == format::json) print_report({}, {}, {problem});
    std::fprintf(stderr, "%s: %s\n", what.file.c_str(), problem.c_str());
    return exit_code::failed;
  }
  counts n;
  json::array tests;
  std::istringstream names(listed.output);
  for (std::string name; std::getline(names, name);) {
    if (!chosen(what, name)) continue;
    auto v = run_child(what, name);
    const auto* word = outcome_of(v);
    ++(word[0] == 'p' ? n.passed : word[0] == 's' ? n.skipped : n.failed);
    if (what.as == format::text)
      print_verdict(word, name, v.output);
    else
      tests.push_back(described(word, name, v.output));
  }
  if (n.passed + n.failed + n.skipped == 0) {
    std::fprintf(stderr, "runyard: the module has no test with this name\n");
    return exit_code::refused;
  }
  if (what.as == format::json)
    print_report(std::move(tests), n, {});
  else
    std::printf("%zu passed, %zu failed, %zu skipped\n", n.passed, n.failed, n.skipped);
  return n.failed == 0 ? exit_code::ok : exit_code::failed;
}

}  // namespace ry::app
