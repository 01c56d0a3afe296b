#include "password.hpp"

#include <sodium.h>

#include <algorithm>
#include <optional>
#include <ry/cpp/text.hpp>
#include <set>
#include <utility>

#include "without_protection.hpp"

namespace accounts {
namespace {

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string hash_now(std::string_view password, hash_cost cost) {
  char out[crypto_pwhash_STRBYTES];
  if (crypto_pwhash_str_alg(out, password.data(), password.size(), cost.passes, cost.memory_bytes,
                            crypto_pwhash_ALG_ARGON2ID13) != 0) {
    throw ry::unavailable("accounts.busy", "Not enough memory to check the password; try again later");
  }
  return out;
}

std::string make_dummy_hash(hash_cost cost) {
  if (sodium_init() < 0) throw ry::internal("accounts.sodium", "libsodium cannot be initialised");
  char random[32];
  randombytes_buf(random, sizeof random);
  return hash_now({random, sizeof random}, cost);
}

}  // namespace

std::string password_fault(std::string_view password, std::string_view email, std::size_t min_length) {
  if (password.size() > max_password_bytes) {
    return "must have at most " + std::to_string(max_password_bytes) + " bytes";
  }
  if (characters(password) < min_length) {
    return "must have at least " + std::to_string(min_length) + " characters";
  }
  if (std::set<char>(password.begin(), password.end()).size() < 4) {
    return "must contain at least four different characters";
  }
  const auto low = ry::lower_ascii(password);
  const auto address = ry::lower_ascii(email);
  if (low == address || low == address.substr(0, address.find('@'))) return "must not be the e-mail address";
  return {};
}

// Permission to compute a hash; the destructor releases it.
class password_hasher::permit {
 public:
  explicit permit(password_hasher* hasher) noexcept : hasher_(hasher) {}
  permit(permit&& o) noexcept : hasher_(std::exchange(o.hasher_, nullptr)) {}
  permit& operator=(permit&&) = delete;
  ~permit() {
    if (hasher_) hasher_->release_permit();
  }

 private:
  password_hasher* hasher_;
};

password_hasher::password_hasher(const ry::context& ctx, hash_cost cost, std::size_t parallel, std::size_t max_waiting)
    : ctx_(ctx), cost_(cost), parallel_(parallel), waiting_(max_waiting, std::max<std::size_t>(1, max_waiting / 8)) {}

ry::task<void> password_hasher::prepare() {
  const auto compute = [this] { return make_dummy_hash(cost_); };
  dummy_hash_ = co_await ctx_.run_blocking(compute);
}

ry_status password_hasher::request_permit(const std::string& client, ry_exec* exec, ry_done done) {
  {
    std::unique_lock lock(mutex_);
    if (running_ == parallel_) {
      const bool single_queue = ry_test::without_protection("hash_turns");
      const auto pushed = waiting_.push(single_queue ? std::string() : client, {exec, done});
      lock.unlock();
      if (pushed.displaced) complete(*pushed.displaced, RY_UNAVAILABLE);
      return pushed.queued ? RY_OK : RY_UNAVAILABLE;
    }
    ++running_;
  }
  complete({exec, done}, RY_OK);
  return RY_OK;
}

void password_hasher::complete(const waiter& w, ry_status st) const noexcept {
  try {
    ctx_.post(w.exec, [done = w.done, st] { done.fn(done.ctx, st, nullptr); });
  } catch (...) {
    ctx_.log_error("the result of a password check could not be delivered", ry::current_error());
  }
}

void password_hasher::release_permit() noexcept {
  std::optional<waiter> next;
  {
    std::lock_guard lock(mutex_);
    next = waiting_.pop();
    if (!next) --running_;
  }
  // The permit passes to the next waiter without being released.
  if (next) complete(*next, RY_OK);
}

ry::task<password_hasher::permit> password_hasher::acquire_permit(std::string client) {
  const auto entered = co_await ry::call_done(
      [this, &client](ry_exec* exec, ry_done done) { return request_permit(client, exec, done); });
  if (!entered) {
    throw ry::http_error(503, RY_UNAVAILABLE, "accounts.busy", "Too many passwords are being checked; try again")
        .with_retry_after(1);
  }
  co_return permit(this);
}

ry::task<std::string> password_hasher::hash(std::string password, std::string client) {
  const permit held = co_await acquire_permit(std::move(client));
  const auto compute = [this, &password] { return hash_now(password, cost_); };
  co_return co_await ctx_.run_blocking(compute);
}

ry::task<bool> password_hasher::verify(std::string stored, std::string password, std::string client) {
  const permit held = co_await acquire_permit(std::move(client));
  const bool has_hash = !stored.empty();
  const std::string& hash = has_hash ? stored : dummy_hash_;
  const auto compute = [&hash, &password] {
    return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
  };
  const bool matches = co_await ctx_.run_blocking(compute);
  co_return matches&& has_hash;
}

bool password_hasher::is_stale(const std::string& stored) const {
  return crypto_pwhash_str_needs_rehash(stored.c_str(), cost_.passes, cost_.memory_bytes) != 0;
}

}  // namespace accounts
