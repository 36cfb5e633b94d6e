// What is handed to Slurm: the batch script of a submission and the command that submits it. The script is thin: options, the sweep's own
// setup lines, then the runner (`rematch work`) in the shell's place, so that the signals of the batch shell reach the runner. Called by
// `plan` and by whoever submits; pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/spec/sweep.h"

namespace rematch::slurm {

// One submission. Paths are absolute and valid on every node.
struct BatchJob {
  std::string name;               // of job_name
  std::int64_t num_tasks = 1;     // elements of shape array; 1 for the others
  std::filesystem::path rematch;  // this program
  std::filesystem::path workspace;
  std::filesystem::path trainer;
  std::filesystem::path study;  // the study's folder
};

// "NAME-ID-NONCE", at most 64 characters, of letters, digits and "._-" only: safe in comma lists and in file names. A long study name is
// cut; id and nonce are kept whole. `study_id` and `nonce` together at most 60 characters.
std::string job_name(std::string_view study_name, std::string_view study_id, std::string_view nonce);

// Where Slurm writes what element `index` of an array prints; shapes other than array have StudyPaths::submission_output.
std::filesystem::path element_output(const std::filesystem::path& study, const std::string& name, std::int64_t index);

// Every option that sbatch gets, "--name=value" or "--name", in a fixed order and each once: what the sweep says outranks the defaults.
std::vector<std::string> sbatch_options(const spec::SlurmSpec& slurm, const BatchJob& job);

// Ends in a line break. A value with a line break is the caller's error: the sweep's parser lets none through.
std::string batch_script(const spec::SlurmSpec& slurm, const BatchJob& job);

// sbatch, --parsable, the same options as the script has, and the script. They are said twice, since variables such as SBATCH_PARTITION of
// the caller's environment outrank the lines of a script and not the command line.
std::vector<std::string> sbatch_command(const spec::SlurmSpec& slurm, const BatchJob& job, const std::filesystem::path& script);

}  // namespace rematch::slurm
