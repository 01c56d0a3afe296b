// A module that is linked without the SDK's version script: its variable is a symbol that all libraries of the process
// share, so a new library would continue with the value of the old one.
#include <ry/ry.hpp>
#include <string>

template <class T>
struct shared {
  static inline int count = 0;
};

namespace {

class unique {
 public:
  unique(ry::context&, ry::registrar& reg) { reg.route("GET", "/abi_unique", RY_ROUTE_PUBLIC, this, &unique::count); }

 private:
  ry::task<ry::response> count(ry::request) {
    co_return ry::response::json("{\"count\":" + std::to_string(++shared<int>::count) + "}");
  }
};

}  // namespace

RY_MODULE(unique, ABI_NAME, "1.0.0", .needs("ry.http/1").settings("{}"));
