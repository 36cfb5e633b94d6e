#include "schemas/protocol/field_rules.h"

#include <algorithm>
#include <utility>

#include "schemas/protocol/factors.h"
#include "schemas/protocol/find_field.h"

namespace rematch::protocol {

namespace {

std::optional<std::int64_t> integer_of(const FieldMap& fields, const std::string& name) {
  const auto* integer = find_field<std::int64_t>(fields, name);
  return integer == nullptr ? std::nullopt : std::optional(*integer);
}

struct Operand {
  std::string key;  // "parallel.<option>" or "model.<field>"
  Factor factor;
};

std::optional<Operand> operand_of(const std::string& name, const FieldMap& fields, const ParallelSpec& spec) {
  if (const auto option = parallel_option(spec, name)) return Operand{"parallel." + name, {name, *option}};
  if (const auto field = integer_of(fields, name)) return Operand{"model." + name, {name, *field}};
  return std::nullopt;
}

FieldProblem make_problem(const Factor& field, const std::vector<Operand>& operands, const std::string& rule) {
  FieldProblem problem{field.name, {}, ""};
  std::vector<Factor> factors;
  for (const Operand& operand : operands) {
    problem.others.push_back(operand.key);
    factors.push_back(operand.factor);
  }
  problem.message = field.name + " must be " + rule + " " + product_text(factors) + "; found " + std::to_string(field.size);
  return problem;
}

struct Model {
  const FieldMap& fields;
  const ParallelSpec& spec;
};

void check_multiple(const Model& model, const FieldDescription& field, std::int64_t value, std::vector<FieldProblem>& problems) {
  std::vector<Operand> operands;
  std::vector<Factor> factors;
  for (const std::string& name : field.multiple_of) {
    const auto operand = operand_of(name, model.fields, model.spec);
    if (!operand || operand->factor.size <= 1) continue;
    operands.push_back(*operand);
    factors.push_back(operand->factor);
  }
  if (!divides_all(value, factors)) problems.push_back(make_problem({field.name, value}, operands, "a multiple of"));
}

void check_at_most(const Model& model, const FieldDescription& field, std::int64_t value, std::vector<FieldProblem>& problems) {
  if (!field.at_most) return;
  const auto operand = operand_of(*field.at_most, model.fields, model.spec);
  if (operand && value > operand->factor.size) problems.push_back(make_problem({field.name, value}, {*operand}, "at most"));
}

}  // namespace

std::optional<std::int64_t> parallel_option(const ParallelSpec& spec, const std::string& name) {
  const std::pair<const char*, std::int64_t> options[] = {
      {"world_size", spec.world_size},
      {"tensor_model_parallel_size", spec.tensor_model_parallel_size},
      {"pipeline_model_parallel_size", spec.pipeline_model_parallel_size},
      {"context_parallel_size", spec.context_parallel_size},
      {"expert_model_parallel_size", spec.expert_model_parallel_size},
      {"expert_tensor_parallel_size", spec.expert_tensor_parallel_size},
      {"virtual_pipeline_model_parallel_size", spec.virtual_pipeline_model_parallel_size.value_or(1)}};
  for (const auto& [option, size] : options)
    if (option == name) return size;
  return std::nullopt;
}

std::vector<FieldProblem> field_problems(const FamilyDescription& family, const FieldMap& fields, const ParallelSpec& spec) {
  std::vector<FieldProblem> problems;
  for (const FieldDescription& field : family.fields) {
    const auto value = integer_of(fields, field.name);
    if (!value) continue;
    check_multiple({fields, spec}, field, *value, problems);
    check_at_most({fields, spec}, field, *value, problems);
  }
  return problems;
}

std::vector<UnsplitKinds> unsplit_kinds(const FamilyDescription& family, const FieldMap& fields, const ParallelSpec& spec) {
  std::vector<UnsplitKinds> found;
  const LayerKinds layers = layer_kinds(family, fields);
  for (const auto& [option, kinds] : family.unsplit_kinds) {
    const std::int64_t degree = parallel_option(spec, option).value_or(1);
    if (degree == 1) continue;
    UnsplitKinds row{option, degree, {}};
    for (const std::string& kind : kinds)
      if (std::find(layers.of_layer.begin(), layers.of_layer.end(), kind) != layers.of_layer.end()) row.kinds.push_back(kind);
    if (!row.kinds.empty()) found.push_back(std::move(row));
  }
  return found;
}

}  // namespace rematch::protocol
