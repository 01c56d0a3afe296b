// Reasoning items of the Responses API, stored with their answer and returned in later requests. Only the provider
// account that produced an item can decrypt it.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace openai {

// The provider, by its configured name, and the model that produced an item.
struct reasoning_origin {
  std::string provider, model;
};

// Returns the members of an output item that the API accepts in requests. Empty if it would reject the item: with
// store = false the API keeps no copy, so an item without content is useless.
boost::json::object replayable_reasoning(const boost::json::object& output_item);

// Reasoning items and models that the provider has rejected since the driver was opened, so that a rejected request
// does not block its thread. Stored items cannot be decrypted after a change of the account, or behind a gateway that
// balances several accounts. Thread: any.
class reasoning_refusals {
 public:
  using mark = std::size_t;  // identifies an item
  static mark mark_of(const boost::json::object& replayable_item);

  bool refuses(mark item) const;
  bool refuses_encryption(std::string_view model) const;
  // Both return whether the entry is new, in which case the same request without it may succeed.
  bool add(const std::vector<mark>& items);
  bool add_model(std::string_view model);

 private:
  mutable std::mutex mutex_;
  std::set<mark> items_;
  std::set<std::string, std::less<>> models_;
};

}  // namespace openai
