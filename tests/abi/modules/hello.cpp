// A module in C++ with the wrapper: a coroutine that waits for a timer, for blocking work and for several concurrent
// tasks. ABI_NAME and ABI_LANG identify the compiler and library that built it.
#include <ry/ry.hpp>

namespace {

class hello {
 public:
  hello(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    if (ctx.settings().find("\"throw_in_create\":true") != std::string_view::npos) {
      throw ry::precondition("abi.asked_to", "the setting throw_in_create asked for it");
    }
    reg.route("GET", "/abi/" ABI_LANG, RY_ROUTE_PUBLIC, this, &hello::answer);
    reg.route("GET", "/abi/" ABI_LANG "/throws", RY_ROUTE_PUBLIC, this, &hello::fail);
    reg.route("GET", "/abi/" ABI_LANG "/stream", RY_ROUTE_PUBLIC | RY_ROUTE_LONG, this, &hello::stream);
  }
  ~hello() = default;

 private:
  ry::task<int> part(int n) {
    ry::result<void> slept = co_await ctx_.sleep(5);
    slept.value();
    co_return n;
  }
  ry::task<ry::response> answer(ry::request r) {
    std::vector<ry::task<int>> parts;
    for (int i = 0; i < 4; ++i) parts.push_back(part(i));
    const std::vector<ry::result<int>> all = co_await ry::when_all(std::move(parts));
    int sum = 0;
    for (const auto& one : all) sum += one.value();
    const int squared = co_await ctx_.run_blocking([sum] { return sum * sum; });
    co_return ry::response::json("{\"lang\":\"" ABI_LANG "\",\"n\":" + std::to_string(squared) +
                                 ",\"on_exec\":" + (ctx_.on_exec(r.exec()) ? "true" : "false") + "}");
  }
  ry::task<ry::response> fail(ry::request) {
    ry::result<void> slept = co_await ctx_.sleep(1);
    slept.value();
    throw std::runtime_error("thrown on purpose by " ABI_LANG);
  }
  ry::task<void> stream(ry::request r) {
    ry::sse s = r.open_sse();
    for (int i = 1; i <= 3; ++i) {
      s.send(std::to_string(i));
      ry::result<void> slept = co_await ctx_.sleep(2);
      if (!slept) co_return;
    }
  }

  ry::context& ctx_;
};

constexpr char schema[] = R"({"type":"object","properties":{"throw_in_create":{"type":"boolean"}}})";

}  // namespace

RY_MODULE(hello, ABI_NAME, "1.0.0", .needs("ry.core/1", "ry.http/1").settings(schema));
