"""HTML reports in a headless Chromium: nothing but the file is asked for, plots and tables can be read and used on every screen and in print."""
import contextlib
import json
import os
import pathlib
import sys
import unittest

import browser as browsers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))
from fake_study import ROOT, SWEEP, FakeStudy  # noqa: E402

CHECKS = (pathlib.Path(__file__).resolve().parent / "page_checks.js").read_text()
GOLDEN = sorted((ROOT / "reports" / "golden").glob("*.html"))
NUM_RICHEST = 2  # golden pages that are looked at everywhere: all share one style, so that others need not be
WIDTHS = (360, 768, 1440)
SHEET = 1040  # pixels of a sheet of paper that lies, without its margins
THEMES = ("light", "dark")
ENTER, SPACE, TAB = "\ue007", "\ue00d", "\ue004"
# A folder for pictures of the pages; none are made without it.
SCREENSHOTS = os.environ.get("REMATCH_SCREENSHOTS")

# So many arms and steps that plots of arms and the table of steps are folded away.
LABELS = ("core_attn", "layernorm", "mla_up_proj", "mlp", "moe", "moe_act")
LARGER_SWEEP = SWEEP.replace("train_iters: 6", "train_iters: 20").replace("labels: [moe_act, moe]", f"labels: [{', '.join(LABELS)}]")
FAKE = '{"rules":[{"arm":"mlp","do":"oom","stage":"first_backward","step":0}]}'

WHY_NOT = browsers.why_not()
stack = contextlib.ExitStack()
browser = None


def setUpModule():
    global browser
    if not WHY_NOT:
        browser = stack.enter_context(browsers.Browser())


def tearDownModule():
    profile = browser
    stack.close()
    if profile is not None and profile.processes():
        raise AssertionError(f"processes of the browser are left: {profile.processes()}")


@unittest.skipIf(WHY_NOT, f"no browser here: {WHY_NOT}")
class Pages(unittest.TestCase):
    maxDiff = None

    def look(self, *names):
        """What is wrong with the page that is open."""
        found = browser.script(CHECKS, list(names))
        self.assertEqual(set(found), set(names))
        return {name: problems for name, problems in found.items() if problems}

    def look_everywhere(self, path):
        browser.open(path)
        self.assertEqual(self.look("structure", "glyphs"), {})
        for width in WIDTHS:
            browser.show(width, "light")
            self.assertEqual(self.look("width"), {}, f"{width} pixels")
        self.assertEqual(self.look("contrast"), {}, "light")
        browser.show(WIDTHS[-1], "dark")
        self.assertEqual(self.look("contrast"), {}, "dark")
        browser.show(SHEET, "dark", "print")
        self.assertEqual(self.look("plots", "unfolded", "contrast", "width"), {}, "in print")
        self.expect_silence(path)
        if SCREENSHOTS:
            self.take_pictures(path)

    def look_once(self, path):
        """On the narrowest screen, where a page is widest for its window."""
        browser.open(path)
        browser.show(WIDTHS[0], "light")
        self.assertEqual(self.look("structure", "width"), {}, f"{WIDTHS[0]} pixels")
        browser.show(SHEET, "dark", "print")
        self.assertEqual(self.look("plots", "unfolded"), {}, "in print")
        self.expect_silence(path)

    def expect_silence(self, path):
        self.assertEqual(browser.messages(), [])
        self.assertEqual(browser.requests(), [pathlib.Path(path).resolve().as_uri()])

    def take_pictures(self, path):
        for width in WIDTHS:
            for theme in THEMES:
                browser.show(width, theme)
                browser.screenshot(pathlib.Path(SCREENSHOTS) / f"{pathlib.Path(path).stem}-{width}-{theme}.png")


class GoldenPages(Pages):
    def test_golden_reports_can_be_read_everywhere_and_ask_for_nothing(self):
        self.assertGreater(len(GOLDEN), NUM_RICHEST)
        by_size = sorted(GOLDEN, key=lambda path: path.stat().st_size, reverse=True)
        for path in by_size:
            with self.subTest(path.name):
                if path in by_size[:NUM_RICHEST] or SCREENSHOTS:
                    self.look_everywhere(path)
                else:
                    self.look_once(path)


class FakeStudyPages(Pages):
    @classmethod
    def setUpClass(cls):
        cls.study = FakeStudy(cls, LARGER_SWEEP)
        cls.ran = cls.study.run(fake=FAKE)
        cls.pages = {}
        for name, verb in {"report": ("report",), "show": ("show", "moe"), "compare": ("compare", "moe", "[]"), "diagnose": ("diagnose",)}.items():
            cls.pages[name] = cls.study.folder / f"{name}.html"
            cls.written = cls.study.rematch(*verb, "-f", "html", "-o", cls.pages[name])

    def test_every_verb_that_prints_a_report_writes_a_page_that_can_be_read(self):
        self.assertEqual(self.ran.returncode, 0, self.ran.stderr)
        for name, path in self.pages.items():
            with self.subTest(name):
                self.assertTrue(path.is_file(), self.written.stderr)
                if name == "report" or SCREENSHOTS:
                    self.look_everywhere(path)
                else:
                    self.look_once(path)

    def test_the_report_has_a_figure_for_each_plot_of_the_model(self):
        plots = json.loads(self.study.rows("SELECT plots FROM report")[0][0])
        self.assertGreater(len(plots), len(LABELS))
        browser.open(self.pages["report"])
        self.assertEqual(browser.script("return [...document.querySelectorAll('figure')].map(figure => figure.querySelector('title').textContent)"),
                         [plot["title"] for plot in plots])

    def test_what_is_folded_opens_for_printing_and_closes_after_it(self):
        browser.open(self.pages["report"])
        browser.show(WIDTHS[-1], "light")
        self.assertTrue(self.look("unfolded"))
        browser.script("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.look("unfolded"), {})
        browser.script("dispatchEvent(new Event('afterprint'))")
        self.assertTrue(self.look("unfolded"))


CELLS = """return [...document.querySelectorAll("table[data-key=arms] tbody tr")].map(row => {
  const cell = row.cells[arguments[0]];
  return [row.cells[0].textContent, cell.textContent, cell.dataset.v ?? null];
})"""
SORTED_AS = "return [...document.querySelectorAll('table[data-key=arms] thead th')].map(head => head.getAttribute('aria-sort'))"


class Sorting(Pages):
    def setUp(self):
        browser.open(ROOT / "reports" / "golden" / "pipeline.html")
        browser.show(WIDTHS[-1], "light")

    def press(self, key):
        browser.driver.switch_to.active_element.send_keys(key)

    def cells(self, column):
        return browser.script(CELLS, column)

    def tab_to(self, title):
        for _ in range(100):
            self.press(TAB)
            active = browser.driver.switch_to.active_element
            if active.tag_name == "button" and active.text.strip() == title:
                return
        self.fail(f"no button {title} is reached by the tabulator")

    def test_the_first_stop_of_the_keyboard_skips_to_the_content(self):
        self.press(TAB)
        link = browser.driver.switch_to.active_element
        self.assertEqual(link.get_attribute("hash"), "#main")
        self.assertEqual(browser.script("return document.activeElement.getBoundingClientRect().left >= 0"), True)

    def test_a_column_of_numbers_is_sorted_by_keyboard_and_its_first_order_comes_back(self):
        column = browser.script("return [...document.querySelectorAll('table[data-key=arms] thead th')]"
                                ".findIndex(head => head.dataset.key === 'peak_allocated_bytes')")
        first = self.cells(column)
        values = sorted(float(raw) for _, _, raw in first if raw is not None)
        self.assertGreater(len(set(values)), 1)
        self.assertLess(len(values), len(first), "some arms have no figure")
        self.tab_to("peak allocated")
        for key, order, expected in ((ENTER, "ascending", values), (SPACE, "descending", values[::-1])):
            self.press(key)
            raws = [raw for _, _, raw in self.cells(column)]
            self.assertEqual([float(raw) for raw in raws[:len(values)]], expected)
            self.assertEqual(set(raws[len(values):]), {None}, "what was not measured stands last")
            self.assertEqual([word for word in browser.script(SORTED_AS) if word], [order])
            self.assertEqual(browser.script(SORTED_AS)[column], order)
        self.press(ENTER)
        self.assertEqual(self.cells(column), first)
        self.assertEqual(set(browser.script(SORTED_AS)), {None})

    def test_every_column_of_every_table_keeps_its_rows_and_puts_what_is_missing_last(self):
        wrong = browser.script("""
          const wrong = [];
          for (const table of document.querySelectorAll("table"))
            [...table.querySelectorAll("thead button")].forEach((button, column) => {
              const rows = () => [...table.tBodies[0].rows];
              const before = rows();
              for (const press of [1, 2, 3]) {
                button.click();
                const missing = rows().map(row => row.cells[column].classList.contains("m"));
                const first = missing.indexOf(true);
                if (press < 3 && first >= 0 && missing.slice(first).includes(false)) wrong.push(`${table.dataset.key} ${button.textContent}: missing`);
                if (rows().length !== before.length) wrong.push(`${table.dataset.key}: rows are lost`);
              }
              if (rows().some((row, i) => row !== before[i])) wrong.push(`${table.dataset.key} ${button.textContent}: order`);
            });
          return wrong;""")
        self.assertEqual(wrong, [])


class TheChecks(Pages):
    """Each check finds what it is for."""

    def test_find_what_they_are_for(self):
        browser.open(ROOT / "reports" / "golden" / "clean.html")
        browser.show(WIDTHS[-1], "light")
        self.assertEqual(self.look("contrast", "width", "structure", "plots"), {})
        browser.script("""
          document.querySelector("h2").style.color = "#aaa";
          document.querySelector("h1").style.width = "2000px";
          document.querySelectorAll("h2")[1].outerHTML = "<h4>deep</h4>";
          const [a, b] = [...document.querySelector("figure svg").querySelectorAll("text")].slice(-2);
          b.setAttribute("x", a.getAttribute("x"));
          b.setAttribute("y", a.getAttribute("y"));
          document.querySelectorAll("figure path")[0].setAttribute("d", "M0 0h2000");""")
        found = self.look("contrast", "width", "structure", "plots")
        self.assertEqual(set(found), {"contrast", "width", "structure", "plots"})
        self.assertTrue(any("on each other" in problem for problem in found["plots"]), found["plots"])
        self.assertTrue(any("outside" in problem for problem in found["plots"]), found["plots"])

    def test_the_page_lets_nothing_be_fetched_and_the_console_says_so(self):
        browser.open(ROOT / "reports" / "golden" / "empty.html")
        browser.script("const image = new Image(); image.src = 'http://127.0.0.1:9/picture.png'; document.body.append(image)")
        self.assertIn("Content Security Policy", " ".join(browser.messages()))


if __name__ == "__main__":
    unittest.main()
