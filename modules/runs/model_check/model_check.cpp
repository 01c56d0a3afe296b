#include "model_check/model_check.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <ry/cpp/settings_check.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>
#include <utility>

#include "agent/answer_outcome.hpp"
#include "agent/retry.hpp"
#include "settings/model_names.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::int64_t max_output = 2048;  // tokens; reasoning models need some before they answer
constexpr std::int64_t short_output = 64;  // for the answer that must be truncated
constexpr std::int64_t max_wait_s = 20;  // maximum delay before a retry
constexpr std::int64_t prompt_cancel_ms = 2000;
constexpr std::int64_t slow_answer_ms = 1000;  // an answer this slow should arrive in several chunks
constexpr std::uint64_t total_limit_factor =
    5;  // default time limit of all checks, in multiples of the limit of one answer

constexpr std::string_view system_prompt = "You are being checked. Do exactly what the user asks, briefly.";
constexpr std::string_view tools =
    R"([{"name":"get_weather","description":"The current weather in one city.","parameters":)"
    R"({"type":"object","properties":{"city":{"type":"string","description":"Name of the city"}},)"
    R"("required":["city"]}}])";
constexpr std::string_view many_numbers =
    "Write the numbers from 1 to 300 in words, separated by commas. Do not stop before the last one and do not "
    "abbreviate.";
// A square of 64 x 64 red pixels.
constexpr std::string_view red_square =
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQE"
    "BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC";

chat_message user_message(std::string_view text) {
  return {"user", user_body(text), belongs::to_this_run};
}

// g++ 12 miscompiles a braced list within a co_await.
std::vector<chat_message> single_message(chat_message m) {
  std::vector<chat_message> out;
  out.push_back(std::move(m));
  return out;
}

chat_message user_with_image(std::string_view text) {
  const json::array parts{{{"type", "text"}, {"text", text}},
                          {{"type", "image"}, {"media_type", "image/png"}, {"data", red_square}}};
  return {"user", json::serialize(json::object{{"role", "user"}, {"content", parts}}), belongs::to_this_run};
}

std::string truncated_text(std::string_view text, std::size_t max_bytes) {
  const std::string sentence = plain_sentence(trim(text));
  if (sentence.size() <= max_bytes) return sentence;
  return sentence.substr(0, ry::whole_characters(std::string_view(sentence).substr(0, max_bytes))) + "...";
}

bool contains_word(const std::string& text, std::string_view word) {
  return ry::lower_ascii(text).find(word) != std::string::npos;
}

// The city argument of a call; empty: the call is invalid.
std::string city_of(const tool_call& c) {
  if (c.name != "get_weather" || c.malformed) return {};
  const json::object arguments = json::parse(c.arguments, {}, body_options()).as_object();
  const json::value* city = arguments.if_contains("city");
  return city != nullptr && city->is_string() ? std::string(city->as_string()) : std::string();
}

std::string calls_text(const std::vector<tool_call>& calls) {
  std::string out;
  for (const tool_call& c : calls) out += (out.empty() ? "" : ", ") + c.name + c.arguments;
  return truncated_text(out, 200);
}

bool is_credential(std::string_view header) {
  const std::string name = ry::lower_ascii(header);
  return name == "authorization" || name == "x-api-key" || name == "api-key" || name == "x-goog-api-key";
}

}  // namespace

// Runs the checks of one model in sequence.
class model_check::check_sequence {
 public:
  struct time_limits {
    std::uint64_t answer_ms, total_ms;
  };
  check_sequence(const model_check& of, ry_exec* exec, model_target target, provider_set::handle provider,
                 std::string name, time_limits limits)
      : ctx_(of.ctx_),
        config_(of.config_),
        exec_(exec),
        provider_(std::move(provider)),
        limits_(limits),
        started_us_(ctx_.mono_us()) {
    report_.name = std::move(name);
    report_.provider = target.provider;
    report_.model = target.model;
    for (const provider_settings& p : config_.providers)
      if (p.name == target.provider) {
        report_.kind = p.kind;
        provider_config_ = json::parse(p.config_json).as_object();
      }
    report_.costs = config_.price_of(report_.name);
    report_.has_price = has_entry(config_.prices);
    parameters_ = config_.options_of(report_.name);
    parameters_.tool_choice.clear();
    parameters_.max_output_tokens = std::min(parameters_.max_output_tokens.value_or(max_output), max_output);
  }

  const model_report& report() const { return report_; }
  bool ran_out_of_time() const { return ran_out_of_time_; }

  // Calls `on_check` after each check.
  template <class OnCheck>
  ry::task<void> run(OnCheck on_check) {
    using step = ry::task<void> (check_sequence::*)(check_result&);
    const std::pair<const char*, step> steps[] = {{"text", &check_sequence::text},
                                                  {"streaming", &check_sequence::streaming},
                                                  {"tool_call", &check_sequence::one_call},
                                                  {"parallel_tool_calls", &check_sequence::two_calls},
                                                  {"image", &check_sequence::image},
                                                  {"output_limit", &check_sequence::output_limit},
                                                  {"cancellation", &check_sequence::cancellation},
                                                  {"wrong_key", &check_sequence::wrong_key}};
    for (const auto& [name, check] : steps) {
      check_result r;
      r.name = name;
      const bool reached = report_.checks.empty() || report_.is_ok("text");
      if (remaining_ms() == 0) ran_out_of_time_ = true;
      if (reached && !ran_out_of_time_) co_await (this->*check)(r);
      // A check that exceeded the time limit gives no information about the model.
      if (ran_out_of_time_ && r.state != check_state::ok)
        set(r, check_state::skipped, out_of_time());
      else if (!reached)
        r.detail = "the model does not answer";
      report_.checks.push_back(std::move(r));
      on_check(report_.checks.back());
    }
    recommend();
  }

 private:
  // Whether a table by model has an entry for this model, under its alias or its full name.
  template <class Table>
  bool has_entry(const Table& table) const {
    return table.contains(report_.name) || table.contains(report_.provider + "/" + report_.model);
  }

  struct request_options {
    provider_set::handle provider;
    model_parameters parameters;
    std::string_view tools;
    probe_cancel cancel = probe_cancel::never;
  };
  request_options default_options(std::string_view with_tools = {}) const {
    return {provider_, parameters_, with_tools, probe_cancel::never};
  }

  // Time left for all checks together.
  std::uint64_t remaining_ms() const {
    const auto spent = static_cast<std::uint64_t>(std::max<std::int64_t>(ctx_.mono_us() - started_us_, 0)) / 1000;
    return limits_.total_ms - std::min(limits_.total_ms, spent);
  }
  std::string out_of_time() const {
    return "not finished: all checks together are limited to " + std::to_string(limits_.total_ms / 1000) +
           " s (--total-timeout)";
  }

  // Requests one answer; waits once and retries after a transient failure.
  ry::task<void> request_answer(check_result& r, const request_options options, std::vector<chat_message> messages,
                                probe_answer& out) {
    model_parameters parameters = options.parameters;
    const std::int64_t limit = parameters.max_output_tokens.value_or(max_output);
    parameters.max_output_tokens.reset();
    const std::string extra_members = members_of(parameters);
    for (int attempt = 1;; ++attempt) {
      const std::uint64_t remaining = remaining_ms();
      if (remaining == 0) {
        ran_out_of_time_ = true;
        out = {};
        out.status = RY_DEADLINE_EXCEEDED;
        out.error = out_of_time();
        co_return;
      }
      std::string request =
          build_request({report_.model, system_prompt, options.tools, limit, extra_members}, messages);
      const std::uint64_t answer_ms = std::min(limits_.answer_ms, remaining);
      co_await probe(ctx_, exec_, options.provider, std::move(request), answer_ms, options.cancel, out);
      if (out.timed_out && answer_ms < limits_.answer_ms) ran_out_of_time_ = true;
      ++r.requests;
      r.duration_ms += out.end_ms;
      r.first_ms = out.first_ms;
      r.usage += out.usage;
      report_.has_reasoning = report_.has_reasoning || out.has_reasoning;
      for (const std::string& n : out.notices)
        if (std::find(report_.notices.begin(), report_.notices.end(), n) == report_.notices.end())
          report_.notices.push_back(n);
      if (out.status == RY_OK && out.estimated) report_.estimated_usage = true;
      const bool is_transient = is_retryable(out.status) && out.status != RY_CANCELLED && !out.timed_out;
      const std::int64_t wait_s = std::max<std::int64_t>(out.retry_after_s, 1);
      if (attempt == 2 || !is_transient || wait_s > max_wait_s) co_return;
      const auto wait_ms = static_cast<std::uint64_t>(wait_s) * 1000;
      if (wait_ms >= remaining_ms()) co_return;
      (void)co_await ctx_.sleep(wait_ms);
    }
  }

  static void set(check_result& r, check_state state, std::string detail) {
    r.state = state;
    r.detail = std::move(detail);
  }
  // Sets the result if the answer is not a complete text. False: the answer is a complete text.
  static bool fails_as_text(check_result& r, const probe_answer& a) {
    if (a.status != RY_OK) {
      set(r, check_state::failed, a.error);
      return true;
    }
    switch (judge_answer({a.finish, !is_blank(a.text), !a.calls.empty(), false})) {
      case outcome::complete:
        return false;
      case outcome::calls:
        set(r, check_state::failed, "the model called tools instead of answering with text: " + calls_text(a.calls));
        break;
      case outcome::truncated:
        set(r, check_state::failed, "the answer was truncated at the output limit");
        break;
      case outcome::paused:
        set(r, check_state::failed, "the provider paused the answer");
        break;
      case outcome::filtered:
        set(r, check_state::failed, "the provider's content filter withheld the answer");
        break;
      case outcome::refused:
        set(r, check_state::failed, "the model declined to answer");
        break;
      case outcome::empty:
        set(r, check_state::failed,
            a.finish == RY_LLM_FINISH_LENGTH ? "the output limit left no room for text: the model only reasoned"
            : a.has_reasoning                ? "the answer has reasoning but no text"
                                             : "the answer is empty");
        break;
    }
    return true;
  }

  ry::task<void> text(check_result& r) {
    probe_answer a;
    co_await request_answer(r, default_options(), single_message(user_message("Reply with the single word: ready")), a);
    if (!fails_as_text(r, a)) {
      set_ok(r, a.estimated ? "answers, but does not report its usage" : "answers and reports its usage");
      co_return;
    }
    if (a.status == RY_INVALID_ARGUMENT) co_await find_accepted_settings(r, a.error);
  }

  static void set_ok(check_result& r, std::string detail) { set(r, check_state::ok, std::move(detail)); }

  ry::task<void> streaming(check_result& r) {
    probe_answer a;
    co_await request_answer(
        r, default_options(),
        single_message(user_message("Write the numbers from 1 to 40, separated by spaces, and nothing else.")), a);
    if (fails_as_text(r, a)) co_return;
    if (a.chunks < 3)
      set(r, check_state::unsupported, "the answer arrived at once, not as a stream");
    else if (a.first_ms > slow_answer_ms && a.last_ms - a.first_ms < 20)
      set(r, check_state::unsupported,
          "all chunks arrived at once after " + std::to_string(a.first_ms) +
              " ms: something between the provider and this server buffers the answer");
    else
      set_ok(r, std::to_string(a.chunks) + " chunks, the first after " + std::to_string(a.first_ms) + " ms");
  }

  // Sets the result if a request with a special feature failed. False: it did not fail.
  static bool fails_with_feature(check_result& r, const probe_answer& a, const std::string& feature) {
    if (a.status == RY_OK) return false;
    const bool rejected = a.status == RY_INVALID_ARGUMENT || a.status == RY_NOT_FOUND;
    set(r, rejected ? check_state::unsupported : check_state::failed,
        rejected ? "the provider refuses a request with " + feature + ": " + a.error : a.error);
    return true;
  }

  // Answers the calls with results and expects a text.
  ry::task<void> answer_calls(check_result& r, std::vector<chat_message> messages, const probe_answer& a) {
    messages.push_back(
        {"assistant", with_reasoning(assistant_body(a.text, a.calls), a.reasoning), belongs::to_this_run});
    const tool_outcome weather{R"({"celsius":21,"sky":"clear"})", false, {}};
    for (const tool_call& c : a.calls) messages.push_back({"tool", tool_body(c, weather), belongs::to_this_run});
    probe_answer last;
    co_await request_answer(r, default_options(tools), std::move(messages), last);
    if (!fails_as_text(r, last)) co_return;
    r.detail = "the answer after the results of the calls: " + r.detail;
  }

  ry::task<void> one_call(check_result& r) {
    std::vector<chat_message> messages = single_message(
        user_message("What is the weather in Paris? Call get_weather once, then answer in one sentence."));
    probe_answer a;
    co_await request_answer(r, default_options(tools), messages, a);
    if (fails_with_feature(r, a, "tools")) co_return;
    if (a.calls.empty()) {
      set(r, check_state::unsupported, "the model answered with text instead of calling the tool");
      co_return;
    }
    if (city_of(a.calls.front()).empty() || a.finish == RY_LLM_FINISH_LENGTH) {
      set(r, check_state::failed, "the call is invalid: " + calls_text(a.calls));
      co_return;
    }
    co_await answer_calls(r, std::move(messages), a);
    if (r.state == check_state::skipped) set_ok(r, "calls a tool and uses its result");
  }

  ry::task<void> two_calls(check_result& r) {
    if (!report_.is_ok("tool_call")) {
      r.detail = "a single call does not work";
      co_return;
    }
    std::vector<chat_message> messages = single_message(user_message(
        "What is the weather in Paris and in Tokyo? Make both calls of get_weather at once, then answer in "
        "one sentence."));
    probe_answer a;
    co_await request_answer(r, default_options(tools), messages, a);
    if (fails_with_feature(r, a, "tools")) co_return;
    if (a.calls.empty()) {
      set(r, check_state::failed, "the model answered with text instead of calls");
      co_return;
    }
    if (std::any_of(a.calls.begin(), a.calls.end(), [](const tool_call& c) { return city_of(c).empty(); })) {
      set(r, check_state::failed, "a call is invalid: " + calls_text(a.calls));
      co_return;
    }
    const bool distinct =
        a.calls.size() > 1 && ry::lower_ascii(city_of(a.calls[0])) != ry::lower_ascii(city_of(a.calls[1]));
    if (a.calls.size() > 1 && !distinct) {
      set(r, check_state::failed, "the calls were mixed up: " + calls_text(a.calls));
      co_return;
    }
    if (!distinct) {
      set(r, check_state::unsupported, "the model makes one call at a time");
      co_return;
    }
    co_await answer_calls(r, std::move(messages), a);
    if (r.state == check_state::skipped) set_ok(r, std::to_string(a.calls.size()) + " calls in one answer");
  }

  ry::task<void> image(check_result& r) {
    probe_answer a;
    co_await request_answer(r, default_options(),
                            single_message(user_with_image("What colour is this square? Reply with one word.")), a);
    if (fails_with_feature(r, a, "an image") || fails_as_text(r, a)) co_return;
    if (contains_word(a.text, "red"))
      set_ok(r, "sees images");
    else
      set(r, check_state::unsupported,
          "the model accepts an image but does not see it: it called a red square \"" + truncated_text(a.text, 80) +
              "\"");
  }

  ry::task<void> output_limit(check_result& r) {
    request_options options = default_options();
    options.parameters.max_output_tokens = short_output;
    options.parameters.reasoning_effort.clear();
    probe_answer a;
    co_await request_answer(r, options, single_message(user_message(many_numbers)), a);
    if (a.status != RY_OK) {
      set(r, check_state::failed, a.error);
    } else if (a.finish == RY_LLM_FINISH_LENGTH) {
      set_ok(r, "a truncated answer is reported as truncated");
    } else if (a.usage.output > 2 * short_output || contains_word(a.text, "three hundred")) {
      set(r, check_state::failed,
          "the limit of " + std::to_string(short_output) + " tokens was ignored: the answer has " +
              std::to_string(a.usage.output));
    } else {
      set(r, check_state::failed,
          "the answer was truncated, but the provider reports it as complete, so runs treat it as complete");
    }
  }

  ry::task<void> cancellation(check_result& r) {
    request_options options = default_options();
    options.cancel = probe_cancel::at_first_chunk;
    probe_answer a;
    co_await request_answer(r, options, single_message(user_message(many_numbers)), a);
    if (a.status != RY_CANCELLED && a.status != RY_OK)
      set(r, check_state::failed, a.error);
    else if (a.cancel_ms < 0)
      set(r, check_state::failed, "the answer ended before it could be cancelled");
    else if (a.cancel_ms > prompt_cancel_ms)
      set(r, check_state::failed, "the answer ended " + std::to_string(a.cancel_ms) + " ms after it was cancelled");
    else
      set_ok(r, "the connection closed " + std::to_string(a.cancel_ms) + " ms after the answer was cancelled");
  }

  ry::task<void> wrong_key(check_result& r) {
    constexpr const char* invalid_key = "invalid-key-of-runyard-model-check";
    json::object config = provider_config_;
    bool has_key = false;
    if (const json::value* key = config.if_contains("api_key"); key && key->is_string() && !key->as_string().empty()) {
      has_key = true;
      config["api_key"] = invalid_key;
    }
    if (json::value* headers = config.if_contains("headers"); headers && headers->is_object())
      for (auto& h : headers->as_object()) {
        if (!is_credential(h.key())) continue;
        has_key = true;
        h.value() = ry::lower_ascii(h.key()) == "authorization" ? std::string("Bearer ") + invalid_key
                                                                : std::string(invalid_key);
      }
    if (!has_key) {
      r.detail = "no key is configured";
      co_return;
    }
    request_options options = default_options();
    std::string problem;
    options.provider = co_await open_with_config(std::move(config), problem);
    if (!options.provider) {
      set(r, check_state::failed, "the driver does not accept another key: " + problem);
      co_return;
    }
    probe_answer a;
    co_await request_answer(r, options, single_message(user_message("Reply with the single word: ready")), a);
    if (a.status == RY_UNAUTHENTICATED)
      set_ok(r, "a wrong key is refused");
    else if (a.status == RY_OK)
      set(r, check_state::unsupported, "the provider accepts any key: everyone who can reach it can use it");
    else
      set(r, check_state::failed,
          std::string("a wrong key is reported as ") + ry::status_name(a.status) +
              " instead of as an authentication error" + (is_retryable(a.status) ? ", so runs would retry" : "") +
              ": " + a.error);
  }

  ry::task<provider_set::handle> open_with_config(json::object config, std::string& problem) {
    // Runs on a blocking thread, because the driver may read files.
    const auto open = [of = provider_, text = json::serialize(config)] {
      std::string error;
      provider_set::handle handle = open_again(of, text, error);
      return std::pair(std::move(handle), std::move(error));
    };
    auto opened = co_await ctx_.run_blocking(open);
    problem = std::move(opened.second);
    co_return std::move(opened.first);
  }

  // Called after the provider rejected a plain request: tries settings for the member that the error names.
  ry::task<void> find_accepted_settings(check_result& r, std::string provider_error) {
    struct candidate {
      const char* option;
      json::value value;
      const char* reason;
    };
    std::vector<candidate> candidates;
    if (report_.kind == "openai" &&
        (contains_word(provider_error, "max_tokens") || contains_word(provider_error, "max_completion_tokens"))) {
      candidates.push_back(
          {"max_tokens_field", "max_tokens", "the provider accepts only this name of the output limit"});
      candidates.push_back(
          {"max_tokens_field", "max_completion_tokens", "the provider accepts only this name of the output limit"});
    }
    if (report_.kind == "openai" && contains_word(provider_error, "stream_options"))
      candidates.push_back({"stream_usage", false, "the provider rejects stream_options"});
    for (const candidate& x : candidates) {
      json::object config = provider_config_;
      config[x.option] = x.value;
      request_options options = default_options();
      std::string problem;
      options.provider = co_await open_with_config(std::move(config), problem);
      if (!options.provider) continue;
      probe_answer a;
      co_await request_answer(r, options, single_message(user_message("Reply with the single word: ready")), a);
      if (a.status != RY_OK) continue;
      report_.recommended.push_back(
          {"runs.providers." + ry::settings_faults::quoted(report_.provider) + ".options." + x.option,
           json::serialize(x.value), x.reason});
      co_return;
    }
  }

  void recommend() {
    const auto setting = [this](std::string_view table) {
      return "runs." + std::string(table) + "." + ry::settings_faults::quoted(report_.name);
    };
    auto& out = report_.recommended;
    if (!report_.is_ok("text")) return;
    if (report_.is_ok("image") && !config_.sees(report_.name))
      out.push_back({setting("vision"), "true", "the model sees images, but runs do not send it any"});
    if (const check_result* c = report_.find("image");
        c->state == check_state::unsupported && config_.sees(report_.name))
      out.push_back({setting("vision"), "false", "the model does not see images"});
    if (!has_entry(config_.context_tokens))
      out.push_back({setting("context_tokens"), "",
                     "not configured, so " + std::to_string(config_.window_of(report_.name)) +
                         " tokens are assumed; use the number in the provider's documentation"});
    if (!report_.has_price) out.push_back({setting("prices"), "", "not configured, so answers cost nothing"});
    const json::value* usage = provider_config_.if_contains("stream_usage");
    if (report_.estimated_usage && usage != nullptr && *usage == false)
      out.push_back({"runs.providers." + ry::settings_faults::quoted(report_.provider) + ".options.stream_usage",
                     "true", "usage is estimated because requests do not ask for it"});
  }

  const ry::context& ctx_;
  const settings& config_;
  ry_exec* const exec_;
  const provider_set::handle provider_;
  const time_limits limits_;
  const std::int64_t started_us_;
  bool ran_out_of_time_ = false;
  json::object provider_config_;
  model_parameters parameters_;
  model_report report_;
};

ry::task<void> model_check::run_checks(std::string arguments, ry_exec* exec, ry_command_call call) const {
  const auto print = [&call](const std::string& text) { call.print(call.ctx, ry::str(text)); };
  const json::object options = json::parse(arguments).as_object();
  const std::string name(options.at("model").as_string());
  const bool as_json = options.at("json").as_bool();
  const auto milliseconds = [](const json::value& seconds) {
    return static_cast<std::uint64_t>(seconds.to_number<std::int64_t>()) * 1000;
  };
  check_sequence::time_limits limits{milliseconds(options.at("timeout_seconds")), 0};
  const json::value* total = options.if_contains("total_timeout_seconds");
  limits.total_ms = total != nullptr ? milliseconds(*total) : total_limit_factor * limits.answer_ms;

  const auto target = config_.target(name);
  if (!target)
    throw ry::not_found("runs.model", "\"" + name +
                                          "\" is not a known model: neither an alias in runs.models nor "
                                          "\"<provider>/<model>\" with a provider of runs.providers" +
                                          did_you_mean(config_, name));
  auto provider = providers_.find(target->provider);
  if (!provider) {
    providers_.check();  // throws the reason
    throw ry::precondition("runs.provider",
                           "no driver of the provider " + target->provider + " is loaded; enable its module");
  }
  check_sequence checks(*this, exec, *target, std::move(provider), name, limits);
  if (!as_json) print(heading_text(checks.report()));
  co_await checks.run([&](const check_result& c) {
    if (!as_json) print(check_text(c));
  });
  const model_report& report = checks.report();
  print(as_json ? report_json(report) + "\n" : summary_text(report));
  if (!report.basics_work() && checks.ran_out_of_time())
    throw ry::precondition("runs.model", "the check of " + name + " ran out of time; set a larger --total-timeout");
  if (!report.basics_work()) throw ry::precondition("runs.model", "the basics of " + name + " do not work");
}

ry_status model_check::run(void* self, ry_str arguments_json, ry_exec* exec, const ry_command_call* call) noexcept {
  return ry::guard([&] {
    auto* of = static_cast<model_check*>(self);
    const auto work = [](const model_check* m, std::string arguments, ry_exec* on,
                         ry_command_call c) -> ry::task<void> {
      std::optional<ry::error> failed;
      try {
        co_await m->run_checks(std::move(arguments), on, c);
      } catch (const ry::error& e) {
        failed = e;
      } catch (const std::exception& e) {
        failed = ry::error(RY_INTERNAL, "runs.model_check", e.what());
      }
      if (!failed) {
        c.done(c.ctx, RY_OK, nullptr);
        co_return;
      }
      const std::string message(failed->message());
      ry_error_view view{};
      view.struct_size = sizeof view;
      view.status = failed->status();
      view.message = ry::str(message);
      c.done(c.ctx, failed->status(), &view);
    };
    if (!of->ctx_.spawn(work(of, ry::text(arguments_json), exec, *call), exec)) throw ry::error(RY_UNAVAILABLE);
  });
}

}  // namespace runs
