"""The web application as the privacy officer's tutorial walks through it, photographed where there is a browser.

A server of its own in a temporary folder, the built-in example, and the clicks that the tutorial names.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PICTURES = {
    "web-data": "The page of a table that was read: its columns, its first rows, and how many people are singled out",
    "web-columns": "The page on which each column gets its role, and the people who are singled out are counted",
    "web-recommend": "The recommendation: what was tried, on one frontier, and what is recommended",
    "web-result": "The result of a release: the verdict first, then what an attacker gets",
}
WAIT = 180_000.0  # milliseconds: a machine may be busy
KNOWN = ("age", "sex", "education", "marital_status")
ROLES = {**dict.fromkeys(KNOWN, "quasi_identifiers"), "income": "sensitive"}


def make(folder: Path) -> None:
    """Write the photographs; none where there is no browser, or nothing to drive it."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        print("No browser: the tutorial of the privacy officer has no photographs.", file=sys.stderr)
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as workspace:
        command = [sys.executable, "-m", "undercover", "serve", "--no-browser", "--port", "0", "--workspace", workspace]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                assert server.stdout is not None
                address = server.stdout.readline().split()[-1]
                with sync_playwright() as playwright:
                    arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
                    window = playwright.chromium.launch(executable_path=browser, args=arguments)
                    walk(window.new_page(viewport={"width": 1100, "height": 760}), address, folder)
                    window.close()
            finally:
                server.terminate()


def walk(page: Any, address: str, folder: Path) -> None:
    """From the example to the result."""

    def photograph(name: str) -> None:
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=folder / f"{name}.png")

    page.set_default_timeout(WAIT)
    page.goto(address)
    page.get_by_role("link", name="New table").first.click()
    page.get_by_role("button", name="Take this one").click()
    page.get_by_role("link", name="Decide on columns").first.wait_for()
    photograph("web-data")
    page.get_by_role("link", name="Decide on columns").first.click()
    for question in page.locator("fieldset.question").all():
        question.locator("input[value=drop]").check()
    for chosen in page.locator("select[name^=role-]").all():
        name = page.locator(f"label[for={chosen.get_attribute('id')}]").inner_text().split()[1]
        chosen.select_option(ROLES.get(name, "drop"))
    page.wait_for_timeout(1500)
    photograph("web-columns")
    page.get_by_role("button", name="This is right").click()
    page.wait_for_url("**/protect")
    page.get_by_role("link", name="Recommend").first.click()
    page.get_by_role("button", name="Recommend").click()
    page.get_by_role("button", name="Take this").first.wait_for()
    photograph("web-recommend")
    page.get_by_role("button", name="Take this").first.click()
    page.wait_for_url("**/protect")
    page.goto(page.url.replace("/protect", "/run"))
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("link", name="Go to: Result").click()
    page.get_by_role("heading", name="In figures").wait_for()
    photograph("web-result")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
