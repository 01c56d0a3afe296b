// The exit codes of all commands.
#pragma once

namespace ry::app {

// A number has the same meaning for every command.
enum class exit_code : int {
  ok = 0,
  failed = 1,  // the command failed, or the server refused it; the reason is on standard error
  // The command line or the configuration is invalid, or no installed PostgreSQL version can open the cluster: a
  // retry without a change cannot succeed.
  refused = 2,
  run_failed = 3,  // `run`: the run ended with the status failed
  run_stopped = 4,  // `run`: the run was stopped
  interrupted = 130,  // Ctrl-C
};

inline constexpr const char* exit_code_help =
    "Exit codes: 0 done; 1 failed or refused by the server, the reason is on standard error; 2 invalid command line\n"
    "or configuration, or no installed PostgreSQL version can open the cluster; 130 interrupted.";
inline constexpr const char* run_exit_code_help =
    "Exit codes: 0 the run completed; 1 no answer from the server, or it refused the run; 2 invalid command line;\n"
    "3 the run failed; 4 the run was stopped; 130 interrupted (the run continues on the server).";
inline constexpr const char* model_check_exit_code_help =
    "Exit codes: 0 text, streaming and tool calls work; 1 they do not, the report states why; 2 invalid command line\n"
    "or configuration.";
inline constexpr const char* all_exit_codes_help =
    "0    done; for run: the run completed\n"
    "1    failed, or refused by the server; the reason is on standard error\n"
    "2    invalid command line or configuration, or no installed PostgreSQL version can open the cluster\n"
    "3    run: the run failed\n"
    "4    run: the run was stopped\n"
    "130  interrupted";

}  // namespace ry::app
