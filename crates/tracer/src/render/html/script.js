'use strict';
// Adds a filter to the timeline. The page is whole without it. Nothing is ever made into elements or code.
(() => {
  const $ = (id) => document.getElementById(id);
  const rows = Array.from($('timeline').tBodies[0].rows);
  const texts = [];
  const textOf = (index) => (texts[index] ??= rows[index].textContent.toLowerCase());
  function change() {
    const text = $('text').value.toLowerCase(), verdict = $('verdict').value;
    let shown = 0;
    rows.forEach((row, index) => {
      const fits = (!verdict || row.classList.contains(verdict)) && (!text || textOf(index).includes(text));
      if (row.hidden === fits) row.hidden = !fits;
      if (fits) shown += 1;
    });
    $('count').textContent = shown + ' of ' + rows.length + ' rows';
  }
  // What an address asks for: page.html#verdict=denied&text=ssh, or page.html#e12 (also #event=12).
  function fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has('event')) {
      const row = $('e' + Number(wanted.get('event')));
      if (row) { row.classList.add('picked'); row.scrollIntoView({ block: 'center' }); }
      return;
    }
    if (!wanted.has('text') && !wanted.has('verdict')) return;
    $('text').value = wanted.get('text') ?? '';
    $('verdict').value = wanted.get('verdict') ?? '';
    change();
  }
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  for (const id of ['text', 'verdict']) $(id).addEventListener('input', change);
  $('filters').hidden = false;
  addEventListener('hashchange', fromAddress);
  change();
  fromAddress();
  document.documentElement.dataset.ready = String(rows.length);
})();
