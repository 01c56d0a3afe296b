#include "mail_check.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "address.hpp"
#include "dns_lookup.hpp"
#include "smtp.hpp"

namespace mail {
namespace {

namespace json = boost::json;

const char* name_of(grade g) {
  return g == grade::good ? "ok" : g == grade::warning ? "warning" : "failure";
}

finding check_relay(const settings& s) {
  smtp relay(s);
  const auto a = relay.probe();
  const auto at = s.host + ":" + std::to_string(s.port);
  if (classify_attempt(a) != verdict::sent) return {grade::failure, "Relay", at + ": " + describe(a)};
  const std::string encryption = s.security == security::none ? "without TLS" : "TLS, certificate verified";
  const std::string log_in = s.username.empty() ? "no log-in" : "log-in as " + s.username;
  return {s.security == security::none ? grade::warning : grade::good, "Relay", at + ": " + encryption + ", " + log_in};
}

std::string domain_of(const std::string& address) {
  const auto ascii = with_ascii_domain(address).value_or(address);
  return ascii.substr(ascii.rfind('@') + 1);
}

finding lookup_failure(std::string topic, const txt_answer& a) {
  return {grade::failure, std::move(topic), a.failure};
}

finding check_dmarc(std::string domain, const std::string& server) {
  // A domain without its own record uses that of its parent domain.
  for (;;) {
    const auto a = look_up_txt("_dmarc." + domain, server);
    if (!a.failure.empty()) return lookup_failure("DMARC", a);
    const auto dot = domain.find('.');
    const bool last = dot == domain.npos || domain.find('.', dot + 1) == domain.npos;
    if (has_dmarc(a.records) || last) return evaluate_dmarc(a.records);
    domain.erase(0, dot + 1);
  }
}

std::vector<finding> check_all(const settings& s, const std::string& server) {
  if (s.host.empty()) return {{grade::failure, "Relay", "mail.host is not set"}};
  std::vector<finding> out{check_relay(s)};
  const auto domain = domain_of(s.from);
  // Receivers check SPF for the envelope sender.
  const auto spf = look_up_txt(domain_of(s.envelope_sender()), server);
  out.push_back(spf.failure.empty() ? evaluate_spf(spf.records) : lookup_failure("SPF", spf));
  if (s.dkim_selectors.empty()) {
    out.push_back(
        {grade::warning, "DKIM", "not checked: name the selectors that the relay signs with in mail.dkim_selectors"});
  }
  for (const auto& selector : s.dkim_selectors) {
    const auto dkim = look_up_txt(selector + "._domainkey." + domain, server);
    out.push_back(dkim.failure.empty() ? evaluate_dkim(selector, dkim.records)
                                       : lookup_failure("DKIM " + selector, dkim));
  }
  out.push_back(check_dmarc(domain, server));
  return out;
}

std::string text_report(const std::vector<finding>& all) {
  std::string out;
  for (const auto& f : all)
    out += std::string(name_of(f.result)) + ": " + f.topic + ": " + with_escaped_controls(f.text) + "\n";
  return out;
}

std::string json_report(const std::vector<finding>& all) {
  json::array list;
  for (const auto& f : all)
    list.push_back(
        json::object{{"check", f.topic}, {"result", name_of(f.result)}, {"detail", with_escaped_controls(f.text)}});
  return json::serialize(json::object{{"mail", std::move(list)}}) + "\n";
}

}  // namespace

ry::task<void> mail_check::run_command(std::string arguments, ry_command_call call) const {
  const auto doc = json::parse(arguments).as_object();
  const auto* server = doc.if_contains("dns_server");
  const std::string dns = server != nullptr && server->is_string() ? std::string(server->get_string()) : std::string();
  const auto work = [this, &dns] { return check_all(settings_, dns); };
  const auto all = co_await ctx_.run_blocking(work);
  const auto report = doc.at("json").as_bool() ? json_report(all) : text_report(all);
  call.print(call.ctx, ry::str(report));
  const auto failures =
      std::count_if(all.begin(), all.end(), [](const finding& f) { return f.result == grade::failure; });
  if (failures != 0)
    throw ry::precondition("mail.check",
                           std::to_string(failures) + (failures == 1 ? " check failed" : " checks failed"));
}

ry_status mail_check::run(void* self, ry_str arguments_json, ry_exec* exec, const ry_command_call* call) noexcept {
  return ry::guard([&] {
    auto* check = static_cast<mail_check*>(self);
    const auto work = [](const mail_check* m, std::string arguments, ry_command_call c) -> ry::task<void> {
      ry::error failure(RY_OK);
      try {
        co_await m->run_command(std::move(arguments), c);
      } catch (...) {
        failure = ry::current_error();
      }
      const auto view = failure.view();
      c.done(c.ctx, failure.status(), failure.status() == RY_OK ? nullptr : &view);
    };
    if (!check->ctx_.spawn(work(check, ry::text(arguments_json), *call), exec)) throw ry::error(RY_UNAVAILABLE);
  });
}

}  // namespace mail
