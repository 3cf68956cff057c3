// What the charts share. Each chart is a function (device, plot, width) that draws into an empty
// element; start.js calls it, and again when the width changes. Everything that comes from the data
// reaches the page as text nodes or attributes, never as markup.
'use strict';

const charts = {};

const SHAPES = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond,
                d3.symbolCross, d3.symbolStar, d3.symbolWye];

/** Up to four significant digits, no exponent: as in the tables. */
function number_text(value) {
  if (value === null || value === undefined) return '';
  const digits = value === 0 ? 0 : 3 - Math.floor(Math.log10(Math.abs(value) * 1.00005));
  return value.toFixed(Math.min(9, Math.max(0, digits)));
}

/** Fewer digits, for labels in a chart. */
function short_text(value) {
  const digits = value === 0 ? 0 : 2 - Math.floor(Math.log10(Math.abs(value) * 1.0005));
  return value.toFixed(Math.min(6, Math.max(0, digits)));
}

/** Colour and shape by variant, the same in all charts of a device. */
function styles_of(device) {
  const names = Array.from(new Set(device.results.map(row => row.variant))).sort();
  return new Map(names.map((name, i) => [name, {
    colour: `var(--c${i % 7})`,
    // A second round over the colours meets other shapes.
    shape: SHAPES[(i + Math.floor(i / 7)) % SHAPES.length],
  }]));
}

/** An SVG element that a screen reader announces as one picture. */
function add_svg(plot, width, height, text) {
  const svg = d3.select(plot).append('svg')
    .attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height)
    .attr('role', 'img').attr('aria-label', text);
  return svg;
}

function add_mark(parent, style, x, y, hollow, text, size = 62) {
  const mark = parent.append('path').attr('class', hollow ? 'mark hollow' : 'mark')
    .attr('d', d3.symbol().type(style.shape).size(size)())
    .attr('transform', `translate(${x},${y})`)
    .style('stroke', style.colour);
  if (!hollow) mark.style('fill', style.colour);
  mark.append('title').text(text);
  return mark;
}

/** `entries`: [{text, draw(svg)}], each with a swatch of 18 by 14. */
function add_legend(plot, entries) {
  const items = d3.select(plot).append('ul').attr('class', 'legend')
    .selectAll('li').data(entries).enter().append('li');
  items.append('svg').attr('width', 18).attr('height', 14).attr('aria-hidden', 'true')
    .each(function (entry) { entry.draw(d3.select(this)); });
  items.append('span').text(entry => entry.text);
}

function variant_legend(styles, names) {
  return names.map(name => ({
    text: name,
    draw: svg => add_mark(svg, styles.get(name), 9, 7, false, name),
  }));
}

/** Powers of ten, and 2 and 5 times them where there is room. */
function log_ticks(scale, pixels) {
  const [low, high] = scale.domain();
  const decades = Math.log10(high / low);
  const factors = pixels / decades > 130 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const factor of factors) ticks.push(factor * 10 ** power);
  }
  return ticks.filter(tick => tick >= low * 0.999 && tick <= high * 1.001);
}

function tick_text(value) {
  return value >= 1 ? d3.format(',')(Math.round(value)).replace(/,/g, '\u202f')
                    : String(Number(value.toPrecision(2)));
}

/** Grid lines over the whole plot and numbers below; its unit above the right end's numbers. */
function add_x_axis(svg, scale, box, ticks, title) {
  const axis = svg.append('g').attr('class', 'axis').attr('aria-hidden', 'true')
    .attr('transform', `translate(0,${box.bottom})`)
    .call(d3.axisBottom(scale).tickValues(ticks).tickFormat(tick_text)
      .tickSize(-(box.bottom - box.top)).tickPadding(7));
  axis.append('text').attr('x', box.right).attr('y', 36).attr('text-anchor', 'end').text(title);
}

function add_y_axis(svg, scale, box, ticks, title) {
  svg.append('g').attr('class', 'axis').attr('aria-hidden', 'true')
    .attr('transform', `translate(${box.left},0)`)
    .call(d3.axisLeft(scale).tickValues(ticks).tickFormat(tick_text)
      .tickSize(-(box.right - box.left)).tickPadding(6));
  svg.append('text').attr('class', 'quiet').attr('x', 0).attr('y', 12).text(title);
}

/** The first element of each run of elements that have the same key, with all of them. */
function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(key(row))) groups.set(key(row), []);
    groups.get(key(row)).push(row);
  }
  return Array.from(groups, ([name, members]) => ({name, rows: members}));
}

/** A panel of a grid, with a heading and a quiet second line. */
function add_panel(panels, heading, detail) {
  const panel = panels.append('div');
  const title = panel.append('h4').text(heading);
  title.append('span').attr('class', 'of').text(detail);
  return panel.node();
}

/** The width of a grid's panel, once it is laid out. */
function inner_width(node) {
  return Math.max(200, Math.floor(node.getBoundingClientRect().width));
}
