// The motion in 3D: the traces of the page, moved to an output. Every vertex is fixed to a station, which is a frame or a place
// between two frames of a rod; the formulas are those of `rodsim.results.shapes.Shape`.
"use strict";

const EVEN = { ambient: 0.7, diffuse: 0.32 }; // light with which colours of values stay what the bar says

// columns of R(q), q = (w, x, y, z): out[at + 3 k + i] is component i of director k
function directors(q, from, out, at) {
  const w = q[from], x = q[from + 1], y = q[from + 2], z = q[from + 3];
  out[at] = 1 - 2 * (y * y + z * z); out[at + 1] = 2 * (x * y + w * z); out[at + 2] = 2 * (x * z - w * y);
  out[at + 3] = 2 * (x * y - w * z); out[at + 4] = 1 - 2 * (x * x + z * z); out[at + 5] = 2 * (y * z + w * x);
  out[at + 6] = 2 * (x * z + w * y); out[at + 7] = 2 * (y * z - w * x); out[at + 8] = 1 - 2 * (x * x + y * y);
}

class Scene {
  constructor(data) {
    this.data = data;
    for (const name of ["r", "quat", "a", "b", "x", "joints", "low", "high"]) this[name] = unpack(data[name]);
    this.fields = {};
    for (const [name, field] of Object.entries(data.fields)) this.fields[name] = unpack(field.values);
    const corners = (faces) => Object.fromEntries(faces.map((own, c) => ["ijk"[c], unpack(own).values]));
    this.meshes = data.meshes.map((mesh) => ({
      ...mesh, trace: { ...mesh.trace, ...corners(mesh.faces) }, station: unpack(mesh.station).values, offset: unpack(mesh.offset).values,
      upright: mesh.upright && unpack(mesh.upright).values,
    }));
    this.lines = data.lines.map(({ ends, trace }) => ({ trace, ends: unpack(ends) }));
    this.count = data.t.length;
    this.follow = data.follow;
    this.field = "";
  }

  // positions and directors of all stations at an output
  stations(k) {
    const r = this.r.row(k), q = this.quat.row(k), a = this.a.values, b = this.b.values, m = a.length;
    const at = new Float64Array(3 * m), d = new Float64Array(9 * m);
    const da = new Float64Array(9), db = new Float64Array(9), mean = new Float64Array(4);
    for (let s = 0; s < m; s++) {
      const i = 3 * a[s], j = 3 * b[s], p = 4 * a[s], o = 4 * b[s], u = this.x.values[s], v = 1 - u;
      directors(q, p, da, 0);
      directors(q, o, db, 0);
      let chord = 0, cosine = 0, product = 0, norm = 0;
      for (let c = 0; c < 3; c++) {
        chord += (r[j + c] - r[i + c]) ** 2;
        cosine += da[c] * db[c];
      }
      for (let c = 0; c < 4; c++) product += q[p + c] * q[o + c];
      for (let c = 0; c < 4; c++) {
        mean[c] = v * q[p + c] + (product < 0 ? -u : u) * q[o + c];
        norm += mean[c] ** 2;
      }
      for (let c = 0; c < 4; c++) mean[c] /= Math.sqrt(norm) || 1;
      directors(mean, 0, d, 9 * s);
      const speed = (2 * Math.sqrt(chord)) / (1 + Math.sqrt((1 + Math.max(-1, Math.min(1, cosine))) / 2));
      for (let c = 0; c < 3; c++) {
        at[3 * s + c] = (1 + 2 * u) * v * v * r[i + c] + u * v * v * speed * da[c]
          + u * u * (3 - 2 * u) * r[j + c] - u * u * v * speed * db[c];
      }
    }
    return { at, d };
  }

  mesh(mesh, { at, d }) {
    const n = mesh.station.length, o = mesh.offset, xyz = [0, 1, 2].map(() => new Float32Array(n));
    for (let v = 0; v < n; v++) {
      const s = 3 * mesh.station[v], e = 9 * mesh.station[v];
      for (let c = 0; c < 3; c++) {
        const turned = d[e + c] * o[3 * v] + d[e + 3 + c] * o[3 * v + 1] + d[e + 6 + c] * o[3 * v + 2];
        xyz[c][v] = at[s + c] + turned + (mesh.upright ? mesh.upright[3 * v + c] : 0);
      }
    }
    return { ...mesh.trace, x: xyz[0], y: xyz[1], z: xyz[2] };
  }

  // values at the nodes, on straight lines between them
  intensity({ station }, values) {
    const a = this.a.values, b = this.b.values, x = this.x.values;
    return Float32Array.from(station, (s) => (1 - x[s]) * values[a[s]] + x[s] * values[b[s]]);
  }

  traces(k) {
    const stations = this.stations(k), values = this.field ? this.fields[this.field].row(k) : null;
    const found = this.meshes.map((mesh) => {
      const trace = this.mesh(mesh, stations);
      if (!values || !mesh.rods) return trace;
      const lighting = { ...trace.lighting, ...EVEN };
      return { ...trace, lighting, intensity: this.intensity(mesh, values), coloraxis: "coloraxis" };
    });
    for (const { trace, ends } of this.lines) {
      const row = ends.row(k), xyz = [[], [], []];
      for (let p = 0; p < row.length; p += 6) for (let c = 0; c < 3; c++) xyz[c].push(row[p + c], row[p + 3 + c], null);
      found.push({ ...trace, x: xyz[0], y: xyz[1], z: xyz[2] });
    }
    if (this.joints.width) {
      const row = this.joints.row(k), [x, y, z] = [0, 1, 2].map((c) => row.filter((_, p) => p % 3 === c));
      found.push({ ...this.data.joint_trace, x, y, z });
    }
    return found;
  }

  // of the page, or with a box of one size around the model as it is now, or the picture would breathe
  layout(k) {
    const scene = { ...this.data.layout.scene }, layout = { ...this.data.layout, font: FONT, scene };
    const [low, high] = this.follow ? [this.low.row(k), this.high.row(k)] : this.box();
    const whole = Math.max(...Array.from(low, (x, c) => high[c] - x)) || 1;
    const sides = Array.from(low, (x, c) => (this.follow ? this.data.size : Math.max(high[c] - x, 0.22 * whole)));
    ["x", "y", "z"].forEach((axis, c) => {
      const middle = (low[c] + high[c]) / 2, range = [middle - 0.54 * sides[c], middle + 0.54 * sides[c]];
      scene[`${axis}axis`] = { ...scene[`${axis}axis`], range };
      scene.aspectratio = { ...scene.aspectratio, [axis]: sides[c] / Math.max(...sides) };
    });
    if (this.field) layout.coloraxis = this.data.fields[this.field].coloraxis;
    return layout;
  }

  box() {
    const most = (all, better) => [0, 1, 2].map((c) => all.values.reduce((x, y, p) => (p % 3 === c ? better(x, y) : x), all.values[c]));
    return [most(this.low, Math.min), most(this.high, Math.max)];
  }
}
