// Arrays of the page: base64 of little-endian numbers with a shape; a row of the first axis is one output.
"use strict";

const KINDS = { f4: Float32Array, i4: Int32Array };

function unpack(data) {
  const text = atob(data.bdata);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const values = new KINDS[data.dtype](bytes.buffer);
  const width = data.shape.slice(1).reduce((a, b) => a * b, 1);
  return { values, shape: data.shape, width, row: (k) => values.subarray(k * width, (k + 1) * width) };
}

function readJson(id) {
  return JSON.parse(document.getElementById(id).textContent);
}
