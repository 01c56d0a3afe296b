// The HTTP routes of profiles: management, and the user's consent for servers that require OAuth.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/svc/mcp.h>

#include "authorizer.hpp"
#include "common/warning_pace.hpp"

namespace mcp_prebuilt {

// Where authorization servers redirect users to: the callback of this server, or a page of the operator.
enum class redirect_target { callback, operator_page };

class routes {
 public:
  // The services are set before the first request.
  routes(const ry::context& ctx, const integrations& offered, const profile_store& profiles, const authorizer& oauth,
         const ry::service<ry_accounts_v1>& accounts, const ry::service<ry_mcp_v1>& mcp, std::int64_t max_profiles,
         redirect_target target)
      : ctx_(ctx),
        offered_(offered),
        profiles_(profiles),
        oauth_(oauth),
        accounts_(accounts),
        mcp_(mcp),
        max_profiles_(max_profiles),
        redirect_target_(target) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::uuid> enabled_account(ry::request r) const;
  ry::task<std::string> account_name(ry::uuid account) const;
  ry::task<ry::response> list(ry::request r) const;
  ry::task<ry::response> create(ry::request r) const;
  ry::task<ry::response> remove(ry::request r) const;
  ry::task<ry::response> connect(ry::request r) const;
  ry::task<ry::response> confirmation(ry::request r) const;  // called by a browser, like the next two
  ry::task<ry::response> confirm(ry::request r) const;
  ry::task<ry::response> callback(ry::request r) const;
  ry::task<ry::response> callback_by_app(ry::request r) const;  // called by the operator's page, for its user
  ry::task<ry::response> client_document(ry::request r) const;

  // Limits the log rate, because anonymous clients can send any number of callbacks without a consent.
  void log_rejected_callback(std::string_view request_id, std::string_view reason) const;
  bool secure() const { return oauth_.identity().confirmation_url.starts_with("https://"); }

  const ry::context& ctx_;
  const integrations& offered_;
  const profile_store& profiles_;
  const authorizer& oauth_;
  const ry::service<ry_accounts_v1>& accounts_;
  const ry::service<ry_mcp_v1>& mcp_;
  const std::int64_t max_profiles_;
  const redirect_target redirect_target_;
  mutable logging::warning_pace callback_warnings_{std::chrono::seconds(10)};
};

}  // namespace mcp_prebuilt
