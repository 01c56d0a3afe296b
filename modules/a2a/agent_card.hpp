// Agent cards. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace a2a {

struct card_subject {
  std::string name, description, version;
  std::string rpc_url, rest_url;
};

boost::json::object agent_card(const card_subject& of);

}  // namespace a2a
