#include "dialect.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <ry/cpp/text.hpp>
#include <string>

#include "settings.hpp"

namespace openai {

namespace {

bool is_within(std::string_view host, std::initializer_list<std::string_view> domains) {
  return std::any_of(domains.begin(), domains.end(), [host](std::string_view domain) {
    return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
  });
}

// `model` with or without a vendor prefix.
bool is_of(std::string_view model, std::initializer_list<std::string_view> families) {
  if (const auto slash = model.rfind('/'); slash != std::string_view::npos) model.remove_prefix(slash + 1);
  return std::any_of(families.begin(), families.end(), [model](std::string_view f) { return model.starts_with(f); });
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

bool is_mistral(std::string_view model) {
  std::string lower = ry::lower_ascii(model);
  for (std::string_view family : {"mistral", "mixtral", "ministral", "magistral", "devstral", "codestral", "pixtral"})
    if (lower.find(family) != std::string::npos) return true;
  return false;
}

bool is_without_reasoning(std::string_view model) {
  return is_of(model, {"gpt-3.5", "gpt-4", "chatgpt-4", "gpt-5-chat"});
}

bool is_reasoning(std::string_view model) {
  return is_of(model, {"o1", "o3", "o4", "gpt-5"}) && !is_without_reasoning(model);
}

bool has_structured_outputs(std::string_view model) {
  const bool is_older = is_of(model, {"gpt-4o-2024-05-13", "chatgpt-4o", "o1-mini", "o1-preview"});
  return !is_older && is_of(model, {"gpt-4o", "gpt-4.", "gpt-5", "o1", "o3", "o4"});
}

std::optional<deployment_base> split_deployment(std::string_view base_url) {
  constexpr std::string_view folder = "/openai/deployments/", kept = "/openai";
  const auto path = base_url.substr(0, base_url.find('?'));
  const auto at = path.find(folder);
  if (at == std::string_view::npos) return std::nullopt;
  auto name = path.substr(at + folder.size());
  name = name.substr(0, name.find('/'));
  if (name.empty()) return std::nullopt;
  std::string rest(base_url.substr(0, at + kept.size()));
  return deployment_base{rest.append(base_url.substr(path.size())), std::string(name)};
}

bool is_deepseek(std::string_view base_url) {
  return is_within(llm::host_of(base_url), {"deepseek.com"});
}

}  // namespace openai
