"""The golden reports in LaTeX: pdflatex compiles one by itself, and all of them taken into one document."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

GOLDEN = Path(os.environ["REMATCH_SOURCE_DIR"]) / "reports" / "golden"
DEADLINE_S = 50


@unittest.skipUnless(shutil.which("pdflatex"), "no pdflatex: install texlive-latex-base")
class LatexTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compile(self, name):
        done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name], cwd=self.folder, timeout=DEADLINE_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode(errors="replace")[-3000:])
        log = (self.folder / name).with_suffix(".log").read_text(errors="replace")
        for trouble in ("Missing character", "Undefined control", "LaTeX Font Warning"):
            self.assertFalse(trouble in log, f"{name}: {trouble}")
        return (self.folder / name).with_suffix(".pdf").stat().st_size

    def test_one_compiles_by_itself(self):
        shutil.copy(GOLDEN / "odd.tex", self.folder)
        self.assertGreater(self.compile("odd.tex"), 10_000)

    def test_a_document_takes_all_of_them_in(self):
        names = sorted(path.name for path in GOLDEN.glob("*.tex"))
        self.assertGreater(len(names), 9)
        inputs = "".join(f"\\input{{{GOLDEN / name}}}\n" for name in names)
        (self.folder / "all.tex").write_text("\\documentclass{article}\n\\usepackage{graphicx}\n\\usepackage{longtable}\n\\begin{document}\n" + inputs +
                                             "\\end{document}\n")
        self.assertGreater(self.compile("all.tex"), 30_000)


if __name__ == "__main__":
    unittest.main()
