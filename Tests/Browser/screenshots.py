"""The pictures of README and Docs, from the cache of `quire demo`. Usage: screenshots.py QUIRE CHROMIUM FOLDER."""
import os
import subprocess
import sys
import tempfile

from devtools import Browser


def main():
    tool, chromium, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        cache, report = os.path.join(place, "demo.quire"), os.path.join(place, "demo.html")
        subprocess.run([tool, "demo", "--cache", cache], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([tool, "report", cache, "-o", report], check=True, stdout=subprocess.DEVNULL)
        browser = Browser(chromium)
        take = Pictures(browser, "file://" + report, folder)
        take("map", ["#summary", "#map"])
        take("map-dark", ["#summary", "#map"], dark=True)
        take("rows", ["#map", "#list"], """(async () => {
            App.goTo(App.state.map.gaps[2].rank);
            App.map.zoom(0.25);
            await new Promise((done) => setTimeout(done, 200));
            App.rows.choose(App.rows.chosen - 2);
            App.rows.open(App.rows.chosen);
        })()""")
        take("narrow", ["header", "#map"], width=390)
        browser.close()


class Pictures:
    def __init__(self, browser, address, folder):
        self.browser, self.address, self.folder = browser, address, folder

    def __call__(self, name, selectors, script=None, width=1120, dark=False):
        page = self.browser.page(width=width, height=1400, dark=dark)
        page.open(self.address)
        if script:
            page.evaluate(script)
        page.frames(20)
        boxes = [page.box(selector) for selector in selectors]
        margin = 0 if width < 600 else 12
        left = min(box["x"] for box in boxes) - margin
        top = min(box["y"] for box in boxes) - margin
        clip = {"x": left, "y": top,
                "width": max(box["x"] + box["width"] for box in boxes) + margin - left,
                "height": max(box["y"] + box["height"] for box in boxes) + margin - top}
        page.picture(os.path.join(self.folder, name + ".png"), clip)


main()
