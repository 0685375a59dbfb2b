"use strict";
// What the page says. All text of a cache goes through textContent, and through plain() before that.
const Words = (() => {
  // What would move other text about or not be seen is shown by its number.
  const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  const plain = (text) => String(text).replace(hidden, (c) =>
    "\\u{" + c.codePointAt(0).toString(16).toUpperCase() + "}");
  // The same for text of several lines.
  const lines = (text) => String(text).replace(hidden, (c) =>
    c === "\n" || c === "\t" ? c : c === "\r" ? "" : "\\u{" + c.codePointAt(0).toString(16).toUpperCase()
      + "}");

  const number = (n) => Number(n).toLocaleString("en-US");
  const counted = (n, noun, plural) => number(n) + " " + (n === 1 ? noun : plural || noun + "s");
  function size(bytes) {
    if (bytes < 1000) return counted(bytes, "byte");
    for (const unit of ["kB", "MB", "GB"]) {
      bytes /= 1000;
      if (bytes < 999.95) return bytes.toFixed(1) + " " + unit;
    }
    return (bytes / 1000).toFixed(1) + " TB";
  }
  const date = (ms) => ms > 0 && ms < 8e15 ? new Date(ms).toISOString().replace("T", " ").replace(/\.\d+Z/,
    " UTC") : "";

  const ages = [["within an hour", 36e5], ["within a day", 864e5], ["within a week", 6048e5],
    ["within a month", 2592e6], ["longer ago", Infinity]];
  // The index in `ages`; -1 if it is not known when.
  const age = (ms, now) => ms > 0 ? ages.findIndex(([, limit]) => now - ms < limit) : -1;
  function ago(ms, now) {
    if (!(ms > 0)) return "at an unknown time";
    const seconds = Math.max(0, (now - ms) / 1000);
    for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
      if (seconds >= 2 * length) return counted(Math.floor(seconds / length), unit) + " ago";
    }
    return seconds < 2 ? "just now" : counted(Math.floor(seconds), "second") + " ago";
  }

  const doubts = {
    "unfetched": "this part was never requested",
    "evicted": "posts were evicted here",
    "end-in-doubt": "the server reported an end here, although posts were cached below",
    "jump": "the answer to a jump ended here",
    "missing-page": "a page of the crawl is missing here",
    "contradiction": "an answer contradicted this join",
    "drift": "the page numbers have shifted here",
    "numbering": "only the server's page numbers join these posts",
    "disorder": "a post left this place against the order of the feed",
    "unplaced": "the server showed a post here that could not be placed",
    "missed": "a pushed message announced newer posts, and did not prove that nothing lies between",
    "damage": "the posts here were lost with a damaged file",
  };
  const why = (doubt) => doubts[doubt] || doubt;

  const linkKinds = { "unknown": "no link is known", "end": "the end", "confirm-end": "an end to be confirmed",
    "head": "the first page", "more": "more, by position" };
  const link = (l) => linkKinds[l.kind] || plain(l.text);

  // What is missing, in one sentence.
  function verdict(f) {
    const missing = [];
    if (f.gaps) missing.push(counted(f.gaps, "gap"));
    if (f.isHeadOpen) missing.push("an open head");
    if (!f.rows) return "Nothing is cached.";
    let text = missing.length
      ? "Posts may be missing: " + missing.join(" and ") + "."
      : "In sequence: no post is known to be missing, as of the last fetch.";
    if (f.unverified) text += " " + counted(f.unverified, "join is", "joins are") + " unverified.";
    if (f.againstOrder) text += " " + counted(f.againstOrder, "answer", "answers")
      + " contradicted the order of the feed.";
    return text;
  }

  // An element with attributes, text and children. Never markup.
  function element(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "text") node.textContent = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((c) => c !== null && c !== undefined));
    return node;
  }

  return { plain, lines, number, counted, size, date, ages, age, ago, why, link, verdict, element };
})();
