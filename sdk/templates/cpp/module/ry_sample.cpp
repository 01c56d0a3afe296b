// A module in C++20 with one route and one setting, the greeting.
#include <ry/ry.hpp>

namespace {

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {"greeting": {"type": "string", "default": "Hello", "description": "Shown in every response"}}
})json";

class ry_sample {
 public:
  // Registers the route. No I/O and no threads here.
  ry_sample(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    reg.route("GET", "/ry_sample/{name}", RY_ROUTE_PUBLIC, this, &ry_sample::greet);
  }

 private:
  // Runs on an executor of the host: it may suspend, but must not block.
  ry::task<ry::response> greet(ry::request r) {
    const std::string name(r.param("name"));
    if (name.size() > 100) throw ry::bad_request("ry_sample.name", "name is longer than 100 bytes");
    ry::result<void> slept = co_await ctx_.sleep(1);
    slept.value();
    co_return ry::response::json("{\"settings\":" + std::string(ctx_.settings()) +
                                 ",\"name\":" + ry::json_string(name) + "}");
  }
  ry::context& ctx_;
};

}  // namespace

RY_MODULE(ry_sample, "ry_sample", "0.1.0", .needs(RY_CORE_1, RY_HTTP_1).settings(schema));
