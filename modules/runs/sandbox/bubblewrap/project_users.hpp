// The users under which commands run and to which the files of workspaces belong.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "command_line.hpp"

namespace bubblewrap {

struct project_users {
  confinement mode = confinement::user_namespace;
  std::uint32_t uid_base = 0, uid_count = 1;  // drop_root only

  // nullopt: the server's own user.
  std::optional<uid_t> owner_of(std::string_view project) const {
    if (mode != confinement::drop_root) return std::nullopt;
    return project_uid(project, uid_base, uid_count);
  }
};

}  // namespace bubblewrap
