"use strict";
// A body: JSON as a tree, anything else as text. Nothing in it is ever markup.
const Tree = (() => {
  const childLimit = 200;

  // Numbers stay as they were written: an id of 20 digits must not be rounded. A browser that cannot tell how
  // they were written shows the text instead.
  class Written { constructor(text) { this.text = text; } }

  function parse(text) {
    if (!/^\s*[[{]/.test(text)) return undefined;
    try {
      let isExact = true;
      const value = JSON.parse(text, (key, value, context) => {
        if (typeof value !== "number") return value;
        if (context && typeof context.source === "string") return new Written(context.source);
        if (!Number.isSafeInteger(value)) isExact = false;
        return value;
      });
      return isExact ? value : undefined;
    } catch (error) {
      return undefined;
    }
  }

  function leaf(value) {
    const kind = value instanceof Written || typeof value === "number" ? "number"
      : value === null ? "null" : typeof value;
    const text = value instanceof Written ? value.text
      : typeof value === "string" ? JSON.stringify(value) : String(value);
    return Words.element("span", { class: "value " + kind, dir: "auto", text: Words.plain(text) });
  }

  function branch(key, value, depth) {
    const name = key === null ? null
      : Words.element("span", { class: "key", text: Words.plain(key) + ": " });
    if (value === null || typeof value !== "object" || value instanceof Written) {
      return Words.element("li", {}, name, leaf(value));
    }
    const isArray = Array.isArray(value);
    const keys = isArray ? null : Object.keys(value);
    const count = isArray ? value.length : keys.length;
    const summary = Words.element("summary", {}, name,
      Words.element("span", { class: "quiet", text: isArray ? "[" + count + "]" : "{" + count + "}" }));
    const details = Words.element("details", {}, summary);
    const list = Words.element("ul");
    let shown = 0;
    const more = () => {
      const end = Math.min(count, shown + childLimit);
      for (; shown < end; shown++) {
        list.append(isArray ? branch(shown, value[shown], depth + 1)
          : branch(keys[shown], value[keys[shown]], depth + 1));
      }
      if (shown < count) {
        const button = Words.element("button", { type: "button", text: Words.number(count - shown) + " more" });
        button.addEventListener("click", () => { button.parentNode.remove(); more(); });
        list.append(Words.element("li", {}, button));
      }
    };
    const fill = () => { if (!shown && count) more(); };
    details.append(list);
    details.addEventListener("toggle", fill);
    if (depth < 2 && count <= 40) {
      details.open = true;
      fill();
    }
    return Words.element("li", {}, details);
  }

  // The body as an element, with a note if it was cut.
  function body(text) {
    const node = Words.element("div", { class: "body" });
    const value = text.cut ? undefined : parse(text.text);
    node.append(value === undefined
      ? Words.element("pre", { dir: "auto", text: Words.lines(text.text) })
      : Words.element("ul", { class: "tree" }, branch(null, value, 0)));
    if (text.cut) {
      node.append(Words.element("p", { class: "notice", text: "Cut: this is the start of "
        + Words.size(text.bytes) + "." }));
    }
    return node;
  }

  return { body };
})();
