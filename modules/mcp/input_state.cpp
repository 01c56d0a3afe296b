#include "input_state.hpp"

#include <ry/cpp/text.hpp>

namespace mcp {
namespace {

constexpr std::size_t max_state_bytes = 200 << 10;
constexpr std::string_view prefix = R"({"input_required":)";

std::string binding_of(const call_id& id) {
  return "mcp.input:" + id.run + ":" + id.call;
}

// Throws ry::error if the text has other characters than pairs of hexadecimal digits.
std::string from_hex(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = ry::hex_value(text[i]), low = ry::hex_value(text[i + 1]);
    if (high < 0 || low < 0) throw ry::error(RY_DATA_LOSS, "mcp.input", "the state of a call is malformed");
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

}  // namespace

std::string input_required_json(const ry::context& ctx, const call_id& id, const suspended_call& call) {
  const auto state = json::serialize(call.state);
  if (state.size() > max_state_bytes)
    throw ry::error(RY_RESOURCE_EXHAUSTED, "mcp.input",
                    "the state that the server returned with its request for input is too large");
  const auto sealed = ctx.secrets().seal(binding_of(id), state).value();
  const json::object out{{"requests", call.questions}, {"state", jv(ry::to_hex(sealed))}};
  return std::string(prefix) + json::serialize(out) + "}";
}

bool is_input_required(std::string_view result_json) {
  return result_json.starts_with(prefix);
}

std::optional<json::object> continued_params(const ry::context& ctx, const call_id& id, std::string_view input_json) {
  const auto input = parse(input_json);
  const auto* o = input.if_object();
  const auto* answers = o != nullptr ? array_at(*o, "answers") : nullptr;
  const auto opened = ctx.secrets().open(binding_of(id), from_hex(o != nullptr ? text_of(*o, "state") : std::string()));
  if (answers == nullptr || !opened) throw ry::error(RY_DATA_LOSS, "mcp.input", "the state of a call cannot be read");
  const auto state = parse(*opened);
  if (!state.is_object()) throw ry::error(RY_DATA_LOSS, "mcp.input", "the state of a call is malformed");
  return continuation(state.get_object(), *answers);
}

}  // namespace mcp
