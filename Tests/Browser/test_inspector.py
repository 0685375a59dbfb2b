"""quire report and quire serve in a real browser. Usage: test_inspector.py QUIRE CHROMIUM, or --count."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback

from devtools import Browser

TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Place:
    """A folder with caches, and the tool."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.servers = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def quire(self, *arguments, status=0):
        run = subprocess.run([self.tool, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert run.returncode == status, (arguments, run.returncode, run.stdout, run.stderr)
        return run.stdout

    def page(self, name, posts, more=True):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump({"items": posts, "has_more": more}, file)
        return name

    def pages(self, numbers, last, size=20):
        """Pages of a feed of `last` pages, newest first."""
        def posts(number):
            top = (last - number + 1) * size
            return [{"question_id": top - row, "last_activity_date": (top - row) * 10, "title": f"post {top - row}",
                     "tags": ["a", "b"], "owner": {"name": "somebody", "id": 12345678901234567890}}
                    for row in range(size)]
        return [self.page(f"{number}.json", posts(number), number < last) for number in numbers]

    def ingest(self, cache, feed, files):
        return self.quire("ingest", cache, feed, *files, "--order", "bump", "--key", "last_activity_date")

    def serve(self, *caches):
        process = subprocess.Popen([self.tool, "serve", *caches], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.servers.append(process)
        return process.stdout.readline().strip()

    def close(self):
        for process in self.servers:
            process.terminate()
        for process in self.servers:
            process.wait()


def make_caches(place):
    place.ingest("holes.quire", "questions", place.pages([n for n in range(1, 41) if n not in (5, 18, 19)], 40))
    place.ingest("holes.quire", "whole", place.pages(range(1, 4), 3))
    with open(place.path("big.ndjson"), "w", encoding="utf-8") as file:
        file.writelines(f'{{"question_id":{n},"last_activity_date":{n}}}\n' for n in range(1_000_000, 0, -1))
    place.ingest("big.quire", "million", ["big.ndjson"])
    os.remove(place.path("big.ndjson"))


def served(browser, place, *caches, **options):
    address = place.serve(*caches)
    page = browser.page(**options)
    page.open(address)
    return page, address


def clean(page, address):
    """Nothing but the page's own address was asked for, no script failed, and the policy refused nothing."""
    strange = [url for url in page.requests() if not url.startswith(address) and not url.startswith("data:")]
    assert not strange, strange
    assert not page.complaints(), page.complaints()


# Reports

@test
def a_report_opens_without_asking_for_anything(browser, place):
    place.quire("report", "holes.quire", "-o", "r.html")
    page = browser.page()
    address = "file://" + place.path("r.html")
    page.open(address)
    assert page.evaluate("document.querySelector('#feed-name').textContent") == "questions"
    assert "2 gaps" in page.evaluate("document.querySelector('#verdict').textContent")
    page.frames(3)
    red = page.evaluate("""(() => {
        const c = document.querySelector('#detail');
        const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let red = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i] > 150 && data[i + 1] < 80 && data[i + 2] < 80) red++;
        return red;
    })()""")
    assert red > 200, red
    clean(page, address)


@test
def a_report_is_read_without_eyes_and_without_a_mouse(browser, place):
    place.quire("report", "holes.quire", "-o", "r.html")
    page = browser.page()
    page.open("file://" + place.path("r.html"))
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    names = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if "role" in n]
    assert any(role == "image" and "Posts may be missing: 2 gaps" in name for role, name in names), names[:40]
    assert any("missing-page" in name for role, name in names)
    page.evaluate("document.querySelector('#detail').focus()")
    rows = page.evaluate("App.map.span")
    page.key("+")
    page.key("+")
    assert page.evaluate("App.map.span") < rows / 3
    page.key("g")
    gaps = page.evaluate("App.state.map.gaps.map((g) => g.rank)")
    page.key("0")
    page.key("g")
    assert page.evaluate("App.map.chosen") == gaps[0]
    page.key("g")
    assert page.evaluate("App.map.chosen") == gaps[1]
    page.frames(3)
    assert page.evaluate("document.querySelector('.row.chosen.gap .id').textContent").startswith("gap g")
    page.evaluate("document.querySelector('#rows').focus()")
    page.key("Enter")
    assert "missing" in page.evaluate("document.querySelector('#post').textContent")


@test
def narrow_and_dark(browser, place):
    place.quire("report", "holes.quire", "-o", "r.html")
    for width, dark in [(360, False), (360, True), (1280, True)]:
        page = browser.page(width=width, dark=dark)
        page.open("file://" + place.path("r.html"))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        back = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (back == "rgb(15, 19, 18)") == dark, back


# The server

@test
def from_all_to_one_row(browser, place):
    page, address = served(browser, place, "holes.quire", "big.quire")
    assert page.evaluate("document.querySelectorAll('#feeds button').length") == 3
    page.evaluate("[...document.querySelectorAll('#feeds button')].at(-1).click()")
    page.until("App.state.map && App.state.map.rows === 1000000")
    box = page.box("#detail")
    for _ in range(40):
        page.wheel(box["x"] + box["width"] / 2, box["y"] + 60, -240)
    page.until("App.map.span < 20 && App.map.part && App.map.part.to - App.map.part.from < 60")
    page.frames(2)
    page.click(box["x"] + box["width"] / 2, box["y"] + 60)
    page.until("!document.querySelector('#post').hidden && /Post 5\\d+/.test(document.querySelector('#post').textContent)")
    clean(page, address)


@test
def a_gap_closes_while_one_watches(browser, place):
    shutil.copy(place.path("holes.quire"), place.path("live.quire"))
    page, address = served(browser, place, "live.quire")
    assert page.evaluate("App.state.map.gaps.length") == 2
    page.evaluate("document.querySelector('#tab-commits').click()")
    place.ingest("live.quire", "questions", place.pages([4, 5, 6], 40))
    page.until("App.state.map.gaps.length === 1")
    assert "1 gap." in page.evaluate("document.querySelector('#verdict').textContent")
    page.until("document.querySelector('tr.closed')")
    assert "g" in page.evaluate("document.querySelector('tr.closed td:nth-child(6)').textContent")
    place.ingest("live.quire", "questions", place.pages([17, 18, 19, 20], 40))
    page.until("App.state.map.gaps.length === 0")
    assert "In sequence" in page.evaluate("document.querySelector('#verdict').textContent")
    feeds = [json.loads(line) for line in place.quire("feeds", "live.quire", "--json").splitlines()]
    assert page.evaluate("App.state.map.rows") == feeds[0]["posts"] == 800
    clean(page, address)


@test
def a_million_posts_scroll_without_a_stall(browser, place):
    page, address = served(browser, place, "big.quire")
    before = len(page.requests())
    result = page.evaluate("""(async () => {
        const list = App.rows, frame = () => new Promise(requestAnimationFrame);
        const range = list.root.scrollHeight - list.root.clientHeight;
        let stalls = 0, nodes = 0, underWay = 0;
        const steps = 300;
        for (let i = 1; i <= steps; i++) {
            list.root.scrollTop = range * i / steps;
            await frame();
            await frame();
            const shown = Number(list.pool[0].dataset.index);
            const wanted = Math.round(list.root.scrollTop / range * list.lastTop);
            if (Math.abs(shown - wanted) > 1) stalls++;
            nodes = Math.max(nodes, list.root.querySelectorAll('*').length);
            underWay = Math.max(underWay, list.list.underWay);
        }
        let frames = 0;
        while (!list.list.at(999999) && frames < 600) { await frame(); frames++; }
        await frame();
        return { stalls, nodes, underWay, frames, last: list.pool.filter((n) => !n.hidden).at(-1).textContent,
                 requests: list.list.requests };
    })()""")
    print("   ", result)
    assert result["stalls"] == 0
    assert result["nodes"] < 400 and result["underWay"] <= 2 and result["frames"] < 600
    assert "999,999" in result["last"]
    # By rows where the scroll bar is too coarse.
    top = page.evaluate("App.rows.top")
    box = page.box("#rows")
    page.evaluate("document.querySelector('#rows').scrollIntoView()")
    y = page.evaluate("document.querySelector('#rows').getBoundingClientRect().y")
    page.wheel(box["x"] + 100, y + 100, -60)
    page.until(f"App.rows.top < {top}")
    assert top - page.evaluate("App.rows.top") < 5
    assert len(page.requests()) - before < 2 * 300 + 20
    clean(page, address)


@test
def a_hostile_body_stays_text(browser, place):
    evil = "<script>window.hacked = 1</script><img src='http://evil.example/x' onerror='window.hacked = 2'>"
    posts = [
        {"question_id": 4, "last_activity_date": 4, "title": evil, "body": evil + "\u202e\u0000\ufffd"},
        {"question_id": 3, "last_activity_date": 3, "title": "long", "body": "<b>" * (10 << 20 >> 2)},
        {"question_id": 2, "last_activity_date": 2, "title": "deep"},
        {"question_id": 1, "last_activity_date": 1, "title": "</script><!--", "__proto__": {"a": evil}, evil: evil}]
    with open(place.path("evil.json"), "w", encoding="utf-8") as file:
        text = json.dumps({"items": posts, "has_more": False}).replace(
            '"title": "deep"', '"title": "deep", "x": ' + "[" * 100 + "]" * 100)
        file.write(text)
    place.ingest("evil.quire", "<img src=x onerror='window.hacked=3'>", ["evil.json"])
    place.quire("report", "evil.quire", "-o", "evil.html")
    page, address = served(browser, place, "evil.quire")
    report = browser.page()
    report.open("file://" + place.path("evil.html"))
    for view in [page, report]:
        view.call("Page.bringToFront")
        for index in range(4):
            view.until(f"App.rows.list.at({index})")
            view.evaluate(f"(App.rows.choose({index}), App.rows.actions.opened(App.rows.list.at({index})))")
            view.until("document.querySelector('#post .body')")
            view.frames(2)
            view.evaluate("document.querySelectorAll('#post details').forEach((d) => { d.open = true; })")
            view.frames(2)
            if index == 0:
                assert "<script>window.hacked" in view.evaluate("document.querySelector('#post').textContent")
            if index == 1:
                assert "Cut" in view.evaluate("document.querySelector('#post').textContent")
                assert view.evaluate("document.querySelector('#post .body').textContent.length") < 300_000
        for tab in ["answers", "commits", "file", "map"]:
            view.evaluate(f"document.querySelector('#tab-{tab}').click()")
            view.frames(3)
        assert view.evaluate("typeof window.hacked") == "undefined"
        assert view.evaluate("document.querySelectorAll('main img, main script, nav img').length") == 0
    clean(page, address)
    clean(report, "file://" + place.path("evil.html"))


@test
def who_reads_in_the_middle_keeps_the_place(browser, place):
    place.ingest("top.quire", "questions", place.pages(range(3, 41), 40))
    page, address = served(browser, place, "top.quire")
    page.evaluate("App.rows.moveTo(200)")
    page.until("App.rows.list.at(200)")
    page.frames(2)
    first = page.evaluate("document.querySelector('.row:not([hidden]) .id').textContent")
    place.ingest("top.quire", "questions", place.pages([1, 2, 3], 40))
    page.until("App.state.map.rows === 800 && App.rows.top === 240 && App.rows.list.at(240)?.rank === 240")
    page.frames(2)
    assert page.evaluate("document.querySelector('.row:not([hidden]) .id').textContent") == first
    clean(page, address)


@test
def it_stays_live_while_others_write(browser, place):
    files = place.pages(range(1, 31), 30)
    place.ingest("writes.quire", "questions", files[-1:])
    page, address = served(browser, place, "writes.quire")
    writers = [subprocess.Popen([place.tool, "ingest", "writes.quire", "questions", file, "--order", "bump", "--key",
                                 "last_activity_date"], cwd=place.folder, stdout=subprocess.DEVNULL) for file in files]
    assert all(writer.wait() == 0 for writer in writers)
    place.ingest("writes.quire", "questions", files)
    page.until("App.state.map.rows === 600 && App.state.map.gaps.length === 0")
    page.until("App.rows.list.count === 600")
    clean(page, address)


@test
def a_number_of_twenty_digits_is_not_rounded(browser, place):
    page, address = served(browser, place, "holes.quire")
    page.until("App.rows.list.at(0)")
    page.evaluate("(App.rows.choose(0), App.rows.actions.opened(App.rows.list.at(0)))")
    page.until("document.querySelector('#post .body')")
    page.evaluate("document.querySelectorAll('#post details').forEach((d) => { d.open = true; })")
    page.frames(3)
    assert "12345678901234567890" in page.evaluate("document.querySelector('#post').textContent")


def answer(address, path, method="GET", host=None, extra=""):
    port = int(address.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        host = host or f"127.0.0.1:{port}"
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{extra}Connection: close\r\n\r\n".encode())
        text = b""
        while part := connection.recv(1 << 16):
            text += part
    return int(text.split(b" ", 2)[1]), text


@test
def strangers_are_refused(browser, place):
    address = place.serve("holes.quire")
    token = "/" + address.split("/")[3] + "/"
    assert answer(address, token)[0] == 200
    assert answer(address, token + "api/feeds")[0] == 200
    for path in ["/", "/api/feeds", "/" + "0" * 32 + "/", token[:-2] + "/", "//" + token]:
        status, text = answer(address, path)
        assert status == 403 and b"questions" not in text, path
    for host in ["evil.example", "evil.example:80", "127.0.0.1", "localhost"]:
        assert answer(address, token, host=host)[0] == 403, host
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"]:
        assert answer(address, token, method=method)[0] == 405, method
    assert answer(address, token + "api/feeds", extra="Origin: http://evil.example\r\n")[0] == 403
    assert answer(address, token + "../../etc/passwd")[0] == 404
    # A page of another origin that knows the address may not read it either.
    page = browser.page()
    page.open("data:text/html,<title>other</title>")
    assert page.evaluate(f"fetch('{address}api/feeds').then(() => 'read', () => 'refused')") == "refused"
    assert page.evaluate("""new Promise((done) => { const f = document.createElement('iframe');
        f.src = '%s'; f.onload = () => done(f.contentWindow.length); document.body.append(f);
        setTimeout(() => done(0), 3000); })""" % address) == 0


def main():
    if sys.argv[1:] == ["--count"]:
        print(len(TESTS))
        return 0
    tool, chromium = sys.argv[1:3]
    wanted = sys.argv[3:]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Place(tool, folder)
        make_caches(place)
        browser = Browser(chromium)
        for function in TESTS:
            name = function.__name__.replace("_", " ")
            if wanted and not any(word in name for word in wanted):
                continue
            try:
                function(browser, place)
                passed += 1
                print("ok", name, flush=True)
            except Exception:
                failed += 1
                print("FAILED", name)
                traceback.print_exc(file=sys.stdout)
        browser.close()
        place.close()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
