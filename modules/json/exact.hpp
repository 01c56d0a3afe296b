// JSON whose numbers are passed on: doubles as exact as their text. Those of boost::json::parse (1.81) are off by a bit,
// one of nine. A number that is too large for a double is infinite, which no JSON text can say again: for the caller to mend.
//
// Thread: any. Errors: by ec, as of boost::json::parse, array_too_large for more than most_values arrays, objects and
// others together; the value is null then.
#pragma once
#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace module_json {

boost::json::value parse_exactly(std::string_view text, std::size_t max_depth, boost::system::error_code& ec,
                                 boost::json::storage_ptr memory = {}, std::size_t most_values = SIZE_MAX);

}  // namespace module_json
