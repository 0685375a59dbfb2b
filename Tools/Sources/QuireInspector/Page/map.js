"use strict";
// The map of one feed: a strip of its whole length, and above it the part that is looked at.
class FeedMap {
  // So few rows at least are in view.
  static nearest = 6;

  constructor(detail, overview, hint, actions) {
    Object.assign(this, { detail, overview, hint, actions });
    this.map = null;  // the whole feed
    this.part = null;  // the part that is looked at, more finely
    this.view = [0, 1];
    this.chosen = null;
    this.frame = 0;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(detail);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // Shows a feed. The view stays if it is the same feed as before, else it is the whole.
  show(map, feed, now, keepsView, shift = 0) {
    const wasWhole = !this.map || (this.view[0] <= 0 && this.view[1] >= this.map.rows);
    Object.assign(this, { map, feed, now, part: null });
    if (!keepsView || wasWhole) this.view = [0, Math.max(1, map.rows)];
    else if (shift) {
      this.view = this.view.map((rank) => rank + shift);
      if (this.chosen !== null) this.chosen += shift;
    }
    this.setView(...this.view);
  }

  setPart(part) { this.part = part; this.draw(); }

  get isWhole() { return this.view[0] <= 0 && this.view[1] >= this.map.rows; }
  get span() { return this.view[1] - this.view[0]; }

  setView(from, to) {
    const rows = Math.max(1, this.map.rows);
    const span = Math.min(rows, Math.max(Math.min(FeedMap.nearest, rows), to - from));
    const start = Math.max(0, Math.min(rows - span, from));
    this.view = [start, start + span];
    if (this.part && (this.part.from > start || this.part.to < Math.floor(start + span))) this.part = null;
    this.draw();
    this.actions.viewed();
  }

  zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
    const span = Math.min(Math.max(1, this.map.rows), Math.max(FeedMap.nearest, this.span * factor));
    const part = (at - this.view[0]) / this.span;
    this.setView(at - part * span, at - part * span + span);
  }

  move(rows) { this.setView(this.view[0] + rows, this.view[1] + rows); }

  // Brings a row into view, near enough to see it.
  lookAt(rank, span = Math.min(this.span, 120)) { this.setView(rank + 0.5 - span / 2, rank + 0.5 + span / 2); }

  choose(rank) {
    this.chosen = rank;
    if (rank !== null && (rank < this.view[0] || rank >= this.view[1])) {
      this.setView(rank + 0.5 - this.span / 2, rank + 0.5 + this.span / 2);
    } else this.draw();
  }

  // MARK: Input

  listen() {
    const rankAt = (event) => this.view[0] + event.offsetX / this.detail.clientWidth * this.span;
    this.detail.addEventListener("wheel", (event) => {
      if (!this.map || !this.map.rows) return;
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!isSideways && !event.ctrlKey && this.isWhole && event.deltaY > 0) return;  // the page scrolls
      event.preventDefault();
      if (isSideways) this.move(event.deltaX / this.detail.clientWidth * this.span);
      else this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), rankAt(event));
    }, { passive: false });
    let drag = null;
    this.detail.addEventListener("pointerdown", (event) => {
      if (!this.map || event.button !== 0) return;
      drag = { x: event.offsetX, view: [...this.view], isMoved: false };
      this.detail.setPointerCapture(event.pointerId);
    });
    this.detail.addEventListener("pointermove", (event) => {
      if (!this.map) return;
      if (drag && Math.abs(event.offsetX - drag.x) > 3) drag.isMoved = true;
      if (drag && drag.isMoved) {
        const moved = (drag.x - event.offsetX) / this.detail.clientWidth * this.span;
        this.setView(drag.view[0] + moved, drag.view[1] + moved);
      }
      this.hint.textContent = this.describe(rankAt(event));
    });
    this.detail.addEventListener("pointerup", (event) => {
      if (drag && !drag.isMoved && this.map.rows) this.actions.chosen(this.nearest(rankAt(event)));
      drag = null;
    });
    this.detail.addEventListener("pointercancel", () => { drag = null; });
    this.detail.addEventListener("pointerleave", () => { this.hint.textContent = ""; });
    this.detail.addEventListener("dblclick", (event) => this.zoom(0.25, rankAt(event)));
    this.detail.addEventListener("keydown", (event) => {
      const keys = {
        ArrowLeft: () => this.move(-this.span / 8), ArrowRight: () => this.move(this.span / 8),
        PageUp: () => this.move(-this.span), PageDown: () => this.move(this.span),
        Home: () => this.setView(0, this.span), End: () => this.setView(this.map.rows - this.span,
          this.map.rows),
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
        Enter: () => this.actions.chosen(Math.floor((this.view[0] + this.view[1]) / 2)),
      };
      if (!this.map || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    const jump = (event) => {
      if (!this.map) return;
      const at = event.offsetX / this.overview.clientWidth * this.map.rows;
      this.setView(at - this.span / 2, at + this.span / 2);
    };
    this.overview.addEventListener("pointerdown", (event) => {
      this.overview.setPointerCapture(event.pointerId);
      jump(event);
    });
    this.overview.addEventListener("pointermove", (event) => { if (event.buttons & 1) jump(event); });
  }

  // The row at a place; a gap near it comes first, since it is narrow.
  nearest(rank) {
    const reach = 6 / this.detail.clientWidth * this.span;
    const gap = this.map.gaps.find((g) => Math.abs(g.rank + 0.5 - rank) <= Math.max(0.5, reach));
    return gap ? gap.rank : Math.max(0, Math.min(this.map.rows - 1, Math.floor(rank)));
  }

  describe(at) {
    if (!this.map.rows) return "";
    const rank = this.nearest(at);
    const gap = this.map.gaps.find((g) => g.rank === rank);
    if (gap) return "Gap " + Words.plain(gap.id) + ": " + Words.why(gap.why) + "; filled by "
      + Words.link(gap.down);
    const bar = this.bars().find((b) => rank >= b[0] && rank < b[0] + b[1]);
    if (!bar) return "";
    const [start, rows, low, high, , , newest] = bar;
    const pages = high === 0 ? "no page brought " + (rows === 1 ? "it" : "them")
      : low === high ? "page " + high : "pages " + low + " to " + high;
    return (rows === 1 ? "Row " + Words.number(start)
      : "Rows " + Words.number(start) + " to " + Words.number(start + rows - 1)) +
      " · " + pages + (high ? " · fetched " + Words.ago(newest, this.now) : "");
  }

  bars() { return this.part ? this.part.bars : this.map.bars; }

  // MARK: Drawing

  draw() {
    if (!this.map || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const style = getComputedStyle(document.documentElement);
      this.colours = (name) => style.getPropertyValue("--" + name).trim();
      this.drawStrip(this.detail, this.view, this.bars(), true);
      this.drawStrip(this.overview, [0, Math.max(1, this.map.rows)], this.map.bars, false);
    });
  }

  drawStrip(canvas, [from, to], bars, isDetail) {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const box = { width, top: isDetail ? 16 : 3, bottom: isDetail ? height - 44 : height - 3,
      x: (rank) => (rank - from) / (to - from) * width, from, to, row: width / (to - from) };
    if (!this.map.rows) {
      c.fillStyle = this.colours("quiet");
      c.font = "13px system-ui, sans-serif";
      if (isDetail) c.fillText("Nothing is cached in this feed.", 12, height / 2);
      return;
    }
    this.drawBars(c, box, bars);
    if (isDetail && box.row >= 6) this.drawRows(c, box);
    this.drawJoins(c, box, isDetail);
    this.drawGaps(c, box, isDetail);
    if (isDetail) {
      this.drawSegments(c, box);
      this.drawMarks(c, box);
      this.drawEnds(c, box);
      this.drawAxis(c, box, height);
    } else this.drawWindow(c, box, height);
  }

  // A bar is as high as its answer is recent among the answers, and has the colour of its age.
  drawBars(c, box, bars) {
    const full = box.bottom - box.top;
    for (const [start, rows, low, high, runs, , newest, gaps] of bars) {
      if (start + rows <= box.from || start >= box.to || runs === 0) continue;
      const left = Math.max(0, box.x(start));
      const right = Math.min(box.width, box.x(start + rows));
      const room = right - left > 5 ? 1.5 : right - left > 2.5 ? 0.75 : 0;
      const recent = high ? (low + high) / 2 / Math.max(1, this.map.lastPage) : 0.15;
      const height = full * (0.34 + 0.66 * recent);
      const age = high ? Words.age(newest, this.now) : -1;
      c.fillStyle = this.colours(age < 0 ? "age-unknown" : "age-" + age);
      const width = Math.max(0.75, right - left - room);
      if (width > 8) {
        c.beginPath();
        c.roundRect(left, box.bottom - height, width, height, [2, 2, 0, 0]);
        c.fill();
      } else c.fillRect(left, box.bottom - height, width, height);
      if (gaps && rows > gaps) {  // gaps that are not listed one by one
        c.fillStyle = this.colours("gap");
        c.fillRect(left, box.bottom - full * Math.min(1, 0.2 + gaps / rows), Math.max(1, width / 4), full);
      }
    }
  }

  // From near, each row is seen, and its id where there is room.
  drawRows(c, box) {
    c.font = "11px system-ui, sans-serif";
    for (let rank = Math.max(0, Math.floor(box.from)); rank < Math.min(this.map.rows, box.to); rank++) {
      const x = box.x(rank);
      c.fillStyle = this.colours("paper");
      c.globalAlpha = 0.5;  // fainter than the border of a page
      c.fillRect(x - 0.5, box.top, box.row > 14 ? 1 : 0.5, box.bottom - box.top);
      c.globalAlpha = 1;
      const id = box.row > 30 ? this.actions.idAt(rank) : null;
      if (!id) continue;
      const text = Words.plain(id).slice(0, 24);
      if (c.measureText(text).width > box.row - 6) continue;
      c.fillStyle = this.colours("bar-text");
      c.fillText(text, x + (box.row - c.measureText(text).width) / 2, box.bottom - 8);
    }
  }

  drawGaps(c, box, isDetail) {
    let free = -1e9;
    for (const [index, gap] of this.map.gaps.entries()) {
      if (gap.rank + 1 <= box.from || gap.rank >= box.to) continue;
      const width = Math.max(isDetail ? 7 : 3, box.row);
      const left = Math.max(-width / 2, box.x(gap.rank + 0.5) - width / 2);
      c.fillStyle = this.colours("paper");
      c.fillRect(left - 1.5, box.top - (isDetail ? 6 : 3), width + 3, box.bottom - box.top
        + (isDetail ? 10 : 6));
      c.fillStyle = this.colours("gap-back");
      c.fillRect(left, box.top - (isDetail ? 4 : 2), width, box.bottom - box.top + (isDetail ? 4 : 4));
      c.save();
      c.beginPath();
      c.rect(left, box.top - 4, width, box.bottom - box.top + 4);
      c.clip();
      c.strokeStyle = this.colours("gap");
      c.lineWidth = 2;
      c.beginPath();
      const tall = box.bottom - box.top;
      for (let y = box.top - 8 - width; y < box.top + tall + width; y += 6) {
        c.moveTo(left, y + width);
        c.lineTo(left + width, y);
      }
      c.stroke();
      c.restore();
      if (!isDetail) continue;
      c.strokeStyle = this.colours("gap");
      c.lineWidth = 1;
      c.strokeRect(left + 0.5, box.top - 3.5, width - 1, box.bottom - box.top + 3);
      const place = (label) => Math.max(2, Math.min(box.width - label.width - 2, left
        + width / 2 - label.width / 2));
      const next = this.map.gaps[index + 1];
      const end = next && next.rank < box.to ? box.x(next.rank + 0.5) - 18 : Infinity;
      let label = this.gapLabel(c, gap, true);
      if (place(label) < free || place(label) + label.width > end) label = this.gapLabel(c, gap, false);
      const x = place(label);
      if (x < free) continue;
      c.fillStyle = this.colours("gap");
      c.beginPath();
      c.roundRect(x, box.bottom + 9, label.width, 17, 8);
      c.fill();
      c.fillStyle = this.colours("gap-text");
      c.fillText(label.text, x + 7, box.bottom + 21.5);
      free = x + label.width + 4;
    }
  }

  // Its number; and why, if few gaps are in view.
  gapLabel(c, gap, saysWhy) {
    c.font = "600 11px system-ui, sans-serif";
    const inView = this.map.gaps.filter((g) => g.rank >= this.view[0] && g.rank < this.view[1]).length;
    const text = Words.plain(gap.id) + (saysWhy && inView * 120 < this.detail.clientWidth ? " " + gap.why : "");
    return { text, width: c.measureText(text).width + 14 };
  }

  drawSegments(c, box) {
    c.lineWidth = 3;
    c.strokeStyle = this.colours("segment");
    for (const segment of this.map.segments) {
      const left = Math.max(-4, box.x(segment.start) + 1.5);
      const right = Math.min(box.width + 4, box.x(segment.start + segment.rows) - 1.5);
      if (right < 0 || left > box.width) continue;
      c.beginPath();
      c.moveTo(left, box.bottom + 4);
      c.lineTo(Math.max(left + 1, right), box.bottom + 4);
      c.stroke();
    }
  }

  drawJoins(c, box, isDetail) {
    c.save();
    c.strokeStyle = this.colours("join");
    c.lineWidth = isDetail ? 2 : 1;
    c.setLineDash([4, 3]);
    c.beginPath();
    for (const join of this.map.joins) {
      if (join.rank < box.from || join.rank > box.to) continue;
      const x = box.x(join.rank) - (box.row > 5 ? 0.75 : 0);
      c.moveTo(x, box.top - (isDetail ? 10 : 3));
      c.lineTo(x, box.bottom + (isDetail ? 6 : 3));
    }
    c.stroke();
    c.restore();
  }

  drawMarks(c, box) {
    c.fillStyle = this.colours("pin");
    for (const rank of this.map.pinned) {
      if (rank < box.from || rank >= box.to) continue;
      const x = box.x(rank + 0.5);
      c.beginPath();
      c.arc(x, 6, 3.5, 0, 7);
      c.fill();
    }
    const marker = this.feed.marker;
    if (marker !== undefined && marker !== null && marker > box.from) {
      const right = Math.min(box.width, box.x(marker));
      c.fillStyle = this.colours("unread");
      c.fillRect(Math.max(0, box.x(0)), 0, right - Math.max(0, box.x(0)), 3);
      if (marker <= box.to) c.fillRect(right - 1, 0, 2, box.bottom);
    }
    if (this.chosen !== null && this.chosen >= box.from && this.chosen < box.to) {
      const x = box.x(this.chosen);
      c.strokeStyle = this.colours("text");
      c.lineWidth = 2;
      c.strokeRect(x - 1, box.top - 5, Math.max(3, box.row) + 1, box.bottom - box.top + 10);
    }
  }

  drawEnds(c, box) {
    const f = this.feed.figures;
    const y = box.bottom + 4;
    if (box.from <= 0) {
      c.fillStyle = this.colours(f.isHeadOpen ? "gap" : "segment");
      if (f.isHeadOpen) for (let i = 0; i < 5; i++) c.fillRect(0, box.top - 4 + i * (y - box.top) / 5, 4,
        (y - box.top) / 9);
      else c.fillRect(0, box.top - 6, 2.5, y - box.top + 7.5);
    }
    if (box.to >= this.map.rows) {
      c.fillStyle = this.colours("segment");
      if (f.tail.kind === "end") c.fillRect(box.width - 2.5, box.top - 6, 2.5, y - box.top + 7.5);
      else {
        c.beginPath();
        c.moveTo(box.width - 8, y - 5);
        c.lineTo(box.width, y);
        c.lineTo(box.width - 8, y + 5);
        c.fill();
      }
    }
  }

  drawAxis(c, box, height) {
    c.fillStyle = this.colours("quiet");
    c.font = "11px system-ui, sans-serif";
    const rough = (box.to - box.from) / Math.max(2, box.width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough));
    for (let rank = Math.ceil(box.from / step) * step; rank < box.to; rank += step) {
      const text = Words.number(rank);
      const x = box.x(rank);
      c.fillRect(x, height - 16, 1, 4);
      const width = c.measureText(text).width;
      c.fillText(text, Math.max(0, Math.min(box.width - width, x - (rank ? width / 2 : 0))), height - 2);
    }
  }

  drawWindow(c, box, height) {
    if (this.isWhole) return;
    const left = box.x(this.view[0]);
    const width = Math.max(3, box.x(this.view[1]) - left);
    c.fillStyle = this.colours("veil");
    c.fillRect(0, 0, left, height);
    c.fillRect(left + width, 0, box.width, height);
    c.strokeStyle = this.colours("accent");
    c.lineWidth = 2;
    c.strokeRect(left + 1, 1, Math.max(2, width - 2), height - 2);
  }
}
