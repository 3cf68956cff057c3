// Trials of a tuner: time by order, and measured over predicted time.
'use strict';

const TRIAL = {colour: 'var(--c0)', shape: d3.symbolCircle};
const BEST = {colour: 'var(--c1)', shape: d3.symbolDiamond};

function trial_text(trial) {
  const times = trial.measured
    ? `${number_text(trial.median_us)} µs, quartiles ${number_text(trial.q1_us)} to ${number_text(trial.q3_us)} µs`
    : trial.status;
  const predicted = trial.predicted_us ? `\npredicted ${number_text(trial.predicted_us)} µs` : '';
  return `trial ${trial.order}: ${trial.tiling}\n${times}${predicted}`;
}

/** A logarithmic scale over times, with a margin. */
function time_scale(times, from, to) {
  return d3.scaleLog().domain([d3.min(times) / 1.15, d3.max(times) * 1.15]).range([from, to]);
}

/** About five round numbers, also where the times span less than a decade. */
function time_ticks(scale, pixels) {
  const [low, high] = scale.domain();
  return high / low > 20 ? log_ticks(scale, pixels)
                         : d3.scaleLinear().domain([low, high]).ticks(Math.max(3, pixels / 60));
}

/** Evenly thinned, so that labels of a scale that crowds its upper end do not touch. */
function apart(ticks, scale, least) {
  const kept = [];
  for (const tick of ticks) {
    if (!kept.length || Math.abs(scale(tick) - scale(kept[kept.length - 1])) >= least) kept.push(tick);
  }
  return kept;
}

function best_line(trials, x, y) {
  let best = Infinity;
  const steps = [];
  for (const trial of trials) {
    if (trial.measured) best = Math.min(best, trial.median_us);
    if (best < Infinity) steps.push([x(trial.order), y(best)]);
  }
  return d3.line().curve(d3.curveStepAfter)(steps);
}

/** Left of the mark when that is in the right half. */
function add_best_label(svg, x, y, box, text) {
  const left = x > (box.left + box.right) / 2;
  svg.append('text').attr('class', 'strong halo').attr('x', left ? x - 9 : x + 9).attr('y', y + 16)
    .attr('text-anchor', left ? 'end' : 'start').text(text);
}

function draw_order(node, width, group) {
  const good = group.trials.filter(trial => trial.measured);
  const height = 250;
  const box = {left: 50, right: width - 10, top: 34, bottom: height - 44};
  const svg = add_svg(node, width, height,
    `Times of ${group.trials.length} trials in their order; numbers in the table below`);
  const x = d3.scaleLinear().domain([0.5, group.trials.length + 0.5]).range([box.left, box.right]);
  const y = time_scale(good.map(trial => trial.median_us), box.bottom, box.top + 14);
  add_x_axis(svg, x, box, x.ticks(Math.min(8, group.trials.length)).filter(Number.isInteger), 'trial');
  add_y_axis(svg, y, box, apart(time_ticks(y, box.bottom - box.top), y, 18), 'median µs');
  svg.append('path').attr('class', 'best-line').attr('d', best_line(group.trials, x, y));
  for (const trial of group.trials) {
    if (!trial.measured) {
      const cross = svg.append('path').attr('class', 'failed')
        .attr('d', 'M-4,-4L4,4M-4,4L4,-4').attr('transform', `translate(${x(trial.order)},${box.top})`);
      cross.append('title').text(trial_text(trial));
    } else if (!trial.best) {
      add_mark(svg, TRIAL, x(trial.order), y(trial.median_us), true, trial_text(trial), 40);
    }
  }
  const best = good.find(trial => trial.best);
  add_mark(svg, BEST, x(best.order), y(best.median_us), false, trial_text(best), 80);
  add_best_label(svg, x(best.order), y(best.median_us), box, `${number_text(best.median_us)} µs`);
}

function draw_prediction(node, width, group) {
  const both = group.trials.filter(trial => trial.measured && trial.predicted_us);
  const height = 250;
  const box = {left: 50, right: width - 10, top: 34, bottom: height - 44};
  const svg = add_svg(node, width, height,
    `Measured over predicted times of ${both.length} trials; numbers in the table below`);
  const times = both.flatMap(trial => [trial.median_us, trial.predicted_us]);
  const x = time_scale(times, box.left, box.right);
  const y = time_scale(times, box.bottom, box.top);
  add_x_axis(svg, x, box, apart(time_ticks(x, box.right - box.left), x, 44), 'predicted µs');
  add_y_axis(svg, y, box, apart(time_ticks(y, box.bottom - box.top), y, 18), 'median µs');
  svg.append('line').attr('class', 'diagonal').attr('x1', box.left).attr('y1', box.bottom)
    .attr('x2', box.right).attr('y2', box.top);
  for (const trial of both.filter(one => !one.best)) {
    add_mark(svg, TRIAL, x(trial.predicted_us), y(trial.median_us), true, trial_text(trial), 40);
  }
  for (const trial of both.filter(one => one.best)) {
    add_mark(svg, BEST, x(trial.predicted_us), y(trial.median_us), false, trial_text(trial), 80);
  }
}

charts.tuning = (device, plot) => {
  add_legend(plot, [
    {text: 'trial', draw: svg => add_mark(svg, TRIAL, 9, 7, true, 'trial', 40)},
    {text: 'fastest trial', draw: svg => add_mark(svg, BEST, 9, 7, false, 'fastest', 80)},
    {text: 'no time', draw: svg => svg.append('path').attr('class', 'failed').attr('d', 'M5,3L13,11M5,11L13,3')},
  ]);
  for (const group of device.tuning) {
    const heading = d3.select(plot).append('h4').text(group.variant);
    heading.append('span').attr('class', 'of').text(`${group.problem} \u00b7 ${group.conditions}`);
    const panels = add_panels(plot, true);
    const good = group.trials.filter(trial => trial.measured);
    if (!good.length) {
      panels.append('p').attr('class', 'missing').text('No trial has a time.');
      continue;
    }
    const predicted = good.some(trial => trial.predicted_us);
    const nodes = [panels.append('div').node()];
    if (predicted) nodes.push(panels.append('div').node());
    draw_order(nodes[0], inner_width(nodes[0]), group);
    if (predicted) draw_prediction(nodes[1], inner_width(nodes[1]), group);
  }
};
