#include "broker.hpp"

#include "deadline.hpp"
#include "result.hpp"

namespace mcp {
namespace {

// Old ones, ones with more scope, and those that another caller found meanwhile.
constexpr int most_credentials = 3;

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) {
    if (out.size() > 500) return out + ", ...";
    out += (out.empty() ? "" : ", ") + n;
  }
  return out;
}

}  // namespace

ry::task<tool_list> broker::fetch(server_ptr s) {
  ry_exec* exec = co_await ry::this_exec();
  attempts made;
  if (s->expired) s = co_await maker_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (;;) {
    ry::error why(RY_OK);
    try {
      client c(parts_, s, exec);
      co_return co_await c.list_tools();
    } catch (const ry::error& e) {
      why = e;
    }
    s = co_await next_try(s, why, made);
  }
}

ry::task<server_ptr> broker::next_try(server_ptr s, ry::error why, attempts& made) {
  if (why.is("mcp.era_changed") && made.eras++ == 0) co_return s;
  if (why.is("mcp.unauthorized") && made.credentials++ < most_credentials) {
    co_return co_await maker_.authorize(s, why);
  }
  throw why;
}

void broker::keep(const server& s, tool_list_ptr list) {
  constexpr std::int64_t day_ms = 24LL * 3600 * 1000;
  const auto life =
      std::min(settings_.cache_us, std::min(list->ttl_ms.value_or(day_ms), day_ms) * 1000);
  for (const auto& why : list->left_out) {
    parts_.ctx.warn("a tool of an MCP server was left out", {{"server", s.name}, {"tool", why}});
  }
  const auto change = memory_.store(s.key, std::move(list), life, parts_.ctx.now_unix_us());
  if (change.none()) return;
  parts_.ctx.warn("an MCP server describes its tools otherwise than before",
                  {{"server", s.name},
                   {"account", s.account_id},
                   {"changed", joined(change.changed)},
                   {"added", joined(change.added)},
                   {"removed", joined(change.removed)}});
}

ry::task<tool_list_ptr> broker::discover(server_ptr s, freshness wanted) {
  s = co_await maker_.resolve(s);
  if (wanted == freshness::remembered) {
    auto known = memory_.look_up(s->key, parts_.ctx.now_unix_us());
    if (known.fresh) co_return known.tools;
  }
  const auto late = trouble_with(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                                 "the discovery took longer than " +
                                     std::to_string(settings_.discovery_ms / 1000) + " seconds");
  try {
    auto list = std::make_shared<const tool_list>(
        co_await within(parts_.ctx, settings_.discovery_ms, late, fetch(s)));
    keep(*s, list);
    co_return list;
  } catch (const ry::error& e) {
    if (e.status() != RY_CANCELLED) memory_.failed(s->key, parts_.ctx.now_unix_us());
    throw;
  }
}

ry::task<json::value> broker::invoke(server_ptr s, std::string tool, json::object arguments) {
  ry_exec* exec = co_await ry::this_exec();
  attempts made;
  if (s->expired) s = co_await maker_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (int lists = 0;;) {
    std::vector<mirrored_argument> mirrored;
    const auto known = memory_.look_up(s->key, parts_.ctx.now_unix_us());
    if (const auto* t = known.tools ? known.tools->find(tool) : nullptr) mirrored = t->mirrored;
    ry::error why(RY_OK);
    try {
      client c(parts_, s, exec);
      co_return co_await c.call_tool(tool, arguments, std::move(mirrored));
    } catch (const ry::error& e) {
      why = e;
    }
    const auto detail = why.detail_json();
    const auto code = why.is("mcp.rpc") && !detail.empty() ? code_of(parse(detail)) : 0;
    if (code == -32602 || code == header_mismatch) memory_.age(s->key);
    // In all of these the server has done nothing yet.
    if (code == header_mismatch && lists++ == 0) {
      keep(*s, std::make_shared<const tool_list>(co_await fetch(s)));
    } else {
      s = co_await next_try(s, why, made);
    }
  }
}

ry::task<std::string> broker::call(server_ptr s, std::string tool, json::object arguments) {
  s = co_await maker_.resolve(s);
  const auto late = trouble_with(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                                 "the call of " + tool + " took longer than " +
                                     std::to_string(settings_.call_ms / 1000) + " seconds");
  const auto result = co_await within(parts_.ctx, settings_.call_ms, late,
                                      invoke(s, std::move(tool), std::move(arguments)));
  co_return result_json(result, settings_.max_result_bytes);
}

}  // namespace mcp
