"use strict";
// The rows of a feed in a list that draws what is seen. A million rows cost as much as fifty.
class RowList {
  static height = 30;
  // Browsers limit how high an element may be. A list above it moves by rows, and its scroll bar by parts.
  static heightLimit = 8e6;

  constructor(root, actions) {
    this.root = root;
    this.actions = actions;
    this.space = Words.element("div", { class: "space" });
    root.append(this.space);
    this.pool = [];
    this.list = null;
    this.top = 0;  // the first row, with a fraction
    this.chosen = null;
    this.toOpen = null;  // as soon as it is here
    this.frame = 0;
    root.addEventListener("scroll", () => { if (!this.isOwnScroll()) this.readScroll(); this.draw(); });
    root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(root);
  }

  show(list, now, keepsPlace, shift = 0) {
    this.list = list;
    this.now = now;
    list.loaded = () => {
      this.draw();
      if (this.toOpen !== null && list.at(this.toOpen)) this.open(this.toOpen);
    };
    this.isScaled = list.count * RowList.height > RowList.heightLimit;
    this.space.style.height = Math.min(RowList.heightLimit, list.count * RowList.height) + "px";
    // As high as its rows, but not higher than the screen has room for.
    this.root.style.height = Math.min(480, Math.max(3, list.count) * RowList.height + 2) + "px";
    if (keepsPlace && shift && this.chosen !== null) this.chosen += shift;
    if (!keepsPlace) {
      this.choose(null);
      this.moveTo(0);
    }
    this.draw();
  }

  get seen() { return this.root.clientHeight / RowList.height; }
  get lastTop() { return Math.max(0, (this.list ? this.list.count : 0) - this.seen); }

  moveTo(top) {
    this.top = Math.max(0, Math.min(this.lastTop, top));
    const range = this.space.offsetHeight - this.root.clientHeight;
    const place = this.isScaled ? this.top / Math.max(1, this.lastTop) * range : this.top * RowList.height;
    this.root.scrollTop = place;
    this.own = this.root.scrollTop;
    this.draw();
  }

  isOwnScroll() { return this.own !== undefined && Math.abs(this.root.scrollTop - this.own) < 1; }

  readScroll() {
    this.own = undefined;
    const range = Math.max(1, this.space.offsetHeight - this.root.clientHeight);
    this.top = this.isScaled ? this.root.scrollTop / range * this.lastTop
      : this.root.scrollTop / RowList.height;
  }

  wheel(event) {
    if (!this.isScaled || event.ctrlKey || !event.deltaY) return;
    const before = this.top;
    const pixels = event.deltaMode === 1 ? event.deltaY * RowList.height : event.deltaY;
    this.moveTo(this.top + pixels / RowList.height);
    if (this.top !== before) event.preventDefault();
  }

  key(event) {
    if (!this.list || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.seen) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const from = this.chosen === null ? -1 : this.chosen;
    if (event.key in steps) {
      event.preventDefault();
      this.choose(Math.max(0, Math.min(this.list.count - 1, from + steps[event.key])));
      this.reveal();
    } else if ((event.key === "Enter" || event.key === " ") && this.chosen !== null) {
      event.preventDefault();
      this.open(this.chosen);
    }
  }

  open(index) {
    const row = this.list.at(index);
    this.toOpen = row ? null : index;
    if (row) this.actions.opened(row);
  }

  choose(index) {
    this.chosen = index;
    this.draw();
    if (index !== null && this.list.at(index)) this.actions.chosen(this.list.at(index));
  }

  reveal() {
    if (this.chosen < this.top) this.moveTo(this.chosen);
    else if (this.chosen > this.top + this.seen - 1) this.moveTo(this.chosen - this.seen + 1);
  }

  // Brings the row of a rank to the middle.
  lookAt(rank) {
    if (!this.list || !this.list.count) return;
    const index = this.list.indexOf(rank);
    this.chosen = index;
    this.moveTo(index - Math.floor(this.seen / 2));
  }

  draw() {
    if (this.frame || !this.list) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const first = Math.floor(this.top);
    const last = Math.min(this.list.count, first + Math.ceil(this.seen) + 1);
    // The space lies where the browser scrolled to; rows are placed from there.
    const base = this.root.scrollTop - (this.top - first) * RowList.height;
    this.list.want(first, last);
    while (this.pool.length < last - first) {
      const node = Words.element("div", { class: "row", role: "option" });
      node.addEventListener("click", () => {
        this.choose(Number(node.dataset.index));
        this.open(this.chosen);
      });
      this.pool.push(node);
      this.root.append(node);
    }
    this.pool.forEach((node, offset) => {
      const index = first + offset;
      node.hidden = index >= last;
      if (node.hidden) return;
      node.style.transform = "translateY(" + (base + offset * RowList.height) + "px)";
      const row = this.list.at(index);
      if (node.shown !== row || Number(node.dataset.index) !== index || !row) {
        this.fill(node, row, index);
        node.shown = row;
      }
      const isChosen = index === this.chosen;
      node.classList.toggle("chosen", isChosen);
      node.setAttribute("aria-selected", isChosen);
    });
    if (this.chosen !== null && this.chosen >= first && this.chosen < last) {
      this.root.setAttribute("aria-activedescendant", "row-" + this.chosen);
    } else this.root.removeAttribute("aria-activedescendant");
  }

  fill(node, row, index) {
    node.dataset.index = index;
    node.id = "row-" + index;
    node.setAttribute("aria-setsize", this.list.count);
    node.setAttribute("aria-posinset", index + 1);
    node.className = "row";
    node.replaceChildren();
    const cell = (kind, text, title) => Words.element("span",
      { class: kind, text, title, dir: kind === "text" ? "auto" : null });
    if (!row) {
      node.append(cell("rank", Words.number(this.list.rankAt(index))), cell("text quiet", "…"));
      return;
    }
    if (row.skipped) {
      node.classList.add("skipped");
      node.append(cell("text", Words.counted(row.skipped, "row") + " not in this report"));
      return;
    }
    node.append(cell("rank", Words.number(row.rank)));
    if (row.gap) {
      node.classList.add("gap");
      node.append(cell("marks", ""), cell("id", "gap " + Words.plain(row.gap.id)),
        cell("text", row.gap.why + ": " + Words.why(row.gap.why) + ". Filled by " + Words.link(row.gap.down)));
      return;
    }
    if (row.doubt) node.classList.add("doubted");
    node.append(
      cell("marks", RowList.marks(row), row.marks.join(", ")),
      cell("id", Words.plain(row.id)), cell("key", row.key === undefined ? "" : String(row.key)),
      cell("from", row.page ? "p " + row.page : "—"), cell("bytes", row.bytes ? Words.size(row.bytes) : ""),
      cell("text", RowList.excerpt(row)));
    if (row.doubt) node.append(cell("doubt", "unverified: " + row.doubt, Words.why(row.doubt)));
  }

  // As in `quire show`: + outside the server's sequence, * pinned, ? without its body; and ! outdated.
  static marks(row) {
    const signs = { detached: "+", pinned: "*", placeholder: "?", outdated: "!", read: "✓" };
    return row.marks.map((mark) => signs[mark] || "").join("");
  }

  static excerpt(row) {
    if (!row.excerpt) return row.marks.includes("placeholder") ? "(no body)" : "";
    const title = /^\s*\{/.test(row.excerpt)
      && /"(?:title|name|text|content|body|summary|message)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(row.excerpt);
    let text = row.excerpt;
    if (title) {
      try { text = JSON.parse(title[1]); } catch (error) { text = row.excerpt; }
    }
    return Words.plain(text.replace(/\s+/g, " ").slice(0, 240));
  }
}
