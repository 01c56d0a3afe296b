#include "types/question.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <optional>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>

#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_message = 4000, max_shown_text = 1000, max_field_name = 100, max_choice = 500;
constexpr std::size_t max_fields = 50, max_choices = 200, max_schema_bytes = 64 << 10, max_content_bytes = 64 << 10,
                      max_url = 2048;
constexpr std::string_view formats[] = {"email", "uri", "date", "date-time"};

bool is_hidden(char32_t c) {
  return c < 0x20 || c == 0x7F || is_invisible(c);
}

// Without control characters and invisible characters, except line ends and tabs; shortened to `limit` bytes.
std::string shown_text(std::string_view text, std::size_t limit) {
  const std::string valid = ry::to_valid_utf8(shorten(text, limit));
  std::string out;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t c = ry::next_code_point(rest);
    if (c == '\n' || c == '\t' || !is_hidden(c)) out += before.substr(0, before.size() - rest.size());
  }
  return trim(out);
}

// Names and values that are compared must not look like others.
bool is_plain(std::string_view text, std::size_t limit) {
  if (is_blank(text) || text.size() > limit || !ry::is_utf8(text)) return false;
  while (!text.empty())
    if (is_hidden(ry::next_code_point(text))) return false;
  return true;
}

bool names_a_secret(std::string_view text) {
  std::string letters;
  for (const char c : ry::lower_ascii(text))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  for (const std::string_view exact : {"secret", "token", "pin", "otp", "cvv", "cvc", "credentials"})
    if (letters == exact) return true;
  for (const std::string_view part :
       {"password", "passwd", "passphrase", "passcode", "apikey", "secretkey", "accesskey", "privatekey", "accesstoken",
        "authtoken", "bearertoken", "refreshtoken", "apitoken", "clientsecret", "creditcard", "cardnumber",
        "securitycode"})
    if (letters.find(part) != std::string::npos) return true;
  return false;
}

std::optional<std::size_t> count_at(const json::object& o, std::string_view key) {
  const json::value* v = module_json::member_at(o, key);
  if (v == nullptr || !v->is_int64() || v->get_int64() < 0) return std::nullopt;
  return static_cast<std::size_t>(v->get_int64());
}

bool is_finite_number(const json::value& v) {
  return v.is_int64() || v.is_uint64() || (v.is_double() && std::isfinite(v.get_double()));
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool are_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_date(std::string_view t) {
  return t.size() == 10 && t[4] == '-' && t[7] == '-' && are_digits(t.substr(0, 4)) && are_digits(t.substr(5, 2)) &&
         are_digits(t.substr(8)) && t.substr(5, 2) >= "01" && t.substr(5, 2) <= "12" && t.substr(8) >= "01" &&
         t.substr(8) <= "31";
}

bool is_date_time(std::string_view t) {
  if (t.size() < 20 || !is_date(t.substr(0, 10)) || ry::lower_ascii(t[10]) != 't') return false;
  const std::string_view time = t.substr(11, 8);
  if (time[2] != ':' || time[5] != ':' || !are_digits(time.substr(0, 2)) || !are_digits(time.substr(3, 2)) ||
      !are_digits(time.substr(6)))
    return false;
  if (time.substr(0, 2) > "23" || time.substr(3, 2) > "59" || time.substr(6) > "60") return false;
  std::string_view zone = t.substr(19);
  if (zone.starts_with(".")) {
    const std::size_t end = std::min(zone.find_first_not_of("0123456789", 1), zone.size());
    if (end == 1) return false;
    zone.remove_prefix(end);
  }
  if (ry::lower_ascii(zone) == "z") return true;
  return zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':' && are_digits(zone.substr(1, 2)) &&
         are_digits(zone.substr(4));
}

bool has_format(std::string_view text, std::string_view format) {
  if (format == "date") return is_date(text);
  if (format == "date-time") return is_date_time(text);
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) return false;
  if (format == "email") {
    const std::size_t at = text.find('@');
    return at != 0 && at != std::string_view::npos && at + 1 < text.size() &&
           text.find('@', at + 1) == std::string_view::npos;
  }
  const std::size_t colon = text.find(':');
  return colon != 0 && colon != std::string_view::npos && colon + 1 < text.size();
}

// The values of a field with choices; nullptr: it has none.
std::optional<std::vector<std::string_view>> choices_of(const json::object& field) {
  std::vector<std::string_view> out;
  if (const json::array* values = module_json::array_at(field, "enum")) {
    for (const json::value& v : *values) out.emplace_back(v.get_string());
    return out;
  }
  const json::array* options = module_json::array_at(field, "oneOf");
  if (options == nullptr) options = module_json::array_at(field, "anyOf");
  if (options == nullptr) return std::nullopt;
  for (const json::value& v : *options) out.push_back(module_json::text_at(v.get_object(), "const"));
  return out;
}

std::string check_choice(const std::string& at, const json::object& field, const json::value& v) {
  const auto choices = choices_of(field);
  if (!choices) return {};
  const std::string_view given = v.get_string();
  if (std::find(choices->begin(), choices->end(), given) == choices->end()) return at + " must be one of the choices";
  return {};
}

std::string check_text(const std::string& at, const json::object& field, const json::value& v) {
  if (!v.is_string()) return at + " must be a string";
  std::string problem = check_choice(at, field, v);
  if (!problem.empty()) return problem;
  const std::string_view text = v.get_string();
  const std::size_t length = count_characters(text);
  if (const auto least = count_at(field, "minLength"); least && length < *least)
    return at + " must have at least " + std::to_string(*least) + " characters";
  if (const auto most = count_at(field, "maxLength"); most && length > *most)
    return at + " must have at most " + std::to_string(*most) + " characters";
  const std::string_view format = module_json::text_at(field, "format");
  if (!format.empty() && !has_format(text, format)) return at + " must be of the format " + std::string(format);
  return {};
}

std::string check_number(const std::string& at, const json::object& field, const json::value& v, bool whole) {
  if (!is_finite_number(v)) return at + (whole ? " must be an integer" : " must be a number");
  const double given = v.to_number<double>();
  if (whole && std::floor(given) != given) return at + " must be an integer";
  if (const json::value* least = module_json::member_at(field, "minimum");
      least != nullptr && given < least->to_number<double>())
    return at + " must be at least " + json::serialize(*least);
  if (const json::value* most = module_json::member_at(field, "maximum");
      most != nullptr && given > most->to_number<double>())
    return at + " must be at most " + json::serialize(*most);
  return {};
}

std::string check_list(const std::string& at, const json::object& field, const json::value& v) {
  const json::array* list = v.if_array();
  if (list == nullptr) return at + " must be an array of choices";
  const json::object& items = field.at("items").get_object();
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string here = at + "[" + std::to_string(i) + "]";
    if (!(*list)[i].is_string()) return here + " must be a string";
    std::string problem = check_choice(here, items, (*list)[i]);
    if (!problem.empty()) return problem;
    if (std::find(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(i), (*list)[i]) !=
        list->begin() + static_cast<std::ptrdiff_t>(i))
      return here + " is given more than once";
  }
  if (const auto least = count_at(field, "minItems"); least && list->size() < *least)
    return at + " must have at least " + std::to_string(*least) + " choices";
  if (const auto most = count_at(field, "maxItems"); most && list->size() > *most)
    return at + " must have at most " + std::to_string(*most) + " choices";
  return {};
}

std::string check_field(const std::string& at, const json::object& field, const json::value& v) {
  const std::string_view type = module_json::text_at(field, "type");
  if (type == "string") return check_text(at, field, v);
  if (type == "array") return check_list(at, field, v);
  if (type == "boolean") return v.is_bool() ? std::string() : at + " must be true or false";
  return check_number(at, field, v, type == "integer");
}

void copy_text(const json::object& from, std::string_view key, json::object& to) {
  const std::string_view text = module_json::text_at(from, key);
  if (!text.empty()) to[key] = shown_text(text, max_shown_text);
}

// Reads "enum" (with "enumNames") or a list of {"const", "title"}.
std::string read_choices(const std::string& at, const json::object& in, std::string_view list_key, json::object& out) {
  const json::array* values = module_json::array_at(in, "enum");
  const json::array* options = values != nullptr ? values : module_json::array_at(in, list_key);
  if (options == nullptr) return {};
  if (options->empty() || options->size() > max_choices)
    return at + " must have 1 to " + std::to_string(max_choices) + " choices";
  json::array copy, names;
  const json::array* titles = values != nullptr ? module_json::array_at(in, "enumNames") : nullptr;
  for (const json::value& option : *options) {
    const json::object* o = values == nullptr ? option.if_object() : nullptr;
    const json::value* v = values != nullptr ? &option : o != nullptr ? module_json::member_at(*o, "const") : nullptr;
    if (v == nullptr || !v->is_string() || !is_plain(v->get_string(), max_choice))
      return at + " has a choice that is not a text of at most " + std::to_string(max_choice) + " bytes";
    if (values == nullptr) {
      json::object entry{{"const", *v}};
      copy_text(*o, "title", entry);
      copy.push_back(std::move(entry));
      continue;
    }
    copy.push_back(*v);
    if (titles != nullptr && titles->size() == values->size() && (*titles)[names.size()].is_string())
      names.push_back(json::value(shown_text((*titles)[names.size()].get_string(), max_shown_text)));
  }
  if (!names.empty() && names.size() == copy.size()) out["enumNames"] = std::move(names);
  out[values != nullptr ? std::string_view("enum") : list_key] = std::move(copy);
  return {};
}

std::string read_field(const std::string& at, const json::object& in, json::object& out) {
  const std::string type = module_json::text_of(in, "type");
  out["type"] = type;
  copy_text(in, "title", out);
  copy_text(in, "description", out);
  const auto copy_count = [&](const char* key) {
    if (const auto n = count_at(in, key)) out[key] = *n;
  };
  if (type == "string") {
    std::string problem = read_choices(at, in, "oneOf", out);
    if (!problem.empty()) return problem;
    copy_count("minLength");
    copy_count("maxLength");
    const std::string_view format = module_json::text_at(in, "format");
    if (format == "password") return at + " asks for a secret";
    if (std::find(std::begin(formats), std::end(formats), format) != std::end(formats)) out["format"] = format;
  } else if (type == "number" || type == "integer") {
    for (const char* key : {"minimum", "maximum"})
      if (const json::value* limit = module_json::member_at(in, key); limit != nullptr && is_finite_number(*limit))
        out[key] = *limit;
  } else if (type == "array") {
    const json::object* items = module_json::object_at(in, "items");
    json::object choices{{"type", "string"}};
    if (items == nullptr) return at + ".items must have choices";
    std::string problem = read_choices(at + ".items", *items, "anyOf", choices);
    if (!problem.empty()) return problem;
    if (!choices_of(choices)) return at + ".items must have choices";
    if (choices.contains("anyOf")) choices.erase("type");
    out["items"] = std::move(choices);
    copy_count("minItems");
    copy_count("maxItems");
  } else if (type != "boolean") {
    return at + ".type must be string, number, integer, boolean, or array with choices";
  }
  const json::value* initial = module_json::member_at(in, "default");
  if (initial != nullptr && check_field(at, out, *initial).empty()) out["default"] = *initial;
  return {};
}

}  // namespace

std::string question_json(const question& q) {
  json::object out{{"message", q.message}};
  if (q.kind == "url") {
    out["url"] = q.url;
    out["host"] = q.host;
  } else {
    out["schema"] = json::parse(q.schema);
  }
  return escape_line_ends(json::serialize(out));
}

std::string read_form(std::string_view name, const json::value& schema, std::string& out) {
  const std::string at(name);
  const json::object* o = schema.if_object();
  const json::object* properties = o != nullptr ? module_json::object_at(*o, "properties") : nullptr;
  if (o == nullptr || module_json::text_at(*o, "type") != "object" || properties == nullptr)
    return at + " must be a JSON Schema of the type object with properties";
  if (properties->size() > max_fields)
    return at + ".properties must have at most " + std::to_string(max_fields) + " fields";
  json::object fields;
  for (const auto& property : *properties) {
    const std::string_view key(property.key());
    if (!is_plain(key, max_field_name))
      return at + ".properties has a name that is not a text of at most " + std::to_string(max_field_name) + " bytes";
    const std::string here = at + ".properties." + std::string(key);
    if (!property.value().is_object()) return here + " must be an object";
    const json::object& in = property.value().get_object();
    if (names_a_secret(key) || names_a_secret(module_json::text_at(in, "title"))) return here + " asks for a secret";
    json::object field;
    std::string problem = read_field(here, in, field);
    if (!problem.empty()) return problem;
    fields[key] = std::move(field);
  }
  json::array required;
  if (const json::array* given = module_json::array_at(*o, "required"))
    for (const json::value& v : *given)
      if (v.is_string() && fields.contains(v.get_string()) &&
          std::find(required.begin(), required.end(), v) == required.end())
        required.push_back(v);
  json::object copy{{"type", "object"}, {"properties", std::move(fields)}};
  if (!required.empty()) copy["required"] = std::move(required);
  out = escape_line_ends(json::serialize(copy));
  if (out.size() > max_schema_bytes) return at + " must have at most " + size_text(max_schema_bytes);
  return {};
}

namespace {

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

bool is_host_name(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || is_decimal(c) || c == '.' || c == '-' || c == '_';
  });
}

// `host`: with its brackets.
bool is_ipv6_host(const std::string& host) {
  if (!host.ends_with(']')) return false;
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1;
}

}  // namespace

std::string read_url(std::string_view name, std::string_view url, question& out) {
  const std::string at(name);
  constexpr std::string_view scheme = "https://";
  const bool is_visible = std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7F && c != '\\'; });
  if (ry::lower_ascii(url.substr(0, scheme.size())) != scheme || !is_visible)
    return at + " must be an https URL without spaces and other special characters";
  if (url.size() > max_url) return at + " must have at most " + std::to_string(max_url) + " bytes";
  std::string_view authority = url.substr(scheme.size());
  authority = authority.substr(0, authority.find_first_of("/?#"));
  // Credentials in a URL can make it look like that of another host.
  if (authority.find('@') != std::string_view::npos) return at + " must not contain credentials";
  const bool is_ipv6 = authority.starts_with("[");
  const std::size_t end = is_ipv6 ? std::min(authority.find(']'), authority.size() - 1) + 1 : authority.find(':');
  const std::string host = ry::lower_ascii(authority.substr(0, end));
  const std::string_view port = authority.substr(host.size());
  if (!(is_ipv6 ? is_ipv6_host(host) : is_host_name(host))) return at + " must have a host";
  if (!port.empty() && (port[0] != ':' || !std::all_of(port.begin() + 1, port.end(), is_decimal) || port.size() > 6))
    return at + " must have a number as its port";
  out.url = std::string(url);
  out.host = host;
  return {};
}

std::string read_ask_user(const json::object& arguments, question& out) {
  out.kind = "question";
  out.message = shown_text(module_json::text_at(arguments, "question"), max_message);
  if (is_blank(out.message)) return "the argument \"question\" is missing";
  const json::value* form = module_json::member_at(arguments, "form");
  const json::value* choices = module_json::member_at(arguments, "choices");
  const bool has_form = form != nullptr && !form->is_null(), has_choices = choices != nullptr && !choices->is_null();
  if (has_form && has_choices) return "the arguments \"choices\" and \"form\" cannot be used together";
  if (has_form) return read_form("form", *form, out.schema);
  json::object answer{{"type", "string"}};
  if (has_choices) answer["enum"] = *choices;
  if (has_choices && !choices->is_array()) return "choices must be an array of texts";
  const json::object with_answer{
      {"type", "object"}, {"properties", {{"answer", std::move(answer)}}}, {"required", {"answer"}}};
  if (!read_form("choices", with_answer, out.schema).empty())
    return "choices must be 1 to " + std::to_string(max_choices) + " texts of at most " + std::to_string(max_choice) +
           " bytes";
  return {};
}

std::string read_input_request(const json::object& request, question& out) {
  const std::string_view kind = module_json::text_at(request, "kind");
  out.message = shown_text(module_json::text_at(request, "message"), max_message);
  if (is_blank(out.message)) return "the message is missing";
  if (kind == "url") {
    out.kind = "url";
    return read_url("url", module_json::text_at(request, "url"), out);
  }
  if (kind != "form") return "its kind is unknown";
  out.kind = "elicitation";
  const json::value* schema = module_json::member_at(request, "schema");
  return read_form("schema", schema != nullptr ? *schema : json::value(), out.schema);
}

std::string check_answer(std::string_view schema, const json::value& content) {
  const json::object* given = content.if_object();
  if (given == nullptr) return "content must be an object";
  if (json::serialize(content).size() > max_content_bytes)
    return "content must have at most " + size_text(max_content_bytes);
  const json::value parsed = json::parse(schema);
  const json::object& form = parsed.get_object();
  const json::object& fields = form.at("properties").get_object();
  for (const auto& member : *given) {
    const json::object* field = module_json::object_at(fields, member.key());
    if (field == nullptr)
      return "content has an unknown member \"" +
             plain_sentence(std::string_view(member.key()).substr(0, max_field_name)) + "\"";
    std::string problem = check_field("content." + std::string(member.key()), *field, member.value());
    if (!problem.empty()) return problem;
  }
  if (const json::array* required = module_json::array_at(form, "required"))
    for (const json::value& name : *required)
      if (!given->contains(name.get_string())) return "content." + std::string(name.get_string()) + " is required";
  return {};
}

}  // namespace runs
