"use strict";
// What the map shows, in words and numbers, for those who do not see it; the log; and the file.
const Tables = (() => {
  const { element, number, plain, link, size } = Words;

  function table(caption, titles, rows, note) {
    const head = element("tr", {}, ...titles.map((t) => element("th", { scope: "col", text: t })));
    const body = rows.map((row) => element("tr", { class: row.kind },
      ...row.cells.map((cell) => element("td", {}, cell instanceof Node ? cell
        : document.createTextNode(cell ?? "")))));
    const node = element("div", {},
      element("div", { class: "scroll" }, element("table", {},
        element("caption", { text: caption }), element("thead", {}, head), element("tbody", {}, ...body))));
    if (!rows.length) node.append(element("p", { class: "quiet", text: "Nothing here." }));
    if (note) node.append(element("p", { class: "quiet", text: note }));
    return node;
  }

  // Segments and gaps in the order of the feed: the map as text.
  function map(feed, map, now, goTo) {
    const f = feed.figures;
    const rows = [];
    const place = (rank, text) => element("button",
      { type: "button", class: "link", text, onclick: () => goTo(rank) });
    if (f.isHeadOpen) {
      rows.push({ kind: "gap", cells: ["open head", "", "", "posts may be missing above the first one",
        link(f.head), ""] });
    }
    const parts = [...map.segments.map((s) => ({ rank: s.start, s })),
      ...map.gaps.map((g) => ({ rank: g.rank, g }))];
    parts.sort((a, b) => a.rank - b.rank);
    for (const { rank, s, g } of parts) {
      if (g) {
        rows.push({ kind: "gap", cells: [place(rank, "gap " + plain(g.id)), number(rank), "",
          g.why + ": " + Words.why(g.why), link(g.down), link(g.up)] });
      } else {
        const ends = s.rows === 1 ? plain(s.first) : plain(s.first) + " … " + plain(s.last);
        const when = s.newest ? "; fetched " + Words.ago(s.newest, now) : "";
        rows.push({ cells: [place(rank, "segment"), number(rank), number(s.rows),
          ends + when, "", ""] });
      }
    }
    const end = f.tail.kind === "end" ? (f.isEndAssumed ? "the end, as far as answers show" : "the end")
      : link(f.tail);
    rows.push({ cells: ["tail", number(f.rows), "", f.tail.kind === "end" ? "nothing follows"
      : "the feed goes on", end, ""] });
    const more = map.gapCount - map.gaps.length;
    const joins = map.joins.slice(0, 200);
    for (const join of joins) {
      rows.push({ kind: "join", cells: [place(join.rank, "unverified join"), number(join.rank), "",
        join.doubt + ": " + Words.why(join.doubt), "", ""] });
    }
    const hidden = map.joinCount - joins.length;
    const note = [more > 0 ? Words.counted(more, "more gap") : "", hidden > 0
      ? Words.counted(hidden, "more unverified join") : ""]
      .filter((t) => t).join(", ");
    return table("Segments and gaps, top first", ["What", "Row", "Rows", "Posts, or why", "Filled by",
      "From below"], rows,
      note ? "Not listed: " + note + "." : "");
  }

  function answers(answers, now) {
    return table("What each answer did, latest first. A page is one accepted answer.",
      ["Page", "Asked for", "Received", "New", "Known", "Twice", "Still holds", "Goes on with", "When"],
      answers.map((a) => ({ kind: a.new === 0 ? "dull" : "",
        cells: [String(a.page), link(a.asked), number(a.received), number(a.new),
        number(a.known), number(a.twice), number(a.holds), link(a.next),
        a.receivedAt ? Words.ago(a.receivedAt, now) : ""] })));
  }

  function commits(commits) {
    const did = (c) => {
      const words = [];
      if (c.isReset) words.push("begun anew, or too much to list");
      if (c.inserted) words.push("+" + number(c.inserted) + " (" + c.posts.map(plain).join(", ")
        + (c.inserted > c.posts.length ? ", …" : "") + ")");
      if (c.removed) words.push("−" + number(c.removed));
      if (c.updated) words.push(number(c.updated) + " updated");
      return words.join("; ") || "—";
    };
    const list = (ids) => ids.map(plain).join(" ");
    return table("What each commit changed, latest first",
      ["Commit", "Feed", "Posts", "By page", "Opened", "Closed"],
      commits.map((c) => ({ kind: c.gapsOpened.length ? "opened" : c.gapsClosed.length ? "closed" : "", cells: [
        String(c.commit), plain(c.feed), did(c), c.pages.map((p) => String(p)).join(", "),
        list(c.gapsOpened) + (c.why.length ? " (" + c.why.join(", ") + ")" : ""), list(c.gapsClosed)] })));
  }

  function file(f) {
    const rows = [
      ["Feeds", number(f.feeds), ""], ["Posts", number(f.posts), "each stored once in its collection"],
      ["Pages", number(f.pages), ""], ["Gaps", number(f.gaps), ""],
      ["Commits", number(f.generation), "since the cache was created"],
      ["Bodies", size(f.bodyBytes), "in use"],
      ["", size(f.deadBodyBytes), "replaced or dropped, beside others in use; compact frees them"],
      ["File", size(f.fileBytes), ""], ["", size(f.usedBytes), "in use"],
      ["", size(f.freeBytes), "free for reuse"]];
    if (f.snapshots) {
      rows.push(["Snapshots", number(f.snapshots), "open, here or in other programs; the oldest in process "
        + f.oldestSnapshotProcess],
        ["", number(f.oldestSnapshotAge), "commits since the oldest began"],
        ["", size(f.pinnedBytes), "kept from reuse by it"]);
    }
    const node = table("The cache and its file", ["What", "How much", ""], rows.map((cells) => ({ cells })));
    const all = Math.max(1, f.fileBytes);
    const live = Math.min(all, f.bodyBytes);
    const parts = [["bodies", live], ["dead bodies", Math.min(all - live, f.deadBodyBytes)],
      ["index and feeds", Math.max(0, f.usedBytes - f.bodyBytes - f.deadBodyBytes)],
        ["free", Math.max(0, all - f.usedBytes)]];
    const strip = element("div", { class: "space-use", "aria-hidden": "true" });
    parts.forEach(([name, bytes], i) => {
      const part = element("span", { class: "use-" + i, title: name + ": " + size(bytes) });
      part.style.flexGrow = bytes / all;
      strip.append(part);
    });
    const legend = element("p", { class: "quiet" }, ...parts.map(([name, bytes], i) =>
      element("span", { class: "space-key" }, element("i", { class: "use-" + i }), name + " " + size(bytes))));
    node.prepend(strip, legend);
    return node;
  }

  return { map, answers, commits, file };
})();
