// The state of this node's copy of a workspace: its version, and the attributes of each entry when the copy and the
// database were last equal. Pure; one thread at a time.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

constexpr std::size_t chunk_bytes = 1 << 20;

// An entry of a workspace. Only kind and mode are significant for a directory, only the target for a link.
struct workspace_entry {
  std::uint32_t kind = 0;  // RY_SANDBOX_*
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::string target;
  std::string chunks;  // digests separated by commas; empty for an empty file and for other kinds
  // Attributes of this node's copy: if they are unchanged, the content is not read again.
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;

  // Whether both entries look the same inside the sandbox (the mode of a link has no meaning).
  bool same_content(const workspace_entry& o) const;
  // Whether the entry is certainly unchanged since `o` was recorded.
  bool untouched_since(const workspace_entry& o) const;
};
using workspace_entries = std::map<std::string, workspace_entry, std::less<>>;

struct workspace_state {
  std::int64_t version = 0;
  // Identity of the directory, to detect that it was replaced.
  std::uint64_t root_inode = 0;
  std::int64_t root_made_ns = 0;
  workspace_entries entries;
};

struct workspace_changes {
  std::vector<std::string> changed, gone;  // sorted by path: directories before their contents
  bool empty() const { return changed.empty() && gone.empty(); }
  bool contains(std::string_view path) const;
};
workspace_changes changes_between(const workspace_entries& known, const workspace_entries& now);

// Encodes paths as text: spaces, control characters, '%' and invalid UTF-8 become %XX.
std::string encode_path(std::string_view raw);
std::string decode_path(std::string_view text);

// Convert between the state and the text of the state file. nullopt: the text is damaged or has another format.
std::string state_text(const workspace_state& state);
std::optional<workspace_state> parse_state(std::string_view text);
// Reads only the version, from the beginning of the text.
std::optional<std::int64_t> parse_state_version(std::string_view text);

std::vector<std::string> split_chunks(std::string_view chunks);

}  // namespace runs
