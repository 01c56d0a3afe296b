// The pages behind the unsubscribe links. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "layout.hpp"
#include "repository.hpp"

namespace mail {

// The display name of a category, such as "news and offers"; if it has none, its name with spaces.
std::string category_label(std::string_view category);

std::string confirm_page(const brand& b, const subscription& s);
// The page after the recipient's decision.
std::string done_page(const brand& b, const subscription& s);
// The page for a link with an unknown token.
std::string unknown_link_page(const brand& b);

}  // namespace mail
