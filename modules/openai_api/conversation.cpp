#include "conversation.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "errors.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::size_t max_argument_depth = 32, max_files = 50;
constexpr std::string_view paragraph_break = "\n\n";

void join_text(std::string& to, std::string_view text) {
  if (text.empty()) return;
  if (!to.empty()) to += paragraph_break;
  to += text;
}

// The extension by which the stored file is recognized as an image.
std::string_view extension_of(std::string_view media_type) {
  if (media_type == "image/png") return ".png";
  if (media_type == "image/jpeg" || media_type == "image/jpg") return ".jpg";
  if (media_type == "image/gif") return ".gif";
  if (media_type == "image/webp") return ".webp";
  if (media_type == "application/pdf") return ".pdf";
  if (media_type == "text/plain") return ".txt";
  return "";
}

// Adds the files of a message to those of the start. Returns their names.
std::vector<std::string> take_files(std::vector<attachment>& from, std::vector<attachment>& to) {
  std::vector<std::string> names;
  for (attachment& f : from) {
    if (f.name.empty()) {
      const bool is_image = f.media_type.rfind("image/", 0) == 0;
      f.name = (is_image ? "image_" : "file_") + std::to_string(to.size() + 1);
      f.name += extension_of(f.media_type);
    }
    names.push_back(f.name);
    to.push_back(std::move(f));
  }
  from.clear();
  if (to.size() > max_files)
    throw invalid("", "A request can contain at most " + std::to_string(max_files) + " images and files");
  return names;
}

// Earlier messages cannot have files, so the files become a part of the new message, and the earlier one names them.
void move_files(std::string& text, std::vector<attachment>& from, std::vector<attachment>& to) {
  for (const std::string& name : take_files(from, to)) join_text(text, "[Attached to the last message: " + name + "]");
}

// The text of a stored message, whose content is a string or an array of parts.
std::string stored_text(const json::object& message) {
  const json::array* parts = module_json::array_at(message, "content");
  if (parts == nullptr) return module_json::text_of(message, "content");
  std::string out;
  for (const json::value& part : *parts)
    if (part.is_object()) join_text(out, module_json::text_at(part.get_object(), "text"));
  return out;
}

// An answer without calls.
bool is_final_answer(const json::object& message) {
  const json::array* calls = module_json::array_at(message, "tool_calls");
  return module_json::text_at(message, "role") == "assistant" && (calls == nullptr || calls->empty());
}

}  // namespace

std::set<std::string> runs_with_several_answers(const std::vector<json::object>& messages) {
  std::set<std::string> out;
  for (std::size_t i = 1; i < messages.size(); ++i) {
    const std::string run = module_json::text_of(messages[i], "agent_run_id");
    const bool same_run = run == module_json::text_at(messages[i - 1], "agent_run_id");
    if (same_run && is_final_answer(messages[i - 1]) && is_final_answer(messages[i])) out.insert(run);
  }
  return out;
}

void keep_output(std::vector<json::object>& messages, std::string_view run, std::string_view output) {
  const auto is_answer = [run](const json::object& m) {
    return module_json::text_at(m, "agent_run_id") == run && is_final_answer(m);
  };
  const auto last = std::find_if(messages.rbegin(), messages.rend(), is_answer);
  if (last == messages.rend()) return;
  (*last)["content"] = output;
  const auto rest = last.base() - 1;
  messages.erase(std::remove_if(messages.begin(), rest, is_answer), rest);
}

void conversation::add_system(std::string_view text) {
  join_text(system_, text);
}

void conversation::add_user(std::string text, std::vector<attachment> files) {
  turn t;
  t.text = std::move(text);
  t.files = std::move(files);
  turns_.push_back(std::move(t));
}

conversation::turn& conversation::assistant() {
  if (turns_.empty() || turns_.back().of != turn::role::assistant) {
    turns_.emplace_back();
    turns_.back().of = turn::role::assistant;
  }
  return turns_.back();
}

void conversation::add_assistant(std::string_view text) {
  join_text(assistant().text, text);
}

void conversation::add_call(std::string id, std::string name, std::string_view arguments, const std::string& path) {
  call c{std::move(id), std::move(name), {}};
  if (arguments.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    boost::system::error_code bad;
    json::value v = module_json::parse_exactly(arguments, max_argument_depth, bad);
    if (bad || !v.is_object())
      throw invalid(path + ".arguments", path + ".arguments must be the JSON text of an object", "invalid_json");
    c.arguments = std::move(v.as_object());
  }
  assistant().calls.push_back(std::move(c));
}

void conversation::add_output(std::string call_id, std::string text, std::vector<attachment> files) {
  turn t;
  t.of = turn::role::tool;
  t.call_id = std::move(call_id);
  t.text = std::move(text);
  t.files = std::move(files);
  turns_.push_back(std::move(t));
}

void conversation::add_stored(const json::object& message) {
  const std::string role = module_json::text_of(message, "role");
  if (role == "user") return add_user(stored_text(message));
  if (role == "tool") {
    add_output(module_json::text_of(message, "tool_call_id"), stored_text(message));
    turns_.back().failed = module_json::flag_at(message, "is_error");
    return;
  }
  if (role != "assistant") return;
  turn& t = assistant();
  join_text(t.text, stored_text(message));
  const json::array* calls = module_json::array_at(message, "tool_calls");
  if (calls == nullptr) return;
  for (const json::value& v : *calls) {
    if (!v.is_object()) continue;
    const json::object* arguments = module_json::object_at(v.get_object(), "arguments");
    t.calls.push_back({module_json::text_of(v.get_object(), "id"), module_json::text_of(v.get_object(), "name"),
                       arguments != nullptr ? *arguments : json::object()});
  }
}

void conversation::append(conversation other) {
  join_text(system_, other.system_);
  std::move(other.turns_.begin(), other.turns_.end(), std::back_inserter(turns_));
}

bool conversation::has_answers() const {
  return std::any_of(turns_.begin(), turns_.end(), [](const turn& t) { return t.of == turn::role::assistant; });
}

std::size_t conversation::begin_of_prompt() const {
  std::size_t begin = turns_.size();
  while (begin > 0 && turns_[begin - 1].of == turn::role::user) --begin;
  return begin;
}

std::string conversation::take_prompt(std::size_t begin, std::vector<attachment>& files) {
  std::string out;
  for (std::size_t i = begin; i < turns_.size(); ++i) {
    join_text(out, turns_[i].text);
    take_files(turns_[i].files, files);
  }
  return out;
}

json::array conversation::take_history(std::size_t end, std::vector<attachment>& files, const std::string& param) {
  json::array out;
  std::map<std::string, std::string> names;  // of the calls so far, by id
  for (std::size_t i = 0; i < end; ++i) {
    turn& t = turns_[i];
    move_files(t.text, t.files, files);
    json::object m;
    if (t.of == turn::role::user) m["role"] = "user";
    if (t.of == turn::role::assistant) {
      m["role"] = "assistant";
      json::array calls;
      for (call& c : t.calls) {
        names[c.id] = c.name;
        calls.push_back({{"id", c.id}, {"name", c.name}, {"arguments", std::move(c.arguments)}});
      }
      if (!calls.empty()) m["tool_calls"] = std::move(calls);
    }
    if (t.of == turn::role::tool) {
      const auto name = names.find(t.call_id);
      if (name == names.end())
        throw invalid(param, "No tool call found for function call output with call_id " + t.call_id + ".");
      m["role"] = "tool";
      m["tool_call_id"] = t.call_id;
      m["name"] = name->second;
      if (t.failed) m["is_error"] = true;
    }
    m["content"] = t.text;
    out.push_back(std::move(m));
  }
  return out;
}

start_input conversation::for_new_thread(const std::string& param) && {
  if (turns_.empty()) throw invalid(param, param + " must contain a message", "missing_required_parameter");
  if (turns_.back().of == turn::role::assistant)
    throw invalid(param, "The last message must be one of the user, or the output of a call");
  start_input out;
  const std::size_t begin = begin_of_prompt();
  json::array history = take_history(begin, out.files, param);
  std::string prompt = take_prompt(begin, out.files);
  if (prompt.find_first_not_of(" \t\r\n") == std::string::npos) prompt.clear();
  if (prompt.empty() && out.files.empty() && begin < turns_.size())
    throw invalid(param, "The last message must contain text, an image or a file");
  // runs/1 requires a prompt unless a history precedes it.
  if (prompt.empty() && begin < turns_.size()) prompt = "See the attached files.";
  if (!prompt.empty()) out.fields.emplace_back("prompt", std::move(prompt));
  if (!history.empty()) out.fields.emplace_back("history", json::serialize(history));
  return out;
}

start_input conversation::for_thread(const std::string& param) && {
  start_input out;
  json::array results;
  std::string prompt;
  for (turn& t : turns_) {
    if (t.of == turn::role::user) {
      join_text(prompt, t.text);
      take_files(t.files, out.files);
      continue;
    }
    move_files(t.text, t.files, out.files);
    results.push_back({{"tool_call_id", t.call_id}, {"content", t.text}});
  }
  const bool blank = prompt.find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank && results.empty() && out.files.empty())
    throw invalid(param, param + " must contain a message", "missing_required_parameter");
  if (!blank) out.fields.emplace_back("prompt", std::move(prompt));
  if (!results.empty()) out.fields.emplace_back("tool_results", json::serialize(results));
  return out;
}

}  // namespace openai_api
