#include "types/run_options.hpp"

#include <boost/json.hpp>

#include "json/members.hpp"
#include "text.hpp"

namespace runs {

std::string stored_parameters(const model_parameters& parameters, const run_options& options) {
  if (parameters.empty() && options.empty()) return {};
  std::string out = "{" + members_of(parameters);
  if (!options.instructions.empty()) {
    if (out.size() > 1) out += ',';
    out += "\"instructions\":" + json_string(options.instructions);
  }
  return out + "}";
}

run_options read_options(std::string_view text) {
  run_options out;
  boost::system::error_code bad;
  const boost::json::value v = boost::json::parse(text, bad);
  if (bad || !v.is_object()) return out;
  out.instructions = module_json::text_of(v.as_object(), "instructions");
  return out;
}

}  // namespace runs
