// JSON request bodies: agents with MCP configurations, and accounts. A rejected body gets 400 or 422 and an error
// message; a stored one is JSON without secrets in plain text, and its displayed form can be sent back.
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
    fuzz::check(e.status() == RY_INVALID_ARGUMENT, "a body is rejected with 400 or 422");
    fuzz::check(!e.message().empty(), "an error has a message");
    return false;
  }
}

// All values of headers and env are the mask.
void check_masked(const json::array& shown) {
  for (const json::value& entry : shown) {
    if (!entry.is_object()) continue;
    const auto* config = entry.get_object().if_contains("config");
    if (config == nullptr || !config->is_object()) continue;
    for (const char* name : {"headers", "env"}) {
      const auto* secrets = config->as_object().if_contains(name);
      if (secrets == nullptr || !secrets->is_object()) continue;
      for (const auto& member : secrets->as_object())
        fuzz::check(member.value() == json::value(agents::mask), "secrets are masked");
    }
  }
}

void agent(std::string_view text) {
  accepted([&] {
    const agents::agent_body body = agents::read_agent_body(text);
    if (!body.mcps) return;
    const std::string stored_list = agents::read_mcp_list(*body.mcps, "[]", hex);
    const json::array shown = agents::masked_mcp_list(stored_list);
    fuzz::check(shown.size() == json::parse(stored_list).as_array().size(), "every stored entry is shown");
    check_masked(shown);
    std::string again;
    fuzz::check(accepted([&] { again = agents::read_mcp_list(json::value(shown), stored_list, hex); }),
                "the displayed form is accepted");
    fuzz::check(json::parse(again) == json::parse(stored_list), "sending back the displayed form changes nothing");
  });
}

// Stored text comes from the server, but possibly from another release.
void stored(std::string_view text) {
  check_masked(agents::masked_mcp_list(text));
  accepted([&] { (void)agents::read_mcp_list(json::array(), text, hex); });
}

void account(std::string_view text) {
  accepted([&] {
    const accounts::body body(text, {"email", "password", "amount", "reason"});
    if (const auto email = body.text("email", 3, 254)) {
      fuzz::check(email->size() >= 3 && email->size() <= 254, "a text is within its size bounds");
      for (const char c : *email)
        fuzz::check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a text has no control characters");
    }
    if (const auto amount = body.integer("amount", -1000, 1000))
      fuzz::check(*amount >= -1000 && *amount <= 1000, "a number is within its bounds");
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
