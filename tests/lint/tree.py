"""The tree as the lint tests see it: its root, and the files that belong to it."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(os.environ.get("REMATCH_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))


def tree_files():
    """Tracked files and untracked ones that git does not ignore; without git, everything outside build folders. Relative paths."""
    listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True)
    if listing.returncode == 0:
        names = [pathlib.PurePath(name) for name in listing.stdout.split("\0") if name]
    else:
        names = [path.relative_to(ROOT) for path in ROOT.rglob("*") if not path.relative_to(ROOT).parts[0].startswith(("build", ".git"))]
    return sorted(name for name in names if (ROOT / name).is_file())


def read_text(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")
