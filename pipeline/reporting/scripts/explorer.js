// The task explorer: a map of the tasks, and the network's response where one stands on it.
"use strict";
(() => {
  const { add, show, extent, across, upwards, axes, label, line } = Chart;
  const { datasets, palette } = JSON.parse(document.getElementById("explorer-data").textContent);
  const root = document.getElementById("explorer");
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const sliders = [part("beta0"), part("beta1")];
  const NEAREST = 6, REACH = 30;
  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  let data = null;  // of the dataset that is open
  let task = 0;  // the chosen one's number
  let here = [0, 0];  // the task parameters where the sliders stand
  let column = 0;  // by which the map is coloured

  // -- what is known of the tasks --------------------------------------------------------------

  const parameters = (number) => data.beta.map((values) => values[number]);

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
  function curve([first, second]) {
    const { beta, low, unit, steps } = data.response, width = beta[1].length;
    const [i, u] = between(beta[0], first), [j, v] = between(beta[1], second);
    const mix = (one, two, share) => one.map((value, k) => (1 - share) * value + share * two[k]);
    const at = (n) => mix(steps[n * width + j], steps[n * width + j + 1], v);
    return mix(at(i), at(i + 1), u).map((step) => low + step * unit);
  }

  // -- drawing ---------------------------------------------------------------------------------

  function places() {
    const x = across(data.beta[0]), y = upwards(data.beta[1]);
    const of = ([first, second]) => [x(first), y(second)];
    return { x, y, of, tasks: data.tasks.map((_, number) => of(parameters(number))) };
  }

  function colour(value, [low, high]) {
    if (value === null) return "#bbbbbb";
    const place = high > low ? (value - low) / (high - low) : 0;
    return palette[Math.round(place * (palette.length - 1))];
  }

  function drawMap() {
    const svg = part("map"), { x, y, of, tasks } = places();
    const { values } = data.columns[column], range = extent(values);
    const radius = tasks.length > 200 ? 3 : 4.5, [cx, cy] = tasks[task], [hx, hy] = of(here);
    axes(svg, x, y, "first task parameter β₁", "second task parameter β₂");
    for (const [, other] of nearest()) {
      const [x2, y2] = tasks[other];
      add(svg, "line", { class: "near", x1: cx, y1: cy, x2, y2 });
    }
    tasks.forEach(([px, py], number) => {
      const fill = colour(values[number], range);
      add(svg, "circle", { class: "task", cx: px, cy: py, r: radius, fill });
    });
    add(svg, "circle", { class: "ring", cx, cy, r: radius + 4 });
    add(svg, "path", { class: "here", d: `M${hx - 8} ${hy}h16M${hx} ${hy - 8}v16` });
    label(svg, tasks[task], data.tasks[task], "label");
    [part("low").textContent, part("high").textContent] = range.map(show);
  }

  function drawCurve() {
    const { response } = data;
    part("response").hidden = !response;
    if (!response) return;
    const svg = part("curve"), { grid, low, unit } = response;
    const x = across(grid), y = upwards([low, low + 1000 * unit]);
    const path = (values) => line(values.map((value, k) => [x(grid[k]), y(value)]));
    const now = curve(here), [lowest, highest] = extent(now);
    axes(svg, x, y, response.feature, data.target);
    add(svg, "path", { class: "own", d: path(curve(parameters(task))) });
    add(svg, "path", { class: "moved", d: path(now) });
    part("range").textContent = `At β₁ = ${show(here[0])}, β₂ = ${show(here[1])} the prediction ` +
      `lies between ${show(lowest)} and ${show(highest)}.`;
  }

  function drawText() {
    const facts = data.columns.map(({ label: name, values }) => `${name} ${show(values[task])}`);
    const [first, second] = parameters(task).map(show);
    part("chosen").textContent = data.tasks[task];
    part("about").textContent = `${facts.join(", ")}; β₁ ${first}, β₂ ${second}.`;
    part("nearest").replaceChildren();
    for (const [far, other] of nearest()) {
      const item = add(part("nearest"), "li");
      const button = add(item, "button", { type: "button" }, data.tasks[other]);
      button.addEventListener("click", () => choose(other));
      add(item, "span", {}, ` at ${show(far)}`);
    }
  }

  // -- what a reader does ----------------------------------------------------------------------

  function moveTo(parameters) {
    here = parameters;
    here.forEach((value, i) => {
      sliders[i].value = value;
      part(`value${i}`).textContent = show(value);
    });
    drawMap();
    drawCurve();
  }

  function choose(number) {
    task = number;
    part("task").value = data.tasks[task];
    part("problem").textContent = "";
    drawText();
    moveTo(parameters(task));
  }

  function open(number) {
    data = datasets[number];
    part("tasks").replaceChildren(...data.tasks.map((name) => new Option(name, name)));
    part("note").textContent = data.response ? data.response.note : "";
    data.beta.forEach((values, i) => {
      const [min, max] = extent(values);
      Object.assign(sliders[i], { min, max, step: (max - min) / 200 || "any" });
    });
    choose(0);
  }

  function search(event) {
    const wanted = part("task").value.trim().toLowerCase();
    const names = data.tasks.map((name) => name.toLowerCase());
    const finished = event.type === "change" && wanted;
    let found = names.indexOf(wanted);
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
    label(svg, [cx, cy], data.tasks[number], "hover label");
  }

  // An arrow key goes to the next task in that direction.
  function step(event) {
    if (!(event.key in ARROWS)) return;
    event.preventDefault();
    const [dx, dy] = ARROWS[event.key], { tasks } = places(), [cx, cy] = tasks[task];
    let best = task, least = Infinity;
    tasks.forEach(([x, y], number) => {
      const along = (x - cx) * dx + (y - cy) * dy;
      const aside = Math.abs((x - cx) * dy) + Math.abs((y - cy) * dx);
      if (along > 0 && aside <= along && along + aside < least) {
        [best, least] = [number, along + aside];
      }
    });
    choose(best);
  }

  const on = (name, event, action) => part(name).addEventListener(event, action);
  part("dataset").replaceChildren(...datasets.map(({ label: name }, i) => new Option(name, i)));
  part("colour").replaceChildren(
    ...datasets[0].columns.map(({ label: name }, i) => new Option(name, i)));
  part("ramp").style.background = `linear-gradient(to right, ${palette.join(", ")})`;
  on("dataset", "change", () => open(part("dataset").selectedIndex));
  on("task", "input", search);
  on("task", "change", search);
  on("colour", "change", () => { column = part("colour").selectedIndex; drawMap(); });
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
  open(0);
})();
