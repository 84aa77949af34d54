// Curves over time, with a line where the slider is; a click into one moves the slider.
"use strict";

const FONT = { family: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", size: 12, color: "#2b3440" };
const RED = { color: "#c0392b", width: 1 };
const CONFIG = { displaylogo: false, responsive: true, displayModeBar: "hover" };

class Charts {
  constructor(figures, t) {
    this.t = t;
    this.shown = new Set();
    this.all = Object.entries(figures).map(([name, figure]) => {
      const div = document.getElementById(`chart-${name}`);
      Plotly.newPlot(div, figure.data, { ...figure.layout, font: FONT }, CONFIG);
      return div;
    });
    this.stale = new Set();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        this.shown[entry.isIntersecting ? "add" : "delete"](entry.target);
        if (entry.isIntersecting && this.stale.has(entry.target)) this.mark(entry.target);
      }
    });
    for (const div of this.all) observer.observe(div);
  }

  onClick(show) {
    for (const div of this.all) {
      const at = div.layout.meta ? div.layout.meta.x : this.t;
      div.on("plotly_click", (event) => show(nearest(at, event.points[0].x)));
    }
  }

  // of a path, which has no time axis, where the output is on it
  lines(div) {
    const path = div.layout.meta;
    if (!path) return [timeLine(this.t[this.k])];
    const level = { type: "line", y0: path.y[this.k], y1: path.y[this.k], xref: "paper", x0: 0, x1: 1, line: RED };
    return [timeLine(path.x[this.k]), level];
  }

  // what is not in sight is marked when it comes there
  show(k) {
    this.k = k;
    for (const div of this.all) {
      if (this.shown.has(div)) this.mark(div);
      else this.stale.add(div);
    }
  }

  mark(div) {
    this.stale.delete(div);
    if (this.k === undefined) return;
    Plotly.relayout(div, { shapes: this.lines(div) });
  }
}

function timeLine(t) {
  return { type: "line", x0: t, x1: t, yref: "paper", y0: 0, y1: 1, line: RED };
}

function nearest(t, x) {
  let best = 0;
  for (let k = 1; k < t.length; k++) if (Math.abs(t[k] - x) < Math.abs(t[best] - x)) best = k;
  return best;
}
