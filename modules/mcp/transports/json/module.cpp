// mcp.transport/1 to programs on this machine.
#include <ry/ry.hpp>

#include "session.hpp"

namespace mcp_json {
namespace {

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "allowed_commands": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "What configurations may start: a program, or a program with its first arguments. Without it: everything in deployment.mode local, nothing otherwise"},
    "allowed_env": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Variables that configurations may set where allowed_commands is in force; none without it"},
    "path": {"type": "string", "default": "/usr/local/bin:/usr/bin:/bin", "description": "PATH of the programs"},
    "directory": {"type": "string", "default": "", "description": "Working directory and HOME; empty: /tmp"},
    "wall_seconds": {"type": "integer", "minimum": 1, "default": 900, "description": "Longest life of a program"},
    "memory_mb": {"type": "integer", "minimum": 0, "default": 0, "description": "Address space; 0: no limit (programs of Node.js reserve a lot)"},
    "file_mb": {"type": "integer", "minimum": 1, "default": 256, "description": "Largest file that a program may write"},
    "open_files": {"type": "integer", "minimum": 16, "default": 1024},
    "max_children": {"type": "integer", "minimum": 1, "default": 64},
    "max_children_per_account": {"type": "integer", "minimum": 1, "default": 8}
  }
})json";

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_MCP_MODERN | RY_MCP_LOCAL;

  driver(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx), settings_(read_settings(ctx.settings(), ctx.fact("deployment.mode"))) {
    static constexpr auto table = ry::mcp::transport_table<driver>();
    reg.contribute(RY_MCP_TRANSPORT_1, "json", &table, this);
  }
  void check(const ry::mcp::target& t) const { (void)checked(t); }
  ry::mcp::session* open(const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink to) {
    return new session(ctx_, census_, settings_, t, checked(t), exec, to);
  }

 private:
  command checked(const ry::mcp::target& t) const {
    auto c = read_command(t.config_json);
    if (!t.operators_own() && !allowed(settings_, c)) {
      throw ry::forbidden("mcp.command_refused", "The command is not on the list of allowed commands");
    }
    const auto variable = t.operators_own() ? std::string() : refused_variable(settings_, c);
    if (!variable.empty()) {
      throw ry::forbidden("mcp.variable_refused",
                          "env." + variable + " is not on the list of allowed variables (allowed_env)");
    }
    return c;
  }

  ry::context& ctx_;
  const settings settings_;
  census census_;
};

}  // namespace
}  // namespace mcp_json

RY_MODULE(mcp_json::driver, "mcp_json", "0.1.0",
          .needs(RY_CORE_1, RY_PROCESS_1, RY_MCP_TRANSPORT_1).settings(mcp_json::schema));
