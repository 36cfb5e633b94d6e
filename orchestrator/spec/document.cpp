#include "orchestrator/spec/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace rematch::spec {

namespace {

constexpr int kMaxValues = 100'000;  // aliases of aliases can make a small file explode

enum class Positions { kFromMarks, kNone };

class Reader {
 public:
  Reader(std::string file_name, Positions positions) : file_name_(std::move(file_name)), positions_(positions) {}

  Value convert(const YAML::Node& node, const std::string& path) {
    Value value;
    value.place = place_of(node.Mark());
    if (++num_values_ > kMaxValues) {
      if (num_values_ == kMaxValues + 1) refuse(value.place, path, "more than " + std::to_string(kMaxValues) + " values in one file");
      return value;
    }
    if (node.IsScalar()) {
      value.shape = Shape::kScalar;
      value.text = node.Scalar();
      value.quoted = node.Tag() == "!";
    } else if (node.IsSequence()) {
      value.shape = Shape::kList;
      for (const auto& item : node) value.items.push_back(convert(item, path + "[" + std::to_string(value.items.size()) + "]"));
    } else if (node.IsMap()) {
      value.shape = Shape::kMap;
      for (const auto& pair : node) add_member(value, pair.first, pair.second, path);
    }
    return value;
  }

  Place place_of(const YAML::Mark& mark) const {
    if (positions_ == Positions::kNone || mark.is_null()) return {file_name_};
    return {file_name_, mark.line + 1, mark.column + 1};
  }

  void refuse(const Place& place, const std::string& path, const std::string& message) {
    problems.push_back(make_diagnostic(place, path, message));
  }

  std::vector<Diagnostic> problems;

 private:
  void add_member(Value& map, const YAML::Node& key, const YAML::Node& content, const std::string& path) {
    const Place place = place_of(key.Mark());
    if (!key.IsScalar()) return refuse(place, path, "a key must be a plain name");
    const std::string& name = key.Scalar();
    const std::string full = path.empty() ? name : path + "." + name;
    for (const auto& member : map.members) {
      if (member.key == name)
        return refuse(place, full, "written twice; first on line " + std::to_string(member.key_place.line) + "; keep one of them");
    }
    map.members.push_back({name, place, convert(content, full)});
  }

  std::string file_name_;
  Positions positions_;
  int num_values_ = 0;
};

// Keeps the place where a document starts, and nothing else of it.
class DocumentStart : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { place_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/, const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}

  const YAML::Mark& place() const { return place_; }

 private:
  YAML::Mark place_;
};

// Where the second document of `text` starts, if there is one. YAML::LoadAll never returns from a stray comma between documents,
// which yaml-cpp 0.7 reads as an empty document without ever passing it.
std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart first;
  DocumentStart second;
  if (!parser.HandleNextDocument(first) || !parser.HandleNextDocument(second)) return std::nullopt;
  return second.place();
}

Value* find_member(Value& map, const std::string& key) {
  const auto found = std::find_if(map.members.begin(), map.members.end(), [&](const Member& member) { return member.key == key; });
  return found == map.members.end() ? nullptr : &found->value;
}

void set_at(Value& map, const std::string& dotted_key, const Value& value) {
  const auto dot = dotted_key.find('.');
  const std::string key = dotted_key.substr(0, dot);
  Value* member = find_member(map, key);
  if (member == nullptr) member = &map.members.emplace_back(Member{key, value.place, {}}).value;
  if (dot == std::string::npos) {
    *member = value;
    return;
  }
  if (member->shape != Shape::kMap) {
    *member = Value{};
    member->shape = Shape::kMap;
    member->place = value.place;
  }
  set_at(*member, dotted_key.substr(dot + 1), value);
}

}  // namespace

Document read_document(const std::string& text, const std::string& file_name) {
  Reader reader(file_name, Positions::kFromMarks);
  Document document;
  document.root.shape = Shape::kMap;
  document.root.place = {file_name, 1, 1};
  try {
    const auto second = second_document(text);
    const YAML::Node root = YAML::Load(text);
    if (second) {
      reader.refuse(reader.place_of(*second), "", "one YAML document wanted, found another that starts here; keep one of them");
    } else if (!root.IsMap()) {
      reader.refuse(document.root.place, "", std::string("a map of sections wanted, starting with `schema: ") + kSweepSchema + "`");
    } else {
      document.root = reader.convert(root, "");
    }
  } catch (const YAML::Exception& error) {
    reader.refuse(reader.place_of(error.mark), "", "not valid YAML: " + error.msg);
  }
  document.problems = std::move(reader.problems);
  return document;
}

void apply_overrides(Document& document, const std::vector<Override>& overrides) {
  for (const auto& override : overrides) {
    Reader reader(override.origin + " " + override.key + "=" + override.value, Positions::kNone);
    try {
      const Value value = reader.convert(YAML::Load(override.value), override.key);
      if (reader.problems.empty()) set_at(document.root, override.key, value);
    } catch (const YAML::Exception& error) {
      reader.refuse(reader.place_of(error.mark), override.key, "not valid YAML: " + error.msg);
    }
    document.problems.insert(document.problems.end(), reader.problems.begin(), reader.problems.end());
  }
}

}  // namespace rematch::spec
