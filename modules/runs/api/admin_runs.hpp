// Admin routes for the runs of all accounts and nodes: the filtered list, and one run with the failure causes that are
// hidden from its owner. Reads only the database.
#pragma once
#include <ry/ry.hpp>

namespace runs {

class admin_runs {
 public:
  explicit admin_runs(const ry::context& ctx) : db_(ctx) {}
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> get(ry::request request);

 private:
  const ry::database db_;
};

}  // namespace runs
