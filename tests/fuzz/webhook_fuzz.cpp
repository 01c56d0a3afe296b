// Webhooks that come in: headers and bodies after Standard Webhooks, and what identity providers say in them. Only what
// was signed with the key, over these bytes and at about this time, is verified.
#include <sodium.h>

#include <ry/cpp/types.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/accounts/login/identity_message.hpp"
#include "modules/standard_webhooks/webhook_signature.hpp"

namespace {

constexpr std::int64_t now_s = 1'800'000'000;
const std::string key = "a key of this fuzzer: 32 bytes..", old_key = "the key before that: 32 bytes...";

// One message; which names its headers have is a matter of taste.
struct message {
  std::string_view id, timestamp, signatures, body;
  bool svix = false;
};

std::optional<std::string> verify(const message& m, const std::vector<std::string>& keys) {
  const std::string family = m.svix ? "svix-" : "webhook-";
  const standard_webhooks::header_fn header = [&](std::string_view name) -> std::string_view {
    if (name == family + "id") return m.id;
    if (name == family + "timestamp") return m.timestamp;
    if (name == family + "signature") return m.signatures;
    return {};
  };
  return standard_webhooks::verified(keys, header, m.body, now_s);
}

std::string_view line_of(std::string_view& from) {
  const auto line = from.substr(0, from.find('\n'));
  from.remove_prefix(std::min(line.size() + 1, from.size()));
  return line;
}

void check_signatures(std::string_view input, std::uint8_t choice) {
  message m;
  m.id = line_of(input);
  m.timestamp = line_of(input);
  const auto given = line_of(input);
  m.body = input;
  m.svix = choice & 4;
  m.signatures = given;
  const std::vector<std::string> keys{key, old_key};
  fuzz::promise(!verify(m, keys), "what was not signed is refused");

  // The same with a valid signature among the given ones.
  const std::int64_t at = now_s + choice % 3 * 299 - 299;
  const std::string time = std::to_string(at), id(m.id);
  const auto own = standard_webhooks::signature(choice & 8 ? key : old_key, m.id, at, m.body);
  const std::string list = std::string(given) + (given.empty() ? "" : " ") + own;
  m.timestamp = time;
  m.signatures = list;
  const bool usable = !id.empty() && id.size() <= 256 && id.find('.') == id.npos && list.size() <= 4096;
  const auto got = verify(m, keys);
  fuzz::promise(got.has_value() == usable && (!got || *got == id), "what was signed is verified, with its id");
  if (!got) return;
  fuzz::promise(!verify(m, {std::string(32, 'x')}) && !verify(m, {}), "with another key it is refused");
  const std::string more = std::string(m.body) + "x", other_id = id + "x";
  message other = m;
  other.body = more;
  fuzz::promise(!verify(other, keys), "another body is refused");
  other = m;
  other.id = other_id;
  fuzz::promise(!verify(other, keys), "another id is refused");
  other = m;
  const std::string later = std::to_string(at + 1);
  other.timestamp = later;
  fuzz::promise(!verify(other, keys), "another time is refused");
  const std::int64_t long_ago = now_s - standard_webhooks::window_s - 1;
  const std::string old_time = std::to_string(long_ago),
                    old_signature = standard_webhooks::signature(key, m.id, long_ago, m.body);
  other = m;
  other.timestamp = old_time;
  other.signatures = old_signature;
  fuzz::promise(!verify(other, keys), "an old message is refused");
}

void check_secret(std::string_view text) {
  const auto read = standard_webhooks::read_secret(text);
  if (!read) return;
  fuzz::promise(read->size() >= 24 && read->size() <= 64, "a key has 24 to 64 bytes");
  std::string again(sodium_base64_encoded_len(read->size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(again.data(), again.size(), reinterpret_cast<const unsigned char*>(read->data()), read->size(),
                    sodium_base64_VARIANT_ORIGINAL);
  again.pop_back();
  fuzz::promise("whsec_" + again == text, "a secret has one spelling");
}

void check_identity(std::string_view body) {
  accounts::identity_message m;
  try {
    m = accounts::read_identity_message(body);
  } catch (const ry::error& e) {
    fuzz::promise(!e.message().empty(), "a refusal has a sentence");
    return;
  }
  fuzz::promise(m.type.size() <= 100, "a type is short");
  if (!m.who) return;
  const auto& who = *m.who;
  fuzz::promise(!who.subject.empty() && who.subject.size() <= 255, "a user has a subject");
  fuzz::promise(who.name.size() <= 320 && who.referral_code.size() <= 64, "names and codes obey their limits");
  fuzz::promise(who.email.size() <= 320 && (who.email.empty() || who.email.find('@') != who.email.npos),
                "an address is one");
  fuzz::promise(!who.verified || !who.email.empty(), "no address, no verified address");
  for (const auto* text : {&who.subject, &who.email, &who.name, &who.referral_code, &who.network})
    for (const char c : *text)
      fuzz::promise(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "texts have no control characters");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  switch (choice % 4) {
    case 0:
    case 1:
      check_signatures(input, choice);
      break;
    case 2:
      check_secret(input);
      break;
    default:
      check_identity(input);
  }
  return 0;
}
