// Limits of requests by the address they come from and by the account they speak for, and of open streams of
// an account. Rates are shared by the nodes (README.md says how, and how exact that is); streams are counted
// on this node.
//
// Thread: any. Lifetime: made before the server, which asks it; attach() while the database lives.
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

  // From now on the nodes share what they count. Without it each counts alone.
  void attach(db::database& db);
  // Before the database is destroyed.
  void detach();

  std::optional<http::gate_verdict> by_address(std::string_view address) override;
  std::optional<http::gate_verdict> by_account(std::string_view subject) override;
  std::shared_ptr<const void> seat(std::string_view subject) override;

 private:
  struct shared_state {
    // Each of its own size: who comes from very many addresses takes no place of an account.
    bucket_table accounts, addresses;
    bucket_table networks;  // what addresses has no place for
    std::atomic<bool> telling{false};
    std::atomic<std::int64_t> swept_us{0};
    void tell(db::connection& c);
    static void tell(db::connection& c, bucket_table& buckets);
  };
  struct seats {
    std::mutex mutex;
    std::unordered_map<std::string, std::int64_t> taken;
  };

  const settings settings_;
  const std::shared_ptr<shared_state> state_ = std::make_shared<shared_state>();
  const std::shared_ptr<seats> seats_ = std::make_shared<seats>();
  db::database* db_ = nullptr;
  std::uint64_t listening_ = 0;
};

}  // namespace ry::limits
