// Rate limits for requests by client address and by account, and a limit of open streams per account. The nodes
// share the rates (README.md explains how, and how exact that is); each node counts streams for itself.
//
// Threads: any. Lifetime: created before the server that uses it; attach() while the database exists.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/http/cidr.hpp"
#include "core/http/server.hpp"
#include "core/limits/bucket_table.hpp"

namespace ry::db {
class connection;
class database;
}  // namespace ry::db

namespace ry::limits {

using http::serving::ipv6_prefix;
using http::serving::network_of;

struct settings {
  rate by_address, by_account;
  std::int64_t streams_per_account = 0;  // 0: no limit
};

class rate_limiter final : public http::request_gate {
 public:
  explicit rate_limiter(const settings& s);
  ~rate_limiter() override;

  // Starts sharing the counts with other nodes. Without it, each node counts alone.
  void attach(db::database& db);
  // Must be called before the database is destroyed.
  void detach();

  std::optional<http::gate_verdict> by_address(std::string_view address) override;
  std::optional<http::gate_verdict> by_account(std::string_view subject) override;
  std::shared_ptr<const void> stream_permit(std::string_view subject) override;

 private:
  struct shared_state {
    // Separate tables: a client with very many addresses cannot use up the capacity for accounts.
    bucket_table accounts, addresses;
    bucket_table networks;  // used while `addresses` is full
    std::atomic<bool> sharing{false};
    std::atomic<std::int64_t> swept_us{0};
    void report_usage(db::connection& c);
    static void report_usage(db::connection& c, bucket_table& buckets);
  };
  struct permits {
    std::mutex mutex;
    std::unordered_map<std::string, std::int64_t> in_use;
  };

  const settings settings_;
  const std::shared_ptr<shared_state> state_ = std::make_shared<shared_state>();
  const std::shared_ptr<permits> permits_ = std::make_shared<permits>();
  db::database* db_ = nullptr;
  std::uint64_t listening_ = 0;
};

}  // namespace ry::limits
