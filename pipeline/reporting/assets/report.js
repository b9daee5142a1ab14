// Filters, sorting and hints. Every table is complete without this script.
"use strict";
(() => {
  const number = (text) => {
    const cleaned = text.replace(/[\s\u202f†]/g, "").replace("−", "-").replace("%", "");
    return cleaned === "" || Number.isNaN(Number(cleaned)) ? null : Number(cleaned);
  };
  const sortKey = (cell) => {
    const text = cell.dataset.value ?? cell.firstChild?.textContent?.trim() ?? "";
    return number(text) ?? text.toLowerCase();
  };
  const order = (one, two) => {
    if (typeof one === typeof two) return one < two ? -1 : one > two ? 1 : 0;
    return typeof one === "number" ? -1 : 1;  // what has no number goes last
  };

  function makeSortable(table) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].filter((row) => !row.classList.contains("detail"));
        const keyed = rows.map((row) => [sortKey(row.cells[column]), row]);
        keyed.sort(([one], [two]) => {
          const turned = typeof one === typeof two && down;
          return turned ? -order(one, two) : order(one, two);
        });
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  // A select for every column that is marked, a search for all of them; the state is in the URL.
  function makeFilterable(figure) {
    const table = figure.querySelector("table"), controls = figure.querySelector(".controls");
    const rows = [...table.tBodies[0].rows], prefix = figure.id;
    const inputs = [...controls.querySelectorAll("[data-filter]")];
    const state = new URLSearchParams(location.search);
    for (const input of inputs) {
      const key = input.dataset.filter, column = Number(input.dataset.column);
      if (input.tagName === "SELECT") {
        const values = new Map();
        for (const row of rows) {
          const { kind } = row.cells[column].dataset;
          values.set(kind, (values.get(kind) ?? 0) + 1);
        }
        for (const [value, count] of values) input.add(new Option(`${value} (${count})`, value));
      }
      const wanted = state.get(`${prefix}.${key}`);
      if (wanted !== null) input.value = wanted;
      if (input.tagName === "SELECT" && input.selectedIndex < 0) input.selectedIndex = 0;
      input.addEventListener("input", apply);
    }
    controls.querySelector("button")?.addEventListener("click", () => {
      for (const input of inputs) input.value = "";
      apply();
    });

    function apply() {
      let shown = 0;
      for (const row of rows) {
        const keep = inputs.every((input) => {
          if (input.value === "") return true;
          if (input.tagName === "SELECT") {
            return row.cells[Number(input.dataset.column)].dataset.kind === input.value;
          }
          return row.textContent.toLowerCase().includes(input.value.trim().toLowerCase());
        });
        row.hidden = !keep;
        shown += keep ? 1 : 0;
      }
      controls.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
      const now = new URLSearchParams(location.search);
      for (const input of inputs) {
        if (input.value === "") now.delete(`${prefix}.${input.dataset.filter}`);
        else now.set(`${prefix}.${input.dataset.filter}`, input.value);
      }
      const query = now.toString();
      history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
    }
    controls.hidden = false;
    apply();
  }

  function hint() {
    for (const box of document.querySelectorAll(".scroll")) {
      box.classList.toggle("overflows", box.scrollWidth > box.clientWidth + 1);
    }
  }

  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.querySelectorAll("figure.filterable").forEach(makeFilterable);
  hint();
  addEventListener("resize", hint);
  addEventListener("toggle", hint, true);  // a table that was folded has no width
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("main details:not(.narrow)")) one.open = true;
  });
})();
