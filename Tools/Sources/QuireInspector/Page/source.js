"use strict";
// Where the data comes from: out of the report's own file, or from the server that sent this page. Both have the
// same methods.

// A report: everything is here.
class ReportSource {
  constructor(data) {
    this.data = data;
    this.isLive = false;
    this.now = data.made;
  }

  async caches() {
    const d = this.data;
    return [{ name: d.path, figures: d.figures, findings: d.findings, more: d.feedCount - d.feeds.length,
      feeds: d.feeds.map((f) => ({ number: f.number, name: f.name, error: f.error, figures: f.figures,
        marker: f.marker })) }];
  }

  feed(number) { return this.data.feeds.find((f) => f.number === number); }

  async map(cache, number) { return this.feed(number).map; }

  // The rows that the report holds, and lines for those between them.
  list(cache, number, rowCount) {
    const items = [];
    let next = 0;
    const skip = (to) => { if (to > next) items.push({ rank: next, skipped: to - next }); };
    for (const row of this.feed(number).rows) {
      skip(row.rank);
      items.push(row);
      next = row.rank + 1;
    }
    skip(rowCount);
    return new FixedList(items);
  }

  async body(cache, number, row) { return row.body || null; }

  bodyNote(row) {
    if (!this.data.hasBodies) return "This report was made without bodies.";
    return row.bytes ? "The body is not in this report: it would be too large." : "The post has no body here.";
  }

  async log(cache, number) {
    return { commits: this.data.commits, answers: this.feed(number).answers };
  }

  watch() { }
}

class FixedList {
  constructor(items) { this.items = items; this.count = items.length; }
  at(index) { return this.items[index]; }
  want() { }
  rankAt(index) { return this.items[index] ? this.items[index].rank : 0; }
  // The last item that begins at the rank or above.
  indexOf(rank) {
    let [low, high] = [0, this.items.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.items[middle].rank <= rank) low = middle; else high = middle;
    }
    return low;
  }
}

// A server: asked for what is seen.
class LiveSource {
  constructor() { this.isLive = true; }
  get now() { return Date.now(); }

  async get(path, query) {
    const address = path + "?" + new URLSearchParams(query || {});
    const response = await fetch(address, { cache: "no-store", credentials: "omit" });
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
  }

  async caches() {
    const caches = await this.get("api/feeds");
    return caches.map((c) => ({ name: c.name, figures: c.figures, findings: [], more: 0, feeds: c.feeds }));
  }

  map(cache, feed, from, to, bars) {
    const query = { cache, feed, bars };
    if (to > from) Object.assign(query, { from, to });
    return this.get("api/map", query);
  }

  list(cache, feed, rowCount) { return new PagedList(this, cache, feed, rowCount); }

  body(cache, feed, row) { return this.get("api/body", { cache, feed, id: row.address }); }
  bodyNote() { return "The post has no body here."; }
  // The rank that a row has now; null if it has left.
  async rank(cache, feed, row) { return (await this.get("api/rank", { cache, feed, id: row.address })).rank ?? null; }
  log(cache, feed) { return this.get("api/log", { cache, feed }); }

  // Calls back after each commit of any cache, and says whether the server answers.
  async watch(changed, lost) {
    let seen = [];
    for (;;) {
      try {
        const now = await this.get("api/changes", { since: seen.join(",") });
        const isFirst = seen.length === 0;
        const isNew = now.join() !== seen.join();
        seen = now;
        lost(false);
        if (isNew && !isFirst) await changed();
      } catch (error) {
        lost(true);
        await new Promise((resolve) => setTimeout(resolve, 2000));
      }
    }
  }
}

// Rows by rank, fetched in parts as they are seen. The rows wanted last come first, and at most two requests are
// under way, however fast somebody scrolls.
class PagedList {
  static part = 200;

  constructor(source, cache, feed, count) {
    Object.assign(this, { source, cache, feed, count });
    this.parts = new Map();
    this.earlier = new Map();
    this.shift = 0;
    this.wanted = [];
    this.underWay = 0;
    this.requests = 0;
    this.loaded = () => { };
  }

  at(index) {
    const part = this.parts.get(Math.floor(index / PagedList.part));
    if (part) return part[index % PagedList.part];
    const before = index - this.shift;
    const earlier = this.earlier.get(Math.floor(before / PagedList.part));
    return earlier && earlier[before % PagedList.part];
  }

  // Until its rows come, those of the list that it replaces are shown, at their new places.
  follow(list, shift) {
    this.earlier = new Map(list.parts);
    this.shift = shift;
  }
  rankAt(index) { return index; }
  indexOf(rank) { return rank; }

  want(from, to) {
    this.wanted = [];
    const last = Math.floor(Math.max(from, to - 1) / PagedList.part);
    for (let p = Math.floor(from / PagedList.part); p <= last; p++) if (!this.parts.has(p)) this.wanted.push(p);
    this.ask();
  }

  async ask() {
    if (this.underWay >= 2 || this.wanted.length === 0) return;
    const part = this.wanted.shift();
    this.underWay++;
    this.requests++;
    try {
      const found = await this.source.get("api/rows", { cache: this.cache, feed: this.feed,
        from: part * PagedList.part, limit: PagedList.part });
      if (this.parts.size > 50) this.parts.delete(this.parts.keys().next().value);
      this.parts.set(part, found.rows);
      this.loaded();
    } catch (error) {
      // The list asks again when it is drawn next; a server that is gone is said elsewhere.
    } finally {
      this.underWay--;
      this.wanted = this.wanted.filter((p) => !this.parts.has(p));
      this.ask();
    }
  }
}
