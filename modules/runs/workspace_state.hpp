// What this node knows of its copy of a workspace: the version, and of each entry how it looked when it was
// last the same here and in the database. Pure; one thread at a time.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

constexpr std::size_t chunk_bytes = 1 << 20;

// What is in a workspace by path. Of a directory only kind and mode count, of a link the target.
struct workspace_entry {
  std::uint32_t kind = 0;  // RY_SANDBOX_*
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::string target;
  std::string chunks;  // digests with commas; empty for an empty file and for what is no file
  // Of the copy on this node: with them unchanged its content is not read again.
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;

  // The same for whoever looks at it in the sandbox (a link's own mode means nothing).
  bool same_content(const workspace_entry& o) const;
  // Surely untouched since `o` was noted.
  bool untouched_since(const workspace_entry& o) const;
};
using workspace_entries = std::map<std::string, workspace_entry, std::less<>>;

struct workspace_state {
  std::int64_t version = 0;
  // Which directory this is about: another one made in its place is not taken for it.
  std::uint64_t root_inode = 0;
  std::int64_t root_made_ns = 0;
  workspace_entries entries;
};

struct workspace_changes {
  std::vector<std::string> changed, gone;  // by path: parents before what is in them
  bool empty() const { return changed.empty() && gone.empty(); }
  bool contains(std::string_view path) const;
};
workspace_changes changes_between(const workspace_entries& known, const workspace_entries& now);

// Paths as text: '%', control characters and what is no UTF-8 as %XX.
std::string encode_path(std::string_view raw);
std::string decode_path(std::string_view text);

// The state as the text of a file, and back; nullopt for what is damaged or of another format.
std::string state_text(const workspace_state& state);
std::optional<workspace_state> parse_state(std::string_view text);
// Only the version, from the beginning of that text.
std::optional<std::int64_t> parse_state_version(std::string_view text);

std::vector<std::string> split_chunks(std::string_view chunks);

}  // namespace runs
