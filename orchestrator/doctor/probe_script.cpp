#include "orchestrator/doctor/probe_script.h"

#include "orchestrator/base/shell_text.h"

namespace rematch::doctor {

namespace {

using base::shell_quoted;

std::string exit_text(std::int64_t code) { return "exit " + std::to_string(code) + "\n"; }

}  // namespace

std::string probe_batch_script(const ProbeRequest& request, const std::filesystem::path& folder) {
  const std::string node_script = shell_quoted((folder / "node.sh").string());
  const std::string seen = "[ -r " + node_script + " ] || exit " + std::to_string(kFolderNotSeen);
  if (request.num_nodes == 1) return "#!/bin/sh\n" + seen + "\nexec sh " + node_script + "\n";
  const std::string nodes = std::to_string(request.num_nodes);
  return "#!/bin/sh\nexec srun --nodes=" + nodes + " --ntasks=" + nodes + " --ntasks-per-node=1 sh -c " +
         shell_quoted(seen + "; exec sh " + node_script) + "\n";
}

std::string probe_node_script(const ProbeRequest& request, const std::filesystem::path& folder, const std::string& sent) {
  const std::string trainer = request.trainer ? " --trainer " + shell_quoted(request.trainer->string()) : "";
  std::string script = "#!/bin/sh\nfolder=" + shell_quoted(folder.string()) + "\n";
  script +=
      "[ \"$(cat \"$folder/" + std::string(kSentFile) + "\" 2>/dev/null)\" = " + shell_quoted(sent) + " ] || " + exit_text(kFolderNotSeen);
  script +=
      "name=${SLURMD_NODENAME:-$(hostname)}\n"
      "answer=$folder/$name\n"
      ": >\"$answer.new\" || " +
      exit_text(kFolderNotWritable);
  script +=
      "tmp=$(mktemp -d \"${TMPDIR:-/tmp}/rematch-probe-XXXXXX\" 2>>\"$answer.err\")\n"
      "if [ -n \"$tmp\" ] && : >\"$tmp/file\"; then\n"
      "  echo \"temporary=${TMPDIR:-/tmp} on $(stat -f -c %T \"$tmp\")\" >>\"$answer.new\"\n"
      "fi\n"
      "[ -z \"$tmp\" ] || rm -rf \"$tmp\"\n";
  script += shell_quoted(request.rematch.string()) + " --workspace " + shell_quoted(request.workspace.string()) + trainer +
            " doctor --json >\"$answer.json\" 2>>\"$answer.err\"\n";
  script +=
      "echo \"code=$?\" >>\"$answer.new\"\n"
      "echo \"error=$(head -n 1 \"$answer.err\")\" >>\"$answer.new\"\n"
      "mv \"$answer.new\" \"$answer.answer\"\n";
  return script;
}

}  // namespace rematch::doctor
