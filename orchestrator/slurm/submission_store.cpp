#include "orchestrator/slurm/submission_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"

namespace rematch::slurm {

namespace fs = std::filesystem;

namespace {

protocol::Submission read_document(const fs::path& path) {
  try {
    return protocol::read_submission(path);
  } catch (const protocol::DocumentError& problem) {
    throw protocol::DocumentError(std::string(problem.what()) + ". Restore it; where no job of its name is queued or runs (squeue -n " +
                                  path.stem().string() + "), it may be removed instead");
  }
}

// Only a folder that is not there has no documents: of one that cannot be listed nothing is known.
std::vector<fs::path> documents_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".json") paths.push_back(entry->path());
  if (error) throw fs::filesystem_error("cannot list the submissions", folder, error);
  return paths;
}

}  // namespace

std::vector<protocol::Submission> SubmissionStore::all() const {
  std::vector<protocol::Submission> found;
  for (const fs::path& path : documents_in(paths_.submissions())) found.push_back(read_document(path));
  std::sort(found.begin(), found.end(), [](const protocol::Submission& a, const protocol::Submission& b) {
    return std::pair(a.intent_unix_ns, a.name) < std::pair(b.intent_unix_ns, b.name);
  });
  return found;
}

std::vector<protocol::Submission> SubmissionStore::open() const {
  std::vector<protocol::Submission> found = all();
  std::erase_if(found, [](const protocol::Submission& submission) { return submission.close_unix_ns.has_value(); });
  return found;
}

protocol::Submission SubmissionStore::read(const std::string& name) const { return read_document(paths_.submission(name)); }

void SubmissionStore::put(const protocol::Submission& submission) const {
  fs::create_directories(paths_.submissions());
  protocol::write_file_by_rename(paths_.submission(submission.name), protocol::to_json(submission).dump(2) + "\n");
}

protocol::Submission SubmissionStore::update(const std::string& name, const std::function<void(protocol::Submission&)>& change) const {
  protocol::Submission submission = read(name);
  change(submission);
  put(submission);
  return submission;
}

void SubmissionStore::put_script(const std::string& name, const std::string& script) const {
  fs::create_directories(paths_.submissions());
  protocol::write_file_by_rename(paths_.submission_script(name), script);
}

}  // namespace rematch::slurm
