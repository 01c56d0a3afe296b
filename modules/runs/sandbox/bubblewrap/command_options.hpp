// Members of ry_sandbox_command that newer SDK versions added. If the caller was built against an older SDK, they keep
// their defaults.
#pragma once
#include <ry/ext/sandbox_driver.h>

#include <cstddef>
#include <cstdint>
#include <ry/ry.hpp>
#include <span>
#include <string_view>

namespace bubblewrap {

struct command_options {
  explicit command_options(const ry_sandbox_command& c) {
    if (c.struct_size < offsetof(ry_sandbox_command, n_host_files) + sizeof c.n_host_files) return;
    host_files = {c.host_files, c.n_host_files};
    if (c.struct_size < offsetof(ry_sandbox_command, n_mounts) + sizeof c.n_mounts) return;
    flags = c.flags;
    env = {c.env, c.n_env};
    mounts = {c.mounts, c.n_mounts};
    if (c.struct_size < offsetof(ry_sandbox_command, cache_bytes) + sizeof c.cache_bytes) return;
    processes = c.processes;
    open_files = c.open_files;
    file_bytes = c.file_bytes;
    scratch_bytes = c.scratch_bytes;
    cache = ry::view(c.cache);
    cache_bytes = c.cache_bytes;
    if (c.struct_size < offsetof(ry_sandbox_command, account) + sizeof c.account) return;
    account = ry::view(c.account);
    if (c.struct_size < offsetof(ry_sandbox_command, workspace_files) + sizeof c.workspace_files) return;
    workspace_bytes = c.workspace_bytes;
    workspace_files = c.workspace_files;
  }
  std::span<const ry_str> host_files;
  std::uint32_t flags = 0;
  std::span<const ry_str> env;
  std::span<const ry_sandbox_mount> mounts;
  std::uint64_t processes = 0, open_files = 0, file_bytes = 0, scratch_bytes = 0, cache_bytes = 0;
  std::uint64_t workspace_bytes = 0, workspace_files = 0;
  std::string_view cache, account;
};

}  // namespace bubblewrap
