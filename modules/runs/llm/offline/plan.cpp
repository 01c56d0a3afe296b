#include "plan.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <optional>
#include <ry/cpp/text.hpp>

#include "request.hpp"

namespace offline {

namespace json = boost::json;
using llm::array_at;
using llm::object_at;
using llm::text_at;

namespace {

constexpr std::string_view introduction =
    "I am Runyard's offline substitute, not a language model: I follow fixed rules and do not understand text.";
constexpr std::string_view setup_hint =
    "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or configure runs.providers, for answers of a real "
    "model.";

struct attachment {
  std::string name, size, path;
};

// Lines of the form "[Attached: <name> (<size>) -> <path>]".
std::vector<attachment> attachments_of(std::string_view text) {
  constexpr std::string_view open = "[Attached: ";
  std::vector<attachment> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with(open) || !line.ends_with(']')) continue;
    line.remove_prefix(open.size());
    line.remove_suffix(1);
    const auto arrow = line.rfind(" -> ");
    if (arrow == std::string_view::npos) continue;
    const auto left = line.substr(0, arrow);
    const auto paren = left.rfind(" (");
    if (paren == std::string_view::npos || !left.ends_with(')')) continue;
    out.push_back({std::string(left.substr(0, paren)), std::string(left.substr(paren + 2, left.size() - paren - 3)),
                   std::string(line.substr(arrow + 4))});
  }
  return out;
}

std::string extension(std::string_view name) {
  const auto dot = name.rfind('.');
  std::string out = ry::lower_ascii(dot == std::string_view::npos ? "" : name.substr(dot + 1));
  return out;
}

// The path of an attachment's text; empty if it has none.
std::string readable_path(const attachment& a) {
  constexpr std::string_view extracted[] = {"pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp"};
  constexpr std::string_view binary[] = {"png",  "jpg", "jpeg", "gif",   "webp", "bmp",    "tif", "tiff", "ico",
                                         "heic", "zip", "gz",   "tgz",   "bz2",  "xz",     "7z",  "rar",  "tar",
                                         "mp3",  "mp4", "wav",  "ogg",   "mov",  "avi",    "exe", "so",   "dll",
                                         "bin",  "iso", "woff", "woff2", "ttf",  "sqlite", "doc", "xls",  "ppt"};
  const auto e = extension(a.name);
  if (std::find(std::begin(binary), std::end(binary), e) != std::end(binary)) return {};
  if (std::find(std::begin(extracted), std::end(extracted), e) == std::end(extracted)) return a.path;
  const auto slash = a.path.rfind('/');
  const auto split = slash == std::string::npos ? 0 : slash + 1;
  return a.path.substr(0, split) + ".text/" + a.path.substr(split) + ".txt";
}

const json::object* tool_named(const json::object& request, std::string_view name) {
  if (const auto* tools = array_at(request, "tools"))
    for (const auto& t : *tools)
      if (t.is_object() && text_at(t.get_object(), "name") == name) return &t.get_object();
  return nullptr;
}

// The parameter to use: the usual name if the schema has it, otherwise the first required one.
std::string parameter_of(const json::object& tool, std::string_view usual) {
  const auto* schema = object_at(tool, "parameters");
  const auto* properties = schema ? object_at(*schema, "properties") : nullptr;
  if (!properties || properties->contains(usual)) return std::string(usual);
  if (const auto* required = array_at(*schema, "required"))
    for (const auto& r : *required)
      if (r.is_string()) return std::string(r.get_string());
  return std::string(usual);
}

struct result {
  std::string name, argument, content;
  bool is_error = false;
};

// The conversation, beginning with the last user message.
struct turn {
  std::string prompt;
  std::vector<result> results;
  std::size_t calls_before = 0;  // in the complete conversation
};

turn read_turn(const json::array& messages) {
  turn t;
  std::size_t last = messages.size();
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (text_at(messages[i].get_object(), "role") == "user") last = i;
  if (last == messages.size()) throw llm::bad_request("no message is the user's");
  t.prompt = llm::content_text(messages[last].get_object());
  struct pending_call {
    std::string id, name, argument;
  };
  std::vector<pending_call> pending_calls;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& m = messages[i].get_object();
    const auto role = text_at(m, "role");
    if (const auto* calls = array_at(m, "tool_calls"); calls && role == "assistant")
      for (const auto& c : *calls) {
        ++t.calls_before;
        if (i < last || !c.is_object()) continue;
        const auto& call = c.get_object();
        pending_call a{std::string(text_at(call, "id")), std::string(text_at(call, "name")), {}};
        if (const auto* args = object_at(call, "arguments"))
          for (const auto& [key, value] : *args)
            if (value.is_string() && a.argument.empty()) a.argument = value.get_string();
        pending_calls.push_back(std::move(a));
      }
    if (role == "tool" && i > last) {
      const auto id = text_at(m, "tool_call_id");
      const auto it =
          std::find_if(pending_calls.begin(), pending_calls.end(), [&](const pending_call& a) { return a.id == id; });
      t.results.push_back({it == pending_calls.end() ? std::string(text_at(m, "name")) : it->name,
                           it == pending_calls.end() ? std::string() : it->argument, llm::content_text(m),
                           llm::flag_at(m, "is_error")});
    }
  }
  return t;
}

std::size_t count_words(std::string_view s) {
  std::size_t n = 0;
  bool inside = false;
  for (const char c : s) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank && !inside) ++n;
    inside = !blank;
  }
  return n;
}

std::size_t count_lines(std::string_view s) {
  if (s.empty()) return 0;
  return static_cast<std::size_t>(std::count(s.begin(), s.end(), '\n')) + (s.back() != '\n');
}

std::string number(std::size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

// The first `lines` lines as a quotation, each truncated to a readable length.
std::string quote(std::string_view text, std::size_t lines) {
  std::string out;
  for (std::size_t i = 0; i < lines && !text.empty(); ++i) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.size() > 160) {
      std::size_t n = 160;
      while (n > 0 && (static_cast<unsigned char>(line[n]) & 0xc0) == 0x80) --n;
      out += "> " + std::string(line.substr(0, n)) + "...\n";
    } else {
      out += "> " + std::string(line) + "\n";
    }
  }
  if (!text.empty()) out += "> ...\n";
  return out;
}

// The command of a line "run: <command>".
std::optional<std::string> command_of(std::string_view prompt) {
  while (!prompt.empty()) {
    const auto end = prompt.find('\n');
    auto line = prompt.substr(0, end);
    prompt.remove_prefix(end == std::string_view::npos ? prompt.size() : end + 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (!line.starts_with("run:") && !line.starts_with("Run:")) continue;
    line.remove_prefix(4);
    while (line.starts_with(' ')) line.remove_prefix(1);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (!line.empty()) return std::string(line);
  }
  return std::nullopt;
}

bool has_result(const turn& t, std::string_view name, std::string_view argument) {
  return std::any_of(t.results.begin(), t.results.end(),
                     [&](const result& r) { return r.name == name && r.argument == argument; });
}

tool_call call_of(const turn& t, std::size_t n, const json::object& tool, std::string_view usual,
                  std::string_view argument) {
  const json::object args{{parameter_of(tool, usual), argument}};
  return {"offline_" + std::to_string(t.calls_before + n + 1), std::string(text_at(tool, "name")),
          json::serialize(args)};
}

void report_file(std::string& out, const attachment& a, const result& r) {
  out += "\n" + a.name + " (" + a.size + "):";
  if (r.is_error) {
    out += " it could not be read.\n" + quote(r.content, 3);
    return;
  }
  out += " " + number(count_lines(r.content), "line", "lines") + ", " +
         number(count_words(r.content), "word", "words") + ". It begins:\n" + quote(r.content, 3);
}

}  // namespace

plan make_plan(std::string_view neutral_json) {
  const auto request = llm::parse_request(neutral_json);
  const turn t = read_turn(*array_at(request, "messages"));
  const auto files = attachments_of(t.prompt);
  const auto* reader = tool_named(request, "read_file");
  const auto* shell = tool_named(request, "shell");
  const auto command = command_of(t.prompt);

  plan p;
  if (reader) {
    for (const auto& f : files) {
      const auto path = readable_path(f);
      if (path.empty() || has_result(t, "read_file", path)) continue;
      p.calls.push_back(call_of(t, p.calls.size(), *reader, "path", path));
    }
    if (!p.calls.empty()) {
      p.text = "Reading " + number(p.calls.size(), "attached file", "attached files") + ".";
      return p;
    }
  }
  if (shell && command && !has_result(t, "shell", *command)) {
    p.calls.push_back(call_of(t, 0, *shell, "command", *command));
    p.text = "Running the command in the sandbox.";
    return p;
  }

  p.text = std::string(introduction) + "\n";
  for (const auto& f : files) {
    const auto path = readable_path(f);
    const auto it = std::find_if(t.results.begin(), t.results.end(), [&](const result& r) {
      return !path.empty() && r.name == "read_file" && r.argument == path;
    });
    if (it != t.results.end())
      report_file(p.text, f, *it);
    else
      p.text += "\n" + f.name + " (" + f.size + "): not read, " +
                (path.empty() ? "it is not text" : "there is no tool for it") + ".\n";
  }
  for (const auto& r : t.results)
    if (r.name == "shell")
      p.text += std::string("\nThe command ") + (r.is_error ? "failed" : "gave") + ":\n" + quote(r.content, 20);
  if (files.empty() && t.results.empty()) {
    p.text += "\nYou wrote " + number(count_words(t.prompt), "word", "words") + ":\n" + quote(t.prompt, 3);
  }
  p.text += "\n" + std::string(setup_hint);
  return p;
}

std::vector<std::string_view> split_into_chunks(std::string_view text, std::size_t size) {
  std::vector<std::string_view> out;
  size = std::max<std::size_t>(size, 1);
  while (text.size() > size) {
    std::size_t n = text.rfind(' ', size - 1);
    n = n == std::string_view::npos || n < size / 2 ? size : n + 1;
    while (n < text.size() && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) ++n;
    out.push_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  if (!text.empty()) out.push_back(text);
  return out;
}

}  // namespace offline
