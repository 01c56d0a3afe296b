// The names of contexts in the database: the client's context ids of threads whose ids are derived from them.
#pragma once

#include <map>
#include <ry/cpp/context.hpp>
#include <ry/cpp/db.hpp>
#include <string>
#include <vector>

namespace a2a {

class context_store {
 public:
  explicit context_store(const ry::context& ctx) : ctx_(ctx) {}

  ry::task<void> put(ry::uuid account, ry::uuid thread, std::string context_id) const;
  // The context ids of threads. A thread without a name is its own context id.
  ry::task<std::map<std::string, std::string>> names_of(ry::uuid account, std::vector<std::string> threads) const;
  ry::task<std::string> name_of(ry::uuid account, std::string thread) const;
  ry::task<void> delete_account(ry::uuid account) const;

 private:
  const ry::context& ctx_;
};

}  // namespace a2a
