#include "run_input.hpp"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/types.hpp>

#include "ids.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"

namespace agui {
namespace {

namespace json = boost::json;

constexpr std::size_t max_input_depth = 64, max_values = 500'000;
constexpr std::size_t max_id_bytes = 1024;
constexpr std::size_t max_messages = 10'000, max_files = 32, max_contexts = 1000;
constexpr std::size_t max_resume_entries = 100;
constexpr std::size_t max_base_bytes = 256 << 10;
// Limits of the fields of runs/1.
constexpr std::size_t max_history_bytes = (1 << 20) - 4096, max_history_messages = 1000;
constexpr std::size_t max_instructions_bytes = 64 << 10;

// Fields of a start that clients may set in forwardedProps.runyard.
constexpr std::string_view start_options[] = {
    "model_name",  "mode",  "memory_enabled",    "queue",           "on_busy", "budget_credits", "budget_policy",
    "temperature", "top_p", "max_output_tokens", "reasoning_effort"};

[[noreturn]] void fail(const std::string& path, std::string_view problem) {
  throw ry::http_error(422, RY_INVALID_ARGUMENT, "agui.invalid_input", path + " " + std::string(problem));
}

std::string at(const std::string& path, std::size_t i) {
  return path + "[" + std::to_string(i) + "]";
}

const json::object& object_of(const json::value& v, const std::string& path) {
  if (!v.is_object()) fail(path, "must be an object");
  return v.get_object();
}

const json::object& member_object(const json::object& o, const std::string& path, std::string_view key) {
  const json::object* out = module_json::object_at(o, key);
  if (out == nullptr) fail(path + std::string(key), "must be an object");
  return *out;
}

std::string required_text(const json::object& o, const std::string& path, std::string_view key) {
  const json::value* v = module_json::member_at(o, key);
  if (v == nullptr || !v->is_string()) fail(path + std::string(key), "must be a string");
  return module_json::text_of(o, key);
}

// nullptr: absent or null.
const json::array* optional_array(const json::object& o, const std::string& path, std::string_view key) {
  const json::value* v = module_json::member_at(o, key);
  if (v == nullptr || v->is_null()) return nullptr;
  if (!v->is_array()) fail(path + std::string(key), "must be an array");
  return &v->get_array();
}

std::string required_id(const json::object& o, std::string_view key) {
  std::string id = required_text(o, "", key);
  if (id.empty() || id.size() > max_id_bytes) fail(std::string(key), "must have 1 to 1024 bytes");
  return id;
}

struct message {
  std::size_t index = 0;  // in the body
  std::string id, role, text;
  const json::object* source = nullptr;
};

std::string extension_of(std::string_view media_type) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"image/png", "png"},  {"image/jpeg", "jpg"},      {"image/gif", "gif"}, {"image/webp", "webp"},
      {"text/plain", "txt"}, {"application/pdf", "pdf"}, {"text/csv", "csv"},  {"application/json", "json"},
      {"audio/mpeg", "mp3"}, {"audio/wav", "wav"},       {"video/mp4", "mp4"}, {"text/markdown", "md"}};
  for (const auto& [type, extension] : known)
    if (media_type == type) return std::string(extension);
  return "bin";
}

// Reads the content of user messages. Files are taken only from the message that becomes the prompt.
class content_reader {
 public:
  explicit content_reader(run_input& out) : out_(out) {}

  enum class files { none, taken };
  std::string text(const json::object& m, const std::string& path, files use) {
    const json::value* content = module_json::member_at(m, "content");
    if (content != nullptr && content->is_string()) return module_json::text_of(m, "content");
    if (content == nullptr || !content->is_array()) fail(path + ".content", "must be a string or an array of parts");
    std::string out;
    const json::array& parts = content->get_array();
    for (std::size_t i = 0; i < parts.size(); ++i)
      append_part(object_of(parts[i], at(path + ".content", i)), at(path + ".content", i), use, out);
    return out;
  }

 private:
  void append_line(std::string& out, std::string_view line) {
    if (!out.empty() && !line.empty()) out += '\n';
    out += line;
  }

  void append_part(const json::object& part, const std::string& path, files use, std::string& out) {
    const std::string type = required_text(part, path + ".", "type");
    if (type == "text") return append_line(out, required_text(part, path + ".", "text"));
    constexpr std::string_view media[] = {"image", "audio", "video", "document"};
    if (std::find(std::begin(media), std::end(media), type) == std::end(media)) return drop(path, type, use);
    const json::object& from = member_object(part, path + ".", "source");
    const std::string kind = required_text(from, path + ".source.", "type");
    if (kind == "url")
      return append_line(out, "[" + type + ": " + required_text(from, path + ".source.", "value") + "]");
    if (kind != "data") return drop(path, type, use);
    if (use == files::taken) add_file(part, from, path, type);
  }

  void drop(const std::string& path, const std::string& type, files use) {
    if (use == files::taken) out_.notices.push_back(path + ": this part (" + type + ") cannot be used and was ignored");
  }

  void add_file(const json::object& part, const json::object& from, const std::string& path, const std::string& type) {
    const std::string media_type = required_text(from, path + ".source.", "mimeType");
    std::optional<std::string> content = ry::base64_decode(module_json::text_at(from, "value"),
                                                           ry::base64_alphabet::standard, ry::base64_padding::optional);
    if (!content) fail(path + ".source.value", "must be Base64");
    if (out_.files.size() == max_files) fail(path, "exceeds the limit of 32 parts with inline data");
    std::string name;
    if (const json::object* metadata = module_json::object_at(part, "metadata"))
      name = module_json::text_of(*metadata, "filename");
    if (name.empty()) name = type + "-" + std::to_string(out_.files.size() + 1) + "." + extension_of(media_type);
    out_.files.push_back({std::move(name), media_type, std::move(*content)});
  }

  run_input& out_;
};

// The messages of the body, and what the start gets from them.
class conversation {
 public:
  conversation(const json::object& body, run_input& out) : out_(out), reader_(out) {
    const json::value* v = module_json::member_at(body, "messages");
    if (v == nullptr || !v->is_array()) fail("messages", "must be an array");
    const json::array& list = v->get_array();
    if (list.size() > max_messages) fail("messages", "must have at most 10000 messages");
    all_ = &list;
    for (std::size_t i = 0; i < list.size(); ++i) read(list[i], i);
  }

  const std::string& instructions() const { return instructions_; }

  void read_turn() {
    drop_output();
    if (!out_.attach_run.empty()) return keep_base(end_of(turns_.size()));
    if (turns_.empty()) fail("messages", "must contain a user message");
    std::size_t before = turns_.size();  // of the history
    if (turns_.back().role == "user") {
      --before;
      add_prompt(turns_.back());
    }
    const std::size_t results = add_results(before);
    if (before == turns_.size() && results == before)
      fail("messages", "must end with a user message or with results of the client's tools");
    if (std::string history = history_of(before == turns_.size() ? results : before); !history.empty())
      out_.fields.emplace_back(RY_RUN_FIELD_HISTORY, std::move(history));
    keep_base(all_->size());
  }

  // Of a request that continues a run.
  void read_resumed() {
    for (const message& m : turns_)
      if (m.role == "tool") out_.tool_messages.insert(m.id);
    if (!turns_.empty() && turns_.back().role == "user")
      out_.notices.push_back(at("messages", turns_.back().index) +
                             ": this message was not used, because the request continues a run");
    // The run's answers follow the newest user message, or results of the client's tools.
    std::size_t first = turns_.size();
    for (std::size_t i = turns_.size(); i > 0 && turns_[i - 1].role != "user"; --i) {
      if (turns_[i - 1].role != "assistant") continue;
      const std::string run = run_of_id(turns_[i - 1].id).value_or("");
      if (out_.answer_run.empty()) out_.answer_run = run;
      if (run.empty() || run != out_.answer_run) break;
      first = i - 1;
    }
    if (first < turns_.size()) keep_base(end_of(first));
  }

 private:
  void read(const json::value& v, std::size_t i) {
    const std::string path = at("messages", i);
    const json::object& m = object_of(v, path);
    message out{i, required_text(m, path + ".", "id"), required_text(m, path + ".", "role"), {}, &m};
    if (out.role == "system" || out.role == "developer") {
      const std::string text = required_text(m, path + ".", "content");
      if (!instructions_.empty() && !text.empty()) instructions_ += "\n\n";
      instructions_ += text;
    } else if (out.role == "user") {
      turns_.push_back(std::move(out));
    } else if (out.role == "assistant") {
      if (const json::value* content = module_json::member_at(m, "content");
          content != nullptr && !content->is_string() && !content->is_null())
        fail(path + ".content", "must be a string");
      out.text = module_json::text_of(m, "content");
      check_calls(m, path);
      turns_.push_back(std::move(out));
    } else if (out.role == "tool") {
      (void)required_text(m, path + ".", "toolCallId");
      turns_.push_back(std::move(out));
    } else if (out.role != "reasoning" && out.role != "activity") {
      fail(path + ".role", "is not a role of AG-UI");
    }
  }

  static void check_calls(const json::object& m, const std::string& path) {
    const json::array* calls = optional_array(m, path + ".", "toolCalls");
    for (std::size_t i = 0; calls != nullptr && i < calls->size(); ++i) {
      const std::string call_path = at(path + ".toolCalls", i);
      const json::object& call = object_of((*calls)[i], call_path);
      (void)required_text(call, call_path + ".", "id");
      const json::object& named = member_object(call, call_path + ".", "function");
      (void)required_text(named, call_path + ".function.", "name");
      (void)required_text(named, call_path + ".function.", "arguments");
    }
  }

  // A client whose connection broke sends what it has received of the run with its next request.
  void drop_output() {
    if (turns_.empty() || turns_.back().role != "assistant") return;
    const std::optional<std::string> run = run_of_id(turns_.back().id);
    if (!run) fail("messages", "must end with a user message or with results of the client's tools");
    while (!turns_.empty() && turns_.back().role != "user" && run_of_id(turns_.back().id) == run) turns_.pop_back();
    out_.attach_run = *run;
  }

  // The index in the body after the first n turns.
  std::size_t end_of(std::size_t n) const { return n == 0 ? 0 : turns_[n - 1].index + 1; }

  void add_prompt(const message& m) {
    std::string text = reader_.text(*m.source, at("messages", m.index), content_reader::files::taken);
    if (text.find_first_not_of(" \t\r\n") == text.npos) {
      if (out_.files.empty()) fail(at("messages", m.index) + ".content", "must not be empty");
      text = "See the attached files.";
    }
    out_.fields.emplace_back("prompt", std::move(text));
  }

  // Results that the server does not have: the client chose their ids. Returns the number of turns before
  // them.
  std::size_t add_results(std::size_t before) {
    std::size_t first = before;
    while (first > 0 && turns_[first - 1].role == "tool") --first;
    json::array results;
    std::size_t known = before;
    for (std::size_t i = first; i < before; ++i) {
      const message& m = turns_[i];
      const std::string call = module_json::text_of(*m.source, "toolCallId");
      if (m.id == tool_message_id(call)) continue;
      known = std::min(known, i);
      results.push_back(
          json::object{{"tool_call_id", stored_call_id(call)}, {"content", result_text(m)}, {"is_error", is_error(m)}});
    }
    if (!results.empty()) out_.fields.emplace_back(RY_RUN_FIELD_TOOL_RESULTS, json::serialize(results));
    return known;
  }

  std::string result_text(const message& m) {
    std::string text = reader_.text(*m.source, at("messages", m.index), content_reader::files::none);
    const std::string error = module_json::text_of(*m.source, "error");
    return text.empty() ? error : text;
  }
  static bool is_error(const message& m) { return !module_json::text_at(*m.source, "error").empty(); }

  // The newest of the first n turns within the limits of runs/1, beginning with a user message.
  std::string history_of(std::size_t n) {
    json::array newest_first;
    std::size_t bytes = 2, use = 0;
    for (std::size_t i = n; i > 0 && newest_first.size() < max_history_messages; --i) {
      json::object m = history_message(turns_[i - 1], i - 1);
      bytes += json::serialize(m).size() + 1;
      if (bytes > max_history_bytes) break;
      newest_first.push_back(std::move(m));
      if (turns_[i - 1].role == "user") use = newest_first.size();
    }
    if (use == 0) return {};
    json::array out;
    for (std::size_t i = use; i > 0; --i) out.push_back(std::move(newest_first[i - 1]));
    return json::serialize(out);
  }

  json::object history_message(const message& m, std::size_t position) {
    json::object out{{"role", m.role}};
    if (m.role == "user") {
      out["content"] = reader_.text(*m.source, at("messages", m.index), content_reader::files::none);
    } else if (m.role == "tool") {
      const std::string call = module_json::text_of(*m.source, "toolCallId");
      out["tool_call_id"] = stored_call_id(call);
      out["name"] = tool_name(call, position);
      out["content"] = result_text(m);
      out["is_error"] = is_error(m);
    } else {
      out["content"] = m.text;
      if (json::array calls = history_calls(*m.source); !calls.empty()) out["tool_calls"] = std::move(calls);
    }
    return out;
  }

  static json::array history_calls(const json::object& m) {
    json::array out;
    const json::array* calls = module_json::array_at(m, "toolCalls");
    if (calls == nullptr) return out;
    for (const json::value& v : *calls) {
      const json::object& call = v.get_object();
      const json::object& function = *module_json::object_at(call, "function");
      boost::system::error_code bad;
      json::value arguments =
          module_json::parse_exactly(module_json::text_at(function, "arguments"), max_input_depth, bad);
      if (bad || !arguments.is_object()) arguments = json::object();
      out.push_back(json::object{{"id", stored_call_id(module_json::text_at(call, "id"))},
                                 {"name", module_json::text_at(function, "name")},
                                 {"arguments", std::move(arguments)}});
    }
    return out;
  }

  // The tool of the nearest earlier call with this id.
  std::string tool_name(const std::string& call, std::size_t position) const {
    for (std::size_t i = position; i > 0; --i) {
      const json::array* calls = module_json::array_at(*turns_[i - 1].source, "toolCalls");
      for (std::size_t k = 0; calls != nullptr && k < calls->size(); ++k) {
        const json::object& c = (*calls)[k].get_object();
        if (module_json::text_at(c, "id") == call)
          return module_json::text_of(*module_json::object_at(c, "function"), "name");
      }
      if (turns_[i - 1].role == "assistant" && calls != nullptr) break;
    }
    return "tool";
  }

  void keep_base(std::size_t end) {
    json::array base;
    for (std::size_t i = 0; i < end; ++i) {
      const std::string_view role = module_json::text_at((*all_)[i].get_object(), "role");
      if (role != "reasoning" && role != "activity") base.push_back((*all_)[i]);
    }
    std::string text = json::serialize(base);
    if (text.size() <= max_base_bytes) out_.base_messages = std::move(text);
  }

  run_input& out_;
  content_reader reader_;
  const json::array* all_ = nullptr;
  std::vector<message> turns_;  // of the roles user, assistant and tool
  std::string instructions_;
};

void read_tools(const json::object& body, run_input& out) {
  const json::array* tools = optional_array(body, "", "tools");
  if (tools == nullptr || tools->empty()) return;
  json::array list;
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const std::string path = at("tools", i);
    const json::object& tool = object_of((*tools)[i], path);
    json::object copy{{"name", required_text(tool, path + ".", "name")},
                      {"description", required_text(tool, path + ".", "description")}};
    if (const json::value* parameters = module_json::member_at(tool, "parameters");
        parameters != nullptr && !parameters->is_null())
      copy["parameters"] = *parameters;
    list.push_back(std::move(copy));
  }
  out.fields.emplace_back(RY_RUN_FIELD_CLIENT_TOOLS, json::serialize(list));
}

// JSON text of the context, or empty.
std::string context_text(const json::object& body) {
  const json::array* context = optional_array(body, "", "context");
  if (context == nullptr || context->empty()) return {};
  if (context->size() > max_contexts) fail("context", "must have at most 1000 entries");
  json::array list;
  for (std::size_t i = 0; i < context->size(); ++i) {
    const std::string path = at("context", i);
    const json::object& entry = object_of((*context)[i], path);
    list.push_back(json::object{{"description", required_text(entry, path + ".", "description")},
                                {"value", required_text(entry, path + ".", "value")}});
  }
  return "Context of the application, as JSON:\n" + json::serialize(list);
}

void add_instructions(const std::string& system, const std::string& context, run_input& out) {
  std::string text = system;
  if (!text.empty() && !context.empty()) text += "\n\n";
  text += context;
  if (text.empty()) return;
  if (text.size() > max_instructions_bytes)
    fail("context", "and the system and developer messages together must have at most 64 KiB");
  out.fields.emplace_back(RY_RUN_FIELD_INSTRUCTIONS, std::move(text));
}

// The body of the decision of a resolved interrupt; see response_schema().
std::string decision_of(const json::object& entry, const std::string& path) {
  const json::object& payload = member_object(entry, path + ".", "payload");
  const json::value* approved = module_json::member_at(payload, "approved");
  if (approved == nullptr || !approved->is_bool()) fail(path + ".payload.approved", "must be a boolean");
  json::object out{{"decision", approved->get_bool() ? "approve" : "deny"}};
  const auto given = [&payload](std::string_view key) {
    const json::value* v = module_json::member_at(payload, key);
    return v != nullptr && v->is_null() ? nullptr : v;
  };
  if (const json::value* arguments = given("editedArgs"); arguments != nullptr && approved->get_bool()) {
    if (!arguments->is_object()) fail(path + ".payload.editedArgs", "must be an object");
    out["arguments"] = *arguments;
  }
  for (const std::string_view key : {"reason", "remember"}) {
    const json::value* v = given(key);
    if (v == nullptr) continue;
    if (!v->is_string()) fail(path + ".payload." + std::string(key), "must be a string");
    out[key] = *v;
  }
  return json::serialize(out);
}

void read_resume(const json::object& body, run_input& out) {
  const json::array* resume = optional_array(body, "", "resume");
  if (resume == nullptr) return;
  if (resume->size() > max_resume_entries) fail("resume", "must have at most 100 entries");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < resume->size(); ++i) {
    const std::string path = at("resume", i);
    const json::object& entry = object_of((*resume)[i], path);
    resume_entry read{path, required_text(entry, path + ".", "interruptId"), false, R"({"decision":"deny"})"};
    const std::optional<ry::uuid> id = ry::uuid::parse(read.approval);
    if (!id) fail(path + ".interruptId", "is not an interrupt of this thread");
    read.approval = id->to_string();
    if (!seen.insert(read.approval).second) fail(path + ".interruptId", "occurs twice");
    const std::string status = required_text(entry, path + ".", "status");
    if (status != "resolved" && status != "cancelled") fail(path + ".status", "must be resolved or cancelled");
    read.cancelled = status == "cancelled";
    if (!read.cancelled) read.decision = decision_of(entry, path);
    out.resume.push_back(std::move(read));
  }
}

// As in a form: numbers without an exponent.
std::string option_text(const json::value& v) {
  if (v.is_string()) return std::string(v.get_string().data(), v.get_string().size());
  if (!v.is_double()) return json::serialize(v);
  std::array<char, 400> buffer{};
  const auto [end, ec] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), v.get_double(), std::chars_format::fixed);
  return ec == std::errc() ? std::string(buffer.data(), end) : std::string();
}

void read_options(const json::object& body, run_input& out) {
  const json::object* props = module_json::object_at(body, "forwardedProps");
  const json::object* options = props != nullptr ? module_json::object_at(*props, "runyard") : nullptr;
  if (options == nullptr) return;
  for (const auto& member : *options) {
    const std::string name(std::string_view(member.key()));
    const std::string path = "forwardedProps.runyard." + name.substr(0, 64);
    if (std::find(std::begin(start_options), std::end(start_options), name) == std::end(start_options))
      fail(path, "is not a known option");
    const json::value& v = member.value();
    if (v.is_object() || v.is_array()) fail(path, "must be a string, a number or a boolean");
    if (v.is_null()) continue;
    out.fields.emplace_back(name, option_text(v));
  }
}

void check_optional_text(const json::object& body, std::string_view key) {
  const json::value* v = module_json::member_at(body, key);
  if (v != nullptr && !v->is_string() && !v->is_null()) fail(std::string(key), "must be a string");
}

}  // namespace

bool run_input::has(std::string_view field) const {
  return std::any_of(fields.begin(), fields.end(), [field](const auto& f) { return f.first == field; });
}

run_input read_run_input(std::string_view text, input_use use) {
  boost::system::error_code bad;
  const json::value v = module_json::parse_exactly(text, max_input_depth, bad, {}, max_values);
  if (bad) throw ry::bad_request("agui.malformed", "The body is not valid JSON within the limits");
  if (!v.is_object()) throw ry::bad_request("agui.malformed", "The body must be a JSON object");
  const json::object& body = v.get_object();
  run_input out;
  out.thread_id = required_id(body, "threadId");
  out.run_id = required_id(body, "runId");
  check_optional_text(body, "parentRunId");
  check_optional_text(body, "protocolVersion");
  out.outcomes = !module_json::text_at(body, "protocolVersion").empty();
  conversation messages(body, out);
  out.has_messages = !module_json::array_at(body, "messages")->empty();
  read_resume(body, out);
  read_tools(body, out);
  add_instructions(messages.instructions(), context_text(body), out);
  read_options(body, out);
  if (use != input_use::run) return out;
  if (out.resume.empty())
    messages.read_turn();
  else
    messages.read_resumed();
  return out;
}

}  // namespace agui
