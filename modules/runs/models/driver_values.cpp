#include "models/driver_values.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <ry/ry.hpp>

#include "text.hpp"

namespace runs {

std::string cause_of(const ry_error_view& err) {
  boost::system::error_code bad;
  const auto v = boost::json::parse(ry::view(err.detail_json), bad);
  const auto* o = bad ? nullptr : v.if_object();
  const auto* cause = o != nullptr ? o->if_contains("cause") : nullptr;
  return cause != nullptr && cause->is_string() ? plain_sentence(std::string_view(cause->get_string())) : std::string();
}

token_usage read_usage(const ry_llm_usage& u) {
  // Clamps the token counts, so that their sums cannot overflow.
  const auto clamp_count = [](std::int64_t tokens) { return std::clamp<std::int64_t>(tokens, 0, 1'000'000'000); };
  token_usage out{clamp_count(u.input_tokens), clamp_count(u.output_tokens), clamp_count(u.cached_tokens)};
  if (u.struct_size >= offsetof(ry_llm_usage, cache_write_tokens) + sizeof u.cache_write_tokens)
    out.cache_write = clamp_count(u.cache_write_tokens);
  return out;
}

}  // namespace runs
