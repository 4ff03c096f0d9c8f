"""A browser that opens a study's page: Chromium, driven by chromedriver. Nothing is downloaded for it."""

from __future__ import annotations

import base64
import io
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import pytest
from conftest import ROOT

AXE = ROOT / ".node" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Browser:
    """A page in Chromium, and what a reader does with it."""

    def __init__(self, folder: Path):
        webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium: make report-test")
        programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
        if None in programs:
            pytest.skip("no chromium, or no chromedriver: make report-test")
        options = webdriver.ChromeOptions()
        options.binary_location = programs[0]
        for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # with its path given, selenium looks for no driver and downloads none
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
        self.downloads = folder / "downloads"
        self.command(
            "Browser.setDownloadBehavior",
            behavior="allow",
            downloadPath=str(self.downloads),
            eventsEnabled=True,
        )

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str, *arguments: Any) -> Any:
        """What the script returns, as soon as that is true: the page acts on a link after the click has returned."""
        end = time.monotonic() + 20
        while not (found := self.run(script, *arguments)):
            assert time.monotonic() < end, f"not so after 20 s: {script}"
            time.sleep(0.02)
        return found

    def look(self, width: int = 1280, scheme: str = "light") -> None:
        """As a window of this width, in light or dark."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        # without motion: what is scrolled to is there
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        self.command(
            "Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in features.items()]
        )

    def open(self, page: Path, address: str = "", folded: bool = False) -> None:
        """Load the page anew, and unfold its sections, and the filter."""
        self.driver.get("about:blank")
        self.driver.get(page.as_uri() + address)
        if not folded:
            self.run(
                "for (const part of document.querySelectorAll('.fold, #ranking-filters > details')) part.open = true"
            )

    def go(self, address: str) -> None:
        """To another part or state of the page, as a link does."""
        self.driver.execute_async_script(
            """const [address, done] = arguments;
            if (location.hash === address) return done();
            addEventListener("hashchange", () => done(), {once: true});
            location.hash = address""",
            address,
        )

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self) -> Any:
        return self.driver.switch_to.active_element

    def address(self) -> str:
        return self.run("return location.hash")

    def table(self) -> pd.DataFrame:
        """The table that "Download as CSV" gives, without a file."""
        text = self.run(
            """const create = URL.createObjectURL;
            let blob;
            URL.createObjectURL = (given) => { blob = given; return "data:,"; };
            document.getElementById("ranking-download").click();
            URL.createObjectURL = create;
            return blob.text()"""
        )
        return pd.read_csv(io.StringIO(text))

    def download(self) -> Path:
        """The file that "Download as CSV" gives."""
        self.one("#ranking-download").click()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for file in self.downloads.glob("*.csv"):
                if file.stat().st_size:
                    return file
            time.sleep(0.02)
        raise AssertionError("no file was downloaded")

    def cells(self) -> dict[tuple[str, str, str], list[str]]:
        """(criterion, model's label, metric's label) -> the parts of its cell, of those that are seen."""
        found = self.run(
            """const seen = (element) => element.checkVisibility();
            const texts = (cell) => [...cell.querySelectorAll(".value, .none, small")]
              .map((part) => part.textContent);
            for (const part of document.querySelectorAll("#ranking-tables details")) part.open = true;
            return [...document.querySelectorAll("#ranking-tables table")].filter(seen).flatMap((table) =>
              [...table.querySelectorAll("tr[data-model]")].filter(seen).flatMap((row) =>
                [...table.tHead.rows[0].cells].slice(1).filter(seen).map((head) => [table.dataset.criterion,
                  row.cells[0].textContent, head.textContent, texts(row.cells[head.cellIndex] ?? row.cells[1])])))"""
        )
        return {tuple(key): texts for *key, texts in found}

    def printed(self) -> bytes:
        """The page as a PDF, with what is behind the text."""
        options = {"printBackground": True, "preferCSSPageSize": True}
        return base64.b64decode(self.command("Page.printToPDF", **options)["data"])


def address(**state: Iterable[str] | str) -> str:
    """The part of an address that says what the ranking shows."""
    return "#ranking?" + urlencode(state, doseq=True)
