"""The task explorer as a block of a page: its data and its scripts are in the page itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from pipeline.reporting.blocks import ENVIRONMENT

SCRIPTS = ("chart.js", "explorer.js")


@dataclass(frozen=True)
class Explorer:
    """Maps of tasks that a reader can search, colour and move in; see assets/explorer.js."""

    caption: str
    datasets: Sequence[dict[str, Any]]
    palette: Sequence[str]  # from the lowest value to the highest
    opening: dict[str, str]  # what is shown first: dataset and task

    def html(self, folder: str = "") -> str:
        content = {"datasets": self.datasets, "palette": self.palette, "opening": self.opening}
        # `<`, `>`, `&` and `'` become escapes of JSON: no name can end the element or open one.
        data = htmlsafe_json_dumps(content, allow_nan=False, separators=(",", ":"))
        assets = package_files("pipeline.reporting").joinpath("assets")
        source = "".join(assets.joinpath(name).read_text("utf-8") for name in SCRIPTS)
        return _EXPLORER.render(caption=self.caption, data=data, source=Markup(source))

    def _repr_html_(self) -> str:
        return f"<p>The explorer of {len(self.datasets)} datasets is on the page.</p>"


_EXPLORER = ENVIRONMENT.from_string(
    """\
<figure class="explorer" id="explorer">
<noscript><p class="missing">The explorer needs JavaScript, which is switched off here. The \
figures and the table below do not.</p></noscript>
<div data-part="live" hidden>
<div class="controls">
<label>Dataset <select data-part="dataset"></select></label>
<label>Task <input data-part="task" type="search" list="explorer-tasks" autocomplete="off" \
spellcheck="false"></label>
<datalist id="explorer-tasks" data-part="tasks"></datalist>
<label>Colour <select data-part="colour"></select></label>
<label data-part="feature-box">Along <select data-part="feature"></select></label>
</div>
<p class="ramp"><span data-part="scale"></span> <span><span data-part="low"></span> \
<i data-part="ramp"></i> <span data-part="high"></span></span></p>
<p class="problem" data-part="problem" role="status"></p>
<div class="views">
<div>
<svg data-part="map" viewBox="0 0 480 380" tabindex="0" role="application" \
aria-label="Map of the tasks; arrow keys go to the next task in a direction"></svg>
<p aria-live="polite"><b data-part="chosen"></b>: <span data-part="about"></span></p>
<p>Most similar tasks, by the distance in the network's first layer:</p>
<ol data-part="nearest"></ol>
</div>
<div data-part="response">
<svg data-part="curve" viewBox="0 0 480 380" role="img" aria-label="Predictions along one feature">\
</svg>
<ul class="legend" data-part="key"></ul>
<div class="controls">
<label>β₁ <span><input data-part="beta0" type="range"> <output data-part="value0"></output></span>\
</label>
<label>β₂ <span><input data-part="beta1" type="range"> <output data-part="value1"></output></span>\
</label>
<button type="button" data-part="back">Back to the task</button>
</div>
<p data-part="range"></p>
<p class="files" data-part="note"></p>
</div>
</div>
<p class="files" data-part="network"></p>
</div>
<figcaption>{{ caption }}</figcaption>
</figure>
<script type="application/json" id="explorer-data">{{ data }}</script>
<script>
{{ source }}</script>
"""
)
