#include "core/module/module_instance.hpp"

#include <ry/ext/settings_check.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ry/cpp/utf8.hpp>
#include <stdexcept>
#include <thread>

#include "core/module/registry.hpp"
#include "core/module/staging.hpp"
#include "core/observe/log.hpp"

namespace ry::module {

namespace {

using clock = std::chrono::steady_clock;

// Extra time for loops that are busy with other work: it must not count against a module that has nothing
// outstanding.
constexpr auto busy_loop_time = std::chrono::seconds(10);

// Valid UTF-8 without control characters: the text of a module appears in JSON, in the log and on terminals.
std::string one_line(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const char32_t c = next_code_point(rest);
    append_utf8(out, c < 0x20 || (c >= 0x7f && c <= 0x9f) ? U' ' : c);
  }
  return out;
}

// Receives the text that a module writes into an error buffer.
class error_text {
 public:
  error_text() : buffer_{text_.data(), text_.size(), 0} {}
  ry_errbuf* out() noexcept { return &buffer_; }
  std::string text() const { return one_line({text_.data(), std::min(buffer_.len, text_.size())}); }

 private:
  std::array<char, 1024> text_{};
  ry_errbuf buffer_;
};

}  // namespace

module_instance::module_instance(runtime& rt, std::shared_ptr<const sealed_image> image, const module_manifest& section,
                                 std::uint32_t host_minor)
    : code_(image), descriptor_(code_.descriptor()) {
  std::string no = refuse_descriptor(descriptor_, image->file().filename().string());
  if (no.empty()) {
    manifest_ = manifest_of_descriptor(*descriptor_);
    no = refuse_manifest(manifest_, host_minor);
  }
  if (no.empty()) no = refuse_mismatch(section, manifest_);
  if (!no.empty()) throw std::runtime_error(no);
  host_ = std::make_unique<ry_host>(rt, manifest_.name, rt.modules->next_instance());
  host_->version = manifest_.version;
  code_.belongs_to(host_.get());
}

module_instance::~module_instance() {
  for (const auto& c : completions_) c->forget_module();
  if (host_) host_->rt.modules->forget_drivers(host_.get());
  code_.belongs_to(nullptr);
}

bool module_instance::call(const char* what, std::chrono::milliseconds limit, std::function<void()> f) {
  if (hung_) return false;
  if (host_->rt.modules->lifecycle.begin(std::move(f))->wait_until(clock::now() + limit)) return true;
  abandon(what);
  return false;
}

void module_instance::abandon(const char* what) {
  hung_ = what;
  host_->rt.modules->lifecycle.abandon();
  report_violation(host_.get(), "a call that did not return", what,
                   "the host abandons the call; its memory is not freed");
}

std::string module_instance::create(const std::string& config_json) {
  std::vector<std::string> needs;
  for (const auto& n : manifest_.needs) needs.push_back(n.id);
  auto& modules = *host_->rt.modules;
  modules.admit(host_.get(), std::move(needs));
  struct attempt {
    std::string config;
    std::optional<ry_registrar> registrar;  // created on the thread that makes the call
    error_text err;
    void* self = nullptr;
    ry_status status = RY_OK;
  };
  const auto made = std::make_shared<attempt>();
  made->config = config_json;
  const auto violations = host_->violations.load();
  const bool back = call("create", modules.limits.create, [this, made] {
    ry_registrar* registrar = &made->registrar.emplace(host_.get(), manifest_);
    made->status = invoke(host_.get(), "create", descriptor_->create, host_.get(), &get_interface, registrar,
                          core::view(made->config), &made->self, made->err.out());
  });
  if (!back) return "it did not return";
  std::string why = made->registrar->problem;
  if (made->status == RY_OK && why.empty()) {
    self_ = made->self;
    registered_ = std::move(made->registrar->staged);
    return {};
  }
  if (why.empty()) why = reason(made->status, made->err.text(), violations);
  // create() succeeded although the host rejected a registration, so the module must be destroyed properly.
  if (made->status == RY_OK)
    call("destroy", modules.limits.other,
         [this, made] { invoke(host_.get(), "destroy", descriptor_->destroy, made->self); });
  if (!hung_) modules.dismiss(host_.get());
  return why;
}

std::vector<module_instance::setting_fault> module_instance::check_settings() {
  auto found = std::make_shared<std::vector<setting_fault>>();
  for (const auto& d : registered_.drivers) {
    if (d.point != RY_SETTINGS_CHECK_1) continue;
    const auto* table = static_cast<const ry_settings_check_v1*>(d.table);
    if (table->struct_size < sizeof *table) continue;  // validation refuses the module for this
    const auto violations = host_->violations.load();
    const bool back = call("settings check", host_->rt.modules->limits.create, [this, found, table, self = d.self] {
      const ry_settings_sink sink{sizeof sink, 0, found.get(), [](void* ctx, ry_str key, ry_str message) noexcept {
                                    static_cast<std::vector<setting_fault>*>(ctx)->push_back(
                                        {one_line(core::sv(key)), one_line(core::sv(message))});
                                  }};
      invoke(host_.get(), "settings check", table->check, self, &sink);
    });
    if (!back) return {{{}, "its settings check did not return"}};
    if (host_->violations.load() == violations) continue;
    std::lock_guard lock(host_->mutex);
    found->push_back({{}, host_->last_violation});
  }
  return *found;
}

std::string module_instance::start() {
  struct attempt {
    error_text err;
    ry_status status = RY_OK;
  };
  const std::string module = "module \"" + manifest_.name + "\"";
  const auto made = std::make_shared<attempt>();
  const auto violations = host_->violations.load();
  if (!call("start", host_->rt.modules->limits.start,
            [this, made] { made->status = invoke(host_.get(), "start", descriptor_->start, self_, made->err.out()); }))
    return module + " did not return from " + hung_ + ".";
  if (made->status != RY_OK)
    return module + " failed in start: " + reason(made->status, made->err.text(), violations) + ".";
  for (const auto& s : registered_.services) host_->rt.modules->publish(s.id, host_.get(), s.table, s.self);
  return {};
}

std::string module_instance::reason(ry_status status, std::string message, std::uint32_t violations_before) {
  if (host_->violations.load() != violations_before) {
    std::lock_guard lock(host_->mutex);
    message = host_->last_violation;
  }
  return message.empty() ? "it gave no reason, only status " + std::to_string(status) : message;
}

bool module_instance::stop(steady_time deadline) {
  if (hung_) return false;
  lifecycle_completion& done = new_completion("stop");
  const auto begun = clock::now();
  const auto left = deadline - begun;
  const auto deadline_us = std::chrono::duration_cast<std::chrono::microseconds>(
      (std::chrono::system_clock::now() + left).time_since_epoch());
  const auto back = host_->rt.modules->lifecycle.begin([this, finished = done.done(), us = deadline_us.count()] {
    invoke(host_.get(), "stop", descriptor_->stop, self_, static_cast<int64_t>(us), finished);
  });
  const auto both = [&](clock::time_point until) { return done.wait_until(until) && back->wait_until(until); };
  // The module may be waiting for its own timers: cancel them after three quarters of the time.
  if (both(deadline - left / 4)) return true;
  host_->rt.modules->timers.cancel_all(host_.get());
  if (both(deadline)) return true;
  if (back->wait_until(begun + host_->rt.modules->limits.other)) return done.is_complete();
  abandon("stop");
  return false;
}

bool module_instance::quiesce(steady_time deadline) {
  if (hung_) return false;
  host_->rt.modules->withdraw(host_.get());
  for (;;) {
    // In each round, because a woken module may start new timers.
    host_->rt.modules->timers.cancel_all(host_.get());
    // A loop may still be returning from the module's code after the last hold was released.
    if (host_->outstanding.load(std::memory_order_acquire) == 0 && pass_all_loops(deadline) &&
        host_->outstanding.load(std::memory_order_acquire) == 0)
      return true;
    if (clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool module_instance::pass_all_loops(steady_time deadline) {
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

bool module_instance::destroy() {
  auto& modules = *host_->rt.modules;
  if (!call("destroy", modules.limits.other, [this] { invoke(host_.get(), "destroy", descriptor_->destroy, self_); }))
    return false;
  self_ = nullptr;
  for (const auto& id : modules.dismiss(host_.get()))
    report_violation(host_.get(), "a lease was not released", "destroy", id);
  return true;
}

ry_status module_instance::health(std::string& message) const {
  error_text err;
  const ry_status st = invoke(host_.get(), "health", descriptor_->health, self_, err.out());
  message = err.text();
  return st;
}

void module_instance::announce(const driver& d, module_instance& owner, const point& p) {
  host_->rt.modules->note_driver(owner.host(), d.point, d.name, host_.get());
  owner.call("driver added", host_->rt.modules->limits.other, [&owner, d, p] {
    invoke(owner.host(), "driver added", p.added, p.ctx, core::view(d.name), d.table, d.self);
  });
}

bool module_instance::withdraw(const driver& d, module_instance& owner, const point& p, steady_time deadline) {
  return take_back(d, owner, p).wait_until(deadline);
}

lifecycle_completion& module_instance::take_back(const driver& d, module_instance& owner, const point& p) {
  lifecycle_completion& done = owner.new_completion("driver removed");
  owner.call("driver removed", host_->rt.modules->limits.other, [&owner, d, p, finished = done.done()] {
    invoke(owner.host(), "driver removed", p.removed, p.ctx, core::view(d.name), finished);
  });
  return done;
}

lifecycle_completion& module_instance::replace(const driver& d, module_instance& owner, const point& p) {
  host_->rt.modules->note_driver(owner.host(), d.point, d.name, host_.get());
  lifecycle_completion& done = owner.new_completion("driver replaced");
  owner.call("driver replaced", host_->rt.modules->limits.other, [&owner, d, p, finished = done.done()] {
    invoke(owner.host(), "driver replaced", p.replaced, p.ctx, core::view(d.name), d.table, d.self, finished);
  });
  return done;
}

lifecycle_completion& module_instance::new_completion(const char* call) {
  auto& made = completions_.emplace_back(std::make_shared<lifecycle_completion>(host_.get(), call));
  host_->rt.modules->retire(made);  // the module may call it after this object is destroyed
  return *made;
}

}  // namespace ry::module
