// Formats values as text for templates: amounts, durations, names of tasks. Pure functions.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace notifications {

// The member of a stored payload that only e-mails use; see the SQL function notifications.notify().
inline constexpr std::string_view details_member = "$details";

// Formats numbers in decimal notation: 12.5, not 1.25E1.
std::string scalar_text(const boost::json::value& v);
// "\xe2\x82\xac19.90" for 19.9 and EUR; "19.90 XYZ" for other currencies; the amount unchanged if it is not a number.
std::string price_text(std::string_view amount, std::string_view currency);
// "12 s", "4 min 12 s", "3 h 20 min"
std::string duration_text(std::int64_t ms);
// The first lines of a text: at most 8 lines and 600 bytes.
std::string first_lines(std::string_view text);

// Adds the fields task_title, task_line, result, stats, arguments, timeout_line, price, credits_left and action_label.
void add_sentences(std::map<std::string, std::string, std::less<>>& values, const boost::json::object& payload,
                   const boost::json::object& details);

}  // namespace notifications
