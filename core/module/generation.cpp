#include "core/module/generation.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>

#include "core/module/registry.hpp"
#include "core/module/staging.hpp"
#include "core/observe/log.hpp"

namespace ry::module {

namespace {

using clock = std::chrono::steady_clock;

// A loop that is busy with the work of others says nothing about a module that gave everything back.
constexpr auto busy_loop_time = std::chrono::seconds(10);

// What a module wrote into an error buffer, as one line.
class error_text {
 public:
  error_text() : buffer_{text_.data(), text_.size(), 0} {}
  ry_errbuf* out() noexcept { return &buffer_; }
  std::string text() const {
    std::string s(text_.data(), std::min(buffer_.len, text_.size()));
    for (char& c : s)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return s;
  }

 private:
  std::array<char, 1024> text_{};
  ry_errbuf buffer_;
};

}  // namespace

ry_done latch::done() noexcept {
  return {
      [](void* ctx, ry_status, const ry_error_view*) noexcept { static_cast<latch*>(ctx)->open(); },
      this};
}

void latch::open() noexcept {
  std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

bool latch::wait_until(clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return open_; });
}

generation::generation(runtime& rt, const std::filesystem::path& file,
                       const std::string& sha256_pin, const module_facts& section,
                       std::uint32_t host_minor, library::source from, const library::rehearsal& rehearse)
    : code_(file, sha256_pin, from, rehearse), descriptor_(code_.descriptor()) {
  std::string no = refuse_descriptor(descriptor_, file.filename().string());
  if (no.empty()) {
    facts_ = facts_of_descriptor(*descriptor_);
    no = refuse_facts(facts_, host_minor);
  }
  if (no.empty()) no = refuse_mismatch(section, facts_);
  if (!no.empty()) throw std::runtime_error(no);
  host_ = std::make_unique<ry_host>(rt, facts_.name, rt.modules->next_generation());
  host_->version = facts_.version;
}

generation::~generation() = default;

std::string generation::create(const std::string& config_json) {
  std::vector<std::string> needs;
  for (const auto& n : facts_.needs) needs.push_back(n.id);
  host_->rt.modules->admit(host_.get(), std::move(needs));
  ry_registrar registrar(host_.get(), facts_);
  error_text err;
  void* self = nullptr;
  const auto strikes = host_->strikes.load();
  const ry_status st =
      invoke(host_.get(), "create", descriptor_->create, host_.get(), &get_interface, &registrar,
             core::view(config_json), &self, err.out());
  if (st == RY_OK && registrar.problem.empty()) {
    self_ = self;
    registered_ = std::move(registrar.staged);
    return {};
  }
  std::string why = registrar.problem.empty() ? err.text() : registrar.problem;
  if (host_->strikes.load() != strikes) {
    std::lock_guard lock(host_->mutex);
    why = host_->last_strike;
  }
  if (why.empty()) why = "it gave no reason, only status " + std::to_string(st);
  // It says that it was made although something was refused: it is to be ended properly.
  if (st == RY_OK) invoke(host_.get(), "destroy", descriptor_->destroy, self);
  host_->rt.modules->dismiss(host_.get());
  return "module \"" + facts_.name + "\" failed in create: " + why + ".";
}

std::string generation::start() {
  error_text err;
  const auto strikes = host_->strikes.load();
  const ry_status st = invoke(host_.get(), "start", descriptor_->start, self_, err.out());
  if (st == RY_OK) {
    for (const auto& s : registered_.services)
      host_->rt.modules->publish(s.id, host_.get(), s.table, s.self);
    return {};
  }
  std::string why = err.text();
  if (host_->strikes.load() != strikes) {
    std::lock_guard lock(host_->mutex);
    why = host_->last_strike;
  }
  if (why.empty()) why = "it gave no reason, only status " + std::to_string(st);
  return "module \"" + facts_.name + "\" failed in start: " + why + ".";
}

bool generation::stop(steady_time deadline) {
  latch& done = new_latch();
  const auto left = deadline - clock::now();
  const auto deadline_us = std::chrono::duration_cast<std::chrono::microseconds>(
      (std::chrono::system_clock::now() + left).time_since_epoch());
  invoke(host_.get(), "stop", descriptor_->stop, self_, static_cast<int64_t>(deadline_us.count()),
         done.done());
  // It may be waiting for its own timers: after most of the time they are woken.
  if (done.wait_until(deadline - left / 4)) return true;
  host_->rt.modules->sleeps.cancel_all(host_.get());
  return done.wait_until(deadline);
}

bool generation::quiesce(steady_time deadline) {
  host_->rt.modules->withdraw(host_.get());
  for (;;) {
    // In every round: what is woken may go to sleep again.
    host_->rt.modules->sleeps.cancel_all(host_.get());
    // A loop may still be on its way out of the module after the last hold was given back.
    if (host_->outstanding.load(std::memory_order_acquire) == 0 && pass_all_loops(deadline) &&
        host_->outstanding.load(std::memory_order_acquire) == 0)
      return true;
    if (clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool generation::pass_all_loops(steady_time deadline) {
  auto* loops = host_->rt.loops;
  if (!loops) return true;
  bool& hang = host_->rt.modules->loops_hang;
  if (!hang) deadline = std::max(deadline, clock::now() + busy_loop_time);
  hang = true;
  for (std::size_t i = 0; i < loops->size(); ++i) {
    auto passed = std::make_shared<latch>();
    loops->at(i).post([passed] { passed->open(); });
    if (!passed->wait_until(deadline)) return false;
  }
  hang = false;
  return true;
}

void generation::destroy() {
  invoke(host_.get(), "destroy", descriptor_->destroy, self_);
  self_ = nullptr;
  for (const auto& id : host_->rt.modules->dismiss(host_.get()))
    misbehaved(host_.get(), "a lease was not released", "destroy", id);
}

ry_status generation::health(std::string& message) const {
  error_text err;
  const ry_status st = invoke(host_.get(), "health", descriptor_->health, self_, err.out());
  message = err.text();
  return st;
}

void generation::announce(const driver& d, generation& owner, const point& p) {
  invoke(owner.host(), "driver added", p.added, p.ctx, core::view(d.name), d.table, d.self);
}

bool generation::withdraw(const driver& d, generation& owner, const point& p,
                          steady_time deadline) {
  return take_back(d, owner, p).wait_until(deadline);
}

latch& generation::take_back(const driver& d, generation& owner, const point& p) {
  // The owner's code calls it, possibly late: it must live as long as the owner.
  latch& done = owner.new_latch();
  invoke(owner.host(), "driver removed", p.removed, p.ctx, core::view(d.name), done.done());
  return done;
}

latch& generation::replace(const driver& d, generation& owner, const point& p) {
  latch& done = owner.new_latch();
  invoke(owner.host(), "driver replaced", p.replaced, p.ctx, core::view(d.name), d.table, d.self,
         done.done());
  return done;
}

latch& generation::new_latch() {
  return latches_.emplace_back();
}

}  // namespace ry::module
