// The motion in 3D: what plotly draws at an output.
"use strict";

const LIGHTING = {
  ambient: 0.62, diffuse: 0.6, specular: 0.08, roughness: 0.7, fresnel: 0.05,
  facenormalsepsilon: 0, vertexnormalsepsilon: 1e-30,
};
const EVEN = { ...LIGHTING, ambient: 0.7, diffuse: 0.32 }; // colours of values stay what the bar says
// matplotlib's coolwarm, as in pictures and movies, its middle darker: the walls behind are light
const BOTH_SIGNS = [[0, "#3b4cc0"], [0.25, "#8db0fe"], [0.5, "#c3c8ce"], [0.75, "#f49a7b"], [1, "#b40426"]];
const ANGLE = Math.PI / 4, FILLED = 0.87; // of plotly's camera; how much of the picture the box takes
const RINGS = 1600; // of all rods together, about
const PALE = "rgba(90, 98, 112, 0.9)", DARK = "#3b424c";
const AXES = ["#c44238", "#428c50", "#3e64b0"]; // of driven frames: x, y, z

class Scene {
  constructor(data) {
    this.data = data;
    this.r = unpack(data.r);
    this.quat = unpack(data.quat);
    this.joints = unpack(data.joints);
    this.springs = unpack(data.springs);
    this.sticks = unpack(data.sticks);
    this.driven = unpack(data.driven);
    this.low = unpack(data.low);
    this.high = unpack(data.high);
    this.fields = {};
    for (const [name, field] of Object.entries(data.fields)) this.fields[name] = unpack(field.values);
    this.count = data.t.length;
    this.rods = this.rodMeshes();
    this.bodies = this.bodyMeshes(data.rods.reduce((sum, rod) => sum + rod.count, 0));
    this.follow = data.follow;
    this.field = "";
    this.aspect = 1.6; // of the picture: width over height
  }

  rodMeshes() {
    const { rods } = this.data;
    const elements = rods.reduce((sum, rod) => sum + rod.count, 0);
    const pieces = Math.max(1, Math.min(6, Math.floor(RINGS / Math.max(1, elements))));
    const sides = elements > 400 ? 6 : 12;
    let first = 0;
    const tubes = rods.map((rod) => {
      const tube = new Tube(rod, first, pieces, sides);
      first += rod.count;
      return tube;
    });
    return grouped(rods, tubes, this.data);
  }

  bodyMeshes(first) {
    const { bodies, surfaces } = this.data;
    const X = unpack(surfaces.X).values, faces = unpack(surfaces.faces).values, owner = unpack(surfaces.body).values;
    const starts = new Int32Array(bodies.length + 1), own = bodies.map(() => []);
    for (const body of owner) starts[body + 1]++;
    for (let k = 0; k < bodies.length; k++) starts[k + 1] += starts[k];
    for (let f = 0; f < faces.length; f += 3) {
      const body = owner[faces[f]], from = starts[body];
      own[body].push([faces[f] - from, faces[f + 1] - from, faces[f + 2] - from]);
    }
    const solids = bodies.map((_, k) => new Solid(first + k, X.slice(3 * starts[k], 3 * starts[k + 1]), own[k]));
    return grouped(bodies, solids, this.data);
  }

  traces(k) {
    const r = this.r.row(k), q = this.quat.row(k);
    const values = this.field ? this.fields[this.field].row(k) : null;
    const rods = this.rods.map((mesh) => {
      const trace = mesh.at(r, q);
      return values ? { ...trace, intensity: mesh.spread(values), coloraxis: "coloraxis", lighting: EVEN } : trace;
    });
    return [...rods, ...this.bodies.map((mesh) => mesh.at(r, q)), ...this.marks(k)];
  }

  marks(k) {
    const found = [];
    const green = { color: "#7a9a3c", width: 5, dash: "dot" }, grey = { color: "#6b7686", width: 6 };
    if (this.sticks.width) found.push(segments(this.sticks.row(k), "bodies without a surface", grey));
    if (this.springs.width) found.push(segments(this.springs.row(k), "springs", green));
    for (const axis of this.driven.width ? [0, 1, 2] : []) {
      const row = this.driven.row(k), third = row.length / 3;
      const line = { color: AXES[axis], width: 6 };
      found.push({ ...segments(row.subarray(axis * third, (axis + 1) * third), "driven frames", line), showlegend: !axis });
    }
    const { supports } = this.data;
    if (supports.includes(false)) found.push(this.points(k, "joints", false, { size: 3.5, color: PALE }));
    if (supports.includes(true)) found.push(this.points(k, "supports", true, { size: 5, color: DARK, symbol: "square" }));
    return found;
  }

  // joints to the ground, or the others
  points(k, name, support, marker) {
    const p = this.joints.row(k), x = [], y = [], z = [], text = [];
    this.data.supports.forEach((is, j) => {
      if (is !== support) return;
      x.push(p[3 * j]);
      y.push(p[3 * j + 1]);
      z.push(p[3 * j + 2]);
      text.push(plain(this.data.joint_names[j]));
    });
    const line = { color: "#fff", width: 1 };
    return {
      type: "scatter3d", mode: "markers", name, x, y, z, marker: { ...marker, line }, text, hoverinfo: "text",
    };
  }

  // the box that is seen: around everything, or around the model as it is now
  box(k) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const from = this.follow ? k : 0, to = this.follow ? k + 1 : this.count;
    for (let f = from; f < to; f++) {
      for (let c = 0; c < 3; c++) {
        low[c] = Math.min(low[c], this.low.row(f)[c]);
        high[c] = Math.max(high[c], this.high.row(f)[c]);
      }
    }
    let size = Math.max(...high.map((x, c) => x - low[c]));
    if (this.follow) {
      // one size at all outputs, or the picture would breathe
      for (let f = 0; f < this.count; f++) {
        size = Math.max(size, ...[0, 1, 2].map((c) => this.high.row(f)[c] - this.low.row(f)[c]));
      }
    }
    size = size || 1;
    return [0, 1, 2].map((c) => {
      const middle = (low[c] + high[c]) / 2;
      const half = 0.54 * (this.follow ? size : Math.max(high[c] - low[c], 0.22 * size));
      return [middle - half, middle + half];
    });
  }

  layout(k) {
    const box = this.box(k);
    const sides = box.map(([low, high]) => high - low), longest = Math.max(...sides);
    const [x, y, z] = sides.map((side) => side / longest);
    const axis = (title, range) => ({
      title: { text: title, font: { size: 12 } }, range, autorange: false, showspikes: false, nticks: 6,
      backgroundcolor: "#f6f7f9", gridcolor: "#dfe3e8", zerolinecolor: "#c8ced6", showbackground: true,
      tickfont: { size: 10, color: "#66707c" }, exponentformat: "power",
    });
    const layout = {
      margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "#fff", font: FONT, uirevision: "kept",
      showlegend: this.rods.length + this.bodies.length > 1,
      legend: { orientation: "h", x: 0, y: 1, yanchor: "top", bgcolor: "rgba(255,255,255,0.75)", itemsizing: "constant" },
      scene: {
        xaxis: axis("x (m)", box[0]), yaxis: axis("y (m)", box[1]), zaxis: axis("z (m)", box[2]),
        aspectmode: "manual", aspectratio: { x, y, z }, uirevision: "kept", camera: this.camera([x, y, z]),
      },
    };
    if (this.field) layout.coloraxis = this.colors();
    return layout;
  }

  // as near as all corners of the box allow
  camera(ratio) {
    const { view, up } = this.data;
    const right = normalized(cross(up, view)), over = cross(view, right);
    let away = 0;
    for (let corner = 0; corner < 8; corner++) {
      const c = ratio.map((side, k) => (corner & (1 << k) ? 0.5 : -0.5) * side);
      const across = Math.max(Math.abs(dot(c, over)), Math.abs(dot(c, right)) / this.aspect);
      away = Math.max(away, dot(c, view) + across / (FILLED * Math.tan(ANGLE / 2)));
    }
    const point = ([x, y, z]) => ({ x, y, z });
    return {
      eye: point(view.map((x) => away * x)), up: point(up), center: point([0, 0, 0]),
      projection: { type: "perspective" },
    };
  }

  colors() {
    const field = this.data.fields[this.field], { low, high, both } = field;
    return {
      cmin: low, cmax: high === low ? low + 1 : high, colorscale: both ? BOTH_SIGNS : "Viridis",
      colorbar: {
        title: { text: symbol(field), side: "top", font: { size: 12 } }, thickness: 14, len: 0.85, x: 0.99,
        xanchor: "right", tickfont: { size: 10 }, exponentformat: "power", bgcolor: "rgba(255,255,255,0.75)",
      },
    };
  }
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const normalized = (a) => a.map((x) => x / Math.hypot(...a));

// lines between pairs of points
function segments(ends, name, line) {
  const x = [], y = [], z = [];
  for (let s = 0; s < ends.length; s += 6) {
    x.push(ends[s], ends[s + 3], null);
    y.push(ends[s + 1], ends[s + 4], null);
    z.push(ends[s + 2], ends[s + 5], null);
  }
  return { type: "scatter3d", mode: "lines", name, x, y, z, line, hoverinfo: "name" };
}

// "bending K₂" in 1/m: "K₂ (1/m)"
function symbol({ words, unit }) {
  const last = words.split(" ").pop();
  return unit ? `${last} (${unit})` : last;
}

// one mesh for each colour and family of names ('bar 1', 'bar 2' ... are bars)
function grouped(items, parts, { view, up }) {
  // behind the viewer's shoulder
  const [x, y, z] = view.map((c, k) => 1e4 * (c + 0.9 * up[k]));
  const families = new Map();
  items.forEach((item, k) => {
    if (!parts[k].vertices) return;
    const stem = item.name.replace(/[\s_.-]*\d+$/, "") || item.name;
    const key = `${stem}\n${item.color}`;
    if (!families.has(key)) families.set(key, { stem, color: item.color, names: [], parts: [] });
    families.get(key).names.push(item.name);
    families.get(key).parts.push(parts[k]);
  });
  const shown = new Set();
  return [...families.values()].map(({ stem, color, names, parts: own }) => {
    const several = items.filter((item) => (item.name.replace(/[\s_.-]*\d+$/, "") || item.name) === stem).length;
    const name = plain(several > 1 ? `${stem} (${several})` : names[0]);
    const first = !shown.has(stem);
    shown.add(stem);
    const hovertemplate = `<b>${name}</b><br>(%{x:.4g}, %{y:.4g}, %{z:.4g}) m<extra></extra>`;
    return new Mesh(name, color, own, {
      lighting: LIGHTING, lightposition: { x, y, z }, flatshading: false,
      showlegend: first, legendgroup: plain(stem), hovertemplate,
    });
  });
}
