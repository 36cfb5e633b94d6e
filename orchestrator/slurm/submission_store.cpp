#include "orchestrator/slurm/submission_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "schemas/protocol/record_file.h"

namespace rematch::slurm {

namespace fs = std::filesystem;

std::vector<protocol::Submission> SubmissionStore::all() const {
  std::vector<protocol::Submission> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(paths_.submissions(), none))
    if (entry.path().extension() == ".json") found.push_back(protocol::read_submission(entry.path()));
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

void SubmissionStore::put(const protocol::Submission& submission) const {
  fs::create_directories(paths_.submissions());
  protocol::write_file_by_rename(paths_.submission(submission.name), protocol::to_json(submission).dump(2) + "\n");
}

protocol::Submission SubmissionStore::update(const std::string& name, const std::function<void(protocol::Submission&)>& change) const {
  protocol::Submission submission = protocol::read_submission(paths_.submission(name));
  change(submission);
  put(submission);
  return submission;
}

void SubmissionStore::put_script(const std::string& name, const std::string& script) const {
  fs::create_directories(paths_.submissions());
  protocol::write_file_by_rename(paths_.submission_script(name), script);
}

}  // namespace rematch::slurm
