// The pages behind the links with which a person decides about an approval. Pure functions.
#pragma once
#include <string>

#include "common/brand_page.hpp"
#include "store/repository.hpp"

namespace runs {

struct approval_page {
  std::uint32_t status = 200;
  std::string html;
};

// The call with the two buttons, or why it can no longer be decided.
approval_page page_of(const ry_brand_page::brand& b, const approval_link& link);
// After the decision that was made with the link.
approval_page decided_page(const ry_brand_page::brand& b, const approval_link& link);
approval_page unknown_approval_page(const ry_brand_page::brand& b);
// The request is not one of the form's.
approval_page unclear_decision_page(const ry_brand_page::brand& b);
approval_page too_many_requests_page(const ry_brand_page::brand& b);

}  // namespace runs
