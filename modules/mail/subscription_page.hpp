// The pages behind the unsubscribe links. Pure.
#pragma once

#include <string>
#include <string_view>

#include "layout.hpp"
#include "repository.hpp"

namespace mail {

// "news and offers"; for a category without a display name: its words.
std::string category_label(std::string_view category);

std::string ask_page(const brand& b, const subscription& s);
// The page after the recipient's decision.
std::string done_page(const brand& b, const subscription& s);
// For a link without a subscription.
std::string unknown_link_page(const brand& b);

}  // namespace mail
