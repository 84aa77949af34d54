// Slider, play and pause; everything that shows a time follows it.
"use strict";

class Player {
  constructor(scene, div) {
    Object.assign(this, { scene, div, k: 0, playing: false, listeners: [], busy: Promise.resolve() });
    this.slider = document.getElementById("slider");
    this.button = document.getElementById("play");
    this.speed = document.getElementById("speed");
    this.slider.max = String(scene.count - 1);
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    this.button.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    document.getElementById("color").addEventListener("change", (event) => this.color(event.target.value));
    const follow = document.getElementById("follow");
    follow.checked = scene.follow;
    follow.addEventListener("change", () => {
      scene.follow = follow.checked;
      this.show(this.k);
    });
  }

  // seconds that the whole takes: real time where that can be watched
  get duration() {
    const t = this.scene.data.t, span = t[t.length - 1] - t[0];
    const whole = document.body.dataset.kind === "run" && span >= 2 && span <= 20 ? span : 10;
    return whole / Number(this.speed.value);
  }

  show(k) {
    this.k = Math.max(0, Math.min(this.scene.count - 1, k));
    this.slider.value = String(this.k);
    const label = this.scene.data.labels[this.k];
    document.getElementById("now").textContent = label;
    this.slider.setAttribute("aria-valuetext", label);
    this.busy = Plotly.react(this.div, this.scene.traces(this.k), this.scene.layout(this.k), CONFIG);
    document.body.dataset.output = String(this.k);
    for (const listener of this.listeners) listener(this.k, this.playing);
    return this.busy;
  }

  color(name) {
    this.scene.field = name;
    return this.show(this.k);
  }

  play() {
    if (this.scene.count < 2) return;
    this.playing = true;
    this.button.textContent = "❚❚ Pause";
    const t = this.scene.data.t, first = t[0], span = t[t.length - 1] - first;
    let from = this.k === this.scene.count - 1 ? first : t[this.k];
    let before = performance.now();
    const advance = async (now) => {
      if (!this.playing) return;
      from += (Math.max(0, now - before) / 1000) * (span / this.duration);
      before = now;
      let k = from < t[this.k] ? 0 : this.k;
      while (k < t.length - 1 && t[k + 1] <= from) k++;
      if (k !== this.k) await this.show(k);
      if (this.k === t.length - 1) this.pause();
      else requestAnimationFrame(advance);
    };
    requestAnimationFrame(advance);
  }

  pause() {
    this.playing = false;
    this.button.textContent = "▶ Play";
    for (const listener of this.listeners) listener(this.k, false);
  }
}
