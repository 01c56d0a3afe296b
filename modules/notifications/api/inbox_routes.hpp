// The inbox of an account: entries, unread count, and a stream of both.
#pragma once

#include "module_context.hpp"

namespace notifications {

class inbox_routes {
 public:
  explicit inbox_routes(const module_context& o) : context_(o) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> unread_count(ry::request r);
  ry::task<ry::response> read(ry::request r);
  ry::task<ry::response> read_all(ry::request r);
  ry::task<ry::response> stream_token(ry::request r, std::string path);
  ry::task<void> stream(ry::request r);
  // Sends the entries after `seq` and `version`, and advances both. Returns false if the client disconnected.
  ry::task<bool> catch_up(ry::sse& out, ry::uuid account, std::int64_t& seq, std::int64_t& version) const;
  ry::task<ry::response> mark_as_read(ry::uuid account, std::optional<ry::uuid> id) const;

  const module_context& context_;
};

}  // namespace notifications
