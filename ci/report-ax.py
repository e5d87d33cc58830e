#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Opens a report in headless Chromium and checks what a reader meets.

    report-ax.py PAGE.html [FOLDER]

Speaks the DevTools protocol over Chromium's pipe (file descriptors 3 and 4, JSON ended by a zero
byte), so that nothing beyond Python is needed. FOLDER gets light.png, dark.png, narrow.png and
print.pdf. Prints a line a fault; exit status 0: none, 1: some, or there is no Chromium.
"""
import base64
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

LIMIT_S = 120
COLOURS_LEAST = 20  # of a figure; a blank one has one


class Browser:
    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # The child finds its ends at 3 and 4, whatever ours are called.
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                 "--no-first-run", "--disable-extensions", "--disable-background-networking",
                 f"--user-data-dir={profile}", "about:blank"]
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        self.child = subprocess.Popen(
            ["bash", "-c", script, "bash", str(to_read), str(back_write), program, *flags],
            pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        os.set_blocking(self.back, False)
        self.pending = b""
        self.events = []
        self.last = 0
        self.end = time.monotonic() + LIMIT_S
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def message(self):
        while b"\0" not in self.pending:
            if time.monotonic() > self.end:
                raise TimeoutError("Chromium did not answer in time")
            try:
                got = os.read(self.back, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
                continue
            if not got:
                raise EOFError("Chromium went away")
            self.pending += got
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def wait_for(self, method):
        while not any(e["method"] == method for e in self.events):
            event = self.message()
            if "method" in event:
                self.events.append(event)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.child.wait(10)
        except (OSError, EOFError, TimeoutError, RuntimeError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()


def png_colours(data, most=4096):
    """How many different pixels a PNG of 8 bit RGB or RGBA has."""
    at, packed, width, channels = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack(">IIBB", body[:10])
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, stride, before, seen = zlib.decompress(packed), width * channels, None, set()
    for row in range(0, len(raw), stride + 1):
        line = unfilter(raw[row], bytearray(raw[row + 1:row + 1 + stride]), before, channels)
        seen.update(bytes(line[i:i + channels]) for i in range(0, stride, channels))
        before = line
        if len(seen) > most:
            break
    return len(seen)


def unfilter(kind, line, before, n):
    before = before or bytearray(len(line))
    for i in range(len(line)):
        left = line[i - n] if i >= n else 0
        up = before[i]
        corner = before[i - n] if i >= n else 0
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + up) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            far = [(abs(guess - v), k) for k, v in enumerate((left, up, corner))]
            line[i] = (line[i] + (left, up, corner)[min(far)[1]]) & 255
    return line


def tree_faults(nodes):
    by_id = {n["nodeId"]: n for n in nodes}
    role = lambda n: n.get("role", {}).get("value", "")
    name = lambda n: n.get("name", {}).get("value", "").strip()

    def below(node):
        for child in node.get("childIds", []):
            if child in by_id:
                yield by_id[child]
                yield from below(by_id[child])

    seen = [n for n in nodes if not n.get("ignored")]
    levels = [p["value"]["value"] for n in seen if role(n) == "heading"
              for p in n.get("properties", []) if p["name"] == "level"]
    if levels.count(1) != 1 or levels[:1] != [1]:
        yield f"headings: level 1 is there {levels.count(1)} times"
    for before, after in zip(levels, levels[1:]):
        if after > before + 1:
            yield f"headings: level {after} follows level {before}"
    pictures = [n for n in seen if role(n) in ("img", "image", "graphics-document")]
    if not pictures:
        yield "no picture in the accessibility tree"
    for n in pictures:
        if not name(n):
            yield "a picture without a name"
    for n in seen:
        inside = [m for m in below(n) if not m.get("ignored")]
        if role(n).lower() == "figure" and not any(m in pictures for m in inside):
            yield f"a figure without a picture: {name(n)}"
        if role(n) == "table":
            if not name(n):
                yield "a table without a caption"
            if not any(role(m) in ("columnheader", "rowheader") for m in inside):
                yield f"a table without header cells: {name(n)}"
        if role(n) == "link" and not name(n):
            yield "a link without a name"
    for wanted in ("main", "navigation"):
        if not any(role(n) == wanted for n in seen):
            yield f"no {wanted} landmark"


# Labels that leave their figure, or lie over one another; both are seen by nobody but a reader.
LABELS = """(() => {
  const faults = [];
  for (const svg of document.querySelectorAll('svg.plot')) {
    const name = svg.getAttribute('aria-label'), all = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    boxes.forEach(([text, b], i) => {
      if (b.left < all.left - 1 || b.right > all.right + 1 || b.top < all.top - 2 || b.bottom > all.bottom + 2)
        faults.push(`${name}: "${text}" is cut off`);
      for (const [other, o] of boxes.slice(i + 1))
        if (b.left < o.right - 1 && o.left < b.right - 1 && b.top < o.bottom - 3 && o.top < b.bottom - 3)
          faults.push(`${name}: "${text}" lies over "${other}"`);
    });
  }
  return faults;
})()"""

CONTRAST = """(() => {
  const light = c => { const v = c.match(/[0-9.]+/g).slice(0, 3).map(x => x / 255)
    .map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const back = light(getComputedStyle(document.body).backgroundColor), faults = [];
  for (const e of document.querySelectorAll('h1, p, td, th, small, a, b, figcaption, .plot text')) {
    const s = getComputedStyle(e), own = light(e.closest('.plot') ? s.fill : s.color);
    const ratio = (Math.max(own, back) + .05) / (Math.min(own, back) + .05);
    if (ratio < 4.5) faults.push(`${e.tagName} "${e.textContent.slice(0, 30)}": contrast ${ratio.toFixed(1)}`);
  }
  return faults.slice(0, 5);
})()"""


def show(browser, scheme, width):
    browser.call("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1,
                 mobile=False)


def capture(browser, x, y, width, height):
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    return base64.b64decode(browser.call("Page.captureScreenshot", format="png", clip=clip,
                                         captureBeyondViewport=True)["data"])


def picture_faults(browser, folder, name, scheme, width):
    show(browser, scheme, width)
    for fault in browser.value(LABELS) + browser.value(CONTRAST):
        yield f"{name}: {fault}"
    wide = browser.value("document.documentElement.scrollWidth")
    if wide > width:
        yield f"{name}: the page is {wide} wide on a screen of {width}"
    high = browser.value("document.documentElement.scrollHeight")
    (folder / f"{name}.png").write_bytes(capture(browser, 0, 0, width, min(high, 16000)))
    # Unpacking a whole page takes Python long: the first figure will do.
    at = browser.value("(r => [r.left, r.top + scrollY, r.width, r.height])"
                       "(document.querySelector('figure svg.plot').getBoundingClientRect())")
    colours = png_colours(capture(browser, *at))
    if colours < COLOURS_LEAST:
        yield f"{name}: the first figure has {colours} colours only"


def print_faults(browser, folder):
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=False)["data"])
    (folder / "print.pdf").write_bytes(pdf)
    if not pdf.startswith(b"%PDF") or len(pdf) < 10000:
        yield "print: no page"


def event_faults(events, url):
    for e in events:
        params = e["params"]
        if e["method"] == "Network.requestWillBeSent" and params["request"]["url"] != url:
            yield f"the page asks for {params['request']['url']}"
        elif e["method"] == "Log.entryAdded":
            yield f"console: {params['entry']['text']}"
        elif e["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            yield f"console: {params}"


def check(browser, page, folder):
    url = page.resolve().as_uri()
    for domain in ("Network", "Log", "Runtime", "Page", "Accessibility"):
        browser.call(f"{domain}.enable")
    browser.events.clear()
    browser.call("Page.navigate", url=url)
    browser.wait_for("Page.loadEventFired")
    if not any(e["method"] == "Network.requestWillBeSent" for e in browser.events):
        yield "requests were not seen: the check of the network checks nothing"
    yield from picture_faults(browser, folder, "light", "light", 1100)
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    yield from picture_faults(browser, folder, "dark", "dark", 1100)
    if browser.value("getComputedStyle(document.body).backgroundColor") == background:
        yield "dark: the background is that of light"
    yield from picture_faults(browser, folder, "narrow", "light", 400)
    yield from tree_faults(browser.call("Accessibility.getFullAXTree")["nodes"])
    if browser.value("document.scripts.length") != 0:
        yield "the page has a script"
    yield from print_faults(browser, folder)
    yield from event_faults(browser.events, url)


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        print("report-ax: there is no Chromium: make check-deps", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else own)
        browser = Browser(program, f"{own}/profile")
        try:
            faults = list(check(browser, pathlib.Path(sys.argv[1]), folder))
        finally:
            browser.close()
    for fault in faults:
        print(f"report-ax: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
