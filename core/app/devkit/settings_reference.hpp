// The settings reference: settings of host and modules as tables, generated from the schemas that validate them.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace ry::app {

// Markdown: one row for each setting below `at` ("http", or a module's name; empty for the host's own): key, type,
// default, allowed values, meaning. The schema must pass config::schema_fault().
std::string settings_table(const boost::json::value& schema, std::string_view at);

// Markdown: one row for each setting whose schema has a "limit", with the columns of limits_heading. The heading is
// omitted, so that the rows of several schemas form one table.
std::string limit_rows(const boost::json::value& schema, std::string_view at);
inline constexpr std::string_view limits_heading =
    "| Resource | Per | Setting | Default | At the limit | Metric | Alert |\n|---|---|---|---|---|---|---|\n";

}  // namespace ry::app
