// The roofline picture, and each result as a share of the roof above it.
'use strict';

/** Only what can stand on the picture: measured, newest, with flops. */
function points_of(device) {
  return device.results.filter(row => row.latest && !row.failure && row.intensity && row.tflops);
}

function point_text(row) {
  const share = row.percent_attainable
    ? `, ${number_text(row.percent_attainable)} % of what the roof allows` : '';
  return `${row.variant}\n${row.problem}\n${number_text(row.tflops)} TFLOP/s at ` +
    `${number_text(row.intensity)} flop/byte, ${number_text(row.gbps)} GB/s${share}\n` +
    `${number_text(row.median_us)} µs` + (row.roof === 'cache' ? ', fits the last-level cache' : '');
}

/** Peaks of one height and kind are one line: "bf16, f16". */
function merged_peaks(peaks) {
  const lines = grouped(peaks, peak => `${peak.tflops}/${peak.measured}`);
  return lines.map(line => ({
    tflops: line.rows[0].tflops,
    measured: line.rows[0].measured,
    name: line.rows.map(peak => peak.name).join(', '),
  })).sort((a, b) => b.tflops - a.tflops);
}

function roofline_scales(points, memory, compute, box) {
  const intensities = points.map(row => row.intensity);
  const rates = points.map(row => row.tflops);
  const top = d3.max(compute, peak => peak.tflops) || 0;
  const slope = d3.max(memory, peak => peak.gbps) || 0;
  const ridge = top && slope ? top * 1000 / slope : 0;
  const low_x = d3.min(intensities) / 4;
  const high_x = Math.max(d3.max(intensities) * 8, ridge * 5);
  const high_y = Math.max(d3.max(rates) * 4, top * 2.2, top ? 0 : slope * high_x / 1000);
  return {
    x: d3.scaleLog().domain([low_x, high_x]).range([box.left, box.right]),
    y: d3.scaleLog().domain([d3.min(rates) / 4, high_y]).range([box.bottom, box.top]),
  };
}

/** A memory roof up to the highest compute roof, with its label along it. */
function add_memory_roof(svg, peak, top, x, y, box, below) {
  const [low_x, high_x] = x.domain();
  const [low_y, high_y] = y.domain();
  const rate = intensity => peak.gbps * intensity / 1000;
  const from = Math.max(low_x, low_y * 1000 / peak.gbps);
  const to = Math.min(high_x, Math.min(top || Infinity, high_y) * 1000 / peak.gbps);
  if (!(to > from)) return;
  const text = `${number_text(peak.gbps)} GB/s ${peak.measured ? 'measured' : 'datasheet'}`;
  svg.append('line').attr('class', peak.measured ? 'roof measured' : 'roof')
    .attr('x1', x(from)).attr('y1', y(rate(from))).attr('x2', x(to)).attr('y2', y(rate(to)))
    .append('title').text(`${text}: ${peak.from}`);
  // In the middle of the upper half, above the line or below it.
  const at = Math.exp(Math.log(from) * 0.36 + Math.log(to) * 0.64);
  const angle = Math.atan2(y(rate(to)) - y(rate(from)), x(to) - x(from)) * 180 / Math.PI;
  svg.append('text').attr('class', 'halo').attr('text-anchor', 'middle')
    .attr('transform', `translate(${x(at)},${y(rate(at))}) rotate(${angle})`)
    .attr('dy', below ? 17 : -7).text(text);
}

/**
 * Where each line's label can stand: above it, else below it, where it meets neither another label
 * nor another line. One that has no place is left out: the line tells on hovering, and the table.
 */
function label_places(heights, preferred) {
  const taken = heights.map(height => [height - 1, height + 1]);
  return heights.map((height, i) => {
    const sides = preferred[i] === 'below' ? [15, -6] : [-6, 15];
    for (const side of sides) {
      const box = [height + side - 10, height + side + 3];
      if (taken.some(([from, to]) => from < box[1] && to > box[0])) continue;
      taken.push(box);
      return height + side;
    }
    return null;
  });
}

/** Horizontal roofs, each from the highest memory roof to the right. */
function add_compute_roofs(svg, peaks, slope, x, y, box) {
  const datasheet = peaks.some(peak => !peak.measured);
  const places = label_places(peaks.map(peak => y(peak.tflops)),
                              peaks.map(peak => (peak.measured && datasheet ? 'below' : 'above')));
  peaks.forEach((peak, i) => {
    const from = slope ? Math.max(x.domain()[0], peak.tflops * 1000 / slope) : x.domain()[0];
    const basis = peak.measured ? 'measured' : 'datasheet';
    const text = `${number_text(peak.tflops)} TFLOP/s ${peak.name} ${basis}`;
    svg.append('line').attr('class', peak.measured ? 'roof measured' : 'roof')
      .attr('x1', x(from)).attr('x2', box.right)
      .attr('y1', y(peak.tflops)).attr('y2', y(peak.tflops)).append('title').text(text);
    if (places[i] === null) return;
    svg.append('text').attr('class', 'halo').attr('x', box.right).attr('y', places[i])
      .attr('text-anchor', 'end').text(text);
  });
}

/** The data types that the problems name: "dtype=bf16". */
function dtypes_of(points) {
  return new Set(points.map(row => (/(?:^| )dtype=(\S+)/.exec(row.problem) || [])[1]));
}

/** Roofs of the data types in use, all of them when none is known by that name. */
function compute_peaks_of(device, points) {
  const dtypes = dtypes_of(points);
  const used = device.compute_peaks.filter(peak => dtypes.has(peak.name.split(' ')[0]));
  return merged_peaks(used.length ? used : device.compute_peaks);
}

charts.roofline = (device, plot, width) => {
  const points = points_of(device);
  if (!points.length) {
    d3.select(plot).append('p').attr('class', 'missing')
      .text('No result here has both flops and bytes, so none can stand on a roofline.');
    return;
  }
  const styles = styles_of(device);
  const memory = device.memory_peaks;
  const compute = compute_peaks_of(device, points);
  add_legend(plot, variant_legend(styles, Array.from(new Set(points.map(p => p.variant))).sort()));
  const height = Math.max(340, Math.min(520, Math.round(width * 0.55)));
  const box = {left: 44, right: width - 8, top: 26, bottom: height - 44};
  const svg = add_svg(plot, width, height,
    `Roofline of ${device.device}: ${points.length} results; the table below has the numbers`);
  const {x, y} = roofline_scales(points, memory, compute, box);
  add_x_axis(svg, x, box, log_ticks(x, box.right - box.left), 'useful flop/byte');
  add_y_axis(svg, y, box, log_ticks(y, box.bottom - box.top), 'TFLOP/s');
  const top = compute.length ? compute[0].tflops : 0;
  memory.forEach((peak, i) => add_memory_roof(svg, peak, top, x, y, box, i > 0));
  add_compute_roofs(svg, compute, d3.max(memory, peak => peak.gbps), x, y, box);
  for (const row of points) {
    add_mark(svg, styles.get(row.variant), x(row.intensity), y(row.tflops), row.roof === 'cache',
             point_text(row));
  }
};

/** The copy of the same bytes on the scale of the result that it was timed with. */
function copy_percent(row) {
  return row.copy_us ? row.percent_attainable * row.median_us / row.copy_us : null;
}

function add_attained_row(svg, group, x, y, styles) {
  const copy = d3.max(group.rows, copy_percent);
  if (copy) {
    svg.append('line').attr('class', 'copy').attr('x1', x(copy)).attr('x2', x(copy))
      .attr('y1', y - 8).attr('y2', y + 8).attr('stroke-width', 3)
      .append('title').text(`copy of the same bytes: ${number_text(copy)} %`);
  }
  for (const row of group.rows) {
    add_mark(svg, styles.get(row.variant), x(row.percent_attainable), y, row.roof === 'cache',
             point_text(row));
  }
  const best = d3.max(group.rows, row => row.percent_attainable);
  const right = Math.max(best, copy || 0);
  svg.append('text').attr('class', 'strong halo').attr('x', x(right) + 10).attr('y', y + 4)
    .text(`${short_text(best)} %`);
}

charts.attained = (device, plot, width) => {
  const points = points_of(device).filter(row => row.percent_attainable);
  if (!points.length) {
    d3.select(plot).append('p').attr('class', 'missing')
      .text('No result here has both flops and bytes, so none has a share.');
    return;
  }
  const styles = styles_of(device);
  const wide = width >= 620;
  // Beside the row where there is room, above it on a phone.
  const gutter = wide ? 330 : 0;
  const step = wide ? 28 : 46;
  const groups = grouped(points, row => `${row.op} ${row.problem}`);
  groups.sort((a, b) => d3.ascending(a.rows[0].op, b.rows[0].op) ||
    d3.descending(a.rows[0].gbps * a.rows[0].median_us, b.rows[0].gbps * b.rows[0].median_us));
  const box = {left: gutter + 8, right: width - 56, top: 8, bottom: 8 + groups.length * step};
  const most = d3.max(points, row => Math.max(row.percent_attainable, copy_percent(row) || 0));
  const x = d3.scaleLinear().domain([0, Math.max(100, most)]).range([box.left, box.right]);
  const svg = add_svg(plot, width, box.bottom + 44,
    `Share of what the roof allows, by problem, on ${device.device}; numbers in the table below`);
  const roof = device.memory_peaks[0];
  add_x_axis(svg, x, box, x.ticks(wide ? 10 : 5),
    `% of the roof (${roof.measured ? 'measured' : 'datasheet'}: ${number_text(roof.gbps)} GB/s)`);
  svg.append('line').attr('class', roof.measured ? 'roof measured' : 'roof')
    .attr('x1', x(100)).attr('x2', x(100)).attr('y1', box.top).attr('y2', box.bottom);
  groups.forEach((group, i) => {
    const y = box.top + (i + (wide ? 0.5 : 0.68)) * step;
    const label = svg.append('text').attr('x', wide ? gutter - 8 : box.left)
      .attr('y', wide ? y + 4 : y - 15).attr('text-anchor', wide ? 'end' : 'start')
      .attr('class', 'halo');
    label.append('tspan').attr('class', 'strong').text(`${group.rows[0].op}  `);
    label.append('tspan').attr('class', 'code quiet').text(group.rows[0].problem);
    add_attained_row(svg, group, x, y, styles);
  });
};
