// SQL: queries, batches, transactions, wake-ups.
//
// Arguments may be: bool, integers, double, text, bytes_view, uuid, std::optional of these (empty: NULL), nullptr, and
// contiguous containers of int64_t or of text (arrays). The starting call copies them; a query can only be awaited as a
// temporary, so they cannot dangle. A batch copies its arguments as well. Failures are results. The getters of a row
// throw RY_INTERNAL "db.column" if the column or its type does not match.
#pragma once

#include <charconv>

#include <ry/cpp/op.hpp>

namespace ry {

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
concept text_like = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept array_like = !text_like<T> && requires(const T& t) {
  std::data(t);
  std::size(t);
};

// The arguments of one statement. `keep` copies the data that they refer to.
class arguments {
 public:
  enum class texts { borrow, copy };

  template <class... A>
  static arguments make([[maybe_unused]] texts mode, const A&... a) {
    arguments out;
    out.values_.reserve(sizeof...(A));
    (out.add(mode, a), ...);
    return out;
  }
  const std::vector<ry_value>& values() const noexcept { return values_; }

 private:
  template <class T>
  void add(texts mode, const T& v) {
    ry_value out{};
    if constexpr (std::is_same_v<T, std::nullptr_t> || std::is_same_v<T, std::nullopt_t>) {
      out.kind = RY_V_NULL;
    } else if constexpr (is_optional<T>) {
      if (v) return add(mode, *v);
      out.kind = RY_V_NULL;
    } else if constexpr (std::is_same_v<T, bool>) {
      out.kind = RY_V_BOOL;
      out.u.i = v ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      out.kind = RY_V_INT;
      out.u.i = static_cast<std::int64_t>(v);
    } else if constexpr (std::is_floating_point_v<T>) {
      out.kind = RY_V_DOUBLE;
      out.u.d = static_cast<double>(v);
    } else if constexpr (std::is_base_of_v<ry_uuid, T>) {
      out.kind = RY_V_UUID;
      out.u.b = mode == texts::copy ? raw(copy({reinterpret_cast<const char*>(v.bytes), 16})) : ry_bytes{v.bytes, 16};
    } else if constexpr (std::is_same_v<T, bytes_view>) {
      out.kind = RY_V_BYTES;
      out.u.b = mode == texts::copy ? raw(copy(view(v.data))) : v.data;
    } else if constexpr (std::is_same_v<T, ry_str>) {
      out.kind = RY_V_TEXT;
      out.u.s = mode == texts::copy ? str(copy(view(v))) : v;
    } else if constexpr (text_like<T>) {
      const std::string_view s = v;
      out.kind = RY_V_TEXT;
      out.u.s = str(mode == texts::copy ? copy(s) : s);
    } else {
      static_assert(array_like<T>, "not a value for SQL");
      add_array(mode, v, out);
    }
    values_.push_back(out);
  }

  template <class T>
  void add_array(texts mode, const T& v, ry_value& out) {
    using element = std::decay_t<decltype(*std::data(v))>;
    const std::size_t n = std::size(v);
    out.u.a.len = n;
    if constexpr (std::is_same_v<element, std::int64_t>) {
      out.kind = RY_V_INT_ARRAY;
      out.u.a.items = std::data(v);
      if (mode == texts::copy && n != 0) {
        out.u.a.items = copy({reinterpret_cast<const char*>(std::data(v)), n * sizeof(std::int64_t)}).data();
      }
    } else {
      out.kind = RY_V_TEXT_ARRAY;
      std::unique_ptr<ry_str[]> items(new ry_str[n]{});
      for (std::size_t i = 0; i < n; ++i) {
        items[i] = element_of(mode, std::data(v)[i]);
      }
      out.u.a.items = items.get();
      arrays_.push_back(std::move(items));
    }
  }
  template <class E>
  ry_str element_of(texts mode, const E& e) {
    if constexpr (is_optional<E>) {
      return e ? element_of(mode, *e) : ry_str{};
    } else {
      static_assert(text_like<E>, "arrays hold int64_t or text");
      const std::string_view s = e;
      // Not a null pointer: that would be a NULL element.
      if (s.empty()) return {"", 0};
      return str(mode == texts::copy ? copy(s) : s);
    }
  }
  std::string_view copy(std::string_view s) {
    if (s.empty()) return std::string_view("", 0);
    std::unique_ptr<char[]> own(new char[s.size()]);
    std::memcpy(own.get(), s.data(), s.size());
    const std::string_view out(own.get(), s.size());
    texts_.push_back(std::move(own));
    return out;
  }

  std::vector<ry_value> values_;
  std::vector<std::unique_ptr<ry_str[]>> arrays_;
  std::vector<std::unique_ptr<char[]>> texts_;
};

}  // namespace detail

class rows;

// One row; a view into its `rows`.
class row {
 public:
  bool is_null(std::size_t col) const { return cell(col).ptr == nullptr; }
  bool is_null(std::string_view col) const { return is_null(index(col)); }

  // Throws if the value is NULL; use the opt_ form for columns that may be NULL.
  template <class C>
  std::string_view text(const C& col) const {
    return view(known(index(col)));
  }
  template <class C>
  std::int64_t int64(const C& col) const {
    return number<std::int64_t>(index(col));
  }
  template <class C>
  double real(const C& col) const {
    return number<double>(index(col));
  }
  template <class C>
  bool boolean(const C& col) const {
    const std::string_view s = text(col);
    if (s == "t" || s == "true" || s == "1") return true;
    if (s == "f" || s == "false" || s == "0") return false;
    throw bad(index(col), "is no boolean");
  }
  template <class C>
  ry::uuid uuid(const C& col) const {
    const auto u = ry::uuid::parse(text(col));
    if (!u) throw bad(index(col), "is no UUID");
    return *u;
  }
  template <class C>
  std::optional<std::string_view> opt_text(const C& col) const {
    if (is_null(index(col))) return std::nullopt;
    return text(col);
  }
  template <class C>
  std::optional<std::int64_t> opt_int64(const C& col) const {
    if (is_null(index(col))) return std::nullopt;
    return int64(col);
  }
  template <class C>
  std::optional<double> opt_real(const C& col) const {
    if (is_null(index(col))) return std::nullopt;
    return real(col);
  }
  template <class C>
  std::optional<bool> opt_boolean(const C& col) const {
    if (is_null(index(col))) return std::nullopt;
    return boolean(col);
  }
  template <class C>
  std::optional<ry::uuid> opt_uuid(const C& col) const {
    if (is_null(index(col))) return std::nullopt;
    return uuid(col);
  }
  std::size_t columns() const noexcept { return rows_->n_cols; }

 private:
  friend class rows;
  row(const ry_db_rows* r, std::size_t at) noexcept : rows_(r), at_(at) {}

  std::size_t index(std::string_view name) const {
    for (std::size_t i = 0; i < rows_->n_cols; ++i) {
      if (view(rows_->columns[i]) == name) return i;
    }
    throw internal("db.column", "the statement gave no column " + std::string(name));
  }
  template <class I>
  requires std::is_integral_v<I> std::size_t index(I i)
  const {
    if (static_cast<std::size_t>(i) >= rows_->n_cols) {
      throw internal("db.column", "the statement gave no column " + std::to_string(i));
    }
    return static_cast<std::size_t>(i);
  }
  ry_str cell(std::size_t col) const { return rows_->cells[at_ * rows_->n_cols + index(col)]; }
  ry_str known(std::size_t col) const {
    const ry_str c = cell(col);
    if (c.ptr == nullptr) throw bad(col, "is NULL");
    return c;
  }
  template <class N>
  N number(std::size_t col) const {
    const std::string_view s = view(known(col));
    N out{};
    if constexpr (std::is_integral_v<N>) {
      const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), out);
      if (ec != std::errc() || end != s.data() + s.size()) throw bad(col, "is no integer");
    } else {
      // libc++ 14 has no from_chars for floating point.
      const std::string copy(s);
      char* end = nullptr;
      out = std::strtod(copy.c_str(), &end);
      if (copy.empty() || end != copy.c_str() + copy.size()) throw bad(col, "is no number");
    }
    return out;
  }
  error bad(std::size_t col, const char* how) const {
    return internal("db.column", "column " + ry::text(rows_->columns[col]) + " " + how);
  }

  const ry_db_rows* rows_;
  std::size_t at_;
};

// The rows of one statement. Copies share the result, which is released with the last one.
class rows {
 public:
  rows() = default;
  rows(const ry_db_v1* table, ry_db_result* result)
      : result_(result, [table](ry_db_result* r) { table->result_release(r); }), rows_(table->result_rows(result)) {}

  std::size_t size() const noexcept { return rows_ != nullptr ? rows_->n_rows : 0; }
  bool empty() const noexcept { return size() == 0; }
  // Number of rows that an insert, update or delete changed.
  std::uint64_t affected() const noexcept { return rows_ != nullptr ? rows_->affected : 0; }
  row operator[](std::size_t i) const noexcept { return row(rows_, i); }
  // The first row; throws if there is none.
  row front() const {
    if (empty()) throw internal("db.no_row", "the statement gave no row");
    return row(rows_, 0);
  }

  class iterator {
   public:
    iterator(const rows* r, std::size_t at) noexcept : rows_(r), at_(at) {}
    row operator*() const noexcept { return (*rows_)[at_]; }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    bool operator!=(const iterator& o) const noexcept { return at_ != o.at_; }

   private:
    const rows* rows_;
    std::size_t at_;
  };
  iterator begin() const noexcept { return {this, 0}; }
  iterator end() const noexcept { return {this, size()}; }

 private:
  std::shared_ptr<ry_db_result> result_;
  const ry_db_rows* rows_ = nullptr;
};

// Statements that run in one round trip. Copies its arguments; the SQL text must outlive it.
class batch {
 public:
  template <class... A>
  batch& add(std::string_view sql, const A&... a) {
    return add_flagged(0, sql, a...);
  }
  template <class... A>
  batch& add_flagged(std::uint32_t flags, std::string_view sql, const A&... a) {
    args_.push_back(detail::arguments::make(detail::arguments::texts::copy, a...));
    ry_db_call c{};
    c.struct_size = sizeof c;
    c.flags = flags;
    c.sql = str(sql);
    c.params = args_.back().values().data();
    c.n_params = args_.back().values().size();
    calls_.push_back(c);
    return *this;
  }
  // For each statement; 0 = the host's default.
  batch& timeout(std::uint64_t ms) {
    for (auto& c : calls_) c.timeout_ms = ms;
    return *this;
  }
  std::size_t size() const noexcept { return calls_.size(); }
  const std::vector<ry_db_call>& calls() const noexcept { return calls_; }

 private:
  std::vector<detail::arguments> args_;
  std::vector<ry_db_call> calls_;
};

namespace detail {

struct take_rows {
  const ry_db_v1* table;
  rows operator()(ry_db_result* const* results, std::size_t n) const {
    std::vector<rows> all = take_all(table, results, n);
    if (all.empty()) return rows();
    return all.front();
  }
  static std::vector<rows> take_all(const ry_db_v1* table, ry_db_result* const* results, std::size_t n) {
    std::vector<rows> all;
    all.reserve(n);
    for (std::size_t i = 0; i < n; ++i) all.emplace_back(table, results[i]);
    return all;
  }
};
struct take_all_rows {
  const ry_db_v1* table;
  std::vector<rows> operator()(ry_db_result* const* results, std::size_t n) const {
    return take_rows::take_all(table, results, n);
  }
};

struct run_one {
  const ry_db_v1* table;
  const ry_host* host;
  ry_tx* tx;
  std::uint32_t flags;
  std::uint64_t timeout_ms;
  std::string_view sql;
  arguments args;
  ry_status operator()(ry_exec* exec, ry_db_fn fn, void* ctx, ry_op_id* op) const {
    ry_db_call c{};
    c.struct_size = sizeof c;
    c.flags = flags;
    c.sql = str(sql);
    c.params = args.values().data();
    c.n_params = args.values().size();
    c.timeout_ms = timeout_ms;
    return table->run(host, tx, &c, 1, exec, fn, ctx, op);
  }
};
struct run_batch {
  const ry_db_v1* table;
  const ry_host* host;
  ry_tx* tx;
  const batch* statements;
  ry_status operator()(ry_exec* exec, ry_db_fn fn, void* ctx, ry_op_id* op) const {
    const auto& calls = statements->calls();
    return table->run(host, tx, calls.data(), calls.size(), exec, fn, ctx, op);
  }
};

}  // namespace detail

struct query_options {
  std::uint32_t flags = 0;  // RY_DB_*
  std::uint64_t timeout_ms = 0;  // 0 = the host's default
};

// A transaction; rolled back if it is destroyed before commit. Calls on it must not overlap.
class tx {
 public:
  tx(const context* ctx, const ry_db_v1* table, ry_tx* handle, ry_exec* exec) noexcept
      : ctx_(ctx), table_(table), handle_(handle), exec_(exec) {}
  tx(tx&& o) noexcept : ctx_(o.ctx_), table_(o.table_), handle_(std::exchange(o.handle_, nullptr)), exec_(o.exec_) {}
  tx& operator=(tx&& o) noexcept {
    if (this != &o) {
      drop();
      ctx_ = o.ctx_;
      table_ = o.table_;
      handle_ = std::exchange(o.handle_, nullptr);
      exec_ = o.exec_;
    }
    return *this;
  }
  ~tx() { drop(); }

  // -> result<rows>
  template <class... A>
  auto query(std::string_view sql, const A&... a) {
    return query_with(query_options(), sql, a...);
  }
  template <class... A>
  auto query_with(query_options options, std::string_view sql, const A&... a) {
    return call<rows, ry_db_result* const*, std::size_t>(
        detail::run_one{table_, ctx_->host(), handle_, options.flags, options.timeout_ms, sql,
                        detail::arguments::make(detail::arguments::texts::borrow, a...)},
        detail::take_rows{table_});
  }
  // -> result<std::vector<rows>>
  auto run(const batch& statements) {
    return call<std::vector<rows>, ry_db_result* const*, std::size_t>(
        detail::run_batch{table_, ctx_->host(), handle_, &statements}, detail::take_all_rows{table_});
  }
  // -> result<void>; ends the transaction regardless of the result. Not cancellable.
  auto commit() {
    return call_done([table = table_, h = std::exchange(handle_, nullptr)](ry_exec* exec, ry_done done) {
      return table->commit(h, exec, done);
    });
  }
  auto rollback() {
    return call_done([table = table_, h = std::exchange(handle_, nullptr)](ry_exec* exec, ry_done done) {
      return table->rollback(h, exec, done);
    });
  }
  ry_tx* handle() const noexcept { return handle_; }
  // Releases ownership of the transaction without ending it.
  ry_tx* release() noexcept { return std::exchange(handle_, nullptr); }

 private:
  void drop() noexcept {
    if (handle_ != nullptr) table_->rollback(std::exchange(handle_, nullptr), exec_, ry_done{});
  }
  const context* ctx_;
  const ry_db_v1* table_;
  ry_tx* handle_;
  ry_exec* exec_;
};

namespace detail {

// Keeps the function of a subscription alive until the host can no longer call it: it ends on its own executor, where
// the ABI promises that no call starts afterwards.
template <class Handle, class F>
struct subscription_block {
  const context* ctx = nullptr;
  ry_exec* exec = nullptr;
  Handle* handle = nullptr;
  void (*end)(const context&, Handle*) noexcept = nullptr;
  F f;
  std::atomic<bool> open{true};
  bool running = false;  // on exec only, like `ended`
  bool ended = false;

  explicit subscription_block(F f) : f(std::move(f)) {}
  template <class... A>
  void run(const char* what, A&&... a) noexcept {
    if (!open.load(std::memory_order_acquire)) return;
    running = true;
    try {
      f(std::forward<A>(a)...);
    } catch (...) {
      ctx->log_error(what, current_error());
    }
    running = false;
    if (ended) delete this;  // f released its own subscription
  }
  static void close(void* p) noexcept {
    std::unique_ptr<subscription_block> own(static_cast<subscription_block*>(p));
    own->open.store(false, std::memory_order_release);
    if (own->ctx->on_exec(own->exec)) {
      own->end(*own->ctx, own->handle);
      own->ended = true;
      if (own->running) (void)own.release();
      return;
    }
    auto* raw_block = own.release();
    raw_block->ctx->core().exec_post(
        raw_block->ctx->host(), raw_block->exec, [](void* q) noexcept { close(q); }, raw_block);
  }
};

}  // namespace detail

// Ends a subscription (of wake-ups or of a live topic) when destroyed. On the subscription's executor no call follows;
// on other threads a running call may still finish.
class subscription {
 public:
  subscription() = default;
  subscription(void* block, void (*close)(void*) noexcept) noexcept : block_(block), close_(close) {}
  subscription(subscription&& o) noexcept : block_(std::exchange(o.block_, nullptr)), close_(o.close_) {}
  subscription& operator=(subscription&& o) noexcept {
    if (this != &o) {
      reset();
      block_ = std::exchange(o.block_, nullptr);
      close_ = o.close_;
    }
    return *this;
  }
  ~subscription() { reset(); }
  void reset() noexcept {
    if (block_ != nullptr) close_(std::exchange(block_, nullptr));
  }
  explicit operator bool() const noexcept { return block_ != nullptr; }

 private:
  void* block_ = nullptr;
  void (*close_)(void*) noexcept = nullptr;
};

// A copyable handle of the module's database.
class database {
 public:
  explicit database(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_db_v1>()) {}

  // One statement in its own transaction -> result<rows>. The text should be constant, because it is prepared and
  // cached.
  template <class... A>
  auto query(std::string_view sql, const A&... a) const {
    return query_with(query_options(), sql, a...);
  }
  template <class... A>
  auto query_with(query_options options, std::string_view sql, const A&... a) const {
    return call<rows, ry_db_result* const*, std::size_t>(
        detail::run_one{table_, ctx_->host(), nullptr, options.flags, options.timeout_ms, sql,
                        detail::arguments::make(detail::arguments::texts::borrow, a...)},
        detail::take_rows{table_});
  }
  // Several statements in one transaction and one round trip, all or nothing -> result<std::vector<rows>>.
  auto run(const batch& statements) const {
    return call<std::vector<rows>, ry_db_result* const*, std::size_t>(
        detail::run_batch{table_, ctx_->host(), nullptr, &statements}, detail::take_all_rows{table_});
  }
  // Wraps a transaction that another module owns. Call release() before the object is destroyed; otherwise the destructor
  // rolls the transaction back.
  tx borrow(ry_tx* handle, ry_exec* exec) const { return tx(ctx_, table_, handle, exec); }
  // -> result<tx>. flags: RY_TX_*
  task<result<tx>> begin(std::uint32_t flags = 0) const {
    const context* ctx = ctx_;
    const ry_db_v1* table = table_;
    ry_exec* exec = (co_await detail::this_env{}).exec;
    auto opened = co_await call<tx, ry_tx*>(
        [ctx, table, flags](ry_exec* e, ry_tx_fn fn, void* p, ry_op_id* op) {
          return table->begin(ctx->host(), flags, e, fn, p, op);
        },
        [ctx, table, exec](ry_tx* handle) { return tx(ctx, table, handle, exec); });
    co_return opened;
  }

  // Calls f() on exec after each wake-up, and at least every poll_ms, until the subscription ends.
  template <class F>
  subscription listen(std::string_view channel, std::uint64_t poll_ms, ry_exec* exec, F f) const {
    using block = detail::subscription_block<ry_db_listen, F>;
    auto b = std::make_unique<block>(std::move(f));
    b->ctx = ctx_;
    b->exec = exec;
    b->end = [](const context& ctx, ry_db_listen* l) noexcept { ctx.try_interface<ry_db_v1>()->unlisten(l); };
    check(table_->listen(
              ctx_->host(), str(channel), poll_ms, exec,
              [](void* p) noexcept { static_cast<block*>(p)->run("a listener failed"); }, b.get(), &b->handle),
          "db.listen");
    return subscription(b.release(), &block::close);
  }
  void notify(std::string_view channel) const noexcept { table_->notify(ctx_->host(), str(channel)); }
  const ry_db_v1& table() const noexcept { return *table_; }

 private:
  const context* ctx_;
  const ry_db_v1* table_;
};

inline database context::db() const {
  return database(*this);
}

}  // namespace ry
