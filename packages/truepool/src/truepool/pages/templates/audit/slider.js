// What each pool decides at the costs of the slider: sums of bins, by the log of the ratio.
const control = document.getElementById("tradeoff");
if (control) {
  const data = JSON.parse(control.dataset.tradeoff);
  const slider = control.querySelector("input");
  const button = control.querySelector("button");
  const mark = document.querySelector("#figure-ratio .mark.chosen");
  const before = (counts) => counts.reduce((sums, count) => [...sums, sums.at(-1) + count], [0]);
  const sums = { positives: data.positives.map(before), negatives: data.negatives.map(before), stakes: data.stakes.map(before) };
  // Between two ends of the bins: those that are decided positive, and all.
  const decided = (sum, at) => (data.byAmount ? sum.at(-1) - sum[at] : sum[at]);
  const grouped = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const share = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "-");
  function figures(pool, at) {
    const ratio = Math.exp(data.edges[at]);
    const [positives, negatives] = [sums.positives[pool], sums.negatives[pool]];
    const [hits, alarms] = [decided(positives, at), decided(negatives, at)];
    const [all, cases] = [positives.at(-1), positives.at(-1) + negatives.at(-1)];
    const stakes = data.byAmount ? sums.stakes[pool] : null;
    const missed = stakes ? stakes.at(-1) - decided(stakes, at) : ratio * data.unit * (all - hits);
    const cost = missed + (stakes ? ratio : data.unit) * alarms;
    return {
      alerts: grouped.format(1000 * (hits + alarms) / cases),
      day: grouped.format((data.perDay ?? 0) * (hits + alarms) / cases),
      precision: share(hits, hits + alarms),
      recall: share(hits, all),
      money: stakes ? share(decided(stakes, at), stakes.at(-1)) : "-",
      alarms: grouped.format(1000 * alarms / cases),
      cost: grouped.format(1000 * cost / cases),
    };
  }
  const now = data.edges.reduce((best, edge, at) => (Math.abs(edge - Math.log(data.now)) < Math.abs(data.edges[best] - Math.log(data.now)) ? at : best), 0);
  function update() {
    const at = Number(slider.value);
    const ratio = Math.exp(data.edges[at]);
    const text = grouped.format(at === now ? data.now : ratio);
    const threshold = data.byAmount ? data.each : share(1, 1 + (at === now ? data.now : ratio));
    control.querySelector("output").textContent = text;
    control.querySelector(".threshold").textContent = threshold;
    slider.setAttribute("aria-valuetext", `${text}; ${threshold}`);
    for (const pool of data.positives.keys()) {
      const found = figures(pool, at);
      for (const row of control.querySelectorAll("tr[data-row]")) row.cells[pool + 1].textContent = found[row.dataset.row];
    }
    const x = data.left + data.wide * (data.edges[at] - data.edges[0]) / (data.edges.at(-1) - data.edges[0]);
    for (const end of ["x1", "x2"]) mark?.setAttribute(end, x.toFixed(1));
    button.disabled = at === now;
  }
  slider.value = now;
  slider.addEventListener("input", update);
  button.addEventListener("click", () => { slider.value = now; update(); slider.focus(); });
  control.hidden = false;
  update();
}
