"use strict";
// Makes the page more useful: it filters and sorts the ranking, opens what a link leads to, filters published numbers.
// Without it, all of the page is there. Values and ranks are computed again as the library computes them
// (tables/rankings.py, statistics/aggregation.py), to the last bit.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // ---- numbers

  // To so many significant digits. Where both neighbours are as near, to the even one, as in Python.
  function rounded(value, digits) {
    const [mantissa, power] = Math.abs(value).toExponential(digits + 40).split("e");
    const figures = mantissa.replace(".", "");
    const head = figures.slice(0, digits);
    if (/^50*$/.test(figures.slice(digits)) && Number(head.at(-1)) % 2 === 0)
      return Math.sign(value) * Number(`${head[0]}.${head.slice(1)}e${power}`);
    return Number(value.toPrecision(digits));
  }

  function raised(power) {
    return String(power).replace(/./g, (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]));
  }

  // As names.number writes it.
  function number(value, digits = 3) {
    if (value === null) return "";
    if (value === 0) return "0";
    const [mantissa, power] = rounded(value, digits).toExponential().split("e");
    const whole = Number(value.toExponential().split("e")[1]) + 1;
    let text = String(rounded(value, digits));
    if (power < -4 || power > 5) text = `${mantissa} × 10${raised(Number(power))}`;
    else if (power >= digits) text = String(rounded(value, whole));
    return text.replaceAll("-", "−");
  }

  // As NumPy adds, so that sums have the same last bit: in eight parts, and halves where there are more than 128.
  function sum(values, from = 0, to = values.length) {
    const n = to - from;
    if (n > 128) {
      const half = Math.floor(n / 2);
      const middle = from + half - (half % 8);
      return sum(values, from, middle) + sum(values, middle, to);
    }
    let total = 0;
    let i = from;
    if (n >= 8) {
      const part = values.slice(from, from + 8);
      for (i += 8; i < to - (n % 8); i += 8) for (let k = 0; k < 8; k++) part[k] += values[i + k];
      total = part[0] + part[1] + (part[2] + part[3]) + (part[4] + part[5] + (part[6] + part[7]));
    }
    for (; i < to; i++) total += values[i];
    return total;
  }

  function aggregate(values, neutral) {
    if (!values.length) return null;
    const distance = data.by === "distance";
    let terms = values.map((value) => value - (distance ? neutral : 0));
    if (data.aggregation.startsWith("abs_")) terms = terms.map(Math.abs);
    const total = sum(terms);
    const value = data.aggregation.endsWith("avg") ? total / terms.length : total;
    return distance ? Math.abs(value) : value;
  }

  // Gives each cell its rank. Values that agree to twelve digits are a tie.
  function rank(cells) {
    const order = cells
      .filter((cell) => cell.value !== null)
      .sort((a, b) => data.states[a.state].place - data.states[b.state].place)
      .map((cell) => ({ cell, key: rounded(cell.value, 12) }))
      .sort((a, b) => a.key - b.key);
    let start = 0;
    let dense = 0;
    while (start < order.length) {
      let end = start;
      while (end < order.length && order[end].key === order[start].key) end++;
      dense++;
      for (let i = start; i < end; i++)
        order[i].cell.rank = { average: (start + 1 + end) / 2, min: start + 1, max: end, dense, first: i + 1 }[data.ties];
      start = end;
    }
  }

  // ---- the ranking of a choice: criteria, metrics, models and debias methods, each a set of keys

  const KINDS = ["criterion", "metric", "model", "debias"];

  function kept(choice) {
    return data.states.map((_, i) => i).filter((i) => choice.model.has(data.states[i].model) && choice.debias.has(data.states[i].debias));
  }

  function nameOf(choice) {
    const named = data.criteria.filter((name) => choice.criterion.has(name));
    return named.length === data.criteria.length ? data.overall : named.join(" + ");
  }

  // What the library has ranked so: with intervals and p-values. Null where it has not.
  function ofLibrary(choice) {
    const name = nameOf(choice);
    const states = new Set(kept(choice));
    const rows = data.rankings.filter((row) => row[0] === name);
    if (!rows.length || !rows.every((row) => states.has(row[2]))) return null;
    return rows.map(([, metric, state, rank, low, high, value, p, cells, missing]) => ({ metric, state, rank, low, high, value, p, cells, missing }));
  }

  function computed(choice) {
    const groups = new Map();
    const measured = data.metrics.map(() => new Set());
    for (const [criterion, metric, state, value] of data.scores) {
      if (!choice.criterion.has(data.criteria[criterion])) continue;
      const key = metric * data.states.length + state;
      if (!groups.has(key)) groups.set(key, { metric, state, criteria: new Set(), values: [], cells: 0 });
      const group = groups.get(key);
      group.criteria.add(criterion);
      group.cells++;
      if (value !== null) group.values.push(value);
      measured[metric].add(criterion);
    }
    const several = choice.criterion.size > 1;
    const states = new Set(kept(choice));
    const cells = [...groups.values()]
      // a debiased model that is measured on some of the criteria only has no place in a ranking over all of them
      .filter(({ metric, state, criteria }) => !several || data.states[state].debias === data.untouched || criteria.size === measured[metric].size)
      .filter(({ state }) => states.has(state))
      .map(({ metric, state, values, cells }) => ({
        metric, state, rank: null, low: null, high: null, p: null, cells, missing: cells - values.length,
        value: aggregate(values, data.metrics[metric].neutral),
      }));
    data.metrics.forEach((_, metric) => rank(cells.filter((cell) => cell.metric === metric)));
    return cells;
  }

  // ---- the table

  function ranking() {
    const form = byId("ranking-filters");
    const shown = byId("ranking-shown");
    const status = byId("ranking-status");
    const panel = form.querySelector("details");
    const options = {
      criterion: data.criteria.map((name) => [name, name]),
      metric: data.metrics.map(({ key, label }) => [key, label]),
      model: Object.entries(data.models),
      debias: Object.entries(data.debias),
    };
    let sort = null; // {key, descending}
    let rows = [];
    let columns = [];

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
      draw();
      byId("ranking").scrollIntoView({ behavior: "instant" });
      return true;
    }

    function changed() {
      draw();
      history.replaceState(null, "", address());
    }

    function sorted(states, cells) {
      if (!sort) return states;
      const metric = data.metrics.findIndex(({ key }) => key === sort.key);
      const sign = sort.descending ? -1 : 1;
      const rankOf = (state) => cells.get(`${metric} ${state}`)?.rank ?? null;
      return [...states].sort((a, b) => {
        if (sort.key === "model") return sign * data.states[a].label.localeCompare(data.states[b].label, "en", { numeric: true });
        const [one, other] = [rankOf(a), rankOf(b)];
        if (one === null || other === null) return (one === null) - (other === null);
        return sign * (one - other);
      });
    }

    function cellOf(cell, count) {
      if (!cell) return make("td", {}, make("span", { class: "none" }, "not measured"));
      if (cell.rank === null) return make("td", {}, make("span", { class: "none" }, "no value"));
      const td = make("td", {}, make("b", { class: "rank" }, number(cell.rank)));
      if (cell.missing) td.append(make("span", { class: "dagger" }, "†"));
      if (cell.low !== null) {
        const share = 100 / count;
        const [band, mark] = [make("i"), make("b")];
        band.style.left = `${(cell.low - 1) * share}%`;
        band.style.width = `${(cell.high - cell.low + 1) * share}%`;
        mark.style.left = `${(cell.rank - 0.5) * share}%`;
        td.append(make("span", { class: "interval", role: "img", "aria-label": `interval from ${number(cell.low)} to ${number(cell.high)}` }, band, mark));
      }
      td.append(make("span", { class: "value" }, number(cell.value)));
      if (cell.p !== null) td.append(make("span", { class: "p" }, cell.p < 0.001 ? "p < 0.001" : `p = ${number(cell.p, 2)}`));
      return td;
    }

    function header(key, label, about) {
      const order = sort?.key === key ? (sort.descending ? "descending" : "ascending") : "none";
      const button = make("button", { type: "button", class: "sort", "data-sort": key }, label);
      if (about) button.setAttribute("aria-describedby", `about-${key}`);
      button.addEventListener("click", () => {
        sort = order === "none" ? { key, descending: false } : order === "ascending" ? { key, descending: true } : null;
        changed();
        all("[data-sort]", shown).find((other) => other.dataset.sort === key).focus();
      });
      return make("th", { scope: "col", "aria-sort": order }, button);
    }

    function draw() {
      const choice = chosen();
      const library = ofLibrary(choice);
      const name = nameOf(choice);
      columns = data.metrics.map((metric, i) => i).filter((i) => choice.metric.has(data.metrics[i].key));
      if (sort && sort.key !== "model" && !choice.metric.has(sort.key)) sort = null;
      const list = choice.criterion.size ? library ?? computed(choice) : [];
      const cells = new Map(list.map((cell) => [`${cell.metric} ${cell.state}`, cell]));
      const there = new Set(list.map((cell) => cell.state));
      const states = sorted(kept(choice).filter((state) => there.has(state)), cells);
      // a metric that is not measured on these criteria has no column, as in the tables of the study
      const measured = new Set(list.map((cell) => cell.metric));
      columns = columns.filter((metric) => measured.has(metric));
      rows = columns.flatMap((metric) => states.map((state) => cells.get(`${metric} ${state}`)).filter(Boolean)).map((cell) => ({ criterion: name, ...cell }));
      byId("ranking-download").disabled = !rows.length;
      if (!rows.length) {
        shown.replaceChildren();
        const lacking = KINDS.filter((kind) => !choice[kind].size);
        status.textContent = lacking.length
          ? `Nothing to show: no ${lacking.join(", no ").replace("debias", "debias method")} is chosen.`
          : "Nothing to show: the chosen models are not measured on all of these criteria.";
        return;
      }
      const left = kept(choice).length - states.length;
      status.textContent = [
        `${states.length} of ${data.states.length} models and debiased models, ${columns.length} of ${data.metrics.length} metrics.`,
        left ? `${left === 1 ? "One that is" : `${left} that are`} chosen ${left === 1 ? "is" : "are"} not measured on all of these criteria.` : "",
        library ? "" : "Values and ranks are computed again for this choice. Intervals and p-values are not, so they are not shown.",
      ].filter(Boolean).join(" ");
      const table = make("table", { class: "ranks" },
        make("caption", {}, name === data.overall && data.criteria.length > 1 ? `${name} (${data.criteria.join(", ")})` : name),
        make("thead", {}, make("tr", {}, header("model", "model"), ...columns.map((i) => header(data.metrics[i].key, data.metrics[i].label, true)))),
        make("tbody", {}, ...states.map((state) => make("tr", {},
          make("th", { scope: "row" }, data.states[state].label),
          ...columns.map((metric) => cellOf(cells.get(`${metric} ${state}`), states.length))))));
      const tips = columns.map((i) => make("span", { role: "tooltip", id: `about-${data.metrics[i].key}` }, data.metrics[i].about));
      const scrolled = shown.firstChild?.scrollLeft ?? 0;
      shown.replaceChildren(make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Ranks on ${name}` }, table), ...tips);
      shown.firstChild.scrollLeft = scrolled;
    }

    function download() {
      const field = (value) => (/[",\n\r]/.test(value ?? "") ? `"${value.replaceAll('"', '""')}"` : value ?? "");
      const lines = rows.map((row) => [row.criterion, data.metrics[row.metric].key, data.states[row.state].model, data.states[row.state].debias,
        row.rank, row.low, row.high, row.value, row.p, row.cells, row.missing].map((value) => field(value === null ? "" : String(value))).join(","));
      const text = ["criterion,metric,model,debias,rank,rank_low,rank_high,value,p_adjusted,cells,cells_nan", ...lines, ""].join("\n");
      const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      make("a", { href: url, download: `${data.study}-ranking.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
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
    panel.open = matchMedia("(min-width: 40rem)").matches;
    form.hidden = shown.hidden = false;
    byId("ranking-tables").hidden = true;
    if (!restore()) draw();
    return restore;
  }

  // ---- published numbers, by verdict

  function verdicts() {
    const place = byId("verdict-filters");
    const table = byId("comparison");
    if (!place || !table) return;
    const lines = all("tbody tr", table);
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
        status.textContent = `${lines.filter((line) => !line.hidden).length} of ${lines.length} shown.`;
        table.closest("details").open = true;
      });
      return button;
    });
    place.append("show only: ", ...buttons, status);
    place.hidden = false;
  }

  // ---- links into <details>: open it, and go there; Back goes to the link again

  function links(restore) {
    const origins = new Map(); // address of a target -> the link that led there
    let clicked = false;

    function reveal() {
      let id = location.hash.slice(1);
      try {
        id = decodeURIComponent(id);
      } catch {
        // not encoded
      }
      const target = byId(id) ?? byId(location.hash.slice(1));
      const closest = target?.closest("details");
      if (!closest) return;
      for (let element = closest; element; element = element.parentElement.closest("details")) element.open = true;
      target.scrollIntoView({ behavior: "instant" });
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

  // ---- print: what is folded, except for the single scores

  function print() {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = all("details:not([open])").filter((element) => !element.closest("#scores, [hidden], form"));
      for (const element of opened) element.open = true;
    });
    addEventListener("afterprint", () => {
      for (const element of opened) element.open = false;
      opened = [];
    });
  }

  const restore = data.states && byId("ranking-filters") ? ranking() : null;
  verdicts();
  links(restore);
  tooltips();
  print();
})();
