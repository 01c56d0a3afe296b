// How every command tells its outcome to the shell.
#pragma once

namespace ry::app {

enum class exit_code : int {
  ok = 0,
  failed = 1,  // it could not do what was asked; the reason stands on standard error
  // The command line or the configuration is wrong, or no installed PostgreSQL version can open the
  // cluster.
  refused = 2,
  run_failed = 3,     // `run`: the run ended with the status failed
  run_stopped = 4,    // `run`: somebody stopped the run
  interrupted = 130,  // Ctrl-C
};

inline constexpr const char* exit_code_help =
    "Exit codes: 0 done; 1 failed, the reason is on standard error; 2 wrong command line or "
    "configuration,\nor no installed PostgreSQL version can open the cluster; 130 interrupted.";
inline constexpr const char* run_exit_code_help =
    "Exit codes: 0 the run completed; 1 no answer from the server; 2 wrong command line;\n3 the "
    "run "
    "failed; 4 the run was stopped; 130 interrupted (the run goes on at the server).";

inline constexpr const char* model_check_exit_code_help =
    "Exit codes: 0 text, streaming and tool calls work; 1 they do not, the report says why; 2 wrong command line or\n"
    "configuration.";

}  // namespace ry::app
