// The NATS format of a message: its subject, id and bytes. Pure functions.
//
// The bytes are "RYB1", the node id (16 bytes), the cursor (8, network order), a seal (16) and the content; a wake-up
// has no content. The seal is a MAC (keyed BLAKE2b) over all of this and the topic, so only a node of this deployment
// can create it, and only for this topic. Old messages can be replayed; receivers order messages by their numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bus_nats {

using seal_key = std::array<unsigned char, 32>;
using node_id = std::array<unsigned char, 16>;

// "<prefix>.<topic>"; characters that NATS does not allow in a subject become "=XX".
std::string subject_of(std::string_view prefix, std::string_view topic);
// "<prefix>.<topic>.<number>". Each message has its own number: whenever a message leaves the stream, nats-server 2.9
// searches for the next one with the same subject through all messages between (milliseconds with 2000 live runs).
std::string message_subject(std::string_view prefix, std::string_view topic, std::uint64_t number);
// The topic of a message; nullopt if its subject is not one of message_subject().
std::optional<std::string> topic_of(std::string_view prefix, std::string_view subject);

// Equal for messages of one node with the same topic, cursor and kind, so that the server drops duplicates. Empty for a
// wake-up without a cursor, because those are never duplicates.
std::string message_id(const node_id& node, std::string_view topic, std::uint64_t cursor, std::string_view bytes);

struct message {
  node_id node{};
  std::uint64_t cursor = 0;
  std::string_view bytes;  // a view into the packed text
};
std::string pack(const seal_key& key, const node_id& node, std::string_view topic, std::uint64_t cursor,
                 std::string_view bytes);
enum class flaw { none, malformed, forged };
flaw unpack(const seal_key& key, std::string_view topic, std::string_view packed, message& out);

}  // namespace bus_nats
