"""A small client of the DevTools protocol: headless Chromium over a pair of pipes, no package needed."""
import base64
import json
import os
import select
import subprocess
import tempfile
import time

# Nothing that a browser does on its own may look like a request of the page.
QUIET = [
    "--headless=new", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-sync",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-domain-reliability", "--metrics-recording-only", "--mute-audio", "--hide-scrollbars",
    "--disable-features=OptimizationHints,MediaRouter,Translate", "--disable-dev-shm-usage",
]


class Failed(Exception):
    pass


class Browser:
    def __init__(self, program, width=1280, height=900):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()
        sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
        command = [program, *QUIET, *sandbox, "--remote-debugging-pipe", f"--window-size={width},{height}",
                   "--user-data-dir=" + self.folder.name, "about:blank"]
        # The browser reads descriptor 3 and writes 4.
        line = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(["/bin/bash", "-c", line, *command], pass_fds=(to_browser, from_browser),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []

    def close(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reading], [], [], left)[0]:
                raise Failed("the browser does not answer")
            part = os.read(self.reading, 1 << 20)
            if not part:
                raise Failed("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, wait=60, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + wait
        while True:
            message = self._message(deadline)
            if message.get("id") == number:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def page(self, width=1280, height=900, dark=False):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ["Page", "Network", "Runtime", "Log"]:
            page.call(domain + ".enable")
        page.size(width, height)
        page.dark(dark)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")
        if self.evaluate("typeof App !== 'undefined'"):
            self.evaluate("App.started.then(() => true)")

    def evaluate(self, expression):
        """The value of an expression; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def until(self, expression, patience=30):
        """Waits until an expression is true: it is looked at once a frame."""
        deadline = time.monotonic() + patience
        while True:
            try:
                if self.evaluate(f"Boolean({expression})"):
                    return
            except Failed as error:
                if "navigat" not in str(error) and "destroyed" not in str(error):
                    raise
            if time.monotonic() > deadline:
                raise Failed("never true: " + expression)
            try:
                self.evaluate("new Promise(requestAnimationFrame)")
            except Failed:
                pass

    def frames(self, count):
        self.evaluate(f"(async () => {{ for (let i = 0; i < {count}; i++) await new Promise(requestAnimationFrame); }})()")

    def key(self, key, text=None, shift=False):
        names = {"+": ("Equal", 187), "-": ("Minus", 189)}
        code, number = names.get(key, (key, ord(key.upper()) if len(key) == 1 else
                                       {"ArrowDown": 40, "ArrowRight": 39, "Enter": 13, "End": 35, "Home": 36}.get(key, 0)))
        text = text or (key if len(key) == 1 else "\r" if key == "Enter" else None)
        extra = {"text": text} if text else {}
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number,
                      modifiers=8 if shift else 0, **extra)

    def wheel(self, x, y, delta):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)

    def click(self, x, y):
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def requests(self):
        """The addresses that the page asked for, so far."""
        return [event["params"]["request"]["url"] for event in self.browser.events
                if event["method"] == "Network.requestWillBeSent" and event.get("sessionId") == self.session]

    def complaints(self):
        """Errors of scripts, and what the page's policy refused."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"].get("exception", {}).get("description", "?"))
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def picture(self, path, clip=None):
        extra = {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", **extra)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def box(self, selector):
        return self.evaluate(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                             "return { x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height } })()")
