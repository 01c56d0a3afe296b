#include "dns_lookup.hpp"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>

#include <array>
#include <charconv>
#include <ry/cpp/types.hpp>

namespace mail {
namespace {

constexpr int timeout_s = 3;
constexpr int max_attempts = 2;

struct resolver {
  struct __res_state it {};
  resolver() {
    if (res_ninit(&it) != 0) throw ry::internal("mail.dns", "the resolver cannot be initialised");
    it.retrans = timeout_s;
    it.retry = max_attempts;
  }
  ~resolver() { res_nclose(&it); }
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;
};

void use_server(struct __res_state& it, const std::string& server) {
  const auto colon = server.rfind(':');
  std::uint16_t port = 0;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  const bool valid = colon != server.npos && inet_pton(AF_INET, server.substr(0, colon).c_str(), &at.sin_addr) == 1 &&
                     std::from_chars(server.data() + colon + 1, server.data() + server.size(), port).ptr ==
                         server.data() + server.size() &&
                     port != 0;
  if (!valid)
    throw ry::bad_request("mail.dns", "the DNS server must be an IPv4 address and a port, such as 127.0.0.1:53");
  at.sin_port = htons(port);
  it.nsaddr_list[0] = at;
  it.nscount = 1;
}

std::string text_of(const ns_rr& record) {
  std::string out;
  const auto* at = ns_rr_rdata(record);
  const auto* end = at + ns_rr_rdlen(record);
  while (at < end) {
    const std::size_t n = *at++;
    if (n > static_cast<std::size_t>(end - at)) break;
    out.append(reinterpret_cast<const char*>(at), n);
    at += n;
  }
  return out;
}

}  // namespace

txt_answer look_up_txt(const std::string& name, const std::string& server) {
  resolver s;
  if (!server.empty()) use_server(s.it, server);
  std::array<unsigned char, 65'536> bytes;
  const int n = res_nquery(&s.it, name.c_str(), ns_c_in, ns_t_txt, bytes.data(), static_cast<int>(bytes.size()));
  txt_answer out;
  if (n < 0) {
    if (s.it.res_h_errno == HOST_NOT_FOUND || s.it.res_h_errno == NO_DATA) return out;
    out.failure = "the DNS server does not answer the query for " + name;
    return out;
  }
  ns_msg message;
  if (ns_initparse(bytes.data(), n, &message) != 0) {
    out.failure = "the DNS server's answer for " + name + " cannot be read";
    return out;
  }
  for (int i = 0; i < ns_msg_count(message, ns_s_an); ++i) {
    ns_rr record;
    if (ns_parserr(&message, ns_s_an, i, &record) == 0 && ns_rr_type(record) == ns_t_txt)
      out.records.push_back(text_of(record));
  }
  return out;
}

}  // namespace mail
