#include "core/http/worker.hpp"

#include <malloc.h>
#include <sys/random.h>
#include <unistd.h>
#include <ry/cpp/memory.hpp>

#include <algorithm>

#include "core/exec/blocking_pool.hpp"
#include "core/http/answer.hpp"
#include "core/http/connection.hpp"
#include "core/observe/log.hpp"

namespace ry::http::serving {

namespace {
// Buffers that grew beyond this are freed after the request instead of being reused.
constexpr std::size_t keep_capacity = 16 * 1024;
constexpr std::size_t max_spare = 256;
// Peak number of connections that justifies malloc_trim(), and the delay in ticks after they closed.
constexpr std::size_t min_crowd = 256;
constexpr unsigned ticks_until_quiet = 8;
// A module gets extra time to complete a request after its deadline.
constexpr auto until_never = std::chrono::seconds(10);

void trim(std::string& s) {
  if (s.capacity() > keep_capacity)
    give_back(s);
  else
    s.clear();
}
}  // namespace

file_source::~file_source() {
  if (fd >= 0) ::close(fd);
}

std::string request_data::caller() const {
  if (has_principal) return "account " + core::str(principal.subject);
  return "address " + network_of(remote);
}

void request_data::clear() {
  trim(head);
  trim(body);
  trim(query);
  headers.clear();
  params.clear();
  values.clear();
  info = {};
  remote.clear();
  request_id.clear();
  traceparent.clear();
  limit_lines.clear();
  path = raw_query = {};
  principal = {};
  principal_owner.reset();
  has_principal = body_started = body_ended = false;
  table.reset();
  route = nullptr;
  view = {};
  read_fn = nullptr;
  cancel_fn = nullptr;
  read_ctx = cancel_ctx = nullptr;
  form.reset();
}

worker::worker(shared_state& shared, exec::loop& loop)
    : shared(shared), loop(loop), tick_(std::in_place, loop.ctx.get_executor()) {
  if (::getrandom(rng_.data(), sizeof rng_, 0) != sizeof rng_)
    rng_ = {static_cast<std::uint64_t>(clock::now().time_since_epoch().count()), loop.index + 1};
  if (rng_[0] == 0) rng_[0] = 1;
}

worker::~worker() = default;

// ---- any thread

void worker::enqueue(exchange& ex) {
  bool wake = false;
  {
    std::lock_guard lock(inbox_mutex_);
    if (ex.queued) return;
    ex.queued = true;
    inbox_.push_back(&ex);
    wake = !std::exchange(posted_, true);
  }
  if (wake) post_batch();
}

void worker::post_batch() {
  loop.post([this, keep = keep()] { run_batch(); });
}

// ---- on the loop

void worker::schedule(connection& c) {
  if (c.scheduled) return;
  c.scheduled = true;
  resume_.emplace_back(&c);
  bool wake = false;
  {
    std::lock_guard lock(inbox_mutex_);
    wake = !std::exchange(posted_, true);
  }
  if (wake) post_batch();
}

void worker::run_batch() {
  {
    std::lock_guard lock(inbox_mutex_);
    posted_ = false;
    batch_.swap(inbox_);
    for (auto* ex : batch_) ex->queued = false;
  }
  for (auto* ex : batch_) process(*ex);
  batch_.clear();
  auto resume = std::move(resume_);
  resume_.clear();
  for (auto& c : resume) {
    c->scheduled = false;
    c->resume();
  }
}

void worker::process(exchange& ex) {
  std::unique_ptr<pending_answer> answer;
  bool streams = false, closed = false;
  {
    std::lock_guard lock(ex.mutex);
    answer = std::move(ex.answer);
    streams = ex.stream_state != nullptr;
    closed = streams && ex.stream_state->closed;
  }
  if (streams) {
    if (answer && ex.conn) ex.conn->begin_stream(answer->status, answer->lines, answer->content_length);
    if (ex.conn) return ex.conn->stream_news();
    if (closed) return release(ex);
    drop_data(ex);
    return on_stream_disconnected(ex, RY_REASON_GONE);
  }
  if (answer && ex.current() == exchange::ended)
    finish(ex, answer->status, answer->lines, answer->body, std::move(answer->file));
}

void worker::finish(exchange& ex, std::uint32_t status, std::string_view lines, std::string_view body,
                    std::shared_ptr<file_source> file) {
  if (ex.conn) ex.conn->answer(status, lines, body, std::move(file));
  if (ex.in_handler)
    ex.over = true;
  else
    release(ex);
}

exchange& worker::take_slot() {
  if (free_.empty()) {
    slots_.emplace_back(*this);
    free_.push_back(&slots_.back());
    free_.reserve(slots_.size());
  }
  auto& ex = *free_.back();
  free_.pop_back();
  if (spare_.empty()) {
    ex.data = std::make_unique<request_data>();
  } else {
    ex.data = std::move(spare_.back());
    spare_.pop_back();
  }
  ex.packed_state.store(exchange::pack(ex.generation() + 1, exchange::authenticating), std::memory_order_release);
  return ex;
}

// Frees the data of the request when its handle ends; its stream does not need it.
void worker::drop_data(exchange& ex) {
  if (!ex.data) return;
  cancel_body(ex);
  if (auto& form = ex.data->form) {
    form->left = true;
    if (!form->writing) remove_files(form->reader.paths());
  }
  ex.data->clear();
  if (spare_.size() < max_spare) spare_.push_back(std::move(ex.data));
  ex.data.reset();
}

void worker::release(exchange& ex) {
  drop_data(ex);
  std::unique_ptr<stream_data> stream;
  {
    std::lock_guard lock(ex.mutex);
    ex.packed_state.store(exchange::pack(ex.generation() + 1, exchange::free_slot), std::memory_order_release);
    stream = std::move(ex.stream_state);
    ex.answer.reset();
  }
  ex.conn = nullptr;
  ex.over = false;
  ex.hold = module::hold();
  ex.span.end();  // for a client that disconnected before the answer
  if (ex.trace) std::exchange(ex.trace, {})->end();
  ex.stream_permit.reset();
  ex.caller.reset();
  free_.push_back(&ex);
}

void worker::detach(exchange& ex) {
  ex.conn = nullptr;
  ex.data->cancel_fn = nullptr;
  cancel_body(ex);
}

void worker::watch_unanswered(exchange& ex) {
  const auto& route = ex.data->route->def;
  std::string name = route.method + " " + route.pattern;
  observe::log(observe::level::warn, "http", "a request timed out: the module did not respond",
               {{"module", ex.hold.get()->name}, {"route", name}, {"request_id", ex.data->request_id}});
  unanswered_.push_back({&ex, ex.generation(), clock::now() + until_never, std::move(name)});
}

void worker::report_unanswered(clock::time_point now) {
  std::erase_if(unanswered_, [now](const unanswered& one) {
    if (one.ex->packed_state.load(std::memory_order_acquire) != exchange::pack(one.generation, exchange::open))
      return true;
    if (now < one.due) return false;
    module::report_violation(one.ex->hold.get(), "a request that is never answered", one.route,
                             "the module did not end it within ten seconds after its deadline; the client got a 504");
    return true;
  });
}

void worker::on_stream_disconnected(exchange& ex, std::int32_t why) {
  ex.conn = nullptr;
  std::vector<stream_data::waiter> waiters;
  std::vector<exec::buffer_ref> dropped;
  ry_cancel_fn fn = nullptr;
  void* ctx = nullptr;
  ry_exec* exec = nullptr;
  bool closed = false;
  {
    std::lock_guard lock(ex.mutex);
    auto& st = *ex.stream_state;
    st.disconnected = true;
    st.why = why;
    st.bytes = st.head = st.unsent = 0;
    st.held.reset();
    dropped.swap(st.queue);
    waiters.swap(st.waiters);
    closed = st.closed;
    if (!closed) {
      fn = std::exchange(st.close_fn, nullptr);
      ctx = st.close_ctx;
      exec = st.close_exec;
    }
  }
  auto* owner = ex.hold.get();
  for (const auto& w : waiters) module::complete(owner, w.exec, w.done, RY_CANCELLED, w.trace);
  if (closed) return release(ex);
  if (fn) report_closed(ex, exec, fn, ctx, why);
}

void worker::report_closed(exchange& ex, ry_exec* exec, ry_cancel_fn fn, void* ctx, std::int32_t why) {
  auto* owner = ex.hold.get();
  module::post(owner, exec, [owner, fn, ctx, why, keep = keep(), ref = exchange_ref(ex.handle()), trace = ex.trace] {
    const observe::trace_scope scope(trace);
    if (ref.is(exchange::stream)) module::invoke(owner, "stream_on_close", fn, ctx, why);
  });
}

// Notifies a module that waits for the body that no more bytes will arrive.
void worker::cancel_body(exchange& ex) {
  auto& d = *ex.data;
  if (const auto fn = std::exchange(d.read_fn, nullptr)) {
    auto* owner = ex.hold.get();
    module::post(owner, &loop, [owner, fn, ctx = d.read_ctx, trace = ex.trace] {
      const observe::trace_scope scope(trace);
      module::invoke(owner, "read_body", fn, ctx, RY_CANCELLED, ry_bytes{nullptr, 0});
    });
  }
  if (d.form) report_form_end(ex, form_end::cancelled);
}

// Submits the pending disk batch; completes the form when no batch is left.
void worker::advance_form(exchange& ex) {
  auto form = ex.data->form;
  if (!form || form->notified || form->writing) return;
  if (form->reader.failed()) return report_form_end(ex, form_end::failed);
  if (!form->reader.has_batch() || (!form->ended && form->reader.unwritten() < 256 * 1024)) {
    if (form->ended) report_form_end(ex, form_end::complete);
    return;
  }
  struct job {
    std::shared_ptr<void> keep;
    std::shared_ptr<form_state> form;
    spool_batch batch;
    int error = 0;
  };
  auto j = std::make_shared<job>(job{keep(), form, form->reader.take_batch()});
  form->writing = true;
  const auto accepted = shared.r.blocking->submit([this, j, slot = &ex] {
    j->error = j->form->files->run(j->batch);
    j->batch = {};
    loop.post([this, j, slot] {
      auto& form = *j->form;
      form.writing = false;
      if (form.left) return remove_files(form.reader.paths());
      if (j->error != 0) form.reader.fail_disk(j->error);
      advance_form(*slot);
      if (slot->conn) schedule(*slot->conn);
    });
  });
  if (accepted != exec::submit_result::yes) {
    form->writing = false;
    form->reader.fail_disk(EAGAIN);
    report_form_end(ex, form_end::failed);
  }
}

void worker::report_form_end(exchange& ex, form_end end) {
  auto form = ex.data->form;
  if (!form || std::exchange(form->notified, true)) return;
  auto* owner = ex.hold.get();
  // Never call it inside the call that started it, or inside another callback of the request.
  module::post(owner, &loop, [this, keep = keep(), form, owner, end, slot = &ex, trace = ex.trace] {
    const observe::trace_scope scope(trace);
    const auto complete = [&](ry_status st, const ry_form* f, const ry_error_view* e) {
      module::invoke(owner, "read_form", form->fn, form->ctx, st, f, e);
    };
    if (end == form_end::complete && !form->left) {
      form->form = form->reader.view();
      complete(RY_OK, &form->form, nullptr);
    } else if (end == form_end::failed) {
      const auto v = form->reader.failed()->view();
      complete(v.status, nullptr, &v);
    } else {
      const core::error request_over{RY_CANCELLED, "http.request_over", "The request has ended", {}, 0, 0};
      const auto v = request_over.view();
      complete(RY_CANCELLED, nullptr, &v);
    }
    if (slot->conn) schedule(*slot->conn);
  });
}

void worker::remove_files(std::vector<std::string> paths) {
  if (paths.empty()) return;
  const auto work = [paths = std::move(paths)] {
    for (const auto& p : paths) ::unlink(p.c_str());
  };
  if (shared.r.blocking->submit(work) != exec::submit_result::yes) work();
}

void worker::accept(int fd, std::string peer, admission how, quota_hold by_address) {
  if (!scratch) scratch = std::make_unique<char[]>(scratch_size);
  boost::intrusive_ptr<connection> c(new connection(*this, std::move(peer), how, std::move(by_address)));
  add(count.accepted);
  adopt(*c);
  c->start(fd);
  if (draining && how != admission::draining) c->drain();
}

void worker::adopt(connection& c) {
  c.index = connections.size();
  connections.emplace_back(&c);
  add(count.connections);
  arm_tick();
}

void worker::forget(connection& c) {
  wheel.unlink(c);
  if (c.index >= connections.size() || connections[c.index].get() != &c) return;
  boost::intrusive_ptr<connection> keep(&c);
  std::swap(connections[c.index], connections.back());
  connections[c.index]->index = c.index;
  connections.pop_back();
  sub(count.connections);
  count.accepting.fetch_sub(1, std::memory_order_relaxed);
  if (c.admitted_as == admission::draining) shared.rejected_while_draining.fetch_sub(1, std::memory_order_acq_rel);
  if (c.admitted_as == admission::too_many) shared.rejected_over_limit.fetch_sub(1, std::memory_order_acq_rel);
  shared.connections.fetch_sub(1, std::memory_order_acq_rel);
}

void worker::arm_tick() {
  if (ticking_ || !tick_) return;
  ticking_ = true;
  tick_->expires_after(timer_wheel::tick_length);
  tick_->async_wait([this, keep = keep()](const boost::system::error_code& ec) {
    ticking_ = false;
    if (ec) return;
    on_tick();
    if (!connections.empty() || peak_connections_ >= min_crowd || !unanswered_.empty()) arm_tick();
  });
}

void worker::on_tick() {
  const auto now = clock::now();
  wheel.advance(now, [now](wheel_entry& e) {
    boost::intrusive_ptr<connection> c(static_cast<connection*>(&e));
    c->timer(now);
  });
  close_revoked_streams();
  report_unanswered(now);
  trim_memory();
}

// Authentication happens only when a stream starts, so streams must be closed when their credential is revoked later.
void worker::close_revoked_streams() {
  const auto* auth = shared.r.auth;
  if (!auth || auth->revocations() == revocations_seen_) return;
  revocations_seen_ = auth->revocations();
  for (auto& ex : slots_) {
    if (ex.conn && ex.caller && auth->revoked(ex.caller)) ex.conn->cut(RY_REASON_USER);
  }
}

// Returns memory to the system after a load peak. The allocator would keep it because of fragmentation.
void worker::trim_memory() {
  peak_connections_ = std::max(peak_connections_, connections.size());
  quiet_ticks_ = peak_connections_ >= min_crowd && connections.size() <= peak_connections_ / 2 ? quiet_ticks_ + 1 : 0;
  if (quiet_ticks_ < ticks_until_quiet) return;
  quiet_ticks_ = 0;
  peak_connections_ = connections.size();
  // If the pool is full, skip it until the next load peak.
  (void)shared.r.blocking->submit([] { ::malloc_trim(0); });
}

void worker::start_drain() {
  draining = true;
  const auto all = connections;
  for (const auto& c : all) c->drain();
}

std::size_t worker::end_requests_of(const std::vector<ry_host*>& owners, close_mode how) {
  std::size_t open = 0;
  for (auto& ex : slots_) {
    if (ex.current() == exchange::free_slot) continue;
    if (std::find(owners.begin(), owners.end(), ex.hold.get()) == owners.end()) continue;
    ++open;
    if (!ex.conn) continue;
    if (how == close_mode::immediate)
      ex.conn->cut(RY_REASON_SHUTDOWN);
    else
      ex.conn->ask_to_end();
  }
  return open;
}

void worker::close_all() {
  const auto all = connections;
  for (const auto& c : all) c->cut(RY_REASON_SHUTDOWN);
}

void worker::close() {
  tick_.reset();
  connections.clear();
}

std::string worker::new_request_id() {
  // xorshift128+: ids must be unique, not secret.
  const auto next = [this] {
    auto x = rng_[0];
    const auto y = rng_[1];
    rng_[0] = y;
    x ^= x << 23;
    rng_[1] = x ^ y ^ (x >> 17) ^ (y >> 26);
    return rng_[1] + y;
  };
  std::uint64_t words[2] = {next(), next()};
  auto* bytes = reinterpret_cast<unsigned char*>(words);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  static constexpr char hex[] = "0123456789abcdef";
  std::string id(36, '-');
  for (std::size_t i = 0, at = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    id[at++] = hex[bytes[i] >> 4];
    id[at++] = hex[bytes[i] & 15];
  }
  return id;
}

std::string_view worker::date_line() {
  timespec ts{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &ts);
  if (ts.tv_sec != date_second_) {
    date_second_ = ts.tv_sec;
    date_ = "Date: " + http_date(ts.tv_sec) + "\r\n";
  }
  return date_;
}

}  // namespace ry::http::serving
