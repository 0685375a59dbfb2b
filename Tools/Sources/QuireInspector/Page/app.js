"use strict";
// The page: one cache and one feed of it are shown at a time.
const App = (() => {
  const $ = (id) => document.getElementById(id);
  const { element, number, plain, size } = Words;
  const embedded = $("data");
  const source = embedded ? new ReportSource(JSON.parse(embedded.textContent)) : new LiveSource();
  const state = { caches: [], cache: 0, feed: null, map: null, tab: "map", log: null };
  let map, rows;

  // MARK: Feeds

  const cache = () => state.caches[state.cache];
  const feed = () => cache() && cache().feeds.find((f) => f.number === state.feed);

  function drawFeeds() {
    const lists = state.caches.map((c, index) => element("div", {},
      state.caches.length > 1 ? element("h2", { class: "cache", text: plain(c.name) }) : null,
      element("ul", {}, ...c.feeds.map((f) => {
        const g = f.figures;
        const missing = g ? g.gaps + (g.isHeadOpen ? 1 : 0) : 0;
        const isShown = index === state.cache && f.number === state.feed;
        const sign = !g ? element("span", { class: "badge bad", text: "unreadable" })
          : missing ? element("span", { class: "badge bad",
            text: [g.gaps ? Words.counted(g.gaps, "gap") : "", g.isHeadOpen ? "open head" : ""]
            .filter((t) => t).join(" + ") })
          : g.unverified ? element("span", { class: "badge doubt", text: number(g.unverified) + " unverified" })
          : element("span", { class: "badge good", text: g.rows ? "whole" : "empty" });
        return element("li", {}, element("button", { type: "button", "aria-current": isShown ? "true" : null,
          onclick: () => open(index, f.number) },
        element("span", { class: "name", text: plain(f.name), dir: "auto" }),
        element("span", { class: "quiet", text: g ? Words.counted(g.posts + g.detached, "post") : "" }), sign));
      })), c.more > 0 ? element("p", { class: "quiet", text: Words.counted(c.more, "more feed")
        + " not in this report" }) : null));
    $("feeds").replaceChildren(...lists);
  }

  function drawSummary() {
    const c = cache();
    document.title = "Quire: " + plain(c.name.split("/").pop());
    $("cache-name").textContent = plain(c.name.split("/").pop());
    $("cache-line").textContent = Words.counted(c.figures.feeds, "feed") + ", "
      + Words.counted(c.figures.posts, "post") +
      ", " + size(c.figures.fileBytes) + ", commit " + number(c.figures.generation);
    const notices = c.findings.map((text) => element("p",
      { class: "notice bad", text: "Damaged: " + plain(text) }));
    const f = feed();
    if (!f) notices.push(element("p", { class: "notice", text: "The cache has no feeds." }));
    else if (f.error) notices.push(element("p", { class: "notice bad", text: "This feed cannot be read: "
      + plain(f.error) }));
    $("notices").replaceChildren(...notices);
    const isDrawn = Boolean(f && f.figures && state.map);
    for (const id of ["summary", "map", "list"]) $(id).hidden = !isDrawn;
    if (!isDrawn) return;
    const g = f.figures;
    $("feed-name").textContent = plain(f.name);
    $("feed-kind").textContent = "ordered " + g.order + ", paged by " + g.paging +
      (g.collection ? ", collection " + plain(g.collection) : "") +
      (g.rowsPerPage ? ", " + g.rowsPerPage + " rows a page" : "");
    $("verdict").textContent = Words.verdict(g);
    $("verdict").className = g.gaps || g.isHeadOpen ? "bad" : g.unverified ? "doubt" : "good";
    const figures = [["Posts", number(g.posts)], ["Pages", number(g.pages)],
      ["Gaps", number(g.gaps), g.gaps ? "bad" : ""],
      ["Head", g.isHeadOpen ? "open" : "closed", g.isHeadOpen ? "bad" : ""],
      ["Tail", g.tail.kind === "end" ? (g.isEndAssumed ? "end, assumed" : "end") : Words.link(g.tail)],
      ["Unverified joins", number(g.unverified), g.unverified ? "doubt" : ""],
      ["Bodies", size(g.bodyBytes)]];
    if (g.detached) figures.push(["Outside the sequence", number(g.detached)]);
    if (g.placeholders) figures.push(["Without body", number(g.placeholders)]);
    if (state.map.pinned.length) figures.push(["Pinned", number(state.map.pinned.length)]);
    if (f.marker !== undefined && f.marker !== null) figures.push(["Unread rows", number(f.marker)]);
    $("figures").replaceChildren(...figures.map(([name, value, kind]) =>
      element("div", { class: kind || null }, element("dt", { text: name }),
        element("dd", { text: value, title: value }))));
    $("detail").setAttribute("aria-label", "Map of " + plain(f.name) + ". " + Words.verdict(g));
  }

  function drawLegend() {
    const m = state.map;
    const used = new Set(m.bars.filter((b) => b[4]).map((b) => b[3] ? Words.age(b[6], source.now) : -1));
    const key = (kind, text) => element("li", {}, element("i", { class: kind }), text);
    const keys = Words.ages.map(([name], i) => used.has(i) ? key("age-" + i, "fetched " + name)
      : null).filter((k) => k);
    if (used.has(-1)) keys.push(key("age-unknown", "time not known"));
    keys.push(element("li", { class: "quiet", text: "higher: later answer" }));
    if (m.gapCount) keys.push(key("gap", "gap: posts may be missing"));
    if (m.joinCount) keys.push(key("join", "unverified join"));
    if (m.pinned.length) keys.push(key("pin", "pinned"));
    const f = feed();
    if (f.marker !== undefined && f.marker !== null) keys.push(key("unread", "unread, up to the mark"));
    $("legend").replaceChildren(...keys);
  }

  // MARK: Tables

  const tabs = [["map", "Segments and gaps"], ["answers", "Answers"], ["commits", "Commits"], ["file", "File"]];

  function drawTabs() {
    $("tabs").replaceChildren(...tabs.map(([id, name]) => element("button",
      { type: "button", role: "tab", id: "tab-" + id,
      "aria-selected": state.tab === id ? "true" : "false", "aria-controls": "table",
        tabindex: state.tab === id ? 0 : -1, text: name,
      onclick: () => choose(id) })));
    $("table").setAttribute("aria-labelledby", "tab-" + state.tab);
  }

  async function choose(tab) {
    state.tab = tab;
    drawTabs();
    await drawTable();
  }

  async function drawTable() {
    const f = feed();
    const tab = state.tab;
    if (tab === "file") return $("table").replaceChildren(Tables.file(cache().figures));
    if (!f || !state.map) return $("table").replaceChildren();
    if (tab === "map") return $("table").replaceChildren(Tables.map(f, state.map, source.now,
      (rank) => goTo(rank)));
    let log;
    try {
      log = await source.log(state.cache, f.number);
    } catch (error) {
      return $("table").replaceChildren(element("p", { class: "notice bad", text: plain(error.message) }));
    }
    if (state.tab !== tab || feed() !== f) return;
    $("table").replaceChildren(tab === "answers" ? Tables.answers(log.answers, source.now)
      : Tables.commits(log.commits));
  }

  // MARK: One feed

  async function open(index, feedNumber) {
    state.cache = index;
    state.feed = feedNumber;
    state.map = null;
    $("post").hidden = true;
    drawFeeds();
    await load(false);
  }

  async function load(keepsPlace) {
    const f = feed();
    if (!f || !f.figures) {
      state.map = null;
      drawSummary();
      return drawTable();
    }
    let found;
    try {
      found = await source.map(state.cache, f.number, 0, 0, 2000);
    } catch (error) {
      Object.assign(f, { error: error.message, figures: undefined });
      state.map = null;
      drawFeeds();
      drawSummary();
      return drawTable();
    }
    if (feed() !== f) return;
    const shift = keepsPlace ? await rowsAbove(f) : 0;
    if (feed() !== f) return;
    state.map = found;
    drawSummary();
    drawLegend();
    map.show(found, f, source.now, keepsPlace, shift);
    const top = keepsPlace ? rows.top + shift : 0;
    const list = source.list(state.cache, f.number, found.rows);
    if (keepsPlace && source.isLive && rows.list) list.follow(rows.list, shift);
    rows.show(list, source.now, keepsPlace, shift);
    if (keepsPlace) rows.moveTo(top);
    $("list-note").textContent = source.isLive ? "" : "the rows around gaps; the rest is not in this report";
    await drawTable();
  }

  // By how much the rows moved that are looked at: who reads in the middle should not lose the place when posts
  // come on top. At the top they are seen as they come.
  async function rowsAbove(f) {
    const row = rows.list && rows.top >= 1 ? rows.list.at(Math.ceil(rows.top)) : null;
    if (!row || !row.address) return 0;
    const found = await source.rank(state.cache, f.number, row).catch(() => null);
    return found === null ? 0 : found - row.rank;
  }

  function goTo(rank) {
    map.chosen = rank;
    map.lookAt(rank);
    rows.lookAt(rank);
  }

  // The next gap below the row that was chosen, or above it.
  function goToGap(isBelow) {
    if (!state.map) return;
    const here = map.chosen ?? (map.isWhole ? (isBelow ? -1 : Infinity)
      : (map.view[0] + map.view[1]) / 2 - 0.5);
    const gaps = state.map.gaps.map((g) => g.rank).filter((rank) => isBelow ? rank > here : rank < here);
    if (gaps.length) goTo(isBelow ? gaps[0] : gaps[gaps.length - 1]);
  }

  let wait = 0;
  function viewed() {
    const [from, to] = map.view;
    const all = map.map.rows;
    $("range").textContent = map.isWhole ? Words.counted(all, "row")
      : "rows " + number(Math.floor(from)) + " to " + number(Math.min(all, Math.ceil(to)) - 1) + " of "
        + number(all);
    $("gap-before").disabled = $("gap-after").disabled = !map.map.gaps.length;
    if (!source.isLive || map.isWhole) return;
    clearTimeout(wait);
    wait = setTimeout(async () => {
      const f = feed();
      const margin = (to - from) / 2;
      const part = await source.map(state.cache, f.number, Math.max(0, Math.floor(from - margin)),
        Math.ceil(to + margin), 2000)
        .catch(() => null);
      if (part && feed() === f && part.generation >= map.map.generation) map.setPart(part);
    }, 120);
  }

  // MARK: One row

  async function show(row) {
    if (!row || row.skipped) return;
    const panel = $("post");
    panel.hidden = false;
    const close = element("button", { type: "button", class: "close", "aria-label": "Close", text: "×",
      onclick: () => { panel.hidden = true; $("rows").focus(); } });
    const entry = (name, value) => value === undefined || value === null || value === "" ? []
      : [element("dt", { text: name }), element("dd", { text: plain(value), dir: "auto" })];
    if (row.gap) {
      panel.replaceChildren(close, element("h3", { text: "Gap " + plain(row.gap.id) }),
        element("p", { class: "bad", text: "Posts may be missing here: " + Words.why(row.gap.why) + "." }),
        element("dl", {}, ...entry("Why", row.gap.why), ...entry("Filled by", Words.link(row.gap.down)),
          ...entry("From below", Words.link(row.gap.up)),
            ...entry("Opened at", "time " + row.gap.since + " of the cache's clock"),
          ...entry("Row", number(row.rank))));
      return;
    }
    const place = element("div", { class: "quiet", text: "…" });
    panel.replaceChildren(close, element("h3", { text: "Post " + plain(row.id), dir: "auto" }),
      element("dl", {}, ...entry("Key", row.key), ...entry("Version", row.version),
        ...entry("Page", row.page || "none"),
        ...entry("Row", number(row.rank)), ...entry("Body", size(row.bytes || 0)),
          ...entry("Detail", row.detail),
        ...entry("Marks", row.marks.join(", ")), ...entry("Unverified", row.doubt && row.doubt + ": "
          + Words.why(row.doubt))),
      place);
    let body;
    try {
      body = await source.body(state.cache, state.feed, row);
    } catch (error) {
      place.textContent = plain(error.message);
      return;
    }
    place.className = "";
    place.replaceChildren(body && body.bytes ? Tree.body(body)
      : element("p", { class: "quiet", text: source.bodyNote(row) }));
  }

  // MARK: Live

  let isLoading = false, isStale = false;
  async function refresh() {
    if (isLoading) { isStale = true; return; }
    isLoading = true;
    try {
      do {
        isStale = false;
        state.caches = await source.caches();
        if (state.cache >= state.caches.length) state.cache = 0;
        if (!feed()) state.feed = cache().feeds.length ? cache().feeds[0].number : null;
        drawFeeds();
        await load(true);
      } while (isStale);
    } finally {
      isLoading = false;
    }
  }

  function say(isLost) {
    const text = isLost ? "the server does not answer" : "live";
    if ($("state").textContent === text) return;
    $("state").textContent = text;
    $("state").className = isLost ? "lost" : "live";
  }

  async function start() {
    map = new FeedMap($("detail"), $("overview"), $("hint"), {
      viewed,
      idAt: (rank) => {
        if (!rows.list || !rows.list.count) return null;
        const row = rows.list.at(rows.list.indexOf(rank));
        return row && row.rank === rank ? row.id : null;
      },
      chosen: (rank) => {
        map.choose(rank);
        rows.lookAt(rank);
        rows.open(rows.chosen);
      },
    });
    rows = new RowList($("rows"), {
      chosen: (row) => map.choose(row.rank),
      opened: show,
    });
    $("whole").onclick = () => { map.chosen = null; map.setView(0, Infinity); };
    $("closer").onclick = () => map.zoom(0.5);
    $("farther").onclick = () => map.zoom(2);
    $("gap-before").onclick = () => goToGap(false);
    $("gap-after").onclick = () => goToGap(true);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !map.map) return;
      if (event.key === "g" || event.key === "G") goToGap(event.key === "g");
      else if (event.key === "0") $("whole").click();
      else if (event.key === "Escape") $("post").hidden = true;
    });
    $("tabs").addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const index = tabs.findIndex(([id]) => id === state.tab);
      choose(tabs[(index + step + tabs.length) % tabs.length][0]).then(() => $("tab-" + state.tab).focus());
    });
    drawTabs();
    state.caches = await source.caches();
    // First what somebody came for: a feed with something missing.
    const missing = (f) => f.figures ? f.figures.gaps + (f.figures.isHeadOpen ? 1 : 0) : 0;
    state.cache = Math.max(0, state.caches.findIndex((c) => c.feeds.some(missing)));
    const feeds = cache().feeds;
    const first = feeds.find(missing) || feeds[0];
    if (first) await open(state.cache, first.number);
    else { drawFeeds(); drawSummary(); }
    if (source.isLive) source.watch(refresh, say);
    else $("state").textContent = "report of " + Words.date(source.now);
  }

  const started = start().catch((error) => {
    $("notices").replaceChildren(element("p", { class: "notice bad", text: "This page cannot be shown: "
      + plain(error.message) }));
  });
  return { state, source, started, goTo, get map() { return map; }, get rows() { return rows; } };
})();
