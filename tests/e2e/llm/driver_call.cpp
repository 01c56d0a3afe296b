// driver_call MODULE.so CONFIG_JSON [--cancel-after N]: loads one LLM driver like the host, with the host's egress
// client. Standard input has one request per line as JSON; they are sent one after another. Each call of the sink
// becomes a line of JSON on standard output. N: cancels a request at its Nth text chunk.
#include <ry/ext/llm_provider.h>
#include <ry/if/http_client.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <iostream>
#include <string>

#include "core/exec/blocking_pool.hpp"
#include "core/exec/loop.hpp"
#include "core/exec/op_table.hpp"
#include "core/http/client/client.hpp"
#include "core/module/module_set.hpp"
#include "core/module/registry.hpp"
#include "core/observe/metrics.hpp"

namespace {

namespace json = boost::json;
using ry::core::str;
using ry::core::view;

const ry_llm_provider_v1* driver_table = nullptr;

struct response {
  std::promise<void> ended;
  void* self = nullptr;
  void* call = nullptr;
  long text_chunks = 0, cancel_after = 0;
};

void print(const json::object& o) {
  std::cout << json::serialize(o) << std::endl;
}

void on_text(void* ctx, ry_str s) noexcept {
  auto& r = *static_cast<response*>(ctx);
  print({{"text", str(s)}});
  if (++r.text_chunks == r.cancel_after) driver_table->cancel(r.self, r.call);
}
void on_reasoning(void*, ry_str s) noexcept {
  print({{"reasoning", str(s)}});
}
void on_tool_call(void*, ry_str id, ry_str name, ry_str arguments) noexcept {
  print({{"tool_call", {{"id", str(id)}, {"name", str(name)}, {"arguments", str(arguments)}}}});
}
void on_end(void* ctx, ry_status st, const ry_llm_end* end, const ry_error_view* err) noexcept {
  json::object o{{"status", st},
                 {"finish", end->finish},
                 {"input_tokens", end->usage.input_tokens},
                 {"output_tokens", end->usage.output_tokens},
                 {"cached_tokens", end->usage.cached_tokens},
                 {"estimated", end->usage.estimated}};
  if (err) {
    o["reason"] = str(err->reason);
    o["message"] = str(err->message);
    o["retry_after_s"] = err->retry_after_s;
  }
  print({{"end", std::move(o)}});
  static_cast<response*>(ctx)->ended.set_value();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: driver_call MODULE.so CONFIG_JSON [--cancel-after N]\n";
    return 2;
  }
  const std::string config = argv[2];
  const long cancel_after = argc > 4 ? std::stol(argv[4]) : 0;

  ry::module::registry registry;
  ry::exec::loop_pool loops(1);
  ry::exec::op_table ops;
  ry::exec::blocking_pool blocking{1};
  ry::observe::metrics metrics;
  ry::http::client egress(loops, ops, {ry::http::address_guard::on});
  ry::module::runtime rt;
  rt.loops = &loops;
  rt.ops = &ops;
  rt.blocking = &blocking;
  rt.metrics = &metrics;
  rt.http_client = &egress;
  rt.modules = &registry;
  registry.interfaces.add(RY_HTTP_CLIENT_1, &ry::http::http_client_v1(), sizeof(ry_http_client_v1));
  void* self = nullptr;
  ry::module::host_point point;
  point.id = RY_LLM_PROVIDER_1;
  point.min_size = sizeof(ry_llm_provider_v1);
  point.added = [&](ry_host*, std::string_view, const void* table, void* driver) {
    driver_table = static_cast<const ry_llm_provider_v1*>(table);
    self = driver;
  };
  point.removed = [](std::string_view, std::function<void()> done) { done(); };
  registry.host_points.push_back(std::move(point));

  int code = 0;
  {
    ry::module::module_set modules(rt, {});
    auto report = modules.prepare({{argv[1]}});
    if (report.ok()) report = modules.start();
    void* provider = nullptr;
    char text[512];
    ry_errbuf err{text, sizeof text, 0};
    if (!report.ok()) {
      std::cerr << report.text() << '\n';
      code = 1;
    } else if (driver_table->open(self, view("mock"), view(config), &provider, &err) != RY_OK) {
      print({{"refused", std::string(text, err.len)}});
    } else {
      const ry_llm_sink sink{sizeof sink, 0, on_text, on_reasoning, on_tool_call, on_end};
      for (std::string line; std::getline(std::cin, line);) {
        response r;
        r.self = self;
        r.cancel_after = cancel_after;
        const auto st = driver_table->complete(self, provider, view(line), &loops.at(0), &sink, &r, &r.call);
        if (st == RY_OK)
          r.ended.get_future().wait();
        else
          print({{"end", {{"status", st}, {"not_started", true}}}});
      }
      driver_table->close(self, provider);
    }
    modules.stop(std::chrono::system_clock::now() + std::chrono::seconds(5));
  }
  egress.stop();
  loops.stop_and_join();
  return code;
}
