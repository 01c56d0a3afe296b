// JSON Schema of the module's settings, part of the module's manifest. docs/limits.md is generated from its "limit"
// members.
#pragma once

namespace bubblewrap {

inline constexpr char settings_schema[] = R"json({
  "type": "object",
  "properties": {
    "bwrap_path": {"type": "string", "default": "/usr/bin/bwrap", "description": "Path of bubblewrap"},
    "exec_path": {"type": "string", "default": "", "description": "Path of runyard-sandbox-exec; empty: in the directory of the server's program"},
    "wall_seconds": {"type": "integer", "minimum": 1, "default": 120, "description": "Default time limit of a command in seconds",
      "limit": {"resource": "Time of a command", "per": "command", "answer": "the command is terminated", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "max_wall_seconds": {"type": "integer", "minimum": 1, "default": 900, "description": "Maximum time limit that a caller may set for a command, in seconds"},
    "memory_mb": {"type": "integer", "minimum": 16, "default": 4096, "description": "Maximum memory in MiB of all processes of a command together, and maximum address space of each",
      "limit": {"resource": "Memory of a command (with control groups, including kernel memory)", "per": "command", "answer": "the command is terminated", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "min_available_mb": {"type": "integer", "off": 0, "minimum": 0, "default": 256, "description": "Reserve of available memory of the machine (MemAvailable) in MiB. Below it, no command starts, and the largest commands are terminated; 0: no reserve",
      "limit": {"resource": "Memory of the machine", "per": "node", "answer": "commands are terminated, and new ones are refused", "metric": "runyard_sandbox_bubblewrap_refused_total", "alert": "RunyardMemoryNearlyFull"}},
    "processes": {"type": "integer", "minimum": 4, "default": 128, "description": "Maximum number of processes and threads of a command",
      "limit": {"resource": "Processes of a command", "per": "command", "answer": "the command cannot start more"}},
    "file_mb": {"type": "integer", "minimum": 1, "default": 512, "description": "Maximum size of a file that a command may write, in MiB",
      "limit": {"resource": "File that a command writes", "per": "file", "answer": "the command cannot write more"}},
    "workspace_mb": {"type": "integer", "minimum": 1, "default": 4096, "description": "Maximum size of a workspace in MiB, including deleted files that are still open; a command that exceeds it is terminated",
      "limit": {"resource": "Workspace, bytes (including deleted files that are still open)", "per": "project", "answer": "the command is terminated", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "workspace_files": {"type": "integer", "minimum": 100, "default": 200000, "description": "Maximum number of files, directories and links of a workspace; a command that exceeds it is terminated",
      "limit": {"resource": "Workspace, files and directories (inodes)", "per": "project", "answer": "the command is terminated", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "min_free_mb": {"type": "integer", "off": 0, "minimum": 0, "default": 1024, "description": "Reserve of free disk space in MiB. Below it, no command starts, and the commands that have written most are terminated; 0: no reserve",
      "limit": {"resource": "Free disk space", "per": "node", "answer": "commands are terminated, and new ones are refused", "metric": "runyard_sandbox_bubblewrap_refused_total", "alert": "RunyardDiskNearlyFull"}},
    "open_files": {"type": "integer", "minimum": 16, "default": 512, "description": "Maximum number of open files per process",
      "limit": {"resource": "Open files of a command", "per": "process", "answer": "the command cannot open more"}},
    "tmp_mb": {"type": "integer", "minimum": 1, "default": 256, "description": "Maximum size of /tmp and of /dev/shm, each in MiB; both are in memory",
      "limit": {"resource": "/tmp and /dev/shm of a command", "per": "command", "answer": "the command cannot write more"}},
    "output_kb": {"type": "integer", "minimum": 1, "default": 1024, "description": "Maximum output of a command in KiB; the rest is truncated with a note",
      "limit": {"resource": "Output of a command", "per": "command", "answer": "truncated with a note"}},
    "warm": {"type": "integer", "minimum": 0, "maximum": 16, "default": 2, "description": "Sandboxes of each kind (same limits, network and directories) that are started in advance per event loop for local MCP programs; 0: none"},
    "warm_total": {"type": "integer", "minimum": 0, "maximum": 1024, "default": 16, "description": "Maximum number of sandboxes started in advance, of all kinds together",
      "limit": {"resource": "Sandboxes started in advance", "per": "node", "answer": "no more are started; calls wait for a new sandbox"}},
    "warm_seconds": {"type": "integer", "minimum": 1, "default": 60, "description": "Seconds after the last use of a kind after which its waiting sandboxes are terminated"},
    "control_groups": {"type": "string", "off": "off", "enum": ["auto", "required", "off"], "default": "auto", "description": "Control groups (version 2) for commands. auto: if they are delegated to the server; required: no commands without them; off: never"},
    "account_memory_mb": {"type": "integer", "minimum": 16, "default": 16384, "description": "With control groups: maximum memory in MiB of all commands of an account together",
      "limit": {"resource": "Memory of all commands (with control groups)", "per": "account, node", "answer": "a command of the account is terminated", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardCommandsAtLimits"}},
    "account_processes": {"type": "integer", "minimum": 16, "default": 4096, "description": "With control groups: maximum number of processes and threads of all commands of an account together",
      "limit": {"resource": "Processes of all commands (with control groups)", "per": "account, node", "answer": "commands cannot start more"}},
    "total_memory_percent": {"type": "integer", "minimum": 1, "maximum": 100, "default": 75, "description": "With control groups: maximum memory of all commands together, in percent of the memory of the server's control group or of the machine",
      "limit": {"resource": "Memory of all commands, in percent (with control groups)", "per": "node", "answer": "a command is terminated", "metric": "runyard_sandbox_bubblewrap_terminated_total", "alert": "RunyardMemoryNearlyFull"}},
    "total_processes_percent": {"type": "integer", "minimum": 1, "maximum": 100, "default": 75, "description": "With control groups: maximum number of processes and threads of all commands together, in percent of the limit of the server's control group",
      "limit": {"resource": "Processes of all commands, in percent (with control groups)", "per": "node", "answer": "commands cannot start more"}},
    "nice": {"type": "integer", "minimum": 0, "maximum": 19, "default": 19, "description": "Nice value of commands. With 0, they compete with the server for CPU time"},
    "cpu_weight": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 20, "description": "With control groups: CPU weight of all commands together; the server has 100"},
    "io_weight": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 20, "description": "With control groups: I/O weight of all commands together, if the disk's scheduler supports weights"},
    "uid_base": {"type": "integer", "minimum": 1000, "maximum": 2147418112, "default": 61184, "description": "If the server runs as root: first user id of the range; the commands of each project run as a separate user of this range"},
    "uid_count": {"type": "integer", "minimum": 1, "maximum": 65536, "default": 4096, "description": "If the server runs as root: size of the range of user ids. Without CAP_SYS_ADMIN this is not possible and the server refuses all commands: run it as an unprivileged user"}
  }
})json";

}  // namespace bubblewrap
