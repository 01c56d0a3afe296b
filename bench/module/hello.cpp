// A minimal route, to measure the cost of a request to a module that does nothing.
#include <ry/ry.hpp>

namespace {

class hello {
 public:
  hello(ry::context&, ry::registrar& reg) {
    reg.route("GET", "/bench/hello", RY_ROUTE_PUBLIC,
              [](ry::request) { return ry::response::json(200, R"({"hello":"world"})"); });
  }
};

}  // namespace

RY_MODULE(hello, "bench_hello", "1.0.0", .needs("ry.http/1"));
