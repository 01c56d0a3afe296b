#include "sealed_body.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/base64.hpp>

namespace mail {
namespace {

namespace json = boost::json;

constexpr std::string_view prefix = "ry-sealed:";
constexpr std::string_view with_link = "u:", without_link = "-:";
constexpr std::string_view context = "mail.body";

std::string_view view_of(const json::string& s) {
  return {s.data(), s.size()};
}

}  // namespace

bool is_sealed(std::string_view body_text) noexcept {
  return body_text.starts_with(prefix);
}

std::string seal_bodies(const ry::context& ctx, std::string_view text, std::string_view html) {
  json::object plain{{"text", json::string_view(text.data(), text.size())},
                     {"html", json::string_view(html.data(), html.size())}};
  const bool link = text.find(unsubscribe_mark) != text.npos || html.find(unsubscribe_mark) != html.npos;
  std::string out(prefix);
  out += link ? with_link : without_link;
  out += ry::base64_encode(ry::secrets(ctx).seal(context, json::serialize(plain)).value(),
                           ry::base64_alphabet::standard, true);
  return out;
}

ry::result<bodies> open_bodies(const ry::context& ctx, std::string_view body_text) {
  const ry::error damaged(RY_DATA_LOSS, "mail.body", "the body of the message cannot be decrypted");
  if (!is_sealed(body_text)) return damaged;
  body_text.remove_prefix(std::min(prefix.size() + with_link.size(), body_text.size()));
  const auto sealed = ry::base64_decode(body_text, ry::base64_alphabet::standard, ry::base64_padding::required);
  if (!sealed) return damaged;
  const auto plain = ry::secrets(ctx).open(context, *sealed);
  if (!plain) return plain.status() == RY_DATA_LOSS ? damaged : plain.error();
  json::error_code bad;
  const auto doc = json::parse(json::string_view(plain->data(), plain->size()), bad);
  const auto* o = bad ? nullptr : doc.if_object();
  const auto* text = o ? o->if_contains("text") : nullptr;
  const auto* html = o ? o->if_contains("html") : nullptr;
  if (!text || !text->is_string() || !html || !html->is_string()) return damaged;
  return bodies{std::string(view_of(text->get_string())), std::string(view_of(html->get_string()))};
}

}  // namespace mail
