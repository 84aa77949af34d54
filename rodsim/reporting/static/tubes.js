// Surfaces of rods and bodies: the triangles once, the vertices for every output.
"use strict";

// columns of R(q), q = (w, x, y, z): out[3 k + i] is component i of director k
function directors(q, at, out) {
  const w = q[at], x = q[at + 1], y = q[at + 2], z = q[at + 3];
  out[0] = 1 - 2 * (y * y + z * z); out[1] = 2 * (x * y + w * z); out[2] = 2 * (x * z - w * y);
  out[3] = 2 * (x * y - w * z); out[4] = 1 - 2 * (x * x + z * z); out[5] = 2 * (y * z + w * x);
  out[6] = 2 * (x * z + w * y); out[7] = 2 * (y * z - w * x); out[8] = 1 - 2 * (x * x + y * y);
}

// A rod around its nodes: rings `pieces` to an element on cubic curves between them, lids at open ends.
class Tube {
  constructor(rod, first, pieces, sides) {
    Object.assign(this, { rod, first, pieces });
    this.half = unpack(rod.half).values;
    this.elements = rod.closed ? rod.count : rod.count - 1;
    this.rings = this.elements * pieces + (rod.closed ? 0 : 1);
    this.outline = [];
    if (rod.rectangle) {
      const corners = [[1, -1], [1, 1], [-1, 1], [-1, -1]];
      for (const corner of corners) this.outline.push(corner, corner); // twice: walls meet at an edge
    } else {
      for (let k = 0; k < sides; k++) {
        this.outline.push([Math.cos((2 * Math.PI * k) / sides), Math.sin((2 * Math.PI * k) / sides)]);
      }
    }
    const n = this.outline.length;
    this.lids = rod.closed ? 0 : 2;
    this.vertices = this.rings * n + this.lids * (n + 1);
    this.faces = [];
    const edges = rod.rectangle ? [[1, 2], [3, 4], [5, 6], [7, 0]] : this.outline.map((_, k) => [k, (k + 1) % n]);
    for (let ring = 0; ring < this.rings - (rod.closed ? 0 : 1); ring++) {
      const a = ring * n, b = ((ring + 1) % this.rings) * n;
      for (const [e, f] of edges) this.faces.push([a + e, a + f, b + f], [a + e, b + f, b + e]);
    }
    for (let lid = 0; lid < this.lids; lid++) {
      const a = this.rings * n + lid * (n + 1);
      for (const [e, f] of edges) this.faces.push(lid ? [a + e, a + f, a + n] : [a + f, a + e, a + n]);
    }
  }

  // positions r and quaternions q of all places, at one output, into x, y, z from `start` on
  place(r, q, x, y, z, start) {
    const { pieces, rod, first } = this;
    const a = new Float64Array(9), b = new Float64Array(9), d = new Float64Array(9), turn = new Float64Array(4);
    let ring = 0;
    for (let e = 0; e < this.elements; e++) {
      const i = first + e, j = first + ((e + 1) % rod.count);
      directors(q, 4 * i, a);
      directors(q, 4 * j, b);
      let chord = 0, cosine = 0, sign = 0;
      for (let c = 0; c < 3; c++) {
        chord += (r[3 * j + c] - r[3 * i + c]) ** 2;
        cosine += a[c] * b[c];
      }
      for (let c = 0; c < 4; c++) sign += q[4 * i + c] * q[4 * j + c];
      sign = sign < 0 ? -1 : 1;
      // best for arcs of circles
      const speed = (2 * Math.sqrt(chord)) / (1 + Math.sqrt((1 + Math.max(-1, Math.min(1, cosine))) / 2));
      const last = !rod.closed && e === this.elements - 1 ? pieces : pieces - 1;
      for (let p = 0; p <= last; p++) {
        const u = p / pieces, v = 1 - u;
        const at = [0, 1, 2].map(
          (c) =>
            (1 + 2 * u) * v * v * r[3 * i + c] + u * v * v * speed * a[c] +
            u * u * (3 - 2 * u) * r[3 * j + c] - u * u * v * speed * b[c]
        );
        let norm = 0;
        for (let c = 0; c < 4; c++) {
          turn[c] = v * q[4 * i + c] + u * sign * q[4 * j + c];
          norm += turn[c] ** 2;
        }
        norm = Math.sqrt(norm) || 1;
        for (let c = 0; c < 4; c++) turn[c] /= norm;
        directors(turn, 0, d);
        const k = e, l = (e + 1) % rod.count;
        const h2 = v * this.half[2 * k] + u * this.half[2 * l];
        const h3 = v * this.half[2 * k + 1] + u * this.half[2 * l + 1];
        this.ring(at, d, h2, h3, x, y, z, start + ring * this.outline.length);
        ring++;
      }
    }
    for (let lid = 0; lid < this.lids; lid++) this.lid(lid, r, x, y, z, start);
  }

  ring(at, d, h2, h3, x, y, z, to) {
    for (const [p, s] of this.outline) {
      x[to] = at[0] + h2 * p * d[3] + h3 * s * d[6];
      y[to] = at[1] + h2 * p * d[4] + h3 * s * d[7];
      z[to] = at[2] + h2 * p * d[5] + h3 * s * d[8];
      to++;
    }
  }

  // the last ring once more, with its middle: an edge that is not rounded off
  lid(lid, r, x, y, z, start) {
    const n = this.outline.length;
    const from = start + (lid ? this.rings - 1 : 0) * n, to = start + this.rings * n + lid * (n + 1);
    for (const array of [x, y, z]) array.copyWithin(to, from, from + n);
    const node = this.first + (lid ? this.rod.count - 1 : 0);
    x[to + n] = r[3 * node]; y[to + n] = r[3 * node + 1]; z[to + n] = r[3 * node + 2];
  }

  // values at the nodes, spread over the vertices
  spread(values, out, start) {
    const n = this.outline.length;
    let to = start;
    const at = (node) => values[this.first + (node % this.rod.count)];
    for (let ring = 0; ring < this.rings; ring++) {
      const e = Math.floor(ring / this.pieces), u = ring / this.pieces - e;
      const value = u === 0 ? at(e) : (1 - u) * at(e) + u * at(e + 1);
      for (let k = 0; k < n; k++) out[to++] = value;
    }
    for (let lid = 0; lid < this.lids; lid++) {
      for (let k = 0; k <= n; k++) out[to++] = at(lid ? this.rod.count - 1 : 0);
    }
  }
}

// The surface of one body, moved with its place.
class Solid {
  constructor(place, X, faces) {
    Object.assign(this, { place_: place, X, faces });
    this.vertices = X.length / 3;
    this.d = new Float64Array(9);
  }

  place(r, q, x, y, z, start) {
    const { X, d, place_: at } = this;
    directors(q, 4 * at, d);
    for (let k = 0; k < this.vertices; k++) {
      const a = X[3 * k], b = X[3 * k + 1], c = X[3 * k + 2];
      x[start + k] = r[3 * at] + d[0] * a + d[3] * b + d[6] * c;
      y[start + k] = r[3 * at + 1] + d[1] * a + d[4] * b + d[7] * c;
      z[start + k] = r[3 * at + 2] + d[2] * a + d[5] * b + d[8] * c;
    }
  }
}

// Several parts of one colour as one mesh of plotly.
class Mesh {
  constructor(name, color, parts, options) {
    this.parts = parts;
    this.starts = [0];
    for (const part of parts) this.starts.push(this.starts[this.starts.length - 1] + part.vertices);
    this.vertices = this.starts[parts.length];
    const count = parts.reduce((sum, part) => sum + part.faces.length, 0);
    const corners = [0, 1, 2].map(() => new Int32Array(count));
    let f = 0;
    parts.forEach((part, k) => {
      for (const face of part.faces) {
        for (let c = 0; c < 3; c++) corners[c][f] = face[c] + this.starts[k];
        f++;
      }
    });
    this.trace = { type: "mesh3d", name, color, i: corners[0], j: corners[1], k: corners[2], ...options };
  }

  at(r, q) {
    const xyz = [0, 1, 2].map(() => new Float32Array(this.vertices));
    this.parts.forEach((part, k) => part.place(r, q, ...xyz, this.starts[k]));
    return { ...this.trace, x: xyz[0], y: xyz[1], z: xyz[2] };
  }

  spread(values) {
    const out = new Float32Array(this.vertices);
    this.parts.forEach((part, k) => part.spread(values, out, this.starts[k]));
    return out;
  }
}
