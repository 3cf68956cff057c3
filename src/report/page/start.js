// Draws every chart of the page, and draws again when there is another width to fill.
'use strict';

(() => {
  const data = JSON.parse(document.getElementById('einkorn-data').textContent);

  function draw(figure) {
    const plot = figure.querySelector('.plot');
    const width = Math.max(260, Math.floor(plot.getBoundingClientRect().width));
    if (figure.drawn_width === width) return;
    figure.drawn_width = width;
    // The place is kept while it is empty, so that the page does not jump.
    plot.style.minHeight = `${plot.offsetHeight}px`;
    plot.replaceChildren();
    charts[figure.dataset.chart](data.devices[Number(figure.dataset.device)], plot, width);
    plot.style.minHeight = '';
  }

  const figures = Array.from(document.querySelectorAll('figure.chart'));
  const draw_all = () => figures.forEach(draw);
  draw_all();
  document.body.dataset.charts = String(figures.length);
  let waiting = 0;
  window.addEventListener('resize', () => {
    clearTimeout(waiting);
    waiting = setTimeout(draw_all, 100);
  });

  // Older browsers print no folded table; what was folded is folded again afterwards.
  let folded = [];
  window.addEventListener('beforeprint', () => {
    folded = Array.from(document.querySelectorAll('details:not([open])'));
    folded.forEach(details => { details.open = true; });
  });
  window.addEventListener('afterprint', () => folded.forEach(details => { details.open = false; }));
})();
