#include "api/start_form.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>

#include "text.hpp"
#include "types/output_schema.hpp"
#include "types/run_metadata.hpp"
#include "webhook_signature.hpp"

namespace runs {
namespace {

std::optional<bool> boolean(std::string_view text) {
  const std::string value = ry::lower_ascii(trim(text));
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0" || value.empty()) return false;
  return std::nullopt;
}

constexpr std::string_view start_fields[] = {
    "prompt",         "thread_id",     "project_id",  "agent_id",       "model_name",    "mode",        "optimistic",
    "memory_enabled", "queue",         "on_busy",     "budget_credits", "budget_policy", "tool_policy", "client_tools",
    "metadata",       "output_schema", "webhook_url", "webhook_secret", "questions"};

// Rules of a start. Returns an error message, or an empty string.
std::string read_rules(std::string_view text, std::vector<tool_rule>& out) {
  if (text.size() > tool_rules::max_rules_bytes)
    return "tool_policy must have at most " + size_text(tool_rules::max_rules_bytes);
  boost::system::error_code bad;
  const boost::json::value v = boost::json::parse(text, bad);
  if (bad) return "tool_policy must be a JSON array of rules";
  return read_tool_rules("tool_policy", v, out);
}

constexpr std::size_t max_webhook_url_bytes = 2000;

// Returns an error message, or an empty string. The address is checked by the server that sends the message.
std::string check_webhook_url(std::string_view url) {
  if (url.size() > max_webhook_url_bytes)
    return "webhook_url must have at most " + std::to_string(max_webhook_url_bytes) + " bytes";
  const std::string scheme = ry::lower_ascii(url.substr(0, url.find("://")));
  if ((scheme != "https" && scheme != "http") || url.size() == scheme.size())
    return "webhook_url must begin with https://";
  const std::string_view rest = url.substr(scheme.size() + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.empty()) return "webhook_url must have a host";
  if (authority.find('@') != std::string_view::npos)
    return "webhook_url must not contain a user or a password: the messages are signed with webhook_secret";
  if (url.find('#') != std::string_view::npos) return "webhook_url must not have a fragment";
  if (std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c >= 0x7f; }))
    return "webhook_url must consist of printable ASCII characters; escape others";
  return {};
}

}  // namespace

bool is_start_field(std::string_view name) {
  return is_model_parameter(name) ||
         std::find(std::begin(start_fields), std::end(start_fields), name) != std::end(start_fields);
}

std::variant<start_request, form_refusal> parse_start(const std::vector<form_field>& fields, prompt_rule rule) {
  start_request out;
  bool policy_given = false;
  const auto error = [](std::string detail) { return form_refusal{std::move(detail)}; };
  std::vector<std::string_view> seen;
  for (const form_field& f : fields) {
    const std::string_view name = f.name;
    if (name == "files" && !trim(f.value).empty()) return error("files must be file parts, each with a filename");
    if (!is_start_field(name)) continue;
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return error(std::string(name) + " is given more than once");
    seen.push_back(name);
    if (!ry::is_utf8(f.value)) return error(std::string(name) + " is not valid UTF-8");
    if (f.value.find('\0') != std::string_view::npos)
      return error(std::string(name) + " must not contain a NUL character");
    const std::string value = trim(f.value);
    if (name == "prompt") {
      if (!is_blank(f.value)) out.prompt = std::string(f.value);
    } else if (name == "optimistic") {
      const auto flag = boolean(value);
      if (!flag) return error("optimistic must be true or false");
      out.optimistic = *flag;
    } else if (name == "memory_enabled") {
      const auto flag = boolean(value);
      if (!flag) return error("memory_enabled must be true or false");
      if (!value.empty()) out.memory_enabled = *flag;
    } else if (name == "queue") {
      const auto flag = boolean(value);
      if (!flag) return error("queue must be true or false");
      out.queue = *flag;
    } else if (name == "on_busy") {
      if (value.empty()) continue;
      const std::string policy = ry::lower_ascii(value);
      if (policy != "reject" && policy != "enqueue" && policy != "interrupt" && policy != "steer")
        return error("on_busy must be reject, enqueue, interrupt or steer");
      if (policy == "enqueue") out.on_busy = busy_policy::enqueue;
      if (policy == "interrupt") out.on_busy = busy_policy::interrupt;
      if (policy == "steer") out.on_busy = busy_policy::steer;
    } else if (name == "budget_credits") {
      if (value.empty()) continue;
      const auto micro = micro_of_credits(value);
      if (!micro || *micro <= 0)
        return error(
            "budget_credits must be a number of credits from 0.000001 to 1000000000 with at most six decimals");
      out.budget.micro = *micro;
    } else if (name == "budget_policy") {
      if (value.empty()) continue;
      const auto policy = budget_policy_of(ry::lower_ascii(value));
      if (!policy) return error("budget_policy must be hard, soft or finish_turn");
      out.budget.policy = *policy;
      policy_given = true;
    } else if (name == "client_tools") {
      if (value.empty()) continue;
      std::string problem = read_client_tools(value, out.options.client_tools);
      if (!problem.empty()) return form_refusal{std::move(problem), 422};
      out.options.parks_client_calls = !out.options.client_tools.empty();
    } else if (name == "questions") {
      const auto flag = boolean(value);
      if (!flag) return error("questions must be true or false");
      if (!value.empty()) out.options.questions = *flag;
    } else if (name == "metadata") {
      if (value.empty()) continue;
      std::string problem = read_metadata(value, out.metadata);
      if (!problem.empty()) return form_refusal{std::move(problem), 422};
    } else if (name == "webhook_url") {
      std::string problem = check_webhook_url(value);
      if (!value.empty() && !problem.empty()) return form_refusal{std::move(problem), 422};
      out.webhook_url = value;
    } else if (name == "webhook_secret") {
      if (!value.empty() && !standard_webhooks::read_secret(value))
        return form_refusal{"webhook_secret must be whsec_ and 24 to 64 bytes in Base64", 422};
      out.webhook_secret = value;
    } else if (name == "output_schema") {
      if (value.empty()) continue;
      output_schema schema;
      std::string problem = schema.read(value);
      if (!problem.empty()) return error(std::move(problem));
      out.options.output_schema = schema.text();
    } else if (name == "tool_policy") {
      if (value.empty()) continue;
      std::string problem = read_rules(value, out.options.tool_rules);
      if (!problem.empty()) return form_refusal{std::move(problem), 422};
    } else if (is_model_parameter(name)) {
      if (value.empty()) continue;
      const std::string problem = set_parameter(out.parameters, name, value);
      if (!problem.empty()) return form_refusal{std::string(name) + " " + problem, 422};
    } else if (!value.empty()) {
      if (name == "thread_id") out.thread_id = value;
      if (name == "project_id") out.project_id = value;
      if (name == "agent_id") out.agent_id = value;
      if (name == "model_name") {
        if (value.size() > 200) return error("model_name must have at most 200 bytes");
        if (!is_blank(value)) out.model_name = value;
      }
      if (name == "mode") {
        const auto mode = run_mode_of(value);
        if (!mode) return error("mode must be agent, chat or code");
        out.mode = *mode;
      }
    }
  }
  if (out.optimistic && (!out.thread_id || !out.project_id))
    return error("thread_id and project_id required for optimistic mode");
  if (out.webhook_url.empty() != out.webhook_secret.empty())
    return form_refusal{
        out.webhook_url.empty() ? "webhook_secret requires webhook_url" : "webhook_url requires webhook_secret", 422};
  out.options.has_webhook = !out.webhook_url.empty();
  // The run in progress keeps its own tools and rules, which must not be weaker than those that the client requested.
  if (out.on_busy == busy_policy::steer && (!out.options.tool_rules.empty() || !out.options.client_tools.empty()))
    return form_refusal{"on_busy=steer does not allow tool_policy or client_tools", 422};
  if (out.on_busy == busy_policy::steer && out.thread_id && out.prompt.empty())
    return form_refusal{"on_busy=steer requires prompt", 422};
  if (policy_given && !out.budget.set()) return error("budget_policy requires budget_credits");
  for (auto* id : {&out.thread_id, &out.project_id, &out.agent_id}) {
    if (!*id) continue;
    auto canonical = canonical_uuid(**id);
    if (!canonical) return error("Invalid UUID format");
    *id = std::move(canonical);
  }
  if (!out.thread_id && out.prompt.empty() && rule == prompt_rule::required)
    return error("prompt required when creating new thread");
  return out;
}

std::string prompt_with_files(std::string_view prompt, const std::vector<attached_file>& files) {
  std::string out(prompt);
  for (std::size_t i = 0; i < files.size(); ++i) {
    out += i == 0 ? (out.empty() ? "" : "\n\n") : "\n";
    out += "[Attached: " + files[i].name + " (" + size_text(files[i].size) + ") -> uploads/" + files[i].name + "]";
  }
  return out;
}

std::string title_of(std::string_view prompt) {
  // A title has 80 characters, so it does not need more than the beginning of a prompt, whose lines may have megabytes.
  constexpr std::size_t max_examined = 8 * 1024;
  if (prompt.size() > max_examined) {
    std::size_t end = max_examined;
    while (end > 0 && (static_cast<unsigned char>(prompt[end]) & 0xC0) == 0x80) --end;
    prompt = prompt.substr(0, end);
  }
  // Skip leading blank lines.
  std::string line;
  while (line.empty() && !prompt.empty()) {
    const std::size_t end = std::min(prompt.find('\n'), prompt.size());
    line = unicode::clean_name(prompt.substr(0, end));
    prompt.remove_prefix(std::min(end + 1, prompt.size()));
  }
  constexpr std::size_t max_characters = 80;
  std::size_t characters = 0, at = 0;
  while (at < line.size() && characters < max_characters) {
    ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) ++at;
    ++characters;
  }
  return at < line.size() ? line.substr(0, at) + "\xE2\x80\xA6" : line;
}

}  // namespace runs
