#include <ry/svc/runs.h>
#include <ry/cpp/module.hpp>

#include "chat_routes.hpp"
#include "openapi.hpp"

namespace aisdk {
namespace {

class aisdk_module {
 public:
  aisdk_module(ry::context& ctx, ry::registrar& reg) : routes_(ctx) {
    reg.describe(ry_openapi::api);
    routes_.add_to(reg);
  }
  void start() { routes_.start(); }

 private:
  chat_routes routes_;
};

}  // namespace
}  // namespace aisdk

RY_MODULE(aisdk::aisdk_module, "aisdk", "0.1.0", .needs(RY_HTTP_1, RY_SVC_ACCOUNTS_1, RY_SVC_RUNS_1));
