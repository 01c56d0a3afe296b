// POST /agent/start: reads the form, starts the run, and responds with its ids.
#pragma once
#include <ry/ry.hpp>

#include "api/run_starter.hpp"

namespace runs {

class start_route {
 public:
  start_route(module_context& p, run_starter& starter) : context_(p), starter_(starter) {}
  ry::task<void> serve(ry::request request);

 private:
  ry::task<ry::response> create_response(ry::request request);

  module_context& context_;
  run_starter& starter_;
};

}  // namespace runs
