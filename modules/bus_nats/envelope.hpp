// What a message looks like on NATS: its subject, its id and its bytes. Pure.
//
// The bytes are "RYB1", the node (16), the cursor (8, network order), a seal (16) and the content; no
// content: a hint. The seal is a keyed BLAKE2b over all of it and the topic, so a message is from a
// node of this deployment and belongs to its subject. Old messages may be sent again by anybody;
// receivers put numbered pieces in order by themselves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bus_nats {

using seal_key = std::array<unsigned char, 32>;
using node_id = std::array<unsigned char, 16>;

// "<prefix>.<topic>"; what NATS does not take in a subject becomes "=XX".
std::string subject_of(std::string_view prefix, std::string_view topic);
// "<prefix>.<topic>.<number>". A number of its own for each message: nats-server, as of 2.9, looks for the next one of
// the same subject whenever one leaves the stream, through all those between (milliseconds with 2000 live runs), unless there is none.
std::string message_subject(std::string_view prefix, std::string_view topic, std::uint64_t number);
// The topic of a message again; nothing when no message of a topic has this subject.
std::optional<std::string> topic_of(std::string_view prefix, std::string_view subject);

// The same for the same topic, cursor and kind from one node, so that the server drops the second. Empty
// for a hint that knows no cursor: no two of them are the same.
std::string message_id(const node_id& node, std::string_view topic, std::uint64_t cursor,
                       std::string_view bytes);

struct letter {
  node_id node{};
  std::uint64_t cursor = 0;
  std::string_view bytes;  // of the packed text
};
std::string pack(const seal_key& key, const node_id& node, std::string_view topic,
                 std::uint64_t cursor, std::string_view bytes);
enum class flaw { none, malformed, forged };
flaw unpack(const seal_key& key, std::string_view topic, std::string_view packed, letter& out);

}  // namespace bus_nats
