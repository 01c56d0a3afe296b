#include "package.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>
#include <utility>

#include "archive.hpp"
#include "xml.hpp"

namespace extract {
namespace {

std::string unescaped(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const int high = name[i] == '%' && i + 2 < name.size() ? ry::hex_value(name[i + 1]) : -1;
    const int low = high >= 0 ? ry::hex_value(name[i + 2]) : -1;
    out += low >= 0 ? static_cast<char>(high * 16 + low) : name[i];
    if (low >= 0) i += 2;
  }
  return out;
}

char normal_character(char c) {
  if (c == '\\') return '/';
  return ry::lower_ascii(c);
}

// "word/document.xml" -> "word/_rels/document.xml.rels"; "" -> "_rels/.rels"
std::string relationships_part(std::string_view part) {
  const std::size_t slash = part.rfind('/');
  const std::size_t at = slash == part.npos ? 0 : slash + 1;
  return std::string(part.substr(0, at)) + "_rels/" + std::string(part.substr(at)) + ".rels";
}

class relationship_reader final : public xml_handler {
 public:
  explicit relationship_reader(std::string_view source) : source_(source) {}
  std::vector<relationship> all;
  void begin(std::string_view name, const attributes& attrs) override {
    if (name != "Relationship" || attribute(attrs, "TargetMode") == "External") return;
    relationship r;
    r.id = attribute(attrs, "Id");
    const std::string type = attribute(attrs, "Type");
    r.type = type.substr(type.rfind('/') + 1);
    std::transform(r.type.begin(), r.type.end(), r.type.begin(), normal_character);
    r.part = resolve_part(source_, attribute(attrs, "Target"));
    all.push_back(std::move(r));
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}

 private:
  const std::string_view source_;
};

}  // namespace

std::string normal_part_name(std::string_view name) {
  std::string text = unescaped(name), out;
  std::transform(text.begin(), text.end(), text.begin(), normal_character);
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('/', from), text.size());
    const std::string_view segment = std::string_view(text).substr(from, end - from);
    from = end + 1;
    if (segment == "..") out.resize(out.rfind('/') == out.npos ? 0 : out.rfind('/'));
    if (segment.empty() || segment == "." || segment == "..") continue;
    if (!out.empty()) out += '/';
    out += segment;
  }
  return out;
}

std::string resolve_part(std::string_view source, std::string_view target) {
  target = target.substr(0, target.find('#'));
  const bool absolute = target.starts_with('/') || target.starts_with('\\');
  const std::size_t slash = source.rfind('/');
  const std::string folder(absolute || slash == source.npos ? std::string_view() : source.substr(0, slash + 1));
  return normal_part_name(folder + std::string(target));
}

package::package(std::string path) : path_(std::move(path)) {
  read([](const std::string& name) {
    return name.ends_with(".rels") || name == "[content_types].xml" || name == "mimetype" ||
           name == "meta-inf/manifest.xml";
  });
}

void package::read(const std::function<bool(const std::string&)>& wanted) {
  members found = read_zip(path_, [&](std::string_view raw) {
    std::string name = normal_part_name(raw);
    const bool take = wanted(name) && !content_.contains(name);
    names_.insert(std::move(name));
    return take;
  });
  for (auto& [name, content] : found.content) content_.emplace(normal_part_name(name), std::move(content));
  if (problem_.empty()) problem_ = std::move(found.problem);
}

void package::load(const std::set<std::string>& parts) {
  std::set<std::string> missing;
  for (const std::string& part : parts)
    if (names_.contains(part) && tried_.insert(part).second) missing.insert(part);
  if (!missing.empty()) read([&](const std::string& name) { return missing.contains(name); });
}

const std::string* package::part(std::string_view name) const {
  const auto found = content_.find(name);
  return found == content_.end() ? nullptr : &found->second;
}

std::vector<relationship> package::relationships_of(std::string_view source) const {
  const std::string* xml = part(relationships_part(source));
  if (xml == nullptr) return {};
  relationship_reader reader(source);
  parse_xml(*xml, reader);
  return std::move(reader.all);
}

std::optional<std::string> related(const std::vector<relationship>& all, std::string_view type) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const relationship& r) { return r.type == type; });
  return found == all.end() ? std::nullopt : std::optional(found->part);
}

}  // namespace extract
