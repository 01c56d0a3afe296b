// Parses JSON whose numbers are passed on: doubles are as exact as their text. boost::json::parse (1.81) is off by one
// bit for one number in nine. A number that is too large for a double becomes infinity, which JSON cannot represent;
// the caller must replace it.
//
// Thread: any. Errors: in `ec`, as for boost::json::parse; array_too_large if the text has more than max_values
// values, counting arrays and objects. The returned value is then null.
#pragma once
#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace module_json {

boost::json::value parse_exactly(std::string_view text, std::size_t max_depth, boost::system::error_code& ec,
                                 boost::json::storage_ptr memory = {}, std::size_t max_values = SIZE_MAX);

}  // namespace module_json
