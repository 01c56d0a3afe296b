// A client of runs/1 with the C++ wrapper:
//   POST /relay_cpp                starts a run and responds with {run_id, text, events, end} after its last event. The
//                                  body is a JSON object of strings with the fields of the start, or a form with files.
//     ?run=ID                      follows this run instead of a new one
//     ?after=N&merge_ms=N&snapshot=1  see ry_run_follow
//     ?pause_ms=N                  waits after each batch
//     ?as=sse                      responds with a stream
//     ?tx=commit|rollback          starts the run in one transaction with a row of the module's table, without reading it
//   POST /relay_cpp/call/{name}    ?id=ID: responds with the text of another function of runs/1
#include <ry/svc/accounts.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <ry/cpp/runs.hpp>
#include <ry/cpp/text.hpp>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

namespace {

constexpr std::uint64_t max_ms = 120'000;

constexpr char description[] = R"json({"paths": {
  "/relay_cpp": {"post": {"operationId": "relay", "summary": "Start a run, or follow one",
    "parameters": [
      {"name": "run", "in": "query", "schema": {"type": "string"}},
      {"name": "after", "in": "query", "schema": {"type": "string"}},
      {"name": "merge_ms", "in": "query", "schema": {"type": "integer"}},
      {"name": "snapshot", "in": "query", "schema": {"type": "integer"}},
      {"name": "pause_ms", "in": "query", "schema": {"type": "integer"}},
      {"name": "as", "in": "query", "schema": {"type": "string"}},
      {"name": "tx", "in": "query", "schema": {"type": "string"}}],
    "responses": {"200": {"description": "The events", "content": {"application/json": {"schema": {}}, "text/event-stream": {"schema": {}}}},
                  "default": {"description": "The error of runs/1", "content": {"application/json": {"schema": {}}}}}}},
  "/relay_cpp/call/{name}": {"post": {"operationId": "call", "summary": "Call another function of runs/1",
    "parameters": [
      {"name": "id", "in": "query", "schema": {"type": "string"}},
      {"name": "thread_id", "in": "query", "schema": {"type": "string"}},
      {"name": "limit", "in": "query", "schema": {"type": "string"}}],
    "responses": {"200": {"description": "The text of the function", "content": {"application/json": {"schema": {}}}},
                  "204": {"description": "Done"},
                  "default": {"description": "The error of runs/1", "content": {"application/json": {"schema": {}}}}}}}}})json";

// Reads JSON objects whose members are strings.
class flat_json {
 public:
  explicit flat_json(std::string_view text) : text_(text) {}
  ry::runs::fields read() {
    ry::runs::fields out;
    expect('{');
    while (next() != '}') {
      if (!out.empty()) expect(',');
      std::string name = string();
      expect(':');
      out.emplace_back(std::move(name), string());
    }
    return out;
  }

 private:
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  [[noreturn]] static void fail() { throw ry::bad_request("relay.body", "The body must be a JSON object of strings"); }
  void expect(char c) {
    if (next() != c) fail();
    ++at_;
  }
  char take() {
    if (at_ >= text_.size()) fail();
    return text_[at_++];
  }
  std::uint32_t hex4() {
    std::uint32_t out = 0;
    for (int i = 0; i < 4; ++i) out = out << 4 | static_cast<std::uint32_t>(ry::hex_value(take()));
    return out;
  }
  static void add_utf8(std::string& out, std::uint32_t c) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | c >> 6);
      tail(0);
    } else if (c < 0x10000) {
      out += static_cast<char>(0xe0 | c >> 12);
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xf0 | c >> 18);
      tail(12);
      tail(6);
      tail(0);
    }
  }
  std::string string() {
    expect('"');
    std::string out;
    for (char c = take(); c != '"'; c = take()) {
      if (c != '\\') {
        out += c;
        continue;
      }
      c = take();
      if (c == 'u') {
        std::uint32_t code = hex4();
        if (code >= 0xd800 && code < 0xdc00 && take() == '\\' && take() == 'u')
          code = 0x10000 + ((code - 0xd800) << 10) + (hex4() - 0xdc00);
        add_utf8(out, code);
      } else {
        const auto at = std::string_view("bfnrt").find(c);
        out += at == std::string_view::npos ? c : "\b\f\n\r\t"[at];
      }
    }
    return out;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

// The events of a run as JSON, and the text that a client shows.
class transcript {
 public:
  void add(const ry::runs::event& e) {
    if (!events_.empty()) events_ += ',';
    events_ += e.json;
    const std::string_view type = member(e.json, "type");
    if (type == "llm_response_start" || type == "turn_aborted") current_.clear();
    if (type == "llm_response_chunk") current_ += member(e.json, "content");
    if (type == "llm_response_end") text_ += std::exchange(current_, {});
  }
  std::string json(std::string_view run, std::string_view end) const {
    return "{\"run_id\":" + ry::json_string(run) + ",\"text\":\"" + text_ + current_ + "\",\"events\":[" + events_ +
           "],\"end\":" + ry::json_string(end) + "}";
  }

 private:
  // The text between the quotes, with its escapes. `name` must not be inside an earlier string.
  static std::string_view member(std::string_view json, std::string_view name) {
    const std::string key = "\"" + std::string(name) + "\": \"";
    const std::size_t begin = json.find(key);
    if (begin == std::string_view::npos) return {};
    json.remove_prefix(begin + key.size());
    std::size_t end = 0;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    return json.substr(0, end);
  }
  std::string text_, current_, events_;  // texts: as in JSON
};

std::uint64_t number(const ry::request& r, const char* name) {
  const std::string text = r.query(name).value_or("0");
  if (text.empty() || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    throw ry::bad_request("relay.query", std::string(name) + " must be a number");
  return std::strtoull(text.c_str(), nullptr, 10);
}

ry::uuid id_of(const ry::request& r) {
  return ry::require_uuid(r.query("id").value_or(""));
}

class relay {
 public:
  relay(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    reg.migration("0001_starts", "create table start (run uuid primary key, prompt text not null)");
    ry::route_options o;
    o.max_body = 64 << 20;
    reg.route("POST", "/relay_cpp", RY_ROUTE_STREAM_BODY | RY_ROUTE_LONG, this, &relay::serve, o);
    reg.route("POST", "/relay_cpp/call/{name}", 0, this, &relay::call);
    reg.describe(description);
  }
  ry::task<void> start() {
    accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
    runs_ = ry::runs::client(ctx_);
    co_return;
  }

 private:
  ry::task<ry::uuid> account_of(ry::request r) {
    ry::result<ry::uuid> found = co_await ry::call<ry::uuid, const ry_account_view*>(
        [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
          return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
        },
        [](const ry_account_view* a) { return ry::uuid(a->account_id); });
    co_return found.value();
  }

  ry::task<void> serve(ry::request r) {
    const ry::uuid account = co_await account_of(r);
    ry::runs::follow_options options;
    options.after = number(r, "after");
    options.merge_ms = number(r, "merge_ms");
    if (r.query("snapshot")) options.flags |= RY_RUN_SNAPSHOT;
    std::string run = r.query("run").value_or("");
    const std::string tx = r.query("tx").value_or("");
    if (run.empty()) {
      ry::runs::start_request start = co_await read_start(r, account);
      if (!tx.empty()) {
        run = co_await start_in_tx(std::move(start), tx == "commit");
        r.respond(ry::response::json("{\"run_id\":" + ry::json_string(run) + "}"));
        co_return;
      }
      const ry::runs::started started = co_await runs_.start(std::move(start));
      run = started.run_id;
    }
    ry::runs::reader events = runs_.follow(account, run, options);
    if (r.query("as") == "sse")
      co_await stream(r, std::move(events));
    else
      co_await collect(r, run, std::move(events));
  }

  ry::task<ry::runs::start_request> read_start(ry::request r, ry::uuid account) {
    ry::runs::start_request out(account);
    out.key(std::string(r.header("Idempotency-Key")));
    if (r.header("Content-Type").starts_with("multipart/form-data")) {
      ry::result<ry::form> form = co_await r.read_form();
      for (const ry::form_part& p : form.value().parts()) {
        if (p.is_file) {
          std::ifstream in{std::string(p.path), std::ios::binary};
          out.file(std::string(p.filename), std::string(p.content_type),
                   std::string(std::istreambuf_iterator<char>(in), {}));
        } else {
          out.field(std::string(p.name), std::string(p.value));
        }
      }
      co_return out;
    }
    std::string body;
    for (;;) {
      ry::result<std::string> piece = co_await r.read_body();
      if (piece.value().empty()) break;
      body += *piece;
    }
    for (auto& [name, value] : flat_json(body).read()) out.field(name, value);
    co_return out;
  }

  ry::task<std::string> start_in_tx(ry::runs::start_request start, bool keep) {
    ry::result<ry::tx> opened = co_await ctx_.db().begin();
    ry::tx tx = std::move(opened).value();
    const ry::runs::started run = co_await runs_.start(std::move(start), &tx);
    ry::result<ry::rows> row =
        co_await tx.query("insert into relay_cpp.start (run, prompt) values ($1::uuid, 'relayed')", run.run_id);
    row.value();
    if (!keep) {
      (void)co_await tx.rollback();
      co_return run.run_id;
    }
    ry::result<void> committed = co_await tx.commit();
    committed.value();
    runs_.wake();
    co_return run.run_id;
  }

  ry::task<void> collect(ry::request r, std::string run, ry::runs::reader events) {
    const std::uint64_t pause = std::min(number(r, "pause_ms"), max_ms);
    transcript out;
    std::string end = "OK";
    try {
      while (const ry::runs::batch* b = co_await events.next()) {
        for (const ry::runs::event& e : b->events) out.add(e);
        if (pause != 0) (void)co_await ctx_.sleep(pause);
      }
    } catch (const ry::error& e) {
      if (e.status() != RY_CANCELLED) throw;
      end = "CANCELLED";
    }
    r.respond(ry::response::json(out.json(run, end)));
  }

  ry::task<void> stream(ry::request r, ry::runs::reader events) {
    // Before the first byte of the response, so that an error has its own status.
    const ry::runs::batch* b = co_await events.next();
    ry::sse out = r.open_sse();
    for (; b != nullptr; b = co_await events.next()) {
      for (const ry::runs::event& e : b->events) {
        if (out.send(e.json, std::to_string(e.sequence)) != RY_OK) co_return;
        ry::result<void> ready = co_await out.ready();
        if (!ready) co_return;
      }
    }
  }

  ry::task<ry::response> call(ry::request r) {
    const ry::uuid account = co_await account_of(r);
    const std::string_view name = r.param("name");
    std::string json;
    if (name == "stop")
      json = co_await runs_.stop(account, id_of(r));
    else if (name == "get")
      json = co_await runs_.get(account, id_of(r));
    else if (name == "list")
      json = co_await runs_.list(account, r.query_list());
    else if (name == "messages")
      json = co_await runs_.messages(account, id_of(r), r.query_list());
    else if (name == "approvals")
      json = co_await runs_.approvals(account, r.query_list());
    else if (name == "decide")
      json = co_await runs_.decide(account, id_of(r), std::string(r.body()));
    else if (name == "tool_results")
      json = co_await runs_.tool_results(account, id_of(r), std::string(r.body()));
    else if (name == "delete_thread")
      co_await runs_.delete_thread(account, id_of(r));
    else if (name == "models")
      json = co_await runs_.models(account);
    else
      throw ry::not_found("relay.function", "There is no function of this name");
    if (json.empty()) co_return ry::response::empty();
    co_return ry::response::json(std::move(json));
  }

  ry::context& ctx_;
  ry::service<ry_accounts_v1> accounts_;
  ry::runs::client runs_;
};

}  // namespace

RY_MODULE(relay, "relay_cpp", "0.1.0", .needs("ry.http/1", "ry.db/1", RY_SVC_ACCOUNTS_1, RY_SVC_RUNS_1).settings("{}"));
