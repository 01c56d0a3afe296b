// Received webhooks: headers and bodies of Standard Webhooks, and messages of identity providers in them. A message is
// verified only if it was signed with the key, over these bytes and at about this time.
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

// One message; its headers have the names of Standard Webhooks or of Svix.
struct message {
  std::string_view id, timestamp, signatures, body;
  bool svix = false;
};

std::optional<std::string> verify(const message& m, const std::vector<std::string>& keys) {
  const std::string prefix = m.svix ? "svix-" : "webhook-";
  const standard_webhooks::header_fn header = [&](std::string_view name) -> std::string_view {
    if (name == prefix + "id") return m.id;
    if (name == prefix + "timestamp") return m.timestamp;
    if (name == prefix + "signature") return m.signatures;
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
  const auto fuzzed_signatures = line_of(input);
  m.body = input;
  m.svix = choice & 4;
  m.signatures = fuzzed_signatures;
  const std::vector<std::string> keys{key, old_key};
  fuzz::check(!verify(m, keys), "an unsigned message is rejected");

  // The same with a valid signature in addition to the fuzzed ones.
  const std::int64_t at = now_s + choice % 3 * 299 - 299;
  const std::string time = std::to_string(at), id(m.id);
  const auto valid = standard_webhooks::signature(choice & 8 ? key : old_key, m.id, at, m.body);
  const std::string list = std::string(fuzzed_signatures) + (fuzzed_signatures.empty() ? "" : " ") + valid;
  m.timestamp = time;
  m.signatures = list;
  const bool usable = !id.empty() && id.size() <= 256 && id.find('.') == id.npos && list.size() <= 4096;
  const auto got = verify(m, keys);
  fuzz::check(got.has_value() == usable && (!got || *got == id), "a signed message is verified, with its id");
  if (!got) return;
  fuzz::check(!verify(m, {std::string(32, 'x')}) && !verify(m, {}), "a signature of another key is rejected");
  const std::string more = std::string(m.body) + "x", other_id = id + "x";
  message other = m;
  other.body = more;
  fuzz::check(!verify(other, keys), "another body is rejected");
  other = m;
  other.id = other_id;
  fuzz::check(!verify(other, keys), "another id is rejected");
  other = m;
  const std::string later = std::to_string(at + 1);
  other.timestamp = later;
  fuzz::check(!verify(other, keys), "another timestamp is rejected");
  const std::int64_t long_ago = now_s - standard_webhooks::window_s - 1;
  const std::string old_time = std::to_string(long_ago),
                    old_signature = standard_webhooks::signature(key, m.id, long_ago, m.body);
  other = m;
  other.timestamp = old_time;
  other.signatures = old_signature;
  fuzz::check(!verify(other, keys), "an old message is rejected");
}

void check_secret(std::string_view text) {
  const auto read = standard_webhooks::read_secret(text);
  if (!read) return;
  fuzz::check(read->size() >= 24 && read->size() <= 64, "a key has 24 to 64 bytes");
  std::string again(sodium_base64_encoded_len(read->size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(again.data(), again.size(), reinterpret_cast<const unsigned char*>(read->data()), read->size(),
                    sodium_base64_VARIANT_ORIGINAL);
  again.pop_back();
  fuzz::check("whsec_" + again == text, "a secret has exactly one encoding");
}

void check_identity(std::string_view body) {
  accounts::identity_message m;
  try {
    m = accounts::read_identity_message(body);
  } catch (const ry::error& e) {
    fuzz::check(!e.message().empty(), "an error has a message");
    return;
  }
  fuzz::check(m.type.size() <= 100, "a type is short");
  if (!m.who) return;
  const auto& user = *m.who;
  fuzz::check(!user.subject.empty() && user.subject.size() <= 255, "a user has a subject");
  fuzz::check(user.name.size() <= 320 && user.referral_code.size() <= 64, "names and codes obey their limits");
  fuzz::check(user.email.size() <= 320 && (user.email.empty() || user.email.find('@') != user.email.npos),
              "an e-mail address contains @");
  fuzz::check(!user.verified || !user.email.empty(), "only an existing address is verified");
  for (const auto* text : {&user.subject, &user.email, &user.name, &user.referral_code, &user.network})
    for (const char c : *text)
      fuzz::check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "texts have no control characters");
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
