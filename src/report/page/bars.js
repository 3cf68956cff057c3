// Bars of times: against peers, by version, by stage. One form for all: the name above its bar, so
// that it fits a phone, the value at the bar's end.
'use strict';

const BAR = {step: 36, height: 11, name: 11, indent: 14};

/** The copy's bars are hatched; ids are of the document, so one definition serves all. */
function add_hatch(svg) {
  const pattern = svg.append('defs').append('pattern').attr('id', `hatch-${add_hatch.count = (add_hatch.count || 0) + 1}`)
    .attr('patternUnits', 'userSpaceOnUse').attr('width', 5).attr('height', 5)
    .attr('patternTransform', 'rotate(45)');
  pattern.append('rect').attr('width', 2).attr('height', 5).style('fill', 'var(--copy)');
  return `url(#${pattern.attr('id')})`;
}

/** A text that is cut with an ellipsis where it is wider than `room`. */
function fit_text(text, room) {
  const node = text.node();
  let content = text.text();
  while (content.length > 4 && node.getComputedTextLength() > room) {
    content = content.slice(0, -2);
    text.text(`${content}…`);
  }
}

/**
 * `rows`: [{name, detail, kind, median_us, q1_us, q3_us, predicted_us, note, depth}]; `kind` is
 * ours, copy or peer.
 */
function add_bars(plot, width, rows, text) {
  // For the value and its note after the longest bar: characters of the page's 12 px are narrower.
  const longest = d3.max(rows, row => `${number_text(row.median_us)} µs ${row.note || ''}`.length);
  const room = 16 + 7.2 * longest;
  const most = d3.max(rows, row => Math.max(row.q3_us || 0, row.median_us || 0, row.predicted_us || 0));
  const deepest = d3.max(rows, row => row.depth || 0);
  const x = d3.scaleLinear().domain([0, most]).range([0, width - room - deepest * BAR.indent]);
  const svg = add_svg(plot, width, rows.length * BAR.step, text);
  const hatch = add_hatch(svg);
  rows.forEach((row, i) => {
    const left = (row.depth || 0) * BAR.indent;
    const group = svg.append('g').attr('transform', `translate(${left},${i * BAR.step})`);
    const name = group.append('text').attr('y', BAR.name).attr('class', 'code');
    name.append('tspan').text(row.name);
    if (row.detail) name.append('tspan').style('fill', 'var(--quiet)').text(`  ${row.detail}`);
    if (name.node().getComputedTextLength() > width - left) {
      name.selectAll('tspan').remove();
      name.text(row.name);
      fit_text(name, width - left);
    }
    name.append('title').text(`${row.name} ${row.detail || ''}`);
    add_bar(group, row, x, hatch);
  });
  return svg;
}

function add_bar(group, row, x, hatch) {
  const top = BAR.name + 5;
  const middle = top + BAR.height / 2;
  const end = Math.max(1, x(row.median_us || 0));
  const bar = group.append('rect').attr('class', row.kind).attr('y', top).attr('height', BAR.height)
    .attr('width', end);
  if (row.kind === 'copy') bar.style('fill', hatch);
  bar.append('title').text(`${row.name}: median ${number_text(row.median_us)} µs, quartiles ` +
    `${number_text(row.q1_us)} to ${number_text(row.q3_us)} µs`);
  if (row.q3_us > row.q1_us) {
    group.append('line').attr('class', 'whisker').attr('x1', x(row.q1_us)).attr('x2', x(row.q3_us))
      .attr('y1', middle).attr('y2', middle);
  }
  if (row.predicted_us) {
    group.append('line').attr('class', 'predicted').attr('x1', x(row.predicted_us))
      .attr('x2', x(row.predicted_us)).attr('y1', top - 3).attr('y2', top + BAR.height + 3)
      .append('title').text(`predicted ${number_text(row.predicted_us)} µs`);
  }
  const right = Math.max(end, x(row.q3_us || 0), row.predicted_us ? x(row.predicted_us) + 1 : 0);
  const value = group.append('text').attr('x', right + 6).attr('y', top + BAR.height - 1);
  value.append('tspan').attr('class', 'strong').text(`${number_text(row.median_us)} µs`);
  if (row.note) value.append('tspan').style('fill', 'var(--quiet)').text(`  ${row.note}`);
}

/** Names within a panel: the op is in its heading. */
function without_op(name, op) {
  return name.startsWith(`${op}/`) ? name.slice(op.length + 1) : name;
}

function add_panels(plot, wide) {
  return d3.select(plot).append('div').attr('class', wide ? 'panels wide' : 'panels');
}

charts.comparisons = (device, plot) => {
  add_legend(plot, [
    {text: 'einkorn', draw: svg => svg.append('rect').attr('class', 'ours').attr('y', 2).attr('width', 18).attr('height', 10)},
    {text: 'plain copy of the same bytes', draw: svg => svg.append('rect').attr('class', 'copy').attr('y', 2).attr('width', 18).attr('height', 10).style('fill', add_hatch(svg))},
    {text: 'other library', draw: svg => svg.append('rect').attr('class', 'peer').attr('x', 0.5).attr('y', 2).attr('width', 17).attr('height', 10)},
  ]);
  const panels = add_panels(plot, false);
  // All panels first: their width is known once the grid is laid out.
  const nodes = device.comparisons.map(one => add_panel(panels, one.op, one.problem));
  device.comparisons.forEach((one, i) => {
    const rows = one.bars.map(bar => ({
      ...bar,
      name: without_op(bar.name, one.op),
      detail: bar.kind === 'peer' || bar.kind === 'copy' ? bar.detail : '',
      note: bar.times_ours ? `${bar.times_ours.toFixed(2)}×` : '',
    }));
    add_bars(nodes[i], inner_width(nodes[i]), rows,
      `Times of ${one.op}, ${one.problem}, on ${device.device}; numbers in the table below`);
  });
};

charts.ladders = (device, plot) => {
  const panels = add_panels(plot, false);
  const nodes = device.ladders.map(ladder => add_panel(panels, ladder.design, ladder.problem));
  device.ladders.forEach((ladder, i) => {
    const rows = ladder.steps.map(step => ({
      ...step,
      name: `v${step.version}`,
      detail: step.tiling,
      kind: 'ours',
      note: step.version === ladder.steps[0].version ? '' : `${step.speedup.toFixed(2)}× faster`,
    }));
    add_bars(nodes[i], inner_width(nodes[i]), rows,
      `Versions of ${ladder.design}, ${ladder.problem}, on ${device.device}`);
  });
};

charts.stages = (device, plot) => {
  const panels = add_panels(plot, true);
  const nodes = device.stages.map(one => add_panel(panels, one.variant, one.problem));
  device.stages.forEach((one, i) => {
    const rows = one.stages.map(stage => ({
      ...stage,
      kind: 'ours',
      note: one.total_us ? `${(100 * stage.median_us / one.total_us).toFixed(0)} %` : '',
    }));
    add_bars(nodes[i], inner_width(nodes[i]), rows,
      `Stage times of ${one.variant}, ${one.problem}, on ${device.device}`);
  });
};
