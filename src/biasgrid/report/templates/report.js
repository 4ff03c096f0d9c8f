"use strict";
// Makes the page more useful: it filters and sorts the ranking, opens what a link leads to, filters published numbers.
// Without it, all of the page is there, but for the single scores of a large one. It shows and hides what the study's tables say, and computes nothing.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data")?.textContent ?? "{}"); // of a study that ranks models
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // ---- a table as a file, or on the clipboard

  // a spreadsheet would compute a text that begins so
  const plain = (value) => (/^'*[=+@\t\r-]/.test(value) && isNaN(value) ? `'${value}` : value);
  const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const csv = (rows) => rows.map((row) => row.map((value) => quoted(plain(String(value ?? "")))).join(",") + "\n").join("");

  function save(name, rows) {
    const url = URL.createObjectURL(new Blob([csv(rows)], { type: "text/csv" }));
    make("a", { href: url, download: `${name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  // what is seen of a table; the heading of a group of rows is a column
  function rowsOf(table) {
    const text = (cell) => (cell.querySelector("[aria-label]")?.getAttribute("aria-label") ?? cell.innerText).replace(/\s+/g, " ").replaceAll("\u2212", "-").trim();
    const seen = (cells) => [...cells].filter((cell) => !cell.hidden);
    const groups = all("th[scope=rowgroup]", table);
    let group = "";
    const rows = [];
    for (const row of table.rows) {
      if (row.hidden || row.parentElement.hidden) continue;
      const heading = row.querySelector("th[scope=rowgroup]");
      if (heading) group = text(heading);
      else rows.push([...(groups.length ? [row.parentElement === table.tHead ? "group" : group] : []), ...seen(row.cells).map(text)]);
    }
    return rows;
  }

  function tools() {
    for (const place of all("main .scroll")) {
      const table = place.querySelector(":scope > table");
      if (!table) continue;
      const name = place.getAttribute("aria-label");
      const button = (label, act) => {
        const made = make("button", { type: "button", "aria-label": `${label}: ${name}` }, label);
        made.addEventListener("click", () => act(made));
        return made;
      };
      const copy = button("Copy", async (made) => {
        const text = rowsOf(table).map((row) => row.join("\t")).join("\n");
        const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
        made.textContent = copied ? "Copied" : "Not allowed here";
        setTimeout(() => (made.textContent = "Copy"), 2000);
      });
      const file = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
      place.before(make("p", { class: "tools" }, copy, button("CSV", () => save(file(name), rowsOf(table)))));
    }
  }

  // ---- parts of the page that are packed: deflated, in base 64

  async function unpacked(block) {
    const bytes = Uint8Array.from(atob(block.textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const template = make("template");
    template.innerHTML = await new Response(stream).text();
    return template.content;
  }

  // ---- the picture of what is biased: one metric at a time, and all queries of a topic

  function pictures() {
    document.addEventListener("click", ({ target }) => {
      if (!target.matches(".open-more button")) return;
      const line = target.closest(".open-more");
      line.previousElementSibling.hidden = false;
      line.remove();
    });
    const form = byId("bias-switch");
    if (!form || !globalThis.DecompressionStream) return;
    form.addEventListener("change", async ({ target }) => {
      for (const part of all(".of-bias")) part.hidden = part.id !== target.value;
      const block = byId(target.value).querySelector("script");
      if (block) block.replaceWith(await unpacked(block));
    });
    form.hidden = false;
  }

  // ---- the ranking: criteria, metrics, models and debias methods are chosen, each a set of keys

  const KINDS = ["criterion", "metric", "model", "debias"];

  function ranking() {
    const form = byId("ranking-filters");
    const place = byId("ranking-tables");
    const status = byId("ranking-status");
    const panel = form.querySelector("details");
    const SORTED_BY = data.columns.indexOf("value_shared");
    const parts = all("details", place);
    const lines = all("tr[data-model]", place);
    const given = new Map(parts.map((part) => [part, all("tr[data-model]", part)]));
    const options = {
      criterion: data.criteria.map((name) => [name, name]),
      metric: data.metrics.map(({ key, label }) => [key, label]),
      model: Object.entries(data.models),
      debias: Object.entries(data.debias),
    };
    // criterion, metric, model and debias method -> a row of the study's tables
    const rows = new Map(data.rankings.map((row) => [row.slice(0, 4).join("\n"), row]));
    let sort = null; // {key, descending}
    let shown = []; // rows of the study's tables that are shown

    for (const kind of KINDS) {
      const fieldset = form.querySelector(`[data-filter=${kind}]`);
      const what = fieldset.querySelector("legend").textContent;
      const boxes = options[kind].map(([key, label]) =>
        make("label", {}, make("input", { type: "checkbox", name: kind, value: key, checked: "" }), label));
      if (boxes.length > 2)
        fieldset.append(make("p", { class: "pick" }, ...["all", "none"].map((word) => {
          const button = make("button", { type: "button", "aria-label": `${word}: ${what}` }, word);
          button.addEventListener("click", () => {
            for (const box of all("input", fieldset)) box.checked = word === "all";
            changed();
          });
          return button;
        })));
      fieldset.append(make("div", boxes.length > 8 ? { class: "many" } : {}, ...boxes));
      fieldset.hidden = boxes.length < 2;
    }

    for (const header of all("thead th", place)) {
      const key = header.dataset.metric ?? "model";
      const button = make("button", { type: "button", class: "sort", "data-sort": key }, ...header.childNodes);
      button.addEventListener("click", () => {
        sort = sort?.key !== key ? { key, descending: false } : sort.descending ? null : { key, descending: true };
        changed();
        button.focus();
      });
      header.append(button);
    }

    const chosen = () => Object.fromEntries(KINDS.map((kind) => [kind, new Set(all(`input[name=${kind}]:checked`, form).map((box) => box.value))]));

    // only what differs from the default
    function address() {
      const choice = chosen();
      const state = new URLSearchParams();
      for (const kind of KINDS) {
        if (choice[kind].size === options[kind].length) continue;
        for (const key of choice[kind].size ? choice[kind] : [""]) state.append(kind, key);
      }
      if (sort) state.set("sort", sort.key);
      if (sort?.descending) state.set("order", "descending");
      return `#ranking${String(state) && "?"}${state}`;
    }

    function restore() {
      if (!location.hash.startsWith("#ranking?")) return false;
      const state = new URLSearchParams(location.hash.slice("#ranking?".length));
      for (const kind of KINDS) {
        const boxes = all(`input[name=${kind}]`, form);
        const keys = state.getAll(kind).filter((key) => key === "" || boxes.some((box) => box.value === key));
        for (const box of boxes) box.checked = !keys.length || keys.includes(box.value);
      }
      const key = state.get("sort");
      sort = key === "model" || options.metric.some(([metric]) => metric === key) ? { key, descending: state.get("order") === "descending" } : null;
      if (KINDS.some((kind) => state.has(kind))) panel.open = true;
      form.closest(".fold").open = true;
      show();
      byId("ranking").scrollIntoView({ behavior: "instant" });
      return true;
    }

    function changed() {
      show();
      history.replaceState(null, "", address());
    }

    const rowOf = (line, metric) => rows.get([line.closest("table").dataset.criterion, metric, line.dataset.model, line.dataset.debias].join("\n"));

    function sorted(list) {
      if (!sort) return list;
      const sign = sort.descending ? -1 : 1;
      const valueOf = (line) => rowOf(line, sort.key)?.[SORTED_BY] ?? null;
      return [...list].sort((a, b) => {
        if (sort.key === "model") return sign * a.cells[0].textContent.localeCompare(b.cells[0].textContent, "en", { numeric: true });
        const [one, other] = [valueOf(a), valueOf(b)];
        if (one === null || other === null) return (one === null) - (other === null);
        return sign * (one - other);
      });
    }

    function show() {
      const choice = chosen();
      if (sort && sort.key !== "model" && !choice.metric.has(sort.key)) sort = null;
      shown = [];
      const there = Object.fromEntries(["criterion", "metric", "state"].map((kind) => [kind, new Set()]));
      for (const part of parts) {
        const table = part.querySelector("table");
        const { criterion } = table.dataset;
        const metrics = all("thead th[data-metric]", table).map((header) => header.dataset.metric);
        for (const header of all("thead th", table)) {
          const key = header.dataset.metric ?? "model";
          header.ariaSort = sort?.key === key ? (sort.descending ? "descending" : "ascending") : "none";
        }
        const kept = sorted(given.get(part));
        for (const line of kept) line.parentElement.append(line);
        // a model without a rank has one cell for all metrics
        for (const line of [table.tHead.rows[0], ...kept])
          if (line.cells.length > metrics.length)
            for (const [i, metric] of metrics.entries()) line.cells[i + 1].hidden = !choice.metric.has(metric);
        for (const line of kept) line.hidden = !choice.model.has(line.dataset.model) || !choice.debias.has(line.dataset.debias);
        const visible = kept.filter((line) => !line.hidden);
        for (const group of table.tBodies) group.hidden = !visible.some((line) => line.parentElement === group);
        const columns = metrics.filter((metric) => choice.metric.has(metric));
        part.hidden = !choice.criterion.has(criterion) || !visible.length || !columns.length;
        if (part.hidden) continue;
        there.criterion.add(criterion);
        for (const metric of columns) there.metric.add(metric);
        for (const line of visible) there.state.add(`${line.dataset.model}\n${line.dataset.debias}`);
        shown.push(...columns.flatMap((metric) => visible.map((line) => rowOf(line, metric))).filter(Boolean));
      }
      // what is chosen is seen
      const open = parts.filter((part) => !part.hidden);
      if (open.length && !open.some((part) => part.open)) open[0].open = true;
      byId("ranking-download").disabled = !shown.length;
      const lacking = KINDS.filter((kind) => !choice[kind].size);
      const states = new Set(lines.map((line) => `${line.dataset.model}\n${line.dataset.debias}`));
      const hides = KINDS.some((kind) => choice[kind].size < options[kind].length);
      status.textContent = shown.length
        ? `${there.criterion.size} of ${parts.length} topics, ${there.state.size} of ${states.size} models and debiased models, ${there.metric.size} of ${data.metrics.length} metrics.${hides ? " Ranks are among all original models: a filter hides rows and columns, and nothing is ranked again." : ""}`
        : lacking.length
          ? `Nothing to show: no ${lacking.join(", no ").replace("debias", "debias method").replace("criterion", "topic")} is chosen.`
          : "Nothing to show: the chosen models are not measured on these topics.";
    }

    function download() {
      save(`${data.study}-ranking`, [data.columns, ...shown]);
    }

    form.addEventListener("change", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      for (const box of all("input", form)) box.checked = true;
      sort = null;
      changed();
    });
    byId("ranking-download").addEventListener("click", download);
    form.hidden = false;
    if (!restore()) show();
    return restore;
  }

  // ---- queries, models and word sets that have a text: all others are hidden

  function find() {
    const form = byId("find");
    if (!form) return { showAll() {}, add() {} };
    const box = form.querySelector("input");
    const words = new Map(all(".words p").map((list) => [list.id.split("/")[1], list.textContent.toLowerCase()]));
    const lower = (text) => text.toLowerCase();
    const labels = new Map(all("[data-model]").map((row) => [row, lower(row.querySelector("th, summary").firstChild.textContent)]));
    for (const question of all(".question")) question.dataset.query = question.querySelector("h4 span").textContent;
    const setsOf = new Map(all(".question").map(({ dataset }) => [dataset.query, (dataset.sets ?? "").split(" ")]));
    const kinds = {
      queries: [all("[data-query]"), ({ dataset }, has) => has(lower(dataset.query)) || (setsOf.get(dataset.query) ?? []).some((place) => has(words.get(place) ?? "")), ({ dataset }) => dataset.query],
      models: [[], (row, has) => has(labels.get(row)), ({ dataset }) => dataset.model],
      "word sets": [all("tr[data-set], .words"), (row, has) => has(lower(row.textContent)) || has(words.get(row.dataset.set) ?? ""), (row) => lower(row.querySelector("th, summary").firstChild.textContent).trim()],
    };
    const parts = Object.entries(kinds);
    const addScores = (scores) => {
      for (const score of scores) labels.set(score, lower(score.querySelector("summary").lastChild.textContent));
      kinds.models[0] = [...labels.keys()];
    };
    addScores(all(".question > details"));
    const count = (names) => new Set(names.filter(Boolean)).size;
    const show = () => {
      const text = lower(box.value.trim());
      const has = (other) => other.includes(text);
      const status = [];
      for (const [kind, [rows, matches, name]] of parts) {
        const found = text ? rows.filter((row) => matches(row, has)) : rows;
        // what has it nowhere is left as it is
        const kept = new Set(found.length ? found : rows);
        for (const row of rows) row.hidden = !kept.has(row);
        if (text && found.length) status.push(`${count(found.map(name))} of ${count(rows.map(name))} ${kind}`);
      }
      for (const group of all(":is(.heat, .trust) tbody")) group.hidden = !group.querySelector("[data-query]:not([hidden])");
      form.querySelector("[role=status]").textContent = text && (status.length ? `${status.join(", ")}: others are hidden in all tables.` : "No query, model or word has it.");
      if (status.length) for (const fold of all("#heatmap > .fold, #words > .fold")) fold.open = true;
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    return {
      showAll() {
        box.value = "";
        show();
      },
      add(scores) {
        addScores(scores);
        if (box.value) show();
      },
    };
  }

  // ---- of many scores, what is known of them is packed by metric: it is added where one is opened or led to

  function unpacking() {
    const note = byId("packed");
    if (!note || !globalThis.DecompressionStream) return () => {};
    note.hidden = true;
    const started = new Map();

    async function add(part) {
      const block = part.querySelector("script");
      const scores = [...(await unpacked(block)).children];
      block.remove();
      for (const question of all(".question", part))
        question.querySelector(".defs").before(...scores.splice(0, question.dataset.scores));
      search.add(all(".question > details", part));
    }

    const unpack = (part) => {
      if (part && !started.has(part)) started.set(part, add(part));
      return started.get(part);
    };
    document.addEventListener("toggle", ({ target }) => target.matches(".of-metric") && target.querySelector("script") && unpack(target), true);
    const questions = all(".question");
    return (id) => {
      if (!/^c\d+$/.test(id)) return null; // not the address of a score
      const place = Number(id.slice(1));
      const question = questions.find(({ dataset: { first, scores } }) => first <= place && place - first < scores);
      return unpack(question?.closest(".of-metric"));
    };
  }

  // ---- published numbers, by verdict

  function verdicts() {
    const place = byId("verdict-filters");
    const table = byId("comparison");
    if (!place || !table) return;
    const lines = all("tr[data-verdict]", table);
    const status = make("span", { role: "status" });
    const counts = new Map();
    for (const { dataset } of lines) counts.set(dataset.verdict, (counts.get(dataset.verdict) ?? 0) + 1);
    if (counts.size < 2) return;
    const buttons = [...counts].map(([verdict, count]) => {
      const button = make("button", { type: "button", "aria-pressed": "false", "data-verdict": verdict }, `${verdict} (${count})`);
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
        const pressed = new Set(buttons.filter((other) => other.matches("[aria-pressed=true]")).map((other) => other.dataset.verdict));
        for (const line of lines) line.hidden = pressed.size > 0 && !pressed.has(line.dataset.verdict);
        for (const group of table.tBodies) group.hidden = ![...group.rows].some((line) => line.dataset.verdict && !line.hidden);
        status.textContent = `${lines.filter((line) => !line.hidden).length} of ${lines.length} shown.`;
      });
      return button;
    });
    place.append("Show only: ", ...buttons, status);
    place.hidden = false;
  }

  // ---- of a score that is opened: histograms of its tests, and the command that computes it again

  function drawn(data) {
    const [low, high, bars, place, tails, label] = data.split("|");
    const draw = (tag, attributes, ...children) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      element.append(...children);
      return element;
    };
    const heights = [...bars].map((digit) => parseInt(digit, 36));
    const between = (start, end) => {
      const steps = heights.map((height, i) => [Math.max(start, 4 * i), Math.min(end, 4 * i + 4), height]).filter(([from, to]) => from < to);
      return steps.map(([from, to, height]) => `M${from} 16V${16 - height}H${to}V16`).join("");
    };
    const ends = tails.split(" ").map(Number);
    const counted = ends.map((end, i) => (i % 2 ? between(ends[i - 1], end) : "")).join("");
    const text = draw("text", { x: place, y: -2, "text-anchor": place > 55 ? "end" : "start" }, label);
    const picture = draw("svg", { viewBox: "0 -6 80 22", role: "img", "aria-label": `Histogram from ${low} to ${high}, ${label}` },
      draw("path", { d: between(0, 80) }), draw("path", { class: "t", d: counted }), draw("path", { class: "o", d: `M${place} -1V16` }), text);
    return [picture, make("small", {}, low, make("b", {}, high))];
  }

  function commands() {
    const add = ({ target }) => {
      if (!target.matches(".question > details") || !target.open) return;
      for (const test of all("[data-h]", target)) {
        test.append(...drawn(test.dataset.h));
        delete test.dataset.h;
      }
      const command = target.closest(".question").querySelector(".again").textContent.replaceAll("MODEL/DEBIAS", byId("states").dataset.states.split(" ")[target.dataset.s]);
      if (!target.querySelector(":scope > dl > dd > code"))
        target.querySelector("dl").append(make("dt", {}, "To reproduce"), make("dd", {}, make("code", {}, command)));
    };
    document.addEventListener("toggle", add, true);
  }

  // ---- links into <details>: open it, and go there; Back goes to the link again

  function links(restore) {
    const origins = new Map(); // address of a target -> the link that led there
    let clicked = false;

    async function reveal() {
      const { hash } = location;
      let id = hash.slice(1);
      try {
        id = decodeURIComponent(id);
      } catch {
        // not encoded
      }
      const unpacked = unpack(id);
      if (unpacked) await unpacked;
      if (location.hash !== hash) return; // the reader has gone on meanwhile
      const target = byId(id) ?? byId(hash.slice(1));
      if (target?.matches("section")) for (const fold of all(":scope > .fold", target)) fold.open = true;
      const closest = target?.closest("details");
      if (!closest) return;
      if (target.closest("[hidden]")) search.showAll();
      for (let element = closest; element; element = element.parentElement.closest("details")) element.open = true;
      // with what the metric asks, where both can be seen
      const question = target.closest(".question");
      const top = (element) => element.getBoundingClientRect().top;
      (question && top(closest) - top(question) < 0.7 * innerHeight ? question : target).scrollIntoView({ behavior: "instant" });
      closest.querySelector("summary").focus({ preventScroll: true });
    }

    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      origins.set(link.hash, link);
      if (link.hash === location.hash) reveal();
      else clicked = true;
    });
    addEventListener("hashchange", (event) => {
      const origin = origins.get(new URL(event.oldURL).hash);
      const back = !clicked && origin?.isConnected;
      clicked = false;
      if (restore?.()) return;
      if (back) origin.focus({ preventScroll: true });
      else reveal();
    });
    // the browser goes to the link's target itself, and takes the focus there, until the page is loaded
    if (document.readyState === "complete") reveal();
    else addEventListener("load", () => setTimeout(reveal));
  }

  // ---- explanations: Escape closes them, and they stay inside the window

  function tooltips() {
    let shown = null;
    const close = () => {
      shown?.tip.classList.remove("shown");
      shown = null;
    };
    function place() {
      const { tip, of } = shown;
      const [at, size] = [of.getBoundingClientRect(), tip.getBoundingClientRect()];
      const width = document.documentElement.clientWidth;
      const below = at.bottom + size.height <= innerHeight || at.top < size.height;
      tip.style.left = `${Math.max(8, Math.min(at.left, width - size.width - 8))}px`;
      tip.style.top = `${below ? at.bottom : at.top - size.height}px`;
    }
    function open({ target }) {
      if (!(target instanceof Element) || target.closest("[role=tooltip]") === shown?.tip) return;
      const of = target.closest("[aria-describedby]");
      const tip = of && byId(of.getAttribute("aria-describedby"));
      if (shown && tip === shown.tip) return;
      close();
      if (!tip?.matches("[role=tooltip]")) return;
      shown = { tip, of };
      tip.classList.add("shown");
      place();
    }
    document.documentElement.classList.add("js");
    document.addEventListener("mouseover", open);
    document.addEventListener("focusin", open);
    document.addEventListener("focusout", close);
    document.addEventListener("keydown", (event) => event.key === "Escape" && close());
    for (const name of ["scroll", "resize"]) addEventListener(name, () => shown && place(), { capture: true, passive: true });
  }

  // ---- print: the summary; with the button, all but the single scores

  function print() {
    let opened = [];
    const links = new Map(); // to single scores, which are not printed: they make half of the file
    addEventListener("beforeprint", () => {
      for (const link of all('.heat a, a[href^="#cell/"], #words td a')) {
        links.set(link, link.getAttribute("href"));
        link.removeAttribute("href");
      }
      opened = all("details:not([open])").filter((element) => !element.closest("#scores, [hidden], form, .help"));
      for (const element of opened) element.open = true;
    });
    addEventListener("afterprint", () => {
      for (const [link, href] of links) link.setAttribute("href", href);
      links.clear();
      for (const element of opened) element.open = false;
      opened = [];
      document.documentElement.classList.remove("print-all");
    });
    const button = make("button", { type: "button", id: "print-all" }, "Print the whole page");
    button.addEventListener("click", () => {
      document.documentElement.classList.add("print-all");
      globalThis.print();
    });
    document.querySelector("footer").append(make("p", {}, button, " The browser's own command prints a summary."));
  }

  pictures();
  tools();
  const restore = data.rankings && byId("ranking-filters") ? ranking() : null;
  const search = find();
  const unpack = unpacking();
  verdicts();
  links(restore);
  commands();
  tooltips();
  print();
})();
