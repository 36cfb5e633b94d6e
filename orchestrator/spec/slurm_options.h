// The options of Slurm that have a key in `launch` and a flag of the same name. A new one is one row. Pure.
#pragma once

#include <span>
#include <string>

namespace rematch::spec {

enum class SlurmForm {
  kText,    // handed to Slurm as it stands
  kCount,   // an integer from 1
  kSwitch,  // true or false
  kFlag,    // true, false or a word
};

struct SlurmOption {
  std::string name;  // as Slurm spells it, without dashes
  SlurmForm form = SlurmForm::kText;
  std::string meaning;    // for --help and the published schema
  std::string otherwise;  // what holds where it is not written; empty: Slurm's own default
};

std::span<const SlurmOption> slurm_options();

}  // namespace rematch::spec
