#include <libpq-fe.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/db/connection.hpp"

namespace ry::db {

std::string conninfo_text(std::span<const std::pair<std::string, std::string>> all) {
  std::string out;
  for (const auto& [key, val] : all) {
    out += key + "='";
    for (const char c : val) {
      if (c == '\'' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
    out += "' ";
  }
  return out;
}

std::chrono::milliseconds idle_limit(const connect_settings& s) {
  return s.transaction_timeout + std::chrono::seconds(5);
}

namespace {

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == ',')
      out.emplace_back();
    else
      out.back().push_back(c);
  }
  return out;
}

std::string joined(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& one : all) out += (&one == all.data() ? "" : ",") + one;
  return out;
}

}  // namespace

std::string tried_last(const std::string& conninfo, const server_name& server) {
  std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> given(PQconninfoParse(conninfo.c_str(), nullptr),
                                                                     PQconninfoFree);
  if (!given) return conninfo;
  std::vector<std::pair<std::string, std::string>> all;
  std::vector<std::string> hosts, addresses, ports;
  for (const auto* o = given.get(); o->keyword; ++o) {
    if (!o->val) continue;
    const std::string key = o->keyword;
    if (key == "host")
      hosts = listed(o->val);
    else if (key == "hostaddr")
      addresses = listed(o->val);
    else if (key == "port")
      ports = listed(o->val);
    else
      all.emplace_back(key, o->val);
  }
  const auto n = std::max(hosts.size(), addresses.size());
  // A single port applies to all hosts.
  if (ports.size() == 1) ports.resize(n, ports.front());
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const auto is = [i](const auto& list, const std::string& what) {
      return i >= list.size() || list[i].empty() || list[i] == what;
    };
    if (!is(hosts, server.host) || !is(addresses, server.address) || !is(ports, server.port)) continue;
    for (auto* list : {&hosts, &addresses, &ports})
      if (i < list->size()) std::rotate(list->begin() + i, list->begin() + i + 1, list->end());
    break;
  }
  if (!hosts.empty()) all.emplace_back("host", joined(hosts));
  if (!addresses.empty()) all.emplace_back("hostaddr", joined(addresses));
  if (!ports.empty()) all.emplace_back("port", joined(ports));
  return conninfo_text(all);
}

std::string conninfo(const connect_settings& s, session_settings when) {
  char* message = nullptr;
  std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> given(
      PQconninfoParse((s.live ? s.live->get() : s.url).c_str(), &message), PQconninfoFree);
  if (message) PQfreemem(message);  // may quote the password, so it is not shown
  if (!given)
    throw failure({RY_INVALID_ARGUMENT,
                   "db.url",
                   "database.url is neither a postgresql:// address nor key=value text.",
                   {},
                   0,
                   0});
  std::vector<std::pair<std::string, std::string>> all = {{"application_name", s.application_name},
                                                          {"client_encoding", "UTF8"},
                                                          {"connect_timeout", "3"},
                                                          {"keepalives", "1"},
                                                          {"keepalives_idle", "30"},
                                                          {"keepalives_interval", "5"},
                                                          {"keepalives_count", "3"},
                                                          {"tcp_user_timeout", "10000"}};
  std::string options;
  bool several = false, has_target = false;
  for (const auto* o = given.get(); o->keyword; ++o) {
    if (!o->val) continue;
    const std::string key = o->keyword;
    has_target |= key == "target_session_attrs";
    several |= (key == "host" || key == "hostaddr") && std::string_view(o->val).find(',') != std::string_view::npos;
    if (key == "options") {
      options = std::string(o->val) + " ";
    } else if (const auto it = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.first == key; });
               it == all.end()) {
      all.emplace_back(key, o->val);
    } else if (key != "client_encoding") {
      it->second = o->val;
    }
  }
  // After a failover, a single address may lead to a different server too. A pooler checks its own servers.
  if (!has_target && (several || s.at == endpoint::server)) all.emplace_back("target_session_attrs", "read-write");
  if (s.at == endpoint::transaction_pooler || when == session_settings::later) {
    // Poolers reject these startup parameters; a statement sets them at the start of the session or of each
    // transaction.
    if (!options.empty()) all.emplace_back("options", options);
    return conninfo_text(all);
  }
  options += "-c statement_timeout=" + std::to_string(s.statement_timeout.count()) +
             " -c idle_in_transaction_session_timeout=" + std::to_string(idle_limit(s).count()) +
             " -c timezone=UTC -c datestyle=ISO -c intervalstyle=postgres -c bytea_output=hex"
             // JIT off: the planner assigns huge costs to plans that avoid sequential scans, so each would be
             // compiled for 0.5 s.
             " -c standard_conforming_strings=on -c jit=off";
  all.emplace_back("options", options);
  return conninfo_text(all);
}

}  // namespace ry::db
