// RY_MODULE: turns a class into a module.
//
//   #include <ry/ry.hpp>
//
//   class hello {
//    public:
//     hello(ry::context& ctx, ry::registrar& reg);  // create: settings, interfaces, registration; no I/O
//     void start();                                 // optional; or ry::task<void> start()
//     ry::task<void> stop();                        // optional: before the module's tasks are cancelled
//     ry::result<void> health() const;              // optional
//     std::string degraded() const;                 // optional: the failed parts of a module that is otherwise healthy
//   };
//   RY_MODULE(hello, "hello", "1.0.0", .needs("ry.http/1", "ry.db/1").wants("mail/1").provides("hello/1"));
//
// The macro emits the descriptor, ry_module_entry() and the section .ry.module, which has the same manifest as one JSON
// object, so that it can be read without running the module. Both come from one constant.
#pragma once

#include <ry/cpp/registrar.hpp>

namespace ry {

// The manifest of a module, built in a constant expression.
class module_manifest {
 public:
  static constexpr std::size_t max_ids = 32;  // of needs, and of provided ids

  constexpr module_manifest(std::string_view name, std::string_view version) : name_(name), version_(version) {}
  // Host interfaces, services or points without which the module does not load.
  template <class... S>
  constexpr module_manifest needs(S... ids) const {
    module_manifest f = *this;
    (f.add_need(ids, 0), ...);
    return f;
  }
  // Optional dependencies: they only affect the start order.
  template <class... S>
  constexpr module_manifest wants(S... ids) const {
    module_manifest f = *this;
    (f.add_need(ids, 1), ...);
    return f;
  }
  template <class... S>
  constexpr module_manifest provides(S... ids) const {
    module_manifest f = *this;
    (f.add_provided(ids), ...);
    return f;
  }
  // JSON Schema of the settings; the text must live as long as the library.
  constexpr module_manifest settings(std::string_view schema_json) const {
    module_manifest f = *this;
    f.schema_ = schema_json;
    return f;
  }
  constexpr module_manifest flags(std::uint32_t bits) const {
    module_manifest f = *this;
    f.flags_ |= bits;
    return f;
  }
  // The oldest host that the module supports; by default the minor that it is built with.
  constexpr module_manifest min_host_minor(std::uint32_t minor) const {
    module_manifest f = *this;
    f.min_host_minor_ = minor;
    return f;
  }

  constexpr std::string_view name() const { return name_; }
  constexpr std::string_view version() const { return version_; }
  constexpr std::string_view schema() const { return schema_; }
  constexpr std::uint32_t flag_bits() const { return flags_; }
  constexpr std::uint32_t oldest_minor() const { return min_host_minor_; }
  constexpr std::size_t need_count() const { return n_needs_; }
  constexpr std::size_t provided_count() const { return n_provided_; }

  constexpr std::array<ry_need, max_ids> c_needs() const {
    std::array<ry_need, max_ids> out{};
    for (std::size_t i = 0; i < n_needs_; ++i) {
      out[i].struct_size = sizeof(ry_need);
      out[i].optional = optional_[i];
      out[i].id = {needs_[i].data(), needs_[i].size()};
    }
    return out;
  }
  constexpr std::array<ry_str, max_ids> c_provided() const {
    std::array<ry_str, max_ids> out{};
    for (std::size_t i = 0; i < n_provided_; ++i) {
      out[i] = {provided_[i].data(), provided_[i].size()};
    }
    return out;
  }

  // The content of the section: writes at max_ids `cap` characters, returns the complete length.
  constexpr std::size_t json(char* to, std::size_t cap) const {
    writer w{to, cap, 0};
    w.put("{\"name\":").quoted(name_).put(",\"version\":").quoted(version_);
    w.put(",\"abi_major\":").number(RY_ABI_MAJOR).put(",\"abi_minor\":").number(RY_ABI_MINOR);
    w.put(",\"min_host_minor\":").number(min_host_minor_).put(",\"flags\":").number(flags_);
    w.put(",\"needs\":[");
    for (std::size_t i = 0; i < n_needs_; ++i) {
      w.put(i == 0 ? "{\"id\":" : ",{\"id\":").quoted(needs_[i]);
      w.put(",\"optional\":").put(optional_[i] != 0 ? "true" : "false").put("}");
    }
    w.put("],\"provides\":[");
    for (std::size_t i = 0; i < n_provided_; ++i) {
      w.put(i == 0 ? "" : ",").quoted(provided_[i]);
    }
    w.put("]}");
    return w.at;
  }

 private:
  struct writer {
    char* to;
    std::size_t cap;
    std::size_t at;
    constexpr writer& put(std::string_view s) {
      for (const char c : s) {
        if (at < cap) to[at] = c;
        ++at;
      }
      return *this;
    }
    constexpr writer& quoted(std::string_view s) {
      for (const char c : s) {
        if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
          throw "names and ids hold no quotes, backslashes or control characters";
        }
      }
      return put("\"").put(s).put("\"");
    }
    constexpr writer& number(std::uint32_t n) {
      char digits[10] = {};
      std::size_t len = 0;
      do {
        digits[len++] = static_cast<char>('0' + n % 10);
        n /= 10;
      } while (n != 0);
      while (len != 0) put(std::string_view(&digits[--len], 1));
      return *this;
    }
  };
  constexpr void add_need(std::string_view id, std::uint32_t optional) {
    if (n_needs_ == max_ids) throw "too many needs";
    needs_[n_needs_] = id;
    optional_[n_needs_++] = optional;
  }
  constexpr void add_provided(std::string_view id) {
    if (n_provided_ == max_ids) throw "too many provided ids";
    provided_[n_provided_++] = id;
  }

  std::string_view name_, version_, schema_;
  std::uint32_t flags_ = 0;
  std::uint32_t min_host_minor_ = RY_ABI_MINOR;
  std::size_t n_needs_ = 0, n_provided_ = 0;
  std::array<std::string_view, max_ids> needs_{}, provided_{};
  std::array<std::uint32_t, max_ids> optional_{};
};

namespace detail {

template <std::size_t N>
struct section_text {
  char text[N];
};
template <std::size_t N>
constexpr section_text<N> section_of(const module_manifest& f) {
  section_text<N> out{};
  f.json(out.text, N);
  return out;
}

}  // namespace detail

// The five lifecycle functions of an object of type T.
template <class T>
class module {
 public:
  static ry_status create(const ry_host* host, ry_get_interface_fn get, ry_registrar* r, ry_str config, void** self,
                          ry_errbuf* err) noexcept {
    return guard(
        [&] {
          auto m = std::make_unique<module>(host, get, text(config));
          registrar reg(m->ctx_, r, m->kept_);
          m->object_.emplace(m->ctx_, reg);
          *self = m.release();
        },
        err);
  }

  static ry_status start(void* self, ry_errbuf* err) noexcept {
    return guard(
        [&] {
          [[maybe_unused]] auto* m = static_cast<module*>(self);
          if constexpr (requires(T & t) { t.start(); }) {
            try {
              if constexpr (std::is_void_v<decltype(m->object_->start())>) {
                m->object_->start();
              } else {
                m->await_start();
              }
            } catch (...) {
              m->await_idle();  // destroy() follows, without stop()
              throw;
            }
          }
        },
        err);
  }

  static void stop(void* self, std::int64_t, ry_done done) noexcept {
    auto* m = static_cast<module*>(self);
    if constexpr (requires(T & t) { t.stop(); }) {
      m->stopped_ = done;
      // Spawned with its own token: the module's token is cancelled only below.
      bool started = false;
      (void)guard([&] { started = m->ctx_.spawn(wind_down(m), nullptr, cancel_source().token()); });
      if (started) return;
    }
    m->ctx_.tasks().cancel(RY_REASON_SHUTDOWN);
    m->ctx_.tasks().close(done);
  }

  static void destroy(void* self) noexcept { delete static_cast<module*>(self); }

  static ry_status health(void* self, ry_errbuf* err) noexcept {
    [[maybe_unused]] auto* m = static_cast<module*>(self);
    return guard(
        [&]() -> ry_status {
          if constexpr (requires(T & t) { t.health(); }) {
            const result<void> r = m->object_->health();
            if (!r.ok()) {
              detail::put_error(err, r.error().message());
              return RY_UNAVAILABLE;
            }
          }
          if constexpr (requires(const T& t) { t.degraded(); }) detail::put_error(err, m->object_->degraded());
          return RY_OK;
        },
        err);
  }

  explicit module(const ry_host* host, ry_get_interface_fn get, std::string config)
      : ctx_(host, get, std::move(config)) {}

 private:
  static task<void> wind_down(module* m) {
    try {
      co_await m->object_->stop();
    } catch (...) {
      m->ctx_.log_error("stop failed", current_error());
    }
    m->ctx_.tasks().cancel(RY_REASON_SHUTDOWN);
    m->ctx_.tasks().close(m->stopped_);
  }

  // start() may block: the loops run while this thread waits.
  class latch {
   public:
    void open() noexcept {
      // Under the lock: the waiting thread may destroy this as soon as it continues.
      std::lock_guard lock(mutex_);
      open_ = true;
      changed_.notify_all();
    }
    void wait() {
      std::unique_lock lock(mutex_);
      while (!open_) changed_.wait(lock);
    }
    std::exception_ptr failed;

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
  };
  static task<void> run_start(module* m, latch* to) {
    try {
      co_await m->object_->start();
    } catch (...) {
      to->failed = std::current_exception();
    }
    to->open();
  }
  void await_start() {
    latch started;
    if (!ctx_.spawn(run_start(this, &started))) throw error(RY_UNAVAILABLE);
    started.wait();
    if (started.failed) std::rethrow_exception(started.failed);
  }
  void await_idle() {
    latch idle;
    ctx_.tasks().cancel(RY_REASON_SHUTDOWN);
    ctx_.tasks().close(
        {[](void* p, ry_status, const ry_error_view*) noexcept { static_cast<latch*>(p)->open(); }, &idle});
    idle.wait();
  }

  context ctx_;
  registrar::storage kept_;  // handlers are destroyed after the object that they call
  std::optional<T> object_;
  ry_done stopped_{};
};

}  // namespace ry

#define RY_MODULE(Type, name_, version_, ...)                                                        \
  namespace {                                                                                        \
  constexpr ::ry::module_manifest ry_manifest_ = ::ry::module_manifest(name_, version_) __VA_ARGS__; \
  constexpr auto ry_needs_ = ry_manifest_.c_needs();                                                 \
  constexpr auto ry_provided_ = ry_manifest_.c_provided();                                           \
  __attribute__((section(".ry.module"), used)) constexpr auto ry_section_ =                          \
      ::ry::detail::section_of<ry_manifest_.json(nullptr, 0)>(ry_manifest_);                         \
  constexpr ry_str ry_text_(std::string_view s) {                                                    \
    return {s.data(), s.size()};                                                                     \
  }                                                                                                  \
  constexpr ry_module_v1 ry_descriptor_ = {RY_ABI_MAGIC,                                             \
                                           sizeof(ry_module_v1),                                     \
                                           RY_ABI_MAJOR,                                             \
                                           RY_ABI_MINOR,                                             \
                                           ry_manifest_.oldest_minor(),                              \
                                           ry_manifest_.flag_bits(),                                 \
                                           ry_text_(ry_manifest_.name()),                            \
                                           ry_text_(ry_manifest_.version()),                         \
                                           ry_text_(ry_manifest_.schema()),                          \
                                           ry_needs_.data(),                                         \
                                           ry_manifest_.need_count(),                                \
                                           sizeof(ry_need),                                          \
                                           ry_provided_.data(),                                      \
                                           ry_manifest_.provided_count(),                            \
                                           &::ry::module<Type>::create,                              \
                                           &::ry::module<Type>::start,                               \
                                           &::ry::module<Type>::stop,                                \
                                           &::ry::module<Type>::destroy,                             \
                                           &::ry::module<Type>::health};                             \
  }                                                                                                  \
  extern "C" RY_EXPORT const ry_module_v1* ry_module_entry(void) {                                   \
    return &ry_descriptor_;                                                                          \
  }                                                                                                  \
  static_assert(true)
