// Strains and stresses along a rod: over place and time as a heat map, and along the rod where the slider is.
"use strict";

const TOOLS = 30; // pixels for the tool bar

class Strains {
  constructor(scene, timeTitle) {
    this.scene = scene;
    this.timeTitle = timeTitle;
    this.map = document.getElementById("chart-strains");
    this.profile = document.getElementById("chart-profile");
    this.rod = document.getElementById("strain-rod");
    this.component = document.getElementById("strain-component");
    this.firsts = [0];
    for (const rod of scene.data.rods) this.firsts.push(this.firsts[this.firsts.length - 1] + rod.count);
    for (const select of [this.rod, this.component]) select.addEventListener("change", () => this.draw());
  }

  get chosen() {
    const rod = this.scene.data.rods[Number(this.rod.value)];
    const field = this.scene.data.fields[this.component.value];
    return { rod, field, s: unpack(rod.s).values, first: this.firsts[Number(this.rod.value)] };
  }

  values(k) {
    const { rod, first } = this.chosen;
    return this.scene.fields[this.component.value].row(k).subarray(first, first + rod.count);
  }

  limits() {
    let low = Infinity, high = -Infinity;
    for (let k = 0; k < this.scene.count; k++) {
      for (const value of this.values(k)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    if (low < 0 && high > 0) return [-Math.max(high, -low), Math.max(high, -low), true];
    return low === high ? [low - 1, high + 1, false] : [low, high, false];
  }

  draw() {
    const { field, s } = this.chosen;
    const title = field.unit ? `${field.words} (${field.unit})` : field.words;
    const [low, high, both] = this.limits();
    this.range = [low, high];
    const z = Array.from(s, (_, i) => Float32Array.from({ length: this.scene.count }, (_, k) => this.values(k)[i]));
    const heat = {
      type: "heatmap", x: this.scene.data.t, y: s, z, zmin: low, zmax: high, zsmooth: false,
      colorscale: both ? field.coloraxis.colorscale : "Viridis",
      colorbar: { title: { text: field.coloraxis.colorbar.title.text, side: "top" }, thickness: 14, exponentformat: "power" },
      hovertemplate: `%{x:.4g}, s = %{y:.4g} m<br>%{z:.4g} ${field.unit}<extra></extra>`,
    };
    this.title = title;
    const layout = {
      font: FONT, margin: { l: 62, r: 10, t: TOOLS, b: 46 }, shapes: [timeLine(this.scene.data.t[this.k || 0])],
      xaxis: { title: { text: this.timeTitle }, constrain: "domain" }, yaxis: { title: { text: "s (m)" } },
    };
    Plotly.react(this.map, [heat], layout, CONFIG);
    this.show(this.k || 0, false);
  }

  show(k, playing) {
    this.k = k;
    if (!this.range || (playing && !this.visible())) return;
    const { s } = this.chosen;
    const [low, high] = this.range, room = 0.06 * (high - low);
    const line = { x: s, y: this.values(k), mode: "lines", line: { color: "#1f6f8b", width: 2 }, hoverinfo: "x+y" };
    Plotly.react(this.profile, [line], {
      font: FONT, margin: { l: 70, r: 14, t: TOOLS, b: 46 }, showlegend: false,
      xaxis: { title: { text: "s (m)" }, zeroline: false, gridcolor: "#e6e9ed" },
      yaxis: {
        title: { text: this.title, standoff: 8 }, automargin: true, range: [low - room, high + room], gridcolor: "#e6e9ed", exponentformat: "power",
      },
    }, CONFIG);
    Plotly.relayout(this.map, { shapes: [timeLine(this.scene.data.t[k])] });
  }

  visible() {
    const { top, bottom } = this.map.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  }
}
