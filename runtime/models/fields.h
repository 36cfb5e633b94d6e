// The fields that several families share, under Megatron's names: their descriptions, and what they come to. A family adds its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/models/field_reader.h"
#include "runtime/models/layer_stack.h"
#include "runtime/nn/activation.h"
#include "runtime/nn/gqa.h"
#include "runtime/nn/moe.h"
#include "schemas/protocol/describe.h"

namespace rematch::models {

using Fields = std::vector<protocol::FieldDescription>;

protocol::FieldDescription integer_field(const char* name, double minimum, const char* meaning);
protocol::FieldDescription number_field(const char* name, const char* meaning);
protocol::FieldDescription choice_field(const char* name, std::vector<std::string> allowed, const char* meaning);
// The same with a default.
protocol::FieldDescription optional_field(protocol::FieldDescription field, protocol::FieldValue default_value);
// The same with its value a multiple of the product of these options of the parallel section, or fields of the family.
protocol::FieldDescription multiple_of(std::vector<std::string> names, protocol::FieldDescription field);
protocol::FieldDescription flag_field(const char* name, const char* meaning);  // default: false
Fields joined_fields(std::initializer_list<Fields> groups);

Fields stack_fields();  // layers, residual stream, vocabulary, norms, dropout
Fields gqa_fields();
Fields moe_fields();
protocol::FieldDescription zero_centered_gamma_field();  // of the families whose every norm follows it
protocol::FieldDescription activation_field();           // default: swiglu

StackShape stack_shape(const FieldReader& field);
NormShape norm_shape(const FieldReader& field);
nn::Activation activation(const FieldReader& field);
// The following throw base::BadTrial.
nn::GqaShape gqa_shape(const FieldReader& field);
nn::MoeShape moe_shape(const FieldReader& field, nn::Activation activation);
double attention_dropout(const FieldReader& field);
// A list of one entry a layer, each 0 or 1; a longer list is cut to num_layers.
std::vector<bool> layer_flags(const FieldReader& field, const std::string& name);

}  // namespace rematch::models
