// The JSON bodies that clients send: of agents with their MCP configurations, and of accounts. A refused body gets
// 400 or 422 and a sentence; a stored one is JSON without secrets in plain text, and its displayed form can be sent
// back.
#include <boost/json.hpp>
#include <ry/cpp/types.hpp>
#include <string>

#include "check.hpp"
#include "modules/accounts/body.hpp"
#include "modules/agents/body.hpp"
#include "modules/agents/mcp_list.hpp"

namespace json = boost::json;

namespace {

std::string hex(std::string_view plain) {
  std::string out;
  for (const char c : plain) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

template <class F>
bool accepted(F&& f) {
  try {
    f();
    return true;
  } catch (const ry::error& e) {
    fuzz::promise(e.status() == RY_INVALID_ARGUMENT, "a body is refused as what it is: 400 or 422");
    fuzz::promise(!e.message().empty(), "a refusal has a sentence");
    return false;
  }
}

// No text in it but the mask is a value of headers or env.
void promise_masked(const json::array& shown) {
  for (const json::value& entry : shown) {
    if (!entry.is_object()) continue;
    const auto* config = entry.get_object().if_contains("config");
    if (config == nullptr || !config->is_object()) continue;
    for (const char* name : {"headers", "env"}) {
      const auto* secrets = config->as_object().if_contains(name);
      if (secrets == nullptr || !secrets->is_object()) continue;
      for (const auto& member : secrets->as_object())
        fuzz::promise(member.value() == json::value(agents::mask), "secrets are shown masked");
    }
  }
}

void agent(std::string_view text) {
  accepted([&] {
    const agents::agent_body body = agents::read_agent_body(text);
    if (!body.mcps) return;
    const std::string kept = agents::read_mcp_list(*body.mcps, "[]", hex);
    const json::array shown = agents::masked_mcp_list(kept);
    fuzz::promise(shown.size() == json::parse(kept).as_array().size(), "all that is kept is shown");
    promise_masked(shown);
    std::string again;
    fuzz::promise(accepted([&] { again = agents::read_mcp_list(json::value(shown), kept, hex); }),
                  "what was shown may be sent back");
    fuzz::promise(json::parse(again) == json::parse(kept), "and changes nothing");
  });
}

// Stored text comes from the server, but possibly from another release.
void stored(std::string_view text) {
  promise_masked(agents::masked_mcp_list(text));
  accepted([&] { (void)agents::read_mcp_list(json::array(), text, hex); });
}

void account(std::string_view text) {
  accepted([&] {
    const accounts::body body(text, {"email", "password", "amount", "reason"});
    if (const auto email = body.text("email", 3, 254)) {
      fuzz::promise(email->size() >= 3 && email->size() <= 254, "a text has the size asked for");
      for (const char c : *email)
        fuzz::promise(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "and no control characters");
    }
    if (const auto amount = body.integer("amount", -1000, 1000))
      fuzz::promise(*amount >= -1000 && *amount <= 1000, "a number is within its bounds");
    (void)body.text("reason", 0, 1000);
    (void)body.raw_text("password");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  switch (fuzz::take(input) % 3) {
    case 0:
      agent(input);
      break;
    case 1:
      stored(input);
      break;
    default:
      account(input);
  }
  return 0;
}
