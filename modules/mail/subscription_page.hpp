// The pages behind the unsubscribe links. Pure.
#pragma once

#include <string>
#include <string_view>

#include "layout.hpp"
#include "repository.hpp"

namespace mail {

// "news and offers"; of a category without a name of its own: its words.
std::string category_label(std::string_view category);

std::string ask_page(const brand& b, const subscription& s);
// After the recipient has decided.
std::string done_page(const brand& b, const subscription& s);
// For a link that leads to no subscription.
std::string unknown_link_page(const brand& b);

}  // namespace mail
