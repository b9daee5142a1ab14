// Just enough to draw a chart as SVG: numbers, scales, axes. Text is only ever written as text.
"use strict";
const Chart = (() => {
  const WIDTH = 480, HEIGHT = 380;
  const FRAME = { left: 62, right: WIDTH - 14, top: 16, bottom: HEIGHT - 46 };

  function add(parent, tag, attributes = {}, text = "") {
    const space = parent.closest("svg") ? "http://www.w3.org/2000/svg" : parent.namespaceURI;
    const made = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== "") made.textContent = text;
    return parent.appendChild(made);
  }

  function show(value) {
    if (value === null || !Number.isFinite(value)) return "unknown";
    const short = Number(value.toPrecision(3));
    const text = Math.abs(short) >= 1e4 ? short.toLocaleString("en").replaceAll(",", "\u202f")
      : String(short);
    return text.replace("-", "−");
  }

  function extent(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
    return low <= high ? [low, high] : [0, 0];
  }

  function ticks([low, high]) {
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const found = [];
    for (let n = Math.ceil(low / step); n * step <= high; n += 1) found.push(n * step);
    return found;
  }

  // From a value to its place; values that are all equal are drawn in the middle.
  function scale(values, from, to) {
    const [low, high] = extent(values), margin = 0.04 * (high - low) || 0.5;
    const range = [low - margin, high + margin];
    const place = (value) => from + ((value - range[0]) / (range[1] - range[0])) * (to - from);
    return Object.assign(place, { range });
  }

  const across = (values) => scale(values, FRAME.left, FRAME.right);
  const upwards = (values) => scale(values, FRAME.bottom, FRAME.top);

  function axes(svg, x, y, xLabel, yLabel) {
    const { left, right, top, bottom } = FRAME;
    svg.replaceChildren();
    const clip = add(add(svg, "defs"), "clipPath", { id: `frame-${svg.dataset.part}` });
    add(clip, "rect", { x: left, y: top, width: right - left, height: bottom - top });
    for (const value of ticks(x.range)) {
      const year = x.range[0] > 1800 && x.range[1] < 2200;
      add(svg, "line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: bottom });
      add(svg, "text", { x: x(value), y: bottom + 17, "text-anchor": "middle" },
        year ? String(value) : show(value));
    }
    for (const value of ticks(y.range)) {
      add(svg, "line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) });
      add(svg, "text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, show(value));
    }
    const middle = { "text-anchor": "middle" };
    add(svg, "text", { x: (left + right) / 2, y: HEIGHT - 8, ...middle }, xLabel);
    const turned = `translate(13 ${(top + bottom) / 2}) rotate(-90)`;
    add(svg, "text", { transform: turned, ...middle }, yLabel);
    return add(svg, "g", { "clip-path": `url(#frame-${svg.dataset.part})` });
  }

  function label(svg, [x, y], text, kind) {
    const left = x > WIDTH / 2;
    const place = { x: x + (left ? -10 : 10), y: y - 9, "text-anchor": left ? "end" : "start" };
    add(svg, "text", { class: kind, ...place }, text);
  }

  function line(points) {
    return points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  }

  return { WIDTH, HEIGHT, add, show, extent, across, upwards, axes, label, line };
})();
