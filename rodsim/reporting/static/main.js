// Put together. `rodsimReport` is for whoever looks at the page from the console; body[data-ready]: all is drawn.
"use strict";

(function () {
  const data = readJson("motion-data");
  const scene = data ? new Scene(data) : null;
  const charts = new Charts(readJson("chart-data"), scene ? scene.data.t : []);
  if (!scene) {
    document.body.dataset.ready = "true";
    return;
  }
  const player = new Player(scene, document.getElementById("motion-view"));
  player.listeners.push((k) => charts.show(k));
  charts.onClick((k) => player.show(k));
  if (document.getElementById("chart-strains")) {
    const strains = new Strains(scene, document.body.dataset.axis);
    strains.draw();
    player.listeners.push((k, playing) => strains.show(k, playing));
  }
  scene.field = document.getElementById("color").value;
  window.rodsimReport = { scene, player, charts };
  player.show(0).then(() => (document.body.dataset.ready = "true"));
})();
