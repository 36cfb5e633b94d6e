"""A headless Chromium for the tests of a file, driven by Selenium: every wait has a deadline, and no process of it is left."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.remote.remote_connection import RemoteConnection
except ImportError:
    webdriver = None

TIME_SCALE = int(os.environ.get("REMATCH_TEST_TIME_SCALE", 1))
PACKAGES = "Debian: apt-get install chromium chromium-driver python3-selenium fonts-dejavu-core"


def why_not():
    """None, or why no page can be opened here."""
    if webdriver is None:
        return f"python3 has no selenium; {PACKAGES}"
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"not installed: {', '.join(missing)}; {PACKAGES}" if missing else None


class Browser:
    """`with Browser() as browser:`; the profile is a temporary folder, by which its processes are told."""

    def __enter__(self):
        self.emulated = None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rematch-browser-"))
        options = Options()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", f"--user-data-dir={self.folder}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        RemoteConnection.set_timeout(60 * TIME_SCALE)
        try:
            self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
            self.driver.set_page_load_timeout(30 * TIME_SCALE)
            self.driver.set_script_timeout(30 * TIME_SCALE)
        except BaseException:
            self.end_processes()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.driver.quit()
        finally:
            self.end_processes()

    def processes(self):
        """Pids whose command line names this profile."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.fsencode(self.folder) in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue  # it ended meanwhile
        return found

    def end_processes(self):
        deadline = time.monotonic() + 10 * TIME_SCALE
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, path):
        self.messages()  # of the page before
        self.requests()
        self.driver.get(pathlib.Path(path).resolve().as_uri())

    def show(self, width, theme, media="screen"):
        """A window of this width in pixels, light or dark, on a screen or in print."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        emulated = {"media": media, "features": [{"name": "prefers-color-scheme", "value": theme}]}
        if emulated != self.emulated:
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", emulated)
        self.emulated = emulated

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def messages(self):
        """What the console says since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path):
        """Of the whole page, up to 8000 pixels of it."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        subprocess.run(["base64", "-d"], input=shot["data"].encode(), stdout=pathlib.Path(path).open("wb"), check=True, timeout=30)
