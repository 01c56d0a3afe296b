// The routes of models: those of runs/1, and the account's agents.
#pragma once
#include <boost/json/array.hpp>
#include <ry/ry.hpp>

#include "run_access.hpp"

namespace openai_api {

class model_routes {
 public:
  model_routes(const ry::context& ctx, const run_access& access) : ctx_(ctx), access_(access) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> show(ry::request r);
  ry::task<ry::response> list_models(ry::request r);
  ry::task<ry::response> show_model(ry::request r);
  ry::task<boost::json::array> all(ry::uuid account);

  const ry::context& ctx_;
  const run_access& access_;
};

}  // namespace openai_api
