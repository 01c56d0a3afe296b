// Reasoning items of the Responses API, which are kept with the answer that they belong to and sent back. Only the
// account of the provider that made an item can decrypt it.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace openai {

// The provider, by its configured name, and the model that made an item.
struct reasoning_origin {
  std::string provider, model;
};

// The members of an output item that the API takes back. Empty when it would refuse the item: with store = false it has
// neither a copy of it nor its content.
boost::json::object replayable_reasoning(const boost::json::object& output_item);

// What the provider refused of this kind since the driver was opened, so that one refused request does not break its
// thread: after a change of the account, or behind a gateway that balances several accounts, kept items cannot be
// decrypted. Any thread.
class reasoning_refusals {
 public:
  using mark = std::size_t;
  static mark mark_of(const boost::json::object& replayable_item);

  bool refuses(mark item) const;
  bool refuses_encryption(std::string_view model) const;
  // Both return whether this was new, so that the same request without it may succeed.
  bool add(const std::vector<mark>& items);
  bool add_model(std::string_view model);

 private:
  mutable std::mutex mutex_;
  std::set<mark> items_;
  std::set<std::string, std::less<>> models_;
};

}  // namespace openai
