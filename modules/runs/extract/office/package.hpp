// Reads the parts and relationships of an Open Packaging Conventions package (docx, xlsx, pptx) or an OpenDocument
// package.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace extract {

// Part names are equal regardless of ASCII case (ECMA-376 part 2, 6.2.2.3). The normal form is lower case, with slashes
// only, without a leading slash, "." and "..", and with percent escapes decoded.
std::string normal_part_name(std::string_view name);
// The part that `target` refers to in a relationship of the part `source` (a normal name; empty: the package).
std::string resolve_part(std::string_view source, std::string_view target);

struct relationship {
  std::string id;
  std::string
      type;  // the last segment of the type's URI in lower case: "worksheet"; the same for transitional and strict documents
  std::string part;  // normal name
};

class package {
 public:
  // Reads the names of all members, the relationships, and the small parts that identify the type of the package.
  explicit package(std::string path);

  bool has(std::string_view part) const { return names_.contains(std::string(part)); }
  const std::set<std::string>& names() const { return names_; }  // normalized
  // In document order, without external targets.
  std::vector<relationship> relationships_of(std::string_view part) const;
  // The content of a part that the constructor or load() has read; nullptr: the part was not read.
  const std::string* part(std::string_view name) const;
  // Reads these parts unless they were requested before: unpacking an archive bomb repeatedly would take too long.
  void load(const std::set<std::string>& parts);
  // A sentence without a period; empty: everything was read.
  const std::string& problem() const { return problem_; }

 private:
  void read(const std::function<bool(const std::string&)>& wanted);
  std::string path_;
  std::set<std::string> names_, tried_;
  std::map<std::string, std::string, std::less<>> content_;
  std::string problem_;
};

// The first relationship of this type.
std::optional<std::string> related(const std::vector<relationship>& all, std::string_view type);

}  // namespace extract
