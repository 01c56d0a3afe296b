#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "wire.hpp"

namespace notify_novu {

namespace json = boost::json;
using ry::notify::report;
using ry::notify::result;
using ry::notify::results;

namespace {

constexpr std::size_t max_failure_text = 300;
constexpr std::uint32_t pause_s = 60;

const json::value* member(const json::value& v, std::string_view key) {
  return v.is_object() ? v.get_object().if_contains(json::string_view(key.data(), key.size())) : nullptr;
}
const json::value* at(const json::value& v, std::initializer_list<std::string_view> path) {
  const json::value* current = &v;
  for (const auto key : path) {
    current = member(*current, key);
    if (current == nullptr) return nullptr;
  }
  return current;
}
std::string text_at(const json::value& v, std::initializer_list<std::string_view> path) {
  const json::value* found = at(v, path);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}
bool true_at(const json::value& v, std::initializer_list<std::string_view> path) {
  const json::value* found = at(v, path);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::optional<json::value> parsed(std::string_view body) {
  json::error_code ec;
  auto v = json::parse(body, ec);
  if (ec) return std::nullopt;
  return v;
}

// Returns the content of the envelope. A page, which has `data` next to other members, stays unchanged.
std::optional<json::value> without_envelope(std::string_view body) {
  auto v = parsed(body);
  if (v && v->is_object() && v->get_object().size() == 1) {
    if (const auto* data = v->get_object().if_contains("data")) return json::value(*data);
  }
  return v;
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > max_failure_text) {
    std::size_t end = max_failure_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end--;
    text.resize(end);
  }
  return text;
}

std::string join_texts(const json::value& v) {
  if (v.is_string()) return std::string(v.get_string());
  if (!v.is_array()) return {};
  std::string out;
  for (const auto& part : v.get_array()) {
    if (part.is_string()) out += (out.empty() ? "" : "; ") + std::string(part.get_string());
  }
  return out;
}

std::uint32_t channel_of(std::string_view name) {
  if (name == "email") return RY_NOTIFY_EMAIL;
  if (name == "push") return RY_NOTIFY_PUSH;
  if (name == "in_app") return RY_NOTIFY_IN_APP;
  return 0;
}

result make_result(std::uint32_t channels, std::int32_t outcome, std::string detail = {},
                   std::uint32_t retry_after_s = 0) {
  result r(channels, outcome, "novu");
  r.detail = std::move(detail);
  r.retry_after_s = retry_after_s;
  return r;
}

// Classifies a response other than 2xx to a trigger.
result result_of_failure(const response& a, std::uint32_t channels) {
  std::string text = "Novu answered " + std::to_string(a.status);
  if (const auto reason = failure_text(a); !reason.empty()) text += ": " + reason;
  const auto wait = a.retry_after_s.value_or(0);
  switch (a.status) {
    case 401:
    case 402:
    case 403:
      return make_result(channels, RY_NOTIFY_PAUSED, std::move(text), wait != 0 ? wait : pause_s);
    case 408:
    case 409:
    case 429:
      return make_result(channels, RY_NOTIFY_RETRY, std::move(text), wait);
    case 422:
      // The text of the notification differs from the first attempt; the transaction id still identifies it.
      if (text.find("is being reused for a different body") != text.npos) {
        return make_result(channels, RY_NOTIFY_RETRY_NEW, std::move(text));
      }
      break;
    default:
      break;
  }
  if (a.status >= 500) return make_result(channels, RY_NOTIFY_RETRY_NEW, std::move(text), wait);
  if (a.status / 100 == 3) {
    return make_result(channels, RY_NOTIFY_PAUSED, text + " (is notify_novu.base_url right?)", pause_s);
  }
  return make_result(channels, RY_NOTIFY_REFUSED, std::move(text));
}

// Status 201 only means that Novu read the request; the result is the `status` member of the body.
result result_of_trigger(const json::value& v, std::uint32_t channels) {
  const std::string status = text_at(v, {"status"});
  if (status.empty()) return make_result(channels, RY_NOTIFY_RETRY, "Novu's answer has no status");
  if (status == "processed" && true_at(v, {"acknowledged"})) {
    result r = make_result(channels, RY_NOTIFY_ACCEPTED);
    r.provider_id = text_at(v, {"transactionId"});
    return r;
  }
  std::string text = "Novu accepted it, but: " + status;
  if (const auto* reason = at(v, {"error"})) {
    const auto errors = join_texts(*reason);
    if (!errors.empty()) text += ": " + errors;
  }
  return make_result(channels, RY_NOTIFY_REFUSED, one_line(std::move(text)));
}

}  // namespace

std::string failure_text(const response& a) {
  const auto v = parsed(a.body);
  if (!v) return {};
  std::string text;
  if (const auto* message = at(*v, {"message"})) {
    text = join_texts(*message);
    if (text.empty()) text = text_at(*message, {"message"});
  }
  if (text.empty()) text = text_at(*v, {"error"});
  return one_line(std::move(text));
}

result read_trigger(const response& a, std::uint32_t channels) {
  if (a.status / 100 != 2) return result_of_failure(a, channels);
  const auto v = without_envelope(a.body);
  if (!v) return make_result(channels, RY_NOTIFY_RETRY, "Novu's response is not JSON");
  return result_of_trigger(*v, channels);
}

results read_bulk(const response& a, const std::vector<std::uint32_t>& channels) {
  results out;
  const auto for_all = [&](std::int32_t outcome, const std::string& text, std::uint32_t wait) {
    for (const auto c : channels) out.push_back(make_result(c, outcome, text, wait));
    return out;
  };
  if (a.status / 100 != 2) {
    const result all = result_of_failure(a, 1);
    // One invalid item may have failed the others.
    return for_all(all.outcome == RY_NOTIFY_REFUSED ? RY_NOTIFY_RETRY : all.outcome, all.detail, all.retry_after_s);
  }
  const auto v = without_envelope(a.body);
  if (!v || !v->is_array() || v->get_array().size() != channels.size()) {
    return for_all(RY_NOTIFY_RETRY, "Novu's response does not match the request", 0);
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    out.push_back(result_of_trigger(v->get_array()[i], channels[i]));
  }
  return out;
}

void check_response(const response& a) {
  if (a.status / 100 == 2) return;
  const result r = result_of_failure(a, 1);
  ry_status st = RY_INVALID_ARGUMENT;
  const std::string text = failure_text(a);
  const bool unknown = text.starts_with("SubscriberId:") && text.ends_with("not found");
  if (a.status == 404 || unknown) {
    st = RY_NOT_FOUND;
  } else if (r.outcome == RY_NOTIFY_PAUSED) {
    st = a.status == 401 ? RY_UNAUTHENTICATED : RY_PERMISSION_DENIED;
  } else if (a.status == 429) {
    st = RY_RESOURCE_EXHAUSTED;
  } else if (r.outcome == RY_NOTIFY_RETRY || r.outcome == RY_NOTIFY_RETRY_NEW) {
    st = RY_UNAVAILABLE;
  }
  throw ry::error(st, "notify_novu.refused", r.detail).with_retry_after(r.retry_after_s);
}

bool read_withdrawn(const response& a) {
  check_response(a);
  const auto v = without_envelope(a.body);
  return v && v->is_bool() && v->get_bool();
}

bool is_missing_route(const response& a) {
  return a.status == 404 && failure_text(a).starts_with("Cannot ");
}

std::optional<result> read_messages(const response& a, std::uint32_t channels) {
  check_response(a);
  const auto v = parsed(a.body);
  const json::value* list = v ? at(*v, {"data"}) : nullptr;
  if (list == nullptr || !list->is_array()) {
    throw ry::error(RY_DATA_LOSS, "notify_novu.answer", "Novu's answer has no list of messages");
  }
  std::optional<result> out;
  std::uint32_t delivered = 0;
  for (const auto& m : list->get_array()) {
    const auto channel = channel_of(text_at(m, {"channel"})) & channels;
    if (channel == 0) continue;
    if (!out) out = make_result(channels, RY_NOTIFY_ACCEPTED);
    if (text_at(m, {"status"}) == "error") {
      std::string reason = text_at(m, {"errorText"});
      if (reason.empty()) reason = text_at(m, {"errorId"});
      return make_result(channels, RY_NOTIFY_REFUSED, one_line("Novu could not deliver: " + reason));
    }
    // A message in Novu's feed is delivered. On other channels it is only with a provider, unless it was seen or read.
    if (channel == RY_NOTIFY_IN_APP || true_at(m, {"seen"}) || true_at(m, {"read"})) delivered |= channel;
  }
  if (out && delivered == channels) out->outcome = RY_NOTIFY_DELIVERED;
  return out;
}

result read_activity(const response& a, std::uint32_t channels) {
  check_response(a);
  const auto v = parsed(a.body);
  const json::value* list = v ? at(*v, {"data"}) : nullptr;
  if (list == nullptr || !list->is_array()) {
    throw ry::error(RY_DATA_LOSS, "notify_novu.answer", "Novu's answer has no list of notifications");
  }
  bool all_done = !list->get_array().empty();
  for (const auto& n : list->get_array()) {
    const json::value* jobs = at(n, {"jobs"});
    if (jobs == nullptr || !jobs->is_array()) return make_result(channels, RY_NOTIFY_ACCEPTED);
    for (const auto& job : jobs->get_array()) {
      const auto status = text_at(job, {"status"});
      if (status == "failed") {
        std::string reason = "Novu's step " + text_at(job, {"type"}) + " failed";
        const json::value* details = at(job, {"executionDetails"});
        if (details != nullptr && details->is_array() && !details->get_array().empty()) {
          const auto text = text_at(details->get_array().back(), {"detail"});
          if (!text.empty()) reason += ": " + text;
        }
        return make_result(channels, RY_NOTIFY_REFUSED, one_line(std::move(reason)));
      }
      all_done &= status == "completed" || status == "skipped" || status == "canceled";
    }
  }
  if (all_done) return make_result(channels, RY_NOTIFY_REFUSED, "Novu executed no step that sends a message");
  return make_result(channels, RY_NOTIFY_ACCEPTED);
}

std::uint32_t unrequested_channels(const response& messages, std::uint32_t channels) {
  const auto v = parsed(messages.body);
  const json::value* list = v ? at(*v, {"data"}) : nullptr;
  std::uint32_t out = 0;
  if (list != nullptr && list->is_array()) {
    for (const auto& m : list->get_array()) out |= channel_of(text_at(m, {"channel"})) & ~channels;
  }
  return out;
}

std::vector<report> read_webhook(std::string_view body) {
  const auto v = parsed(body);
  const std::string type = v ? text_at(*v, {"type"}) : std::string();
  if (type.empty()) {
    throw ry::bad_request("notify_novu.webhook", "the body is not a Novu message: it has no type");
  }
  report r;
  r.provider = "novu";
  constexpr std::string_view current_prefix = "message.", older_prefix = "notification.";
  r.type = type.starts_with(current_prefix) ? std::string(older_prefix) + type.substr(current_prefix.size()) : type;
  r.key = text_at(*v, {"transactionId"});
  if (r.key.empty()) r.key = text_at(*v, {"data", "object", "transactionId"});
  r.account_id = text_at(*v, {"subscriberId"});
  if (r.account_id.empty()) r.account_id = text_at(*v, {"data", "object", "subscriber", "subscriberId"});
  r.channels = channel_of(text_at(*v, {"data", "object", "channel"}));
  r.provider_id = text_at(*v, {"data", "object", "_id"});
  if (const auto by = text_at(*v, {"data", "object", "providerId"}); !by.empty()) r.provider = by;
  if (r.type == "notification.sent") {
    r.outcome = RY_NOTIFY_ACCEPTED;
  } else if (r.type == "notification.delivered" || r.type == "notification.seen" || r.type == "notification.read") {
    r.outcome = RY_NOTIFY_DELIVERED;
  } else if (r.type == "notification.failed") {
    r.outcome = RY_NOTIFY_REFUSED;
    r.detail = text_at(*v, {"data", "error", "message"});
    if (r.detail.empty()) r.detail = text_at(*v, {"data", "object", "errorText"});
    r.detail = one_line(std::move(r.detail));
    const std::string token = text_at(*v, {"data", "error", "push", "deviceToken"});
    if (true_at(*v, {"data", "error", "push", "isInvalidToken"}) && !token.empty()) {
      r.outcome = RY_NOTIFY_GONE;
      r.token = token;
    }
  }
  return {r};
}

}  // namespace notify_novu
