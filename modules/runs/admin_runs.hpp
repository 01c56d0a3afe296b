// The list of what has not ended, of all accounts and nodes, for admins. Reads the database alone.
#pragma once
#include <ry/ry.hpp>

namespace runs {

class live_list {
 public:
  explicit live_list(const ry::context& ctx) : db_(ctx) {}
  ry::task<ry::response> serve(ry::request request);

 private:
  const ry::database db_;
};

}  // namespace runs
