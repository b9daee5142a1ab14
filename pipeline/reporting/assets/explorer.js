// The task explorer: a map of the tasks, and the network's response at a place on it.
"use strict";
(() => {
  const { add, show, extent, across, upwards, axes, label, line } = Chart;
  const content = JSON.parse(document.getElementById("explorer-data").textContent);
  const { datasets, palette, opening } = content;
  const root = document.getElementById("explorer");
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const sliders = [part("beta0"), part("beta1")];
  const NEAREST = 6, REACH = 30, DIGITS =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  let data = null;  // of the dataset that is open
  let task = 0;  // the chosen one's number
  let here = [0, 0];  // the task parameters at the sliders
  let column = 0;  // by which the map is coloured
  let plane = null;  // the feature along which the response is drawn
  const numbers = new Map();  // unpacked once

  // -- what is known of the tasks --------------------------------------------------------------

  const parameters = (number) => data.beta.map((values) => values[number]);

  function unpack(packed) {
    if (!numbers.has(packed)) {
      const { low, unit, text } = packed, found = new Float64Array(text.length / 2);
      for (let i = 0; i < found.length; i += 1) {
        const step = DIGITS.indexOf(text[2 * i]) * 64 + DIGITS.indexOf(text[2 * i + 1]);
        found[i] = low + step * unit;
      }
      numbers.set(packed, found);
    }
    return numbers.get(packed);
  }

  // How far apart what the two tasks add to the network's first layer is.
  function distance(one, other) {
    const [a, b] = data.beta.map((values) => values[one] - values[other]);
    const [[aa, ab], [, bb]] = data.metric;
    return Math.sqrt(Math.max(0, aa * a * a + 2 * ab * a * b + bb * b * b));
  }

  function nearest() {
    const others = data.tasks.map((_, other) => [distance(task, other), other]);
    others.splice(task, 1);
    return others.sort((one, two) => one[0] - two[0] || one[1] - two[1]).slice(0, NEAREST);
  }

  // The last node below a value, and how far the value is on its way to the next one.
  function between(nodes, value) {
    let i = 0;
    while (i < nodes.length - 2 && nodes[i + 1] <= value) i += 1;
    const span = nodes[i + 1] - nodes[i];
    return [i, span > 0 ? Math.min(1, Math.max(0, (value - nodes[i]) / span)) : 0];
  }

  // The network's curve, bilinear between the parameters at which the pipeline computed it.
  function curve(level, [first, second]) {
    const { beta, grid } = plane, values = unpack(level), width = beta[1].length;
    const [i, u] = between(beta[0], first), [j, v] = between(beta[1], second);
    const at = (n, m, k) => values[(n * width + m) * grid.length + k];
    return grid.map((_, k) =>
      (1 - u) * ((1 - v) * at(i, j, k) + v * at(i, j + 1, k)) +
      u * ((1 - v) * at(i + 1, j, k) + v * at(i + 1, j + 1, k)));
  }

  // The chosen task's rows along the feature: x, y, level, test row or not.
  function points() {
    const { points: known } = data;
    if (!known || !(plane.key in known.features)) return [];
    let start = 0;
    for (let i = 0; i < task; i += 1) start += known.counts[i];
    const x = unpack(known.features[plane.key]), y = unpack(known.target), found = [];
    for (let i = start; i < start + known.counts[task]; i += 1) {
      found.push([x[i], y[i], Number(known.level[i]), known.test[i] === "1"]);
    }
    return found;
  }

  // -- drawing ---------------------------------------------------------------------------------

  function places() {
    const x = across(data.beta[0]), y = upwards(data.beta[1]);
    const of = ([first, second]) => [x(first), y(second)];
    return { x, y, of, tasks: data.tasks.map((_, number) => of(parameters(number))) };
  }

  // Colours by quantile: a single outlier does not take the whole scale.
  function colours(values) {
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    const rank = new Map();
    known.forEach((value, i) => { if (!rank.has(value)) rank.set(value, i); });
    return values.map((value) => {
      if (value === null) return "#9aa0a6";
      const place = known.length > 1 ? rank.get(value) / (known.length - 1) : 0;
      return palette[Math.round(place * (palette.length - 1))];
    });
  }

  function drawMap() {
    const svg = part("map"), { x, y, of, tasks } = places();
    const { values } = data.columns[column], fills = colours(values), range = extent(values);
    const radius = tasks.length > 200 ? 3 : 4.5, [cx, cy] = tasks[task], [hx, hy] = of(here);
    axes(svg, x, y, "first task parameter β₁", "second task parameter β₂");
    for (const [, other] of nearest()) {
      const [x2, y2] = tasks[other];
      add(svg, "line", { class: "near", x1: cx, y1: cy, x2, y2 });
    }
    tasks.forEach(([px, py], number) => {
      add(svg, "circle", { class: "task", cx: px, cy: py, r: radius, fill: fills[number] });
    });
    add(svg, "circle", { class: "ring", cx, cy, r: radius + 4 });
    add(svg, "path", { class: "here", d: `M${hx - 8} ${hy}h16M${hx} ${hy - 8}v16` });
    label(svg, tasks[task], data.names[task], "label");
    part("scale").textContent = `${data.columns[column].label}, by quantile:`;
    part("low").textContent = show(range[0]);
    part("high").textContent = show(range[1]);
  }

  function drawCurve() {
    part("response").hidden = !plane;
    if (!plane) return;
    const svg = part("curve"), { grid, levels } = plane, rows = points();
    const now = levels.map((level) => curve(level, here));
    const own = levels.map((level) => curve(level, parameters(task)));
    const x = across([...grid, ...rows.map(([value]) => value)]);
    const y = upwards([...typical(), ...own.flat(), ...rows.map(([, value]) => value)]);
    const path = (values) => line(values.map((value, k) => [x(grid[k]), y(value)]));
    const frame = axes(svg, x, y, plane.feature, data.target);
    levels.forEach((level, i) => {
      add(frame, "path", { class: "own", d: path(own[i]) });
      add(frame, "path", { class: "curve", d: path(now[i]), stroke: level.colour });
    });
    for (const [px, py, level, test] of rows) {
      const { colour } = levels[level] ?? levels[0], kind = test ? "test" : "train";
      const fill = test ? { stroke: colour } : { fill: colour };
      add(frame, "circle", { class: kind, cx: x(px), cy: y(py), r: 3.6, ...fill });
    }
    const [lowest, highest] = extent(now.flat());
    part("range").textContent = `At β₁ = ${show(here[0])}, β₂ = ${show(here[1])} the prediction ` +
      `is between ${show(lowest)} and ${show(highest)}.`;
  }

  // What the network predicts for most parameters: the axis stays as the sliders move.
  function typical() {
    const found = [];
    for (const level of plane.levels) {
      const values = [...unpack(level)].sort((a, b) => a - b);
      found.push(values[Math.floor(0.02 * values.length)], values[Math.floor(0.98 * values.length)]);
    }
    return found;
  }

  function drawKey() {
    part("key").replaceChildren();
    if (!plane) return;
    for (const level of plane.levels) {
      const item = add(part("key"), "li");
      const svg = item.appendChild(
        document.createElementNS("http://www.w3.org/2000/svg", "svg"));
      svg.setAttribute("viewBox", "0 0 32 12");
      add(svg, "path", { d: "M0 6H32", stroke: level.colour, "stroke-width": 2.5 });
      add(item, "span", {}, level.label || "network");
    }
    const rows = points();
    if (rows.length) add(part("key"), "li", {}, "● training rows   ○ test rows");
  }

  function drawText() {
    const facts = data.columns.map(({ label: name, values }) => `${name} ${show(values[task])}`);
    const [first, second] = parameters(task).map(show);
    part("chosen").textContent = data.names[task];
    part("about").textContent = `${facts.join(", ")}; β₁ ${first}, β₂ ${second}.`;
    part("nearest").replaceChildren();
    for (const [far, other] of nearest()) {
      const item = add(part("nearest"), "li");
      const button = add(item, "button", { type: "button" }, data.names[other]);
      button.addEventListener("click", () => choose(other));
      add(item, "span", {}, ` at ${show(far)}`);
    }
  }

  // -- what a reader does ----------------------------------------------------------------------

  function remember() {
    const state = new URLSearchParams();
    state.set("dataset", data.name);
    state.set("task", data.tasks[task]);
    if (column) state.set("colour", data.columns[column].label);
    if (plane && plane !== data.planes[0]) state.set("feature", plane.key);
    const own = parameters(task);
    if (here.some((value, i) => value !== own[i])) state.set("beta", here.join(","));
    history.replaceState(null, "", `?${state}${location.hash}`);
  }

  function moveTo(wanted) {
    here = wanted;
    here.forEach((value, i) => {
      sliders[i].value = value;
      part(`value${i}`).textContent = show(value);
    });
    drawMap();
    drawCurve();
    remember();
  }

  function choose(number) {
    task = number;
    part("task").value = data.names[task];
    part("problem").textContent = "";
    drawText();
    drawKey();
    moveTo(parameters(task));
  }

  function open(number, wanted = 0) {
    data = datasets[number];
    plane = data.planes[0] ?? null;
    part("dataset").selectedIndex = number;
    part("tasks").replaceChildren(...data.names.map((name) => new Option(name, name)));
    part("feature").replaceChildren(...data.planes.map((one, i) => new Option(one.feature, i)));
    part("feature-box").hidden = data.planes.length < 2;
    part("note").textContent = plane ? plane.note : "";
    part("network").textContent = data.network;
    data.beta.forEach((values, i) => {
      const [min, max] = extent(values);
      Object.assign(sliders[i], { min, max, step: (max - min) / 200 || "any" });
    });
    choose(wanted);
  }

  function along(number) {
    plane = data.planes[number] ?? plane;
    part("feature").selectedIndex = data.planes.indexOf(plane);
    part("note").textContent = plane.note;
    drawKey();
    drawCurve();
    remember();
  }

  function search(event) {
    const wanted = part("task").value.trim().toLowerCase();
    const names = data.names.map((name) => name.toLowerCase());
    const keys = data.tasks.map((name) => name.toLowerCase());
    const finished = event.type === "change" && wanted;
    let found = names.indexOf(wanted);
    if (found < 0) found = keys.indexOf(wanted);
    if (found < 0 && finished) found = names.findIndex((name) => name.includes(wanted));
    if (found >= 0) choose(found);
    else if (finished) part("problem").textContent = "No task has this in its name.";
  }

  function pointed(event) {
    const box = part("map").getBoundingClientRect();
    const px = ((event.clientX - box.left) / box.width) * Chart.WIDTH;
    const py = ((event.clientY - box.top) / box.height) * Chart.HEIGHT;
    const far = places().tasks.map(([x, y]) => Math.hypot(x - px, y - py));
    const number = far.indexOf(Math.min(...far));
    return far[number] <= REACH ? number : null;
  }

  function hover(event) {
    const svg = part("map"), number = pointed(event);
    svg.querySelectorAll(".hover").forEach((node) => node.remove());
    if (number === null || number === task) return;
    const [cx, cy] = places().tasks[number];
    add(svg, "circle", { class: "hover ring", cx, cy, r: 8 });
    label(svg, [cx, cy], data.names[number], "hover label");
  }

  // An arrow key goes to the next task in that direction.
  function step(event) {
    if (!(event.key in ARROWS)) return;
    event.preventDefault();
    const [dx, dy] = ARROWS[event.key], { tasks } = places(), [cx, cy] = tasks[task];
    let best = task, least = Infinity;
    tasks.forEach(([x, y], number) => {
      const ahead = (x - cx) * dx + (y - cy) * dy;
      const aside = Math.abs((x - cx) * dy) + Math.abs((y - cy) * dx);
      if (ahead > 0 && aside <= ahead && ahead + aside < least) {
        [best, least] = [number, ahead + aside];
      }
    });
    choose(best);
  }

  // What the address says, as far as it can be found here; otherwise the opening example.
  function begin() {
    const state = new URLSearchParams(location.search);
    const at = (values, wanted) => Math.max(0, values.indexOf(wanted));
    const names = datasets.map(({ name }) => name);
    const dataset = state.get("dataset") ?? opening.dataset;
    const number = at(names, dataset);
    open(number, at(datasets[number].tasks, state.get("task") ?? opening.task));
    column = at(data.columns.map((one) => one.label), state.get("colour"));
    part("colour").selectedIndex = column;
    const beta = (state.get("beta") ?? "").split(",").map(Number);
    if (state.get("feature")) along(at(data.planes.map(({ key }) => key), state.get("feature")));
    moveTo(beta.length === 2 && beta.every(Number.isFinite) ? beta : parameters(task));
  }

  const on = (name, event, action) => part(name).addEventListener(event, action);
  part("dataset").replaceChildren(...datasets.map(({ label: name }, i) => new Option(name, i)));
  part("colour").replaceChildren(
    ...datasets[0].columns.map(({ label: name }, i) => new Option(name, i)));
  part("ramp").style.background = `linear-gradient(to right, ${palette.join(", ")})`;
  on("dataset", "change", () => open(part("dataset").selectedIndex));
  on("task", "input", search);
  on("task", "change", search);
  on("colour", "change", () => { column = part("colour").selectedIndex; drawMap(); remember(); });
  on("feature", "change", () => along(part("feature").selectedIndex));
  on("back", "click", () => moveTo(parameters(task)));
  on("map", "pointermove", hover);
  on("map", "pointerleave", drawMap);
  on("map", "click", (event) => {
    const number = pointed(event);
    if (number !== null) choose(number);
  });
  on("map", "keydown", step);
  sliders.forEach((slider, i) => slider.addEventListener("input", () => {
    moveTo(here.map((value, j) => (i === j ? Number(slider.value) : value)));
  }));
  part("live").hidden = false;
  begin();
})();
