// mcp.transport/1 for local programs.
#include <ry/cpp/settings_check.hpp>
#include <ry/ry.hpp>

#include "common/tree_cleaner.hpp"
#include "session.hpp"

namespace mcp_json {
namespace {

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "allowed_commands": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Commands that users' configurations may start: a program, or a program with its first arguments. Without the list no command is allowed"},
    "allow_any_command": {"type": "boolean", "default": false, "description": "With deployment.mode = local only: users' configurations may start any program; cannot be combined with allowed_commands"},
    "allowed_env": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Environment variables that users' configurations may set unless allow_any_command is on; default: none"},
    "path": {"type": "string", "default": "/usr/local/bin:/usr/bin:/bin", "description": "PATH of the programs"},
    "sandbox": {"type": "string", "off": "none", "description": "Driver of the sandbox in which programs run; default: bubblewrap; none: they run as the server's user, without a sandbox"},
    "network": {"type": "boolean", "default": true, "description": "In the sandbox: whether programs have network access"},
    "readable": {"type": "array", "items": {"type": "string", "pattern": "^/", "form": "an absolute path"}, "description": "In the sandbox: directories that programs can read in addition to /usr; default: none, or /home, /opt, /root and /srv with allow_any_command. The server's own files and credentials in home directories are always hidden"},
    "writable": {"type": "array", "items": {"type": "string", "pattern": "^/", "form": "an absolute path"}, "description": "In the sandbox: directories that programs can also write to, if their user may"},
    "directory": {"type": "string", "default": "", "description": "Without the sandbox: working directory and HOME of all programs; empty: each program has its own, which is deleted when the program exits"},
    "wall_seconds": {"type": "integer", "minimum": 1, "default": 14400, "description": "Maximum run time of a program in seconds",
      "limit": {"resource": "Run time of a local MCP program", "per": "program", "answer": "the program is terminated, and the model gets an error", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "memory_mb": {"type": "integer", "minimum": 16, "default": 2048, "description": "In the sandbox: maximum memory in MiB of all processes of a program together, and maximum private writable memory of each",
      "limit": {"resource": "Memory of a local MCP program", "per": "program", "answer": "the program is terminated, and the error names the setting", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "processes": {"type": "integer", "minimum": 16, "default": 1024, "description": "In the sandbox: maximum number of processes and threads of a program; if the server runs as root, of all programs of an account",
      "limit": {"resource": "Processes of a local MCP program", "per": "program; account if the server runs as root", "answer": "the program cannot start more"}},
    "file_mb": {"type": "integer", "minimum": 1, "default": 1024, "description": "Maximum size of a file that a program may write, in MiB",
      "limit": {"resource": "File of a local MCP program", "per": "file", "answer": "the program cannot write more"}},
    "open_files": {"type": "integer", "minimum": 16, "default": 4096, "description": "Maximum number of open files per process",
      "limit": {"resource": "Open files of a local MCP program", "per": "process", "answer": "the program cannot open more"}},
    "scratch_mb": {"type": "integer", "minimum": 1, "default": 512, "description": "In the sandbox: maximum size of a program's HOME, and of its /tmp, in MiB; both are in memory",
      "limit": {"resource": "HOME and /tmp of a local MCP program", "per": "program", "answer": "the program cannot write more"}},
    "package_cache_mb": {"type": "integer", "minimum": 0, "default": 1024, "description": "Maximum size of the cached packages of npx, npm, uvx and uv per account in MiB; the least recently used are deleted first. 0: no cache",
      "limit": {"resource": "Package cache of local MCP programs", "per": "account", "answer": "the program is terminated, and the error names the setting", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "package_cache_total_mb": {"type": "integer", "minimum": 0, "default": 8192, "description": "Maximum size of the cached packages of all accounts in MiB",
      "limit": {"resource": "Package cache of local MCP programs", "per": "node", "answer": "the least recently used caches are deleted"}},
    "package_cache_days": {"type": "integer", "minimum": 1, "default": 7, "description": "Days after which a package is downloaded again"},
    "max_children": {"type": "integer", "minimum": 1, "default": 64, "description": "Maximum number of concurrent programs on this node",
      "limit": {"resource": "Local MCP programs", "per": "node", "answer": "idle programs are terminated; if there is none, the call waits and then fails", "metric": "runyard_mcp_requests_total"}},
    "max_children_per_account": {"type": "integer", "minimum": 1, "default": 16, "description": "Maximum number of concurrent programs of one account on this node",
      "limit": {"resource": "Local MCP programs", "per": "account, node", "answer": "idle programs are terminated; if there is none, the call waits and then fails", "metric": "runyard_mcp_requests_total"}}
  }
})json";

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_MCP_MODERN | RY_MCP_LOCAL;

  driver(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        settings_(read_settings(ctx.settings(), ctx.fact("deployment.mode"), ctx.fact("private_paths"), faults_)),
        cleaner_(ctx, std::string(ctx.fact("data_dir")) + "/.removed"),
        homes_(ctx, cleaner_),
        packages_(std::make_shared<package_cache>(ctx, settings_, cleaner_)) {
    static constexpr auto table = ry::mcp::transport_table<driver>();
    reg.define_point(RY_MCP_SANDBOX_1, &sandboxes_);
    reg.contribute(RY_MCP_TRANSPORT_1, "json", &table, this);
    reg.contribute(RY_SETTINGS_CHECK_1, "mcp_json", &ry::settings_faults::table, &faults_);
  }
  void start() {
    homes_.start();
    cleaner_.start();
  }
  void check(const ry::mcp::target& t) const { (void)validated(t); }
  ry::mcp::session* open(const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink to) {
    const auto c = validated(t);
    // Programs that an admin starts with `runyard mcp` run without a sandbox.
    const bool unsandboxed = settings_.sandbox.empty() || t.unsandboxed();
    auto sandbox = unsandboxed ? nullptr : sandboxes_.find(settings_.sandbox);
    if (!unsandboxed && !sandbox) {
      throw ry::unavailable("mcp.sandbox",
                            "there is no sandbox \"" + settings_.sandbox +
                                "\" here to run programs in; mcp_json.sandbox = \"none\" runs them without one");
    }
    return new session({ctx_, settings_, processes_, *packages_, homes_}, t, c, std::move(sandbox), exec, to);
  }

 private:
  command validated(const ry::mcp::target& t) const {
    auto c = read_command(t.config_json);
    if (!t.operators_own() && !allowed(settings_, c)) {
      throw ry::forbidden(
          "mcp.command_refused",
          settings_.allowed_commands.empty()
              ? "No command is allowed, because the list of allowed commands is empty. The server's operator "
                "can add commands to mcp_json.allowed_commands"
              : "The command is not on the list of allowed commands");
    }
    const auto variable = t.operators_own() ? std::string() : disallowed_variable(settings_, c);
    if (!variable.empty()) {
      throw ry::forbidden("mcp.variable_refused",
                          "env." + variable + " is not on the list of allowed variables (allowed_env)");
    }
    return c;
  }

  ry::context& ctx_;
  ry::settings_faults faults_;
  const settings settings_;
  sandboxes sandboxes_;
  process_counter processes_;
  disk::tree_cleaner cleaner_;
  homes homes_;
  const std::shared_ptr<package_cache> packages_;
};

}  // namespace
}  // namespace mcp_json

RY_MODULE(mcp_json::driver, "mcp_json", "0.1.0",
          .needs(RY_CORE_1, RY_METRICS_1, RY_PROCESS_1, RY_MCP_TRANSPORT_1)
              .wants(RY_SETTINGS_CHECK_1)
              .provides(RY_MCP_SANDBOX_1)
              .settings(mcp_json::schema));
