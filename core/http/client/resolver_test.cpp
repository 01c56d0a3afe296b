// Tests of the scheduling of lookups on threads, and of dropped lookups.
#include "core/http/client/resolver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/exec/loop.hpp"
#include "core/http/client/lookup_schedule.hpp"

namespace {

using ry::http::name_source;
using ry::http::resolver;
using std::chrono::milliseconds;

const ry::http::lookup_schedule::limits schedule_limits;

// A name server that does not answer names that begin with "silent" until answer_all().
class name_server {
 public:
  resolver::lookup_fn lookup() {
    return [s = state_](const std::string& host) -> resolver::addresses {
      std::unique_lock lock(s->mutex);
      s->asked.push_back(host);
      s->changed.notify_all();
      if (host.starts_with("silent")) {
        s->changed.wait(lock, [&] { return s->open; });
        return {};
      }
      return {boost::asio::ip::make_address("93.184.216.34")};
    };
  }
  ~name_server() { answer_all(); }
  void answer_all() {
    std::lock_guard lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }
  void hold() {
    std::lock_guard lock(state_->mutex);
    state_->open = false;
  }
  bool wait_asked(std::size_t n) {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, std::chrono::seconds(10), [&] { return state_->asked.size() >= n; });
  }
  std::vector<std::string> asked() {
    std::lock_guard lock(state_->mutex);
    return state_->asked;
  }

 private:
  // Threads of the resolver may outlive it.
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> asked;
    bool open = false;
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

// Waits for an answer. Releasing the last pointer abandons the lookup.
class waiter {
 public:
  bool wait(int ms = 10'000) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, milliseconds(ms), [&] { return answers_ > 0; });
  }
  bool answered() { return wait(0); }
  bool found() {
    std::lock_guard lock(mutex_);
    return found_;
  }
  bool too_many() {
    std::lock_guard lock(mutex_);
    return too_many_;
  }
  void take(const resolver::answer& answer) {
    std::lock_guard lock(mutex_);
    ++answers_;
    found_ = !answer.found.empty();
    too_many_ = answer.too_many;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int answers_ = 0;
  bool found_ = false, too_many_ = false;
};

struct resolver_test : testing::Test {
  name_server server;
  ry::exec::loop_pool loops{1};
  std::unique_ptr<resolver> names = std::make_unique<resolver>(server.lookup());

  ~resolver_test() override {
    names.reset();
    loops.stop_and_join();
  }

  std::shared_ptr<waiter> ask(const std::string& host, name_source by = name_source::user,
                              const std::string& account = {}) {
    auto w = std::make_shared<waiter>();
    names->resolve(host, by, account, &loops.at(0), w, [weak = std::weak_ptr(w)](const auto& answer) {
      if (auto self = weak.lock()) self->take(answer);
    });
    return w;
  }
  // Occupies all threads available to users.
  std::vector<std::shared_ptr<waiter>> occupy() {
    std::vector<std::shared_ptr<waiter>> out;
    for (std::size_t i = 0; i < resolver::max_for_users; ++i)
      out.push_back(ask("silent" + std::to_string(i) + ".example"));
    EXPECT_TRUE(server.wait_asked(resolver::max_for_users));
    return out;
  }
};

TEST_F(resolver_test, names_of_users_leave_threads_to_the_operator) {
  std::vector<std::shared_ptr<waiter>> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(ask("silent" + std::to_string(i) + ".example"));
  for (int i = 0; i < 20; ++i) {
    const auto model = ask("model" + std::to_string(i) + ".example", name_source::configuration);
    ASSERT_TRUE(model->wait());
    EXPECT_TRUE(model->found());
  }
  ASSERT_TRUE(server.wait_asked(resolver::max_for_users + 20));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(server.asked().size(), resolver::max_for_users + 20);
  const auto user = ask("user.example");
  EXPECT_FALSE(user->wait(50));
  server.answer_all();
  EXPECT_TRUE(user->wait());
  EXPECT_TRUE(user->found());
}

TEST_F(resolver_test, names_of_one_site_leave_threads_to_other_sites) {
  std::vector<std::shared_ptr<waiter>> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(ask("silent" + std::to_string(i) + ".slow.test"));
  ASSERT_TRUE(server.wait_asked(schedule_limits.per_site));
  for (int i = 0; i < 20; ++i) {
    const auto other = ask("n" + std::to_string(i) + ".good.test");
    ASSERT_TRUE(other->wait());
    EXPECT_TRUE(other->found());
  }
  EXPECT_EQ(server.asked().size(), schedule_limits.per_site + 20);
  server.answer_all();
  for (const auto& w : silent) ASSERT_TRUE(w->wait());
}

TEST_F(resolver_test, slow_sites_share_a_few_threads) {
  names = std::make_unique<resolver>(server.lookup(), resolver::options{.slow = milliseconds(0)});
  std::vector<std::shared_ptr<waiter>> silent;
  for (int i = 0; i < 12; ++i) silent.push_back(ask("silent.s" + std::to_string(i) + ".test"));
  ASSERT_TRUE(server.wait_asked(12));
  server.answer_all();
  for (const auto& w : silent) ASSERT_TRUE(w->wait());
  server.hold();
  for (int i = 0; i < 12; ++i) silent.push_back(ask("silent2.s" + std::to_string(i) + ".test"));
  ASSERT_TRUE(server.wait_asked(12 + schedule_limits.slow_total));
  const auto good = ask("new.good.test");
  ASSERT_TRUE(good->wait());
  EXPECT_TRUE(good->found());
  EXPECT_EQ(server.asked().size(), 12 + schedule_limits.slow_total + 1);
  server.answer_all();
  for (const auto& w : silent) ASSERT_TRUE(w->wait());
}

TEST_F(resolver_test, an_unanswered_name_fails_immediately_for_a_while) {
  names = std::make_unique<resolver>(server.lookup(),
                                     resolver::options{.slow = milliseconds(0), .slow_period = milliseconds(300)});
  const auto first = ask("silent.test");
  ASSERT_TRUE(server.wait_asked(1));
  server.answer_all();
  ASSERT_TRUE(first->wait());
  const auto again = ask("silent.test");
  ASSERT_TRUE(again->wait());
  EXPECT_FALSE(again->found());
  EXPECT_EQ(server.asked().size(), 1u);
  const auto model = ask("silent.test", name_source::configuration);
  ASSERT_TRUE(model->wait());
  EXPECT_EQ(server.asked().size(), 2u) << "the operator's names are always looked up";
  std::this_thread::sleep_for(milliseconds(350));
  ASSERT_TRUE(ask("silent.test")->wait());
  EXPECT_EQ(server.asked().size(), 3u);
}

TEST_F(resolver_test, names_answered_late_make_their_site_and_account_slow) {
  names = std::make_unique<resolver>(server.lookup(), resolver::options{.slow = milliseconds(0)});
  const auto late = schedule_limits.slow_account;
  for (std::size_t i = 0; i < late; ++i) {
    const auto one = ask("late.s" + std::to_string(i) + ".test", name_source::user, "hostile");
    ASSERT_TRUE(one->wait());
    EXPECT_TRUE(one->found());
  }
  EXPECT_EQ(names->stats().unanswered, late);
  std::vector<std::shared_ptr<waiter>> silent;
  for (int i = 0; i < 4; ++i)
    silent.push_back(ask("silent.t" + std::to_string(i) + ".test", name_source::user, "hostile"));
  ASSERT_TRUE(server.wait_asked(late + 1));
  const auto good = ask("new.good.test", name_source::user, "honest");
  ASSERT_TRUE(good->wait());
  EXPECT_TRUE(good->found());
  EXPECT_EQ(server.asked().size(), late + 2) << "the slow account has one lookup in progress";
  const auto again = ask("late.s0.test", name_source::user, "honest");
  ASSERT_TRUE(again->wait());
  EXPECT_TRUE(again->found()) << "a name that was answered late does not fail immediately";
  server.answer_all();
  for (const auto& w : silent) ASSERT_TRUE(w->wait());
}

TEST_F(resolver_test, one_site_cannot_fill_the_queue) {
  const auto busy = occupy();
  std::vector<std::shared_ptr<waiter>> queued;
  for (std::size_t i = 0; i < schedule_limits.waiting_per_account; ++i)
    queued.push_back(ask("n" + std::to_string(i) + ".one.test"));
  const auto over = ask("over.one.test");
  ASSERT_TRUE(over->wait());
  EXPECT_FALSE(over->found());
  const auto other = ask("other.test");
  EXPECT_FALSE(other->wait(50));
  server.answer_all();
  ASSERT_TRUE(other->wait());
  EXPECT_TRUE(other->found());
  for (const auto& w : queued) ASSERT_TRUE(w->wait());
}

TEST_F(resolver_test, an_abandoned_name_is_not_looked_up) {
  const auto busy = occupy();
  std::vector<std::shared_ptr<waiter>> gone;
  for (int i = 0; i < 300; ++i) gone.push_back(ask("gone" + std::to_string(i) + ".example"));
  const auto shared = ask("gone7.example");
  const auto last = ask("last.example");
  gone.clear();
  server.answer_all();
  ASSERT_TRUE(shared->wait() && last->wait());
  EXPECT_TRUE(shared->found() && last->found());
  auto asked = server.asked();
  asked.erase(asked.begin(), asked.begin() + resolver::max_for_users);
  std::ranges::sort(asked);
  EXPECT_EQ(asked, (std::vector<std::string>{"gone7.example", "last.example"}));
  EXPECT_TRUE(ask("gone3.example")->wait());
}

TEST_F(resolver_test, a_queued_name_takes_precedence_once_the_operator_requests_it) {
  const auto busy = occupy();
  const auto user = ask("model.example");
  EXPECT_FALSE(user->wait(50));
  const auto model = ask("model.example", name_source::configuration);
  EXPECT_TRUE(model->wait() && user->wait());
  EXPECT_EQ(server.asked().size(), resolver::max_for_users + 1);
  EXPECT_TRUE(ask("model.example", name_source::configuration)->wait());
}

TEST_F(resolver_test, abandoned_lookups_do_not_fill_the_queue) {
  const auto busy = occupy();
  std::vector<std::shared_ptr<waiter>> queued;
  const auto fill = [&](const std::string& prefix) {
    for (std::size_t i = 0; i < resolver::max_waiting; ++i)
      queued.push_back(ask(prefix + std::to_string(i) + ".example"));
  };
  fill("gone");
  queued.clear();
  fill("here");
  EXPECT_FALSE(queued.back()->wait(50));
  const auto over = ask("over.example");
  EXPECT_TRUE(over->wait());
  EXPECT_FALSE(over->found());
  const auto model = ask("model.example", name_source::configuration);
  EXPECT_TRUE(model->wait());
  EXPECT_TRUE(model->found());
  server.answer_all();
  for (const auto& w : queued) ASSERT_TRUE(w->wait());
}

TEST_F(resolver_test, concurrent_lookups_of_one_name_are_single_flight) {
  const auto first = ask("silent.example");
  ASSERT_TRUE(server.wait_asked(1));
  const auto second = ask("silent.example");
  const auto third = ask("silent.example", name_source::configuration);
  server.answer_all();
  EXPECT_TRUE(first->wait() && second->wait() && third->wait());
  EXPECT_EQ(server.asked().size(), 1u);
}

TEST_F(resolver_test, no_callback_after_stop) {
  auto waiters = occupy();
  waiters.push_back(ask("queued.example"));
  waiters.push_back(ask("silent.model.example", name_source::configuration));
  ASSERT_TRUE(server.wait_asked(resolver::max_for_users + 1));
  names.reset();
  server.answer_all();
  std::this_thread::sleep_for(milliseconds(50));
  for (const auto& w : waiters) EXPECT_FALSE(w->answered());
  EXPECT_EQ(server.asked().size(), resolver::max_for_users + 1);
}

TEST_F(resolver_test, unanswered_names_of_one_account_leave_threads_to_other_accounts) {
  std::vector<std::shared_ptr<waiter>> silent;
  for (int i = 0; i < 200; ++i)
    silent.push_back(ask("silent" + std::to_string(i) + ".example", name_source::user, "hostile"));
  ASSERT_TRUE(server.wait_asked(schedule_limits.per_account));
  for (int i = 0; i < 20; ++i) {
    const auto host = "good" + std::to_string(i) + ".example";
    const auto honest = ask(host, name_source::user, i % 2 == 0 ? "honest" : "");
    const auto operators = ask("model" + host, name_source::configuration);
    ASSERT_TRUE(honest->wait() && operators->wait());
    EXPECT_TRUE(honest->found() && operators->found());
  }
  EXPECT_EQ(server.asked().size(), schedule_limits.per_account + 40);
  EXPECT_EQ(names->stats().in_progress, schedule_limits.per_account);
  EXPECT_EQ(names->stats().waiting, 200 - schedule_limits.per_account);
  server.answer_all();
  for (const auto& w : silent) ASSERT_TRUE(w->wait());
}

TEST_F(resolver_test, a_name_that_waits_for_one_account_takes_the_turn_of_another) {
  std::vector<std::shared_ptr<waiter>> silent;
  for (int i = 0; i < 100; ++i)
    silent.push_back(ask("silent" + std::to_string(i) + ".example", name_source::user, "hostile"));
  const auto blocked = ask("good.example", name_source::user, "hostile");
  ASSERT_TRUE(server.wait_asked(schedule_limits.per_account));
  EXPECT_FALSE(blocked->wait(50));
  const auto honest = ask("good.example", name_source::user, "honest");
  ASSERT_TRUE(honest->wait() && blocked->wait());
  EXPECT_TRUE(honest->found() && blocked->found());
}

TEST_F(resolver_test, an_account_with_too_many_waiting_names_is_refused_until_their_waiters_leave) {
  std::vector<std::shared_ptr<waiter>> queued;
  for (std::size_t i = 0; i < schedule_limits.waiting_per_account + schedule_limits.per_account; ++i)
    queued.push_back(ask("silent" + std::to_string(i) + ".example", name_source::user, "hostile"));
  ASSERT_TRUE(server.wait_asked(schedule_limits.per_account));
  while (names->stats().waiting < schedule_limits.waiting_per_account)
    queued.push_back(ask("silent_more" + std::to_string(queued.size()) + ".example", name_source::user, "hostile"));
  const auto over = ask("over.example", name_source::user, "hostile");
  ASSERT_TRUE(over->wait());
  EXPECT_TRUE(over->too_many());
  EXPECT_GE(names->stats().refused, 1u);
  const auto refused = names->stats().refused;
  queued.clear();
  const auto again = ask("again.example", name_source::user, "hostile");
  EXPECT_FALSE(again->wait(50)) << "it waits for a turn of the account";
  EXPECT_EQ(names->stats().refused, refused);
  server.answer_all();
  EXPECT_TRUE(again->wait());
}

TEST_F(resolver_test, a_name_without_addresses_fails_immediately_for_a_short_while) {
  server.answer_all();  // "silent" names then have no addresses at once
  names = std::make_unique<resolver>(server.lookup(), resolver::options{.negative_ttl = milliseconds(300)});
  ASSERT_TRUE(ask("silent.example")->wait());
  const auto again = ask("silent.example");
  ASSERT_TRUE(again->wait());
  EXPECT_FALSE(again->found() || again->too_many());
  EXPECT_EQ(server.asked().size(), 1u);
  std::this_thread::sleep_for(milliseconds(350));
  ASSERT_TRUE(ask("silent.example")->wait());
  EXPECT_EQ(server.asked().size(), 2u);
  EXPECT_EQ(names->stats().unanswered, 0u);
}

// For the sanitizers: waiters appear and disappear during the lookups.
TEST_F(resolver_test, waiters_may_appear_and_disappear_concurrently) {
  std::vector<std::thread> users;
  for (int t = 0; t < 4; ++t)
    users.emplace_back([this, t] {
      for (int i = 0; i < 500; ++i) {
        const auto by = i % 7 == 0 ? name_source::configuration : name_source::user;
        const auto w = ask("n" + std::to_string((i * (t + 1)) % 50) + ".example", by, std::string(i % 3, 'a'));
        if (i % 5 == 0) {
          EXPECT_TRUE(w->wait());
        }
      }
    });
  for (auto& u : users) u.join();
  EXPECT_TRUE(ask("last.example")->wait());
}

}  // namespace
