#include "core/app/cli/cli.hpp"

#include <ry/abi.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>

#include "core/app/cli/cli_pages.hpp"
#include "core/app/cli/commands.hpp"
#include "core/app/client/mcp_client.hpp"
#include "core/app/client/run_client.hpp"
#include "core/app/config/nearest.hpp"
#include "core/app/config/schema.hpp"
#include "core/app/devkit/module_check.hpp"
#include "core/app/devkit/module_command.hpp"
#include "core/app/devkit/module_new.hpp"
#include "core/app/devkit/preflight_process.hpp"
#include "core/db/embedded_postgres.hpp"
#include "core/db/failure.hpp"

namespace ry::app {

namespace {

std::string example(const std::string& lines, const char* codes = exit_code_help) {
  return "Example:\n" + lines + "\n\n" + codes + "\n";
}

std::string version_text() {
  return "runyard " RY_VERSION " (module ABI " + std::to_string(RY_ABI_MAJOR) + "." + std::to_string(RY_ABI_MINOR) +
         ")";
}

void add_config(CLI::App* command, config_options& options) {
  command
      ->add_option("--config", options.file,
                   "Configuration file; else $RUNYARD_CONFIG, conf/runyard.toml, "
                   "/etc/runyard/runyard.toml")
      ->type_name("FILE");
  command->add_option("--set", options.overrides, "Overrides one key; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->take_all();
}

std::string from_environment(const char* name, std::string fallback) {
  const char* value = std::getenv(name);
  return value && *value ? value : std::move(fallback);
}

class command_line {
 public:
  command_line() {
    app_.set_version_flag("--version", version_text());
    app_.require_subcommand(1);
    app_.get_formatter()->column_width(34);
    app_.footer(std::string("`runyard COMMAND --help` shows options and an example.\n") + exit_code_help + "\n");
    add_serve();
    add_check();
    add_modules();
    add_settings();
    add_inspect();
    add_migrate();
    add_token();
    add_run();
    add_mcp();
    add_model();
    add_module();
    add_pages();
    add_preflight();
  }

  exit_code run(int argc, char** argv) {
    if (const auto wrong = unknown_command(argc, argv); !wrong.empty()) {
      std::fprintf(stderr, "runyard: %s\n", wrong.c_str());
      return exit_code::refused;
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      // The parser reports help and --version as "errors" with code 0.
      return app_.exit(e) == 0 ? exit_code::ok : exit_code::refused;
    }
    return chosen_();
  }

 private:
  // An error message if a leading word is not a command; empty otherwise. The parser itself would only report that
  // something is missing.
  std::string unknown_command(int argc, char** argv) const {
    const CLI::App* at = &app_;
    std::string before;
    for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
      const auto commands = at->get_subcommands({});
      if (commands.empty()) break;
      const std::string word = argv[i];
      std::vector<std::string> names;
      const CLI::App* next = nullptr;
      for (const auto* c : commands) {
        if (!c->get_group().empty()) names.push_back(c->get_name());
        if (c->check_name(word)) next = c;
      }
      if (!next) {
        std::string all;
        for (const auto& n : names) all += (all.empty() ? "" : ", ") + n;
        const auto meant = config::nearest(word, names);
        return "there is no command \"" + before + word + "\"" +
               (meant.empty() ? "" : "; did you mean \"" + before + meant + "\"?") + " (commands: " + all + ")";
      }
      before += word + " ";
      at = next;
    }
    return {};
  }

  format as_asked() const noexcept { return json_ ? format::json : format::text; }

  CLI::App* add(const char* name, const char* about, const std::string& footer, std::function<exit_code()> action) {
    auto* command = app_.add_subcommand(name, about);
    command->footer(footer);
    command->callback([this, action = std::move(action)] { chosen_ = action; });
    return command;
  }

  void add_serve() {
    add_config(add("serve", "Runs the server until SIGTERM or SIGINT.",
                   example("  runyard serve --config conf/runyard.toml --set http.listen=127.0.0.1:0\n"
                           "prints \"listening on http://127.0.0.1:PORT\" once it is ready."),
                   [this] { return serve(config_); }),
               config_);
  }

  void add_check() {
    auto* command =
        add("check",
            "Validates the configuration and the modules, and warns about an insecure deployment. Starts no server; "
            "needs no database.",
            example("  runyard check --config conf/runyard.toml --show"), [this] {
              mail_check_.as = as_asked();
              return check(config_, show_ ? listing::yes : listing::no, as_asked(), mail_ ? &mail_check_ : nullptr);
            });
    add_config(command, config_);
    command->add_flag("--json", json_, "Print the errors and warnings as one JSON object");
    command->add_flag(
        "--mail", mail_,
        "Also verify the mail relay (TLS, log-in) and the DNS records of the sender's domain (SPF, DKIM, DMARC)");
    command->add_option("--dns-server", mail_check_.dns_server, "DNS server for --mail; default: the system's")
        ->type_name("ADDRESS:PORT")
        ->needs("--mail");
    command->add_flag("--show", show_, "Print the effective settings and the source of each");
  }

  void add_modules() {
    const auto text = example("  runyard modules list --config conf/runyard.toml --json");
    const auto action = [this] {
      if (module_.change.empty())
        return list_modules(config_, configured_ ? modules_of::configuration : modules_of::server_if_any, module_,
                            json_ ? format::json : format::text);
      module_.as = json_ ? client::output::json_lines : client::output::text;
      return change_module(config_, module_);
    };
    auto* command =
        add("modules",
            "Shows the modules that a running server has loaded and what each registered. Without a running "
            "server, shows the modules that the configuration would load.",
            text, action);
    add_listing(command);
    auto* list = command->add_subcommand("list", "Lists the modules (default).");
    list->footer(text);
    add_listing(list);
    add_change(command, "reload", "Replaces a module of a running server with the current content of its file.");
    add_change(command, "enable", "Loads a module into a running server.");
    add_change(command, "disable", "Unloads a module from a running server.");
  }

  void add_listing(CLI::App* command) {
    add_config(command, config_);
    command->add_flag("--json", json_, "Print a JSON array; standard error names the source of the list");
    command->add_flag("--configured", configured_,
                      "Show the modules that the configuration would load, even if a server is running");
    add_server(command);
  }

  void add_server(CLI::App* command) {
    command->add_option("--url", module_.url, "Server; default $RUNYARD_URL or the address in the configuration");
    command->add_option(
        "--token", module_.token,
        "Bearer token of an admin; default: $RUNYARD_TOKEN if --url or $RUNYARD_URL is set, otherwise a token "
        "signed with the deployment's own key");
    add_trust(command, module_.trust);
  }

  void add_trust(CLI::App* command, client::tls_trust& trust) {
    command
        ->add_option(
            "--ca-file", trust.ca_file,
            "CA certificates that verify the server (PEM); default $CURL_CA_BUNDLE, $SSL_CERT_FILE or the system's")
        ->type_name("FILE");
  }

  // Generated from the definitions of the other commands.
  void add_pages() {
    auto* completion = add("completion", "Prints a shell completion script.",
                           example("  runyard completion bash > /etc/bash_completion.d/runyard"), [this] {
                             const auto script = completion_script(app_, shell_);
                             std::fwrite(script.data(), 1, script.size(), stdout);
                             return exit_code::ok;
                           });
    completion->add_option("shell", shell_, "bash, zsh or fish")
        ->required()
        ->type_name("SHELL")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    add("manual", "Prints the manual page of all commands, for man(1).", example("  runyard manual | man -l -"),
        [this] {
          const auto page = manual_page(app_, version_text());
          std::fwrite(page.data(), 1, page.size(), stdout);
          return exit_code::ok;
        });
  }

  void add_change(CLI::App* modules, const char* change, const char* about) {
    auto* command = modules->add_subcommand(change, about);
    command->footer(example(std::string("  runyard modules ") + change + " runs --config /etc/runyard/runyard.toml"));
    add_config(command, config_);
    command->add_option("name", module_.name, "The module")->required()->type_name("NAME");
    add_server(command);
    command->add_flag("--json", json_, "Print the complete response as JSON");
    command->callback([this, change] { module_.change = change; });
  }

  void add_settings() {
    auto* command = add("settings", "Prints all settings of the host and the enabled modules, as Markdown.",
                        example("  runyard settings --config conf/runyard.toml"), [this] {
                          return show_settings(config_, limits_ ? about::limits : about::settings, as_asked());
                        });
    command->add_flag("--json", json_, "Print the JSON Schema of the configuration");
    command->add_flag(
        "--limits", limits_,
        "Print only the settings that limit a resource, with the response at the limit, metric and alert");
    add_config(command, config_);
  }

  void add_inspect() {
    auto* command = add("inspect", "Reads a module file without running its code.",
                        example("  runyard inspect build/modules/runs.so --json"), [this] {
                          return inspect_file(file_, json_ ? format::json : format::text,
                                              load_ ? inspection::loading : inspection::reading);
                        });
    command->add_option("file", file_, "Module file (x.so)")->required()->type_name("FILE");
    auto* json = command->add_flag("--json", json_, "Print one JSON object");
    command->add_flag("--load", load_, "Also load it into this process, which runs its constructors")->excludes(json);
  }

  // For internal use by the server.
  void add_preflight() {
    auto* command = add("preflight", "Loads, creates and destroys a module, and reports each step.", "",
                        [this] { return serve_preflight(file_); });
    command->group("");
    command->add_option("file", file_)->required();
  }

  void add_migrate() {
    const auto text = example("  runyard migrate status --config conf/runyard.toml");
    auto* command = add("migrate", "Migrates the database to the current schema version.", text, [this] {
      if (forget_.module.empty()) return migrate(config_, action_, as_asked());
      forget_.as = as_asked();
      return forget_migration(config_, forget_);
    });
    add_config(command, config_);
    constexpr const char* as_json = "Print JSON";
    command->add_flag("--json", json_, as_json);
    auto* up = command->add_subcommand("up", "Applies pending migrations (default).");
    auto* status = command->add_subcommand("status", "Shows applied and pending migrations.");
    for (auto* sub : {up, status}) {
      sub->footer(text);
      add_config(sub, config_);
      sub->add_flag("--json", json_, as_json);
    }
    auto* forget = command->add_subcommand(
        "forget", "Removes the record of an applied migration, so that an older version of the module can start.");
    forget->footer(example(
        "  runyard migrate forget stock 0002 --config conf/runyard.toml\n"
        "The command asks for confirmation. It does not undo the changes that the migration made to the tables."));
    forget->add_option("module", forget_.module, "The module, or core")->required()->type_name("MODULE");
    forget->add_option("number", forget_.number, "Number or id of the migration, as `runyard migrate status` shows it")
        ->required()
        ->type_name("NUMBER");
    add_config(forget, config_);
    forget->add_flag("--json", json_, as_json);
    forget->add_flag("--yes", forget_.agreed, "Do not ask for confirmation");
    status->callback([this] { action_ = migrate_action::status; });
    command->require_subcommand(0, 1);
  }

  void add_token() {
    auto* command = add("token", "Creates a bearer token, signed with this deployment's own key.",
                        example("  export RUNYARD_TOKEN=$(runyard token --config conf/runyard.toml \\\n"
                                "      --subject 7d444840-9dc0-11d1-b245-5ffdce74fad2 --email ann@example.org)"),
                        [this] {
                          token_.as = as_asked();
                          return mint_token(config_, token_);
                        });
    add_config(command, config_);
    command->add_option("--subject", token_.subject, "Account id of the token")->required()->type_name("UUID");
    command->add_option("--email", token_.email, "The account's e-mail address")->type_name("E");
    command->add_option("--role", token_.role, "user, admin or super_admin; default user")->type_name("R");
    command->add_option("--ttl", token_.ttl_seconds, "Lifetime in seconds; default 86400")->type_name("S");
    command->add_flag("--json", json_, "Print an object with token, subject, role and expires_in");
  }

  void add_run() {
    auto* command = add("run", "Starts a run on a server and streams its answer to the terminal.",
                        example("  runyard run \"Summarise the attached file.\" --file report.csv\n"
                                "The answer is written to standard output, tool calls and notices to standard "
                                "error. If a call needs an approval, the command asks in the terminal; without "
                                "a terminal it prints the id of the approval and waits.",
                                run_exit_code_help),
                        [this] {
                          run_.as = json_ ? client::output::json_lines : client::output::text;
                          if (run_.token.empty()) {
                            std::fprintf(stderr,
                                         "runyard: a token is required: set --token or RUNYARD_TOKEN (see "
                                         "`runyard token --help`)\n");
                            return exit_code::refused;
                          }
                          return client::run(run_);
                        });
    run_.url = from_environment("RUNYARD_URL", "http://127.0.0.1:8080");
    run_.token = from_environment("RUNYARD_TOKEN", "");
    command->add_option("prompt", run_.prompt, "Task for the agent")->required()->type_name("PROMPT");
    command->add_option("--file", run_.files, "A file for the agent; may be repeated")
        ->type_name("F")
        ->allow_extra_args(false)
        ->take_all();
    command->add_option("--url", run_.url, "Server; default $RUNYARD_URL or http://127.0.0.1:8080");
    command->add_option("--token", run_.token, "Bearer token; default $RUNYARD_TOKEN");
    add_trust(command, run_.trust);
    command->add_option("--model", run_.model, "Model, e.g. runyard/basic");
    command->add_option("--thread", run_.thread, "Thread to continue")->type_name("UUID");
    command->add_option("--agent", run_.agent, "Agent other than the default one")->type_name("UUID");
    command->add_flag("--json", json_, "Print the response to the start request and each event as a line of JSON");
  }

  void add_mcp() {
    auto* command =
        app_.add_subcommand("mcp", "Lists or calls the tools of an MCP server through a running server, as agents do.");
    command->footer(
        example("  runyard mcp tools https://mcp.example.org/mcp --header \"Authorization: Bearer x\"\n"
                "  runyard mcp call http://127.0.0.1:3101/mcp --tool echo --arguments "
                "'{\"message\":\"hi\"}'\n"
                "Requires the token of an admin: runyard token --role admin ..."));
    command->require_subcommand(1);
    const auto ask = [this] {
      mcp_.as = json_ ? client::output::json_lines : client::output::text;
      if (mcp_.token.empty()) {
        std::fprintf(stderr, "runyard: the token of an admin is required: set --token or RUNYARD_TOKEN\n");
        return exit_code::refused;
      }
      return client::mcp(mcp_);
    };
    mcp_.url = from_environment("RUNYARD_URL", "http://127.0.0.1:8080");
    mcp_.token = from_environment("RUNYARD_TOKEN", "");
    for (const bool calls : {false, true}) {
      auto* sub = command->add_subcommand(calls ? "call" : "tools",
                                          calls ? "Calls a tool and prints its result." : "Lists the tools.");
      sub->footer(
          calls ? example("  runyard mcp call http://127.0.0.1:3101/mcp --tool echo --arguments "
                          "'{\"message\":\"hi\"}'")
                : example(
                      "  runyard mcp tools --command=npx --command=-y --command=@modelcontextprotocol/server-memory"));
      sub->add_option("server", mcp_.server, "URL of the MCP server")->type_name("URL");
      sub->add_option("--command", mcp_.command,
                      "Program on the server's machine with its arguments; must be the last option")
          ->type_name("PROGRAM...")
          ->expected(1, 100);
      sub->add_option("--type", mcp_.type, "Transport of the address: http (default) or sse")->type_name("T");
      sub->add_option("--header", mcp_.headers, "\"Name: value\" for the MCP server; may be repeated")
          ->type_name("H")
          ->allow_extra_args(false)
          ->take_all();
      sub->add_option("--url", mcp_.url, "Runyard server; default $RUNYARD_URL or http://127.0.0.1:8080");
      sub->add_option("--token", mcp_.token, "Bearer token of an admin; default $RUNYARD_TOKEN");
      add_trust(sub, mcp_.trust);
      sub->add_flag("--json", json_, "Print the complete response as JSON");
      if (calls) {
        sub->add_option("--tool", mcp_.tool, "Name of the tool")->required();
        sub->add_option("--arguments", mcp_.arguments, "JSON object; default {}");
      }
      sub->callback([this, ask] { chosen_ = ask; });
    }
  }

  void add_module() {
    auto* command = app_.add_subcommand("module", "Creates a project for a new module, or checks a module.");
    const auto new_example = example("  runyard module new --lang cpp --kind transport carrier_pigeon");
    command->footer(new_example);
    command->require_subcommand(1);
    auto* made = command->add_subcommand("new", "Creates a project that builds with the SDK alone.");
    made->footer(new_example);
    made->add_option("name", new_.name, "Name of the module: lowercase letters, digits and _")
        ->required()
        ->type_name("NAME");
    made->add_option("--lang", new_.lang, "Language: c, cpp or rust")->required()->type_name("L");
    made->add_option("--kind", new_.kind,
                     "Kind of project: module (default; an example with one route) or transport (an MCP transport)")
        ->type_name("K");
    made->add_option("--dir", new_.directory, "Directory of the project; default: NAME in the current directory")
        ->type_name("DIR");
    made->add_option("--templates", new_.templates, "Directory of templates; default: those of this installation")
        ->type_name("DIR");
    made->callback([this] { chosen_ = [this] { return write_new_module(new_); }; });
    auto* check = command->add_subcommand("check", "Tests a module, each test in a separate process.");
    check->footer(
        example("  runyard module check build/modules/carrier_pigeon.so --server '{\"url\": \"ws://127.0.0.1:3000\"}'\n"
                "prints one line per test, with the fix for each failure."));
    check->add_option("file", check_.file, "Module file (x.so)")->required()->type_name("FILE");
    check->add_option("--server", check_.server, "For transports: configuration of a reachable MCP server, as JSON")
        ->type_name("JSON");
    check->add_option("--with", check_.dependencies, "Module that the tested module requires; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->take_all();
    check->add_option("--only", check_.only, "Run only this test; may be repeated")
        ->type_name("TEST")
        ->allow_extra_args(false)
        ->take_all();
    check->add_option("--test", check_.test, "Run one test in this process, without its time limit")->type_name("TEST");
    check->add_flag("--json", json_, "Print one JSON object when all tests have ended");
    check->callback([this] {
      chosen_ = [this] {
        check_.as = as_asked();
        return check_module(check_);
      };
    });
  }

  void add_model() {
    auto* command = app_.add_subcommand("model", "Tests the configured language models.");
    const auto text = example(
        "  runyard model check runyard/basic --config conf/runyard.toml --json\n"
        "sends about ten short requests to the provider, which charges for them: text, streaming, one and\n"
        "two tool calls, an image, a truncated answer, a cancelled answer and a wrong key. It needs no\n"
        "running server and no database.",
        model_check_exit_code_help);
    command->footer(text);
    command->require_subcommand(1);
    auto* check = command->add_subcommand("check", "Sends test requests to a model and reports what works.");
    check->footer(text);
    check->add_option("model", model_.model, "Alias from runs.models, or provider/model")
        ->required()
        ->type_name("ALIAS");
    add_config(check, config_);
    check->add_option("--timeout", model_.timeout_seconds, "Seconds that one answer may take; default 60")
        ->type_name("S");
    check
        ->add_option("--total-timeout", model_.total_timeout_seconds,
                     "Seconds that all answers together may take; default five times --timeout")
        ->type_name("S");
    check->add_flag("--json", json_, "Print the report as one JSON object");
    check->callback([this] {
      chosen_ = [this] {
        model_.as = json_ ? format::json : format::text;
        return check_model(config_, model_);
      };
    });
  }

  CLI::App app_{"Runyard, a self-hosted server for agent runs.", "runyard"};
  std::function<exit_code()> chosen_;
  config_options config_;
  token_options token_;
  client::run_request run_;
  client::mcp_request mcp_;
  new_module new_;
  module_check check_;
  model_check_options model_;
  bool mail_ = false;
  mail_check_options mail_check_;
  client::module_request module_{from_environment("RUNYARD_URL", ""), {}, {}, {}};
  std::string file_, shell_;
  migrate_action action_ = migrate_action::up;
  forget_options forget_;
  bool json_ = false, show_ = false, limits_ = false, load_ = false, configured_ = false;
};

}  // namespace

exit_code run_command_line(int argc, char** argv) {
  try {
    return command_line().run(argc, argv);
  } catch (const db::failure& e) {
    std::fprintf(stderr, "runyard: %s\n", e.what());
    // Exit code `refused` keeps a service manager from restarting the server in a loop.
    if (e.error.reason == db::embedded_postgres::wrong_version) return exit_code::refused;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "runyard: %s\n", e.what());
  } catch (...) {
    std::fprintf(stderr, "runyard: an unknown error\n");
  }
  return exit_code::failed;
}

}  // namespace ry::app
