// Runs of all accounts and nodes, for admins: the list with its filters, and one run with the causes of its failure that
// its owner is not shown. Reads the database alone.
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
