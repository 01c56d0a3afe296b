#include "dialect.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "settings.hpp"

namespace openai {

namespace {

bool is_within(std::string_view host, std::initializer_list<std::string_view> domains) {
  return std::any_of(domains.begin(), domains.end(), [host](std::string_view domain) {
    return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
  });
}

bool is_azure_openai(std::string_view host) {
  return is_within(host, {"openai.azure.com", "openai.azure.us", "openai.azure.cn"});
}

}  // namespace

std::optional<dialect> read_dialect(std::string_view name, std::string_view base_url) {
  if (name == "compatible") return dialect::compatible;
  if (name == "openai") return dialect::openai;
  if (name == "mistral") return dialect::mistral;
  if (name == "gemini") return dialect::gemini;
  if (name != "auto") return std::nullopt;
  const std::string host = llm::host_of(base_url);
  if (is_within(host, {"openai.com"}) || is_azure_openai(host)) return dialect::openai;
  if (is_within(host, {"mistral.ai"})) return dialect::mistral;
  if (is_within(host, {"googleapis.com"})) return dialect::gemini;
  return dialect::compatible;
}

bool is_azure(std::string_view base_url) {
  const std::string host = llm::host_of(base_url);
  if (is_azure_openai(host) || is_within(host, {"cognitiveservices.azure.com", "services.ai.azure.com"})) return true;
  const auto holds = [base_url](std::string_view part) { return base_url.find(part) != std::string_view::npos; };
  return holds("/openai/deployments/") || holds("?api-version=") || holds("&api-version=");
}

}  // namespace openai
