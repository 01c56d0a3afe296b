#include "core/app/cli/cli_pages.hpp"

#include <functional>
#include <vector>

#include "core/app/config/exit_code.hpp"

namespace ry::app {

namespace {

struct option_names {
  std::vector<std::string> all;  // "--config", "-h"
  std::string value;  // "FILE"; empty: a flag
  std::string about;
  bool is_file = false;
};

option_names names_of(const CLI::Option& o) {
  option_names out;
  for (const auto& n : o.get_snames()) out.all.push_back("-" + n);
  for (const auto& n : o.get_lnames()) out.all.push_back("--" + n);
  if (o.get_items_expected_max() > 0) out.value = o.get_type_name();
  out.about = o.get_description();
  out.is_file = out.value == "FILE" || out.value == "DIR";
  return out;
}

std::vector<option_names> options_of(const CLI::App& app) {
  std::vector<option_names> out;
  for (const auto* o : app.get_options())
    if (!o->get_group().empty()) out.push_back(names_of(*o));
  return out;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> out;
  for (const auto* c : app.get_subcommands({}))
    if (!c->get_group().empty()) out.push_back(c);
  return out;
}

// Every command, "" first, then "serve", "modules", "modules list", ...
void walk(const CLI::App& app, const std::string& path,
          const std::function<void(const CLI::App&, const std::string& path)>& visit) {
  visit(app, path);
  for (const auto* c : commands_of(app)) walk(*c, path.empty() ? c->get_name() : path + " " + c->get_name(), visit);
}

// ---- roff

std::string roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    // roff treats a line that begins with one of these as a request.
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

void add_options(std::string& out, const CLI::App& command) {
  for (const auto& o : options_of(command)) {
    std::string head;
    for (const auto& n : o.all) head += (head.empty() ? "" : ", ") + n;
    if (head.empty())
      head = o.value;
    else if (!o.value.empty())
      head += " " + o.value;
    out += ".TP\n.B " + roff(head) + "\n" + roff(o.about) + "\n";
  }
}

// ---- completions

std::string space_separated(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& one : all) out += (out.empty() ? "" : " ") + one;
  return out;
}

std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> out;
  for (const auto* c : commands_of(command)) out.push_back(c->get_name());
  for (const auto& o : options_of(command))
    for (const auto& n : o.all)
      if (n.starts_with("--")) out.push_back(n);
  return out;
}

std::string quoted(const std::string& text, const char* quote_inside) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? quote_inside : std::string(1, c);
  return out + "'";
}

// The branches of the shell's case statement: each known path, and the words that may follow it.
struct cases {
  std::string paths;  // `" serve"|" modules"|" modules list"`
  std::string follow;  // `    " modules") WORDS ;;`
  std::string files, values;  // options that take a file, or another value
};

cases cases_of(const CLI::App& app, const std::string& before, const std::string& after) {
  cases out;
  const auto add = [](std::string& to, const std::string& option) {
    if (("|" + to + "|").find("|" + option + "|") == std::string::npos) to += (to.empty() ? "" : "|") + option;
  };
  walk(app, "", [&](const CLI::App& command, const std::string& path) {
    const std::string key = path.empty() ? "" : " " + path;
    if (!key.empty()) out.paths += (out.paths.empty() ? "\"" : "|\"") + key + "\"";
    out.follow += "    \"" + key + "\") " + before + space_separated(words_of(command)) + after + " ;;\n";
    for (const auto& o : options_of(command))
      for (const auto& n : o.all)
        if (!o.value.empty()) add(o.is_file ? out.files : out.values, n);
  });
  return out;
}

std::string bash_script(const CLI::App& app) {
  const auto c = cases_of(app, "words='", "'");
  return "# bash completion for runyard\n"
         "_runyard() {\n"
         "  local at= words= word i cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    word=${COMP_WORDS[i]}\n"
         "    case \"$at $word\" in " +
         c.paths +
         ") at=\"$at $word\" ;; esac\n"
         "  done\n"
         "  case $previous in\n"
         "    " +
         c.files +
         ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
         "    " +
         c.values +
         ") return ;;\n"
         "  esac\n"
         "  case $at in\n" +
         c.follow +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  [[ ${#COMPREPLY[@]} -gt 0 || $cur == -* ]] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "}\n"
         "complete -o filenames -F _runyard runyard\n";
}

std::string zsh_script(const CLI::App& app) {
  const auto c = cases_of(app, "found=(", ")");
  return "#compdef runyard\n"
         "_runyard() {\n"
         "  local at= word\n"
         "  local -a found\n"
         "  for word in ${words[2,CURRENT-1]}; do\n"
         "    case \"$at $word\" in\n"
         "      (" +
         c.paths +
         ") at=\"$at $word\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case ${words[CURRENT-1]} in\n"
         "    (" +
         c.files +
         ") _files; return ;;\n"
         "    (" +
         c.values +
         ") return ;;\n"
         "  esac\n"
         "  case $at in\n" +
         c.follow +
         "  esac\n"
         "  compadd -- $found || _files\n"
         "}\n"
         "_runyard \"$@\"\n";
}

std::string fish_script(const CLI::App& app) {
  std::string out =
      "# fish completion for runyard\n"
      "function __runyard_at\n"
      "  set -l at\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$at $word\"\n";
  std::string paths;
  walk(app, "", [&](const CLI::App&, const std::string& path) {
    if (!path.empty()) paths += " ' " + path + "'";
  });
  out += "      case" + paths + "\n        set at \"$at $word\"\n    end\n  end\n  test \"$at\" = \"$argv[1]\"\nend\n";
  walk(app, "", [&](const CLI::App& command, const std::string& path) {
    const std::string key = path.empty() ? "" : " " + path;
    const std::string when = "complete -c runyard -n \"__runyard_at '" + key + "'\" ";
    for (const auto* c : commands_of(command))
      out += when + "-f -a " + c->get_name() + " -d " + quoted(c->get_description(), "\\'") + "\n";
    for (const auto& o : options_of(command))
      for (const auto& n : o.all)
        if (n.starts_with("--"))
          out += when +
                 (o.value.empty() ? ""
                  : o.is_file     ? "-r -F "
                                  : "-x ") +
                 "-l " + n.substr(2) + " -d " + quoted(o.about, "\\'") + "\n";
  });
  return out;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string out = ".TH RUNYARD 1 \"\" \"" + roff(version) + "\" \"User Commands\"\n.SH NAME\nrunyard \\- " +
                    roff(app.get_description()) + "\n.SH SYNOPSIS\n.B runyard\n.I COMMAND\n[options]\n.SH COMMANDS\n";
  walk(app, "", [&](const CLI::App& command, const std::string& path) {
    if (path.empty()) return;
    out += ".SS runyard " + roff(path) + "\n" + roff(command.get_description()) + "\n";
    add_options(out, command);
    if (const auto footer = command.get_footer(); !footer.empty()) out += ".PP\n.nf\n" + roff(footer) + ".fi\n";
  });
  out += ".SH EXIT STATUS\n.nf\n" + roff(all_exit_codes_help) + "\n.fi\n";
  out +=
      ".SH ENVIRONMENT\n"
      ".TP\n.B RUNYARD_CONFIG\nConfiguration file, if \\-\\-config is not given\n"
      ".TP\n.B RUNYARD_URL\nAddress of the server that the commands connect to\n"
      ".TP\n.B RUNYARD_TOKEN\nBearer token for that server\n"
      ".TP\n.B RUNYARD_SECTION__KEY\nOverrides one setting of the configuration, such as RUNYARD_HTTP__LISTEN\n"
      ".TP\n.B CURL_CA_BUNDLE, SSL_CERT_FILE\nCA certificates that verify servers (PEM), if \\-\\-ca\\-file is not given\n"
      ".SH FILES\n.TP\n.B /etc/runyard/runyard.toml, /etc/runyard/modules.d/*.toml\nThe configuration\n"
      ".TP\n.B /usr/share/doc/runyard/docs\nOperator guide\n";
  return out;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  return {};
}

}  // namespace ry::app
